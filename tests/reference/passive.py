"""Springs, dampers, soft stops and dry friction of one joint."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from darts_py.multibody.tree import Joint, Stage
from tests.reference.poses import Array, stage_rates


def _values(given: Array | None, n: int, default: float) -> Array:
    return np.full(n, default) if given is None else np.asarray(given, float)


def rotation_vector(quaternion: Array) -> Array:
    """Return the shortest rotation vector of a quaternion (w, x, y, z)."""
    return Rotation.from_quat(np.roll(quaternion, -1)).as_rotvec()


def scalar_part(stage: Stage) -> tuple[int, int]:
    """Return the first scalar coordinate and the first speed index whose spring acts on it."""
    return {"ball": (4, 3), "free": (4, 3)}.get(stage.kind, (0, 0))


def split(joint: Joint) -> list[tuple[Stage, slice, slice]]:
    """Return each stage with its coordinates and its speeds."""
    out, nq, nu = [], 0, 0
    for stage in joint.stages:
        out.append((stage, slice(nq, nq + stage.n_coords), slice(nu, nu + stage.n_speeds)))
        nq, nu = nq + stage.n_coords, nu + stage.n_speeds
    return out


def coordinate_force(joint: Joint, speeds: slice, x: Array, xdot: Array, first: int) -> Array:
    """Return spring and stop force on the scalar coordinates x of one stage."""

    def pick(given: Array | None, default: float) -> Array:
        return _values(given, joint.n_speeds, default)[speeds][first:]

    out = -pick(joint.stiffness, 0.0) * (x - pick(joint.rest, 0.0))
    k, d = pick(joint.stop_stiffness, 0.0), pick(joint.stop_damping, 0.0)
    below, above = pick(joint.lower, -np.inf) - x, x - pick(joint.upper, np.inf)
    for j in range(len(x)):
        if below[j] > 0.0:
            out[j] += max(0.0, k[j] * below[j] - d[j] * xdot[j])
        if above[j] > 0.0:
            out[j] -= max(0.0, k[j] * above[j] + d[j] * xdot[j])
    return out


def friction(joint: Joint, beta: Array) -> Array:
    """Return the friction force on the speeds, as docs/model_format.md words it."""
    if joint.coulomb is None:
        return np.zeros(joint.n_speeds)
    Fc = np.asarray(joint.coulomb, float)
    Fs = _values(joint.breakaway, joint.n_speeds, 0.0) if joint.breakaway is not None else Fc
    vs, vc = _values(joint.stribeck_rate, joint.n_speeds, 1.0), np.asarray(joint.creep_rate)
    return -(Fc + (Fs - Fc) / (1 + (beta / vs) ** 2)) * beta / np.sqrt(beta**2 + vc**2)


def joint_force(joint: Joint, q: Array, beta: Array) -> Array:
    """Return the passive generalized force on the speeds beta."""
    out = friction(joint, beta) - _values(joint.damping, joint.n_speeds, 0.0) * beta
    stiffness = _values(joint.stiffness, joint.n_speeds, 0.0)
    for stage, coords, speeds in split(joint):
        first_q, first_u = scalar_part(stage)
        x = q[coords]
        Gamma = stage_rates(stage, x)
        xdot = Gamma @ beta[speeds]
        force = coordinate_force(joint, speeds, x[first_q:], xdot[first_q:], first_u)
        out[speeds] += Gamma[first_q:].T @ force
        if first_q:  # isotropic: the power of a rotation spring is -k theta . w
            out[speeds] -= stiffness[speeds][0] * stage.H[:3].T @ rotation_vector(x[:4])
    return out


def spring_energy(joint: Joint, q: Array) -> float:
    """Return the energy of springs and of pressed stops."""
    n = joint.n_speeds
    stiffness, rest = _values(joint.stiffness, n, 0.0), _values(joint.rest, n, 0.0)
    stop = _values(joint.stop_stiffness, n, 0.0)
    lower, upper = _values(joint.lower, n, -np.inf), _values(joint.upper, n, np.inf)
    total = 0.0
    for stage, coords, speeds in split(joint):
        first_q, first_u = scalar_part(stage)
        x = q[coords][first_q:]
        k = stiffness[speeds][first_u:]
        total += 0.5 * float(k @ (x - rest[speeds][first_u:]) ** 2)
        depth = np.maximum(lower[speeds][first_u:] - x, x - upper[speeds][first_u:]).clip(min=0.0)
        total += 0.5 * float(stop[speeds][first_u:] @ depth**2)
        if first_q:
            total += 0.5 * stiffness[speeds][0] * float(np.sum(rotation_vector(q[coords][:4]) ** 2))
    return total
