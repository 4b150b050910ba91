"""The innovations factorisation of the mass matrix as operators, each applied in O(n).

M = (1 + H Phi K) D (1 + H Phi K)^*, and its inverse with (1 + H Phi K)^-1 = 1 - H Psi K (Jain &
Rodriguez 51-58, docs/equations.md section 9). A factor is one sweep: forces gathered from the
tips (K, with innovations in or out), or accelerations swept from the base (its transpose). D is
block diagonal, a block for the modes and one for the joint of each body, kept as D = L L^T by the
elimination: G = Y^T L^-1 in the terms of `elimination.py`.

All bodies take the general path with the direct form of D_f^-1 (see `general_model`). Locked
joints are no part of M: their entries are neither read nor written.
"""

from __future__ import annotations

import numpy as np

from darts_py._jit import inlined, kernel
from darts_py.multibody.aba import gather_inertias, sweep_velocities
from darts_py.multibody.handover import acceleration_at_hinge, hand_force
from darts_py.multibody.model import DIRECT, FORM_CARRIED, FORM_GENERAL, FORM_REVOLUTE, Model
from darts_py.spatial.vector import (
    dot,
    mat9,
    put_pair,
    tail3,
    times_t,
    vec3,
    vec6,
)


def general_model(m: Model) -> Model:
    """Return the model with every body on the general path, as the operators need it."""
    body = m.body.copy()
    body["form"][np.isin(body["form"], (FORM_REVOLUTE, FORM_CARRIED))] = FORM_GENERAL
    body["df_form"], body["given"] = DIRECT, 0
    return m._replace(body=body)


@kernel
def factorise_mass(m, w, q, still):
    """Leave the factors of M(q) in the workspace; `still` are zero speeds."""
    sweep_velocities(m, w, q, still)
    w.tau[:] = 0.0
    gather_inertias(m, w)


# -- one block of D -----------------------------------------------------------------------------


@inlined
def _lower_solve(L, n, x, start):
    """x := L^-1 x on x[start : start + n]."""
    for j in range(n):
        s = x[start + j]
        for k in range(j):
            s -= L[j, k] * x[start + k]
        x[start + j] = s / L[j, j]


@inlined
def _upper_solve(L, n, x, start):
    """x := L^-T x."""
    for j in range(n - 1, -1, -1):
        s = x[start + j]
        for k in range(j + 1, n):
            s -= L[k, j] * x[start + k]
        x[start + j] = s / L[j, j]


@inlined
def _lower_times(L, n, x, start):
    """x := L x."""
    for j in range(n - 1, -1, -1):
        s = 0.0
        for k in range(j + 1):
            s += L[j, k] * x[start + k]
        x[start + j] = s


@inlined
def _upper_times(L, n, x, start):
    """x := L^T x."""
    for j in range(n):
        s = 0.0
        for k in range(j, n):
            s += L[k, j] * x[start + k]
        x[start + j] = s


@kernel
def scale_by_root(m, w, x, inverse, transposed):
    """x := L x, L^T x, L^-1 x or L^-T x, where D = L L^T."""
    for b in range(m.body.shape[0]):
        body = m.body[b]
        _scale_block(
            w.hinge[b].L, n_free(body), x, body.u_start + body.n_modes, inverse, transposed
        )
        if body.flex >= 0:
            _scale_block(w.Lf[body.flex], body.n_modes, x, body.u_start, inverse, transposed)


@inlined
def _scale_block(L, n, x, start, inverse, transposed):
    if inverse and transposed:
        _upper_solve(L, n, x, start)
    elif inverse:
        _lower_solve(L, n, x, start)
    elif transposed:
        _upper_times(L, n, x, start)
    else:
        _lower_times(L, n, x, start)


@inlined
def n_free(body):
    """Speeds of the joint, none if it is locked."""
    return 0 if body.locked else body.n_hinge


# -- sweeps -------------------------------------------------------------------------------------


@kernel
def gather_forces(m, w, x, inverse):
    """x := (1 + H Phi K) x, or (1 - H Psi K) x if `inverse`: forces, tips to base."""
    n_bodies = m.body.shape[0]
    w.cf[:] = 0.0
    for b in range(n_bodies):
        put_pair((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), w.body[b].z)
    for b in range(n_bodies - 1, -1, -1):
        body, own, hinge = m.body[b], w.body[b], w.hinge[b]
        nm, nr, z = body.n_modes, n_free(body), own.z
        for k in range(nm):  # what the gathered force does to the modes, and to the joint
            Pd = m.mode[body.mode_first + k].Pd
            force = dot(vec3(Pd), vec3(z)) + dot(tail3(Pd), tail3(z)) - w.cf[body.mode_first + k]
            w.right[body.u_start + k] = -force
        if nm > 0:
            _exchange(w.Lf[body.flex], w.Yf[body.flex], nm, x, w.right, body.u_start, z, inverse)
        for j in range(nr):
            h = hinge.H[j]
            force = dot(vec3(h), vec3(z)) + dot(tail3(h), tail3(z))
            w.right[body.u_start + nm + j] = force
        _exchange(hinge.L, hinge.Y, nr, x, w.right, body.u_start + nm, z, inverse)
        if body.parent < n_bodies:
            hand_force(m, w, b, z, w.body[body.parent].z)


@inlined
def _exchange(L, Y, n, x, held, start, z, inverse):
    """e = x - held or x = e + held, whichever is wanted; then z += G e."""
    if inverse:
        for j in range(start, start + n):
            x[j] -= held[j]
    for j in range(n):  # y = L^-1 e, in the place of `held` where that is no longer needed
        s = x[start + j]
        for k in range(j):
            s -= L[j, k] * held[start + k]
        before, held[start + j] = held[start + j], s / L[j, j]
        if not inverse:
            x[start + j] += before
        for c in range(6):
            z[c] += Y[j, c] * held[start + j]


@kernel
def sweep_accelerations_of(m, w, x, inverse):
    """x := (1 + H Phi K)^* x, or (1 - H Psi K)^* x if `inverse`: accelerations, base to tips.

    In the first case x holds accelerations before, in the second after; w.udot holds them always.
    """
    n_bodies = m.body.shape[0]
    put_pair((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), w.body[n_bodies].al)
    for b in range(n_bodies):
        body, own, hinge = m.body[b], w.body[b], w.hinge[b]
        nm, nr, al = body.n_modes, n_free(body), own.al
        aw, av = acceleration_at_hinge(m, w, body, vec3(own.l))
        put_pair(times_t(mat9(own.A), aw), times_t(mat9(own.A), av), al)
        _predict(hinge.L, hinge.Y, nr, vec6(al), w.right, body.u_start + nm)
        _settle(x, w.udot, w.right, body.u_start + nm, nr, inverse)
        for j in range(nr):
            for c in range(6):
                al[c] += hinge.H[j, c] * w.udot[body.u_start + nm + j]
        if nm > 0:
            _predict(w.Lf[body.flex], w.Yf[body.flex], nm, vec6(al), w.right, body.u_start)
            _settle(x, w.udot, w.right, body.u_start, nm, inverse)
        for k in range(nm):
            for c in range(6):
                al[c] -= m.mode[body.mode_first + k].Pd[c] * w.udot[body.u_start + k]


@inlined
def _predict(L, Y, n, a, out, start):
    """G^T a = L^-T Y a."""
    for j in range(n):
        s = 0.0
        for c in range(6):
            s += Y[j, c] * a[c]
        out[start + j] = s
    _upper_solve(L, n, out, start)


@inlined
def _settle(x, udot, predicted, start, n, inverse):
    """udot = x - predicted (then x := udot), or x := x + predicted where x are accelerations."""
    for j in range(start, start + n):
        if inverse:
            x[j] -= predicted[j]
            udot[j] = x[j]
        else:
            udot[j] = x[j]
            x[j] += predicted[j]


@kernel
def clear_locked(m, x):
    """Put zeros where locked joints have their speeds."""
    for b in range(m.body.shape[0]):
        body = m.body[b]
        if body.locked:
            start = body.u_start + body.n_modes
            for j in range(start, start + body.n_hinge):
                x[j] = 0.0
