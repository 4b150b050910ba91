"""Dry friction of joints: the law, and what it does to motion by hand calculation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import darts_py
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Joint, Node, Tree
from tests.reference.compare import assert_close
from tests.reference.trees import Options, random_forces, random_state, random_tree
from tests.reference.twin import Twin

MASS = 2.0


def block(gravity: float = 0.0, **friction: float) -> Spacecraft:
    """Return a block that slides along x with friction; gravity pulls along x."""
    node = Node("origin", m=MASS, Jc=np.eye(3))
    laws = {key: np.array([value]) for key, value in friction.items()}
    joint = Joint("slide", "prismatic", jt.prismatic([1.0, 0, 0]), **laws)
    return Spacecraft(
        Tree("block", (Body("block", (node,)),), (joint,), gravity=np.array([gravity, 0, 0]))
    )


def force_at(model: Spacecraft, v: float) -> float:
    """Return the friction force at a speed."""
    return -float(darts_py.bias_force(model, np.zeros(1), np.array([v]))[0])


def test_law_is_that_of_the_format() -> None:
    Fc, Fs, vs, vc = 3.0, 5.0, 0.2, 1e-3
    model = block(coulomb=Fc, breakaway=Fs, stribeck_rate=vs, creep_rate=vc)
    for v in (0.0, 1e-5, 1e-3, 0.1, -0.1, 0.2, -0.2, 3.0, -50.0):
        expected = -(Fc + (Fs - Fc) / (1 + (v / vs) ** 2)) * v / np.sqrt(v**2 + vc**2)
        assert force_at(model, v) == pytest.approx(expected, rel=1e-15, abs=1e-300)
    assert force_at(model, vs) == pytest.approx(-(Fc + Fs) / 2, rel=vc**2 / vs**2)
    assert force_at(model, 1e6) == pytest.approx(-Fc, rel=1e-12)


def test_friction_opposes_every_speed() -> None:
    """The force at u less the force at u without friction, speed by speed."""
    rng = np.random.default_rng(51)
    tree = random_tree(rng, 6, Options(friction=1.0))
    bare = [replace(j, coulomb=None, breakaway=None) for j in tree.joints]
    model, without = Spacecraft(tree), Spacecraft(replace(tree, joints=tuple(bare)))
    for _ in range(20):
        q, u = random_state(tree, rng)
        force = darts_py.bias_force(without, q, u) - darts_py.bias_force(model, q, u)
        rounding = 1e-13 * np.abs(darts_py.bias_force(model, q, u)).max()
        assert np.all(u * force <= rounding * np.abs(u))
        assert u @ force < 0.0


@pytest.mark.parametrize("terms", ["rl", "crl"])
@pytest.mark.parametrize("seed", range(3))
def test_dynamics_with_friction_agree_with_the_twin(seed: int, terms: str) -> None:
    rng = np.random.default_rng([52, seed])
    tree = random_tree(rng, 6, Options(friction=0.8, passive=0.4))
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    tau, forces = rng.normal(size=twin.n_speeds), random_forces(tree, rng)
    expected = twin.forward_dynamics(q, u, tau, forces, terms)
    for method in ("articulated", "composite"):
        got = darts_py.forward_dynamics(model, q, u, tau, forces=forces, terms=terms, method=method)
        assert_close(got, expected, 1e-10, method)


def test_sliding_block_stops_where_its_energy_is_spent() -> None:
    """From v0 under Coulomb friction alone: m v0^2 / 2 = Fc x, to the creep rate over v0."""
    v0, Fc, vc = 2.0, 6.0, 1e-5
    model = block(coulomb=Fc, creep_rate=vc)
    run = solve_ivp(
        lambda t, x: [x[1], darts_py.forward_dynamics(model, x[:1], x[1:])[0]],
        (0.0, 1.0),
        [0.0, v0],
        method="LSODA",
        rtol=1e-10,
        atol=1e-12,
    )
    distance, speed = run.y[:, -1]
    # friction falls short of Fc by Fc (vc / v)^2 / 2 while it slides: relative to the way, below
    # vc / v0; what creeps after that is less than vc times the rest of the second
    assert distance == pytest.approx(MASS * v0**2 / (2 * Fc), abs=2 * vc)
    assert abs(speed) < 1e-9


def test_held_block_creeps_at_the_speed_of_the_format_page() -> None:
    """Under a load F < Fc the speed is vc F / sqrt(Fc^2 - F^2)."""
    Fc, vc, g = 6.0, 1e-4, 2.0
    model, F = block(g, coulomb=Fc, creep_rate=vc), MASS * g
    v = vc * F / np.sqrt(Fc**2 - F**2)
    udot = darts_py.forward_dynamics(model, np.zeros(1), np.array([v]))
    assert abs(udot[0]) < 1e-12 * g


def test_breakaway_holds_more_than_sliding_friction() -> None:
    """Between Fc and Fs a resting joint creeps, a moving one runs away."""
    model = block(2.0, coulomb=3.0, breakaway=5.0, stribeck_rate=0.1, creep_rate=1e-4)
    assert darts_py.forward_dynamics(model, np.zeros(1), np.array([1e-3]))[0] < 0.0
    assert darts_py.forward_dynamics(model, np.zeros(1), np.array([1.0]))[0] > 0.0
