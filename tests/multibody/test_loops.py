"""Closed loops against the twin's dense KKT solution, to 1e-10.

Every kind of closure, to ground, between bodies and within one flexible body, one loop and
several, whatever else is in the tree. States need not be closed for the equations to hold, as long
as the rows of the closures are independent; redundant ones are tried in closed states. The twin's
velocity products are differentiated numerically, good to 1e-13 of the largest entry.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND, Tree
from tests.reference import joint_kinds
from tests.reference.closures import (
    CLOSURES,
    closed_at,
    closed_speeds,
    independent,
    random_closure,
    with_closures,
)
from tests.reference.compare import assert_close
from tests.reference.distributed import spread_out, without_rotary
from tests.reference.loops import LoopTwin, merged
from tests.reference.trees import Options, random_forces, random_state, random_tree

RTOL = 1e-10
TERMS = ("rl", "crl")
Array = np.ndarray

# enough freedom that a closure between any two bodies is no redundancy of the tree
LOOSE = ("revolute", "cylindrical", "spherical", "planar", "free", "map-plane", "compound")


def _loose(rng: np.random.Generator, n_bodies: int, **options: object) -> Tree:
    base = Options(kinds=LOOSE, root="free", n_roots=2, branching=0.7)
    return random_tree(rng, n_bodies, replace(base, **options))


def _apart(tree: Tree) -> tuple[int, int]:
    """Return two bodies of different roots, each the last of its branch."""
    twin = LoopTwin(tree)
    paths = {
        twin.path(i)[0]: i for i in sorted(range(len(tree.bodies)), key=lambda i: len(twin.path(i)))
    }
    first, second = list(paths.values())[:2]
    return first, second


def _compare(
    tree: Tree,
    rng: np.random.Generator,
    terms: str,
    share: float = 0.0,
) -> None:
    """Hold accelerations, forces, constraint forces and hinge loads against the twin.

    Closures that a random tree (small or with locks) cannot have at once are dropped, never all.
    """
    q, u = random_state(tree, rng)
    kept = replace(tree, closures=())
    for closure in tree.closures:
        more = replace(kept, closures=(*kept.closures, closure))
        kept = more if independent(more, q) else kept
    assert kept.closures
    tree = kept
    model, twin = Spacecraft(tree), LoopTwin(tree)
    tau, forces = rng.normal(size=twin.n_speeds), random_forces(tree, rng)
    free = np.flatnonzero(twin.free_speeds())
    given = {int(k): float(rng.normal()) for k in free if rng.random() < share}
    while not independent(tree, q, list(given)):
        given.popitem()
    expected = twin.solve(q, u, tau, given, forces, terms)
    named = {model.speed_names[k]: value for k, value in given.items()}
    got = darts_py.hybrid_dynamics(model, q, u, tau, prescribed=named, forces=forces, terms=terms)
    assert_close(got.udot, expected.udot, RTOL, "accelerations")
    assert_close(got.tau, expected.tau, RTOL, "required forces")
    everything = merged(forces, twin.closure_forces(q, expected.multipliers))
    loads = twin.hinge_loads(q, u, expected.udot, everything, terms)
    assert_close(got.hinge_loads, loads, RTOL, "hinge loads")
    options = {"prescribed": named, "forces": forces, "terms": terms}
    wrenches = darts_py.closure_loads(model, q, u, tau, **options)
    for name, wrench in twin.closure_loads(expected.multipliers).items():
        assert_close(wrenches[name], wrench, RTOL, f"load of {name}")
        np.testing.assert_array_equal(wrenches[name], got.closure_loads[name])
    if given:
        return
    udot = darts_py.forward_dynamics(model, q, u, tau, forces=forces, terms=terms)
    np.testing.assert_array_equal(udot, got.udot)


# -- accelerations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "terms"),
    [("bodies", "rl"), ("bodies", "crl"), ("to ground", "crl"), ("from ground", "rl")],
)
@pytest.mark.parametrize("kind", CLOSURES)
def test_constrained_accelerations_agree_for_every_closure(
    kind: str, side: str, terms: str
) -> None:
    rng = np.random.default_rng([61, list(CLOSURES).index(kind)])
    tree = _loose(rng, 5)
    a, b = _apart(tree)
    ends = {"bodies": (a, b), "to ground": (a, GROUND), "from ground": (GROUND, b)}[side]
    _compare(with_closures(rng, tree, kind, ends=ends), rng, terms)


CASES = {
    "rigid": Options(flexible=0.0),
    "flexible": Options(flexible=1.0),
    "free-free": Options(flexible=1.0, modes="free-free"),
    "cantilever": Options(flexible=1.0, modes="cantilever"),
    "chain": Options(branching=0.0),
    "springs-friction": Options(passive=0.7, friction=0.7),
    "locked": Options(locked=0.25),
    "many-modes": Options(flexible=1.0, max_modes=9),
}


def _several(name: str, seed: int) -> tuple[Tree, np.random.Generator]:
    """Return a tree with three loops."""
    rng = np.random.default_rng([62, list(CASES).index(name), seed])
    changes = {
        key: getattr(CASES[name], key)
        for key in ("flexible", "modes", "branching", "passive", "friction", "locked", "max_modes")
    }
    tree = _loose(rng, 5 if name == "many-modes" else 8, **changes)
    kinds = [str(kind) for kind in rng.choice(["ball", "revolute", "point_on_line"], size=2)]
    return with_closures(rng, tree, *kinds, "point_on_plane"), rng


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", CASES)
def test_constrained_accelerations_agree_with_several_loops(name: str, terms: str) -> None:
    tree, rng = _several(name, 0)
    _compare(tree, rng, terms)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("name", CASES)
def test_prescribed_motion_in_closed_loops_agrees(name: str, terms: str) -> None:
    tree, rng = _several(name, 1)
    _compare(tree, rng, terms, share=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("seed", range(2, 10))
@pytest.mark.parametrize("name", CASES)
def test_closed_loops_agree_at_length(name: str, seed: int, terms: str) -> None:
    tree, rng = _several(name, seed)
    _compare(tree, rng, terms, share=0.2 * (seed % 2))


@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
def test_closed_loops_agree_for_every_joint(kind: str) -> None:
    """A loop through joints of one kind, from a free body to the ground."""
    rng = np.random.default_rng([63, joint_kinds.ALL_KINDS.index(kind)])
    options = Options(kinds=[kind], root="free", branching=0.0, flexible=0.7, shuffled=False)
    tree = random_tree(rng, 4, options)
    _compare(with_closures(rng, tree, "point_on_line", ends=(3, GROUND)), rng, "rl")


@pytest.mark.parametrize("terms", TERMS)
def test_two_nodes_of_one_flexible_body_may_be_tied(terms: str) -> None:
    rng = np.random.default_rng(64)
    tree = random_tree(rng, 3, Options(flexible=1.0, max_modes=3, kinds=["revolute"]))
    body = int(np.argmax([body.n_modes for body in tree.bodies]))
    closure = random_closure(rng, tree, "c0", "point_on_plane", (body, body))
    closure = replace(closure, node_a=0, node_b=1)
    _compare(replace(tree, closures=(closure,)), rng, terms)


@pytest.mark.parametrize("terms", TERMS)
def test_loops_through_spread_mass_agree(terms: str) -> None:
    rng = np.random.default_rng(65)
    tree = without_rotary(_loose(rng, 5, flexible=1.0))
    tree = with_closures(rng, tree, "ball", "point_on_line")
    model, twin = Spacecraft(spread_out(tree)), LoopTwin(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=twin.n_speeds)
    got = darts_py.forward_dynamics(model, q, u, tau, terms=terms)
    assert_close(got, twin.solve(q, u, tau, terms=terms).udot, RTOL)


@pytest.mark.parametrize("name", CASES)
def test_calls_leave_no_trace_in_the_model(name: str) -> None:
    """Whatever was asked before, with any speeds prescribed: the same bits as the first time."""
    tree, rng = _several(name, 3)
    used = Spacecraft(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=used.n_speeds)
    free = np.flatnonzero(LoopTwin(tree).free_speeds())
    for share in (0.0, 0.3, 0.0, 0.2, 0.1):
        given = [int(k) for k in free if rng.random() < share]
        while not independent(tree, q, given):
            given.pop()
        named = {used.speed_names[k]: float(rng.normal()) for k in given}
        results = [
            (
                darts_py.hybrid_dynamics(model, q, u, tau, prescribed=named),
                darts_py.forward_dynamics(model, q, u, tau),
                np.array(list(darts_py.closure_loads(model, q, u, tau).values())),
            )
            for model in (used, Spacecraft(tree))
        ]
        for old, new in zip(*[(*r[0], *r[1:]) for r in results], strict=True):
            np.testing.assert_equal(old, new)  # by closure, or arrays


# -- redundancy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kind", CLOSURES)
def test_closure_written_twice_changes_nothing(kind: str, terms: str) -> None:
    rng = np.random.default_rng([66, list(CLOSURES).index(kind)])
    tree = _loose(rng, 5)
    once = with_closures(rng, tree, kind)
    (closure,) = once.closures
    twice = replace(tree, closures=(closure, replace(closure, name="c1")))
    q, u = random_state(tree, rng)
    tau = rng.normal(size=Spacecraft(tree).n_speeds)
    results = []
    for built in (once, twice):
        model = Spacecraft(built)
        loads = darts_py.closure_loads(model, q, u, tau, terms=terms)
        results.append(
            (darts_py.forward_dynamics(model, q, u, tau, terms=terms), sum(loads.values()))
        )
    assert_close(results[1][0], results[0][0], RTOL, "accelerations")
    assert_close(results[1][1], results[0][1], RTOL, "loads together")
    assert_close(results[1][0], LoopTwin(twice).solve(q, u, tau, terms=terms).udot, RTOL, "twin")


@pytest.mark.parametrize("kinds", [("weld", "ball"), ("revolute", "point_on_plane", "weld")])
def test_closures_that_include_each_other_are_tolerated(kinds: tuple[str, ...]) -> None:
    """The same two frames tied in several ways: the strictest decides."""
    rng = np.random.default_rng(67)
    tree = _loose(rng, 5)
    first = random_closure(rng, tree, "c0", kinds[0], _apart(tree))
    others = [
        replace(first, name=f"c{k}", kind=kind, S=CLOSURES[kind](rng))
        for k, kind in enumerate(kinds)
    ]
    q, u = random_state(tree, rng, bend=0.0)
    tree = closed_at(replace(tree, closures=tuple(others)), q)
    u = closed_speeds(tree, q, u)
    weld = tree.closures[list(kinds).index("weld")]
    tau = rng.normal(size=Spacecraft(tree).n_speeds)
    got = darts_py.forward_dynamics(Spacecraft(tree), q, u, tau)
    alone = darts_py.forward_dynamics(Spacecraft(replace(tree, closures=(weld,))), q, u, tau)
    assert_close(got, alone, RTOL)


# -- Jacobian, errors, loads ----------------------------------------------------------------------


def _held(tree: Tree) -> Array:
    """Return which rows are held in position: all but those that tie a rotation to translations.

    The angle of a screw is known from the pose up to whole turns only.
    """
    rows = [np.all(c.S[:3] == 0.0, axis=0) | np.all(c.S[3:] == 0.0, axis=0) for c in tree.closures]
    return np.concatenate(rows)


@pytest.mark.parametrize("kind", CLOSURES)
def test_jacobian_and_errors_agree(kind: str) -> None:
    rng = np.random.default_rng([68, list(CLOSURES).index(kind)])
    tree = with_closures(rng, _loose(rng, 5), kind)
    q, u = random_state(tree, rng, bend=0.0)
    tree = closed_at(tree, q, rng)
    model, twin, held = Spacecraft(tree), LoopTwin(tree), _held(tree)
    assert_close(darts_py.closure_jacobian(model, q), twin.closure_jacobian(q), RTOL, "J")
    position, velocity = darts_py.closure_error(model, q, u)
    np.testing.assert_allclose(position, 0.0, atol=1e-13)
    assert_close(velocity, twin.closure_error(q, u)[1], RTOL, "velocity error")
    step = twin.rest(twin.coordinate_rates(q) @ rng.normal(size=twin.n_speeds))
    for size in (1e-3, 1e-5):  # measures of a small rotation differ from each other in third order
        off = q + size * step
        got = darts_py.closure_error(model, off, u).position[held]
        expected = twin.closure_error(off, u)[0][held]
        bound = np.linalg.norm(expected) ** 3 / 6  # sine for angle
        np.testing.assert_allclose(got, expected, atol=1.01 * bound + 1e-13)
        assert np.abs(expected).max() > 0.05 * size


@pytest.mark.parametrize("kind", CLOSURES)
def test_errors_of_deformed_bodies_agree_to_second_order(kind: str) -> None:
    """Whether arms beside a node turn with it or move along is of second order in deformation."""
    rng = np.random.default_rng([74, list(CLOSURES).index(kind)])
    tree = with_closures(rng, _loose(rng, 4, flexible=1.0), kind)
    q, u = random_state(tree, rng, bend=0.0)
    tree = closed_at(tree, q, rng)
    model, twin, held = Spacecraft(tree), LoopTwin(tree), _held(tree)
    modes = np.zeros_like(q)
    for part in twin.eta:
        modes[part] = rng.normal(size=part.stop - part.start)
    sizes = []
    for bend in (2e-3, 1e-3):
        bent = q + bend * modes
        expected = twin.closure_error(bent, u)[0][held]
        got = darts_py.closure_error(model, bent, u).position[held]
        sizes.append(np.abs(got - expected).max())
        assert sizes[-1] <= 10 * bend**2
        assert np.abs(expected).max() > 0.05 * bend
    assert sizes[1] <= 0.3 * sizes[0] + 1e-12


@pytest.mark.parametrize("kind", CLOSURES)
def test_velocity_error_is_the_rate_of_the_position_error(kind: str) -> None:
    """At zero deformation, where the frozen geometry is the true one."""
    rng = np.random.default_rng([69, list(CLOSURES).index(kind)])
    tree = with_closures(rng, _loose(rng, 4), kind)
    q, u = random_state(tree, rng, bend=0.0)
    tree = closed_at(tree, q, rng)
    model, twin, held = Spacecraft(tree), LoopTwin(tree), _held(tree)
    qdot, h = twin.coordinate_rates(q) @ u, 1e-4
    ahead, behind = (darts_py.closure_error(model, q + s * h * qdot, u).position for s in (1, -1))
    velocity = darts_py.closure_error(model, q, u).velocity
    # second-order difference: h^2 times third derivatives of order 10
    np.testing.assert_allclose(((ahead - behind) / (2 * h))[held], velocity[held], atol=1e-6)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kind", CLOSURES)
def test_loads_do_no_work_and_balance(kind: str, terms: str) -> None:
    """J^T force is what M udot + C lacks; its power in any allowed motion is zero."""
    rng = np.random.default_rng([70, list(CLOSURES).index(kind)])
    tree = with_closures(rng, _loose(rng, 5, passive=0.5, friction=0.5), kind)
    model, twin = Spacecraft(tree), LoopTwin(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=twin.n_speeds)
    udot = darts_py.forward_dynamics(model, q, u, tau, terms=terms)
    missing = darts_py.inverse_dynamics(model, q, u, udot, terms=terms) - tau
    (load,) = darts_py.closure_loads(model, q, u, tau, terms=terms).values()
    S, J = tree.closures[0].S, darts_py.closure_jacobian(model, q)
    assert_close(J.T @ (S.T @ load), missing, RTOL, "J^T force")
    np.testing.assert_allclose(load, S @ (S.T @ load), atol=1e-12 * np.abs(load).max())
    allowed = rng.normal(size=(twin.n_speeds, 5))
    allowed -= np.linalg.pinv(J) @ (J @ allowed)
    scale = np.abs(missing) @ np.abs(allowed)
    assert np.all(np.abs(missing @ allowed) <= 1e-10 * scale)
    # action and reaction: the two node forces put the same load on the tree
    forces = twin.closure_forces(q, S.T @ load)
    again = darts_py.inverse_dynamics(model, q, u, udot, forces=forces, terms=terms)
    assert_close(again, tau, RTOL * max(1.0, np.abs(missing).max()), "balance")


@pytest.mark.parametrize("kind", CLOSURES)
def test_rigid_motion_leaves_every_gap_alone(kind: str) -> None:
    """J is blind to motion of the spacecraft as a whole: closure forces keep its momentum.

    The state is bent and its loop open: forces on two different lines would turn the whole.
    """
    rng = np.random.default_rng([75, list(CLOSURES).index(kind)])
    tree = _loose(rng, 5, flexible=1.0, n_roots=1)
    a, b = rng.choice(len(tree.bodies), size=2, replace=False)
    tree = with_closures(rng, tree, kind, ends=(int(a), int(b)))
    (root,) = (i for i, joint in enumerate(tree.joints) if joint.parent == GROUND)
    twin = LoopTwin(tree)
    rigid = twin.beta[root]
    assert tree.joints[root].kind == "free"
    for _ in range(3):
        q, _ = random_state(tree, rng)
        J = darts_py.closure_jacobian(Spacecraft(tree), q)
        assert np.abs(J).max() > 0.1
        np.testing.assert_allclose(J[:, rigid], 0.0, atol=1e-13 * np.abs(J).max())


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kind", CLOSURES)
def test_acceleration_keeps_the_velocity_closed(kind: str, terms: str) -> None:
    """d/dt (J u) = 0 along the motion of the model: exact in CRL, and in RL without modal rates."""
    rng = np.random.default_rng([71, list(CLOSURES).index(kind)])
    tree = with_closures(rng, _loose(rng, 4), kind)
    model, twin = Spacecraft(tree), LoopTwin(tree)
    q, u = random_state(tree, rng)
    if terms == "rl":
        for modes in twin.etad:
            u[modes] = 0.0
    udot = darts_py.forward_dynamics(model, q, u, terms=terms)
    h, qdot = 2e-3, twin.coordinate_rates(q) @ u
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    rate = np.zeros(tree.closures[0].S.shape[1])
    for k, weight in weights.items():
        for s in (1, -1):
            x, v = q + s * k * h * qdot, u + s * k * h * udot
            rate += s * weight / h * (darts_py.closure_jacobian(model, x) @ v)
    J = darts_py.closure_jacobian(model, q)
    scale = max(1.0, np.abs(J @ udot).max())
    # sixth-order difference at h = 2e-3: truncation 1e-14 of derivatives up to 1e4, rounding 1e-12
    np.testing.assert_allclose(rate, 0.0, atol=1e-9 * scale)


# -- closing loops --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLOSURES)
def test_close_loops_finds_a_closed_state_nearby(kind: str) -> None:
    rng = np.random.default_rng([72, list(CLOSURES).index(kind)])
    tree = with_closures(rng, _loose(rng, 5), kind)
    q, u = random_state(tree, rng, bend=0.0)
    tree = closed_at(tree, q, rng)
    model, twin, held = Spacecraft(tree), LoopTwin(tree), _held(tree)
    off = q + 0.05 * (twin.coordinate_rates(q) @ rng.uniform(-1, 1, size=twin.n_speeds))
    closed_q, closed_u = darts_py.close_loops(model, off, u)
    np.testing.assert_allclose(darts_py.closure_error(model, closed_q, u).position, 0, atol=1e-11)
    position, velocity = twin.closure_error(closed_q, closed_u)
    # the twin's deformed poses differ in second order of the deformation, 0.1 at most
    np.testing.assert_allclose(position[held], 0.0, atol=0.1**2)
    np.testing.assert_allclose(velocity, 0.0, atol=1e-10)
    assert np.abs(closed_q - q).max() < 1.0
    # momentum along every allowed motion is kept: M (u' - u) is a constraint impulse
    impulse = twin.mass_matrix(closed_q) @ (closed_u - u)
    J = twin.closure_jacobian(closed_q)
    left = impulse - J.T @ np.linalg.lstsq(J.T, impulse, rcond=1e-12)[0]
    np.testing.assert_allclose(left, 0.0, atol=1e-9 * np.abs(impulse).max())
    again_q, again_u = darts_py.close_loops(model, closed_q, closed_u)
    np.testing.assert_allclose(again_q, closed_q, atol=1e-11)
    np.testing.assert_allclose(again_u, closed_u, atol=1e-11)


def test_close_loops_leaves_locked_joints_alone() -> None:
    rng = np.random.default_rng(73)
    tree = _loose(rng, 6, locked=0.4, flexible=0.0)
    tree = with_closures(rng, tree, "ball")
    q, u = random_state(tree, rng)
    tree = closed_at(tree, q)
    model, twin = Spacecraft(tree), LoopTwin(tree)
    free = twin.free_speeds()
    step = np.where(free, 0.05 * rng.uniform(-1, 1, size=twin.n_speeds), 0.0)
    closed_q, closed_u = darts_py.close_loops(model, q + twin.coordinate_rates(q) @ step, u)
    np.testing.assert_allclose(twin.closure_error(closed_q, closed_u)[0], 0.0, atol=1e-10)
    for i, joint in enumerate(tree.joints):
        if joint.locked:
            np.testing.assert_allclose(closed_q[twin.joint_q[i]], q[twin.joint_q[i]], atol=1e-15)
            np.testing.assert_array_equal(closed_u[twin.beta[i]], 0.0)


def test_other_methods_are_refused_with_closures() -> None:
    model = darts_py.load_model("four_bar")
    for method in ("articulated-direct", "articulated-woodbury", "composite"):
        with pytest.raises(darts_py.errors.ArgumentError, match="closures"):
            darts_py.forward_dynamics(model, np.zeros(3), np.zeros(3), method=method)


def test_close_loops_says_when_it_cannot() -> None:
    tree = darts_py.load_model("four_bar").tree
    short = replace(tree.closures[0], o_b=np.array([0.0, 1.0, 0.0]))  # out of the plane
    model = Spacecraft(replace(tree, closures=(short,)))
    with pytest.raises(darts_py.errors.ArgumentError, match="stay open"):
        darts_py.close_loops(model, np.array([0.0, -0.9, -1.6]))
