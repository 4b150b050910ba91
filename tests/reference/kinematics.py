"""Poses of a deformed tree, and node Jacobians by complex step.

The one source is `G_i = G_p D_t(eta_p) O_t J(q) O_d^-1 D_d(eta_i)^-1`, multiplied out from the
ground to each body separately.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from darts_py.multibody.tree import GROUND, Node, Tree
from tests.reference.poses import (
    COMPLEX_STEP,
    Array,
    body_twist,
    cross_matrix,
    frame,
    inverse,
    joint_pose,
    joint_rates,
    node_pose,
    vee,
)

# Eighth-order central difference. Step 4e-3 s at rates of some rad/s: truncation and rounding
# are both near 1e-13 relative.
STENCIL = np.array([-4, -3, -2, -1, 1, 2, 3, 4])
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEP = 4e-3


def rate_of(samples: Array) -> Array:
    """Return the time derivative at 0 of a function sampled on the stencil (first axis)."""
    return np.tensordot(WEIGHTS, samples, 1) / STEP


def shift(r: Array) -> Array:
    """Return S(r): moves a velocity by r."""
    out = np.eye(6)
    out[3:, :3] = -cross_matrix(r)
    return out


def turned(R: Array, vector: Array) -> Array:
    """Rotate the two halves of a 6-vector."""
    return np.concatenate([R @ vector[:3], R @ vector[3:]])


def world_rates(G: Array) -> Array:
    """Return [w; v] in world axes of poses whose imaginary part is their change."""
    change = G.imag / COMPLEX_STEP
    spin = vee(change[..., :3, :3] @ np.swapaxes(G[..., :3, :3].real, -1, -2))
    return np.concatenate([spin, change[..., :3, 3]], -1)


@dataclass(frozen=True)
class NodeKey:
    """Which node of which body."""

    body: int
    node: int
    data: Node


class Kinematics:
    """Poses and Jacobians of one tree. `q` and `u` are in the order of the public API."""

    def __init__(self, tree: Tree) -> None:
        """Lay out coordinates and speeds: bodies in file order, modes then joint."""
        self.tree = tree
        self.keys = [
            NodeKey(i, j, node)
            for i, body in enumerate(tree.bodies)
            for j, node in enumerate(body.nodes)
        ]
        self.eta, self.joint_q, self.etad, self.beta = [], [], [], []
        nq = nu = 0
        for body, joint in zip(tree.bodies, tree.joints, strict=True):
            nm = body.n_modes
            self.eta.append(slice(nq, nq + nm))
            self.etad.append(slice(nu, nu + nm))
            nq, nu = nq + nm, nu + nm
            self.joint_q.append(slice(nq, nq + joint.n_coords))
            self.beta.append(slice(nu, nu + joint.n_speeds))
            nq, nu = nq + joint.n_coords, nu + joint.n_speeds
        self.n_coords, self.n_speeds = nq, nu

    def path(self, i: int) -> list[int]:
        """Return the bodies from the root to body i."""
        out = []
        while i != GROUND:
            out.append(i)
            i = self.tree.joints[i].parent
        return out[::-1]

    def link(self, i: int, x: Array) -> Array:
        """Return the pose of F_i in its parent's frame, with all deformation."""
        joint, body = self.tree.joints[i], self.tree.bodies[i]
        G = frame(joint.R_pO, joint.o_t)
        if joint.parent != GROUND:
            parent = self.tree.bodies[joint.parent]
            G = node_pose(parent, joint.parent_node, x[..., self.eta[joint.parent]]) @ G
        outboard = node_pose(body, joint.child_node, x[..., self.eta[i]])
        outboard = outboard @ frame(joint.R_iO, joint.o_d)
        return G @ joint_pose(joint, x[..., self.joint_q[i]]) @ inverse(outboard)

    def body_poses(self, x: Array) -> list[Array]:
        """Return the world poses of all bodies."""
        links = [self.link(i, x) for i in range(len(self.tree.bodies))]
        out = []
        for i in range(len(links)):
            G = np.eye(4)
            for k in self.path(i):
                G = G @ links[k]
            out.append(G)
        return out

    def node_poses(self, x: Array) -> Array:
        """Return the world poses of all nodes, first axis in the order of `keys`."""
        bodies = self.body_poses(x)
        return np.stack(
            [
                bodies[key.body]
                @ node_pose(self.tree.bodies[key.body], key.node, x[..., self.eta[key.body]])
                for key in self.keys
            ]
        )

    def rest(self, q: Array) -> Array:
        """Return q with the modes at zero: the geometry both linearisations freeze."""
        out = np.array(q, float)
        for modes in self.eta:
            out[modes] = 0.0
        return out

    def coordinate_rates(self, q: Array) -> Array:
        """Return the matrix that turns speeds u into coordinate rates."""
        out = np.zeros((self.n_coords, self.n_speeds))
        for i, joint in enumerate(self.tree.joints):
            out[self.eta[i], self.etad[i]] = np.eye(self.tree.bodies[i].n_modes)
            out[self.joint_q[i], self.beta[i]] = joint_rates(joint, q[self.joint_q[i]])
        return out

    def jacobians(self, q: Array) -> tuple[Array, Array]:
        """Return node poses (n, 4, 4) and node Jacobians (n, 6, n_speeds), world axes."""
        x = self.rest(q)
        G = self.node_poses(x + 1j * COMPLEX_STEP * np.eye(self.n_coords))
        poses, J = G[:, 0].real, world_rates(G)
        return poses, np.swapaxes(J, 1, 2) @ self.coordinate_rates(x)

    def body_velocities(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Return world poses of the bodies and their velocities [w; v of the F origin], world."""
        x = self.rest(q)
        G = np.stack(self.body_poses(x + 1j * COMPLEX_STEP * (self.coordinate_rates(x) @ u)))
        return G.real, world_rates(G)

    def along_motion(self, q: Array, u: Array) -> Iterator[Array]:
        """Yield joint configurations on the time stencil; the modes stay at zero."""
        x = self.rest(q)
        xdot = self.rest(self.coordinate_rates(x) @ u)
        for k in STENCIL:
            yield x + k * STEP * xdot

    def link_samples(self, i: int, q: Array, u: Array) -> Iterator[tuple[float, Array, Array]]:
        """Yield time, joint pose and joint velocity [w; v] in O axes on the stencil."""
        joint, beta = self.tree.joints[i], u[self.beta[i]]
        x0 = q[self.joint_q[i]]
        xdot = joint_rates(joint, x0) @ beta
        for k in STENCIL:
            x = x0 + k * STEP * xdot
            moving = joint_pose(joint, x + 1j * COMPLEX_STEP * (joint_rates(joint, x) @ beta))
            yield k * STEP, moving.real, body_twist(moving)

    def index(self, name: str) -> int:
        """Return the place of `body.node` in `keys`."""
        names = [f"{self.tree.bodies[key.body].name}.{key.data.name}" for key in self.keys]
        return names.index(name)
