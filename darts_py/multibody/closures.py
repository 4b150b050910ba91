"""Closed loops: constraint forces found inside the articulated-body sweeps, O(path).

Each constraint is a pair of opposite forces on two bodies. Its unit force is gathered from there to
the base as any force is (`operators.gather_forces`) and leaves an innovation in every joint and
mode it passes. With E their columns, scaled by the roots of D,

    J M^-1 J^T = E^T E,    J udot + gamma = E^T y + (velocity products and prescribed motion),

y being the innovations of the motion without constraint forces: no outward sweep is needed to know
how the gap would accelerate. The multipliers then change y by E times themselves, and the one
outward sweep that follows gives constrained accelerations (docs/equations.md section 11).
"""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.handover import force_at_parent, hinge_arm
from darts_py.multibody.jacobian import project_force
from darts_py.multibody.loop_motion import measure_gaps, measure_loop, sweep_loop_motion
from darts_py.multibody.model import FORM_REVOLUTE
from darts_py.multibody.motion import sweep_motion
from darts_py.multibody.semidefinite import solve_semidefinite
from darts_py.spatial.inertia import shift_force
from darts_py.spatial.vector import (
    add,
    add_pair,
    cross,
    dot,
    mat9,
    scale,
    tail3,
    times,
    times_t,
    vec3,
)


@inlined
def constrain(m, w, q, u, conserving):
    """Add the constraint forces between the inward and the outward sweep."""
    loop, n = w.loop, w.loop.force.shape[0]
    if m.closure[0].gain_position > 0.0:
        measure_gaps(m, w, q)
    sweep_loop_motion(m, w, u, conserving)
    _clear_forces(m, w)
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        measure_loop(m, w, c, u, conserving)
        for r in range(closure.row_first, closure.row_first + closure.n_rows):
            _load_frames(m, w, c, r)
        for i in range(closure.path_first, closure.path_last):
            b = m.path[i]
            if m.body[b].form == FORM_REVOLUTE:
                _gather_revolute(m, w, b, closure)
            else:
                _gather_general(m, w, b, closure)
    _fill_inverse_inertia(m, w)
    for r in range(n):
        F = loop.F[m.body.shape[0], r]  # the ground accelerates against gravity
        loop.rest[r] -= dot(tail3(F), vec3(m.gravity))
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        for r in range(closure.row_first, closure.row_first + closure.n_rows):
            wanted = loop.rest[r] + loop.extra[r] + closure.gain_velocity * loop.rate[r]
            loop.rest[r] = -(wanted + closure.gain_position * loop.gap[r])
    solve_semidefinite(loop.Lam, loop.rest, loop.force, loop.normal, loop.vector, loop.order)
    _apply_forces(m, w)


@inlined
def _clear_forces(m, w):
    loop, n = w.loop, w.loop.force.shape[0]
    for i in range(m.loop_body.shape[0] + 1):
        b = m.body.shape[0] if i == m.loop_body.shape[0] else m.loop_body[i]
        for r in range(n):
            for c in range(6):
                loop.F[b, r, c] = 0.0
        if b < m.body.shape[0]:
            for k in range(m.body[b].mode_first, m.body[b].mode_first + m.body[b].n_modes):
                for r in range(n):
                    loop.Ff[k, r] = 0.0


@inlined
def frame_forces(m, w, c, r):
    """Force of row r on A's body and on B's, each at its frame, body axes."""
    closure, frame = m.closure[c], w.loop.frame[c]
    S, C, R_b = closure.S[r - closure.row_first], mat9(frame.C_a), mat9(closure.R_b)
    n, f = vec3(S), tail3(S)
    n_b = shift_force(vec3(frame.p), n, f)
    return times_t(C, n), times_t(C, f), scale(-1.0, times(R_b, n_b)), scale(-1.0, times(R_b, f))


@inlined
def _load_frames(m, w, c, r):
    """Start column r with its pair of forces."""
    closure = m.closure[c]
    n_a, f_a, n_b, f_b = frame_forces(m, w, c, r)
    _load_frame(m, w, closure.body_a, vec3(closure.x_a), m.closure_Pi[2 * c], r, n_a, f_a)
    _load_frame(m, w, closure.body_b, vec3(closure.x_b), m.closure_Pi[2 * c + 1], r, n_b, f_b)


@inlined
def _load_frame(m, w, b, x, Pi, r, n, f):
    if b < m.body.shape[0]:
        for k in range(m.body[b].n_modes):
            w.loop.Ff[m.body[b].mode_first + k, r] += dot(vec3(Pi[k]), n) + dot(tail3(Pi[k]), f)
    add_pair(add(n, cross(x, f)), f, w.loop.F[b, r])


@inlined
def _gather_revolute(m, w, b, closure):
    """Pass columns through a body of the fast path: F - U d F_z goes on."""
    body, own, loop = m.body[b], w.body[b], w.loop
    U, d, e, a = own.U, own.d, own.e, own.a
    for r in range(closure.row_first, closure.row_first + closure.n_rows):
        F = loop.F[b, r]
        s = F[2] * d
        loop.E[body.u_start, r] = F[2]
        n = (F[0] - U[0] * s, F[1] - U[1] * s, 0.0)
        f = (F[3] - U[3] * s, F[4] - U[4] * s, F[5] - U[5] * s)
        loop.rest[r] += s * e + dot(n, vec3(a)) + dot(f, tail3(a))
        _hand_column(m, w, b, r, n, f)


@inlined
def _gather_general(m, w, b, closure):
    """Pass columns through any body: modes first, then the hinge."""
    body, own, hinge, loop, F = m.body[b], w.body[b], w.hinge[b], w.loop, w.scratch[0].z
    start, nm, nr, f = body.u_start, body.n_modes, body.n_hinge, body.flex
    for r in range(closure.row_first, closure.row_first + closure.n_rows):
        for c in range(6):
            F[c] = loop.F[b, r, c]
        for k in range(nm):  # e_f = F_f - Pd^T F
            e, Pd = loop.Ff[body.mode_first + k, r], m.mode[body.mode_first + k].Pd
            for c in range(6):
                e -= Pd[c] * F[c]
            loop.E[start + k, r] = e
        if nm > 0:
            loop.rest[r] += _pass_block(m, w, start, nm, w.Lf[f], w.Yf[f], w.yf[f], r, F)
        for c in range(6):
            loop.rest[r] += F[c] * own.a[c]
        if not body.locked:
            for j in range(nr):
                e = 0.0
                for c in range(6):
                    e += hinge.H[j, c] * F[c]
                loop.E[start + nm + j, r] = e
            loop.rest[r] += _pass_block(m, w, start + nm, nr, hinge.L, hinge.Y, hinge.y, r, F)
        _hand_column(m, w, b, r, vec3(F), tail3(F))


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
def _hand_column(m, w, b, r, n, f):
    """Hand a force on to the parent: to its modes at O+, to its origin."""
    body, own = m.body[b], w.body[b]
    n, f = force_at_parent(body, own, hinge_arm(body, own), n, f)
    if body.parent < m.body.shape[0]:
        parent = m.body[body.parent]
        for k in range(parent.n_modes):
            Pi = m.hook[body.hook_first + k].Pi
            w.loop.Ff[parent.mode_first + k, r] += dot(vec3(Pi), n) + dot(tail3(Pi), f)
    add_pair(shift_force(vec3(body.x_pO), n, f), f, w.loop.F[body.parent, r])


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
                if e != 0.0:
                    for s in range(r + 1):
                        loop.Lam[r, s] += e * loop.E[j, s]


@inlined
def _apply_forces(m, w):
    """Let the constraint forces act: on the innovations, and on the bias forces for the loads."""
    loop, n = w.loop, w.loop.force.shape[0]
    for i in range(m.loop_body.shape[0]):
        b = m.loop_body[i]
        body, own, hinge = m.body[b], w.body[b], w.hinge[b]
        for r in range(n):
            s = loop.force[r]
            if body.form == FORM_REVOLUTE:
                own.e += loop.E[body.u_start, r] * s
            elif not body.locked:
                for j in range(body.n_hinge):
                    hinge.y[j] += loop.E[body.u_start + body.n_modes + j, r] * s
            for k in range(body.n_modes):
                w.yf[body.flex, k] += loop.E[body.u_start + k, r] * s
            if body.flex < 0:  # its children's loads are in z, too
                for c in range(6):
                    own.z[c] -= loop.F[b, r, c] * s
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        for r in range(closure.row_first, closure.row_first + closure.n_rows):
            n_a, f_a, n_b, f_b = frame_forces(m, w, c, r)
            s = -loop.force[r]
            _load_flexible(m, w, closure.body_a, vec3(closure.x_a), 2 * c, s, n_a, f_a)
            _load_flexible(m, w, closure.body_b, vec3(closure.x_b), 2 * c + 1, s, n_b, f_b)


@inlined
def _load_flexible(m, w, b, x, row, s, n, f):
    """Add s times a force on a frame of a flexible body to its bias forces."""
    if b == m.body.shape[0] or m.body[b].flex < 0:
        return
    n, f = scale(s, n), scale(s, f)
    for k in range(m.body[b].n_modes):
        Pi = m.closure_Pi[row, k]
        w.cf[m.body[b].mode_first + k] += dot(vec3(Pi), n) + dot(tail3(Pi), f)
    add_pair(add(n, cross(x, f)), f, w.body[b].z)


@kernel
def closure_jacobian(m, w, q, still, out):
    """Write J (r, n_speeds) of all closures: their velocity errors are J u."""
    sweep_motion(m, w, q, still)
    out[:, :] = 0.0
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        measure_loop(m, w, c, still, True)
        for r in range(closure.row_first, closure.row_first + closure.n_rows):
            n_a, f_a, n_b, f_b = frame_forces(m, w, c, r)
            _project_frame(m, w, closure.body_a, vec3(closure.x_a), 2 * c, n_a, f_a, out[r])
            _project_frame(m, w, closure.body_b, vec3(closure.x_b), 2 * c + 1, n_b, f_b, out[r])


@inlined
def _project_frame(m, w, b, x, row, n, f, out):
    if b == m.body.shape[0]:
        return
    for k in range(m.body[b].n_modes):
        Pi = m.closure_Pi[row, k]
        out[m.body[b].u_start + k] += dot(vec3(Pi), n) + dot(tail3(Pi), f)
    project_force(m, w, b, add(n, cross(x, f)), f, out)
