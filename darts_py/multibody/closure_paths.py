"""Constraint forces on their way to the base, and the innovations they leave there.

Forces are in reference axes, about the reference origin (`loop_motion.sweep_links`): one force is
the same all along its path. All rows of a closure travel together: what one row waits for, the
others compute meanwhile.
"""

from __future__ import annotations

from darts_py._jit import inlined
from darts_py.multibody.model import FORM_CARRIED, FORM_REVOLUTE, REST
from darts_py.spatial.inertia import shift_force
from darts_py.spatial.vector import (
    add,
    add_pair,
    cross,
    dot,
    mat9,
    scale,
    sub,
    tail3,
    times,
    times_t,
    vec3,
)


@inlined
def push_row(m, w, c, r, n, f):
    """Start row r with a force on A (B axes, at A) and its opposite on B."""
    closure, frame = m.closure[c], w.loop.frame[c]
    a, b, r_a, r_b = closure.body_a, closure.body_b, vec3(frame.r_a), vec3(frame.r_b)
    n, f = times(mat9(frame.R_B), n), times(mat9(frame.R_B), f)
    n_a = shift_force(r_a, n, f)
    n_b, f_b = scale(-1.0, n_a), scale(-1.0, f)  # on one line: momentum is kept
    _put_force(n_a, f, w.loop.column, r)
    _put_force(n_b, f_b, w.loop.column[6:], r)
    _bend(m, w, a, closure.hook_a, r_a, n_a, f, r)
    _bend(m, w, b, closure.hook_b, r_b, n_b, f_b, r)


@inlined
def _put_force(n, f, F, r):
    for c in range(3):
        F[c, r] = n[c]
        F[3 + c, r] = f[c]


@inlined
def _force(F, r):
    return (F[0, r], F[1, r], F[2, r]), (F[3, r], F[4, r], F[5, r])


@inlined
def _bend(m, w, b, hook, at, n, f, r):
    """Let a force bend body b at a point where its modes begin at `hook`."""
    if b < m.body.shape[0] and m.body[b].n_modes > 0:
        R, body, Ff = mat9(w.loop.link[b].R), m.body[b], w.loop.column[12:]
        n, f = times_t(R, sub(n, cross(at, f))), times_t(R, f)
        for k in range(body.n_modes):
            Pi = m.hook[hook + k].Pi
            Ff[body.mode_first + k, r] += dot(vec3(Pi), n) + dot(tail3(Pi), f)


@inlined
def send_to_base(m, w, closure, first, last, unload):
    """Send rows first to last through a closure's paths, first from A and B, then together.

    Leaves their innovations in E and adds to `rest` how the joints, modes and bodies on the way
    would move the gap; takes the forces off the bias forces if asked to (`unload`).
    """
    F, F_b, rest = w.loop.column, w.loop.column[6:], w.loop.row[REST]
    _pass_chain(m, w, closure.path_first, closure.path_b, F, first, last, unload)
    _pass_chain(m, w, closure.path_b, closure.path_trunk, F_b, first, last, unload)
    for c in range(6):
        for r in range(first, last):
            F[c, r] += F_b[c, r]
    _pass_chain(m, w, closure.path_trunk, closure.path_last, F, first, last, unload)
    g = vec3(m.gravity)  # the ground accelerates against it
    if not closure.grounded:  # reference axes are the root's
        g = times_t(mat9(w.body[m.path[closure.path_last - 1]].A), g)
    for r in range(first, last):
        rest[r] -= dot(_force(F, r)[1], g)


@inlined
def _pass_chain(m, w, begin, end, F, first, last, unload):
    """Pass forces through the bodies path[begin:end]."""
    for i in range(begin, end):
        b = m.path[i]
        body = m.body[b]
        if unload and body.flex < 0:
            _unload(w, b, F, first, last)
        if body.form == FORM_REVOLUTE:
            _pass_axis(m, w, b, F, first, last)
        elif body.form == FORM_CARRIED:
            _pass_carried(m, w, b, F, first, last)
        else:
            _pass_general(m, w, b, F, first, last)
        if body.parent < m.body.shape[0] and m.body[body.parent].n_modes > 0:
            _bend_parent(m, w, b, F, first, last)


@inlined
def _pass_axis(m, w, b, F, first, last):
    """Pass forces through a body of the fast path: F - U d h.F goes on."""
    own, link, E, rest = (
        w.body[b],
        w.loop.link[b],
        w.loop.column[12 + m.mode.shape[0] :],
        w.loop.row[REST],
    )
    speed = m.body[b].u_start
    d, force = own.d, own.e
    hw, hv, Uw, Uv = vec3(link.h), tail3(link.h), vec3(link.U), tail3(link.U)
    aw, av = vec3(link.a), tail3(link.a)
    for r in range(first, last):
        n, f = _force(F, r)
        e = dot(hw, n) + dot(hv, f)
        E[speed, r] = e
        e *= d
        n, f = sub(n, scale(e, Uw)), sub(f, scale(e, Uv))
        _put_force(n, f, F, r)
        rest[r] += e * force + dot(n, aw) + dot(f, av)


@inlined
def _pass_carried(m, w, b, F, first, last):
    """Pass forces through a body that turns as prescribed."""
    link, E, rest = w.loop.link[b], w.loop.column[12 + m.mode.shape[0] :], w.loop.row[REST]
    speed = m.body[b].u_start
    given = w.given[speed]
    for r in range(first, last):
        n, f = _force(F, r)
        E[speed, r] = 0.0
        rest[r] += given * (dot(vec3(link.h), n) + dot(tail3(link.h), f))
        rest[r] += dot(n, vec3(link.a)) + dot(f, tail3(link.a))


@inlined
def _pass_general(m, w, b, F, first, last):
    """Pass forces through any body, in its own axes: modes first, then the hinge."""
    body, own, hinge = m.body[b], w.body[b], w.hinge[b]
    E, Ff, rest = w.loop.column[12 + m.mode.shape[0] :], w.loop.column[12:], w.loop.row[REST]
    R, arm = mat9(w.loop.link[b].R), vec3(w.loop.link[b].r)
    start, nm, nr, flex = body.u_start, body.n_modes, body.n_hinge, body.flex
    for r in range(first, last):
        n, f = _force(F, r)
        _put_force(times_t(R, sub(n, cross(arm, f))), times_t(R, f), F, r)
    for k in range(nm):  # e_f = F_f - Pd^T F
        Pd = m.mode[body.mode_first + k].Pd
        for r in range(first, last):
            n, f = _force(F, r)
            e = Ff[body.mode_first + k, r] - dot(vec3(Pd), n) - dot(tail3(Pd), f)
            E[start + k, r] = e
            Ff[body.mode_first + k, r] = 0.0  # ready for the next time
    if nm > 0:
        _pass_block(m, w, start, nm, w.Lf[flex], w.Yf[flex], w.yf[flex], F, first, last)
    for r in range(first, last):
        n, f = _force(F, r)
        rest[r] += dot(n, vec3(own.a)) + dot(f, tail3(own.a))
        if not body.locked:
            for j in range(nr):
                h = hinge.H[j]
                E[start + nm + j, r] = dot(vec3(h), n) + dot(tail3(h), f)
    if not body.locked:
        _pass_block(m, w, start + nm, nr, hinge.L, hinge.Y, hinge.y, F, first, last)
    for r in range(first, last):
        n, f = _force(F, r)
        n, f = times(R, n), times(R, f)
        _put_force(add(n, cross(arm, f)), f, F, r)


@inlined
def _pass_block(m, w, start, n, L, Y, y, F, first, last):
    """E := L^-1 e and F -= Y^T E; these unknowns move the gap by E . y."""
    E, rest = w.loop.column[12 + m.mode.shape[0] :], w.loop.row[REST]
    for j in range(n):
        if m.speed[start + j].given:  # moves as told, whatever pushes
            for r in range(first, last):
                rest[r] += E[start + j, r] * w.given[start + j]
                E[start + j, r] = 0.0
            continue
        for k in range(j):
            s = L[j, k]
            for r in range(first, last):
                E[start + j, r] -= s * E[start + k, r]
        s, own = 1.0 / L[j, j], y[j]
        for r in range(first, last):
            E[start + j, r] *= s
            rest[r] += E[start + j, r] * own
        for c in range(6):
            s = Y[j, c]
            for r in range(first, last):
                F[c, r] -= s * E[start + j, r]


@inlined
def _bend_parent(m, w, b, F, first, last):
    """Let the forces of body b bend its parent at O+."""
    body = m.body[b]
    parent, above = m.body[body.parent], w.loop.link[body.parent]
    R, Ff = mat9(above.R), w.loop.column[12:]
    at = add(vec3(above.r), times(R, vec3(body.x_pO)))
    for r in range(first, last):
        n, f = _force(F, r)
        n, f = times_t(R, sub(n, cross(at, f))), times_t(R, f)
        for k in range(parent.n_modes):
            Pi = m.hook[body.hook_first + k].Pi
            Ff[parent.mode_first + k, r] += dot(vec3(Pi), n) + dot(tail3(Pi), f)


@inlined
def _unload(w, b, F, first, last):
    """Take forces off the bias force of body b."""
    R, arm = mat9(w.loop.link[b].R), vec3(w.loop.link[b].r)
    for r in range(first, last):
        n, f = _force(F, r)
        n, f = times_t(R, sub(n, cross(arm, f))), times_t(R, f)
        add_pair(scale(-1.0, n), scale(-1.0, f), w.body[b].z)
