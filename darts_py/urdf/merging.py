"""Links on fixed joints added to the link that carries them, as other tools do at the import.

The motion is the same. A link whose own inertia is impossible may be part of an assembly whose
inertia is not: then the assembly can be simulated as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from darts_py.urdf.robot import Inertial, Link, Origin, Robot, RobotJoint
from darts_py.urdf.topology import Topology


def merge_fixed(robot: Robot, topology: Topology) -> Robot:
    """Move the mass of every link on a fixed joint to its parent; it stays as a massless frame."""
    links = dict(robot.links)
    for name in reversed(topology.outward(robot)):
        joint, moved = topology.inboard.get(name), links[name].inertial
        if joint is None or joint.kind != "fixed" or moved is None:
            continue
        links[joint.parent] = _with(links[joint.parent], _in_parent(moved, joint))
        links[name] = replace(links[name], inertial=None)
    return replace(robot, links=links)


def _in_parent(inertial: Inertial, joint: RobotJoint) -> Inertial:
    R = joint.origin.R
    centre = joint.origin.xyz + R @ inertial.origin.xyz
    return replace(inertial, tensor=R @ inertial.tensor_in_link @ R.T, origin=Origin(centre))


def _with(link: Link, extra: Inertial) -> Link:
    """Add mass to a link, both about their common mass centre (parallel-axis theorem)."""
    own = link.inertial
    if own is None:
        return replace(link, inertial=replace(extra, line=link.line))
    mass = own.mass + extra.mass
    parts = (own, extra)
    moment = own.mass * own.origin.xyz + extra.mass * extra.origin.xyz
    centre = moment / mass if mass > 0.0 else own.origin.xyz
    tensor = np.zeros((3, 3))
    for part in parts:
        d = part.origin.xyz - centre
        tensor += part.tensor_in_link + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return replace(link, inertial=Inertial(mass, tensor, Origin(centre), own.line))
