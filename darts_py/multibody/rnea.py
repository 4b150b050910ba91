"""Inverse dynamics: the recursive Newton-Euler algorithm (Jain & Rodriguez 45).

All bodies take the general steps here, so that it also checks the fast path of `aba.py`.
"""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.conserving import sweep_velocities_conserving
from darts_py.multibody.forces import add_joint_forces, load_nodes
from darts_py.multibody.general import general_velocity
from darts_py.multibody.handover import hand_force, modal_motion_at_hinge
from darts_py.multibody.model import MFF
from darts_py.spatial.inertia import blocks, inertia_times
from darts_py.spatial.vector import (
    add,
    add_pair,
    cross,
    dot,
    mat9,
    put_pair,
    scale,
    tail3,
    times_t,
    vec3,
)


@kernel
def inverse_dynamics(m, w, q, u, udot, node_force, conserving, tau):
    """Write tau = M(q) udot + C(q, u); leaves accelerations and hinge loads in w.body."""
    if conserving:
        sweep_velocities_conserving(m, w, q, u)
    else:
        for b in range(m.body.shape[0]):
            general_velocity(m, w, b, q, u)
    load_nodes(m, w, node_force)
    sweep_given_accelerations(m, w, udot)
    gather_loads(m, w, udot, tau)
    w.tau[:] = 0.0
    add_joint_forces(m, q, u, w.scratch[0].G, w.tau)
    for k in range(tau.shape[0]):
        tau[k] -= w.tau[k]


@inlined
def sweep_given_accelerations(m, w, udot):
    """al_i = X Q_t alm_p + H betad - Pd etadd + a_i, base to tips."""
    ground = m.body.shape[0]
    for k in range(3):
        w.body[ground].al[3 + k] = -m.gravity[k]
    for b in range(ground):
        body, own, hinge = m.body[b], w.body[b], w.hinge[b]
        p, R, l = body.parent, mat9(own.A), vec3(own.l)
        aw = vec3(w.body[p].al)
        av = add(tail3(w.body[p].al), cross(aw, l))
        if p < ground:
            gw, gv = modal_motion_at_hinge(body, m.body[p], m.hook, udot, l)
            aw, av = add(aw, gw), add(av, gv)
        put_pair(add(times_t(R, aw), vec3(own.a)), add(times_t(R, av), tail3(own.a)), own.al)
        for j in range(body.n_hinge):
            s, h = udot[body.u_start + body.n_modes + j], hinge.H[j]
            add_pair(scale(s, vec3(h)), scale(s, tail3(h)), own.al)
        for k in range(body.n_modes):
            s, Pd = udot[body.u_start + k], m.mode[body.mode_first + k].Pd
            add_pair(scale(-s, vec3(Pd)), scale(-s, tail3(Pd)), own.al)


@inlined
def gather_loads(m, w, udot, tau):
    """f_i = Mm alm + c + what the children need; T_f = f^f - Pd^T f^r, T_r = H^T f^r."""
    n_bodies = m.body.shape[0]
    for b in range(n_bodies):
        _own_load(m, w, b, udot)
    for b in range(n_bodies - 1, -1, -1):
        body, own, hinge = m.body[b], w.body[b], w.hinge[b]
        fr = own.fr
        for k in range(body.n_modes):
            Pd = m.mode[body.mode_first + k].Pd
            force = w.cf[body.mode_first + k] - dot(vec3(Pd), vec3(fr)) - dot(tail3(Pd), tail3(fr))
            tau[body.u_start + k] = force
        for j in range(body.n_hinge):
            h = hinge.H[j]
            force = dot(vec3(h), vec3(fr)) + dot(tail3(h), tail3(fr))
            tau[body.u_start + body.n_modes + j] = force
        if body.parent < n_bodies:
            hand_force(m, w, b, fr, w.body[body.parent].fr)


@inlined
def _own_load(m, w, b, udot):
    """Start f^r with Mfr^T etadd + Mrr al + z and f^f with Mff etadd + Mfr al + cf."""
    body, own = m.body[b], w.body[b]
    A, B, M = blocks(body.Mrr)
    n, f = inertia_times(A, B, M, vec3(own.al), tail3(own.al))
    put_pair(add(n, vec3(own.z)), add(f, tail3(own.z)), own.fr)
    for k in range(body.n_modes):
        s, Mfr = udot[body.u_start + k], m.mode[body.mode_first + k].Mfr
        add_pair(scale(s, vec3(Mfr)), scale(s, tail3(Mfr)), own.fr)
        force = dot(vec3(Mfr), vec3(own.al)) + dot(tail3(Mfr), tail3(own.al))
        for j in range(body.n_modes):
            force += m.modal[MFF, body.flex, k, j] * udot[body.u_start + j]
        w.cf[body.mode_first + k] += force
