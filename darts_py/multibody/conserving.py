"""Velocity products that conserve energy and linear momentum: the CRL variant.

docs/equations.md section 6a. Accelerations are component derivatives here; the axes of a body turn
with the pose rate wh, which leaves out modal rates because poses are frozen at zero deformation.
"""

from __future__ import annotations

from darts_py._jit import inlined
from darts_py.multibody.general import modal_bias
from darts_py.multibody.handover import modal_motion_at_hinge
from darts_py.multibody.joints import ZERO, joint_motion
from darts_py.spatial.inertia import first_moment
from darts_py.spatial.vector import (
    add,
    add_pair,
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
def spatial_velocity(m, w, b, u):
    """V_i = X Q_t Vm_p + H beta - Pd etad into w; returns the inboard part X Q_t Vm_p."""
    body, own, hinge = m.body[b], w.body[b], w.hinge[b]
    l, A, V_p = vec3(own.l), mat9(own.A), w.body[body.parent].V
    w_plus, v_plus = vec3(V_p), add(tail3(V_p), cross(vec3(V_p), l))
    if body.parent < m.body.shape[0]:
        gw, gv = modal_motion_at_hinge(body, m.body[body.parent], m.hook, u, l)
        w_plus, v_plus = add(w_plus, gw), add(v_plus, gv)
    w_plus, v_plus = times_t(A, w_plus), times_t(A, v_plus)
    put_pair(add(w_plus, vec3(hinge.hb)), add(v_plus, tail3(hinge.hb)), own.V)
    for k in range(body.n_modes):
        etad, Pd = u[body.u_start + k], m.mode[body.mode_first + k].Pd
        add_pair(scale(-etad, vec3(Pd)), scale(-etad, tail3(Pd)), own.V)
    return w_plus, v_plus


@inlined
def sweep_velocities_conserving(m, w, q, u):
    """Poses, velocities and CRL velocity products, base to tips."""
    for b in range(m.body.shape[0]):
        body, own, hinge = m.body[b], w.body[b], w.hinge[b]
        joint_motion(m, w, b, q, u)
        w_plus, v_plus = spatial_velocity(m, w, b, u)
        put(vec3(own.V), own.w)
        hw, hv = vec3(hinge.hb), tail3(hinge.hb)
        wh = add(times_t(mat9(own.A), vec3(w.body[body.parent].wh)), hw)
        put(wh, own.wh)
        # [X Q_t Vm_p, H beta] + c_J
        aw = add(cross(w_plus, hw), vec3(hinge.cJ))
        av = add(sub(cross(w_plus, hv), cross(hw, v_plus)), tail3(hinge.cJ))
        put_pair(aw, av, own.a)
        for k in range(21):
            own.P[k] = body.Mrr[k]
        if body.flex < 0:
            _rigid_products(body, own, wh)
        else:
            modal_bias(m, w, b, q, u)
            put_pair(ZERO, ZERO, own.z)
            if body.spread:
                _rigid_products(m.spread[body.flex], own, wh)
                _spread_products(m, w, b, u, wh)
            _nodal_products(m, w, b, u, wh)


@inlined
def _rigid_products(mass_of, own, wh):
    """b_i of a rigid body: w x Jc w + r x (wh x m vc), summed through m, mc and sum m r r^T."""
    ww, vv = vec3(own.V), tail3(own.V)
    mass, mc, r = mass_of.Mrr[15], first_moment(mass_of.Mrr), mass_of.rotary
    f = cross(wh, add(scale(mass, vv), cross(ww, mc)))
    n = add(cross(ww, symmetric_times(vec6(r), ww)), cross(mc, cross(wh, vv)))
    S = (r[6], r[7], r[8], r[9], r[10], r[11])
    n = add(n, cross(symmetric_times(S, wh), ww))  # sum m r x (wh x (w x r)) = (S wh) x w
    put_pair(n, f, own.z)


@inlined
def _spread_products(m, w, b, u, wh):
    """Add what modes bring to b_i where mass is spread: phi . (wh x v), r x (wh x phi etad).

    With C = int phi r^T and g_kl = int phi_l x phi_k these are exact. Of the rotary inertia of
    sections, w x Jc w, the terms up to first order in etad are kept: they do no work by
    themselves.
    """
    body, own = m.body[b], w.body[b]
    f, ww, vv = body.flex, vec3(own.V), tail3(own.V)
    turn, drift = dot(ww, wh), cross(wh, vv)
    for k in range(body.n_modes):
        etad, mode = u[body.u_start + k], m.spread_mode[body.mode_first + k]
        C, Z, trace = mat9(mode.C), mat9(mode.Z), mode.C[0] + mode.C[4] + mode.C[8]
        Cw, Zw = times(C, wh), times(Z, ww)
        force = dot(tail3(mode.Mfr), drift) + dot(ww, Cw) - trace * turn - dot(ww, Zw)
        for l in range(body.n_modes):
            force += u[body.u_start + l] * dot(vec3(m.spread_G[f, k, l]), wh)
        w.cf[body.mode_first + k] += force
        moment = add(sub(scale(trace, wh), Cw), sub(Zw, cross(vec3(mode.y), ww)))
        add_pair(scale(etad, moment), scale(etad, cross(wh, tail3(mode.Mfr))), own.z)


@inlined
def _nodal_products(m, w, b, u, wh):
    """Add b_i of a flexible body, node by node."""
    body, own = m.body[b], w.body[b]
    for i in range(body.node_first, body.node_last):
        node = m.node[i]
        r, p, w_j = vec3(node.r), vec3(node.p), vec3(own.V)
        v_j = add(tail3(own.V), cross(w_j, r))
        for k in range(body.n_modes):
            s, Pi = u[body.u_start + k], m.node_Pi[i, k]
            w_j, v_j = add(w_j, scale(s, vec3(Pi))), add(v_j, scale(s, tail3(Pi)))
        force = cross(wh, scale(node.m, add(v_j, cross(w_j, p))))
        moment = add(cross(w_j, symmetric_times(vec6(node.Jc), w_j)), cross(p, force))
        for k in range(body.n_modes):
            for c in range(3):
                w.cf[body.mode_first + k] += (
                    m.node_Pi[i, k, c] * moment[c] + m.node_Pi[i, k, 3 + c] * force[c]
                )
        add_pair(add(moment, cross(r, force)), force, own.z)
