"""Closed loops: constraint forces found inside the articulated-body sweeps, O(path).

Each constraint is a pair of opposite forces on two bodies. Its unit force passes from there to the
base as any force does (`operators.gather_forces`) and leaves an innovation in every joint and mode
on its path. With E their columns, scaled by the roots of D,

    J M^-1 J^T = E^T E,    J udot + gamma = E^T y + (velocity products and prescribed motion),

y being the innovations of the motion without constraint forces: no outward sweep is needed to know
how the gap would accelerate. The multipliers then change y by E times themselves, and the one
outward sweep that follows gives constrained accelerations (docs/equations.md section 11).
"""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.jacobian import project_force
from darts_py.multibody.joints import ZERO
from darts_py.multibody.loop_motion import measure_gaps, measure_loop, sweep_links
from darts_py.multibody.model import (
    EXTRA,
    FORCE,
    FORM_CARRIED,
    FORM_REVOLUTE,
    GAP,
    RATE,
    REST,
)
from darts_py.multibody.motion import sweep_motion
from darts_py.multibody.redundancy import rank_is_held, solve_redundant
from darts_py.multibody.semidefinite import solve_regular
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
def constrain(m, w, q, u, conserving):
    """Add the constraint forces between the inward and the outward sweep."""
    loop, row = w.loop, w.loop.row
    if m.closure[0].gain_position > 0.0:
        measure_gaps(m, w, q)
    sweep_links(m, w, u, conserving)
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        first, last = closure.row_first, closure.row_first + closure.n_rows
        measure_loop(m, w, c, u, conserving)
        for r in range(first, last):
            S = closure.S[r - first]
            _push(m, w, c, r, vec3(S), tail3(S))
        _send_to_base(m, w, closure, first, last, False)
        for r in range(first, last):
            wanted = row[REST, r] + row[EXTRA, r] + closure.gain_velocity * row[RATE, r]
            row[REST, r] = -(wanted + closure.gain_position * row[GAP, r])
    n, below = row.shape[1], loop.column.shape[0]
    Lam, normal = loop.column[below - 2 * n : below - n], loop.column[below - n :]
    _fill_inverse_inertia(m, w, Lam)
    if rank_is_held(w) or not solve_regular(Lam, row[REST], row[FORCE], normal):
        solve_redundant(m, w, q)
    _apply_forces(m, w)


# -- constraint forces on their way to the base -----------------------------------------------
#
# All rows of a closure travel together: what one row waits for, the others compute meanwhile.


@inlined
def _push(m, w, c, r, n, f):
    """Start row r with a force on A (B axes, at A) and its opposite on B.

    Forces are in reference axes, about the reference origin.
    """
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
def _send_to_base(m, w, closure, first, last, unload):
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


# -- all constraints together -----------------------------------------------------------------


@inlined
def _fill_inverse_inertia(m, w, Lam):
    """J M^-1 J^T = E^T E, lower triangle; the fast path's innovations are weighted here."""
    E, n = w.loop.column[12 + m.mode.shape[0] :], Lam.shape[1]
    for r in range(n):
        for s in range(r + 1):
            Lam[r, s] = 0.0
    for i in range(m.closure[0].all_first, m.closure[0].all_last):
        b = m.path[i]
        body = m.body[b]
        weight = w.body[b].d if body.form == FORM_REVOLUTE else 1.0
        last = body.u_start + body.n_modes + (0 if body.locked else body.n_hinge)
        for j in range(body.u_start, last):
            for r in range(n):
                e = weight * E[j, r]
                for s in range(r + 1):
                    Lam[r, s] += e * E[j, s]


@inlined
def _apply_forces(m, w):
    """Let the constraint forces act on the innovations of the motion."""
    E, force = w.loop.column[12 + m.mode.shape[0] :], w.loop.row[FORCE]
    for i in range(m.closure[0].all_first, m.closure[0].all_last):
        b = m.path[i]
        body = m.body[b]
        for j in range(body.n_modes + body.n_hinge):
            s = 0.0
            for r in range(force.shape[0]):
                s += E[body.u_start + j, r] * force[r]
            if body.form == FORM_REVOLUTE:
                w.body[b].e += s
            elif j < body.n_modes:
                w.yf[body.flex, j] += s
            elif not body.locked:
                w.hinge[b].y[j - body.n_modes] += s


@kernel
def load_loops(m, w):
    """Take the constraint forces off the bias forces, so that these tell the loads (`loads.py`).

    A rigid body's z holds all that hangs on it, a flexible one's only its own: that is where its
    frames' forces go.
    """
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        n, f = ZERO, ZERO
        for r in range(closure.n_rows):
            s = w.loop.row[FORCE, closure.row_first + r]
            S = closure.S[r]
            n, f = add(n, scale(s, vec3(S))), add(f, scale(s, tail3(S)))
        _push(m, w, c, 0, n, f)
        _send_to_base(m, w, closure, 0, 1, True)
        n_a, f_a, n_b, f_b = frame_forces(m, w, c, n, f)
        _load_flexible(m, w, closure.body_a, vec3(closure.x_a), closure.hook_a, n_a, f_a)
        _load_flexible(m, w, closure.body_b, vec3(closure.x_b), closure.hook_b, n_b, f_b)
    for k in range(12 + m.mode.shape[0], 12 + m.mode.shape[0] + m.speed.shape[0]):
        w.loop.column[k, 0] = 0.0  # innovations of forces that are not row 0's alone


@inlined
def frame_forces(m, w, c, n, f):
    """Turn a force on A, B axes, into forces on A's and B's body at their frames, body axes."""
    closure, frame = m.closure[c], w.loop.frame[c]
    C, R_b = mat9(frame.C_a), mat9(closure.R_b)
    n_b = scale(-1.0, times(R_b, shift_force(vec3(frame.p), n, f)))
    return times_t(C, n), times_t(C, f), n_b, scale(-1.0, times(R_b, f))


@inlined
def _load_flexible(m, w, b, x, hook, n, f):
    """Take a force on a frame of a flexible body off its bias forces."""
    if b == m.body.shape[0] or m.body[b].flex < 0:
        return
    for k in range(m.body[b].n_modes):
        Pi = m.hook[hook + k].Pi
        w.cf[m.body[b].mode_first + k] -= dot(vec3(Pi), n) + dot(tail3(Pi), f)
    n = add(n, cross(x, f))
    add_pair(scale(-1.0, n), scale(-1.0, f), w.body[b].z)


@kernel
def closure_jacobian(m, w, q, still, out):
    """Write J (r, n_speeds) of all closures: their velocity errors are J u."""
    out[:, :] = 0.0
    if m.closure.shape[0] == 0:
        return
    sweep_motion(m, w, q, still)
    sweep_links(m, w, still, True)
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        measure_loop(m, w, c, still, True)
        for r in range(closure.n_rows):
            row, S = out[closure.row_first + r], closure.S[r]
            n_a, f_a, n_b, f_b = frame_forces(m, w, c, vec3(S), tail3(S))
            _project_frame(m, w, closure.body_a, vec3(closure.x_a), closure.hook_a, n_a, f_a, row)
            _project_frame(m, w, closure.body_b, vec3(closure.x_b), closure.hook_b, n_b, f_b, row)


@inlined
def _project_frame(m, w, b, x, hook, n, f, out):
    if b == m.body.shape[0]:
        return
    for k in range(m.body[b].n_modes):
        Pi = m.hook[hook + k].Pi
        out[m.body[b].u_start + k] += dot(vec3(Pi), n) + dot(tail3(Pi), f)
    project_force(m, w, b, add(n, cross(x, f)), f, out)
