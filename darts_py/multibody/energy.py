"""Energy and momentum of a state (docs/equations.md section 12)."""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.forces import rotation_vector
from darts_py.multibody.model import BALL, MFF
from darts_py.multibody.motion import sweep_motion
from darts_py.spatial.inertia import blocks, first_moment, inertia_times
from darts_py.spatial.vector import add, add_pair, cross, dot, mat9, scale, tail3, times, vec3


@inlined
def _body_momentum(m, w, b, u):
    """[Mfr^T, Mrr] Vm about the hinge origin, hinge axes."""
    body, own = m.body[b], w.body[b]
    A, B, M = blocks(body.Mrr)
    n, f = inertia_times(A, B, M, vec3(own.V), tail3(own.V))
    for k in range(body.n_modes):
        etad, Mfr = u[body.u_start + k], m.mode[body.mode_first + k].Mfr
        n, f = add(n, scale(etad, vec3(Mfr))), add(f, scale(etad, tail3(Mfr)))
    return n, f


@kernel
def momentum(m, w, q, u, out):
    """Write the system's momentum about the world origin, world axes: angular, linear."""
    sweep_motion(m, w, q, u)
    out[:] = 0.0
    for b in range(m.body.shape[0]):
        own = w.body[b]
        R, (n, f) = mat9(own.R_NB), _body_momentum(m, w, b, u)
        n, f = times(R, n), times(R, f)
        add_pair(add(n, cross(vec3(own.r_BN), f)), f, out)


@kernel
def energy(m, w, q, u, out):
    """Write kinetic, strain, gravity and joint-spring energy into out (4,)."""
    sweep_motion(m, w, q, u)
    out[:] = 0.0
    for b in range(m.body.shape[0]):
        body, own = m.body[b], w.body[b]
        n, f = _body_momentum(m, w, b, u)
        out[0] += 0.5 * (dot(n, vec3(own.V)) + dot(f, tail3(own.V)))
        for k in range(body.n_modes):  # the modal rows of 1/2 Vm^T Mm Vm, and 1/2 eta^T K eta
            etad, eta = u[body.u_start + k], q[body.q_start + k]
            Mfr = m.mode[body.mode_first + k].Mfr
            out[0] += 0.5 * etad * (dot(vec3(Mfr), vec3(own.V)) + dot(tail3(Mfr), tail3(own.V)))
            for j in range(body.n_modes):
                out[0] += 0.5 * etad * m.modal[MFF, body.flex, k, j] * u[body.u_start + j]
                out[1] += 0.5 * eta * m.K[body.flex, k, j] * q[body.q_start + j]
        mc = times(mat9(own.R_NB), first_moment(body.Mrr))
        out[2] -= dot(vec3(m.gravity), add(mc, scale(body.Mrr[15], vec3(own.r_BN))))
    for i in range(m.passive.shape[0]):
        out[3] += _spring_energy(m.stage[m.passive[i]], m.speed, q)


@inlined
def _spring_energy(stage, speed, q):
    """Energy stored in the springs and stops of one stage."""
    iq, iu, total, first = stage.q, stage.u, 0.0, 0
    if stage.kind >= BALL:
        theta = rotation_vector(q[iq], q[iq + 1], q[iq + 2], q[iq + 3])
        total += 0.5 * speed[iu].stiffness * dot(theta, theta)
        iq, first = iq + 1, 3
    if stage.kind == BALL:
        return total
    for j in range(first, stage.n):
        law, x = speed[iu + j], q[iq + j]
        total += 0.5 * law.stiffness * (x - law.rest) ** 2
        if x < law.lower:
            total += 0.5 * law.stop_stiffness * (x - law.lower) ** 2
        elif x > law.upper:
            total += 0.5 * law.stop_stiffness * (x - law.upper) ** 2
    return total
