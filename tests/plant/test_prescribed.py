"""Prescribed motion over time: followed exactly, with the forces it needs."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import darts_py
from darts_py import Motion, Plant, Status
from darts_py.errors import ArgumentError
from darts_py.plant import INTEGRATORS

DT_NS = 2_000_000
SHOULDER = "shoulder.angle"


@pytest.fixture(scope="module")
def satellite() -> darts_py.Spacecraft:
    return darts_py.load_model("flexible_satellite")


def _drive(model: darts_py.Spacecraft) -> str:
    return next(name for name in model.coord_names if name.endswith(".angle"))


def _state_of(plant: Plant, name: str) -> tuple[float, float]:
    speed, coord = plant.model.find_movable(name)
    return float(plant.q[coord]), float(plant.u[speed])


# -- the motion itself ------------------------------------------------------------------------


def test_spline_passes_its_points_and_rests_at_the_ends() -> None:
    times, values = [1.0, 2.0, 4.0], [0.3, -0.2, 0.7]
    motion = Motion.spline(times, values)
    for t, value in zip(times, values, strict=True):
        assert motion(t)[0] == pytest.approx(value, abs=1e-14)
    for end in (1.0, 4.0):
        assert motion(end)[1:] == pytest.approx((0.0, 0.0), abs=1e-12)
    assert motion(9.0) == pytest.approx((0.7, 0.0, 0.0), abs=1e-12)  # stays there
    assert motion(0.0) == pytest.approx((0.3, 0.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("of", ["position", "speed", "acceleration"])
def test_derivatives_of_a_motion_agree_with_differences(of: str) -> None:
    motion = Motion.spline([0.0, 1.0, 2.5, 3.0], [0.0, 0.4, -0.3, 0.1], of=of)
    h = 1e-4
    for t in (0.37, 1.61, 2.77):
        p, v, a = (np.array([motion(t + s * h)[k] for s in (-1, 0, 1)]) for k in range(3))
        assert (p[2] - p[0]) / (2 * h) == pytest.approx(v[1], abs=1e-6)
        assert (v[2] - v[0]) / (2 * h) == pytest.approx(a[1], abs=1e-6)


@pytest.mark.parametrize("of", ["position", "speed", "acceleration"])
def test_fitted_function_meets_its_tolerance_everywhere(of: str) -> None:
    def wave(t: float) -> float:
        return math.sin(3.0 * t) * math.exp(-0.2 * t)

    motion = Motion.function(wave, 0.0, 8.0, of=of, tolerance=1e-10)
    k = ("position", "speed", "acceleration").index(of)
    worst = max(abs(motion(t)[k] - wave(t)) for t in np.linspace(0.0, 8.0, 1777))
    assert worst < 3e-10  # tolerance is tested at 17 points a piece; the largest value is 0.9


def test_constant_acceleration_starts_from_the_state(satellite: darts_py.Spacecraft) -> None:
    plant, name = Plant(satellite, dt_ns=DT_NS), _drive(satellite)
    speed, coord = satellite.find_movable(name)
    plant.q[coord], plant.u[speed] = 0.2, -0.1
    plant.advance(10)
    p0, v0 = _state_of(plant, name)
    plant.prescribe(name, Motion.constant(0.4))
    assert plant.advance(500) == Status.OK
    x = 500 * DT_NS * 1e-9
    position, rate = _state_of(plant, name)
    assert position == pytest.approx(p0 + v0 * x + 0.2 * x * x, abs=1e-12)
    assert rate == pytest.approx(v0 + 0.4 * x, abs=1e-12)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Motion.spline([0.0], [1.0]), "times_s"),
    (lambda: Motion.spline([0.0, 0.0], [1.0, 2.0]), "times_s"),
    (lambda: Motion.spline([0.0, 1.0], [1.0]), "values"),
    (lambda: Motion.spline([0.0, 1.0], [1.0, math.nan]), "values"),
    (lambda: Motion.spline([0.0, 1.0], [1.0, 2.0], of="jerk"), "of"),
    (lambda: Motion.spline(3.0, 4.0), "times_s"),  # type: ignore[arg-type]
    (lambda: Motion.spline([[0.0, 1.0], [2.0]], [0.0, 1.0]), "times_s"),  # type: ignore[arg-type]
    (lambda: Motion.spline("ab", [0.0, 1.0]), "times_s"),  # type: ignore[arg-type]
    (lambda: Motion.spline(None, [0.0, 1.0]), "times_s"),  # type: ignore[arg-type]
    (lambda: Motion.constant(math.inf), "acceleration"),
    (lambda: Motion.constant("fast"), "acceleration"),  # type: ignore[arg-type]
    (lambda: Motion.constant(1.0)("now"), "time_s"),  # type: ignore[arg-type]
    (lambda: Motion.constant(1.0)(math.nan), "time_s"),
    (lambda: Motion.function(3.0, 0.0, 1.0), "function"),  # type: ignore[arg-type]
    (lambda: Motion.function(math.sin, 0.0, 1.0, tolerance=0.0), "tolerance"),
    (lambda: Motion.function(math.sin, 0.0, 1.0, tolerance="low"), "tolerance"),  # type: ignore[arg-type]
    (lambda: Motion.function(math.sin, 1.0, 1.0), "end_s"),
    (lambda: Motion.function(lambda t: math.nan, 0.0, 1.0), "function"),
    (lambda: Motion.function(lambda t: "x", 0.0, 1.0), "function"),  # type: ignore[arg-type, return-value]
    (lambda: Motion.function(lambda t: float(t > 0.3), 0.0, 1.0), "function"),  # a step
]


@pytest.mark.parametrize(("make", "what"), REFUSED)
def test_motions_that_make_no_sense_are_refused(make: Callable[[], object], what: str) -> None:
    with pytest.raises(ArgumentError, match=what):
        make()


# -- in a plant -------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_motion_is_followed_to_rounding(satellite: darts_py.Spacecraft, integrator: str) -> None:
    plant, name = Plant(satellite, dt_ns=DT_NS, integrator=integrator), _drive(satellite)
    motion = Motion.spline([0.0, 0.4, 1.0], [0.0, 0.3, 0.1])
    plant.prescribe(name, motion)
    for _ in range(5):
        assert plant.advance(100) == Status.OK
        position, rate, acceleration = motion(plant.t_ns * 1e-9)
        assert _state_of(plant, name) == pytest.approx((position, rate), abs=1e-13)
        udot = plant.loads().udot[satellite.find_movable(name)[0]]
        assert udot == pytest.approx(acceleration, abs=1e-10)


def test_work_of_the_required_force_is_the_energy_gained(satellite: darts_py.Spacecraft) -> None:
    """Undamped parts conserve energy (crl), so what is gained came through the drive."""
    model = satellite.copy()
    model.arrays.Dm[:] = 0.0
    model.arrays.speed["damping"] = 0.0
    plant, name = Plant(model, dt_ns=1_000_000, terms="crl"), _drive(model)
    speed, _ = model.find_movable(name)
    plant.u[:3] = 0.02, -0.01, 0.03
    plant.prescribe(name, Motion.spline([0.0, 2.0], [0.0, 0.8]))
    energies, powers = [], []
    for _ in range(2001):
        energies.append(darts_py.energy(plant.model, plant.q, plant.u).total)
        powers.append(plant.loads().tau[speed] * plant.u[speed])
        plant.advance(1)
    power = np.array(powers)
    simpson = (power[0] + power[-1] + 4 * power[1:-1:2].sum() + 2 * power[2:-2:2].sum()) / 3e3
    gained = energies[-1] - energies[0]
    assert abs(gained) > 1e-6  # there is something to account for
    assert simpson == pytest.approx(gained, rel=1e-6, abs=1e-9 * max(np.abs(power)))


def test_momentum_is_kept_by_the_grip_and_by_the_motion(satellite: darts_py.Spacecraft) -> None:
    plant, name = Plant(satellite, dt_ns=DT_NS, terms="crl"), _drive(satellite)
    rng = np.random.default_rng(4)
    plant.u[:] = 0.05 * rng.normal(size=satellite.n_speeds)
    before = darts_py.momentum(plant.model, plant.q, plant.u)
    plant.prescribe(name, Motion.spline([0.0, 1.0], [0.0, 0.5]))
    gripped = darts_py.momentum(plant.model, plant.q, plant.u)
    assert gripped == pytest.approx(before, abs=1e-12)
    assert plant.advance(600) == Status.OK
    after = darts_py.momentum(plant.model, plant.q, plant.u)
    assert after[3:] == pytest.approx(before[3:], abs=1e-8)


def test_two_motions_hold_together_and_are_released_one_by_one(
    satellite: darts_py.Spacecraft,
) -> None:
    plant, name = Plant(satellite, dt_ns=DT_NS), _drive(satellite)
    mode = next(n for n in satellite.coord_names if "mode_1" in n)
    wave = Motion.function(lambda t: 1e-3 * math.sin(2 * t) ** 2, 0.0, 4.0)
    plant.prescribe(name, Motion.spline([0.0, 1.0], [0.0, 0.3]))
    plant.prescribe(mode, wave)
    assert plant.advance(200) == Status.OK
    assert _state_of(plant, mode)[0] == pytest.approx(wave(0.4)[0], abs=1e-13)
    plant.release(name)
    plant.advance(200)
    assert _state_of(plant, mode)[0] == pytest.approx(wave(0.8)[0], abs=1e-13)
    free = darts_py.forward_dynamics(plant.model, plant.q, plant.u)
    loads = plant.loads()
    assert loads.tau[satellite.find_movable(name)[0]] == 0.0
    assert not np.allclose(free, loads.udot, atol=1e-9)  # the mode is still held
    plant.release(mode)
    assert plant.loads().udot == pytest.approx(free, abs=1e-12)


def test_speed_of_a_free_joint_is_prescribed(satellite: darts_py.Spacecraft) -> None:
    """A quasi-speed has no coordinate: about one axis the attitude follows the speed's integral."""
    plant = Plant(satellite, dt_ns=DT_NS)
    names = [n for n in satellite.speed_names if n.startswith("base.w")]
    for n in names:
        value = 0.3 if n.endswith("z") else 0.0
        plant.prescribe(n, Motion.spline([0.0, 1.0], [0.0, value], of="speed"))
    assert plant.advance(500) == Status.OK
    angle = 2 * math.atan2(plant.q[satellite.coord_names.index("base.qz")],
                           plant.q[satellite.coord_names.index("base.qw")])  # fmt: skip
    assert angle == pytest.approx(0.15, abs=1e-10)  # a cubic from 0 to 0.3, flat at both ends


def test_steps_in_pieces_give_the_same_bits(satellite: darts_py.Spacecraft) -> None:
    plants = [Plant(satellite, dt_ns=DT_NS) for _ in range(2)]
    for plant in plants:
        plant.prescribe(_drive(satellite), Motion.spline([0.0, 1.0], [0.0, 0.3]))
    plants[0].advance(90)
    for n in (1, 29, 60):
        plants[1].advance(n)
    assert np.array_equal(plants[0].q, plants[1].q)
    assert np.array_equal(plants[0].u, plants[1].u)


def test_loads_of_a_plant_are_those_of_hybrid_dynamics(satellite: darts_py.Spacecraft) -> None:
    plant, name = Plant(satellite, dt_ns=DT_NS), _drive(satellite)
    plant.prescribe(name, Motion.spline([0.0, 1.0], [0.0, 0.3]))
    plant.advance(100)
    loads = plant.loads("hinge")
    speed = satellite.find_movable(name)[0]
    given = {satellite.speed_names[speed]: float(loads.udot[speed])}
    answer = darts_py.hybrid_dynamics(plant.model, plant.q, plant.u, prescribed=given, at="hinge")
    assert loads.udot == pytest.approx(answer.udot, abs=1e-12)
    assert loads.tau == pytest.approx(answer.tau, abs=1e-11)
    assert loads.hinges == pytest.approx(answer.hinge_loads, abs=1e-11)
    assert plant.required_force(name) == loads.tau[speed]


def test_refusals_of_a_plant(satellite: darts_py.Spacecraft) -> None:
    plant, name = Plant(satellite, dt_ns=DT_NS), _drive(satellite)
    joint = name.split(".")[0]
    with pytest.raises(ArgumentError, match="where it is"):
        plant.prescribe(name, Motion.spline([0.0, 1.0], [0.5, 1.0]))
    with pytest.raises(ArgumentError, match="did you mean"):
        plant.prescribe(name + "_rat", Motion.constant(0.0))
    with pytest.raises(ArgumentError, match="a Motion"):
        plant.prescribe(name, 0.1)  # type: ignore[arg-type]
    for call in (plant.release, plant.required_force):
        with pytest.raises(ArgumentError, match="prescribed motion: none"):
            call(name)
    plant.prescribe(name, Motion.constant(0.0))
    with pytest.raises(ArgumentError, match="release"):
        plant.lock(joint)
    plant.release(name)
    plant.lock(joint)
    with pytest.raises(ArgumentError, match="unlock"):
        plant.prescribe(name, Motion.constant(0.0))


# -- with closed loops ------------------------------------------------------------------------

CLOSED = np.array([0.0, -0.92312200835168, -1.65004592190725])


def test_driven_four_bar_does_the_work_of_its_drive() -> None:
    model = darts_py.load_model("four_bar")
    plant = Plant(model, dt_ns=1_000_000, q=CLOSED)
    plant.prescribe("drive.angle", Motion.spline([0.0, 2.0], [0.0, 6.0]))
    speed = model.find_movable("drive.angle")[0]
    energies, powers = [], []
    for _ in range(2001):
        energies.append(darts_py.energy(plant.model, plant.q, plant.u).total)
        powers.append(plant.required_force("drive.angle") * plant.u[speed])
        assert plant.advance(1) == Status.OK
    gap = darts_py.closure_error(plant.model, plant.q, plant.u)
    assert np.abs(gap.position).max() < 1e-10
    power = np.array(powers)
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]))]) * 1e-3
    scale = max(energies) - min(energies)
    assert np.abs(work - (np.array(energies) - energies[0])).max() < 1e-5 * scale  # trapezium rule
