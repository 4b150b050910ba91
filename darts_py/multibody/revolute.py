"""The fast path: a rigid body turning about one axis (z of its hinge frame).

The same three steps as `general.py`, with H = [e3; 0] written out: PRp loses its z row and
column, and everything stays in registers. Measured on a chain of 100: 95 ns a link, by the
general steps 222.
"""

from __future__ import annotations

from darts_py._jit import inlined
from darts_py.multibody.handover import acceleration_at_hinge, hand_to_parent, rate_at_hinge
from darts_py.spatial.inertia import (
    blocks,
    first_moment,
    inertia_times,
    rotate_full,
    rotate_full_xy,
    rotate_symmetric,
    rotate_symmetric_xy,
)
from darts_py.spatial.trigonometry import sincos
from darts_py.spatial.vector import (
    add,
    cross,
    dot,
    mat9,
    put,
    put_pair,
    symmetric_times,
    tail3,
    times,
    times_t,
    vec3,
    vec6,
)


@inlined
def revolute_velocity(m, w, b, q, u):
    """Pose, angular velocity, velocity products (RL) and rigid inertia of body b."""
    body, own = m.body[b], w.body[b]
    p, beta = body.parent, u[body.u_start]
    s, c = sincos(q[body.q_start])
    E = mat9(body.R_pO)
    A = (
        c * E[0] + s * E[1], c * E[1] - s * E[0], E[2],
        c * E[3] + s * E[4], c * E[4] - s * E[3], E[5],
        c * E[6] + s * E[7], c * E[7] - s * E[6], E[8],
    )  # fmt: skip
    put(A, own.A)
    w_p = vec3(w.body[p].w)
    w_hinge = w_p
    if p < m.body.shape[0] and m.body[p].n_modes > 0:
        w_hinge = rate_at_hinge(body, m.body[p], m.hook, w_p, u)
    w_i = times_t(A, w_hinge)
    w_i = (w_i[0], w_i[1], w_i[2] + beta)
    put(w_i, own.w)
    # a_i with s = 0 and l_iO = 0, b_r of the rigid body (section 6)
    av = times_t(A, cross(w_p, cross(w_p, vec3(body.x_pO))))
    put((w_i[1] * beta, -w_i[0] * beta, 0.0, av[0], av[1], av[2]), own.a)
    n = cross(w_i, symmetric_times(vec6(body.Mrr), w_i))
    put_pair(n, cross(w_i, cross(w_i, first_moment(body.Mrr))), own.z)
    for k in range(21):
        own.P[k] = body.Mrr[k]


@inlined
def revolute_inward(m, w, b):
    """Remove the hinge from body b's articulated inertia and hand the rest to its parent."""
    body, own = m.body[b], w.body[b]
    A, B, M = blocks(own.P)
    U = (A[2], A[4], A[5], B[6], B[7], B[8])  # PR h
    z, d = vec6(own.z), 1.0 / A[5]
    e = w.tau[body.u_start] - z[2]
    put(U, own.U)
    own.d = d
    own.e = e
    if body.parent == m.body.shape[0]:
        return
    g0, g1, g3, g4, g5 = U[0] * d, U[1] * d, U[3] * d, U[4] * d, U[5] * d  # GR; its z is 1
    # PRp = PR - GR h^T PR
    Ap = (A[0] - g0 * U[0], A[1] - g0 * U[1], 0.0, A[3] - g1 * U[1], 0.0, 0.0)
    Bp = (
        B[0] - g0 * U[3], B[1] - g0 * U[4], B[2] - g0 * U[5],
        B[3] - g1 * U[3], B[4] - g1 * U[4], B[5] - g1 * U[5],
        0.0, 0.0, 0.0,
    )  # fmt: skip
    Mp = (
        M[0] - g3 * U[3], M[1] - g3 * U[4], M[2] - g3 * U[5],
        M[3] - g4 * U[4], M[4] - g4 * U[5], M[5] - g5 * U[5],
    )  # fmt: skip
    # zp = z + PRp a + GR e: the a-term of e is what turns PR into PRp
    a = vec6(own.a)
    av = (a[3], a[4], a[5])
    Ma = symmetric_times(Mp, av)
    n = (
        z[0] + Ap[0] * a[0] + Ap[1] * a[1] + dot((Bp[0], Bp[1], Bp[2]), av) + g0 * e,
        z[1] + Ap[1] * a[0] + Ap[3] * a[1] + dot((Bp[3], Bp[4], Bp[5]), av) + g1 * e,
        z[2] + e,
    )
    f = (
        z[3] + Bp[0] * a[0] + Bp[3] * a[1] + Ma[0] + g3 * e,
        z[4] + Bp[1] * a[0] + Bp[4] * a[1] + Ma[1] + g4 * e,
        z[5] + Bp[2] * a[0] + Bp[5] * a[1] + Ma[2] + g5 * e,
    )
    R = mat9(own.A)
    hand_to_parent(
        m, w, b, vec3(body.x_pO),
        rotate_symmetric_xy(R, Ap), rotate_full_xy(R, Bp), rotate_symmetric(R, Mp),
        times(R, n), times(R, f),
    )  # fmt: skip


@inlined
def carried_inward(m, w, b):
    """Hand all of body b's articulated inertia to its parent: its hinge turns as prescribed."""
    body, own = m.body[b], w.body[b]
    if body.parent == m.body.shape[0]:
        return
    A, B, M = blocks(own.P)
    a, s = own.a, w.given[body.u_start]
    n, f = inertia_times(A, B, M, (a[0], a[1], a[2] + s), tail3(a))
    n, f = add(n, vec3(own.z)), add(f, tail3(own.z))
    R = mat9(own.A)
    hand_to_parent(
        m, w, b, vec3(body.x_pO),
        rotate_symmetric(R, A), rotate_full(R, B), rotate_symmetric(R, M),
        times(R, n), times(R, f),
    )  # fmt: skip


@inlined
def carried_outward(m, w, b):
    """Acceleration of a body whose hinge turns as prescribed, from its parent's."""
    body, own = m.body[b], w.body[b]
    R, a, s = mat9(own.A), own.a, w.given[body.u_start]
    aw, av = acceleration_at_hinge(m, w, body, vec3(body.x_pO))
    aw, av = add(times_t(R, aw), vec3(a)), add(times_t(R, av), tail3(a))
    w.udot[body.u_start] = s
    put_pair((aw[0], aw[1], aw[2] + s), av, own.al)


@inlined
def revolute_outward(m, w, b):
    """Acceleration of body b and of its joint, from its parent's."""
    body, own = m.body[b], w.body[b]
    R, a, U = mat9(own.A), own.a, vec6(own.U)
    aw, av = acceleration_at_hinge(m, w, body, vec3(body.x_pO))
    aw = add(times_t(R, aw), vec3(a))
    av = add(times_t(R, av), tail3(a))
    betad = own.e - (
        U[0] * aw[0] + U[1] * aw[1] + U[2] * aw[2] + U[3] * av[0] + U[4] * av[1] + U[5] * av[2]
    )
    betad *= own.d
    w.udot[body.u_start] = betad
    put_pair((aw[0], aw[1], aw[2] + betad), av, own.al)
