"""Linear models of mechanisms with closed loops.

The slider-crank has one freedom and a Lagrangian in closed form,

    J(a) a'' = tau - 1/2 J'(a) a'^2,  J = Jc + m x'(a)^2,  x = r cos a + sqrt(l^2 - r^2 sin^2 a),

so A, B and the rows of C of dependent coordinates are known at any moving state.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import darts_py
from darts_py.cli.mode_tables import system_notes, system_summary
from darts_py.cli.state_file import State
from darts_py.errors import ArgumentError
from darts_py.linear import linearise
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Closure, Joint, Node, Tree
from tests.linear.systems import X, Y, Z, lump
from tests.reference import charts

Array = np.ndarray
R, L, JC, M_ROD, M_SLIDE = 0.4, 1.1, 0.3, 0.6, 0.9
G = 9.81

BALL = np.eye(6)[:, 3:]
REVOLUTE_Y = np.eye(6)[:, [0, 2, 3, 4, 5]]


def slider_crank(*kinds: Array) -> Spacecraft:
    """Return crank about y, rod with its mass at the far end, slider along x, and closures."""
    end = Node("end", r=L * X, m=M_ROD)
    bodies = (
        lump("crank", 1.0, np.array([0.0, JC, 0.0]) + 1e-9),
        Body("rod", (Node("pin"), end)),
        lump("slider", M_SLIDE, np.full(3, 0.1)),
    )
    joints = (
        Joint("crank", "revolute", jt.revolute(-Y)),
        Joint("knee", "revolute", jt.revolute(-Y), parent=0, o_t=R * X),
        Joint("rail", "prismatic", jt.prismatic(X)),
    )
    closures = tuple(
        Closure(f"c{k}", "map", S, body_a=1, node_a=1, body_b=2) for k, S in enumerate(kinds)
    )
    return Spacecraft(Tree("slider_crank", bodies, joints, closures=closures))


def position(a: complex) -> complex:
    return R * np.cos(a) + np.sqrt(L**2 - (R * np.sin(a)) ** 2)


def closed_state(a: float, rate: float) -> tuple[Array, Array]:
    """Return q and u of the slider-crank; the rod's angle b obeys r sin a + l sin(a + b) = 0."""
    lean = -math.asin(R / L * math.sin(a))
    lean_rate = -R * math.cos(a) / (L * math.cos(lean)) * rate
    q = np.array([a, lean - a, position(a).real])
    return q, np.array([rate, lean_rate - rate, slope(a) * rate])


def slope(a: float) -> float:
    return (position(a + 1e-30j) / 1e-30).imag


def bend(a: float) -> float:
    """Return x''(a), from x' in closed form by complex step."""
    z = a + 1e-30j
    value = -R * np.sin(z) - R**2 * np.sin(z) * np.cos(z) / np.sqrt(L**2 - (R * np.sin(z)) ** 2)
    return (value / 1e-30).imag


def acceleration(a: complex, rate: complex, tau: float) -> complex:
    """Return a'' of the closed form, fit for complex steps."""
    s, c = np.sin(a), np.cos(a)
    root = np.sqrt(L**2 - (R * s) ** 2)
    dx = -R * s - R**2 * s * c / root
    ddx = -R * c - R**2 * (c * c - s * s) / root - R**4 * (s * c) ** 2 / root**3
    m = M_ROD + M_SLIDE
    J, dJ = JC + 1e-9 + m * dx * dx, 2.0 * m * dx * ddx
    return (tau - 0.5 * dJ * rate * rate) / J


@pytest.mark.parametrize("kinds", [(BALL,), (BALL, BALL), (REVOLUTE_Y[:, 2:], BALL)])
@pytest.mark.parametrize(("a", "rate", "tau"), [(0.7, 0.0, 0.0), (0.7, 3.0, 0.5), (2.2, -1.5, 0.0)])
def test_slider_crank_at_any_state(kinds: tuple, a: float, rate: float, tau: float) -> None:
    model = slider_crank(*kinds)
    q, u = closed_state(a, rate)
    forces = np.array([tau, 0.0, 0.0])
    linear = linearise(model, q, u, forces, inputs="crank.*", outputs=["*.angle", "rail.*"])
    assert linear.n_freedoms == 1
    assert linear.n_closures == 2  # of three rows and more: out of plane nothing moves
    assert linear.state_names == ("crank.angle", "crank.angle_rate")
    h = 1e-30
    expected = [
        [0.0, 1.0],
        [(acceleration(a + 1j * h, rate, tau) / h).imag,
         (acceleration(a, rate + 1j * h, tau) / h).imag],
    ]  # fmt: skip
    assert np.allclose(linear.A, expected, rtol=1e-9, atol=1e-10)
    inertia = JC + 1e-9 + (M_ROD + M_SLIDE) * slope(a) ** 2
    assert linear.B[1, 0] == pytest.approx(1.0 / inertia, rel=1e-10)
    rows = {key: linear.C[linear.output_names.index(key)] for key in linear.output_names}
    assert rows["rail.slide"] == pytest.approx([slope(a), 0.0], rel=1e-10)
    assert rows["rail.slide_rate"] == pytest.approx([bend(a) * rate, slope(a)], rel=1e-9)


def test_open_loops_are_refused() -> None:
    model = slider_crank(BALL)
    q, u = closed_state(0.7, 1.0)
    with pytest.raises(ArgumentError, match=r"q: got loops open by 0\.01 m or rad, expected"):
        linearise(model, q + np.array([0.0, 0.0, 0.01]), u)
    with pytest.raises(ArgumentError, match=r"u: got loops open by 0\.1 m/s or rad/s"):
        linearise(model, q, u + np.array([0.0, 0.0, 0.1]))


def test_command_line_closes_loops_first() -> None:
    """A neutral position with open loops: the nearest closed one is taken, and said."""
    state = State(slider_crank(BALL))
    state.q[0] = 0.3
    system = system_summary(state)
    assert "Loops were open" in system["warnings"][0]
    assert (system["n_freedoms"], system["n_rigid"], system["missing"]) == (1, 1, "")
    assert any("closed loops take 2" in note for note in system_notes(system))
    assert state.close() == ""
    far = State(slider_crank(BALL))
    far.q[2] = 40.0
    far.model.arrays.body["locked"][far.model.kernel_body[2]] = 1
    assert "loops that stay open" in system_summary(far)["missing"]
    assert system_notes(system_summary(far))[0].startswith("No system modes: q: got loops")


def test_parallelogram_swings_as_a_pendulum() -> None:
    """Cranks (mass m at a), coupler M: w^2 = g (2 m a + M l) / (2 m a^2 + M l^2)."""
    m, arm, M, length, span = 0.7, 0.5, 1.9, 1.2, 0.8
    bodies = tuple(
        replace(lump(name, mass, np.zeros(3), centre), nodes=(
            Node("top"), Node("mass", r=centre, m=mass), Node("end", r=end)))
        for name, mass, centre, end in (
            ("left", m, -arm * Z, -length * Z),
            ("coupler", M, 0.3 * span * X, span * X),
            ("right", m, -arm * Z, -length * Z),
        )
    )  # fmt: skip
    joints = (
        Joint("left", "revolute", jt.revolute(Y)),
        Joint("coupler", "revolute", jt.revolute(Y), parent=0, parent_node=2),
        Joint("right", "revolute", jt.revolute(Y), o_t=span * X),
    )
    closure = Closure("pin", "revolute", REVOLUTE_Y, body_a=1, node_a=2, body_b=2, node_b=2)
    tree = Tree("parallelogram", bodies, joints, gravity=-G * Z, closures=(closure,))
    model = Spacecraft(tree)
    linear = linearise(model, np.zeros(3), np.zeros(3))
    assert (linear.n_freedoms, linear.n_closures) == (1, 2)
    (mode,) = linear.modes()
    expected = math.sqrt(G * (2 * m * arm + M * length) / (2 * m * arm**2 + M * length**2))
    assert mode.frequency_rad_s == pytest.approx(expected, rel=1e-10)
    shape = mode.shape.real / mode.shape.real[0]
    assert shape == pytest.approx([1.0, -1.0, 1.0], abs=1e-10)


def test_mode_of_a_flexible_body_closed_onto_a_sprung_mass() -> None:
    """Two masses made one by a closure: w^2 = (k1 + k2) / (m1 + m2)."""
    m1, k1, m2, k2 = 0.5, 30.0, 0.8, 45.0
    Pi = np.zeros((6, 1))
    Pi[5] = 1.0
    stick = Body(
        "stick",
        (Node("root", Pi=np.zeros((6, 1))), Node("tip", r=X, m=m1, Pi=Pi)),
        K=np.array([[k1]]),
        Dm=np.zeros((1, 1)),
    )
    joints = (
        Joint("clamp", "fixed", jt.fixed()),
        Joint("rail", "prismatic", jt.prismatic(Z), o_t=X, stiffness=np.array([k2])),
    )
    closure = Closure("weld", "weld", np.eye(6), body_a=0, node_a=1, body_b=1)
    tree = Tree("pair", (stick, lump("mass", m2, np.full(3, 0.1))), joints, closures=(closure,))
    linear = linearise(Spacecraft(tree), np.zeros(2), np.zeros(2))
    assert (linear.n_freedoms, linear.n_closures) == (1, 1)
    assert linear.state_names[0] == "stick.mode_1"  # a joint follows before a mode does
    (mode,) = linear.modes()
    assert mode.frequency_rad_s == pytest.approx(math.sqrt((k1 + k2) / (m1 + m2)), rel=1e-12)
    assert mode.participation == pytest.approx([m1 / (m1 + m2), m2 / (m1 + m2)], rel=1e-12)


def test_closure_that_holds_speeds_only_leaves_displacements_free() -> None:
    """Two pendulums that must turn at one rate: their angles are two states, their rate is one."""
    length, m = 0.9, 1.3
    bodies = tuple(lump(name, m, np.zeros(3), -length * Z) for name in "ab")
    joints = tuple(Joint(name, "revolute", jt.revolute(Y)) for name in "ab")
    closure = Closure("shaft", "map", np.eye(6)[:, [1]], body_a=0, body_b=1)
    tree = Tree("pair", bodies, joints, gravity=-G * Z, closures=(closure,))
    linear = linearise(Spacecraft(tree), np.zeros(2), np.zeros(2))
    pull = -G / (2.0 * length)
    assert np.allclose(linear.A, [[0, 0, 1], [0, 0, 1], [pull, pull, 0]], atol=1e-12)
    modes = linear.modes()
    assert (modes.n_rigid, modes.n_zero, len(modes)) == (1, 1, 1)
    assert modes[0].frequency_rad_s == pytest.approx(math.sqrt(G / length), rel=1e-10)


# -- against the flow of the plant ----------------------------------------------------------------


IN_PLANE = np.eye(6)[:, [3, 4]]
REVOLUTE_Z = np.eye(6)[:, [0, 1, 3, 4, 5]]


def skew_four_bar(S: Array) -> Spacecraft:
    """Return a four-bar with a spring on a free base, closed by the rows S."""
    rng = np.random.default_rng(2)

    def link(name: str, length: float) -> Body:
        half = rng.uniform(0.05, 0.2, 3)
        mass = Node("mass", r=0.5 * length * X, m=rng.uniform(0.5, 1.5), Jc=np.diag(half + 0.1))
        return Body(name, (Node("root"), mass, Node("end", r=length * X)))

    bodies = (link("bus", 1.0), link("crank", 0.5), link("coupler", 1.1), link("rocker", 0.8))
    joints = (
        Joint("base", "free", jt.free()),
        Joint("a", "revolute", jt.revolute(Z), parent=0),
        Joint("b", "revolute", jt.revolute(Z), parent=1, parent_node=2),
        Joint("c", "revolute", jt.revolute(Z), parent=0, parent_node=2,
              stiffness=np.array([4.0]), damping=np.array([0.3])),
    )  # fmt: skip
    closure = Closure("d", "revolute", S, body_a=2, node_a=2, body_b=3, node_b=2)
    return Spacecraft(Tree("four_bar", bodies, joints, closures=(closure,)))


def four_bar_state(model: Spacecraft) -> tuple[Array, Array]:
    """Return a closed state in which everything moves."""
    q = model.neutral()
    q[7:] = [1.2, -0.9, 1.6]
    q, _ = darts_py.close_loops(model, q)
    return darts_py.close_loops(model, q, np.r_[0.3, -0.5, 0.4, 0.2, 0.1, -0.3, 0.8, 0.0, 0.0])


@pytest.mark.parametrize("terms", ["rl", "crl"])
def test_redundant_rows_change_nothing(terms: str) -> None:
    """In a plane two rows close the loop; a full revolute closure says the rest again."""
    models = [skew_four_bar(S) for S in (IN_PLANE, REVOLUTE_Z)]
    q, u = four_bar_state(models[0])
    plain, redundant = (linearise(model, q, u, terms=terms) for model in models)
    assert (plain.n_closures, redundant.n_closures) == (2, 2)
    assert plain.state_names == redundant.state_names
    scale = np.max(np.abs(plain.A))
    assert np.max(np.abs(plain.A - redundant.A)) < 1e-10 * scale
    assert np.allclose(plain.B, redundant.B, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("terms", ["rl", "crl"])
def test_moving_four_bar_on_a_free_base_follows_its_linear_model(terms: str) -> None:
    """d/dh of the plant's transition on closed states, as in test_flow.

    The plant closes loops to 1e-12; over 2 EPSILON and the shortest time, times 8/3 for the
    extrapolation, that leaves 5e-5 of the slope. The time step's error is h^4.
    """
    model = skew_four_bar(IN_PLANE)
    q, u = four_bar_state(model)
    linear = linearise(model, q, u, terms=terms)
    assert (linear.n_freedoms, linear.n_closures) == (7, 2)
    assert linear.state_names[6] == "a.angle"  # the crank: what comes first in the file
    tree, names = model.tree, list(linear.local_names)
    where = [names.index(name) for name in linear.state_names[:7]]
    speeds = [model.speed_names.index(name) for name in linear.state_names[7:]]
    rows = [linear.output_names.index(name) for name in (*names, *model.speed_names)]

    def end(q0: Array, u0: Array, h_ns: int) -> tuple[Array, Array]:
        plant = darts_py.Plant(model, dt_ns=h_ns // 2, terms=terms, q=q0, u=u0)
        plant.advance(2)
        return plant.q.copy(), plant.u.copy()

    def transition(h_ns: int, eps: float = 1e-4) -> Array:
        columns, (reference, _) = [], end(q, u, h_ns)
        for k in range(14):
            ends = []
            for x in (eps * np.eye(14)[k], -eps * np.eye(14)[k]):
                delta, du = np.split((linear.C @ x)[rows], 2)  # tangent; the plant does the rest
                q1, u1 = end(charts.moved(tree, q, delta), u + du, h_ns)
                ends.append(np.r_[charts.difference(tree, reference, q1)[where], u1[speeds]])
            columns.append((ends[0] - ends[1]) / (2 * eps))
        return np.stack(columns, -1)

    h_ns = 8_000_000
    row = [(transition(h_ns >> k) - np.eye(14)) / (h_ns * 1e-9 / 2**k) for k in range(4)]
    for order in range(1, 4):
        row = [(2**order * b - a) / (2**order - 1) for a, b in pairwise(row)]
    assert np.max(np.abs(row[0] - linear.A)) < 1e-4 * np.max(np.abs(linear.A))
