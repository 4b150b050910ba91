"""A is the Jacobian of the plant's flow, at rest and in motion, in charts that move along.

The state transition over a time h, taken by central differences of two simulations, is
1 + A h + O(h^2); (Phi(h) - 1)/h extrapolated over halved steps leaves O(h^4) with h = 4 ms.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

import darts_py
from darts_py.linear import linearise
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference import charts, joint_kinds
from tests.reference.trees import Options, random_state, random_tree

Array = np.ndarray
EPSILON = 1e-4


def _advanced(model: Spacecraft, q: Array, u: Array, terms: str, h_ns: int, n: int) -> tuple:
    plant = darts_py.Plant(model, dt_ns=h_ns // n, integrator="rk4-lie", terms=terms)
    plant.q[:], plant.u[:] = q, u
    assert plant.advance(n) == darts_py.Status.OK
    return plant.q.copy(), plant.u.copy()


def transition(
    tree: Tree, q: Array, u: Array, terms: str, h_ns: int, free: Array, n: int = 2
) -> Array:
    """Return d x(h) / d x(0), x relative to the reference trajectory at each end."""
    model = Spacecraft(tree)
    q_end, _ = _advanced(model, q, u, terms, h_ns, n)
    columns = []
    for k in range(2 * free.size):
        ends = []
        for sign in (1.0, -1.0):
            step = np.zeros(model.n_speeds)
            step[free[k % free.size]] = sign * EPSILON
            start = (charts.moved(tree, q, step), u) if k < free.size else (q, u + step)
            q1, u1 = _advanced(model, *start, terms, h_ns, n)
            ends.append(np.r_[charts.difference(tree, q_end, q1)[free], u1[free]])
        columns.append((ends[0] - ends[1]) / (2 * EPSILON))
    return np.stack(columns, -1)


def _slope(phi: list[Array], h: float) -> Array:
    """Return d Phi / dh at 0 from Phi(h), Phi(h/2), Phi(h/4), Phi(h/8): error O(h^4)."""
    one = np.eye(phi[0].shape[0])
    row = [(p - one) / (h / 2**k) for k, p in enumerate(phi)]
    for order in range(1, len(row)):
        row = [(2**order * b - a) / (2**order - 1) for a, b in pairwise(row)]
    return row[0]


@pytest.mark.parametrize("kind", ["revolute", "spherical", "free", "planar", "map-schoenflies",
                                  "map-ball", "map-free", "universal", "compound"])  # fmt: skip
def test_state_matrix_is_the_slope_of_the_flow_at_moving_states(kind: str) -> None:
    seed = joint_kinds.ALL_KINDS.index(kind)
    rng = np.random.default_rng([5, seed])
    options = Options(kinds=[kind], passive=0.0, branching=1.0, max_modes=2)
    tree = random_tree(rng, 2, options)
    q, u = random_state(tree, rng)
    model, terms = Spacecraft(tree), "rl" if seed % 2 else "crl"
    free = np.arange(model.n_speeds)
    h_ns = 4_000_000
    phi = [transition(tree, q, u, terms, h_ns >> k, free) for k in range(4)]
    A = linearise(model, q, u, terms=terms).A
    # rounding of the differences, 1e-12/h, and curvature, EPSILON^2; both relative to A
    scale = max(np.max(np.abs(A)), 1.0)
    assert np.max(np.abs(_slope(phi, h_ns * 1e-9) - A)) < 1e-5 * scale


def test_transition_over_a_second_is_that_of_the_integrator_on_the_linear_model() -> None:
    """About an equilibrium A is constant: n steps of RK4 are the n-th power of its polynomial."""
    model = darts_py.load_model("flexible_satellite")
    q, u = model.neutral(), np.zeros(model.n_speeds)
    linear = linearise(model, q, u)
    assert linear.is_equilibrium
    phi = transition(model.tree, q, u, "rl", 1_000_000_000, np.arange(model.n_speeds), n=1000)
    Ah = 1e-3 * linear.A
    step = sum(np.linalg.matrix_power(Ah, k) / math.factorial(k) for k in range(5))
    expected = np.linalg.matrix_power(step, 1000)
    # central differences of the nonlinear flow leave EPSILON^2 = 1e-8 times third derivatives
    assert np.max(np.abs(phi - expected)) < 1e-7 * np.max(np.abs(phi))
