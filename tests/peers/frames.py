"""A rigid `Tree` seen the way other simulators see it: link frames at the hinges, O to O+."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darts_py.multibody.tree import GROUND, Body, Tree

Array = np.ndarray


@dataclass(frozen=True)
class Pose:
    """Axes and origin of one frame in another."""

    R: Array
    r: Array

    def __matmul__(self, other: Pose) -> Pose:
        """Chain two poses."""
        return Pose(self.R @ other.R, self.r + self.R @ other.r)

    def inverse(self) -> Pose:
        """Return the pose seen the other way round."""
        return Pose(self.R.T, -self.R.T @ self.r)


IDENTITY = Pose(np.eye(3), np.zeros(3))


def outboard(tree: Tree, i: int) -> Pose:
    """Return hinge frame O of body i in its frame F."""
    joint = tree.joints[i]
    return Pose(joint.R_iO, tree.bodies[i].nodes[joint.child_node].r + joint.o_d)


def inboard(tree: Tree, i: int) -> Pose:
    """Return O+ of body i in its parent's hinge frame O (in the world for a root)."""
    joint = tree.joints[i]
    if joint.parent == GROUND:
        return Pose(joint.R_pO, joint.o_t)
    r = tree.bodies[joint.parent].nodes[joint.parent_node].r + joint.o_t
    return outboard(tree, joint.parent).inverse() @ Pose(joint.R_pO, r)


def mass_properties(body: Body, frame: Pose) -> tuple[float, Array, Array]:
    """Return mass, mass centre and central inertia of a rigid body in a frame given in F."""
    m = sum(node.m for node in body.nodes)
    centre = sum(node.m * (node.r + node.p) for node in body.nodes) / m
    inertia = np.zeros((3, 3))
    for node in body.nodes:
        d = node.r + node.p - centre
        inertia += node.Jc + node.m * (d @ d * np.eye(3) - np.outer(d, d))
    return m, frame.R.T @ (centre - frame.r), frame.R.T @ inertia @ frame.R


def depth_first(tree: Tree) -> list[int]:
    """Return the bodies so that every subtree is contiguous."""
    children: dict[int, list[int]] = {}
    for i, joint in enumerate(tree.joints):
        children.setdefault(joint.parent, []).append(i)
    out, stack = [], children.get(GROUND, [])[::-1]
    while stack:
        i = stack.pop()
        out.append(i)
        stack.extend(children.get(i, [])[::-1])
    return out


def slices(tree: Tree) -> tuple[list[slice], list[slice]]:
    """Return where each body's coordinates and speeds are (rigid bodies)."""
    coords, speeds, nq, nu = [], [], 0, 0
    for joint in tree.joints:
        coords.append(slice(nq, nq + joint.n_coords))
        speeds.append(slice(nu, nu + joint.n_speeds))
        nq, nu = nq + joint.n_coords, nu + joint.n_speeds
    return coords, speeds


def quaternion_rotation(q: Array) -> Array:
    """Return R(q), scalar first."""
    w, v = q[0], q[1:]
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def plane_rotation(angle: float) -> Array:
    """Return the 2x2 rotation."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])
