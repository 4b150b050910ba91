"""The steps of the three sweeps for any body: rigid or flexible, on any joint.

Jain & Rodriguez 1992, Eqs. 63-64, in the order of docs/equations.md section 9; `revolute.py` is the
same for the one case that is worth writing out.
"""

from __future__ import annotations

from darts_py._jit import inlined
from darts_py.multibody.elimination import condense, recover, reduce
from darts_py.multibody.flexible import (
    recover_modes_direct,
    recover_modes_woodbury,
    remove_modes_direct,
    remove_modes_woodbury,
)
from darts_py.multibody.handover import acceleration_at_hinge, hand_to_parent, rate_at_hinge
from darts_py.multibody.hybrid import carry_given_hinge, fix_given
from darts_py.multibody.joints import joint_motion
from darts_py.multibody.model import DIRECT, FORM_FREE, GIVEN_HINGE
from darts_py.spatial.inertia import (
    blocks_of_square,
    first_moment,
    rotate_full,
    rotate_symmetric,
    square,
)
from darts_py.spatial.vector import (
    add,
    cross,
    dot,
    mat9,
    put,
    put_pair,
    scale,
    sub,
    symmetric_times,
    tail3,
    times,
    times_t,
    vec3,
    vec6,
)


@inlined
def general_velocity(m, w, b, q, u):
    """Joint motion, angular velocity, velocity products (RL, section 6) and rigid inertia."""
    joint_motion(m, w, b, q, u)
    body, own, hinge = m.body[b], w.body[b], w.hinge[b]
    p, A, hw, s = body.parent, mat9(own.A), vec3(hinge.hb), tail3(hinge.hb)
    w_p = vec3(w.body[p].w)
    w_hinge = w_p
    if p < m.body.shape[0]:
        w_hinge = rate_at_hinge(body, m.body[p], m.hook, w_p, u)
    w_i = add(times_t(A, w_hinge), hw)
    for k in range(body.n_modes):
        w_i = sub(w_i, scale(u[body.u_start + k], vec3(m.mode[body.mode_first + k].Pd)))
    put(w_i, own.w)
    aw = add(cross(w_i, hw), vec3(hinge.cJ))
    av = times_t(A, cross(w_p, cross(w_p, vec3(own.l))))
    av = add(add(av, cross(add(times_t(A, w_p), w_i), s)), tail3(hinge.cJ))
    put_pair(aw, av, own.a)
    # b_r = [w x J w; w x (w x mc)]
    n = cross(w_i, symmetric_times(vec6(body.Mrr), w_i))
    put_pair(n, cross(w_i, cross(w_i, first_moment(body.Mrr))), own.z)
    for k in range(21):
        own.P[k] = body.Mrr[k]
    modal_bias(m, w, b, q, u)
    for k in range(body.mode_first, body.mode_first + body.n_modes):  # b_f = w . W_k w
        w.cf[k] += dot(w_i, symmetric_times(vec6(m.mode[k].W), w_i))


@inlined
def modal_bias(m, w, b, q, u):
    """Start cf with strain and damping forces, K eta + Dm etad."""
    body = m.body[b]
    f, nm, first = body.flex, body.n_modes, body.mode_first
    for k in range(nm):
        w.cf[first + k] = 0.0
    for j in range(nm):
        eta, etad = q[body.q_start + j], u[body.u_start + j]
        for k in range(nm):
            w.cf[first + k] += m.K[f, j, k] * eta + m.Dm[f, j, k] * etad


@inlined
def general_inward(m, w, b):
    """Remove modes and hinge from body b's articulated inertia, hand the rest to its parent."""
    body, own = m.body[b], w.body[b]
    P, z = w.scratch[0].P, w.scratch[0].z
    if body.flex < 0:
        square(own.P, P)
        put(vec6(own.z), z)
    elif body.df_form == DIRECT:
        remove_modes_direct(m, w, b)
    else:
        remove_modes_woodbury(m, w, b)
    for c in range(6):  # zR = z + g ef + PR a
        for d in range(6):
            z[c] += P[c, d] * own.a[d]
    if body.given & GIVEN_HINGE:
        carry_given_hinge(m, w, b, P, z)
    if not body.locked:
        reduce_hinge(m, w, b)
    if body.parent == m.body.shape[0]:
        return
    if not body.locked:
        condense(w.hinge[b].Y, w.hinge[b].y, body.n_hinge, P, z)
    R = mat9(own.A)
    A, B, M = blocks_of_square(P)
    hand_to_parent(
        m, w, b, vec3(own.l),
        rotate_symmetric(R, A), rotate_full(R, B), rotate_symmetric(R, M),
        times(R, vec3(z)), times(R, tail3(z)),
    )  # fmt: skip


@inlined
def reduce_hinge(m, w, b):
    """DR = H^T PR H, eR = T_r - H^T zR, both reduced: the joint's speeds can be removed."""
    body, hinge, scratch = m.body[b], w.hinge[b], w.scratch[0]
    H, L, Y, y, P, z = hinge.H, hinge.L, hinge.Y, hinge.y, scratch.P, scratch.z
    start = body.u_start + body.n_modes
    if body.form == FORM_FREE:  # H = 1
        for j in range(6):
            y[j] = w.tau[start + j] - z[j]
            for c in range(6):
                L[j, c] = Y[j, c] = P[j, c]
    else:
        for j in range(body.n_hinge):
            e = w.tau[start + j]
            for c in range(6):
                e -= H[j, c] * z[c]
                Y[j, c] = 0.0
            y[j] = e
            for c in range(6):
                for d in range(6):
                    Y[j, d] += H[j, c] * P[c, d]
            for i in range(j + 1):
                s = 0.0
                for c in range(6):
                    s += Y[j, c] * H[i, c]
                L[j, i] = s
    if body.given & GIVEN_HINGE:
        fix_given(m, w, start, body.n_hinge, L, Y, y)
    if body.form == FORM_FREE:  # a constant size lets LLVM unroll
        reduce(L, Y, y, 6)
    else:
        reduce(L, Y, y, body.n_hinge)


@inlined
def general_outward(m, w, b):
    """Acceleration of body b, of its joint and of its modes, from its parent's."""
    body, own, hinge = m.body[b], w.body[b], w.hinge[b]
    nr, start = body.n_hinge, body.u_start + body.n_modes
    R, al = mat9(own.A), own.al
    aw, av = acceleration_at_hinge(m, w, body, vec3(own.l))
    put_pair(times_t(R, aw), times_t(R, av), al)
    if body.locked:
        for j in range(nr):
            w.udot[start + j] = 0.0
    else:
        recover(hinge.L, hinge.Y, hinge.y, nr, vec6(al), w.udot, start)  # nuR - GR^T ap
    for c in range(6):
        al[c] += own.a[c]
    for j in range(nr):
        for c in range(6):
            al[c] += hinge.H[j, c] * w.udot[start + j]
    if body.flex < 0:
        return
    if body.df_form == DIRECT:
        recover_modes_direct(m, w, b, vec6(al))
    else:
        recover_modes_woodbury(m, w, b, vec6(al))
    for k in range(body.n_modes):  # al = aR - Pd etadd
        for c in range(6):
            al[c] -= m.mode[body.mode_first + k].Pd[c] * w.udot[body.u_start + k]
