"""Internal loads: balance on every body, the twin, and cases a pencil can do.

In balance: what comes in through the inboard hinge, less what goes out through those of the
children, plus weight and external forces, is the inertia force of the body's own masses. The
latter is taken from node accelerations, no recursion over bodies in it.
"""

from __future__ import annotations

import numpy as np
import pytest

import darts_py
from darts_py.errors import ArgumentError
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND, Body, Joint, Node, Tree
from tests.reference.compare import assert_close
from tests.reference.kinematics import shift, turned
from tests.reference.loops import moved_load
from tests.reference.trees import Options, random_forces, random_state, random_tree
from tests.reference.twin import Twin, node_inertia

RTOL = 1e-10
TERMS = ("rl", "crl")
Array = np.ndarray


def _own_inertia(twin: Twin, i: int, q: Array, u: Array, udot: Array, terms: str) -> Array:
    """Return the inertia force of body i's masses about its origin, world axes."""
    nodes, J = twin.jacobians(q)
    origin = twin.body_poses(twin.rest(q))[i][:3, 3]
    products = twin.velocity_forces(q, u, terms)
    out = np.zeros(6)
    for n, key in enumerate(twin.keys):
        if key.body == i:
            load = products[n] + node_inertia(key.data, nodes[n, :3, :3]) @ J[n] @ udot
            out += shift(nodes[n, :3, 3] - origin).T @ load
    return out


def _applied(twin: Twin, i: int, q: Array, forces: dict[str, Array]) -> Array:
    nodes = twin.node_poses(twin.rest(q))
    origin = twin.body_poses(twin.rest(q))[i][:3, 3]
    loads = twin.applied_forces(q, forces)
    own = [n for n, key in enumerate(twin.keys) if key.body == i]
    return sum((shift(nodes[n, :3, 3] - origin).T @ loads[n] for n in own), np.zeros(6))


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("seed", range(3))
def test_loads_balance_on_every_body(seed: int, terms: str) -> None:
    rng = np.random.default_rng([41, seed])
    tree = random_tree(rng, 7, Options(passive=0.5, friction=0.5))
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    forces, udot = random_forces(tree, rng), rng.normal(size=twin.n_speeds)
    loads = darts_py.hinge_loads(model, q, u, udot, forces=forces, terms=terms)
    poses = twin.body_poses(twin.rest(q))
    world = [turned(G[:3, :3], load) for G, load in zip(poses, loads, strict=True)]
    for i, G in enumerate(poses):
        through = world[i].copy()
        for c, joint in enumerate(tree.joints):
            if joint.parent == i:
                through -= shift(poses[c][:3, 3] - G[:3, 3]).T @ world[c]
        inertia = _own_inertia(twin, i, q, u, udot, terms)
        expected = inertia - _applied(twin, i, q, forces)
        error = np.abs(through - expected).max()
        assert error <= RTOL * max(np.abs(world).max(), 1.0), tree.bodies[i].name


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("seed", range(3))
def test_loads_at_hinges_and_nodes_are_the_same_loads(seed: int, terms: str) -> None:
    rng = np.random.default_rng([42, seed])
    tree = random_tree(rng, 7, Options())
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    forces, udot = random_forces(tree, rng), rng.normal(size=twin.n_speeds)
    given = {"forces": forces, "terms": terms}
    expected = twin.hinge_loads(q, u, udot, forces, terms)
    assert_close(darts_py.hinge_loads(model, q, u, udot, **given), expected, RTOL, "body")
    at_hinge = [
        moved_load(load, body.nodes[joint.child_node].r + joint.o_d, joint.R_iO)
        for load, body, joint in zip(expected, tree.bodies, tree.joints, strict=True)
    ]
    got = darts_py.hinge_loads(model, q, u, udot, at="hinge", **given)
    assert_close(got, np.array(at_hinge), RTOL, "hinge")
    for load, body in zip(expected, tree.bodies, strict=True):
        for node in body.nodes:
            moved = darts_py.load_about(model, load, f"{body.name}.{node.name}")
            assert_close(moved, moved_load(load, node.r, np.eye(3)), RTOL, node.name)


@pytest.mark.parametrize("terms", TERMS)
def test_load_along_the_joint_is_the_joint_force(terms: str) -> None:
    """H_O^T f_O = tau + springs, dampers, friction: what the hinge does not carry itself."""
    rng = np.random.default_rng(43)
    tree = random_tree(rng, 7, Options(kinds=jt_constant(), passive=0.7, friction=0.7))
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=twin.n_speeds)
    udot = darts_py.forward_dynamics(model, q, u, tau, terms=terms)
    loads = darts_py.hinge_loads(model, q, u, udot, terms=terms, at="hinge")
    drive = tau + twin.passive_forces(q, u)
    for i, joint in enumerate(tree.joints):
        H = joint.stages[0].H
        error = np.abs(H.T @ loads[i] - drive[twin.beta[i]]).max()
        assert error <= RTOL * np.abs(loads).max()


def jt_constant() -> tuple[str, ...]:
    """Return joints whose map is constant in O axes: their one stage has it."""
    return ("revolute", "prismatic", "screw", "spherical", "planar", "free", "map-ball")


def test_hybrid_loads_are_hinge_loads() -> None:
    rng = np.random.default_rng(44)
    tree = random_tree(rng, 7, Options(locked=0.2))
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    free = [name for k, name in enumerate(model.speed_names) if not model.is_locked(k)]
    prescribed = {name: float(rng.normal()) for name in free[::2]}
    for at in ("body", "hinge"):
        got = darts_py.hybrid_dynamics(model, q, u, prescribed=prescribed, at=at)
        expected = darts_py.hinge_loads(model, q, u, got.udot, at=at)
        assert_close(got.hinge_loads, expected, RTOL)


# -- by hand ------------------------------------------------------------------------------------


def rod(name: str, mass: float, length: float) -> Body:
    """Return a uniform rod along x with a hinge at its origin and a node at its tip."""
    J = mass * length**2 / 12.0
    centre = Node("origin", m=mass, p=np.array([length / 2, 0, 0]), Jc=np.diag([0.0, J, J]))
    return Body(name, (centre, Node("tip", r=np.array([length, 0, 0]))))


def held_chain(kind: str, n: int, gravity: Array, root: str = "fixed") -> Tree:
    """Return n rods of 2 kg and 0.5 m end to end along x."""
    stages = {"fixed": jt.fixed(), "revolute": jt.revolute([0, 0, 1.0])}
    joints = [Joint(f"j{i}", kind, stages[kind], parent=i - 1, parent_node=1) for i in range(1, n)]
    first = Joint("j0", root, stages[root], parent=GROUND)
    bodies = tuple(rod(f"b{i}", 2.0, 0.5) for i in range(n))
    return Tree("chain", bodies, (first, *joints), gravity=gravity)


def test_cantilevered_chain_carries_its_weight() -> None:
    """At hinge i hangs the weight of the rest, W = (n - i) m g, with its arm (n - i) L / 2."""
    n, m, L, g = 6, 2.0, 0.5, 9.81
    model = Spacecraft(held_chain("revolute", n, np.array([0, -g, 0]), "revolute"))
    still = np.zeros(model.n_speeds)
    prescribed = dict.fromkeys(model.speed_names, 0.0)
    got = darts_py.hybrid_dynamics(model, still, still, prescribed=prescribed, at="hinge")
    left = np.arange(n, 0, -1)
    expected = np.zeros((n, 6))
    expected[:, 4] = left * m * g
    expected[:, 2] = left * m * g * left * L / 2
    np.testing.assert_allclose(got.hinge_loads, expected, atol=1e-12)
    np.testing.assert_allclose(got.tau, expected[:, 2], atol=1e-12)  # what holds it up
    welded = Spacecraft(held_chain("fixed", n, np.array([0, -g, 0]), "revolute"))
    loads = darts_py.hinge_loads(welded, np.zeros(1), np.zeros(1), np.zeros(1))
    np.testing.assert_allclose(loads, expected, atol=1e-12)


def test_spinning_chain_is_in_tension() -> None:
    """Across a cut at x a rod of length l pulls with m/l w^2 (l^2 - x^2) / 2, and does not bend."""
    n, m, L, w = 5, 2.0, 0.5, 3.0
    model = Spacecraft(held_chain("fixed", n, np.zeros(3), "revolute"))
    loads = darts_py.hinge_loads(model, np.array([0.7]), np.array([w]), np.zeros(1), at="hinge")
    x, length = L * np.arange(n), n * L
    expected = np.zeros((n, 6))
    expected[:, 3] = -(m / L) * w**2 * (length**2 - x**2) / 2
    np.testing.assert_allclose(loads, expected, atol=1e-11)


def test_point_mass_on_a_string_pulls_with_its_centripetal_force() -> None:
    m, r, w = 3.0, 1.7, 2.5
    ball = Body("ball", (Node("origin"), Node("mass", r=np.array([r, 0, 0]), m=m)))
    tree = Tree("string", (ball,), (Joint("j", "revolute", jt.revolute([0, 0, 1.0])),))
    load = darts_py.hinge_loads(Spacecraft(tree), np.zeros(1), np.array([w]), np.zeros(1))
    np.testing.assert_allclose(load, [[0, 0, 0, -m * w**2 * r, 0, 0]], atol=1e-12)


def test_accelerated_beam_bends_in_the_middle() -> None:
    """A free beam pushed sideways at its middle: half of it hangs on the cut like a cantilever.

    Force F on mass M gives F / M; the outer half, M / 2 with its centre L / 4 out, loads the cut
    with F / 2 and the moment F L / 8.
    """
    M, L, F = 8.0, 4.0, 10.0
    J = (M / 2) * (L / 2) ** 2 / 12
    halves = []
    for name, side in (("left", -1.0), ("right", 1.0)):
        mass = Node("middle", m=M / 2, p=np.array([side * L / 4, 0, 0]), Jc=np.diag([0.1, J, J]))
        halves.append(Body(name, (mass,)))
    joints = (
        Joint("base", "free", jt.free()),
        Joint("cut", "fixed", jt.fixed(), parent=0),
    )
    model = Spacecraft(Tree("beam", tuple(halves), joints))
    q, u = model.neutral(), np.zeros(6)
    push = {"left.middle": np.array([0, 0, 0, 0, F, 0.0])}
    udot = darts_py.forward_dynamics(model, q, u, forces=push)
    np.testing.assert_allclose(udot, [0, 0, 0, 0, F / M, 0], atol=1e-13)
    load = darts_py.hinge_loads(model, q, u, udot, forces=push)[1]
    np.testing.assert_allclose(load, [0, 0, F * L / 8, 0, F / 2, 0], atol=1e-13)
    at_end = darts_py.load_about(model, load, "right.middle")
    np.testing.assert_allclose(at_end, load, atol=1e-15)


def test_flexible_cantilever_holds_its_weight_in_equilibrium() -> None:
    """With eta at its static value the root carries the weight; the modes need no force."""
    rng = np.random.default_rng(45)
    g = np.array([0.3, -9.81, 1.1])
    options = Options(flexible=1.0, modes="cantilever", kinds=["fixed"], shuffled=False)
    tree = random_tree(rng, 1, options)
    tree = Tree(tree.name, tree.bodies, tree.joints, gravity=g)
    model, twin = Spacecraft(tree), Twin(tree)
    still = np.zeros(model.n_speeds)
    weight = darts_py.bias_force(model, np.zeros(model.n_coords), still)
    q = np.linalg.solve(tree.bodies[0].K, -weight)
    got = darts_py.hybrid_dynamics(model, q, still, prescribed=dict.fromkeys(model.speed_names, 0))
    np.testing.assert_allclose(got.tau, 0.0, atol=1e-10)
    G = twin.body_poses(twin.rest(q))[0]
    total = np.zeros(6)
    for node in tree.bodies[0].nodes:
        arm, pull = G[:3, :3] @ (node.r + node.p), node.m * g
        total -= np.r_[np.cross(arm, pull), pull]
    expected = turned(G[:3, :3].T, total)
    np.testing.assert_allclose(got.hinge_loads[0], expected, atol=1e-10)


def test_places_are_checked() -> None:
    model = Spacecraft(held_chain("revolute", 2, np.zeros(3), "revolute"))
    zero = np.zeros(2)
    with pytest.raises(ArgumentError, match="load_about"):
        darts_py.hinge_loads(model, zero, zero, zero, at="b1.tip")
    with pytest.raises(ArgumentError, match="node"):
        darts_py.load_about(model, np.zeros(6), "b1.top")
    with pytest.raises(ArgumentError, match="shape"):
        darts_py.load_about(model, np.zeros(3), "b1.tip")
