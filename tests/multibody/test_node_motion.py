"""Node positions, velocities, accelerations and Jacobians; energy and momentum."""

from __future__ import annotations

import numpy as np
import pytest

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference.compare import assert_close
from tests.reference.kinematics import STENCIL, STEP, rate_of, turned
from tests.reference.trees import Options, random_state, random_tree
from tests.reference.twin import Twin

# Numerical differentiation on the eighth-order stencil, as in the twin.
RTOL = 1e-9


def _names(tree: Tree) -> list[str]:
    return [f"{body.name}.{node.name}" for body in tree.bodies for node in body.nodes]


@pytest.mark.parametrize("seed", range(4))
def test_rigid_node_velocity_is_the_rate_of_position(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, Options(max_modes=0, n_roots=2))
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    qdot = Twin(tree).coordinate_rates(q) @ u
    for name in _names(tree):
        path = [darts_py.node_motion(model, q + k * STEP * qdot, u, node=name) for k in STENCIL]
        here = darts_py.node_motion(model, q, u, node=name)
        assert_close(here.R @ here.V[3:], rate_of(np.stack([p.r_N for p in path])), RTOL, name)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("terms", ["rl", "crl"])
def test_rigid_node_acceleration_is_the_rate_of_velocity(seed: int, terms: str) -> None:
    """Along q' = Gamma u, u' = udot; gravity must not show in an inertial acceleration."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, Options(max_modes=0))
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    udot = rng.normal(size=model.n_speeds)
    qdot = Twin(tree).coordinate_rates(q) @ u
    for name in _names(tree):
        velocities = []
        for k in STENCIL:
            t = k * STEP
            node = darts_py.node_motion(model, q + t * qdot, u + t * udot, node=name)
            velocities.append(turned(node.R, node.V))
        here = darts_py.node_motion(model, q, u, udot, node=name, terms=terms)
        assert_close(turned(here.R, here.A), rate_of(np.stack(velocities)), RTOL, name)


@pytest.mark.parametrize("modes", ["cantilever", "free-free"])
@pytest.mark.parametrize("terms", ["rl", "crl"])
@pytest.mark.parametrize("seed", range(2))
def test_flexible_node_motion_agrees_with_the_twin(seed: int, terms: str, modes: str) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5, Options(modes=modes, flexible=0.8))
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    udot = rng.normal(size=model.n_speeds)
    for name in _names(tree):
        got = darts_py.node_motion(model, q, u, udot, node=name, terms=terms)
        expected = twin.node_motion(q, u, udot, name, terms)
        for field in ("r_N", "R", "V", "A", "J"):
            assert_close(getattr(got, field), getattr(expected, field), RTOL, f"{name} {field}")
        assert_close(got.J @ u, got.V, 1e-13, "V = J u")


@pytest.mark.parametrize("seed", range(2))
def test_deformed_position_adds_the_modes_of_the_node_s_own_body(seed: int) -> None:
    """r + R Pi_v eta, on the undeformed pose of the body."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 4, Options(flexible=1.0))
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    for i, body in enumerate(tree.bodies):
        for node in body.nodes:
            name = f"{body.name}.{node.name}"
            rest = darts_py.node_motion(model, q, u, node=name)
            bent = darts_py.node_motion(model, q, u, node=name, deformed=True)
            eta = q[twin.eta[i]]
            np.testing.assert_allclose(
                bent.r_N, rest.r_N + rest.R @ node.Pi[3:] @ eta, rtol=0, atol=1e-13
            )


@pytest.mark.parametrize("seed", range(6))
def test_energy_and_momentum_agree_with_the_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, Options(n_roots=1 + seed % 2, passive=0.5 * (seed % 2)))
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    got, expected = darts_py.energy(model, q, u), twin.energy(q, u)
    for field in ("kinetic", "strain", "gravity", "spring"):
        value = getattr(expected, field)
        assert getattr(got, field) == pytest.approx(value, rel=1e-11, abs=1e-12), field
    assert_close(darts_py.momentum(model, q, u), twin.momentum(q, u), 1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_node_jacobian_carries_forces_to_the_joints(seed: int) -> None:
    """A node force changes the bias by -J^T F: virtual work."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5)
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    name = str(rng.choice(_names(tree)))
    force = rng.normal(size=6)
    change = darts_py.bias_force(model, q, u, forces={name: force})
    change = change - darts_py.bias_force(model, q, u)
    expected = -darts_py.node_motion(model, q, u, node=name).J.T @ force
    scale = 1.0 + np.max(np.abs(darts_py.bias_force(model, q, u)))
    np.testing.assert_allclose(change, expected, rtol=0, atol=1e-13 * scale)
