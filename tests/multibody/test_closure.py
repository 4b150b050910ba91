"""Forward and inverse dynamics invert each other on trees up to 60 bodies and 10 modes each.

Judged by backward error, |M udot + C - tau| <= 1e-11 (|M||udot| + |C| + |tau|): forward error
would test the conditioning of the drawn tree, not the algorithm. Taken row by row, which is
stricter than in norm: no row may hide behind a heavier one. Where M udot + C is evaluated by
inverse dynamics the bound is used as it stands. Where M and C are computed apart, a row of a mode
is a small difference (f_f - Pd^T f_r) of loads that grow along the chain, to 1e6 of the row at the
root of 60 bodies; there the load through the body's hinge that C balances joins the right side.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference.compare import backward_error, hinge_scale, row_scale
from tests.reference.trees import (
    Options,
    random_forces,
    random_state,
    random_tree,
    reordered,
    seeds,
    trees,
)
from tests.reference.twin import Twin

LIMIT = 1e-11
METHODS = ("articulated", "articulated-direct", "articulated-woodbury", "composite")
TERMS = ("rl", "crl")


def _assert_closes(tree: Tree, seed: int, method: str, terms: str) -> None:
    rng = np.random.default_rng(seed)
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    tau, forces = rng.normal(size=model.n_speeds), random_forces(tree, rng)
    udot = darts_py.forward_dynamics(model, q, u, tau, forces=forces, terms=terms, method=method)
    given_terms = {"forces": forces, "terms": terms}
    M, C = darts_py.mass_matrix(model, q), darts_py.bias_force(model, q, u, **given_terms)
    scale = row_scale(M, C, tau, udot)
    again = darts_py.inverse_dynamics(model, q, u, udot, **given_terms)
    assert backward_error(again - tau, scale) <= LIMIT
    residual = M @ udot + C - tau
    size = np.linalg.norm(M, np.inf) * np.abs(udot).max() + np.abs(C).max() + np.abs(tau).max()
    assert np.abs(residual).max() <= LIMIT * size  # the bound as promised, normwise
    # and row by row, where a row may be a small difference of large hinge loads
    loads = darts_py.hinge_loads(model, q, u, 0.0 * udot, **given_terms)
    assert backward_error(residual, scale + hinge_scale(tree, loads)) <= LIMIT


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("method", METHODS)
@given(tree=trees(max_bodies=12, max_modes=10), seed=seeds())
def test_forward_dynamics_inverts_inverse_dynamics(
    tree: Tree, seed: int, method: str, terms: str
) -> None:
    _assert_closes(tree, seed, method, terms)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=15)
@given(tree=trees(max_bodies=60, max_modes=10), seed=seeds())
def test_large_trees_close(tree: Tree, seed: int, method: str, terms: str) -> None:
    _assert_closes(tree, seed, method, terms)


@pytest.mark.parametrize("modes", ["cantilever", "free-free"])
@pytest.mark.parametrize("branching", [0.0, 0.5])
@pytest.mark.parametrize("method", METHODS)
def test_the_largest_trees_close(method: str, branching: float, modes: str) -> None:
    """Sixty flexible bodies with up to ten modes each, as a chain and with branches."""
    rng = np.random.default_rng(60)
    options = Options(max_modes=10, flexible=1.0, modes=modes, branching=branching)
    _assert_closes(random_tree(rng, 60, options), 0, method, "rl")


@pytest.mark.slow
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=100)
@given(tree=trees(max_bodies=60, max_modes=10), seed=seeds())
def test_many_large_trees_close(tree: Tree, seed: int, method: str, terms: str) -> None:
    _assert_closes(tree, seed, method, terms)


@given(tree=trees(max_bodies=12, max_modes=10), seed=seeds())
def test_mass_matrix_is_symmetric_and_positive(tree: Tree, seed: int) -> None:
    model = Spacecraft(tree)
    q, _ = random_state(tree, np.random.default_rng(seed))
    M = darts_py.mass_matrix(model, q)
    assert np.max(np.abs(M - M.T), initial=0.0) <= 1e-13 * np.max(np.abs(M), initial=1.0)
    if model.n_speeds:
        np.linalg.cholesky(M)


@given(tree=trees(max_bodies=12, max_modes=6), seed=seeds())
def test_inverse_dynamics_is_mass_matrix_plus_bias(tree: Tree, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    udot = rng.normal(size=model.n_speeds)
    M, C = darts_py.mass_matrix(model, q), darts_py.bias_force(model, q, u)
    tau = darts_py.inverse_dynamics(model, q, u, udot)
    scale = row_scale(M, C, tau, udot)
    scale += hinge_scale(tree, darts_py.hinge_loads(model, q, u, 0.0 * udot))
    assert backward_error(M @ udot + C - tau, scale) <= LIMIT


@given(tree=trees(max_bodies=12, max_modes=6), seed=seeds())
def test_kinetic_energy_is_the_mass_matrix_form(tree: Tree, seed: int) -> None:
    model = Spacecraft(tree)
    q, u = random_state(tree, np.random.default_rng(seed))
    form = 0.5 * u @ darts_py.mass_matrix(model, q) @ u
    assert darts_py.energy(model, q, u).kinetic == pytest.approx(form, rel=1e-12, abs=1e-14)


@given(tree=trees(max_bodies=10, max_modes=4, shuffled=False), seed=seeds())
def test_bodies_may_be_listed_in_any_order(tree: Tree, seed: int) -> None:
    """The order of the file changes the order of the answer, nothing else."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(tree.bodies))
    other = reordered(tree, order)
    q, u = random_state(tree, rng)
    layout = Twin(tree)

    def listed(x: np.ndarray, modes: list[slice], joint: list[slice]) -> np.ndarray:
        return np.concatenate([np.r_[x[modes[k]], x[joint[k]]] for k in order])

    q_other = listed(q, layout.eta, layout.joint_q)
    u_other = listed(u, layout.etad, layout.beta)
    C = darts_py.bias_force(Spacecraft(tree), q, u)
    C_other = darts_py.bias_force(Spacecraft(other), q_other, u_other)
    expected = listed(C, layout.etad, layout.beta)
    np.testing.assert_allclose(C_other, expected, rtol=0, atol=1e-11 * np.max(np.abs(C), initial=1))
