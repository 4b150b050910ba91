"""Forces besides the user's generalized ones: springs, dampers, friction, stops, node loads."""

from __future__ import annotations

import math

from darts_py._jit import inlined
from darts_py.multibody.joint_rates import rate_matrix, stage_velocity
from darts_py.multibody.joints import rotation_of_quaternion
from darts_py.multibody.model import AXIS, BALL, FREE
from darts_py.spatial.vector import add, add_pair, cross, mat9, scale, tail3, times, times_t, vec3


@inlined
def add_joint_forces(m, q, u, G, out):
    """Add the passive force of every joint to `out`; G is scratch."""
    for i in range(m.passive.shape[0]):
        _add_stage_force(m.stage[m.passive[i]], m.speed, q, u, G, out)


@inlined
def _add_stage_force(stage, speed, q, u, G, out):
    """Add spring, damper and stops of a stage: Gamma^T times the force on the coordinates."""
    kind, iq, iu, n = stage.kind, stage.q, stage.u, stage.n
    for j in range(n):
        out[iu + j] -= speed[iu + j].damping * u[iu + j] + friction(speed[iu + j], u[iu + j])
    if kind == AXIS:
        out[iu] += coordinate_force(speed[iu], q[iq], u[iu])
    elif kind == BALL or kind == FREE:
        _add_attitude_spring(stage, speed, q, u, out)
    else:
        rate_matrix(stage, q, G)
        for i in range(n):
            rate = 0.0
            for j in range(n):
                rate += G[i, j] * u[iu + j]
            force = coordinate_force(speed[iu + i], q[iq + i], rate)
            for j in range(n):
                out[iu + j] += G[i, j] * force


@inlined
def friction(law, v):
    """Dry friction opposing the speed v: breakaway falls to sliding friction (Stribeck).

    Algebraic forms of the fall and of the change of sign, so that the law is smooth, can be
    linearised and gives the same bits on every machine. Below the creep rate it is viscous: a
    joint at rest under load creeps, at most at that rate.
    """
    if law.breakaway == 0.0:
        return 0.0
    x, s = v / law.stribeck_rate, law.creep_rate
    level = law.coulomb + (law.breakaway - law.coulomb) / (1.0 + x * x)
    return level * v / math.sqrt(v * v + s * s)


@inlined
def coordinate_force(law, x, rate):
    """Spring and unilateral soft stops on one coordinate: a stop pushes, it never pulls."""
    force = -law.stiffness * (x - law.rest)
    if x < law.lower:
        force += max(0.0, law.stop_stiffness * (law.lower - x) - law.stop_damping * rate)
    elif x > law.upper:
        force -= max(0.0, law.stop_stiffness * (x - law.upper) + law.stop_damping * rate)
    return force


@inlined
def rotation_vector(w, x, y, z):
    """Rotation vector of a unit quaternion, angle in [0, pi]."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    s = math.sqrt(x * x + y * y + z * z)
    k = 2.0 * math.atan2(s, w) / s if s > 1e-9 else 2.0
    return (k * x, k * y, k * z)


@inlined
def _add_attitude_spring(stage, speed, q, u, out):
    """Isotropic rotation spring; for a free joint also springs and stops along O+ axes.

    The wrench on the child acts at O (a free joint) or at the fixed point of the ball; the
    generalized force is H^T times it.
    """
    iq, iu = stage.q, stage.u
    k, theta = speed[iu].stiffness, rotation_vector(q[iq], q[iq + 1], q[iq + 2], q[iq + 3])
    moment, force = scale(-k, theta), (0.0, 0.0, 0.0)
    if stage.kind == FREE:
        R = rotation_of_quaternion(q[iq], q[iq + 1], q[iq + 2], q[iq + 3])
        rate = times(R, stage_velocity(stage, u)[1])
        force = (
            coordinate_force(speed[iu + 3], q[iq + 4], rate[0]),
            coordinate_force(speed[iu + 4], q[iq + 5], rate[1]),
            coordinate_force(speed[iu + 5], q[iq + 6], rate[2]),
        )
        force = times_t(R, force)
    for j in range(stage.n):
        for c in range(3):
            out[iu + j] += stage.H[j, c] * moment[c] + stage.H[j, 3 + c] * force[c]


@inlined
def load_nodes(m, w, node_force):
    """Subtract external node forces [moment; force] (file axes, about the node) from z and cf."""
    for i in range(m.node.shape[0]):
        j = m.node[i].file
        total = 0.0  # one branch per node; a force that is not finite is not zero either
        for c in range(6):
            total += abs(node_force[j, c])
        if total != 0.0:
            _load_node(m, w, i, node_force[j])


@inlined
def _load_node(m, w, i, wrench):
    node = m.node[i]
    body = m.body[node.body]
    R = mat9(body.R_FC)
    n, f = times_t(R, vec3(wrench)), times_t(R, tail3(wrench))
    for k in range(body.n_modes):
        for c in range(3):
            w.cf[body.mode_first + k] -= m.node_Pi[i, k, c] * n[c] + m.node_Pi[i, k, 3 + c] * f[c]
    n = add(n, cross(vec3(node.r), f))
    add_pair(scale(-1.0, n), scale(-1.0, f), w.body[node.body].z)
