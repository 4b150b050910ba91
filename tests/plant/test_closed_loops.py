"""Closed loops over time: closed after every step, or the motion stops and says so."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import darts_py
from darts_py import Motion, Plant, Status
from darts_py.errors import ArgumentError
from darts_py.multibody import closure_types as ct
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Closure, Joint, Tree
from darts_py.plant import INTEGRATORS, LOOP_TOLERANCE
from tests.linear.systems import X, Y, lump
from tests.reference.trees import REDUCED, reduced

CLOSED = np.array([0.0, -0.92312200835168, -1.65004592190725])
LONGEST = 2.0  # m: more than any link of the models here
COARSE_NS = 10_000_000 if REDUCED else 1_000_000


def four_bar(dt_ns: int = 1_000_000, **options: object) -> Plant:
    return Plant(darts_py.load_model("four_bar"), dt_ns=dt_ns, q=CLOSED, **options)


def greatest_gap(plant: Plant) -> float:
    return float(np.abs(darts_py.closure_error(plant.model, plant.q, plant.u).position).max())


def test_open_loops_are_reported_and_closed_on_request() -> None:
    plant = four_bar()
    plant.q[1] += 0.01
    before = plant.q.copy()
    assert plant.advance(5) == Status.LOOP_OPEN
    assert plant.tick == 0
    assert np.array_equal(plant.q, before)
    plant.close_loops()
    assert plant.advance(5) == Status.OK


def test_stabilisation_of_one_plant_leaves_the_model_alone() -> None:
    model = darts_py.load_model("four_bar")
    Plant(model, dt_ns=1_000_000, q=CLOSED, closures="baumgarte")
    assert not np.any(model.arrays.closure["gain_position"])
    with pytest.raises(ArgumentError, match="project"):
        Plant(model, dt_ns=1_000_000, q=CLOSED, closures="glue")


def test_locked_joint_of_a_loop_stops_all_of_it() -> None:
    plant = four_bar()
    plant.advance(300)
    assert np.abs(plant.u).min() > 1e-3
    plant.lock("drive")
    assert np.abs(plant.u).max() < 1e-12  # one freedom, and it is held
    held = plant.q.copy()
    assert plant.advance(100) == Status.OK
    assert np.abs(plant.q - held).max() < 1e-9


# -- motions that loops do not allow --------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("closures", ["project", "baumgarte"])
def test_motion_beyond_reach_stops_at_the_last_closed_step(integrator: str, closures: str) -> None:
    """The rocker of a crank-rocker swings between two dead centres; it is driven past one."""
    plant = four_bar(COARSE_NS, integrator=integrator, closures=closures)
    plant.prescribe("pivot.angle", Motion.constant(1.0))
    assert plant.advance(3_000_000_000 // COARSE_NS) == Status.LOOP_OPEN
    assert 0.5e9 < plant.t_ns < 3e9
    assert greatest_gap(plant) <= LONGEST * LOOP_TOLERANCE[closures]
    assert np.all(np.isfinite(plant.u))
    before = plant.q.copy(), plant.u.copy(), plant.tick
    assert plant.advance(10) == Status.LOOP_OPEN  # and it stays there
    assert np.array_equal(plant.q, before[0])
    assert np.array_equal(plant.u, before[1])
    assert plant.tick == before[2]


@pytest.mark.parametrize("closures", ["project", "baumgarte"])
def test_a_stop_does_not_depend_on_how_steps_are_counted_out(closures: str) -> None:
    at_once, one_by_one = (four_bar(COARSE_NS, closures=closures) for _ in range(2))
    for plant in (at_once, one_by_one):
        plant.prescribe("pivot.angle", Motion.constant(1.0))
    at_once.advance(3000)
    while one_by_one.advance(1) == Status.OK:
        pass
    assert at_once.tick == one_by_one.tick
    assert np.array_equal(at_once.q, one_by_one.q)
    assert np.array_equal(at_once.u, one_by_one.u)


def test_contradictory_speeds_are_refused_and_change_nothing() -> None:
    plant = four_bar()
    plant.prescribe("drive.angle", Motion.spline([0.0, 1.0], [0.5, 0.5], of="speed"))
    u = plant.u.copy()
    with pytest.raises(ArgumentError, match=r"pivot\.angle_rate.*apart"):
        plant.prescribe("pivot.angle", Motion.spline([0.0, 1.0], [2.0, 2.0], of="speed"))
    assert np.array_equal(plant.u, u)
    with pytest.raises(ArgumentError, match="apart"):
        plant.lock("pivot")
    assert np.array_equal(plant.u, u)
    assert plant.advance(100) == Status.OK  # as if nothing had been asked
    again = Motion.spline([0.0, 1.0], [0.7, 0.7], of="speed")
    plant.prescribe("drive.angle", again)  # a motion may replace another
    plant.release("drive.angle")
    plant.lock("pivot")
    assert np.abs(plant.u).max() < 1e-12


def test_a_refused_motion_leaves_the_one_before() -> None:
    plant, other = four_bar(), four_bar()
    for each in (plant, other):
        each.prescribe("drive.angle", Motion.spline([0.0, 9.0], [0.5, 0.5], of="speed"))
        rate = each.u[each.model.find_movable("pivot.angle")[0]]
        each.prescribe("pivot.angle", Motion.spline([0.0, 9.0], [rate, rate], of="speed"))
    with pytest.raises(ArgumentError, match="apart"):
        plant.prescribe("drive.angle", Motion.spline([0.0, 9.0], [3.0, 3.0], of="speed"))
    for each in (plant, other):
        each.release("pivot.angle")
        assert each.advance(50) == Status.OK
    assert np.array_equal(plant.q, other.q)
    plant.release("drive.angle")


# -- dead centres ---------------------------------------------------------------------------------


def parallelogram(n_cranks: int) -> Spacecraft:
    """Return a platform on parallel cranks of 1 m, about y: singular where they lie flat."""
    turn = jt.revolute(-Y)
    links = tuple(f"crank_{k}" for k in range(n_cranks))
    inertia = np.full(3, 0.1)
    bodies = tuple(lump(name, 1.0, inertia, 0.5 * X) for name in links)
    joints = [Joint(name, "revolute", turn, o_t=k * X) for k, name in enumerate(links)]
    joints.append(Joint("platform", "revolute", turn, parent=0, o_t=X))
    platform = lump("platform", 5.0, np.full(3, 1.0), 0.5 * (n_cranks - 1) * X)
    closures = tuple(
        Closure(f"pin_{k}", "revolute", ct.revolute(Y), body_a=k, body_b=n_cranks, o_a=X, o_b=k * X)
        for k in range(1, n_cranks)
    )
    tree = Tree("parallelogram", (*bodies, platform), tuple(joints), closures=closures)
    return Spacecraft(tree)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("n_cranks", [2, 4])
@pytest.mark.parametrize("beside", [0.0, 1e-14, 1e-9, 1e-7, 1e-5])
def test_a_step_may_end_in_a_dead_centre(integrator: str, n_cranks: int, beside: float) -> None:
    """Without forces the cranks turn at a constant rate, also where they lie flat."""
    rate = -3.0
    angle = beside - rate * 1e-3  # one step away
    q, u = np.full(n_cranks + 1, angle), np.full(n_cranks + 1, rate)
    q[-1], u[-1] = -angle, -rate
    plant = Plant(parallelogram(n_cranks), dt_ns=1_000_000, integrator=integrator, q=q, u=u)
    for _ in range(3):
        assert plant.advance(1) == Status.OK
        np.testing.assert_allclose(plant.u[:-1], rate, rtol=1e-8)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_driven_parallelogram_passes_its_dead_centre(integrator: str) -> None:
    q = np.array([0.02, 0.02, -0.02])
    plant = Plant(parallelogram(2), dt_ns=1_000_000, integrator=integrator, q=q)
    plant.prescribe("crank_0.angle", Motion.spline([0.0, 9.0], [-1.0, -1.0], of="speed"))
    assert plant.advance(40) == Status.OK
    assert greatest_gap(plant) <= 1e-9
    assert plant.q[0] == pytest.approx(-0.02, abs=1e-9)


def test_motions_that_part_later_stop_there() -> None:
    """Both cranks start as the loop lets them; then one is told to go elsewhere."""
    plant = four_bar()
    plant.prescribe("drive.angle", Motion.constant(0.0))
    plant.prescribe("pivot.angle", Motion.constant(0.3))  # at rest now, moving soon
    assert plant.advance(1000) == Status.LOOP_OPEN
    assert plant.tick <= 1
    assert greatest_gap(plant) <= 1e-9


@pytest.mark.parametrize("value", [0.0, -1e-6, math.nan, "tight", [1e-6]])
def test_loop_tolerance_is_checked(value: object) -> None:
    with pytest.raises(ArgumentError, match="loop_tolerance"):
        four_bar(loop_tolerance=value)


def test_loop_tolerance_decides_when_baumgarte_gives_up() -> None:
    strict, easy = (four_bar(closures="baumgarte", loop_tolerance=x) for x in (1e-13, 1e-2))
    for plant in (strict, easy):
        plant.u[0] = 3.0
        plant.close_loops()
    assert strict.advance(300) == Status.LOOP_OPEN
    assert easy.advance(reduced(1000, 100)) == Status.OK


def test_stabilisation_is_no_part_of_the_forces() -> None:
    """An open loop under Baumgarte: the step pulls it shut, the plant's model and loads do not."""
    plant = four_bar(closures="baumgarte")
    plant.q[1] += 1e-5
    udot = darts_py.forward_dynamics(plant.model, plant.q, plant.u)
    assert np.array_equal(udot, darts_py.forward_dynamics(four_bar().model, plant.q, plant.u))
    assert np.array_equal(plant.loads().udot, udot)


# -- loops through bent bodies --------------------------------------------------------------------


BRACED_BOOM = """
darts_model: 1
name: braced_boom
bodies:
  bus: {mass_kg: 120.0, inertia_kg_m2: [18.0, 20.0, 16.0], nodes: {h: {position_m: [0.5, 0, 0]}}}
  boom: {flexible: {modes_file: MODES, damping_ratio: 0.0}}
  strut:
    mass_kg: 2.0
    center_of_mass_m: [0.5, 0.0, 0.0]
    inertia_kg_m2: [0.01, 0.2, 0.2]
    nodes: {tip: {position_m: [1.0, 0.0, 0.0]}}
  link:
    mass_kg: 1.0
    center_of_mass_m: [0.4, 0.0, 0.0]
    inertia_kg_m2: [0.01, 0.1, 0.1]
    nodes: {tip: {position_m: [0.8, 0.0, 0.0]}}
joints:
  base: {type: free, parent: ground, child: bus}
  hinge:
    {type: revolute, axis: [0, 1, 0], parent: bus, parent_node: h, child: boom, child_node: root}
  s: {type: revolute, axis: [0, 1, 0], parent: bus, parent_offset_m: [0.5, 0.0, -0.6], child: strut}
  k: {type: revolute, axis: [0, 1, 0], parent: strut, parent_node: tip, child: link}
closures:
  pin: {type: ball, a: link, a_node: tip, b: boom, b_node: s1}
"""


@pytest.fixture(scope="module")
def braced_boom(tmp_path_factory: pytest.TempPathFactory) -> Spacecraft:
    """Return a flexible boom on a hinge of a free bus, braced by a knee of two links, undamped."""
    modes = Path(darts_py.__file__).parents[1] / "models" / "boom.npz"
    path = tmp_path_factory.mktemp("models") / "braced_boom.yaml"
    path.write_text(BRACED_BOOM.replace("MODES", str(modes)))
    return darts_py.load_model(path)


def _swing(model: Spacecraft, rate: float, **options: str) -> tuple[float, float, float, float]:
    """Let the brace swing for 10 s; return the worst gap and what energy and momenta lost.

    Relative; momenta are those of the whole, linear, then angular.
    """
    q, u = model.neutral(), np.zeros(model.n_speeds)
    q[model.coord_names.index("s.angle")] = 0.20109883  # closed without bending
    q[model.coord_names.index("k.angle")] = -1.74670209
    u[model.speed_names.index("s.angle_rate")] = rate
    plant = Plant(model, dt_ns=1_000_000, terms="crl", q=q, u=u, **options)
    energy = darts_py.energy(plant.model, plant.q, plant.u).total
    momentum = darts_py.momentum(plant.model, plant.q, plant.u)
    gap, lost, pushed, turned = [], [], [], []
    for _ in range(reduced(100, 2)):
        assert plant.advance(100) == Status.OK
        gap.append(greatest_gap(plant))
        lost.append(abs(darts_py.energy(plant.model, plant.q, plant.u).total / energy - 1.0))
        change = np.abs(darts_py.momentum(plant.model, plant.q, plant.u) - momentum)
        turned.append(change[:3].max() / np.linalg.norm(momentum))
        pushed.append(change[3:].max() / np.linalg.norm(momentum))
    return max(gap), max(lost), max(pushed), max(turned)


@pytest.mark.skipif(REDUCED, reason="more than 10 000 steps: needs JIT")
def test_loop_through_a_flexible_body_stays_closed_and_keeps_what_it_can(
    braced_boom: Spacecraft,
) -> None:
    """Forces act where bodies would be undeformed, gaps are those of the deformed: first order.

    So energy and angular momentum drift in proportion to slopes, relative to themselves; halving
    the motion halves that. Linear momentum knows no arm: what little is lost is of second order.
    """
    small, large = _swing(braced_boom, 0.05), _swing(braced_boom, 0.1)
    for gap, energy, pushed, turned in (small, large):
        assert gap <= 1e-9
        assert energy < 1e-4
        assert pushed < 1e-7
        assert turned < 1e-3
    for k, order in ((1, 1), (2, 2), (3, 1)):
        assert small[k] < 0.5**order * 1.3 * large[k]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("terms", ["rl", "crl"])
@pytest.mark.parametrize("closures", ["project", "baumgarte"])
def test_every_integrator_keeps_flexible_loops_closed(
    braced_boom: Spacecraft, integrator: str, terms: str, closures: str
) -> None:
    u = np.zeros(braced_boom.n_speeds)
    q = braced_boom.neutral()
    q[braced_boom.coord_names.index("s.angle")] = 0.3
    q[braced_boom.coord_names.index("k.angle")] = -1.7
    u[braced_boom.speed_names.index("s.angle_rate")] = 0.2
    options = {"integrator": integrator, "terms": terms, "closures": closures}
    plant = Plant(braced_boom, dt_ns=1_000_000, q=q, u=u, **options)
    for _ in range(reduced(20, 1)):
        assert plant.advance(reduced(50, 5)) == Status.OK
        assert greatest_gap(plant) <= LONGEST * LOOP_TOLERANCE[closures]
    eta = plant.q[braced_boom.coord_names.index("boom.mode_1")]
    assert abs(eta) > (1e-9 if REDUCED else 1e-4)  # it bends


# -- far away -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ball", "weld"])
@pytest.mark.parametrize("distance", [0.0, 7e6, 4.2e7])
def test_docked_craft_fly_in_orbit_coordinates(kind: str, distance: float) -> None:
    """Two free bodies docked, in a frame whose origin is the Earth's centre: rounding is 1e-8 m."""
    S = {"ball": ct.ball(), "weld": ct.weld()}[kind]
    bodies = (
        lump("a", 500.0, np.array([100.0, 120, 90])),
        lump("b", 300.0, np.array([60.0, 50, 70])),
    )
    joints = tuple(Joint(name, "free", jt.free()) for name in "ab")
    dock = Closure("dock", kind, S, body_a=0, body_b=1, o_a=X, o_b=-X)
    model = Spacecraft(Tree("docked", bodies, joints, closures=(dock,)))
    q, u = model.neutral(), np.zeros(model.n_speeds)
    q[model.coord_names.index("a.x")], q[model.coord_names.index("b.x")] = distance, distance + 2.0
    u[model.speed_names.index("a.wz")], u[model.speed_names.index("a.wx")] = 0.1, 0.05
    plant = Plant(model, dt_ns=10_000_000, q=q, u=u)
    energy = darts_py.energy(plant.model, plant.q, plant.u).total
    assert plant.advance(reduced(2000, 20)) == Status.OK
    assert greatest_gap(plant) < 1e-9 + 4e-14 * distance
    after = darts_py.energy(plant.model, plant.q, plant.u).total
    assert after == pytest.approx(energy, rel=1e-8 + 1e-14 * distance)


def test_craft_far_apart_are_brought_together() -> None:
    bodies = tuple(lump(name, 100.0, np.full(3, 20.0)) for name in "ab")
    joints = tuple(Joint(name, "free", jt.free()) for name in "ab")
    dock = Closure("dock", "weld", ct.weld(), body_a=0, body_b=1, o_a=X, o_b=-X)
    model = Spacecraft(Tree("apart", bodies, joints, closures=(dock,)))
    q = model.neutral()
    q[model.coord_names.index("b.y")] = 90.0
    closed, _ = darts_py.close_loops(model, q)
    error = darts_py.closure_error(model, closed, np.zeros(model.n_speeds))
    assert np.abs(error.position).max() < 1e-9
