"""Poses as products of 4x4 matrix exponentials, safe for complex-step differentiation.

Every function takes coordinates with any number of leading batch axes. Derivatives are read
off the pose itself: no joint map, no closed-form rate is used anywhere in the twin.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from darts_py.multibody.tree import Body, Joint, Stage

Array = np.ndarray

COMPLEX_STEP = 1e-40  # far below rounding: a complex step has no subtraction error


def cross_matrix(a: Array) -> Array:
    """Return ~a with ~a b = a x b."""
    out = np.zeros((*a.shape[:-1], 3, 3), a.dtype)
    out[..., 0, 1], out[..., 0, 2] = -a[..., 2], a[..., 1]
    out[..., 1, 0], out[..., 1, 2] = a[..., 2], -a[..., 0]
    out[..., 2, 0], out[..., 2, 1] = -a[..., 1], a[..., 0]
    return out


def vee(A: Array) -> Array:
    """Return the vector of the skew part of A."""
    return 0.5 * np.stack(
        [
            A[..., 2, 1] - A[..., 1, 2],
            A[..., 0, 2] - A[..., 2, 0],
            A[..., 1, 0] - A[..., 0, 1],
        ],
        -1,
    )


def twist_exponential(twist: Array) -> Array:
    """Return exp of the 4x4 matrix of a twist [w; v]."""
    matrix = np.zeros((*twist.shape[:-1], 4, 4), twist.dtype)
    matrix[..., :3, :3] = cross_matrix(twist[..., :3])
    matrix[..., :3, 3] = twist[..., 3:]
    return expm(matrix)


def frame(R: Array, r: Array) -> Array:
    """Return the 4x4 pose with axes R and origin r."""
    batch = np.broadcast_shapes(R.shape[:-2], r.shape[:-1])
    out = np.zeros((*batch, 4, 4), np.result_type(R, r))
    out[..., :3, :3], out[..., :3, 3], out[..., 3, 3] = R, r, 1.0
    return out


def inverse(G: Array) -> Array:
    """Invert a pose."""
    R_t = np.swapaxes(G[..., :3, :3], -1, -2)
    return frame(R_t, -np.einsum("...ij,...j->...i", R_t, G[..., :3, 3]))


def rotation(quaternion: Array) -> Array:
    """Return the rotation of a quaternion (w, x, y, z) of any length, as a sandwich product."""
    q = quaternion / np.sqrt(np.sum(quaternion**2, -1, keepdims=True))
    w, x, y, z = (q[..., k] for k in range(4))
    left = np.stack([w, -x, -y, -z, x, w, -z, y, y, z, w, -x, z, -y, x, w], -1)
    right = np.stack([w, x, y, z, -x, w, -z, y, -y, z, w, -x, -z, -y, x, w], -1)
    shape = (*q.shape[:-1], 4, 4)
    return (left.reshape(shape) @ right.reshape(shape))[..., 1:, 1:]


def pivot(H: Array) -> Array:
    """Return the fixed point of a ball joint's map: its velocities are H_v = ~c H_w."""
    rows = np.concatenate([-cross_matrix(H[:3, k]) for k in range(3)])
    return np.linalg.lstsq(rows, H[3:].T.ravel(), rcond=None)[0]


def stage_pose(stage: Stage, q: Array) -> Array:
    """Return the pose of a stage's outboard frame in its inboard frame."""
    if stage.kind == "ball":
        c = pivot(stage.H)
        return frame(np.eye(3), c) @ frame(rotation(q), np.zeros(3)) @ frame(np.eye(3), -c)
    if stage.kind == "free":
        return frame(rotation(q[..., :4]), q[..., 4:])
    columns = range(stage.n_speeds)
    if stage.kind == "map":  # column 1 next to the child
        columns = reversed(columns)
    G = np.eye(4)
    for k in columns:
        G = G @ twist_exponential(q[..., k, None] * stage.H[:, k])
    return G


def joint_pose(joint: Joint, q: Array) -> Array:
    """Return the pose of O in O+."""
    G, first = np.eye(4), 0
    for stage in joint.stages:
        G = G @ stage_pose(stage, q[..., first : first + stage.n_coords])
        first += stage.n_coords
    return G


def body_twist(G: Array) -> Array:
    """Return the twist [w; v] in its own axes of a pose whose imaginary part is its change."""
    change = inverse(G.real) @ (G.imag / COMPLEX_STEP)
    return np.concatenate([vee(change[..., :3, :3]), change[..., :3, 3]], -1)


def stage_rates(stage: Stage, q: Array) -> Array:
    """Return Gamma of one stage, from `d pose / dq . Gamma = H` by least squares.

    The smallest solution keeps a quaternion on its sphere. The residual must vanish: it
    does only for a map that is closed under the bracket.
    """
    steps = q + 1j * COMPLEX_STEP * np.eye(stage.n_coords)
    B = body_twist(stage_pose(stage, steps)).T
    Gamma = np.linalg.lstsq(B, stage.H, rcond=1e-10)[0]
    assert np.allclose(B @ Gamma, stage.H, atol=1e-9), f"{stage.kind}: H leaves the manifold"
    return Gamma


def joint_rates(joint: Joint, q: Array) -> Array:
    """Return Gamma of a joint: qdot = Gamma beta."""
    Gamma = np.zeros((joint.n_coords, joint.n_speeds))
    row = column = 0
    for stage in joint.stages:
        nq, nu = stage.n_coords, stage.n_speeds
        Gamma[row : row + nq, column : column + nu] = stage_rates(stage, q[row : row + nq])
        row, column = row + nq, column + nu
    return Gamma


def node_pose(body: Body, j: int, eta: Array) -> Array:
    """Return the pose of a deformed node in its body frame."""
    node = body.nodes[j]
    motion = np.einsum("ik,...k->...i", node.Pi, eta)
    turn = np.concatenate([motion[..., :3], np.zeros_like(motion[..., :3])], -1)
    G = twist_exponential(turn).copy()
    G[..., :3, 3] = node.r + motion[..., 3:]
    return G
