"""Linear models of closed loops with flexible links, bent and moving, against nonlinear ones.

Gaps are those of bent bodies, rows of speeds those of undeformed ones (as everything in the
dynamics), so the two differ by as much as bodies are bent: a linear model that took the one for the
other would be wrong by that part. Two references, neither of which knows of that:

- at rest, accelerations of states that were closed by Newton's method on the gaps alone, with a
  numerical Jacobian: central differences give A21, A22 and the dependent coordinates;
- in motion, the transition of the plant over short times, as in test_flow.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import darts_py
from darts_py.linear import LinearModel, linearise
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Closure, Joint, Node, Tree
from tests.linear.systems import X, Y, Z
from tests.reference import charts

Array = np.ndarray

PLANE = np.eye(6)[:, [3, 5]]
BALL = np.eye(6)[:, 3:]
REVOLUTE = np.eye(6)[:, [0, 2, 3, 4, 5]]


def flexible_link(name: str, length: float) -> Body:
    """Return four lumps on a link that bends in two planes and twists a little."""

    def shape(s: float) -> Array:
        Pi = np.zeros((6, 3))
        Pi[[1, 5], 0] = -2.0 * s, s * s * length
        Pi[[2, 3, 4], 1] = 1.5 * s * s, 0.1 * s, 0.5 * s**3
        Pi[[0, 1, 5], 2] = 0.2 * s, -3.0 * s * s, s**3
        return Pi

    J = np.diag([0.01, 0.02, 0.03])
    lumps = [
        Node(f"n{k}", r=s * length * X, m=0.3 + 0.1 * k, Jc=J, Pi=shape(s))
        for k, s in enumerate((0.0, 0.33, 0.66, 1.0))
    ]
    K = np.diag([120.0, 180.0, 300.0])
    return Body(name, tuple(lumps), K=K, Dm=0.05 * K)


def flexible_four_bar(S: Array) -> Spacecraft:
    """Return a rigid crank on a spring, flexible coupler and rocker, under gravity, closed by S."""
    mass = Node("mass", r=0.25 * X, m=1.0, Jc=np.diag([0.05, 0.1, 0.1]))
    crank = Body("crank", (Node("root"), mass, Node("end", r=0.5 * X)))
    bodies = (crank, flexible_link("coupler", 1.1), flexible_link("rocker", 0.8))
    spring = {"stiffness": np.array([200.0]), "rest": np.array([-1.2]), "damping": np.array([0.5])}
    joints = (
        Joint("a", "revolute", jt.revolute(Y), **spring),
        Joint("b", "revolute", jt.revolute(Y), parent=0, parent_node=2),
        Joint("c", "revolute", jt.revolute(Y), o_t=X),
    )
    closure = Closure("d", "map", S, body_a=1, node_a=3, body_b=2, node_b=3)
    tree = Tree("four_bar", bodies, joints, gravity=-9.81 * Z, closures=(closure,))
    return Spacecraft(tree)


def is_mode(model: Spacecraft) -> Array:
    return np.array([".mode_" in name for name in model.coord_names])


def bent_state(model: Spacecraft, bend: float, rate: float) -> tuple[Array, Array]:
    """Return a closed state; joints close it first, so that bodies are bent by little more."""
    rng, q, modal = np.random.default_rng(3), model.neutral(), is_mode(model)
    q[~modal] = -1.2, 1.0, -1.5
    for _ in range(20):  # Newton's method in the joints alone: the loop is plane
        close_a_little(model, q, np.flatnonzero(~modal))
    q[modal] = bend * rng.normal(size=np.sum(modal))
    q, _ = darts_py.close_loops(model, q)
    return darts_py.close_loops(model, q, rate * rng.normal(size=model.n_speeds))


def gap(model: Spacecraft, q: Array) -> Array:
    return darts_py.closure_error(model, q, np.zeros(model.n_speeds)).position


def gap_jacobian(model: Spacecraft, q: Array) -> Array:
    steps = 1e-6 * np.eye(model.n_coords)  # every coordinate is a number of its own here
    return np.stack([(gap(model, q + h) - gap(model, q - h)) / 2e-6 for h in steps], -1)


def close_a_little(model: Spacecraft, q: Array, by: Array) -> None:
    """Take one step of Newton's method on the gaps, by some of the coordinates."""
    J = gap_jacobian(model, q)[:, by]
    q[by] -= np.linalg.lstsq(J, gap(model, q), rcond=1e-8)[0]


def equilibrium(model: Spacecraft) -> Array:
    """Return coordinates at rest under gravity: Newton's method with the linear model."""
    q, u = bent_state(model, 0.0, 0.0)
    for _ in range(40):
        linear = linearise(model, q, u)
        f = linear.n_freedoms
        speeds = [model.speed_names.index(name) for name in linear.state_names[f:]]
        step = linear.shape_basis @ np.linalg.solve(linear.A[f:, :f], -linear.udot[speeds])
        step *= min(1.0, 0.2 / np.max(np.abs(step)))
        q, _ = darts_py.close_loops(model, q + step)
        if np.max(np.abs(step)) < 1e-12:
            break
    assert np.max(np.abs(darts_py.forward_dynamics(model, q, u))) < 1e-6
    return q


def closed_by_newton(model: Spacecraft, linear: LinearModel, x: Array) -> tuple[Array, Array]:
    """Return the closed state whose independent coordinates and speeds are off by x."""
    f, n = linear.n_freedoms, model.n_speeds
    chosen = [model.coord_names.index(name) for name in linear.state_names[:f]]
    driven = [model.speed_names.index(name) for name in linear.state_names[f:]]
    others = np.setdiff1d(np.arange(n), chosen)
    slaves = np.setdiff1d(np.arange(n), driven)
    q, u = linear.q.copy(), linear.u.copy()
    q[chosen] += x[:f]
    for _ in range(12):
        close_a_little(model, q, others)
    u[driven] += x[f:]
    J = darts_py.closure_jacobian(model, q)
    u[slaves] = np.linalg.lstsq(J[:, slaves], -J[:, driven] @ u[driven], rcond=1e-8)[0]
    return q, u


@pytest.mark.parametrize("at_equilibrium", [True, False])
@pytest.mark.parametrize("S", [PLANE, REVOLUTE], ids=["plane", "revolute"])
def test_bent_loop_at_rest_agrees_with_finite_differences(S: Array, at_equilibrium: bool) -> None:
    """Differences over 1e-6 leave 1e-12 / 1e-6 of rounding in coordinates of order 1.

    The Jacobian that closes the loops is good to 1e-10, which Newton's method squares away.
    """
    model = flexible_four_bar(S)
    q, u = bent_state(model, 0.01, 0.0)
    q = equilibrium(model) if at_equilibrium else q
    assert np.max(np.abs(q[is_mode(model)])) > 0.01  # bent
    linear = linearise(model, q, u)
    assert linear.is_equilibrium == at_equilibrium
    f, eps = linear.n_freedoms, 1e-6
    speeds = [model.speed_names.index(name) for name in linear.state_names[f:]]
    for k, unit in enumerate(np.eye(2 * f)):
        (q1, u1), (q0, u0) = (closed_by_newton(model, linear, s * eps * unit) for s in (1.0, -1.0))
        ahead, behind = (darts_py.forward_dynamics(model, *s) for s in ((q1, u1), (q0, u0)))
        column = (ahead - behind)[speeds] / (2.0 * eps)
        scale = np.max(np.abs(linear.A[f:]))
        assert np.max(np.abs(column - linear.A[f:, k])) < 1e-7 * scale
        if k < f:
            assert np.max(np.abs((q1 - q0) / (2.0 * eps) - linear.shape_basis[:, k])) < 1e-6


@pytest.mark.parametrize(
    ("S", "bend", "rate", "terms"),
    [(PLANE, 0.0, 1.0, "rl"), (PLANE, 0.005, 0.0, "crl"), (BALL, 0.005, 1.0, "crl"),
     (REVOLUTE, 0.0, 1.0, "rl"), (REVOLUTE, 0.005, 1.0, "rl")],
)  # fmt: skip
def test_bent_loop_in_motion_follows_its_linear_model(
    S: Array, bend: float, rate: float, terms: str
) -> None:
    """d/dh of the plant's transition on closed states, h from 0.5 ms down, error O(h^4).

    Rounding of closed loops, 1e-12, over 2 EPSILON and the shortest time, times 8/3 for the
    extrapolation, is 2e-4 of a slope of order 1; the time step leaves 2e-4 of A (its h^4 is seen to
    fall by 150 from 2 ms to 0.5 ms), which is more beside the rates of coordinates, being smaller.
    """
    model = flexible_four_bar(S)
    q, u = bent_state(model, bend, rate)
    linear = linearise(model, q, u, terms=terms)
    scale = np.max(np.abs(linear.A))
    slope = flow_slope(model, linear, terms, 500_000)
    assert np.max(np.abs(slope - linear.A)) < 5e-4 * scale
    rates = slice(0, linear.n_freedoms)  # of displacements: they have a scale of their own
    wrong = np.abs(slope - linear.A)[rates]
    assert np.max(wrong) < 5e-3 * np.max(np.abs(linear.A[rates]))


def flow_slope(model: Spacecraft, linear: LinearModel, terms: str, h_ns: int) -> Array:
    """Return d/dh of the plant's state transition at h = 0."""
    tree, f, eps = model.tree, linear.n_freedoms, 1e-4
    names = list(linear.local_names)
    where = [names.index(name) for name in linear.state_names[:f]]
    driven = [model.speed_names.index(name) for name in linear.state_names[f:]]
    rows = [linear.output_names.index(name) for name in (*names, *model.speed_names)]

    def end(q0: Array, u0: Array, h: int) -> tuple[Array, Array]:
        plant = darts_py.Plant(model, dt_ns=h // 2, terms=terms, q=q0, u=u0)
        for _ in range(2):
            assert plant.advance(1) == darts_py.Status.OK
            plant.q[:], plant.u[:] = darts_py.close_loops(model, plant.q, plant.u)
        return plant.q.copy(), plant.u.copy()

    def transition(h: int) -> Array:
        columns, (reference, _) = [], end(linear.q, linear.u, h)
        for unit in np.eye(2 * f):
            ends = []
            for s in (eps, -eps):
                delta, du = np.split((linear.C @ (s * unit))[rows], 2)
                q1, u1 = end(charts.moved(tree, linear.q, delta), linear.u + du, h)
                ends.append(np.r_[charts.difference(tree, reference, q1)[where], u1[driven]])
            columns.append((ends[0] - ends[1]) / (2 * eps))
        return np.stack(columns, -1)

    row = [(transition(h_ns >> k) - np.eye(2 * f)) / (h_ns * 1e-9 / 2**k) for k in range(4)]
    for order in range(1, 4):
        row = [(2**order * b - a) / (2**order - 1) for a, b in pairwise(row)]
    return row[0]
