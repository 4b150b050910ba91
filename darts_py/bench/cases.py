"""The rigid benchmark systems: one table of links from which every engine is built.

Chains of revolute joints and a 20-DOF satellite (free base, two 2-joint arrays, a 6-joint arm,
4 wheels), drawn from fixed seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darts_py.multibody import joint_types
from darts_py.multibody.tree import GROUND, Array, Body, Joint, Node, Tree

FREE = 3  # Link.joint: 0, 1, 2 turn about x, y, z; 3 moves freely
CHAIN_LENGTHS = (6, 10, 20, 50, 100)


@dataclass(frozen=True)
class Link:
    """A rigid body and its inboard joint; the joint's outboard frame is the body frame."""

    parent: int
    joint: int
    R: Array  # joint axes to parent axes             (3, 3)
    p: Array  # parent origin to joint, parent axes   (3,)
    m: float
    c: Array  # mass centre, body axes                (3,)
    Jc: Array  # inertia about it                     (3, 3)

    @property
    def n_speeds(self) -> int:
        """Number of speeds of the joint."""
        return 6 if self.joint == FREE else 1


@dataclass(frozen=True)
class State:
    """Coordinates, speeds and generalized forces, in the order of `darts_py`."""

    q: Array
    u: Array
    tau: Array


@dataclass(frozen=True)
class Case:
    """A rigid system at a state."""

    name: str
    links: tuple[Link, ...]
    state: State

    @property
    def n_dofs(self) -> int:
        """Number of speeds."""
        return sum(link.n_speeds for link in self.links)


def rigid_cases() -> list[Case]:
    """Return every rigid case of the benchmark."""
    cases = [(f"chain {n}", chain(n)) for n in CHAIN_LENGTHS]
    cases.append(("satellite 20", satellite()))
    return [Case(name, links, draw_state(links)) for name, links in cases]


def chain(n_links: int, seed: int = 1) -> tuple[Link, ...]:
    """Draw a chain whose axes go x, y, z, x, ..."""
    rng = np.random.default_rng(seed)
    links = []
    for i in range(n_links):
        m, c, Jc = draw_inertia(rng)
        links.append(Link(i - 1, i % 3, draw_rotation(rng), rng.uniform(-0.3, 0.3, 3), m, c, Jc))
    return tuple(links)


def satellite(seed: int = 2) -> tuple[Link, ...]:
    """Draw the 20-DOF satellite: links 2 and 4 are the outer array panels."""
    rng = np.random.default_rng(seed)
    links = [Link(GROUND, FREE, np.eye(3), np.zeros(3), *draw_inertia(rng, 500.0, 0.05))]

    def add(parent: int, joint: int, scale: float, is_wheel: bool = False) -> int:
        m, c, Jc = draw_inertia(rng, scale)
        if is_wheel:
            c, Jc = np.zeros(3), m * np.diag([0.01, 0.01, 0.02])
        R, p = draw_rotation(rng), rng.uniform(-0.8, 0.8, 3)
        links.append(Link(parent, joint, R, p, m, c, Jc))
        return len(links) - 1

    for _ in range(2):
        yoke = add(0, 0, 5.0)
        add(yoke, 1, 20.0)
    tip = 0
    for k in range(6):
        tip = add(tip, k % 3, 8.0)
    for _ in range(4):
        add(0, 2, 3.0, is_wheel=True)
    return tuple(links)


def draw_inertia(
    rng: np.random.Generator, scale: float = 1.0, offset: float = 0.1
) -> tuple[float, Array, Array]:
    """Draw mass, mass centre and central inertia that a real body could have."""
    m = scale * rng.uniform(0.5, 2.0)
    R = draw_rotation(rng)
    principal = 0.05 * m * rng.uniform(0.5, 1.0, 3)  # no moment exceeds the sum of the others
    return m, offset * rng.uniform(-1, 1, 3), R @ np.diag(principal) @ R.T


def draw_rotation(rng: np.random.Generator) -> Array:
    """Draw a rotation matrix, uniform over all orientations."""
    q = rng.normal(size=4)
    return rotation_matrix(q / np.linalg.norm(q))


def rotation_matrix(q: Array) -> Array:
    """Return R(q) of a unit quaternion, scalar first: body components to reference ones."""
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def draw_state(links: tuple[Link, ...], seed: int = 3) -> State:
    """Draw coordinates, speeds and forces; a free base has quaternion, then position."""
    rng = np.random.default_rng(seed)
    n, is_free = sum(link.n_speeds for link in links), links[0].joint == FREE
    q = rng.uniform(-1, 1, n + is_free)
    if is_free:
        x, y, z, w = rng.normal(size=4)
        attitude = np.array([w, x, y, z])
        q[:7] = np.concatenate([attitude / np.linalg.norm(attitude), q[:3]])
    return State(q, rng.uniform(-0.5, 0.5, n), rng.uniform(-1, 1, n))


def make_tree(name: str, links: tuple[Link, ...]) -> Tree:
    """Describe the links to darts_py."""
    return Tree(
        name,
        tuple(make_body(k, link) for k, link in enumerate(links)),
        tuple(make_joint(k, link) for k, link in enumerate(links)),
    )


def make_body(k: int, link: Link) -> Body:
    """Put the link's mass on one node at the body's origin."""
    return Body(f"b{k}", (Node("origin", np.zeros(3), link.m, link.c, link.Jc),))


def make_joint(k: int, link: Link) -> Joint:
    """Hinge the link on its parent's node 0."""
    if link.joint == FREE:
        kind, stages = "free", joint_types.free()
    else:
        kind, stages = "revolute", joint_types.revolute(np.eye(3)[link.joint])
    return Joint(f"j{k}", kind, stages, parent=link.parent, o_t=link.p, R_pO=link.R)
