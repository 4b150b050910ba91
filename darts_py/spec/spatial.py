"""Spatial matrices in plain NumPy for checks at load time, and mass properties of a tree.

The kernels of `multibody` do the same per step; here nothing is compiled, so that checking and
showing a model start at once. Symbols and section numbers are those of the equation sheet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from darts_py.multibody.tree import GROUND, Array, Body, Distributed, Joint, Node, Tree


def cross(a: Array) -> Array:
    """Return the matrix of the cross product a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def shift(l: Array) -> Array:
    """Return S(l), which moves a velocity by the lever arm l."""
    S = np.eye(6)
    S[3:, :3] = -cross(l)
    return S


def rotate(R: Array) -> Array:
    """Return blkdiag(R, R)."""
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R
    return X


def node_inertia(node: Node) -> Array:
    """Return the spatial inertia of a node's lumped mass about the node."""
    S = shift(node.p)
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = node.Jc, node.m * np.eye(3)
    return S.T @ M @ S


def modal_mass(nodes: Iterable[Node]) -> Array:
    """Return Mm, modes first, about the body frame's origin (section 5)."""
    return np.sum([_node_share(node) for node in nodes], axis=0)


def body_mass(nodes: Iterable[Node], spread: Distributed | None) -> Array:
    """Return Mm of lumped and distributed mass together."""
    Mm = modal_mass(nodes)
    if spread is not None:
        Mm = Mm + np.block([[spread.Mff, spread.Mfr], [spread.Mfr.T, spread.Mrr]])
    return Mm


def _node_share(node: Node) -> Array:
    Q = np.hstack([node.Pi, shift(node.r)])
    return Q.T @ node_inertia(node) @ Q


@dataclass(frozen=True)
class Pose:
    """Where a body is: its axes and origin in world axes."""

    R: Array  # body to world   (3, 3)
    o: Array  # origin, m       (3,)

    def then(self, step: Pose) -> Pose:
        """Return the pose reached from here by a step written in this pose's axes."""
        return Pose(self.R @ step.R, self.o + self.R @ step.o)


def relative_pose(joint: Joint, parent: Body | None, body: Body) -> Pose:
    """Return the child's pose in the parent's frame with the joint at its neutral position."""
    A = joint.R_pO @ joint.R_iO.T
    r_t = parent.nodes[joint.parent_node].r if parent else np.zeros(3)
    return Pose(A, r_t + joint.o_t - A @ (body.nodes[joint.child_node].r + joint.o_d))


def neutral_poses(tree: Tree) -> list[Pose]:
    """Return every body's pose with all joints neutral and all modes at rest."""
    poses: dict[int, Pose] = {GROUND: Pose(np.eye(3), np.zeros(3))}

    def pose(i: int) -> Pose:
        chain: list[int] = []
        while i not in poses:  # a chain may be longer than Python's stack
            chain.append(i)
            i = tree.joints[i].parent
        for k in reversed(chain):
            joint = tree.joints[k]
            parent = tree.bodies[joint.parent] if joint.parent != GROUND else None
            step = relative_pose(joint, parent, tree.bodies[k])
            poses[k] = poses[joint.parent].then(step)
            i = k
        return poses[i]

    return [pose(i) for i in range(len(tree.bodies))]


@dataclass(frozen=True)
class MassProperties:
    """Mass properties in world axes."""

    mass_kg: float
    center_of_mass_m: Array  # (3,)
    inertia_kg_m2: Array  # about the centre of mass   (3, 3)


def mass_properties(tree: Tree) -> MassProperties:
    """Return mass, mass centre and inertia of a tree in its neutral configuration."""
    total = np.zeros((6, 6))
    for body, pose in zip(tree.bodies, neutral_poses(tree), strict=True):
        Mrr = body_mass(body.nodes, body.distributed)[-6:, -6:]
        X = rotate(pose.R.T) @ shift(pose.o)  # world origin to body frame
        total += X.T @ Mrr @ X
    mass = float(total[3, 3])
    mc = np.array([total[2, 4], total[0, 5], total[1, 3]])  # from the block ~mc
    c = mc / mass if mass > 0.0 else np.zeros(3)
    return MassProperties(mass, c, total[:3, :3] + mass * cross(c) @ cross(c))
