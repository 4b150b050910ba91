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
from darts_py.multibody.model import GAP, RATE, REST, TURN_ALL, TURN_AXIS
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

    In CRL it is the velocity of the pose, which shows no bending; w.body has the other one.

    The frame is the ground's where loops pass through it, otherwise the root body's, so that a
    spacecraft far from the world's origin loses no digits. About one origin and in one set of
    axes a velocity is a sum over joints, and a force is the same all along its path.
    """
    ground = w.loop.link[m.body.shape[0]]
    put(IDENTITY, ground.R)
    for i in range(m.closure[0].all_first, m.closure[0].all_last):
        b = m.path[i]
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
        else:
            _place_joint(m, w, b, u, conserving)
        if not conserving and body.parent < m.body.shape[0]:
            if m.body[body.parent].n_modes > 0:
                _add_bending(m, w, b, u, l)


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
def _place_joint(m, w, b, u, conserving):
    """Velocity of any body: its parent's, its joint's, and (RL) its own bending's."""
    body, hinge, link = m.body[b], w.hinge[b], w.loop.link[b]
    R, r, above = mat9(link.R), vec3(link.r), w.loop.link[body.parent].V
    hw, hv = vec3(hinge.hb), tail3(hinge.hb)
    for k in range(0 if conserving else body.n_modes):
        s, Pd = u[body.u_start + k], m.mode[body.mode_first + k].Pd
        hw, hv = sub(hw, scale(s, vec3(Pd))), sub(hv, scale(s, tail3(Pd)))
    hw = times(R, hw)
    hv = add(times(R, hv), cross(r, hw))
    put_pair(add(vec3(above), hw), add(tail3(above), hv), link.V)


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
def _frame_motion(m, w, b, x, hook, u, conserving):
    """Velocity and velocity products of a frame at x on body b, and its axes' rate; body axes.

    Products as in `motion.node_acceleration`.
    """
    ww, vv = _body_velocity(m, w, b, conserving)
    nw, nv = ww, add(vv, cross(ww, x))
    if b < m.body.shape[0]:
        for k in range(m.body[b].n_modes):
            s, Pi = u[m.body[b].u_start + k], m.hook[hook + k].Pi
            nw, nv = add(nw, scale(s, vec3(Pi))), add(nv, scale(s, tail3(Pi)))
    if conserving:
        wh = vec3(w.body[b].wh)
        return nw, nv, cross(wh, nw), cross(wh, nv), wh
    return nw, nv, ZERO, cross(ww, cross(ww, x)), ww


@inlined
def measure_loop(m, w, c, u, conserving):
    """Write a closure's frames, its velocity error, and the velocity products of its gap.

    w = R_B^T (w_a - w_b), v = R_B^T (v_a - v_b - w_b x P), P from B to A; both are
    differentiated with B's axes turning at its body's rate. P is that of the poses: where bodies
    are bent it is not zero even if A cannot slide, and rigid motion must not move the gap.
    """
    closure, loop = m.closure[c], w.loop
    a, b, x_a, x_b = closure.body_a, closure.body_b, vec3(closure.x_a), vec3(closure.x_b)
    link_a, link_b, R_b = loop.link[a], loop.link[b], mat9(closure.R_b)
    R_B = product(mat9(link_b.R), R_b)  # B axes to reference axes
    C = product_t(R_B, mat9(link_a.R))
    r_a = add(vec3(link_a.r), times(mat9(link_a.R), x_a))
    r_b = add(vec3(link_b.r), times(mat9(link_b.R), x_b))
    p = times_t(R_B, sub(r_a, r_b))
    frame = loop.frame[c]
    put(R_B, frame.R_B)
    put(C, frame.C_a)
    put(r_a, frame.r_a)
    put(r_b, frame.r_b)
    put(p, frame.p)
    wa, va, caw, cav, _ = _frame_motion(m, w, a, x_a, closure.hook_a, u, conserving)
    wa, va, caw, cav = times(C, wa), times(C, va), times(C, caw), times(C, cav)
    w_rel, drift, v_rel, aw, av, wb = wa, va, va, caw, cav, ZERO
    if b < m.body.shape[0]:
        wb, vb, cbw, cbv, rate = _frame_motion(m, w, b, x_b, closure.hook_b, u, conserving)
        wb, vb, rate = times_t(R_b, wb), times_t(R_b, vb), times_t(R_b, rate)
        cbw, cbv = times_t(R_b, cbw), times_t(R_b, cbv)
        w_rel, drift = sub(wa, wb), sub(va, vb)
        v_rel = sub(drift, cross(wb, p))
        aw = sub(sub(caw, cbw), cross(rate, w_rel))
        av = sub(sub(sub(cav, cbv), cross(cbw, p)), cross(rate, v_rel))
    if conserving:  # P follows the poses
        da = add(tail3(link_a.V), cross(vec3(link_a.V), r_a))
        db = add(tail3(link_b.V), cross(vec3(link_b.V), r_b))
        drift = times_t(R_B, sub(da, db))
    av = sub(av, cross(wb, drift))
    for r in range(closure.n_rows):
        S = closure.S[r]
        loop.row[RATE, closure.row_first + r] = dot(vec3(S), w_rel) + dot(tail3(S), v_rel)
        loop.row[REST, closure.row_first + r] = dot(vec3(S), aw) + dot(tail3(S), av)


# -- the gap ------------------------------------------------------------------------------------


@kernel
def loop_errors(m, w, q, u):
    """Write position and velocity errors of all closures into rows GAP and RATE of w.loop.row."""
    if m.closure.shape[0] == 0:
        return
    sweep_motion(m, w, q, u)
    sweep_links(m, w, u, True)
    for c in range(m.closure.shape[0]):
        measure_loop(m, w, c, u, True)
    measure_gaps(m, w, q)


@kernel
def measure_gaps(m, w, q):
    """Write the position errors; poses in w are those of the deformed bodies afterwards."""
    put(IDENTITY, w.body[m.body.shape[0]].R_NB)
    for i in range(m.closure[0].all_first, m.closure[0].all_last):
        _deformed_pose(m, w, m.path[i], q)
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        a, b = closure.body_a, closure.body_b
        R_A, r_A = _deformed_frame(m, w, a, closure.x_a, closure.R_a, closure.hook_a, q)
        R_B, r_B = _deformed_frame(m, w, b, closure.x_b, closure.R_b, closure.hook_b, q)
        turn = _turn_error(closure, product_t(R_B, R_A))
        p = times_t(R_B, sub(r_A, r_B))
        for r in range(closure.n_rows):
            S, gap = closure.S[r], 0.0
            if closure.holds[r]:
                gap = dot(vec3(S), turn) + dot(tail3(S), p)
            w.loop.row[GAP, closure.row_first + r] = gap


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
def _bent(m, hook, q, start, n):
    """Rotation and displacement of a point whose modes begin at `hook`."""
    turn, shift = ZERO, ZERO
    for k in range(n):
        Pi = m.hook[hook + k].Pi
        turn = add(turn, scale(q[start + k], vec3(Pi)))
        shift = add(shift, scale(q[start + k], tail3(Pi)))
    return screw_motion(turn, ZERO, 1.0)[0], shift


@inlined
def _deformed_frame(m, w, b, x, R, hook, q):
    """Pose of a frame of a closure in the world."""
    R_w, r, x = mat9(w.body[b].R_NB), vec3(w.body[b].r_BN), vec3(x)
    if b < m.body.shape[0] and m.body[b].n_modes > 0:
        turn, shift = _bent(m, hook, q, m.body[b].q_start, m.body[b].n_modes)
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
        bend, shift = _bent(m, body.hook_first, q, parent.q_start, parent.n_modes)
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
