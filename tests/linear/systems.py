"""Small systems with closed solutions."""

from __future__ import annotations

import numpy as np

from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND, Body, Joint, Node, Tree

Array = np.ndarray
X, Y, Z = np.eye(3)


def lump(name: str, m: float, inertia: Array, centre: Array | None = None) -> Body:
    """Return a rigid body: a frame node without mass, one node with all of it."""
    r = np.zeros(3) if centre is None else np.asarray(centre, float)
    mass = Node("mass", r=r, m=m, Jc=np.diag(np.asarray(inertia, float)))
    return Body(name, (Node("frame"), mass))


def pendulum(m: float, length: float, g: float, **joint: Array) -> Spacecraft:
    """Return a point mass on a massless rod that swings about y under gravity along -z."""
    bob = lump("bob", m, np.zeros(3), -length * Z)
    hinge = Joint("hinge", "revolute", jt.revolute(Y), **joint)
    return Spacecraft(Tree("pendulum", (bob,), (hinge,), gravity=-g * Z))


def free_body(inertia: Array, m: float = 3.0) -> Spacecraft:
    """Return a free rigid body."""
    joint = Joint("base", "free", jt.free())
    return Spacecraft(Tree("body", (lump("body", m, inertia),), (joint,)))


def chain(n: int, m: float, k: float, c: float, *, held: bool) -> Spacecraft:
    """Return n equal masses on a line, springs between neighbours, the first held or not."""
    bodies = [lump(f"m{i}", m, np.full(3, 0.1)) for i in range(n)]
    joints = [
        Joint(
            f"s{i}",
            "prismatic",
            jt.prismatic(X),
            parent=i - 1 if i else GROUND,
            stiffness=np.array([k if i or held else 0.0]),
            damping=np.array([c if i or held else 0.0]),
        )
        for i in range(n)
    ]
    return Spacecraft(Tree("chain", tuple(bodies), tuple(joints)))
