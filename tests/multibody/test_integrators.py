"""Integrators: their order, their quaternions, stiff modes, and repeatability to the bit."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import darts_py
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Joint, Node, Tree
from darts_py.spec import find_model, load_tree
from tests.reference.compare import relative_error
from tests.reference.trees import REDUCED, Options, random_state, random_tree, reduced

Array = np.ndarray
ORDERS = {"rk4": 4, "rk4-lie": 4, "semi-implicit-euler": 1, "implicit-modes": 3}
KINDS = ("revolute", "spherical", "universal", "planar")

needs_jit = pytest.mark.skipif(REDUCED, reason="more than 10 000 steps: needs JIT")


def _system(seed: int, max_modes: int) -> tuple[Tree, Array, Array]:
    rng = np.random.default_rng(seed)
    options = Options(kinds=KINDS, root="free", max_modes=max_modes, flexible=1.0, passive=0.0)
    tree = random_tree(rng, 3, options)
    q, u = random_state(tree, rng)
    return tree, q, u


def _end(tree: Tree, q: Array, u: Array, dt_ns: int, n_steps: int, integrator: str) -> Array:
    plant = darts_py.Plant(Spacecraft(tree), dt_ns=dt_ns, integrator=integrator)
    plant.q[:], plant.u[:] = q, u
    plant.advance(n_steps)
    return np.concatenate([plant.q, plant.u])


TOTAL_NS = 2 ** reduced(27, 26)  # some 0.1 s: halves exactly


@cache
def _converged(max_modes: int) -> Array:
    n = 2 ** reduced(13, 9)
    return _end(*_system(1, max_modes), TOTAL_NS // n, n, "rk4")


def _orders(errors: list[float]) -> Array:
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


@pytest.mark.parametrize("max_modes", [0, 2], ids=["rigid", "flexible"])
@pytest.mark.parametrize("integrator", ORDERS)
def test_error_falls_with_the_order_when_the_step_is_halved(
    integrator: str, max_modes: int
) -> None:
    """Order seen at the smallest pair of steps, 0.2 below nominal for the next term's share.

    Steps are chosen so that the smallest error still stands clear of rounding.
    """
    tree, q, u = _system(1, max_modes)
    coarsest = (8 if ORDERS[integrator] > 2 else 64) // (2 if REDUCED else 1)
    counts = [coarsest * 2**k for k in range(4)]
    errors = [
        relative_error(_end(tree, q, u, TOTAL_NS // n, n, integrator), _converged(max_modes))
        for n in counts
    ]
    exact = errors[-1] < 1e-12  # better than its order
    assert exact or _orders(errors)[-1] >= ORDERS[integrator] - 0.2, errors


@pytest.mark.parametrize("integrator", ORDERS)
def test_quaternions_stay_on_the_sphere(integrator: str) -> None:
    """To rounding, after each step, however coarse the step."""
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 3, Options(kinds=["spherical"], root="free", max_modes=0))
    q, u = random_state(tree, rng)
    plant = darts_py.Plant(Spacecraft(tree), dt_ns=20_000_000, integrator=integrator)
    plant.q[:], plant.u[:] = q, u
    quaternions = [np.arange(4) + start for start in _quaternion_starts(tree)]
    for _ in range(50):
        plant.advance(1)
        for part in quaternions:
            assert abs(np.linalg.norm(plant.q[part]) - 1.0) <= 1e-15 * 4


def _quaternion_starts(tree: Tree) -> list[int]:
    starts, first = [], 0
    for joint in tree.joints:
        starts.append(first)
        first += joint.n_coords
    return starts


@pytest.mark.parametrize("integrator", ORDERS)
def test_runs_repeat_to_the_bit(integrator: str) -> None:
    tree, q, u = _system(4, 2)
    n = reduced(200, 20)
    first, second = (_end(tree, q, u, 1_000_000, n, integrator) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("integrator", ORDERS)
def test_one_call_of_n_steps_is_n_calls_of_one(integrator: str) -> None:
    tree, q, u = _system(5, 2)
    plant = darts_py.Plant(Spacecraft(tree), dt_ns=1_000_000, integrator=integrator)
    plant.q[:], plant.u[:] = q, u
    for _ in range(25):
        plant.advance(1)
    together = _end(tree, q, u, 1_000_000, 25, integrator)
    assert np.concatenate([plant.q, plant.u]).tobytes() == together.tobytes()


# -- modes too stiff for the step -------------------------------------------------------------

DT_S = 0.01
SLOW_TIME_S = 2.0


def _hub_and_panel(omega: float, damping_ratio: float = 0.01) -> Tree:
    """Return a hub on an axle with a torsion spring, and a panel whose mode has this frequency.

    The mode is a cantilever bending mode: displacement at the tip couples into the hub's turn.
    The springs make slow swings of 3 to 5 rad/s: some 150 steps of DT_S in a period.
    """
    hub = Body("hub", (Node("root", m=5.0, Jc=np.diag([1.0, 1.0, 1.5])),))
    tip = np.array([1.5, 0.0, 0.0])
    shape = np.array([[0.0, 0.0, 0.4, 0.0, 0.5, 0.0]]).T
    m_modal = 0.8 * 0.5**2 + 0.05 * 0.4**2
    panel = Body(
        "panel",
        (
            Node("root", m=0.5, Jc=0.05 * np.eye(3), Pi=np.zeros((6, 1))),
            Node("tip", r=tip, m=0.8, Jc=0.05 * np.eye(3), Pi=shape),
        ),
        K=np.array([[m_modal * omega**2]]),
        Dm=np.array([[2 * damping_ratio * m_modal * omega]]),
    )
    joints = (
        Joint("axle", "revolute", jt.revolute([0, 0, 1]), stiffness=np.array([20.0])),
        Joint("drive", "revolute", jt.revolute([0, 0, 1]), parent=0, stiffness=np.array([5.0])),
    )
    return Tree("stiff", (hub, panel), joints)


def _slow_response(tree: Tree, dt_s: float, integrator: str, seconds: float = SLOW_TIME_S) -> Array:
    """Return the joint angles of a free swing, sampled every 0.1 s."""
    plant = darts_py.Plant(Spacecraft(tree), dt_ns=round(dt_s * 1e9), integrator=integrator)
    plant.q[:], plant.u[:] = [0.3, 0.0, -0.2], 0.0  # hub angle | mode, panel angle
    out = []
    for _ in range(round(seconds / 0.1)):
        plant.advance(round(0.1 / dt_s))
        out.append(plant.q[[0, 2]].copy())
    assert np.all(np.isfinite(plant.u))
    return np.array(out)


@needs_jit
def test_stiff_modes_leave_the_slow_response_within_a_thousandth() -> None:
    """omega * dt = 100; the converged run resolves the mode with 1000 times smaller steps."""
    tree = _hub_and_panel(100.0 / DT_S)
    converged = _slow_response(tree, DT_S / 1000, "rk4")
    coarse = _slow_response(tree, DT_S, "implicit-modes")
    assert relative_error(coarse, converged) <= 1e-3


def test_stiff_modes_respond_like_a_rigid_panel() -> None:
    """The mode's static give is of order 1 / omega^2 = 1e-8: the rigid panel is its limit."""
    rigid = _hub_and_panel(1.0)
    hub, panel = rigid.bodies
    nodes = tuple(replace(node, Pi=np.zeros((6, 0))) for node in panel.nodes)
    rigid = replace(rigid, bodies=(hub, Body("panel", nodes)))
    plant = darts_py.Plant(Spacecraft(rigid), dt_ns=1_000_000, integrator="rk4")
    plant.q[:] = [0.3, -0.2]
    plant.advance(100)
    coarse = _slow_response(_hub_and_panel(100.0 / DT_S), DT_S, "implicit-modes", 0.1)
    assert relative_error(coarse[-1], plant.q) <= 1e-3


def test_stiff_modes_stay_bounded_from_any_start() -> None:
    """Even a mode started far off its slow motion, undamped: its energy must not grow."""
    tree = _hub_and_panel(100.0 / DT_S, damping_ratio=0.0)
    plant = darts_py.Plant(
        Spacecraft(tree), dt_ns=round(DT_S * 1e9), integrator="implicit-modes", terms="crl"
    )
    plant.q[:], plant.u[:] = [0.3, 1e-5, -0.2], [0.0, 0.05, 0.0]
    totals = []
    for _ in range(reduced(2000, 200)):
        plant.advance(1)
        e = darts_py.energy(Spacecraft(tree), plant.q, plant.u)
        totals.append(e.kinetic + e.strain + e.spring)
    assert max(totals) <= 2.0 * totals[0]


@needs_jit
def test_stiff_modes_keep_the_order_of_the_slow_response() -> None:
    """With the mode far above 1/dt throughout, the slow error still falls by four per halving."""
    tree = _hub_and_panel(100.0 / DT_S)
    fine = _slow_response(tree, DT_S / 64, "implicit-modes")
    errors = [
        relative_error(_slow_response(tree, dt, "implicit-modes"), fine)
        for dt in (2 * DT_S, DT_S, DT_S / 2)
    ]
    assert _orders(errors)[-1] >= 1.8, errors


def test_explicit_integrators_do_blow_up_there() -> None:
    """What the implicit one is for: RK4 at omega * dt = 100 warns, fails and says so."""
    tree = _hub_and_panel(100.0 / DT_S)
    with pytest.warns(RuntimeWarning, match=r"omega \* dt = .*implicit-modes"):
        plant = darts_py.Plant(Spacecraft(tree), dt_ns=round(DT_S * 1e9), integrator="rk4")
    plant.q[:] = [0.3, 0.0, -0.2]
    with np.errstate(all="ignore"):
        status = plant.advance(100)
    assert status == darts_py.Status.NON_FINITE


def test_locked_joint_does_not_move() -> None:
    tree, q, u = _system(6, 1)
    tree = replace(tree, joints=tuple(replace(j, locked=True) for j in tree.joints))
    u = np.zeros_like(u)
    n_modes = [body.n_modes for body in tree.bodies]
    end = _end(tree, q, u, 1_000_000, 50, "rk4")
    first = 0
    for joint, nm in zip(tree.joints, n_modes, strict=True):
        part = slice(first + nm, first + nm + joint.n_coords)
        np.testing.assert_allclose(end[part], q[part], rtol=0, atol=1e-15)
        first = part.stop


@needs_jit
def test_a_stiffened_satellite_moves_like_one_with_rigid_panels() -> None:
    """All twelve modes of the shipped satellite at omega * dt >= 100, under a wheel torque."""
    tree = load_tree(find_model("flexible_satellite"))
    slowest = 0.3 * 2 * np.pi  # rad/s, below the first mode of the panels
    scale = (100.0 / DT_S / slowest) ** 2
    stiff = tuple(replace(b, K=b.K * scale, Dm=b.Dm * np.sqrt(scale)) for b in tree.bodies)
    rigid = tuple(
        Body(b.name, tuple(replace(n, Pi=np.zeros((6, 0))) for n in b.nodes)) for b in tree.bodies
    )
    ends = []
    for bodies, integrator in ((stiff, "implicit-modes"), (rigid, "rk4-lie")):
        model = Spacecraft(replace(tree, bodies=bodies))
        plant = darts_py.Plant(model, dt_ns=round(DT_S * 1e9), integrator=integrator)
        plant.u[model.speed_names.index("base.wx")] = 0.05
        plant.u[model.speed_names.index("drive_left.angle_rate")] = 0.02
        plant.tau[model.speed_names.index("spin_1.angle_rate")] = 0.2
        assert plant.advance(2000) == darts_py.Status.OK
        ends.append([plant.q[model.coord_names.index(n)] for n in Spacecraft(
            replace(tree, bodies=rigid)).coord_names])  # fmt: skip
    assert relative_error(np.array(ends[0]), np.array(ends[1])) <= 1e-3
