"""Linear models whose matrices, frequencies and damping are known in closed form.

Bounds: derivatives are good to some 1e-14 of their row here (the estimate is asserted, too), and
eigenvalues of these small matrices lose at most two digits.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import darts_py
from darts_py.errors import ArgumentError
from darts_py.linear import LinearisationWarning, linearise
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Joint, Tree
from tests.linear.systems import Y, Z, chain, free_body, lump, pendulum
from tests.reference.poses import cross_matrix, rotation

RTOL = 1e-11
M, L, G = 1.7, 0.8, 9.81


@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0])
def test_pendulum_at_any_angle(angle: float) -> None:
    model = pendulum(M, L, G)
    tau = np.array([M * G * L * math.sin(angle)])  # holds it there
    linear = linearise(model, np.array([angle]), np.zeros(1), tau)
    expected = np.array([[0.0, 1.0], [-G / L * math.cos(angle), 0.0]])
    assert np.allclose(linear.A, expected, rtol=RTOL, atol=1e-13)
    assert np.allclose(linear.B, [[0.0], [1.0 / (M * L**2)]], rtol=RTOL)
    assert linear.is_equilibrium
    assert linear.state_names == ("hinge.angle", "hinge.angle_rate")
    assert linear.input_names == ("hinge.angle_rate",)
    assert linear.derivative_error < 1e-12


def test_state_that_accelerates_says_so() -> None:
    linear = linearise(pendulum(M, L, G), np.array([0.4]), np.zeros(1))
    assert not linear.is_equilibrium
    assert linear.equilibrium_defect == pytest.approx(G / L * math.sin(0.4), rel=1e-12)


def test_modes_of_a_pendulum_and_of_an_inverted_one() -> None:
    model, w = pendulum(M, L, G), math.sqrt(G / L)
    (hanging,) = linearise(model, np.zeros(1), np.zeros(1)).modes()
    assert hanging.frequency_rad_s == pytest.approx(w, rel=RTOL)
    assert hanging.damping_ratio == 0.0
    grows, decays = sorted(
        linearise(model, np.array([math.pi]), np.zeros(1)).modes(), key=lambda m: m.damping_ratio
    )
    assert grows.eigenvalue == pytest.approx(w, rel=RTOL)
    assert decays.eigenvalue == pytest.approx(-w, rel=RTOL)
    assert (grows.damping_ratio, decays.damping_ratio) == (-1.0, 1.0)


def test_double_pendulum_of_point_masses() -> None:
    """Equal masses and lengths: w^2 = (2 -+ sqrt 2) g / l."""
    bodies = (lump("a", M, np.zeros(3), -L * Z), lump("b", M, np.zeros(3), -L * Z))
    joints = (
        Joint("a", "revolute", jt.revolute(Y)),
        Joint("b", "revolute", jt.revolute(Y), parent=0, o_t=-L * Z),
    )
    model = Spacecraft(Tree("double", bodies, joints, gravity=-G * Z))
    modes = linearise(model, np.zeros(2), np.zeros(2)).modes()
    expected = np.sqrt((2.0 + np.array([-1, 1]) * math.sqrt(2.0)) * G / L)
    assert np.allclose([mode.frequency_rad_s for mode in modes], expected, rtol=RTOL)
    # relative angles: the absolute ones are in the ratio 1 : +-sqrt 2
    for mode, ratio in zip(modes, (math.sqrt(2.0), -math.sqrt(2.0)), strict=True):
        assert (mode.shape[1] / mode.shape[0]).real == pytest.approx(ratio - 1.0, rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_chain_of_springs_held_at_one_end(n: int) -> None:
    """w_j = 2 sqrt(k/m) sin((2j - 1) pi / (4n + 2)); dampers c = b k give zeta_j = b w_j / 2."""
    m, k, b = 0.7, 40.0, 3e-3
    modes = linearise(chain(n, m, k, b * k, held=True), np.zeros(n), np.zeros(n)).modes()
    j = np.arange(1, n + 1)
    w = 2.0 * math.sqrt(k / m) * np.sin((2 * j - 1) * math.pi / (4 * n + 2))
    assert np.allclose([mode.frequency_rad_s for mode in modes], w, rtol=1e-10)
    assert np.allclose(modes.damping_ratios, 0.5 * b * w, rtol=1e-8)
    assert (modes.n_rigid, modes.n_zero) == (0, 0)


@pytest.mark.parametrize("damping", [0.0, 0.12])
def test_chain_of_springs_that_floats(damping: float) -> None:
    """w_j = 2 sqrt(k/m) sin(j pi / 2n), and one rigid-body mode: exactly two zero eigenvalues."""
    n, m, k = 6, 0.7, 40.0
    model = chain(n, m, k, damping, held=False)
    modes = linearise(model, np.zeros(n), np.zeros(n)).modes()
    j = np.arange(1, n)
    w = 2.0 * math.sqrt(k / m) * np.sin(j * math.pi / (2 * n))
    assert (modes.n_rigid, modes.n_zero, len(modes)) == (1, 2, n - 1)
    assert np.allclose([mode.frequency_rad_s for mode in modes], w, rtol=1e-10)
    # the rigid-body mode is orthogonal: no mode has linear momentum
    masses = np.tril(np.ones((n, n)))  # absolute displacements from relative ones
    for mode in modes:
        assert abs(np.sum(masses @ mode.shape)) < 1e-9
        assert np.sum(mode.participation) == pytest.approx(1.0, rel=1e-12)


def test_damper_without_spring_has_one_zero_and_one_decay() -> None:
    n, c = 1, 0.3
    model = chain(n, 2.0, 0.0, c, held=True)
    modes = linearise(model, np.zeros(1), np.zeros(1)).modes()
    assert (modes.n_rigid, modes.n_zero) == (1, 1)
    assert modes[0].eigenvalue == pytest.approx(-c / 2.0, rel=RTOL)


def test_stiff_and_soft_springs_do_not_hide_each_other() -> None:
    """Frequencies six decades apart beside a rigid-body mode."""
    model = chain(3, 1.0, 1.0, 0.0, held=False)
    soft, stiff = 1e-6, 1e6
    joints = list(model.tree.joints)
    joints[1] = replace(joints[1], stiffness=np.array([stiff]))
    joints[2] = replace(joints[2], stiffness=np.array([soft]))
    modes = linearise(Spacecraft(replace(model.tree, joints=tuple(joints))), np.zeros(3),
                      np.zeros(3)).modes()  # fmt: skip
    assert modes.n_rigid == 1
    # two masses as one against the third; then the pair against itself
    expected = [math.sqrt(soft * 1.5), math.sqrt(2.0 * stiff)]
    assert np.allclose([mode.frequency_rad_s for mode in modes], expected, rtol=1e-4)


@pytest.mark.parametrize("terms", ["rl", "crl"])
def test_spinning_body_nutates(terms: str) -> None:
    """About the axis of greatest inertia: w_n = W sqrt((I3 - I1)(I3 - I2) / (I1 I2)), body axes."""
    inertia, spin = np.array([1.0, 1.4, 2.1]), 0.9
    model = free_body(inertia)
    u = np.zeros(6)
    u[2] = spin
    linear = linearise(model, model.neutral(), u, terms=terms)
    I1, I2, I3 = inertia
    nutation = spin * math.sqrt((I3 - I1) * (I3 - I2) / (I1 * I2))
    found = sorted(abs(value) for value in np.linalg.eigvals(linear.A[[6, 7]][:, [6, 7]]))
    assert found == pytest.approx([nutation, nutation], rel=RTOL)
    frequencies = [mode.frequency_rad_s for mode in linear.modes()]
    assert min(abs(np.array(frequencies) - nutation)) < 1e-10
    assert linear.is_equilibrium  # steady spin


def test_spin_about_the_middle_axis_is_unstable() -> None:
    inertia, spin = np.array([1.0, 2.1, 1.4]), 0.9
    model = free_body(inertia)
    u = np.zeros(6)
    u[2] = spin
    modes = linearise(model, model.neutral(), u).modes()
    growth = spin * math.sqrt((1.4 - 1.0) * (2.1 - 1.4) / (1.0 * 2.1))
    assert max(mode.eigenvalue.real for mode in modes) == pytest.approx(growth, rel=1e-9)


def test_free_body_in_motion_has_the_known_matrix() -> None:
    """theta' = dw - w x theta; r' = R (dv + theta x v); J dw' = -(dw x J w + w x J dw)."""
    rng = np.random.default_rng(3)
    inertia = np.array([1.0, 1.4, 2.1])
    model = free_body(inertia)
    q = model.neutral()
    q[:4] = rng.normal(size=4)
    q[:4] /= np.linalg.norm(q[:4])
    q[4:] = rng.normal(size=3)
    u = rng.normal(size=6)
    w, v, J = u[:3], u[3:], np.diag(inertia)
    R, cross = rotation(q[:4]), cross_matrix
    expected = np.zeros((12, 12))
    expected[:3, :3], expected[:3, 6:9] = -cross(w), np.eye(3)
    expected[3:6, :3], expected[3:6, 9:] = -R @ cross(v), R
    expected[6:9, 6:9] = np.linalg.solve(J, cross(J @ w) - cross(w) @ J)
    expected[9:, 6:9], expected[9:, 9:] = cross(v), -cross(w)
    linear = linearise(model, q, u)
    assert np.allclose(linear.A, expected, rtol=0, atol=1e-12)
    names = ("rot_x", "rot_y", "rot_z", "x", "y", "z", "wx", "wy", "wz", "vx", "vy", "vz")
    assert linear.state_names == tuple(f"base.{name}" for name in names)


def gyrostat() -> Spacecraft:
    """Return a free body with a wheel along z: transverse inertias 3.02 and 4.02 with it."""
    bodies = (lump("bus", 50.0, np.array([3.0, 4.0, 5.0])),
              lump("wheel", 2.0, np.array([0.02, 0.02, 0.04])))  # fmt: skip
    joints = (
        Joint("base", "free", jt.free()),
        Joint("spin", "revolute", jt.revolute(Z), parent=0),
    )
    return Spacecraft(Tree("gyrostat", bodies, joints))


def test_wheel_makes_a_gyrostat_nutate() -> None:
    """Body at rest, wheel momentum h along z: frequency h / sqrt(I1 I2) of the transverse rates."""
    model, rate = gyrostat(), 200.0
    u = np.zeros(7)
    u[6] = rate
    modes = linearise(model, model.neutral(), u).modes()
    expected = 0.04 * rate / math.sqrt(3.02 * 4.02)
    assert max(mode.frequency_rad_s for mode in modes) == pytest.approx(expected, rel=1e-10)
    assert len(modes) == 1


# -- locks, stops, friction ---------------------------------------------------------------------


def test_locked_joint_is_no_state() -> None:
    model = chain(3, 0.7, 40.0, 0.1, held=True)
    joints = list(model.tree.joints)
    joints[1] = replace(joints[1], locked=True)
    locked = Spacecraft(replace(model.tree, joints=tuple(joints)))
    linear = linearise(locked, np.zeros(3), np.zeros(3))
    assert linear.state_names == ("s0.slide", "s2.slide", "s0.slide_rate", "s2.slide_rate")
    # masses 1.4 and 0.7: M p'' + K p = 0 in relative coordinates
    mass, stiffness = np.array([[2.1, 0.7], [0.7, 0.7]]), 40.0 * np.eye(2)
    assert np.allclose(linear.mass, mass, rtol=1e-14)
    assert np.allclose(linear.A[2:, :2], -np.linalg.solve(mass, stiffness), rtol=RTOL)


def test_nothing_that_moves_is_an_empty_model() -> None:
    model = chain(2, 0.7, 40.0, 0.1, held=True)
    joints = tuple(replace(joint, locked=True) for joint in model.tree.joints)
    linear = linearise(Spacecraft(replace(model.tree, joints=joints)), np.zeros(2), np.zeros(2))
    assert linear.A.shape == (0, 0)
    assert (len(linear.modes()), linear.n_freedoms, linear.is_equilibrium) == (0, 0, True)


def test_lock_of_a_plant_counts() -> None:
    plant = darts_py.Plant(chain(3, 0.7, 40.0, 0.1, held=True), dt_ns=1_000_000)
    plant.lock("s1")
    linear = linearise(plant.model, plant.q, plant.u)
    assert linear.state_names[:2] == ("s0.slide", "s2.slide")


def test_prescribed_motion_is_no_state_but_goes_on() -> None:
    """A wheel kept at its rate: the body nutates, and the wheel has no deviation."""
    model = gyrostat()
    u = np.zeros(7)
    u[6] = 200.0
    plant = darts_py.Plant(model, dt_ns=1_000_000, u=u)
    plant.prescribe("spin.angle", darts_py.Motion.constant(0.0))
    linear = linearise(plant.model, plant.q, plant.u)
    assert "spin.angle_rate" not in linear.state_names
    assert linear.u[6] == 200.0
    (mode,) = linear.modes()
    expected = 0.04 * 200.0 / math.sqrt(3.02 * 4.02)
    assert mode.frequency_rad_s == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("acceleration", [0.0, 3.0])
def test_prescribed_joint_moves_as_told_whatever_acts_on_it(acceleration: float) -> None:
    """An elbow held, or driven, is a lock: the shoulder swings as one rigid body.

    With the elbow at b the centres of both rods are at d from the shoulder: w^2 = m g d / J, and
    an acceleration of the elbow moves the shoulder by -J_2s / J times as much.
    """
    model = darts_py.load_model("double_pendulum")
    q, u = np.array([0.3, 0.8]), np.zeros(2)
    joints = list(model.tree.joints)
    joints[1] = replace(joints[1], locked=True)
    stiff = linearise(Spacecraft(replace(model.tree, joints=tuple(joints))), q, u)
    linear = linearise(model, q, u, prescribed={"elbow.angle_rate": acceleration})
    assert linear.state_names == stiff.state_names
    M = darts_py.mass_matrix(model, q)
    turn = -M[0, 1] / M[0, 0]
    assert linear.udot == pytest.approx([stiff.udot[0] + turn * acceleration, acceleration])
    if acceleration == 0.0:  # otherwise M(q) has a part in it only through the elbow: none here
        plant = darts_py.Plant(model, dt_ns=1_000_000, q=q)
        plant.prescribe("elbow.angle", darts_py.Motion.constant(0.0))
        assert np.array_equal(linearise(plant.model, plant.q, plant.u).A, linear.A)
    assert np.allclose(linear.A, stiff.A, rtol=1e-10, atol=1e-12)
    assert np.allclose(linear.B, stiff.B, rtol=1e-12)


def test_prescribed_quasi_speed_holds_no_angle() -> None:
    """A spinning body whose rate about x is prescribed still tilts about x: d' = dw - w x d."""
    model = free_body(np.array([2.0, 3.0, 4.0]))
    u = np.zeros(6)
    u[:3] = 0.5, -0.3, 0.7
    linear = linearise(model, model.neutral(), u, prescribed={"base.wx": 0.0})
    assert "base.wx" not in linear.state_names
    assert "base.rot_x" in linear.state_names

    def entry(row: str, column: str) -> float:
        return linear.A[linear.state_names.index(row), linear.state_names.index(column)]

    assert entry("base.rot_x", "base.rot_y") == pytest.approx(u[2], rel=1e-12)  # -(w x d)_x
    assert entry("base.rot_x", "base.rot_z") == pytest.approx(-u[1], rel=1e-12)
    # Euler's equations about y and z: Jy wy' = (Jz - Jx) wz wx, with wx held
    assert entry("base.wy", "base.wz") == pytest.approx((4.0 - 2.0) * u[0] / 3.0, rel=1e-10)
    assert entry("base.wy", "base.wy") == pytest.approx(0.0, abs=1e-12)
    every = dict.fromkeys(model.speed_names, 0.0)
    assert linearise(model, model.neutral(), u, prescribed=every).A.shape == (0, 0)


def test_prescribed_slide_drives_a_chain_as_the_twin_says() -> None:
    """Finite differences of hybrid_dynamics, of a flexible satellite with a drive that turns."""
    model = darts_py.load_model("flexible_satellite")
    rng = np.random.default_rng(4)
    q, u = model.neutral(), 0.05 * rng.normal(size=model.n_speeds)
    given = {"drive_left.angle_rate": 0.4, "panel_right.mode_2_rate": -0.2}
    linear = linearise(model, q, u, prescribed=given)
    assert linear.n_freedoms == 22
    speeds = [model.speed_names.index(name) for name in linear.state_names[22:]]
    for k, j in enumerate(speeds):
        step = np.zeros(model.n_speeds)
        step[j] = 0.1  # velocity products are of second degree: central differences are exact
        ends = [
            darts_py.hybrid_dynamics(model, q, u + s * step, prescribed=given).udot
            for s in (1.0, -1.0)
        ]
        column = (ends[0] - ends[1])[speeds] / 0.2
        assert np.allclose(column, linear.A[22:, 22 + k], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"elbw.angle_rate": 0.0}, "did you mean 'elbow.angle_rate'"),
        ({"elbow.angle_rate": math.nan}, "expected a finite number"),
        (["elbow.angle_rate"], r"expected \{speed name: acceleration\}"),
    ],
)
def test_prescribed_accelerations_are_checked(wanted: object, message: str) -> None:
    model = darts_py.load_model("double_pendulum")
    with pytest.raises(ArgumentError, match=message):
        linearise(model, np.zeros(2), np.zeros(2), prescribed=wanted)  # type: ignore[arg-type]


STOPS = {
    "lower": np.array([-0.2]),
    "upper": np.array([0.1]),
    "stop_stiffness": np.array([50.0]),
    "stop_damping": np.array([2.0]),
}


@pytest.mark.parametrize(
    ("angle", "stiffness", "damping"),
    [(0.0, 0.0, 0.0), (0.0999, 0.0, 0.0), (0.1001, 50.0, 2.0), (0.3, 50.0, 2.0), (-0.5, 50.0, 2.0)],
)
def test_stop_counts_where_it_acts(angle: float, stiffness: float, damping: float) -> None:
    model = pendulum(M, L, G, **STOPS)
    linear = linearise(model, np.array([angle]), np.zeros(1))
    inertia = M * L**2
    expected = [-G / L * math.cos(angle) - stiffness / inertia, -damping / inertia]
    assert np.allclose(linear.A[1], expected, rtol=1e-9, atol=1e-12)


def test_stop_that_lets_go_does_not_count() -> None:
    """Beyond the limit but leaving fast: the stop never pulls, so it is not there."""
    model = pendulum(M, L, G, **STOPS)
    linear = linearise(model, np.array([0.11]), np.array([-1.0]))
    assert np.allclose(linear.A[1], [-G / L * math.cos(0.11), 0.0], rtol=1e-9, atol=1e-12)


def test_stop_on_the_point_of_letting_go_warns() -> None:
    """k depth + c rate = 0: it pushes on one side and is gone on the other."""
    model = pendulum(M, L, G, **STOPS)
    with pytest.warns(LinearisationWarning, match="about to let go"):
        linear = linearise(model, np.array([0.14]), np.array([-1.0]))
    assert np.allclose(linear.A[1], [-G / L * math.cos(0.14), 0.0], rtol=1e-9, atol=1e-12)


def test_edge_of_a_stop_warns() -> None:
    model = pendulum(M, L, G, **STOPS)
    with pytest.warns(LinearisationWarning, match=r"hinge.angle_rate: .* edge of a soft stop"):
        linear = linearise(model, np.array([0.1]), np.zeros(1))
    assert linear.A[1, 0] == pytest.approx(-G / L * math.cos(0.1), rel=1e-9)


@pytest.mark.parametrize("rate", [0.0, 0.5e-3, 3e-3, 1.0])
def test_friction_is_linearised_at_its_own_scale(rate: float) -> None:
    """Slope of level(v) v / sqrt(v^2 + s^2), level = Fc + (Fs - Fc) / (1 + (v/vs)^2)."""
    Fc, Fs, vs, s = 0.2, 0.3, 0.02, 1e-3
    law = {"coulomb": Fc, "breakaway": Fs, "stribeck_rate": vs, "creep_rate": s}
    model = pendulum(M, L, G, **{key: np.array([value]) for key, value in law.items()})
    linear = linearise(model, np.zeros(1), np.array([rate]))
    bend = 1.0 + (rate / vs) ** 2
    level, fall = Fc + (Fs - Fc) / bend, -(Fs - Fc) * 2.0 * rate / vs**2 / bend**2
    root = math.hypot(rate, s)
    slope = fall * rate / root + level * s**2 / root**3
    # at 1 rad/s the slope is 1e-7 of the force: rounding of the force over the step, 1e-15
    assert linear.A[1, 1] == pytest.approx(-slope / (M * L**2), rel=1e-9, abs=1e-13)


def test_state_of_another_model_is_refused() -> None:
    model = darts_py.load_model("double_pendulum")
    with pytest.raises(ValueError, match=r"q: got shape \(3,\), expected shape \(2,\)"):
        linearise(model, np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="terms: got 'RL'"):
        linearise(model, np.zeros(2), np.zeros(2), terms="RL")
