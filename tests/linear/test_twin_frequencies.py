"""Frequencies and damping of flexible systems against the twin's dense eigenproblem.

The twin gives the mass matrix from node Jacobians and the forces from their potentials; stiffness
and damping follow from two evaluations each, for the forces are linear in modes, springs and rates
there. Dense eigenvalues of both sides agree to rounding times the conditioning of the mass matrix.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg

import darts_py
from darts_py.linear import linearise
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference import charts
from tests.reference.trees import Options, random_tree
from tests.reference.twin import Twin

Array = np.ndarray


def twin_matrices(tree: Tree, q: Array) -> tuple[Array, Array, Array]:
    """Return M, D, K of the twin at rest: columns of the passive forces."""
    twin, n = Twin(tree), Spacecraft(tree).n_speeds
    still = np.zeros(n)
    K, D = np.zeros((n, n)), np.zeros((n, n))
    for j, unit in enumerate(np.eye(n)):
        ahead = twin.passive_forces(charts.moved(tree, q, 1e-3 * unit), still)
        behind = twin.passive_forces(charts.moved(tree, q, -1e-3 * unit), still)
        K[:, j] = -(ahead - behind) / 2e-3
        D[:, j] = -(twin.passive_forces(q, unit) - twin.passive_forces(q, still))
    return twin.mass_matrix(q), D, K


def undamped(tree: Tree) -> Tree:
    bodies = tuple(replace(body, Dm=0.0 * body.Dm) for body in tree.bodies)
    joints = tuple(replace(joint, damping=None) for joint in tree.joints)
    return replace(tree, bodies=bodies, joints=joints)


def test_flexible_satellite_undamped() -> None:
    tree = undamped(darts_py.load_model("flexible_satellite").tree)
    model = Spacecraft(tree)
    q = model.neutral()
    modes = linearise(model, q, np.zeros(model.n_speeds)).modes()
    M, _, K = twin_matrices(tree, q)
    w = np.sqrt(np.maximum(linalg.eigh(K, M, eigvals_only=True), 0.0))
    assert modes.n_rigid == 12
    assert np.all(w[:12] < 1e-5)
    assert np.allclose([mode.frequency_rad_s for mode in modes], w[12:], rtol=1e-10)
    assert not np.any(modes.damping_ratios)


def test_flexible_satellite_damped() -> None:
    model = darts_py.load_model("flexible_satellite")
    q, n = model.neutral(), model.n_speeds
    modes = linearise(model, q, np.zeros(n)).modes()
    M, D, K = twin_matrices(model.tree, q)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values = np.linalg.eigvals(A)
    expected = np.sort_complex(values[values.imag > 1e-2])
    found = modes.eigenvalues
    assert np.allclose(np.sort_complex(found[found.imag > 0.0]), expected, rtol=1e-8)
    decays = np.sort(found[found.imag == 0.0].real)
    assert np.allclose(decays, np.sort(values[(values.imag == 0) & (values.real < -1e-5)].real))
    assert modes.n_zero == 2 * 6 + 6  # a free base; six damped freedoms without springs


@pytest.mark.parametrize("seed", range(4))
def test_random_flexible_trees_with_springs(seed: int) -> None:
    rng = np.random.default_rng([21, seed])
    options = Options(kinds=["revolute", "prismatic", "universal", "cylindrical"], gravity=False,
                      passive=1.0, flexible=0.8, root="revolute")  # fmt: skip
    tree = random_tree(rng, 5, options)
    joints = tuple(
        replace(joint, lower=None, upper=None, rest=None if joint.rest is None else 0 * joint.rest)
        for joint in tree.joints
    )
    tree = replace(tree, joints=joints)
    model = Spacecraft(tree)
    q = model.neutral()
    linear = linearise(model, q, np.zeros(model.n_speeds))
    assert linear.is_equilibrium
    M, D, K = twin_matrices(tree, q)
    n = model.n_speeds
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values = np.linalg.eigvals(A)
    expected = values[values.imag >= 0.0]
    found = linear.modes().eigenvalues
    assert found.size == expected.size
    for value in expected:
        assert np.min(np.abs(found - value)) < 1e-8 * np.max(np.abs(values))


def test_shapes_satisfy_the_eigenproblem_and_energy_is_shared_out() -> None:
    model = darts_py.load_model("flexible_satellite")
    q, n = model.neutral(), model.n_speeds
    linear = linearise(model, q, np.zeros(n), outputs="panel_*.*.p?")
    modes = linear.modes()
    assert np.allclose(np.sum(linear.body_mass, axis=0), darts_py.mass_matrix(model, q), atol=1e-12)
    M, D, K = twin_matrices(model.tree, q)
    for mode in modes:
        s, p = mode.eigenvalue, mode.shape  # neutral: local coordinates are quasi-coordinates
        terms = [s * s * (M @ p), s * (D @ p), K @ p]
        size = sum(np.abs(term) for term in terms) + 1e-9
        assert np.max(np.abs(sum(terms)) / np.max(size)) < 1e-9
        assert np.sum(mode.participation) == pytest.approx(1.0, rel=1e-12)
        assert np.all(mode.participation > -1e-12)
        assert np.max(np.abs(mode.shape)) == pytest.approx(1.0, rel=2e-6)
    # shapes at nodes are C times the shape: the node's Jacobian at rest
    node = next(name for name in model.node_index if name.startswith("panel_left."))
    J = darts_py.node_motion(model, q, np.zeros(n), node=node)
    rows = [linear.output_names.index(f"{node}.p{axis}") for axis in "xyz"]
    for mode in modes:
        assert np.allclose(mode.output_shape[rows], J.R @ J.J[3:] @ mode.shape, atol=1e-10)
