"""How the two frames of a closure lie and move relative to each other.

Two sets of poses matter (docs/equations.md section 11). Velocities and forces belong to the
linearised model: its geometry is that of no deformation. The gap itself is measured on deformed
poses; its rate at zero deformation is the velocity error, so the two agree to first order.
"""

from __future__ import annotations

import math

from darts_py._jit import inlined, kernel
from darts_py.multibody.handover import hinge_arm, modal_motion_at_hinge, on_one_axis
from darts_py.multibody.joints import IDENTITY, ZERO, screw_motion
from darts_py.multibody.model import TURN_ALL, TURN_AXIS
from darts_py.multibody.motion import sweep_motion
from darts_py.spatial.vector import (
    add,
    add_pair,
    cross,
    dot,
    mat9,
    product,
    product_t,
    put,
    put_pair,
    scale,
    sub,
    tail3,
    times,
    times_t,
    vec3,
)


@inlined
def sweep_links(m, w, u, conserving):
    """Pose and velocity of the bodies on loops in the reference frame, base to tips.

    The frame is the ground's where loops pass through it, otherwise the root body's, so that a
    spacecraft far from the world's origin loses no digits. About one origin and in one set of
    axes a velocity is a sum over joints, and a force is the same all along its path.
    """
    ground = w.loop.link[m.body.shape[0]]
    put(IDENTITY, ground.R)
    for i in range(m.loop_body.shape[0]):
        b = m.loop_body[i]
        body, own, link = m.body[b], w.body[b], w.loop.link[b]
        above = w.loop.link[body.parent]
        R_p, r_p, l = mat9(above.R), vec3(above.r), hinge_arm(body, own)
        if body.parent == m.body.shape[0] and not m.closure[0].grounded:
            put(IDENTITY, link.R)
            put(ZERO, link.r)
        else:
            put(product(R_p, mat9(own.A)), link.R)
            put(add(r_p, times(R_p, l)), link.r)
        if on_one_axis(body):
            _place_axis(link, own, u[body.u_start], vec3(above.V), tail3(above.V))
            if body.parent < m.body.shape[0] and m.body[body.parent].n_modes > 0:
                _add_bending(m, w, b, u, l)
        elif not conserving:
            _place_joint(m, w, b, u, l)


@inlined
def _place_axis(link, own, rate, ww, vv):
    """Hinge axis, P h and a of a body on one axis, and its velocity: the parent's plus h u."""
    R, r, U, a = mat9(link.R), vec3(link.r), own.U, own.a
    axis = (R[2], R[5], R[8])
    arm = cross(r, axis)
    put_pair(axis, arm, link.h)
    put_pair(add(ww, scale(rate, axis)), add(vv, scale(rate, arm)), link.V)
    f = times(R, tail3(U))
    put_pair(add(times(R, vec3(U)), cross(r, f)), f, link.U)
    aw = times(R, vec3(a))
    put_pair(aw, add(times(R, tail3(a)), cross(r, aw)), link.a)


@inlined
def _place_joint(m, w, b, u, l):
    """Velocity of any body: its parent's, bending of the parent, joint and own bending."""
    body, hinge, link = m.body[b], w.hinge[b], w.loop.link[b]
    R, r, above = mat9(link.R), vec3(link.r), w.loop.link[body.parent].V
    hw, hv = vec3(hinge.hb), tail3(hinge.hb)
    for k in range(body.n_modes):
        s, Pd = u[body.u_start + k], m.mode[body.mode_first + k].Pd
        hw, hv = sub(hw, scale(s, vec3(Pd))), sub(hv, scale(s, tail3(Pd)))
    hw = times(R, hw)
    hv = add(times(R, hv), cross(r, hw))
    put_pair(add(vec3(above), hw), add(tail3(above), hv), link.V)
    if body.parent < m.body.shape[0] and m.body[body.parent].n_modes > 0:
        _add_bending(m, w, b, u, l)


@inlined
def _add_bending(m, w, b, u, l):
    """Add to body b's velocity what its parent's modes bring at the hinge."""
    body, link = m.body[b], w.loop.link[b]
    gw, gv = modal_motion_at_hinge(body, m.body[body.parent], m.hook, u, l)
    R_p = mat9(w.loop.link[body.parent].R)
    gw, gv = times(R_p, gw), times(R_p, gv)
    add_pair(gw, add(gv, cross(vec3(link.r), gw)), link.V)


@inlined
def _body_velocity(m, w, b, conserving):
    """Velocity of a body's origin, body axes."""
    if conserving or b == m.body.shape[0]:
        return vec3(w.body[b].V), tail3(w.body[b].V)
    link = w.loop.link[b]
    R, ww = mat9(link.R), vec3(link.V)
    return times_t(R, ww), times_t(R, add(tail3(link.V), cross(ww, vec3(link.r))))


@inlined
def _frame_velocity(m, b, ww, vv, x, Pi, u):
    """Velocity of a frame at x on body b, which moves with ww and vv; body axes."""
    nw, nv = ww, add(vv, cross(ww, x))
    if b < m.body.shape[0]:
        for k in range(m.body[b].n_modes):
            s = u[m.body[b].u_start + k]
            nw, nv = add(nw, scale(s, vec3(Pi[k]))), add(nv, scale(s, tail3(Pi[k])))
    return nw, nv


@inlined
def _frame_products(w, b, ww, x, nw, nv, conserving):
    """Velocity products of a frame's acceleration, body axes (as in `motion.node_acceleration`)."""
    if conserving:
        return cross(vec3(w.body[b].wh), nw), cross(vec3(w.body[b].wh), nv)
    return ZERO, cross(ww, cross(ww, x))


@inlined
def measure_loop(m, w, c, u, conserving):
    """Write a closure's frames, its velocity error, and the velocity products of its gap.

    w = R_B^T (w_a - w_b), v = R_B^T (v_a - v_b - w_b x P), P from B to A; both are
    differentiated with B's axes turning at its body's rate. Where A cannot slide P is zero.
    """
    closure, loop = m.closure[c], w.loop
    a, b, x_a, x_b = closure.body_a, closure.body_b, vec3(closure.x_a), vec3(closure.x_b)
    link_a, link_b, R_b = loop.link[a], loop.link[b], mat9(closure.R_b)
    R_B = product(mat9(link_b.R), R_b)  # B axes to reference axes
    C = product_t(R_B, mat9(link_a.R))
    p = ZERO
    if closure.slides:
        r_a = add(vec3(link_a.r), times(mat9(link_a.R), x_a))
        p = times_t(R_B, sub(r_a, add(vec3(link_b.r), times(mat9(link_b.R), x_b))))
    put(R_B, loop.frame[c].R_B)
    put(C, loop.frame[c].C_a)
    put(p, loop.frame[c].p)
    wwa, vva = _body_velocity(m, w, a, conserving)
    wwb, vvb = _body_velocity(m, w, b, conserving)
    wa, va = _frame_velocity(m, a, wwa, vva, x_a, m.closure_Pi[2 * c], u)
    wb, vb = _frame_velocity(m, b, wwb, vvb, x_b, m.closure_Pi[2 * c + 1], u)
    caw, cav = _frame_products(w, a, wwa, x_a, wa, va, conserving)
    cbw, cbv = _frame_products(w, b, wwb, x_b, wb, vb, conserving)
    rate = times_t(R_b, vec3(w.body[b].wh) if conserving else wwb)  # of B's axes
    wa, va, wb, vb = times(C, wa), times(C, va), times_t(R_b, wb), times_t(R_b, vb)
    caw, cav, cbw, cbv = times(C, caw), times(C, cav), times_t(R_b, cbw), times_t(R_b, cbv)
    w_rel, drift = sub(wa, wb), sub(va, vb)
    v_rel = sub(drift, cross(wb, p))
    aw = sub(sub(caw, cbw), cross(rate, w_rel))
    av = sub(sub(sub(cav, cbv), cross(cbw, p)), cross(rate, v_rel))
    if closure.slides:
        av = sub(av, cross(wb, drift))
    for r in range(closure.n_rows):
        S = closure.S[r]
        loop.rate[closure.row_first + r] = dot(vec3(S), w_rel) + dot(tail3(S), v_rel)
        loop.rest[closure.row_first + r] = dot(vec3(S), aw) + dot(tail3(S), av)


# -- the gap ------------------------------------------------------------------------------------


@kernel
def loop_errors(m, w, q, u):
    """Write position and velocity errors of all closures into w.loop.gap and w.loop.rate."""
    if m.closure.shape[0] == 0:
        return
    sweep_motion(m, w, q, u)
    sweep_links(m, w, u, True)
    for c in range(m.closure.shape[0]):
        measure_loop(m, w, c, u, True)
    measure_gaps(m, w, q)


@inlined
def measure_gaps(m, w, q):
    """Write the position errors; poses in w are those of the deformed bodies afterwards."""
    put(IDENTITY, w.body[m.body.shape[0]].R_NB)
    for i in range(m.loop_body.shape[0]):
        _deformed_pose(m, w, m.loop_body[i], q)
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        R_A, r_A = _deformed_frame(m, w, closure.body_a, closure.x_a, closure.R_a, 2 * c, q)
        R_B, r_B = _deformed_frame(m, w, closure.body_b, closure.x_b, closure.R_b, 2 * c + 1, q)
        turn = _turn_error(closure, product_t(R_B, R_A))
        p = times_t(R_B, sub(r_A, r_B))
        for r in range(closure.n_rows):
            S, gap = closure.S[r], 0.0
            if closure.holds[r]:
                gap = dot(vec3(S), turn) + dot(tail3(S), p)
            w.loop.gap[closure.row_first + r] = gap


@inlined
def _turn_error(closure, Q):
    """Small rotation of A against B that the closure does not allow; Q leads from A to B axes."""
    if closure.turn == TURN_AXIS:
        h = vec3(closure.axis)
        return cross(h, times(Q, h))
    if closure.turn == TURN_ALL:  # twice the vector part of the quaternion
        half = 0.5 * math.sqrt(max(1.0 + Q[0] + Q[4] + Q[8], 1e-12))
        return scale(0.5 / half, (Q[7] - Q[5], Q[2] - Q[6], Q[3] - Q[1]))
    return ZERO


@inlined
def _modal_displacement(Pi, q, start, n):
    """Rotation and displacement of a point with modal matrix Pi."""
    turn, shift = ZERO, ZERO
    for k in range(n):
        turn = add(turn, scale(q[start + k], vec3(Pi[k])))
        shift = add(shift, scale(q[start + k], tail3(Pi[k])))
    return screw_motion(turn, ZERO, 1.0)[0], shift


@inlined
def _deformed_frame(m, w, b, x, R, row, q):
    """Pose of a frame of a closure in the world."""
    R_w, r, x = mat9(w.body[b].R_NB), vec3(w.body[b].r_BN), vec3(x)
    if b < m.body.shape[0] and m.body[b].n_modes > 0:
        turn, shift = _modal_displacement(
            m.closure_Pi[row], q, m.body[b].q_start, m.body[b].n_modes
        )
        r = add(r, times(R_w, add(x, shift)))
        return product(product(R_w, turn), mat9(R)), r
    return product(R_w, mat9(R)), add(r, times(R_w, x))


@inlined
def _deformed_pose(m, w, b, q):
    """Pose of body b by the chain O+ (deformed parent), joint, O (deformed body)."""
    body, own, above = m.body[b], w.body[b], w.body[m.body[b].parent]
    R_p, x, l = mat9(above.R_NB), vec3(body.x_pO), hinge_arm(body, own)
    A = mat9(own.A)
    if body.parent < m.body.shape[0] and m.body[body.parent].n_modes > 0:
        parent = m.body[body.parent]
        turn, shift = ZERO, ZERO
        for k in range(parent.n_modes):
            s, Pi = q[parent.q_start + k], m.hook[body.hook_first + k].Pi
            turn, shift = add(turn, scale(s, vec3(Pi))), add(shift, scale(s, tail3(Pi)))
        bend = screw_motion(turn, ZERO, 1.0)[0]
        l = add(add(x, shift), times(bend, sub(l, x)))
        A = product(bend, A)
    R, r = product(R_p, A), add(vec3(above.r_BN), times(R_p, l))
    if body.parent == m.body.shape[0] and not m.closure[0].grounded:
        R, r = IDENTITY, ZERO
    if body.n_modes > 0:
        turn, shift = ZERO, ZERO
        for k in range(body.n_modes):
            s, Pd = q[body.q_start + k], m.mode[body.mode_first + k].Pd
            turn, shift = add(turn, scale(s, vec3(Pd))), add(shift, scale(s, tail3(Pd)))
        R = product(R, screw_motion(scale(-1.0, turn), ZERO, 1.0)[0])
        r = sub(r, times(R, shift))
    put(R, own.R_NB)
    put(r, own.r_BN)
