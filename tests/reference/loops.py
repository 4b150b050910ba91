"""The twin with closures and prescribed accelerations, by dense algebra.

A closure's velocity S^T [w; v] comes from the complex-step change of the poses of A and B, so its
Jacobian shares no recursion with the kernels. The accelerations solve the saddle-point (KKT)
system of the free speeds in one dense least-squares solve, whose smallest solution also serves
redundant closures: the accelerations are unique, and of all multipliers the smallest are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from darts_py.multibody.tree import GROUND, Closure
from tests.reference.kinematics import rate_of, shift, turned, world_rates
from tests.reference.poses import (
    COMPLEX_STEP,
    Array,
    cross_matrix,
    frame,
    inverse,
    node_pose,
)
from tests.reference.twin import Forces, Twin

RANK = 1e-10  # of the KKT matrix, scaled to unit rows: below it a closure is redundant


@dataclass(frozen=True)
class Answer:
    """Accelerations, the generalized forces that act, and the closures' multipliers."""

    udot: Array
    tau: Array
    multipliers: Array


class LoopTwin(Twin):
    """Brute-force dynamics of one tree with its closures."""

    # -- kinematics of closures -----------------------------------------------------------------

    def side_pose(self, closure: Closure, side: str, x: Array, bodies: list[Array]) -> Array:
        """Return the world pose of frame A or B, with all deformation in x."""
        body, node = getattr(closure, f"body_{side}"), getattr(closure, f"node_{side}")
        own = frame(getattr(closure, f"R_{side}"), getattr(closure, f"o_{side}"))
        if body == GROUND:
            return np.broadcast_to(own, (*x.shape[:-1], 4, 4)).astype(x.dtype)
        at_node = node_pose(self.tree.bodies[body], node, x[..., self.eta[body]])
        return bodies[body] @ at_node @ own

    def relative_poses(self, x: Array) -> list[Array]:
        """Return the pose of A in B of every closure."""
        bodies = self.body_poses(x)
        return [
            inverse(self.side_pose(closure, "b", x, bodies))
            @ self.side_pose(closure, "a", x, bodies)
            for closure in self.tree.closures
        ]

    def _rates(self, x: Array) -> Array:
        """Return S^T [w; v] of all closures for poses whose imaginary part is their change.

        v is the velocity of A's origin as seen from B, v_a - v_b - w_b x d with d from B to A.
        The frozen geometry holds the origins apart by the deformation it does not show.
        """
        bodies, out = self.body_poses(x), []
        for closure in self.tree.closures:
            A, B = (self.side_pose(closure, side, x, bodies) for side in "ab")
            V_a, V_b = world_rates(A), world_rates(B)
            d = (A[..., :3, 3] - B[..., :3, 3]).real
            v = V_a[..., 3:] - V_b[..., 3:] - np.cross(V_b[..., :3], d)
            R = B[..., :3, :3].real
            pair = [np.einsum("...ji,...j->...i", R, y) for y in (V_a[..., :3] - V_b[..., :3], v)]
            out.append(np.concatenate(pair, -1) @ closure.S)
        return np.concatenate(out, -1) if out else np.zeros((*x.shape[:-1], 0))

    def closure_jacobian(self, q: Array) -> Array:
        """Return Jc (r, n_speeds) at the geometry that both linearisations freeze."""
        x = self.rest(q)
        columns = self._rates(x + 1j * COMPLEX_STEP * np.eye(self.n_coords))
        return columns.T @ self.coordinate_rates(x)

    def closure_error(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Return S^T [rotation; position] of the deformed poses, and Jc u."""
        out = []
        for closure, G in zip(self.tree.closures, self.relative_poses(q), strict=True):
            out.append(closure.S.T @ np.r_[turn_error(closure, G[:3, :3]), G[:3, 3]])
        return np.concatenate(out) if out else np.zeros(0), self.closure_jacobian(q) @ u

    # -- closure accelerations at udot = 0 ------------------------------------------------------

    def closure_bias(self, q: Array, u: Array, terms: str) -> Array:
        """Return gamma: Jc udot + gamma = 0."""
        if terms == "crl":
            rates = [
                self._rates(x + 1j * COMPLEX_STEP * (self.coordinate_rates(x) @ u))
                for x in self.along_motion(q, u)
            ]
            return rate_of(np.stack(rates))
        motions = self._rl_motions(q, u)
        return np.concatenate(
            [self._rl_bias(closure, motions) for closure in self.tree.closures] or [np.zeros(0)]
        )

    def _rl_motions(self, q: Array, u: Array) -> Mapping[tuple[str, str], tuple[Array, ...]]:
        """Return position, axes, velocity, RL acceleration and body rate of each side, world."""
        x = self.rest(q)
        bodies = self.body_poses(x)
        _, J = self.jacobians(q)
        V = J @ u
        acceleration, spin = self.chain_accelerations(q, u)
        out = {}
        for closure in self.tree.closures:
            for side in ("a", "b"):
                G = self.side_pose(closure, side, x, bodies)
                body, node = getattr(closure, f"body_{side}"), getattr(closure, f"node_{side}")
                motion = (G[:3, 3], G[:3, :3], np.zeros(6), np.zeros(6), np.zeros(3))
                if body != GROUND:
                    n = next(
                        k for k, key in enumerate(self.keys) if (key.body, key.node) == (body, node)
                    )
                    arm = bodies[body][:3, :3] @ getattr(closure, f"o_{side}")
                    w = spin[n]
                    A = shift(arm) @ acceleration[n]
                    A[3:] += np.cross(w, np.cross(w, arm))  # the arm is carried by its body
                    motion = (G[:3, 3], G[:3, :3], shift(arm) @ V[n], A, w)
                out[closure.name, side] = motion
        return out

    @staticmethod
    def _rl_bias(closure: Closure, motions: Mapping) -> Array:
        """Differentiate S^T R_B^T [w_a - w_b; v_a - v_b - w_b x d], B carried by its body."""
        r_a, _, V_a, A_a, _ = motions[closure.name, "a"]
        r_b, R_b, V_b, A_b, w = motions[closure.name, "b"]
        V, A, d = V_a - V_b, A_a - A_b, r_a - r_b
        turn = A[:3] - np.cross(w, V[:3])
        slide = A[3:] - np.cross(A_b[:3], d) - np.cross(V_b[:3], V[3:])
        slide -= np.cross(w, V[3:] - np.cross(V_b[:3], d))
        return closure.S.T @ turned(R_b.T, np.r_[turn, slide])

    # -- dynamics -------------------------------------------------------------------------------

    def solve(
        self,
        q: Array,
        u: Array,
        tau: Array,
        prescribed: Mapping[int, float] | None = None,
        forces: Forces = None,
        terms: str = "rl",
    ) -> Answer:
        """Return what satisfies M udot + C = tau + Jc^T multipliers and Jc udot + gamma = 0.

        tau at prescribed speeds is replaced by what they need; locked joints do not move.
        """
        M, C = self.mass_matrix(q), self.bias_force(q, u, forces, terms)
        Jc, gamma = self.closure_jacobian(q), self.closure_bias(q, u, terms)
        given = np.array(sorted(prescribed or {}), int)
        udot = np.zeros(self.n_speeds)
        udot[given] = [(prescribed or {})[k] for k in given]
        free = self.free_speeds()
        free[given] = False
        n, r = int(free.sum()), len(gamma)
        kkt = np.zeros((n + r, n + r))
        kkt[:n, :n], kkt[:n, n:], kkt[n:, :n] = M[np.ix_(free, free)], -Jc[:, free].T, Jc[:, free]
        right = np.r_[(tau - C - M @ udot)[free], -gamma - Jc @ udot]
        solution = least_squares(kkt, right) if r else np.linalg.solve(kkt, right)
        udot[free], multipliers = solution[:n], solution[n:]
        tau = np.array(tau, float)
        tau[given] = (M @ udot + C - Jc.T @ multipliers)[given]
        return Answer(udot, tau, multipliers)

    def closure_loads(self, multipliers: Array) -> dict[str, Array]:
        """Return the wrench on body A about A's origin, B axes, by closure."""
        out, first = {}, 0
        for closure in self.tree.closures:
            last = first + closure.S.shape[1]
            out[closure.name] = closure.S @ multipliers[first:last]
            first = last
        return out

    def closure_forces(self, q: Array, multipliers: Array) -> dict[str, Array]:
        """Return the closures' wrenches as forces on nodes, about the node, body axes.

        The wrench acts at A's origin on A, and on B as if attached to it, with opposite sign.
        """
        x = self.rest(q)
        bodies = self.body_poses(x)
        out: dict[str, Array] = {}
        for closure in self.tree.closures:
            wrench = self.closure_loads(multipliers)[closure.name]
            A = self.side_pose(closure, "a", x, bodies)
            B = self.side_pose(closure, "b", x, bodies)
            for side, sign in (("a", 1.0), ("b", -1.0)):
                body, node = getattr(closure, f"body_{side}"), getattr(closure, f"node_{side}")
                if body == GROUND:
                    continue
                at_node = bodies[body] @ node_pose(self.tree.bodies[body], node, x[self.eta[body]])
                load = shift(A[:3, 3] - at_node[:3, 3]).T @ turned(B[:3, :3], sign * wrench)
                name = f"{self.tree.bodies[body].name}.{self.tree.bodies[body].nodes[node].name}"
                load = turned(at_node[:3, :3].T, load)
                out[name] = out.get(name, np.zeros(6)) + load
        return out


def turn_error(closure: Closure, R: Array) -> Array:
    """Return the rotation of A against B that counts as an error or as a coordinate.

    All rotations held: the rotation vector. About one axis free: the shortest turn of the axis
    out of its place, plus the angle about it. None held: zero.
    """
    turns = closure.S[:3, np.all(closure.S[3:] == 0.0, axis=0)]
    if turns.shape[1] == 3:
        return Rotation.from_matrix(R).as_rotvec()
    if turns.shape[1] == 2:
        h = np.cross(*turns.T)
        across = np.cross(h, R @ h)
        sine = np.linalg.norm(across)
        tilt = across * (np.arctan2(sine, h @ R @ h) / sine if sine > 0.0 else 1.0)
        untilted = Rotation.from_rotvec(-tilt).as_matrix() @ R
        return tilt + h * (h @ Rotation.from_matrix(untilted).as_rotvec())
    return np.zeros(3)


def least_squares(A: Array, b: Array) -> Array:
    """Return the smallest solution of A x = b, one rounding refined."""
    U, s, Vt = np.linalg.svd(A)
    kept = s > RANK * s[0]
    pseudo = (Vt[kept].T / s[kept]) @ U[:, kept].T
    x = pseudo @ b
    return x + pseudo @ (b - A @ x)


def merged(*forces: Mapping[str, Array] | None) -> dict[str, Array]:
    """Return the sum of several sets of node forces."""
    out: dict[str, Array] = {}
    for part in forces:
        for name, load in (part or {}).items():
            out[name] = out.get(name, np.zeros(6)) + np.asarray(load, float)
    return out


def moved_load(load: Array, arm: Array, R: Array) -> Array:
    """Return a load [moment; force] about the point at `arm`, in axes R (to the old axes)."""
    n = load[:3] - cross_matrix(arm) @ load[3:]
    return np.r_[R.T @ n, R.T @ load[3:]]
