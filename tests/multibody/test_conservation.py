"""What a free run must conserve: energy and momentum of rigid systems, and of CRL what it says.

Runs use RK4 with 0.5 ms steps. At rates of some rad/s its relative error is about
(rate * dt)^4 times the number of radians turned: below 1e-9 here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import darts_py
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND, Body, Joint, Node, Tree
from tests.reference.compare import relative_error
from tests.reference.trees import Options, random_state, random_tree, reduced

DT_NS = 500_000
RTOL = 1e-8
SCALAR_KINDS = ("revolute", "prismatic", "universal", "screw", "cylindrical", "map-plane")
KINDS = ("revolute", "spherical", "universal", "screw", "cylindrical", "planar", "fixed")


def _system(seed: int, n_bodies: int = 5, **options: object) -> tuple[Tree, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    chosen = Options(kinds=KINDS, root="free", gravity=False, branching=0.7)
    tree = random_tree(rng, n_bodies, replace(chosen, **options))
    q, u = random_state(tree, rng)
    return tree, q, 0.5 * u


def _undamped(tree: Tree) -> Tree:
    bodies = tuple(replace(body, Dm=np.zeros_like(body.Dm)) for body in tree.bodies)
    joints = [replace(j, damping=None, stop_damping=None) for j in tree.joints]
    return replace(tree, bodies=bodies, joints=tuple(joints))


def _run(
    tree: Tree, q: np.ndarray, u: np.ndarray, seconds: float, **plant: str
) -> Iterator[tuple[Spacecraft, darts_py.Plant]]:
    """Yield the plant at the start and at ten moments of a run."""
    model = Spacecraft(tree)
    integrator = plant.pop("integrator", "rk4")
    p = darts_py.Plant(model, dt_ns=DT_NS, integrator=integrator, **plant)
    p.q[:], p.u[:] = q, u
    yield model, p
    n_steps = reduced(int(seconds * 1e9 / DT_NS), 200)
    for _ in range(10):
        p.advance(n_steps // 10)
        yield model, p


def _total(model: Spacecraft, p: darts_py.Plant) -> float:
    e = darts_py.energy(model, p.q, p.u)
    return e.kinetic + e.strain + e.gravity + e.spring


@pytest.mark.parametrize("integrator", ["rk4", "rk4-lie"])
@pytest.mark.parametrize("seed", range(3))
def test_free_rigid_system_keeps_energy_and_momentum(seed: int, integrator: str) -> None:
    tree, q, u = _system(seed, max_modes=0)
    states = [
        (_total(model, p), darts_py.momentum(model, p.q, p.u))
        for model, p in _run(tree, q, u, 10.0, integrator=integrator)
    ]
    energy, momentum = states[0]
    for later, moved in states[1:]:
        assert later == pytest.approx(energy, rel=RTOL)
        assert relative_error(moved[3:], momentum[3:]) <= RTOL
        assert relative_error(moved[:3], momentum[:3]) <= RTOL


@pytest.mark.parametrize("seed", range(2))
def test_falling_rigid_system_keeps_energy_and_gains_weight_times_time(seed: int) -> None:
    tree, q, u = _system(seed, max_modes=0, gravity=True)
    runs = [
        (_total(model, p), darts_py.momentum(model, p.q, p.u)[3:])
        for model, p in _run(tree, q, u, 5.0)
    ]
    mass = sum(node.m for body in tree.bodies for node in body.nodes)
    n_steps = reduced(int(5.0e9 / DT_NS), 200) // 10
    for k, (energy, linear) in enumerate(runs):
        assert energy == pytest.approx(runs[0][0], rel=RTOL)
        gained = mass * tree.gravity * k * n_steps * DT_NS * 1e-9
        assert relative_error(linear, runs[0][1] + gained) <= RTOL


@pytest.mark.parametrize("seed", range(2))
def test_rigid_system_on_springs_and_stops_keeps_energy(seed: int) -> None:
    """Soft stops store energy, too: without damping they give it back.

    A stop's force has a kink where it is met, so RK4 is of second order there: 1e-6. Rotation
    springs on quaternions are left out: their force jumps where the shortest way changes sides.
    """
    tree, q, u = _system(seed, max_modes=0, passive=1.0, kinds=SCALAR_KINDS, root="planar")
    totals = [_total(model, p) for model, p in _run(_undamped(tree), q, u, 5.0)]
    assert max(abs(e - totals[0]) for e in totals) <= 1e-6 * abs(totals[0])


@pytest.mark.parametrize("seed", range(2))
def test_dampers_only_take_energy(seed: int) -> None:
    tree, q, u = _system(seed, passive=1.0, max_modes=0, kinds=SCALAR_KINDS, root="planar")
    totals = [_total(model, p) for model, p in _run(tree, q, u, 5.0)]
    assert all(later < earlier for earlier, later in pairwise(totals))


@pytest.mark.parametrize("modes", ["cantilever", "free-free"])
@pytest.mark.parametrize("seed", range(2))
def test_crl_keeps_energy_and_linear_momentum(seed: int, modes: str) -> None:
    """Free flexible system, no gravity, no damping. Angular momentum is kept to O(etad) only."""
    tree, q, u = _system(seed, modes=modes, max_modes=3, flexible=1.0)
    assert any(body.n_modes for body in tree.bodies)
    runs = [
        (_total(model, p), darts_py.momentum(model, p.q, p.u)[3:])
        for model, p in _run(_undamped(tree), q, u, 5.0, terms="crl")
    ]
    for energy, linear in runs[1:]:
        assert energy == pytest.approx(runs[0][0], rel=RTOL)
        assert relative_error(linear, runs[0][1]) <= RTOL


def test_crl_and_rl_are_the_same_for_rigid_systems() -> None:
    tree, q, u = _system(5, max_modes=0)
    ends = []
    for terms in ("rl", "crl"):
        *_, (_, plant) = _run(tree, q, u, 1.0, terms=terms)
        ends.append(plant.u.copy())
    assert relative_error(ends[0], ends[1]) <= 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_long_free_run_keeps_energy_and_momentum(seed: int) -> None:
    """Ten minutes; the drift is secular, so the bound grows with the time."""
    tree, q, u = _system(seed, max_modes=0)
    runs = [
        (_total(model, p), darts_py.momentum(model, p.q, p.u))
        for model, p in _run(tree, q, u, 600.0)
    ]
    assert relative_error(runs[-1][0], runs[0][0]) <= 60 * RTOL
    assert relative_error(runs[-1][1], runs[0][1]) <= 60 * RTOL


def test_momentum_of_separate_roots_adds_up() -> None:
    """Two free trees in one file: each keeps to itself, so the sum is conserved."""
    tree, q, u = _system(9, max_modes=0, n_roots=2)
    assert sum(joint.parent == GROUND for joint in tree.joints) == 2
    runs = [darts_py.momentum(model, p.q, p.u) for model, p in _run(tree, q, u, 2.0)]
    assert relative_error(runs[-1], runs[0]) <= RTOL


@pytest.mark.parametrize("root", ["spherical", "free"])
def test_attitude_springs_store_what_they_take(root: str) -> None:
    """An isotropic rotation spring (and translation springs of a free joint), turns below pi."""
    stages = jt.spherical() if root == "spherical" else jt.free()
    n = stages[0].n_speeds
    stiffness = np.array([3.0, 3.0, 3.0, 20.0, 30.0, 40.0])[:n]
    body = Body(
        "top", (Node("n", m=2.0, p=np.array([0.1, 0.0, 0.2]), Jc=np.diag([0.3, 0.4, 0.5])),)
    )
    tree = Tree("spring", (body,), (Joint("j", root, stages, stiffness=stiffness),))
    plant = darts_py.Plant(Spacecraft(tree), dt_ns=1_000_000)
    plant.u[:] = 0.5
    before = darts_py.energy(plant.model, plant.q, plant.u)
    plant.advance(reduced(2000, 100))
    after = darts_py.energy(plant.model, plant.q, plant.u)
    assert after.spring > 0.01 * before.total
    assert abs(after.total - before.total) <= 1e-9 * before.total
