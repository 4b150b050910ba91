"""The API against the brute-force twin on random trees: every joint, RL and CRL.

Tolerance: the twin differentiates numerically, good to 1e-12 relative to the largest entry;
1e-9 leaves room for the conditioning of the solve (up to some 1e4 on these trees).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference import joint_kinds, trees
from tests.reference.compare import assert_close
from tests.reference.trees import Options, random_forces, random_state, random_tree
from tests.reference.twin import Twin

RTOL = 1e-9
METHODS = ("articulated", "articulated-direct", "articulated-woodbury", "composite")
TERMS = ("rl", "crl")


def _one_kind(kind: str) -> Tree:
    """Return a branching flexible tree in which all joints are of one kind."""
    rng = np.random.default_rng(joint_kinds.ALL_KINDS.index(kind))
    return random_tree(rng, 3, Options(kinds=[kind], flexible=0.8, branching=1.0))


CASES = {
    "cantilever": Options(modes="cantilever", flexible=1.0),
    "free-free": Options(modes="free-free", flexible=1.0),
    "mixed": Options(),
    "rigid": Options(flexible=0.0),
    "chain": Options(branching=0.0),
    "several-roots": Options(n_roots=3),
    "weightless": Options(gravity=False),
    "springs-and-stops": Options(passive=1.0),
    "many-modes": Options(max_modes=9, flexible=1.0, kinds=joint_kinds.PLAIN_KINDS),
}


def _case(name: str, seed: int) -> tuple[Tree, np.random.Generator]:
    rng = np.random.default_rng([list(CASES).index(name), seed])
    n_bodies = 4 if name == "many-modes" else 7
    return random_tree(rng, n_bodies, CASES[name]), rng


def _compare(tree: Tree, rng: np.random.Generator, terms: str) -> None:
    """Hold every result that needs a velocity, a force or an acceleration against the twin."""
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    forces = random_forces(tree, rng)
    tau, udot = rng.normal(size=(2, twin.n_speeds))
    assert (model.n_coords, model.n_speeds) == (twin.n_coords, twin.n_speeds)
    assert_close(darts_py.mass_matrix(model, q), twin.mass_matrix(q), RTOL, "mass matrix")
    C = twin.bias_force(q, u, forces, terms)
    got = darts_py.bias_force(model, q, u, forces=forces, terms=terms)
    assert_close(got, C, RTOL, "bias")
    got = darts_py.inverse_dynamics(model, q, u, udot, forces=forces, terms=terms)
    assert_close(got, twin.mass_matrix(q) @ udot + C, RTOL, "inverse dynamics")
    expected = twin.forward_dynamics(q, u, tau, forces, terms)
    for method in METHODS:
        got = darts_py.forward_dynamics(model, q, u, tau, forces=forces, terms=terms, method=method)
        assert_close(got, expected, RTOL, method)
    got = darts_py.hinge_loads(model, q, u, udot, forces=forces, terms=terms)
    assert_close(got, twin.hinge_loads(q, u, udot, forces, terms), RTOL, "hinge loads")


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
def test_dynamics_agree_for_every_joint(kind: str, terms: str) -> None:
    _compare(_one_kind(kind), np.random.default_rng(5), terms)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", CASES)
def test_dynamics_agree_on_random_trees(name: str, seed: int, terms: str) -> None:
    tree, rng = _case(name, seed)
    _compare(tree, rng, terms)


@pytest.mark.slow
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("seed", range(2, 2 + trees.reduced(15, 2)))
@pytest.mark.parametrize("name", CASES)
def test_dynamics_agree_on_many_random_trees(name: str, seed: int, terms: str) -> None:
    tree, rng = _case(name, seed)
    _compare(tree, rng, terms)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_locked_joints_hold_and_the_rest_moves_as_if_welded(
    seed: int, method: str, terms: str
) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6, Options(locked=0.5))
    tree = replace(tree, joints=(replace(tree.joints[0], locked=True), *tree.joints[1:]))
    twin = Twin(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=twin.n_speeds)
    model, free = Spacecraft(tree), twin.free_speeds()
    got = darts_py.forward_dynamics(model, q, u, tau, terms=terms, method=method)
    assert np.all(got[~free] == 0.0)
    assert_close(got, twin.forward_dynamics(q, u, tau, terms=terms), RTOL)
    # inverse dynamics gives the given forces back, and the load that holds the locked joints
    needed = darts_py.inverse_dynamics(model, q, u, got, terms=terms)
    assert_close(needed[free], tau[free], RTOL)
    assert_close(needed, twin.inverse_dynamics(q, u, got, terms=terms), RTOL)


@pytest.mark.parametrize("seed", range(4))
def test_body_motion_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6)
    q, u = random_state(tree, rng)
    V, a = darts_py.body_motion(Spacecraft(tree), q, u)
    expected_V, expected_a = Twin(tree).body_motion(q, u)
    assert_close(V, expected_V, RTOL, "velocity")
    assert_close(a, expected_a, RTOL, "velocity products")


@pytest.mark.parametrize("seed", range(6))
def test_twin_terms_agree_without_modal_rates(seed: int) -> None:
    """At etad = 0 the RL recipe equals true differentiation: the twin's own check."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 6)
    twin = Twin(tree)
    q, u = random_state(tree, rng)
    for modes in twin.etad:
        u[modes] = 0.0
    rl, crl = (twin.bias_force(q, u, terms=terms) for terms in TERMS)
    assert_close(rl, crl, 1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_twin_crl_power_balances(seed: int) -> None:
    """Velocity products of CRL do no work: d(u' M u)/dt / 2 = u . tau at zero strain and g."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5, Options(gravity=False))
    twin = Twin(tree)
    q, u = random_state(tree, rng)
    for modes in twin.eta:
        q[modes] = 0.0
    tau = rng.normal(size=twin.n_speeds)
    udot = twin.forward_dynamics(q, u, tau, terms="crl")
    qdot = twin.coordinate_rates(q) @ u
    h = 1e-3
    samples = [twin.mass_matrix(q + k * h * qdot) for k in (-2, -1, 1, 2)]
    Mdot = (samples[0] - 8 * samples[1] + 8 * samples[2] - samples[3]) / (12 * h)
    power = u @ twin.mass_matrix(q) @ udot + 0.5 * u @ Mdot @ u
    damping = sum(
        u[part] @ body.Dm @ u[part] for body, part in zip(tree.bodies, twin.etad, strict=True)
    )
    scale = abs(u @ tau) + np.abs(u) @ np.abs(Mdot) @ np.abs(u)
    assert power == pytest.approx(u @ tau - damping, abs=1e-9 * scale)
