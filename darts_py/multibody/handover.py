"""What passes between a body and its parent, which may be flexible.

Outward: velocity and acceleration of the parent at the child's hinge. Inward: the child's
articulated inertia and force. A rigid parent takes them at its own origin; a flexible one keeps
them at O+ (`Gam`, `f`), since its modes feel them there.
"""

from __future__ import annotations

from darts_py._jit import inlined
from darts_py.multibody.model import FORM_CARRIED, FORM_REVOLUTE
from darts_py.spatial.inertia import (
    add_inertia,
    put_inertia,
    shift_coupling,
    shift_force,
    shift_rotation,
)
from darts_py.spatial.vector import (
    add,
    add_pair,
    cross,
    dot,
    mat9,
    put_pair,
    scale,
    sub,
    tail3,
    times,
    vec3,
)


@inlined
def rate_at_hinge(body, parent, hook, w_p, u):
    """Angular velocity of a flexible parent's material at O+, parent axes."""
    for k in range(parent.n_modes):
        w_p = add(w_p, scale(u[parent.u_start + k], vec3(hook[body.hook_first + k].Pi)))
    return w_p


@inlined
def modal_motion_at_hinge(body, parent, hook, rates, l):
    """What a flexible parent's modal rates (or accelerations) add at O, parent axes."""
    gw, gv = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(parent.n_modes):
        s, Pi = rates[parent.u_start + k], hook[body.hook_first + k].Pi
        gw, gv = add(gw, scale(s, vec3(Pi))), add(gv, scale(s, tail3(Pi)))
    return gw, add(gv, cross(gw, sub(l, vec3(body.x_pO))))


@inlined
def acceleration_at_hinge(m, w, body, l):
    """Q_t alm_p moved to O, parent axes."""
    p = body.parent
    aw = vec3(w.body[p].al)
    av = add(tail3(w.body[p].al), cross(aw, l))
    if p < m.body.shape[0] and m.body[p].n_modes > 0:
        gw, gv = modal_motion_at_hinge(body, m.body[p], m.hook, w.udot, l)
        aw, av = add(aw, gw), add(av, gv)
    return aw, av


@inlined
def on_one_axis(body):
    """Tell whether a body takes the fast path, free or carried, which leaves own.l and H out."""
    return body.form == FORM_REVOLUTE or body.form == FORM_CARRIED


@inlined
def hinge_arm(body, own):
    """From the parent's origin to O, parent axes."""
    return vec3(body.x_pO) if on_one_axis(body) else vec3(own.l)


@inlined
def force_at_parent(body, own, l, n, f):
    """Turn a force at O into parent axes and move it to O+."""
    R = mat9(own.A)
    n, f = times(R, n), times(R, f)
    return shift_force(sub(l, vec3(body.x_pO)), n, f), f


@inlined
def hand_force(m, w, b, force, onto):
    """Add a force at body b's O to its parent: to its modes (w.cf) at O+, to its origin (onto)."""
    body, own = m.body[b], w.body[b]
    parent = m.body[body.parent]
    n, f = force_at_parent(body, own, vec3(own.l), vec3(force), tail3(force))
    for k in range(parent.n_modes):
        Pi = m.hook[body.hook_first + k].Pi
        w.cf[parent.mode_first + k] += dot(vec3(Pi), n) + dot(tail3(Pi), f)
    add_pair(shift_force(vec3(body.x_pO), n, f), f, onto)


@inlined
def hand_to_parent(m, w, b, l, A, B, M, n, f):
    """Give the parent body b's PRp = [[A, B], [B^T, M]] and zp = [n; f], both in parent axes."""
    body = m.body[b]
    rigid = m.body[body.parent].flex < 0
    if not rigid:
        l = sub(l, vec3(body.x_pO))
    C = shift_coupling(l, B, M)
    A = shift_rotation(l, A, B, C)
    n = shift_force(l, n, f)
    if rigid:
        parent = w.body[body.parent]
        add_inertia(A, C, M, parent.P)
        add_pair(n, f, parent.z)
    else:
        put_inertia(A, C, M, w.hinge[b].Gam)
        put_pair(n, f, w.hinge[b].f)
