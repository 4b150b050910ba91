"""Spread mass against the same mass on nodes: equal where both are exact.

The integrals of `tree.Distributed` hold everything RL needs, and everything CRL needs of point
masses. Of the velocity products of rotary inertia, w x Jc w, CRL keeps those linear in the modal
rates in the load, and those without modal rates in the force on a mode: the loads through hinges
differ from the lumped ones with the square of the modal rates, the forces on modes linearly.
Tolerance: two orders of summation of the same numbers, 1e-15 each, times a condition number of the
mass matrix of up to some 1e4.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference.compare import assert_close, relative_error
from tests.reference.distributed import spread_out, without_rotary
from tests.reference.trees import Options, random_forces, random_state, random_tree
from tests.reference.twin import Twin

RTOL = 1e-11
METHODS = ("articulated", "articulated-direct", "articulated-woodbury", "composite")
FLAVOURS = ("cantilever", "free-free", "general")


def _tree(rng: np.random.Generator, modes: str) -> Tree:
    options = Options(modes=modes, flexible=0.8, max_modes=4, passive=0.3)
    return random_tree(rng, 5, options)


def _without_modal_rates(tree: Tree, u: np.ndarray) -> np.ndarray:
    out = np.array(u)
    for modes in Twin(tree).etad:
        out[modes] = 0.0
    return out


def _compare(lumped: Tree, spread: Tree, terms: str, u_of=lambda tree, u: u) -> None:
    rng = np.random.default_rng(7)
    a, b = Spacecraft(lumped), Spacecraft(spread)
    q, u = random_state(lumped, rng)
    u, forces = u_of(lumped, u), random_forces(lumped, rng)
    tau, udot = rng.normal(size=(2, a.n_speeds))
    given = {"forces": forces, "terms": terms}
    assert_close(darts_py.mass_matrix(b, q), darts_py.mass_matrix(a, q), RTOL, "mass matrix")
    for what in ("inverse_dynamics", "hinge_loads"):
        compute = getattr(darts_py, what)
        assert_close(compute(b, q, u, udot, **given), compute(a, q, u, udot, **given), RTOL, what)
    for method in METHODS:
        got = darts_py.forward_dynamics(b, q, u, tau, method=method, **given)
        expected = darts_py.forward_dynamics(a, q, u, tau, method=method, **given)
        assert_close(got, expected, RTOL, method)
    assert_close(np.array(darts_py.energy(b, q, u)), np.array(darts_py.energy(a, q, u)), RTOL)
    assert_close(darts_py.momentum(b, q, u), darts_py.momentum(a, q, u), RTOL, "momentum")


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("modes", FLAVOURS)
def test_spread_mass_equals_mass_on_nodes_in_rl(modes: str, share: float) -> None:
    tree = _tree(np.random.default_rng([1, FLAVOURS.index(modes)]), modes)
    _compare(tree, spread_out(tree, share), "rl")


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("modes", FLAVOURS)
def test_spread_point_masses_equal_those_on_nodes_in_crl(modes: str, share: float) -> None:
    tree = without_rotary(_tree(np.random.default_rng([2, FLAVOURS.index(modes)]), modes))
    _compare(tree, spread_out(tree, share), "crl")


@pytest.mark.parametrize("modes", FLAVOURS)
def test_spread_rotary_inertia_agrees_without_modal_rates_in_crl(modes: str) -> None:
    tree = _tree(np.random.default_rng([3, FLAVOURS.index(modes)]), modes)
    _compare(tree, spread_out(tree), "crl", _without_modal_rates)


@pytest.mark.parametrize("modes", FLAVOURS)
def test_spread_rotary_inertia_changes_loads_in_second_order_of_modal_rates(modes: str) -> None:
    tree = _tree(np.random.default_rng([4, FLAVOURS.index(modes)]), modes)
    rng = np.random.default_rng(11)
    lumped, spread = Spacecraft(tree), Spacecraft(spread_out(tree))
    q, u = random_state(tree, rng)
    still, zero = _without_modal_rates(tree, u), np.zeros_like(u)
    differences = []
    for scale in (1.0, 0.5):
        x = still + scale * (u - still)
        loads = [darts_py.hinge_loads(model, q, x, zero, terms="crl") for model in (lumped, spread)]
        differences.append(loads[1] - loads[0])
    assert np.abs(differences[0]).max() > 1e-4
    # psi etad x Jc psi etad and nothing else: a quarter at half the rates, to rounding of the loads
    np.testing.assert_allclose(differences[0], 4.0 * differences[1], atol=1e-11)


@pytest.mark.parametrize("terms", ["rl", "crl"])
def test_spread_mass_agrees_with_the_twin(terms: str) -> None:
    rng = np.random.default_rng(5)
    tree = without_rotary(_tree(rng, "mixed"))
    model, twin = Spacecraft(spread_out(tree)), Twin(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=model.n_speeds)
    got = darts_py.forward_dynamics(model, q, u, tau, terms=terms)
    assert relative_error(got, twin.forward_dynamics(q, u, tau, terms=terms)) < 1e-9


def test_crl_with_spread_mass_conserves_energy() -> None:
    """Rotary inertia included: what is neglected does no work by itself."""
    rng = np.random.default_rng(6)
    options = Options(modes="mixed", flexible=1.0, gravity=False, root="free", branching=1.0)
    model = Spacecraft(spread_out(_undamped(random_tree(rng, 4, options))))
    q, u = random_state(model.tree, rng)
    C = darts_py.bias_force(model, q, u, terms="crl") - darts_py.bias_force(model, q, 0 * u)
    power = u @ C  # with Mdot - 2 C skew, u . C = 1/2 u . Mdot u
    h, rates = 1e-4, Twin(model.tree).coordinate_rates(q) @ u
    ahead, behind = (darts_py.mass_matrix(model, q + s * h * rates) for s in (1, -1))
    twice = (darts_py.mass_matrix(model, q + s * 2 * h * rates) for s in (1, -1))
    far, back = twice
    Mdot = (8 * (ahead - behind) - (far - back)) / (12 * h)
    scale = np.abs(u) @ np.abs(C)
    # fourth-order difference at h = 1e-4: rounding of M over h, 1e-15 / 1e-4, dominates
    assert abs(power - 0.5 * u @ Mdot @ u) < 1e-10 * scale


def _undamped(tree: Tree) -> Tree:
    return replace(tree, bodies=tuple(replace(b, Dm=0.0 * b.Dm) for b in tree.bodies))
