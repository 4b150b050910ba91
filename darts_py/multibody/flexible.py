"""Removing a flexible body's modes from its articulated inertia, in two equivalent forms.

With zeta = Hf Q_t^T of each child, Gd = blkdiag(Gam) and constants of the body alone,

DIRECT    Df = Hf Mm Hf^T + zeta Gd zeta^T is factorised at each step (Jain & Rodriguez 63).
WOODBURY  Df^-1 = Lam - Ups (1 + Gd Om)^-1 Gd Ups^T (their B3, corrected: Gam is singular).
          Carried through by hand, everything of size nm leaves the inertia:

              N = (1 + Gd Om)^-1 Gd E,   PR = (Mrr - mu^T Lam mu) + E^T N,   g^T = Lam mu + Ups N

          with E = S(x) - zeta^T Lam mu constant. The articulated inertia then costs the same
          for any number of modes, and PR is a sum of two positive matrices: no cancellation.

Both leave PR in scratch.P and z + g ef in scratch.z.
"""

from __future__ import annotations

from darts_py._jit import inlined
from darts_py.multibody.elimination import condense, recover, reduce, solve_in_place
from darts_py.multibody.hybrid import carry_given_modes, fix_given
from darts_py.multibody.model import GIVEN_MODES
from darts_py.spatial.inertia import (
    add_to_square,
    blocks,
    shift_coupling,
    shift_force,
    shift_rotation,
    square,
)
from darts_py.spatial.vector import add_pair, put, tail3, vec3, vec6


@inlined
def modal_force(m, w, b, k):
    """Force on mode k from the body itself: ef without its children."""
    body, own = m.body[b], w.body[b]
    s = w.tau[body.u_start + k] - w.cf[body.mode_first + k]
    Pd = m.mode[body.mode_first + k].Pd
    for c in range(6):
        s += Pd[c] * own.z[c]
    return s


@inlined
def remove_modes_direct(m, w, b):
    """Eliminate the modes of body b by factorising Df."""
    body, own, scratch = m.body[b], w.body[b], w.scratch[0]
    f, nm = body.flex, body.n_modes
    L, Y, y = w.Lf[f], w.Yf[f], w.yf[f]
    square(own.P, scratch.P)
    put(vec6(own.z), scratch.z)
    for k in range(nm):
        y[k] = modal_force(m, w, b, k)
        put(vec6(m.mode[body.mode_first + k].mu), Y[k])
        for j in range(k + 1):
            L[k, j] = m.Df[f, k, j]
    for i in range(body.child_first, body.child_last):
        child, hinge = m.body[m.child[i]], w.hinge[m.child[i]]
        _add_child_to_modes(m.hook, child, hinge, nm, scratch.Pc, L, Y, y)
        x = vec3(child.x_pO)
        A, B, M = blocks(hinge.Gam)  # P^rr += S(x)^T Gam S(x), z_r += S(x)^T f
        C = shift_coupling(x, B, M)
        add_to_square(shift_rotation(x, A, B, C), C, M, scratch.P)
        add_pair(shift_force(x, vec3(hinge.f), tail3(hinge.f)), tail3(hinge.f), scratch.z)
    if body.given & GIVEN_MODES:
        carry_given_modes(m, w, b, L, Y, y, scratch.z)
        fix_given(m, w, body.u_start, nm, L, Y, y)
    reduce(L, Y, y, nm)
    condense(Y, y, nm, scratch.P, scratch.z)


@inlined
def _add_child_to_modes(hook, child, hinge, nm, G, L, Y, y):
    """Df += zeta Gam zeta^T, mu += zeta Gam S(x), ef -= zeta f."""
    x, first = vec3(child.x_pO), child.hook_first
    square(hinge.Gam, G)
    for k in range(nm):
        z, f = vec6(hook[first + k].zeta), vec6(hinge.f)
        g0 = g1 = g2 = g3 = g4 = g5 = 0.0  # row k of zeta Gam
        for c in range(6):
            g0 += z[c] * G[c, 0]
            g1 += z[c] * G[c, 1]
            g2 += z[c] * G[c, 2]
            g3 += z[c] * G[c, 3]
            g4 += z[c] * G[c, 4]
            g5 += z[c] * G[c, 5]
            y[k] -= z[c] * f[c]
        for j in range(k + 1):
            s = hook[first + j].zeta
            L[k, j] += g0 * s[0] + g1 * s[1] + g2 * s[2] + g3 * s[3] + g4 * s[4] + g5 * s[5]
        Y[k, 0] += g0 + (x[1] * g5 - x[2] * g4)  # the row times S(x)
        Y[k, 1] += g1 + (x[2] * g3 - x[0] * g5)
        Y[k, 2] += g2 + (x[0] * g4 - x[1] * g3)
        Y[k, 3] += g3
        Y[k, 4] += g4
        Y[k, 5] += g5


@inlined
def recover_modes_direct(m, w, b, aR):
    """Write the modal accelerations etadd = nuf - g^T aR into w.udot."""
    body = m.body[b]
    f = body.flex
    recover(w.Lf[f], w.Yf[f], w.yf[f], body.n_modes, aR, w.udot, body.u_start)


@inlined
def remove_modes_woodbury(m, w, b):
    """Eliminate the modes of body b by its constants."""
    body, P = m.body[b], w.scratch[0].P
    n6 = 6 * (body.child_last - body.child_first)
    _apply_constant_inverse(m, w, b, n6)
    for c in range(6):
        for d in range(6):
            P[c, d] = body.PR[c, d]
    if n6 == 6:  # a constant size lets LLVM unroll: measured gain 1.25x per body
        _add_children(m, w, b, 6)
    elif n6 > 0:
        _add_children(m, w, b, n6)


@inlined
def _add_children(m, w, b, n6):
    """Solve for N and t = (1 + Gd Om)^-1 Gd y; PR += E^T N, z += N^T y, yf -= Ups (f + t)."""
    body, scratch = m.body[b], w.scratch[0]
    f, first = body.flex, body.child_first
    P, z, T, E, N, y = scratch.P, scratch.z, w.T6, m.E[f], w.N[f], w.yf[f]
    for i in range(n6 // 6):
        square(w.hinge[m.child[first + i]].Gam, scratch.Pc)
        _fill_woodbury_rows(scratch.Pc, m.Om[f], E, w.y6, T, 6 * i, n6)
    solve_in_place(T, n6, 7)
    for i in range(n6):
        child = m.child[first + i // 6]
        t = T[i, n6 + 6] + w.hinge[child].f[i % 6]
        hook = m.body[child].hook_first
        for k in range(body.n_modes):
            y[k] -= m.hook[hook + k].Ups[i % 6] * t
        for c in range(6):
            N[i, c] = T[i, n6 + c]
            z[c] += N[i, c] * w.y6[i]
        for c in range(6):
            for d in range(6):
                P[c, d] += E[i, c] * N[i, d]


@inlined
def _apply_constant_inverse(m, w, b, n6):
    """Write yf = Lam ef0, z = z + g^T ef0 + E^T f, y6 = Ups^T ef0 - Om f; ef0 has no children."""
    body, z, y6 = m.body[b], w.scratch[0].z, w.y6
    f, nm, first = body.flex, body.n_modes, body.child_first
    y, Lam = w.yf[f], m.Lam[f]
    put(vec6(w.body[b].z), z)
    for i in range(n6):
        y6[i] = 0.0
    for i in range(n6):
        s = w.hinge[m.child[first + i // 6]].f[i % 6]
        for c in range(6):
            z[c] += m.E[f, i, c] * s
        for j in range(n6):
            y6[j] -= m.Om[f, i, j] * s
    for k in range(nm):
        y[k] = 0.0
    for k in range(nm):
        e, g = modal_force(m, w, b, k), m.mode[body.mode_first + k].g
        for j in range(nm):
            y[j] += Lam[k, j] * e
        for c in range(6):
            z[c] += g[c] * e
        for i in range(first, body.child_last):
            Ups = m.hook[m.body[m.child[i]].hook_first + k].Ups
            for c in range(6):
                y6[6 * (i - first) + c] += Ups[c] * e


@inlined
def _fill_woodbury_rows(G, Om, E, y6, T, row, n6):
    """Write the rows of [1 + Gd Om | Gd E | Gd y] that belong to one child."""
    for r in range(row, row + 6):
        for c in range(n6 + 7):
            T[r, c] = 0.0
        for k in range(6):
            s = G[r - row, k]
            for c in range(n6):
                T[r, c] += s * Om[row + k, c]
            for c in range(6):
                T[r, n6 + c] += s * E[row + k, c]
            T[r, n6 + 6] += s * y6[row + k]
        T[r, r] += 1.0


@inlined
def recover_modes_woodbury(m, w, b, aR):
    """Write the modal accelerations etadd = nuf - g^T aR into w.udot."""
    body = m.body[b]
    f, start, first = body.flex, body.u_start, body.child_first
    for k in range(body.n_modes):
        s, g = w.yf[f, k], m.mode[body.mode_first + k].g
        for c in range(6):
            s -= g[c] * aR[c]
        w.udot[start + k] = s
    for i in range(6 * (body.child_last - first)):
        t = 0.0
        for c in range(6):
            t += w.N[f, i, c] * aR[c]
        hook = m.body[m.child[first + i // 6]].hook_first
        for k in range(body.n_modes):
            w.udot[start + k] -= m.hook[hook + k].Ups[i % 6] * t
