"""The mass matrix by composite bodies (Jain & Rodriguez 50), and forward dynamics with it (46)."""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.cholesky import factor_symmetric, solve_factored
from darts_py.multibody.jacobian import project_force
from darts_py.multibody.joints import joint_motion
from darts_py.multibody.model import MFF
from darts_py.multibody.rnea import inverse_dynamics
from darts_py.spatial.inertia import (
    add_inertia,
    blocks,
    inertia_times,
    rotate_full,
    rotate_symmetric,
    shift_coupling,
    shift_rotation,
)
from darts_py.spatial.vector import dot, mat9, put, put_pair, sub, tail3, vec3, vec6


@kernel
def composite_mass_matrix(m, w, q, u):
    """Write M(q) into w.M. `u` only fills the joints' velocities, which are not used."""
    for b in range(m.body.shape[0]):
        joint_motion(m, w, b, q, u)
        _start_composite(m, w, b)
    w.M[:, :] = 0.0
    for b in range(m.body.shape[0] - 1, -1, -1):
        if m.body[b].parent < m.body.shape[0]:
            _add_composite_to_parent(m, w, b)
        _fill_rows(m, w, b)


@kernel
def forward_dynamics_composite(m, w, q, u, tau, node_force, conserving):
    """Solve M(q) udot = tau - C(q, u) into w.udot with the composite-body mass matrix."""
    w.udot[:] = 0.0
    inverse_dynamics(m, w, q, u, w.udot, node_force, conserving, w.right)
    composite_mass_matrix(m, w, q, u)
    n = tau.shape[0]
    for i in range(n):
        w.udot[i] = tau[i] - w.right[i]
        for j in range(n):
            w.U[i, j] = w.M[i, j]
    _hold_locked(m, w.U, w.udot)
    factor_symmetric(w.U, n)
    solve_factored(w.U, n, w.udot)


@inlined
def _hold_locked(m, M, right):
    """Replace the equations of locked joints by udot = 0."""
    for b in range(m.body.shape[0]):
        body = m.body[b]
        if not body.locked:
            continue
        for i in range(body.u_start + body.n_modes, body.u_start + body.n_modes + body.n_hinge):
            for j in range(M.shape[0]):
                M[i, j] = M[j, i] = 0.0
            M[i, i] = 1.0
            right[i] = 0.0


@inlined
def _start_composite(m, w, b):
    """R_i = Mm_i: R^rr in w.body.R, R^ff in w.Lf, R^fr in w.Yf."""
    body, own, f = m.body[b], w.body[b], m.body[b].flex
    for k in range(21):
        own.R[k] = body.Mrr[k]
    for k in range(body.n_modes):
        put(vec6(m.mode[body.mode_first + k].Mfr), w.Yf[f, k])
        for j in range(body.n_modes):
            w.Lf[f, k, j] = m.modal[MFF, f, k, j]


@inlined
def _add_composite_to_parent(m, w, b):
    """R_p += (X Q)^T R^rr (X Q)."""
    body, own = m.body[b], w.body[b]
    parent, above = m.body[body.parent], w.body[body.parent]
    R, x = mat9(own.A), vec3(body.x_pO)
    A, B, M = blocks(own.R)
    A, B, M = rotate_symmetric(R, A), rotate_full(R, B), rotate_symmetric(R, M)
    d = sub(vec3(own.l), x)
    C = shift_coupling(d, B, M)
    A, B = shift_rotation(d, A, B, C), C  # at O+, parent axes
    for k in range(parent.n_modes):
        Pi = m.hook[body.hook_first + k].Pi
        n, f = inertia_times(A, B, M, vec3(Pi), tail3(Pi))
        for j in range(parent.n_modes):
            Pj = m.hook[body.hook_first + j].Pi
            w.Lf[parent.flex, j, k] += dot(vec3(Pj), n) + dot(tail3(Pj), f)
        row = w.Yf[parent.flex, k]  # R^fr += Pi^T Gam S(x)
        row[0] += n[0] + (x[1] * f[2] - x[2] * f[1])
        row[1] += n[1] + (x[2] * f[0] - x[0] * f[2])
        row[2] += n[2] + (x[0] * f[1] - x[1] * f[0])
        row[3] += f[0]
        row[4] += f[1]
        row[5] += f[2]
    C = shift_coupling(x, B, M)
    add_inertia(shift_rotation(x, A, B, C), C, M, above.R)


@inlined
def _fill_rows(m, w, b):
    """Rows and columns of M that belong to body b: Y = R calH^*, then up the tree."""
    body, own, hinge, y = m.body[b], w.body[b], w.hinge[b], w.scratch[0].Y
    A, B, M = blocks(own.R)
    nm, f, start = body.n_modes, body.flex, body.u_start
    for k in range(nm):
        Pd, Fk = m.mode[body.mode_first + k].Pd, w.Yf[f, k]
        n, s = inertia_times(A, B, M, vec3(Pd), tail3(Pd))
        put_pair(sub(vec3(Fk), n), sub(tail3(Fk), s), y)  # Y^r
        for j in range(nm):  # Y^f
            Fj = w.Yf[f, j]
            w.M[start + k, start + j] = (
                w.Lf[f, j, k] - dot(vec3(Fj), vec3(Pd)) - dot(tail3(Fj), tail3(Pd))
            )
        project_force(m, w, b, vec3(y), tail3(y), w.M[start + k])
    for j in range(body.n_hinge):
        h, row = hinge.H[j], start + nm + j
        n, s = inertia_times(A, B, M, vec3(h), tail3(h))
        for k in range(nm):
            Fk = w.Yf[f, k]
            w.M[row, start + k] = dot(vec3(Fk), vec3(h)) + dot(tail3(Fk), tail3(h))
        project_force(m, w, b, n, s, w.M[row])
    for i in range(start, start + nm + body.n_hinge):
        _mirror(m, w, b, i)


@inlined
def _mirror(m, w, b, i):
    """Copy row i's entries for the ancestors of body b into column i."""
    p = m.body[b].parent
    while p < m.body.shape[0]:
        body = m.body[p]
        for j in range(body.u_start, body.u_start + body.n_modes + body.n_hinge):
            w.M[j, i] = w.M[i, j]
        p = body.parent
