"""The mass matrix as operators against dense algebra, to 1e-11 of the largest entry.

M comes from the twin (node Jacobians, no recursion) wherever a product is judged. The factors are
judged by what determines them: L D L^T = M with D block-diagonal (the modes of a body, then its
joint) and L one on those blocks; eliminating the blocks of the twin's M from the tips inward
gives the one such pair there is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import darts_py
from darts_py.errors import ArgumentError
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND, Tree
from tests.reference import joint_kinds
from tests.reference.compare import assert_close
from tests.reference.distributed import spread_out
from tests.reference.trees import Options, random_state, random_tree
from tests.reference.twin import Twin

RTOL = 1e-11
Array = np.ndarray

CASES = {
    "mixed": Options(),
    "rigid": Options(flexible=0.0),
    "cantilever": Options(modes="cantilever", flexible=1.0),
    "free-free": Options(modes="free-free", flexible=1.0),
    "chain": Options(branching=0.0),
    "several-roots": Options(n_roots=3),
    "springs-and-stops": Options(passive=1.0, friction=0.5),
    "locked": Options(locked=0.4),
    "many-modes": Options(max_modes=9, flexible=1.0, kinds=joint_kinds.PLAIN_KINDS),
}


def _case(name: str, seed: int) -> tuple[Tree, np.random.Generator]:
    rng = np.random.default_rng([21, list(CASES).index(name), seed])
    return random_tree(rng, 4 if name == "many-modes" else 7, CASES[name]), rng


def _without_locked(M: Array, free: Array) -> Array:
    return M * np.outer(free, free)


def _blocks(twin: Twin) -> list[Array]:
    """Return the blocks of D in the order of elimination: tips first, modes before the joint."""
    free = twin.free_speeds()
    blocks = []
    for i in sorted(range(len(twin.tree.bodies)), key=lambda i: -len(twin.path(i))):
        for part in (twin.etad[i], twin.beta[i]):
            speeds = np.arange(part.start, part.stop)
            blocks.append(speeds[free[speeds]])
    return blocks


def _eliminated(twin: Twin, M: Array) -> tuple[Array, Array]:
    """Return L and D of M = L D L^T by eliminating block after block."""
    L, D, rest = np.zeros_like(M), np.zeros_like(M), M.copy()
    for own in _blocks(twin):
        if not own.size:
            continue
        D[np.ix_(own, own)] = rest[np.ix_(own, own)]
        L[:, own] = np.linalg.solve(rest[np.ix_(own, own)], rest[own]).T
        rest -= L[:, own] @ rest[own]
    return L, D


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", CASES)
def test_operators_agree_with_dense_algebra(name: str, seed: int) -> None:
    tree, rng = _case(name, seed)
    _compare(tree, rng)


@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
def test_operators_agree_for_every_joint(kind: str) -> None:
    rng = np.random.default_rng([22, joint_kinds.ALL_KINDS.index(kind)])
    _compare(random_tree(rng, 4, Options(kinds=[kind], flexible=0.7, branching=1.0)), rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("name", CASES)
def test_operators_agree_with_dense_algebra_at_length(name: str, seed: int) -> None:
    tree, rng = _case(name, seed)
    _compare(tree, rng)


def _compare(tree: Tree, rng: np.random.Generator) -> None:
    twin, q = Twin(tree), random_state(tree, rng)[0]
    mass, n, free = darts_py.MassOperator(Spacecraft(tree), q), twin.n_speeds, twin.free_speeds()
    M, one = _without_locked(twin.mass_matrix(q), free), np.diag(free.astype(float))
    inverse = np.linalg.pinv(M, rcond=1e-14, hermitian=True)
    L, D = _eliminated(twin, M)
    assert_close(mass.multiply(np.eye(n)), M, RTOL, "M")
    assert_close(mass.solve(np.eye(n)), inverse, RTOL * _loss(inverse, M), "M^-1")
    assert_close(mass.D, D, RTOL, "D")
    assert_close(mass.factor(one), L, RTOL, "1 + H Phi K")
    assert_close(mass.factor_t(one), L.T, RTOL, "(1 + H Phi K)^*")
    back = np.linalg.pinv(L, rcond=1e-14)
    assert_close(mass.factor_inv(one), back, RTOL, "1 - H Psi K")
    assert_close(mass.factor_inv_t(one), back.T, RTOL, "(1 - H Psi K)^*")
    assert_close(mass.factor_inv(mass.factor(one)), one, RTOL, "inverse factor")
    _compare_columns(mass, M, rng)
    _compare_nodes(tree, twin, mass, q, inverse, rng)


def _loss(inverse: Array, M: Array) -> float:
    """Return how much rounding of M costs its inverse: 1 up to a condition number of 1e4.

    M is given to a rounding, 2e-16: 1e-11 is five thousand times that, so a tree of condition up
    to 1e4 must meet it; beyond, no algorithm can promise more than its condition number allows.
    """
    return max(1.0, np.linalg.norm(inverse, 2) * np.linalg.norm(M, 2) / 1e4)


def _compare_columns(mass: darts_py.MassOperator, M: Array, rng: np.random.Generator) -> None:
    x = rng.normal(size=(len(M), 3))
    assert_close(mass.multiply(x), M @ x, RTOL, "M x")
    for product in (mass.multiply, mass.solve, mass.factor, mass.factor_t, mass.factor_inv):
        columns = np.column_stack([product(column) for column in x.T])
        np.testing.assert_array_equal(product(x), columns)


def _compare_nodes(
    tree: Tree,
    twin: Twin,
    mass: darts_py.MassOperator,
    q: Array,
    inverse: Array,
    rng: np.random.Generator,
) -> None:
    """Between any nodes: of one body, along a branch, across branches and roots."""
    names = [f"{tree.bodies[key.body].name}.{key.data.name}" for key in twin.keys]
    chosen = [str(name) for name in rng.choice(names, size=min(5, len(names)), replace=False)]
    zero = np.zeros(twin.n_speeds)
    J = np.vstack([twin.node_motion(q, zero, zero, name).J for name in chosen])
    got = mass.inverse_inertia(chosen)
    assert_close(got, J @ inverse @ J.T, RTOL, "inverse operational-space inertia")
    np.testing.assert_array_equal(got, got.T)


def test_operators_of_spread_mass() -> None:
    rng = np.random.default_rng(23)
    tree = random_tree(rng, 5, Options(flexible=1.0))
    q = random_state(tree, rng)[0]
    M = Twin(tree).mass_matrix(q)
    mass = darts_py.MassOperator(Spacecraft(spread_out(tree)), q)
    assert_close(mass.multiply(np.eye(len(M))), M, RTOL)
    assert_close(mass.solve(M), np.eye(len(M)), RTOL)


def test_separate_roots_do_not_feel_each_other() -> None:
    rng = np.random.default_rng(24)
    tree = random_tree(rng, 6, Options(n_roots=2, root="free", branching=1.0, shuffled=False))
    assert tree.joints[1].parent == GROUND
    mass = darts_py.MassOperator(Spacecraft(tree), random_state(tree, rng)[0])
    block = mass.inverse_inertia(["b0.n0", "b1.n0"])[:6, 6:]
    np.testing.assert_array_equal(block, 0.0)


def test_innovations_are_those_of_forward_dynamics() -> None:
    """udot = M^-1 (tau - C): the operators and the sweeps solve one equation."""
    rng = np.random.default_rng(25)
    tree = random_tree(rng, 9, Options(passive=0.5, locked=0.2))
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=model.n_speeds)
    C = darts_py.bias_force(model, q, u)
    udot = darts_py.MassOperator(model, q).solve(tau - C)
    assert_close(udot, darts_py.forward_dynamics(model, q, u, tau), RTOL)


def test_operator_keeps_its_configuration() -> None:
    """Other calls on the model, and another operator, do not disturb it."""
    rng = np.random.default_rng(26)
    tree = random_tree(rng, 5, Options())
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    mass = darts_py.MassOperator(model, q)
    x = rng.normal(size=model.n_speeds)
    before = mass.solve(x)
    darts_py.MassOperator(model, random_state(tree, rng)[0])
    darts_py.forward_dynamics(model, random_state(tree, rng)[0], u)
    np.testing.assert_array_equal(mass.solve(x), before)


def test_arguments_are_checked() -> None:
    tree = random_tree(np.random.default_rng(27), 3, Options(kinds=["revolute"]))
    model = Spacecraft(replace(tree, name="checked"))
    mass = darts_py.MassOperator(model, model.neutral())
    with pytest.raises(ArgumentError, match="shape"):
        mass.multiply(np.zeros(model.n_speeds + 1))
    with pytest.raises(ArgumentError, match="finite"):
        mass.solve(np.full(model.n_speeds, np.nan))
    with pytest.raises(ArgumentError, match="shape"):
        mass.solve([[1.0, 2.0], [3.0]])  # type: ignore[arg-type]
    for nodes in ("b0.n0", None, 3, [0], {"b0.n0": 1}):
        with pytest.raises(ArgumentError, match="list of node names"):
            mass.inverse_inertia(nodes)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="did you mean"):
        mass.inverse_inertia(["b0.n00"])
    with pytest.raises(ArgumentError, match="load_model"):
        darts_py.MassOperator(tree, model.neutral())  # type: ignore[arg-type]
