"""Light bodies between heavy ones: a constraint that moves little is not one that cannot move.

Two sliders of mass M are tied by a strut of mass m, hinged to one and held by the other's closure:
together they accelerate by F / (2 M + m), whatever the strut weighs and however it lies. Its
equations have a condition of M / m, and so many digits are lost, none else.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import darts_py
from darts_py.multibody import closure_types as ct
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Closure, Joint, Node, Tree
from tests.linear.systems import X, Z, lump
from tests.reference.trees import reduced

EPS = 2.3e-16
RATIOS = [1e3, 1e6, 1e9, 1e11]


def two_sliders(m: float, M: float, length: float, lean: float, kind: str = "ball") -> Spacecraft:
    """Return sliders along x, the second where the strut, leaning by `lean`, ends."""
    inertia = m * length**2 / 12
    strut = Node("root", m=m, p=0.5 * length * X, Jc=np.diag([0.01 * inertia, inertia, inertia]))
    end = np.array([math.cos(lean), math.sin(lean), 0.0]) * length
    bodies = (
        lump("first", M, np.full(3, M)),
        Body("strut", (strut, Node("tip", r=length * X))),
        lump("second", M, np.full(3, M)),
    )
    joints = (
        Joint("first", "prismatic", jt.prismatic(X)),
        Joint("pin", "revolute", jt.revolute(Z), parent=0),
        Joint("second", "prismatic", jt.prismatic(X), o_t=end),
    )
    S = {"ball": ct.ball(), "revolute": ct.revolute(Z)}[kind]
    closure = Closure("tie", kind, S, body_a=1, node_a=1, body_b=2)
    return Spacecraft(Tree("two_sliders", bodies, joints, closures=(closure,)))


@pytest.mark.parametrize("kind", ["ball", "revolute"])
@pytest.mark.parametrize("lean", [0.0, 0.3, math.pi / 4])
@pytest.mark.parametrize("length", [0.05, 20.0])
@pytest.mark.parametrize("ratio", RATIOS)
def test_sliders_tied_by_a_strut_move_together(
    ratio: float, length: float, lean: float, kind: str
) -> None:
    M = 4e3
    model = two_sliders(M / ratio, M, length, lean, kind)
    udot = darts_py.forward_dynamics(model, [0.0, lean, 0.0], np.zeros(3), [1.0, 0.0, 0.0])
    expected = 1.0 / (2 * M + M / ratio)
    np.testing.assert_allclose(udot[[0, 2]], expected, rtol=50 * EPS * ratio)


@pytest.mark.parametrize("ratio", RATIOS)
def test_heavy_loops_close_from_afar(ratio: float) -> None:
    M, lean = 4e3, math.pi / 4
    model = two_sliders(M / ratio, M, 1.0, lean)
    q, _ = darts_py.close_loops(model, np.array([0.2, lean, -0.1]))
    assert np.abs(darts_py.closure_error(model, q, np.zeros(3)).position).max() < 1e-9
    assert q[0] == pytest.approx(q[2], abs=1e-9)  # the strut can only lean as the rails lie


@pytest.mark.parametrize("closures", ["project", "baumgarte"])
def test_heavy_loops_stay_closed_in_motion(closures: str) -> None:
    """A slider-crank whose rod weighs 1e-6 of what it moves: inside a step its loop is open."""
    M, length = 1e3, 1.0
    rod = Node("root", m=1e-6 * M, p=0.5 * length * X, Jc=np.diag([1e-5, 1e-4, 1e-4]))
    bodies = (
        lump("crank", M, np.full(3, M)),
        Body("rod", (rod, Node("tip", r=length * X))),
        lump("slider", M, np.full(3, M)),
    )
    joints = (
        Joint("shaft", "revolute", jt.revolute(Z)),
        Joint("pin", "revolute", jt.revolute(Z), parent=0, o_t=0.3 * X),
        Joint("rail", "prismatic", jt.prismatic(X), o_t=(0.3 + length) * X),
    )
    tie = Closure("tie", "revolute", ct.revolute(Z), body_a=1, node_a=1, body_b=2)
    model = Spacecraft(Tree("crank", bodies, joints, closures=(tie,)))
    plant = darts_py.Plant(
        model, dt_ns=2_000_000, closures=closures, u=np.array([2.0, 0.0, 0.0]), terms="crl"
    )
    start = darts_py.energy(plant.model, plant.q, plant.u).total
    assert plant.advance(reduced(2000, 100)) == darts_py.Status.OK
    error = darts_py.closure_error(plant.model, plant.q, plant.u)
    bound = {"project": 1e-9, "baumgarte": 1e-6}[closures]
    assert np.abs(error.position).max() < bound
    angle = plant.q[0]
    expected = 0.3 * math.cos(angle) + math.sqrt(length**2 - (0.3 * math.sin(angle)) ** 2)
    assert plant.q[2] + 0.3 + length == pytest.approx(expected, abs=2 * bound)
    energy = darts_py.energy(plant.model, plant.q, plant.u).total
    assert energy == pytest.approx(start, rel=1e-7 if closures == "project" else 1e-4)


@pytest.mark.parametrize("ratio", RATIOS)
def test_a_drive_grips_heavy_and_light_bodies_alike(ratio: float) -> None:
    M, lean = 4e3, 0.3
    plant = darts_py.Plant(
        two_sliders(M / ratio, M, 1.0, lean), dt_ns=1_000_000, q=[0.0, lean, 0.0]
    )
    motion = darts_py.Motion.spline([0.0, 9.0], [1.0, 1.0], of="speed")
    plant.prescribe("first.slide", motion)
    np.testing.assert_allclose(plant.u, [1.0, 0.0, 1.0], atol=1e-6)
    assert plant.advance(10) == darts_py.Status.OK
