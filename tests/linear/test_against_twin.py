"""A, B, C and D against low-order differences of the brute-force twin, every kind of joint.

The twin is good to some 1e-12 of its largest term; fourth-order differences with a step of 1e-3
lose three digits of that and truncate at 1e-12/30 times a fifth derivative. Rows are compared
relative to their largest entry at 1e-7, which leaves two digits for conditioning (the trees'
mass matrices have condition numbers up to 1e4).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from darts_py.linear import LinearModel, linearise
from darts_py.linear.names import NODE_OUTPUTS, WRENCH
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference import charts, joint_kinds
from tests.reference.trees import Options, random_forces, random_state, random_tree
from tests.reference.twin import Twin

Array = np.ndarray
STEP, RTOL = 1e-3, 1e-7


def four_points(f: Callable[[float], Array]) -> Array:
    """Return f'(0) by the classical fourth-order formula."""
    return (8 * (f(STEP) - f(-STEP)) - (f(2 * STEP) - f(-2 * STEP))) / (12 * STEP)


def two_points(f: Callable[[float], Array]) -> Array:
    """Return f'(0) by the central difference."""
    return (f(STEP) - f(-STEP)) / (2 * STEP)


def assert_rows_close(got: Array, expected: Array, what: str) -> None:
    scale = np.maximum(np.max(np.abs(expected), axis=1, initial=0.0), 1e-3)
    error = np.max(np.abs(got - expected) / scale[:, None], initial=0.0)
    assert error <= RTOL, f"{what}: {error:.2e}"


class Case:
    """A random tree at a random moving state under random forces."""

    def __init__(self, tree: Tree, rng: np.random.Generator, terms: str) -> None:
        self.tree, self.model, self.twin, self.terms = tree, Spacecraft(tree), Twin(tree), terms
        self.q, self.u = random_state(tree, rng)
        self.tau = rng.normal(size=self.model.n_speeds)
        self.forces = random_forces(tree, rng, 2)
        self.free = np.flatnonzero(self.twin.free_speeds())
        self.f = self.free.size
        names = list(self.model.node_index)
        self.nodes = [names[-1]]

    def linear(self) -> LinearModel:
        speeds = [self.model.speed_names[j] for j in self.free]
        return linearise(
            self.model,
            self.q,
            self.u,
            self.tau,
            forces=self.forces,
            terms=self.terms,
            inputs=[*speeds, *(f"{self.nodes[-1]}.{word}" for word in WRENCH)],
            outputs=[f"{node}.{word}" for node in self.nodes for word in NODE_OUTPUTS],
        )

    def perturbed(self, k: int, t: float) -> tuple[Array, Array]:
        """Return the state with entry k of x moved by t."""
        step = np.zeros(self.model.n_speeds)
        step[self.free[k % self.f]] = t
        if k < self.f:
            return charts.moved(self.tree, self.q, step), self.u
        return self.q, self.u + step

    def udot(self, q: Array, u: Array) -> Array:
        return self.twin.forward_dynamics(q, u, self.tau, self.forces, self.terms)

    def differences(self, f: Callable[[Array, Array], Array]) -> Array:
        """Differentiate by x; in the speeds f is of second degree, where two points are exact."""
        columns = []
        for k in range(2 * self.f):
            rule = four_points if k < self.f else two_points
            columns.append(rule(lambda t, k=k: f(*self.perturbed(k, t))))
        return np.stack(columns, -1)

    def node_rates(self, q: Array, u: Array) -> Array:
        """Return [V; A] of each node, body axes."""
        udot = self.udot(q, u)
        motions = [self.twin.node_motion(q, u, udot, name, self.terms) for name in self.nodes]
        return np.concatenate([np.r_[motion.V, motion.A] for motion in motions])


def _case(kind: str, terms: str, n_bodies: int = 2) -> Case:
    seed = joint_kinds.ALL_KINDS.index(kind)
    rng = np.random.default_rng([11, seed])
    options = Options(kinds=[kind, "revolute"], branching=1.0, passive=0.7, locked=0.15,
                      max_modes=2)  # fmt: skip
    return Case(random_tree(rng, n_bodies, options), rng, terms)


@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
def test_accelerations_match_differences_of_the_twin(kind: str) -> None:
    case = _case(kind, "rl" if joint_kinds.ALL_KINDS.index(kind) % 2 else "crl")
    linear = case.linear()
    assert linear.A.shape == (2 * case.f, 2 * case.f)
    assert linear.derivative_error < 1e-9
    expected = case.differences(case.udot)[case.free]
    assert_rows_close(linear.A[case.f :], expected, "A")


@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
def test_inputs_match_the_twin(kind: str) -> None:
    case = _case(kind, "rl")
    linear = case.linear()
    base = case.udot(case.q, case.u)
    for j, name in enumerate(linear.input_names):
        tau, forces = case.tau.copy(), {k: v.copy() for k, v in case.forces.items()}
        if j < case.f:
            tau[case.free[j]] += 1.0
        else:
            wrench = forces.setdefault(case.nodes[-1], np.zeros(6))
            wrench[WRENCH.index(name.rpartition(".")[2])] += 1.0
        change = case.twin.forward_dynamics(case.q, case.u, tau, forces, "rl") - base
        scale = max(np.max(np.abs(change)), 1e-3)
        got = linear.B[:, j]
        # the forward dynamics are affine in the forces: no step, no truncation
        assert np.max(np.abs(got[case.f :] - change[case.free])) <= 1e-9 * scale, name
        assert not np.any(got[: case.f])


@pytest.mark.parametrize(
    ("kind", "terms"),
    [
        ("revolute", "rl"),
        ("map-ball", "crl"),
        pytest.param("free", "crl", marks=pytest.mark.slow),
        pytest.param("planar", "rl", marks=pytest.mark.slow),
        pytest.param("compound", "rl", marks=pytest.mark.slow),
    ],
)
def test_node_outputs_match_the_twin(kind: str, terms: str) -> None:
    case = _case(kind, terms)
    linear = case.linear()
    expected = case.differences(case.node_rates)
    rows = np.reshape(linear.C, (len(case.nodes), 18, -1))
    assert_rows_close(rows[:, 6:].reshape(expected.shape), expected, "C of velocity, acceleration")
    udot = case.udot(case.q, case.u)
    for k, node in enumerate(case.nodes):
        motion = case.twin.node_motion(case.q, case.u, udot, node, terms)
        J = motion.J[:, case.free]
        response = np.einsum("ij,jk->ik", J, linear.B[case.f :])
        D = linear.D.reshape(len(case.nodes), 18, -1)[k]
        assert not np.any(D[:12])
        assert np.allclose(D[12:], response, rtol=1e-9, atol=1e-9 * np.max(np.abs(response)))
        y = linear.y.reshape(len(case.nodes), 18)[k]
        assert np.allclose(y[6:12], motion.V, atol=1e-9)
        assert np.allclose(y[12:], motion.A, atol=1e-9 * max(1.0, np.max(np.abs(motion.A))))


@pytest.mark.parametrize("kind", ["revolute", "free", "planar", "map-ball", "compound"])
def test_position_and_rotation_are_those_of_the_deformed_chain(kind: str) -> None:
    """At eta = 0 the twin's fully deformed poses have the derivatives that C says."""
    case = _case(kind, "rl")
    for part in case.twin.eta:
        case.q[part] = 0.0
    linear = case.linear()
    rows = np.reshape(linear.C, (len(case.nodes), 18, -1))[:, :6]
    where = [case.twin.index(name) for name in case.nodes]
    R = case.twin.node_poses(case.q)[where][:, :3, :3]

    def poses(q: Array, u: Array) -> Array:
        G = case.twin.node_poses(q)[where]
        turn = np.swapaxes(R, 1, 2) @ G[:, :3, :3]
        vee = 0.5 * np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0],
                              turn[:, 1, 0] - turn[:, 0, 1]], -1)  # fmt: skip
        return np.concatenate([G[:, :3, 3], vee], -1).ravel()

    expected = case.differences(poses)
    assert_rows_close(rows.reshape(expected.shape), expected, "C of position, rotation")
