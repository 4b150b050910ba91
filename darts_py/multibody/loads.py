"""Loads through the hinges, and the forces that prescribed motion needs.

After forward dynamics the articulated inertia of a body knows the load its hinge transmits without
another recursion: f = P al + z (docs/equations.md section 10: PRp ap + zp, with the hinge's own
acceleration put back). For a flexible body, whose children act on its modes, the loads of the
children are added to its own inertia force.
"""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.closures import load_loops
from darts_py.multibody.handover import force_at_parent, hinge_arm, on_one_axis
from darts_py.spatial.inertia import blocks, inertia_times, shift_force
from darts_py.spatial.vector import add, add_pair, dot, put_pair, scale, tail3, vec3


@kernel
def sweep_loads(m, w):
    """Write the load on every body through its inboard hinge into w.body.fr, tips to base.

    About the hinge point, hinge axes. Needs a `forward_dynamics` just before.
    """
    if m.closure.shape[0] > 0:
        load_loops(m, w)
    for b in range(m.body.shape[0] - 1, -1, -1):
        own = w.body[b]
        A, B, M = blocks(own.P)
        n, f = inertia_times(A, B, M, vec3(own.al), tail3(own.al))
        put_pair(add(n, vec3(own.z)), add(f, tail3(own.z)), own.fr)
        if m.body[b].flex >= 0:
            _add_modal_loads(m, w, b)


@inlined
def _add_modal_loads(m, w, b):
    """Add Mfr^T etadd and the children's loads to f^r; complete the force on each mode in cf."""
    body, own = m.body[b], w.body[b]
    for k in range(body.n_modes):
        s, Mfr = w.udot[body.u_start + k], m.mode[body.mode_first + k].Mfr
        add_pair(scale(s, vec3(Mfr)), scale(s, tail3(Mfr)), own.fr)
        force = dot(vec3(Mfr), vec3(own.al)) + dot(tail3(Mfr), tail3(own.al))
        for j in range(body.n_modes):
            force += m.Mff[body.flex, k, j] * w.udot[body.u_start + j]
        w.cf[body.mode_first + k] += force
    for i in range(body.child_first, body.child_last):
        c = m.child[i]
        child, fr = m.body[c], w.body[c].fr
        n, f = force_at_parent(child, w.body[c], hinge_arm(child, w.body[c]), vec3(fr), tail3(fr))
        for k in range(body.n_modes):
            Pi = m.hook[child.hook_first + k].Pi
            w.cf[body.mode_first + k] += dot(vec3(Pi), n) + dot(tail3(Pi), f)
        add_pair(shift_force(vec3(child.x_pO), n, f), f, own.fr)


@kernel
def required_forces(m, w, tau, out):
    """Write the generalized forces: those given, and those that prescribed accelerations need.

    Needs `sweep_loads`. What springs, dampers, friction and stops contribute is not asked for.
    """
    for b in range(m.body.shape[0]):
        body, fr = m.body[b], w.body[b].fr
        for k in range(body.n_modes + body.n_hinge):
            i = body.u_start + k
            out[i] = tau[i]
            if m.speed[i].given:
                out[i] += _force_on_speed(m, w, b, k, fr) - w.tau[i]


@inlined
def _force_on_speed(m, w, b, k, fr):
    """T_f = f^f - Pd^T f^r of a mode, T_r = H^T f^r of a joint's speed."""
    body = m.body[b]
    if k < body.n_modes:
        Pd = m.mode[body.mode_first + k].Pd
        return w.cf[body.mode_first + k] - dot(vec3(Pd), vec3(fr)) - dot(tail3(Pd), tail3(fr))
    if on_one_axis(body):
        return fr[2]
    h = w.hinge[b].H[k - body.n_modes]
    return dot(vec3(h), vec3(fr)) + dot(tail3(h), tail3(fr))
