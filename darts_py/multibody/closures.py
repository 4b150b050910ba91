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
from darts_py.multibody.closure_paths import push_row, send_to_base
from darts_py.multibody.jacobian import project_force
from darts_py.multibody.joints import ZERO
from darts_py.multibody.loop_motion import measure_gaps, measure_loop, sweep_links
from darts_py.multibody.model import (
    EXTRA,
    FORCE,
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
            push_row(m, w, c, r, vec3(S), tail3(S))
        send_to_base(m, w, closure, first, last, False)
        for r in range(first, last):
            wanted = row[REST, r] + row[EXTRA, r] + closure.gain_velocity * row[RATE, r]
            row[REST, r] = -(wanted + closure.gain_position * row[GAP, r])
    n, below = row.shape[1], loop.column.shape[0]
    Lam, normal = loop.column[below - 2 * n : below - n], loop.column[below - n :]
    _fill_inverse_inertia(m, w, Lam)
    if rank_is_held(w) or not solve_regular(Lam, row[REST], row[FORCE], normal):
        solve_redundant(m, w, q)
    _apply_forces(m, w)


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
        push_row(m, w, c, 0, n, f)
        send_to_base(m, w, closure, 0, 1, True)
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
