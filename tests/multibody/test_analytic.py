"""Motions with a closed solution: tops, gyrostats and pendulums.

RK4 with 1 ms steps at rates of some rad/s is good to 1e-10 over these runs; tolerances are set
one or two digits above.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import laguerre
from scipy.special import ellipj

import darts_py
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Joint, Node, Stage, Tree
from tests.reference.trees import reduced

Array = np.ndarray
DT_NS = 1_000_000
G = 9.81


def _lump(name: str, m: float, inertia: Array, centre: Array | None = None) -> Body:
    """Return a rigid body: frame node without mass, one node with all of it."""
    r = np.zeros(3) if centre is None else np.asarray(centre, float)
    mass = Node("mass", r=r, m=m, Jc=np.diag(np.asarray(inertia, float)))
    return Body(name, (Node("frame"), mass))


def _free_body(inertia: Array, stages: tuple[Stage, ...]) -> Spacecraft:
    joint = Joint("base", "free", stages)
    return Spacecraft(Tree("body", (_lump("b", 3.0, inertia),), (joint,)))


def _plant(model: Spacecraft, integrator: str = "rk4") -> darts_py.Plant:
    plant = darts_py.Plant(model, dt_ns=DT_NS, integrator=integrator)
    plant.q[:] = model.neutral()
    return plant


def _steps(seconds: float) -> int:
    return reduced(int(seconds * 1e9) // DT_NS, 300)


def _triaxial_rates(inertia: Array, w1: float, w3: float, t: float) -> Array:
    """Return the rates of a torque-free body with I1 < I2 < I3 and w2(0) = 0, h^2 > 2 T I2.

    Landau & Lifshitz, Mechanics, section 37.
    """
    I1, I2, I3 = inertia
    twice_T = I1 * w1**2 + I3 * w3**2
    h2 = (I1 * w1) ** 2 + (I3 * w3) ** 2
    assert h2 > twice_T * I2
    m = (I2 - I1) * (twice_T * I3 - h2) / ((I3 - I2) * (h2 - twice_T * I1))
    tau = t * np.sqrt((I3 - I2) * (h2 - twice_T * I1) / (I1 * I2 * I3))
    sn, cn, dn, _ = ellipj(tau, m)
    across = twice_T * I3 - h2
    along = h2 - twice_T * I1
    return np.array(
        [
            np.sqrt(across / (I1 * (I3 - I1))) * cn,
            np.sqrt(across / (I2 * (I3 - I2))) * sn,
            np.sqrt(along / (I3 * (I3 - I1))) * dn,
        ]
    )


@pytest.mark.parametrize("integrator", ["rk4", "rk4-lie"])
@pytest.mark.parametrize("stages", [jt.free(), jt.spherical()], ids=["free", "spherical"])
def test_torque_free_triaxial_body_follows_elliptic_functions(
    stages: tuple[Stage, ...], integrator: str
) -> None:
    inertia, w1, w3 = np.array([1.0, 1.8, 2.5]), 0.9, 1.1
    model = _free_body(inertia, stages)
    plant = _plant(model, integrator)
    plant.u[0], plant.u[2] = w1, w3
    h_N = darts_py.momentum(model, plant.q, plant.u)[:3].copy()
    n = _steps(20.0) // 10
    for k in range(1, 11):
        plant.advance(n)
        expected = _triaxial_rates(inertia, w1, w3, k * n * DT_NS * 1e-9)
        np.testing.assert_allclose(plant.u[:3], expected, rtol=0, atol=1e-9)
        R = darts_py.node_motion(model, plant.q, plant.u, node="b.mass").R
        np.testing.assert_allclose(R @ (inertia * plant.u[:3]), h_N, rtol=0, atol=1e-9)


def test_symmetric_top_precesses_about_its_momentum() -> None:
    """The axis of a torque-free symmetric body goes round h at |h| / It."""
    It, Ia = 2.0, 1.2
    model = _free_body(np.array([It, It, Ia]), jt.free())
    plant = _plant(model)
    plant.u[:3] = [0.3, 0.0, 2.0]
    h = darts_py.momentum(model, plant.q, plant.u)[:3]
    n, direction = _steps(10.0), h / np.linalg.norm(h)
    axis = np.array([0.0, 0.0, 1.0])
    plant.advance(n)
    angle = np.linalg.norm(h) / It * n * DT_NS * 1e-9
    expected = (
        np.cos(angle) * axis
        + np.sin(angle) * np.cross(direction, axis)
        + (1 - np.cos(angle)) * (direction @ axis) * direction
    )
    got = darts_py.node_motion(model, plant.q, plant.u, node="b.mass").R[:, 2]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("torque", [0.0, 0.05])
def test_dual_spin_spacecraft_nutates_as_the_gyrostat_equations_say(torque: float) -> None:
    """Symmetric platform and rotor on a common axis, motor torque on the rotor.

    Axial: Ip w3' = -torque, Ir (w3' + s') = torque. Transverse: w1 + i w2 turns through
    (H3 / It - w3) dt, with H3 the axial and It the transverse inertia's moment of the whole.
    """
    Ip, Ir, It_platform, It_rotor = 2.0, 0.4, 3.0, 0.3
    platform = _lump("platform", 10.0, np.array([It_platform, It_platform, Ip]))
    rotor = _lump("rotor", 2.0, np.array([It_rotor, It_rotor, Ir]))
    joints = (
        Joint("base", "free", jt.free()),
        Joint("bearing", "revolute", jt.revolute([0, 0, 1]), parent=0),
    )
    model = Spacecraft(Tree("dual-spin", (platform, rotor), joints))
    plant = _plant(model)
    w0, spin0 = np.array([0.2, 0.0, 0.1]), 8.0
    plant.u[:3], plant.u[6] = w0, spin0
    plant.tau[6] = torque
    n = _steps(10.0)
    plant.advance(n)
    t, It = n * DT_NS * 1e-9, It_platform + It_rotor
    H3 = Ip * w0[2] + Ir * (w0[2] + spin0)
    phase = H3 / It * t - w0[2] * t + torque * t**2 / (2 * Ip)
    w3 = w0[2] - torque / Ip * t
    expected = [0.2 * np.cos(phase), 0.2 * np.sin(phase), w3]
    np.testing.assert_allclose(plant.u[:3], expected, rtol=0, atol=1e-9)
    relative = spin0 + torque * t / Ir + torque * t / Ip
    assert plant.u[6] == pytest.approx(relative, abs=1e-9)


@pytest.mark.parametrize("start", [0.1, 1.0, 3.0])
def test_compound_pendulum_swings_by_elliptic_functions(start: float) -> None:
    """sin(theta / 2) = k cd(w0 t), k = sin(start / 2), w0^2 = m g L / I about the pivot."""
    m, L, J = 2.0, 0.7, 0.3
    body = _lump("bob", m, np.array([0.25, J, 0.2]), np.array([0.0, 0.0, -L]))
    joint = Joint("pivot", "revolute", jt.revolute([0, 1, 0]))
    gravity = np.array([0.0, 0.0, -G])
    plant = _plant(Spacecraft(Tree("pendulum", (body,), (joint,), gravity=gravity)))
    plant.q[0] = start
    n, k = _steps(5.0) // 5, np.sin(start / 2)
    w0 = np.sqrt(m * G * L / (J + m * L**2))
    for stop in range(1, 6):
        plant.advance(n)
        _, cn, dn, _ = ellipj(w0 * stop * n * DT_NS * 1e-9, k**2)
        assert plant.q[0] == pytest.approx(2 * np.arcsin(k * cn / dn), abs=2e-9)


def _hanging_chain(n: int, length: float) -> Spacecraft:
    """Return n equal masses on light rods of equal length, swinging about y.

    Each mass is spread along y only: no inertia about the axis of swing.
    """
    spread = np.array([0.05, 0.0, 0.05])
    bodies = tuple(_lump(f"b{k}", 1.0, spread, np.array([0.0, 0.0, -length])) for k in range(n))
    joints = tuple(
        Joint(f"j{k}", "revolute", jt.revolute([0, 1, 0]), parent=k - 1, parent_node=int(k > 0))
        for k in range(n)
    )
    return Spacecraft(Tree("chain", bodies, joints, gravity=np.array([0.0, 0.0, -G])))


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_hanging_chain_has_the_frequencies_of_laguerre(n: int) -> None:
    """w^2 = x g / l with x the roots of the Laguerre polynomial L_n (n = 2: 2 -+ sqrt 2)."""
    length, h = 0.5, 1e-4
    model = _hanging_chain(n, length)
    q, u = model.neutral(), np.zeros(n)
    M = darts_py.mass_matrix(model, q)
    K = np.zeros((n, n))
    for k in range(n):
        step = h * np.eye(n)[k]
        K[:, k] = darts_py.bias_force(model, q + step, u) - darts_py.bias_force(model, q - step, u)
    K /= 2 * h
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    expected = laguerre.lagroots([0.0] * n + [1.0]) * G / length
    np.testing.assert_allclose(squares, np.sort(expected), rtol=1e-7)  # central difference: h^2


def test_hanging_chain_swings_in_its_normal_mode() -> None:
    """Released at rest in the slow shape of the double pendulum, it returns after one period.

    At an amplitude of 1e-3 rad the period is longer by less than 1e-6 of itself.
    """
    length, small = 0.5, 1e-3
    plant = _plant(_hanging_chain(2, length))
    shape = small * np.array([1.0, np.sqrt(2.0) - 1.0])  # angles relative to the rod above
    plant.q[:] = shape
    w = np.sqrt((2 - np.sqrt(2.0)) * G / length)
    n = _steps(2 * np.pi / w)
    plant.advance(n)
    t = n * DT_NS * 1e-9
    np.testing.assert_allclose(plant.q, shape * np.cos(w * t), rtol=0, atol=2e-5 * small)


def test_flexible_appendage_frequency_seen_from_a_free_hub() -> None:
    """Hub J, panel with one mode and hub coupling c: w^2 = k / (m - c^2 / J), rigid rotation 0."""
    arm, m, J = 2.0, 0.4, 3.0
    panel = Body(
        "hub",
        (
            Node("root", m=1.0, Jc=J * np.eye(3), Pi=np.zeros((6, 1))),
            Node("tip", r=np.array([arm, 0, 0]), m=m, Pi=np.array([[0, 0, 0, 0, 1.0, 0]]).T),
        ),
        K=np.array([[50.0]]),
        Dm=np.zeros((1, 1)),
    )
    joint = Joint("axle", "revolute", jt.revolute([0, 0, 1]))
    model = Spacecraft(Tree("hub", (panel,), (joint,)))
    M = darts_py.mass_matrix(model, model.neutral())
    total = J + m * arm**2
    np.testing.assert_allclose(M, [[m, m * arm], [m * arm, total]], rtol=1e-14)
    plant = _plant(model)
    plant.q[0] = 1e-6
    w = np.sqrt(50.0 / (m - (m * arm) ** 2 / total))
    n = _steps(2.0)
    plant.advance(n)
    t = n * DT_NS * 1e-9
    assert plant.q[0] == pytest.approx(1e-6 * np.cos(w * t), abs=1e-12)
