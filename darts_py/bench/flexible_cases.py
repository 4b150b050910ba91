"""The flexible benchmark systems: chains with modes, and the satellite with two flexible panels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from darts_py.bench import cases
from darts_py.bench.cases import Link, State
from darts_py.multibody import joint_types
from darts_py.multibody.tree import Array, Body, Joint, Node, Tree

CHAIN_BODIES = 10
CHAIN_MODES = (0, 2, 5, 10, 20)
CHAIN_NODES = 6  # 36 nodal motions: enough for 6 rigid ones and 20 modes
PANEL_LINKS = (2, 4)  # of the satellite
PANEL_MODES = 6
PANEL_LENGTH_M = 4.0
PANEL_NODES = 7


def flexible_chain(n_modes: int, n_bodies: int = CHAIN_BODIES, seed: int = 5) -> Tree:
    """Draw a chain on revolute joints, each body with `n_modes` free-free modes."""
    rng = np.random.default_rng(seed)
    bodies = [_beam(rng, f"b{k}", n_modes) for k in range(n_bodies)]
    joints = []
    for k in range(n_bodies):
        stages = joint_types.revolute(np.eye(3)[k % 3])
        tip = 0 if k == 0 else CHAIN_NODES - 1
        R = cases.draw_rotation(rng)
        joints.append(Joint(f"j{k}", "revolute", stages, k - 1, parent_node=tip, R_pO=R))
    return Tree(f"chain with {n_modes} modes", tuple(bodies), tuple(joints))


def _beam(rng: np.random.Generator, name: str, n_modes: int) -> Body:
    """Draw a half-metre body: lumps along x, hinge at the first, next body at the last."""
    nodes = []
    for k in range(CHAIN_NODES):
        m, c, Jc = cases.draw_inertia(rng, scale=1.0 / CHAIN_NODES, offset=0.02)
        r = np.array([0.5 * k / (CHAIN_NODES - 1), 0.0, 0.0])
        Pi = rng.normal(scale=0.3, size=(6, n_modes))
        nodes.append(Node(f"n{k}", r, m, c, Jc, Pi))
    return Body(name, tuple(nodes), *_modal_matrices(nodes, 2.0, 40.0))


def _modal_matrices(nodes: list[Node], low_hz: float, high_hz: float) -> tuple[Array, Array]:
    """Return stiffness and damping that give each mode about its frequency, damped by 0.5 %."""
    n_modes = nodes[0].Pi.shape[1]
    omega = 2 * np.pi * np.linspace(low_hz, high_hz, n_modes)
    mass = np.zeros(n_modes)
    for node in nodes:
        turn, shift = node.Pi[:3], node.Pi[3:]
        mass += node.m * np.sum(shift**2, axis=0) + np.sum(turn * (node.Jc @ turn), axis=0)
    return np.diag(omega**2 * mass), np.diag(2 * 0.005 * omega * mass)


def flexible_satellite() -> Tree:
    """Return the 20-DOF satellite with six cantilever modes on each outer panel: 32 DOF."""
    links = cases.satellite()
    rigid = cases.make_tree("satellite 20 + 2 x 6 modes", links)
    bodies = list(rigid.bodies)
    for k in PANEL_LINKS:
        bodies[k] = _panel(f"panel{k}", links[k])
    return replace(rigid, bodies=tuple(bodies))


def _panel(name: str, link: Link) -> Body:
    """Lay the link's mass out as a panel along x, clamped at its hinge (node 0)."""
    nodes = []
    share = link.m / (PANEL_NODES - 1)
    for k in range(PANEL_NODES):
        s = k / (PANEL_NODES - 1)
        Jc = share * np.diag([0.3, 0.05, 0.3])  # a strip about 1.9 m wide
        r, Pi = np.array([PANEL_LENGTH_M * s, 0.0, 0.0]), _panel_shapes(s)
        nodes.append(Node(f"n{k}", r, share if k else 0.0, np.zeros(3), Jc if k else 0 * Jc, Pi))
    return Body(name, tuple(nodes), *_modal_matrices(nodes, 0.2, 3.0))


def _panel_shapes(s: float) -> Array:
    """Return slope and displacement at fraction s of the span: 4 out of plane, 1 twist, 1 in."""
    Pi = np.zeros((6, PANEL_MODES))
    for mode in range(4):
        wave = (2 * mode + 1) * np.pi / 2
        Pi[5, mode] = 1 - np.cos(wave * s)
        Pi[1, mode] = -wave / PANEL_LENGTH_M * np.sin(wave * s)
    Pi[0, 4] = np.sin(np.pi / 2 * s)
    Pi[4, 5] = 1 - np.cos(np.pi / 2 * s)
    Pi[2, 5] = np.pi / (2 * PANEL_LENGTH_M) * np.sin(np.pi / 2 * s)
    return Pi


def draw_tree_state(tree: Tree, seed: int = 3) -> State:
    """Draw a state of any tree: small modal coordinates, unit quaternions."""
    rng = np.random.default_rng(seed)
    q: list[Array] = []
    n_speeds = 0
    for body, joint in zip(tree.bodies, tree.joints, strict=True):
        q.append(0.01 * rng.uniform(-1, 1, body.n_modes))
        if joint.kind == "free":
            attitude = rng.normal(size=4)
            q.append(attitude / np.linalg.norm(attitude))
            q.append(rng.uniform(-1, 1, 3))
        else:
            q.append(rng.uniform(-1, 1, joint.n_coords))
        n_speeds += body.n_modes + joint.n_speeds
    u, tau = rng.uniform(-0.5, 0.5, n_speeds), rng.uniform(-1, 1, n_speeds)
    return State(np.concatenate(q), u, tau)
