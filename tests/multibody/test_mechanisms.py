"""Shipped mechanisms: they stay closed, keep their energy, and move as their closed form does.

Both are overconstrained: the planar four-bar has a full revolute pin as its closure, Bricard's
mechanism cannot move at all by Gruebler's count. Steps of 1 ms, as in real time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import darts_py
from darts_py.multibody import closure_types as ct
from darts_py.multibody.spacecraft import Spacecraft
from tests.reference import mechanisms
from tests.reference.compare import assert_close
from tests.reference.loops import LoopTwin
from tests.reference.trees import reduced

MS = 1_000_000
SECONDS = reduced(10, 1)
FOUR_BAR = np.array([0.0, -0.92312200835168, -1.65004592190725])
STARTS = {"four_bar": FOUR_BAR, "bricard": np.zeros(5)}
STABILISATIONS = ("project", "baumgarte")
Array = np.ndarray


def plant_of(name: str, closures: str, dt_ns: int = MS) -> darts_py.Plant:
    """Return a plant at rest in a closed position."""
    model = darts_py.load_model(name)
    return darts_py.Plant(model, dt_ns=dt_ns, closures=closures, q=STARTS[name])


@pytest.mark.parametrize("closures", STABILISATIONS)
@pytest.mark.parametrize("name", STARTS)
def test_mechanism_stays_closed_and_keeps_its_energy(name: str, closures: str) -> None:
    """Gap below 1e-8 m (and rad), energy to 1e-6 of the largest kinetic energy, for 10 s."""
    plant = plant_of(name, closures)
    start = darts_py.energy(plant.model, plant.q, plant.u).total
    gap = drift = kinetic = 0.0
    for _ in range(100 * SECONDS):
        assert plant.advance(10) == darts_py.Status.OK
        energy = darts_py.energy(plant.model, plant.q, plant.u)
        drift = max(drift, abs(energy.total - start))
        kinetic = max(kinetic, energy.kinetic)
        gap = max(gap, np.abs(LoopTwin(plant.model.tree).closure_error(plant.q, plant.u)[0]).max())
    assert kinetic > 5.0
    assert gap < 1e-8
    assert drift < 1e-6 * kinetic


def _errors_of_four_bar(dt_ns: int, closures: str) -> Array:
    """Return the largest differences of angle and rate from the closed form."""
    plant = plant_of("four_bar", closures, dt_ns)
    times = np.linspace(0.0, SECONDS, 10 * SECONDS + 1)
    s, rate = mechanisms.four_bar().run(0.0, 0.0, times)
    worst = np.zeros(2)
    for k in range(1, times.size):
        plant.advance(100 * MS // dt_ns)
        worst = np.maximum(worst, np.abs([-plant.q[0] - s[k], -plant.u[0] - rate[k]]))
        coupler, rocker = (angle.real for angle in mechanisms.four_bar_angles(-plant.q[0]))
        # the other angles are those of the closed form, up to whole turns
        others = np.array([-plant.q[0] - plant.q[1] - coupler, -plant.q[2] - rocker])
        assert np.abs(np.sin(others / 2)).max() < 1e-8
    return worst


@pytest.mark.parametrize("closures", STABILISATIONS)
def test_four_bar_moves_as_its_closed_form(closures: str) -> None:
    """Converges with the step: of fourth order projected.

    Baumgarte's gains grow as 1 / dt, and the order is lost: second in the angle, first in the rate.
    """
    coarse, fine = (_errors_of_four_bar(dt, closures) for dt in (MS, MS // 2))
    assert np.all(coarse < 1e-5)
    orders = {"project": np.array([4, 4]), "baumgarte": np.array([2, 1])}[closures]
    assert np.all(fine < coarse / 2.0 ** (orders - 0.25))  # a quarter of an order for higher terms


def test_bricard_has_one_degree_of_freedom_by_its_geometry_alone() -> None:
    model = darts_py.load_model("bricard")
    for s in np.linspace(0.0, np.pi, 13):
        q = mechanisms.bricard_angles(s)
        twin = LoopTwin(model.tree)
        np.testing.assert_allclose(twin.closure_error(q, 0 * q)[0], 0.0, atol=1e-14)
        J = darts_py.closure_jacobian(model, q)
        assert np.linalg.matrix_rank(J, tol=1e-9) == 4
        assert_close(J, twin.closure_jacobian(q), 1e-11)


def test_bricard_moves_as_its_closed_form() -> None:
    plant = plant_of("bricard", "project")
    times = np.linspace(0.0, SECONDS, 10 * SECONDS + 1)
    s, rate = mechanisms.bricard(plant.model.tree).run(0.0, 0.0, times)
    for k in range(1, times.size):
        plant.advance(100)
        np.testing.assert_allclose(plant.q, mechanisms.bricard_angles(s[k]), atol=1e-9)
        assert abs(plant.u[0] - rate[k]) < 1e-9


def test_bricard_swings_as_published() -> None:
    """Problem A04 of the IFToMM library: P3 goes from x = 1 to -1 and back in 5 s.

    Its path passes (0, -sqrt(3)/2, -1/2) half way; times as read off the published diagram.
    """
    plant = plant_of("bricard", "project")
    corner = {"node": "rod_2.tip"}
    plant.advance(2500)
    half = darts_py.node_motion(plant.model, plant.q, plant.u, **corner)
    np.testing.assert_allclose(half.r_N, [-1.0, -1.0, 0.0], atol=1e-2)
    plant.advance(2500)
    full = darts_py.node_motion(plant.model, plant.q, plant.u, **corner)
    np.testing.assert_allclose(full.r_N, [1.0, -1.0, 0.0], atol=1e-2)
    middle = mechanisms.bricard_angles(np.pi / 2)
    at_middle = darts_py.node_motion(plant.model, middle, plant.u, **corner)
    np.testing.assert_allclose(at_middle.r_N, [0.0, -np.sqrt(0.75), -0.5], atol=1e-12)


@pytest.mark.parametrize("kind", ["ball", "revolute", "weld-but-one"])
def test_redundant_pins_of_the_four_bar_move_it_alike(kind: str) -> None:
    """Two rows hold the loop; three more, and rows of other kinds, change no acceleration."""
    model = darts_py.load_model("four_bar")
    S = {
        "ball": ct.ball(),
        "revolute": ct.revolute([0.0, 1.0, 0.0]),
        "weld-but-one": ct.constrained_map(np.delete(np.eye(6), 1, axis=1)),
    }[kind]
    pin = model.tree.closures[0]
    least = replace(pin, S=ct.point_on_line([0.0, 1.0, 0.0]))
    q, u = darts_py.close_loops(model, FOUR_BAR, np.array([3.0, 0.0, 0.0]))
    tau = np.array([0.5, -2.0, 1.0])
    udot, loads = [], []
    for closure in (least, replace(pin, S=S)):
        built = Spacecraft(replace(model.tree, closures=(closure,)))
        udot.append(darts_py.forward_dynamics(built, q, u, tau))
        loads.append(darts_py.closure_loads(built, q, u, tau)["pin"])
    assert_close(udot[1], udot[0], 1e-12)
    assert_close(loads[1], loads[0], 1e-11)  # nothing loads the pin across the plane
