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
from darts_py.multibody.handover import on_one_axis
from darts_py.multibody.jacobian import project_force
from darts_py.multibody.joints import ZERO
from darts_py.multibody.loop_motion import measure_gaps, measure_loop, sweep_links
from darts_py.multibody.model import FORM_CARRIED, FORM_REVOLUTE
from darts_py.multibody.motion import sweep_motion
from darts_py.multibody.semidefinite import solve_semidefinite
from darts_py.spatial.inertia import shift_force
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
    times_t,
    vec3,
)


@inlined
def constrain(m, w, q, u, conserving):
    """Add the constraint forces between the inward and the outward sweep."""
    loop = w.loop
    if m.closure[0].gain_position > 0.0:
        measure_gaps(m, w, q)
    sweep_links(m, w, u, conserving)
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        measure_loop(m, w, c, u, conserving)
        for r in range(closure.row_first, closure.row_first + closure.n_rows):
            S = closure.S[r - closure.row_first]
            loop.rest[r] += _send_to_base(m, w, c, r, vec3(S), tail3(S), False)
            wanted = loop.rest[r] + loop.extra[r] + closure.gain_velocity * loop.rate[r]
            loop.rest[r] = -(wanted + closure.gain_position * loop.gap[r])
    _fill_inverse_inertia(m, w)
    solve_semidefinite(loop.Lam, loop.rest, loop.force, loop.normal, loop.vector, loop.order)
    _apply_forces(m, w)


# -- one constraint's force on its way to the base --------------------------------------------


@inlined
def _send_to_base(m, w, c, r, n, f, unload):
    """Send a force on A (B axes, at A) and its opposite on B through their paths to the base.

    Leaves its innovations in column r of E, and on request takes it off the bias forces (`unload`).
    Returns how the joints, modes and bodies it passes would move the gap.
    """
    closure, links, R_B = m.closure[c], w.loop.link, mat9(w.loop.frame[c].R_B)
    a, b = closure.body_a, closure.body_b
    n, f = times(R_B, n), times(R_B, f)  # reference axes, and about the reference origin:
    r_a = add(vec3(links[a].r), times(mat9(links[a].R), vec3(closure.x_a)))
    r_b = add(vec3(links[b].r), times(mat9(links[b].R), vec3(closure.x_b)))
    n_a, n_b = shift_force(r_a, n, f), shift_force(r_a if closure.slides else r_b, n, f)
    f_a, n_b, f_b = f, scale(-1.0, n_b), scale(-1.0, f)
    _bend(m, w, a, m.closure_Pi[2 * c], r_a, n_a, f_a)
    _bend(m, w, b, m.closure_Pi[2 * c + 1], r_b, n_b, f_b)
    first, second, trunk = closure.path_first, closure.path_b, closure.path_trunk
    moved_a, n_a, f_a = _pass_chain(m, w, first, second, r, n_a, f_a, unload)
    moved_b, n_b, f_b = _pass_chain(m, w, second, trunk, r, n_b, f_b, unload)
    n, f = add(n_a, n_b), add(f_a, f_b)
    moved, n, f = _pass_chain(m, w, trunk, closure.path_last, r, n, f, unload)
    if not closure.grounded:  # reference axes are the root's
        f = times(mat9(w.body[m.path[closure.path_last - 1]].A), f)
    return moved + moved_a + moved_b - dot(f, vec3(m.gravity))  # the ground's own acceleration


@inlined
def _bend(m, w, b, Pi, r, n, f):
    """Let a force bend body b at the point r, where its modal matrix is Pi."""
    if b < m.body.shape[0] and m.body[b].n_modes > 0:
        R, body = mat9(w.loop.link[b].R), m.body[b]
        n, f = times_t(R, sub(n, cross(r, f))), times_t(R, f)
        for k in range(body.n_modes):
            w.loop.Ff[body.mode_first + k] += dot(vec3(Pi[k]), n) + dot(tail3(Pi[k]), f)


@inlined
def _pass_chain(m, w, first, last, r, n, f, unload):
    """Pass a force through the bodies path[first:last]; returns the gap's motion and the rest."""
    moved = 0.0
    for i in range(first, last):
        b = m.path[i]
        body, own, link = m.body[b], w.body[b], w.loop.link[b]
        if unload and body.flex < 0:
            R = mat9(link.R)
            n_b, f_b = times_t(R, sub(n, cross(vec3(link.r), f))), times_t(R, f)
            add_pair(scale(-1.0, n_b), scale(-1.0, f_b), own.z)
        if on_one_axis(body):
            e = dot(vec3(link.h), n) + dot(tail3(link.h), f)
            if body.form == FORM_CARRIED:
                moved += e * w.given[body.u_start]
            else:
                w.loop.E[body.u_start, r] = e
                e *= own.d
                n, f = sub(n, scale(e, vec3(link.U))), sub(f, scale(e, tail3(link.U)))
                moved += e * own.e
            moved += dot(n, vec3(link.a)) + dot(f, tail3(link.a))
        else:
            moved_b, n, f = _pass_general(m, w, b, r, n, f)
            moved += moved_b
        if body.parent < m.body.shape[0] and m.body[body.parent].n_modes > 0:
            _bend_parent(m, w, b, n, f)
    return moved, n, f


@inlined
def _pass_general(m, w, b, r, n, f):
    """Pass a force through any body, in its own axes: modes first, then the hinge."""
    body, own, hinge, loop, F = m.body[b], w.body[b], w.hinge[b], w.loop, w.scratch[0].z
    R, arm = mat9(loop.link[b].R), vec3(loop.link[b].r)
    start, nm, flex = body.u_start, body.n_modes, body.flex
    put_pair(times_t(R, sub(n, cross(arm, f))), times_t(R, f), F)
    moved = 0.0
    for k in range(nm):  # e_f = F_f - Pd^T F
        e, Pd = loop.Ff[body.mode_first + k], m.mode[body.mode_first + k].Pd
        for c in range(6):
            e -= Pd[c] * F[c]
        loop.E[start + k, r] = e
        loop.Ff[body.mode_first + k] = 0.0  # ready for the next force
    if nm > 0:
        moved += _pass_block(m, w, start, nm, w.Lf[flex], w.Yf[flex], w.yf[flex], r, F)
    for c in range(6):
        moved += F[c] * own.a[c]
    if not body.locked:
        for j in range(body.n_hinge):
            e = 0.0
            for c in range(6):
                e += hinge.H[j, c] * F[c]
            loop.E[start + nm + j, r] = e
        moved += _pass_block(m, w, start + nm, body.n_hinge, hinge.L, hinge.Y, hinge.y, r, F)
    f = times(R, tail3(F))
    return moved, add(times(R, vec3(F)), cross(arm, f)), f


@inlined
def _pass_block(m, w, start, n, L, Y, y, r, F):
    """E := L^-1 e and F -= Y^T E; returns how these unknowns move the gap, E . y."""
    E, moved = w.loop.E, 0.0
    for j in range(n):
        e = E[start + j, r]
        if m.speed[start + j].given:  # moves as told, whatever pushes
            moved += e * w.given[start + j]
            E[start + j, r] = 0.0
            continue
        for k in range(j):
            e -= L[j, k] * E[start + k, r]
        e /= L[j, j]
        E[start + j, r] = e
        moved += e * y[j]
        for c in range(6):
            F[c] -= Y[j, c] * e
    return moved


@inlined
def _bend_parent(m, w, b, n, f):
    """Let the force of body b bend its parent at O+."""
    body = m.body[b]
    parent, above = m.body[body.parent], w.loop.link[body.parent]
    R = mat9(above.R)
    r = add(vec3(above.r), times(R, vec3(body.x_pO)))
    n, f = times_t(R, sub(n, cross(r, f))), times_t(R, f)
    for k in range(parent.n_modes):
        Pi = m.hook[body.hook_first + k].Pi
        w.loop.Ff[parent.mode_first + k] += dot(vec3(Pi), n) + dot(tail3(Pi), f)


# -- all constraints together -----------------------------------------------------------------


@inlined
def _fill_inverse_inertia(m, w):
    """J M^-1 J^T = E^T E, lower triangle; the fast path's innovations are weighted here."""
    loop, n = w.loop, w.loop.force.shape[0]
    for r in range(n):
        for s in range(r + 1):
            loop.Lam[r, s] = 0.0
    for i in range(m.loop_body.shape[0]):
        b = m.loop_body[i]
        body = m.body[b]
        weight = w.body[b].d if body.form == FORM_REVOLUTE else 1.0
        last = body.u_start + body.n_modes + (0 if body.locked else body.n_hinge)
        for j in range(body.u_start, last):
            for r in range(n):
                e = weight * loop.E[j, r]
                for s in range(r + 1):
                    loop.Lam[r, s] += e * loop.E[j, s]


@inlined
def _apply_forces(m, w):
    """Let the constraint forces act on the innovations of the motion."""
    loop, n = w.loop, w.loop.force.shape[0]
    for i in range(m.loop_body.shape[0]):
        b = m.loop_body[i]
        body = m.body[b]
        for j in range(body.n_modes + body.n_hinge):
            s = 0.0
            for r in range(n):
                s += loop.E[body.u_start + j, r] * loop.force[r]
            if body.form == FORM_REVOLUTE:
                w.body[b].e += s
            elif j < body.n_modes:
                w.yf[body.flex, j] += s
            elif not body.locked:
                w.hinge[b].y[j - body.n_modes] += s


@inlined
def load_loops(m, w):
    """Take the constraint forces off the bias forces, so that these tell the loads (`loads.py`).

    A rigid body's z holds all that hangs on it, a flexible one's only its own: that is where its
    frames' forces go.
    """
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        n, f = ZERO, ZERO
        for r in range(closure.n_rows):
            s = w.loop.force[closure.row_first + r]
            S = closure.S[r]
            n, f = add(n, scale(s, vec3(S))), add(f, scale(s, tail3(S)))
        _send_to_base(m, w, c, 0, n, f, True)
        n_a, f_a, n_b, f_b = frame_forces(m, w, c, n, f)
        _load_flexible(m, w, closure.body_a, vec3(closure.x_a), 2 * c, n_a, f_a)
        _load_flexible(m, w, closure.body_b, vec3(closure.x_b), 2 * c + 1, n_b, f_b)


@inlined
def frame_forces(m, w, c, n, f):
    """Turn a force on A, B axes, into forces on A's and B's body at their frames, body axes."""
    closure, frame = m.closure[c], w.loop.frame[c]
    C, R_b = mat9(frame.C_a), mat9(closure.R_b)
    n_b = scale(-1.0, times(R_b, shift_force(vec3(frame.p), n, f)))
    return times_t(C, n), times_t(C, f), n_b, scale(-1.0, times(R_b, f))


@inlined
def _load_flexible(m, w, b, x, row, n, f):
    """Take a force on a frame of a flexible body off its bias forces."""
    if b == m.body.shape[0] or m.body[b].flex < 0:
        return
    for k in range(m.body[b].n_modes):
        Pi = m.closure_Pi[row, k]
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
            _project_frame(m, w, closure.body_a, vec3(closure.x_a), 2 * c, n_a, f_a, row)
            _project_frame(m, w, closure.body_b, vec3(closure.x_b), 2 * c + 1, n_b, f_b, row)


@inlined
def _project_frame(m, w, b, x, row, n, f, out):
    if b == m.body.shape[0]:
        return
    for k in range(m.body[b].n_modes):
        Pi = m.closure_Pi[row, k]
        out[m.body[b].u_start + k] += dot(vec3(Pi), n) + dot(tail3(Pi), f)
    project_force(m, w, b, add(n, cross(x, f)), f, out)
