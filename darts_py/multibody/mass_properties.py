"""Mass properties of a body from its nodes, and the constants that follow from them.

Run once when a model is assembled and again whenever a node's mass, mass centre or inertia has
changed (tanks, payload release): nothing is allocated, so they may run between two steps.
"""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.elimination import factorise
from darts_py.spatial.inertia import square
from darts_py.spatial.vector import (
    add,
    add_pair,
    cross,
    dot,
    put,
    scale,
    symmetric_times,
    tail3,
    vec3,
    vec6,
)


@kernel
def refresh_mass_properties(m, w, b):
    """Recompute everything of body b that depends on its nodes' masses."""
    _gather_rigid(m, b)
    if m.body[b].flex >= 0:
        _gather_modal(m, b)
        prepare_modes(m, w, b)


@inlined
def _gather_rigid(m, b):
    """Mrr = sum S(r)^T M_j S(r) (Jain & Rodriguez 23), and the two second moments of CRL."""
    body = m.body[b]
    Mrr, rotary = body.Mrr, body.rotary
    for k in range(21):
        Mrr[k] = m.spread[body.flex].Mrr[k] if body.spread else 0.0
    for k in range(12):
        rotary[k] = m.spread[body.flex].rotary[k] if body.spread else 0.0
    for i in range(body.node_first, body.node_last):
        node = m.node[i]
        r = add(vec3(node.r), vec3(node.p))
        mc = scale(node.m, r)
        S = (mc[0] * r[0], mc[0] * r[1], mc[0] * r[2], mc[1] * r[1], mc[1] * r[2], mc[2] * r[2])
        for k in range(6):
            rotary[k] += node.Jc[k]
            rotary[6 + k] += S[k]
            Mrr[k] += node.Jc[k] - S[k]
        trace = S[0] + S[3] + S[5]
        for k in (0, 3, 5):
            Mrr[k] += trace
            Mrr[15 + k] += node.m
        Mrr[7] -= mc[2]  # B = ~mc
        Mrr[8] += mc[1]
        Mrr[9] += mc[2]
        Mrr[11] -= mc[0]
        Mrr[12] -= mc[1]
        Mrr[13] += mc[0]


@inlined
def _gather_modal(m, b):
    """Mff, Mfr and the centrifugal integrals W_k (docs/equations.md section 5)."""
    body = m.body[b]
    nm, first, Mff = body.n_modes, body.mode_first, m.Mff[body.flex]
    for k in range(nm):
        for j in range(nm):
            Mff[k, j] = m.spread_Mff[body.flex, k, j]
        put(vec6(m.spread_mode[first + k].Mfr), m.mode[first + k].Mfr)
        put(vec6(m.spread_mode[first + k].W), m.mode[first + k].W)
    for i in range(body.node_first, body.node_last):
        node = m.node[i]
        p, Jc = vec3(node.p), vec6(node.Jc)
        for k in range(nm):
            psi, phi = vec3(m.node_Pi[i, k]), tail3(m.node_Pi[i, k])
            lin = scale(node.m, add(phi, cross(psi, p)))  # M_j Pi: momentum of the node
            ang = add(symmetric_times(Jc, psi), cross(p, lin))
            for j in range(nm):
                Pi = m.node_Pi[i, j]
                Mff[j, k] += dot(vec3(Pi), ang) + dot(tail3(Pi), lin)
            add_pair(add(ang, cross(vec3(node.r), lin)), lin, m.mode[first + k].Mfr)
            _add_centrifugal(node, psi, phi, m.mode[first + k].W)


@inlined
def _add_centrifugal(node, psi, phi, W):
    """Add sym{-~psi J_j + a r^T - (a.r)1 + phi s^T - (phi.s)1}, a = psi x m p, s = m (r + p)."""
    mass, r, p, Jc = node.m, vec3(node.r), vec3(node.p), node.Jc
    a, s, pp = cross(psi, scale(mass, p)), scale(mass, add(r, p)), dot(p, p)
    # J_j about the node, column by column; column c of ~psi J_j is psi x column
    c0 = (Jc[0] + mass * (pp - p[0] * p[0]), Jc[1] - mass * p[0] * p[1], Jc[2] - mass * p[0] * p[2])
    c1 = (c0[1], Jc[3] + mass * (pp - p[1] * p[1]), Jc[4] - mass * p[1] * p[2])
    c2 = (c0[2], c1[2], Jc[5] + mass * (pp - p[2] * p[2]))
    x0, x1, x2 = cross(psi, c0), cross(psi, c1), cross(psi, c2)
    t = dot(a, r) + dot(phi, s)
    W[0] += -x0[0] + a[0] * r[0] + phi[0] * s[0] - t
    W[3] += -x1[1] + a[1] * r[1] + phi[1] * s[1] - t
    W[5] += -x2[2] + a[2] * r[2] + phi[2] * s[2] - t
    W[1] += 0.5 * (a[0] * r[1] + a[1] * r[0] + phi[0] * s[1] + phi[1] * s[0] - x1[0] - x0[1])
    W[2] += 0.5 * (a[0] * r[2] + a[2] * r[0] + phi[0] * s[2] + phi[2] * s[0] - x2[0] - x0[2])
    W[4] += 0.5 * (a[1] * r[2] + a[2] * r[1] + phi[1] * s[2] + phi[2] * s[1] - x2[1] - x1[2])


@kernel
def prepare_modes(m, w, b):
    """Constants of `flexible.py` for body b: Df, Lam, mu, g, PR, zeta, Ups, Om, E.

    A model for an implicit integrator has its own term in Mff before this runs.
    """
    body, P = m.body[b], w.scratch[0].P
    f, nm, mode = body.flex, body.n_modes, m.mode[body.mode_first : body.mode_first + body.n_modes]
    Df, Lam, Mff = m.Df[f], m.Lam[f], m.Mff[f]
    square(body.Mrr, P)
    for k in range(nm):  # mu = Mfr - Pd^T Mrr
        for c in range(6):
            mode[k].mu[c] = mode[k].Mfr[c]
            for d in range(6):
                mode[k].mu[c] -= mode[k].Pd[d] * P[d, c]
    for k in range(nm):
        for j in range(nm):
            s = Mff[k, j]
            for c in range(6):  # Hf Mm Hf^T = Mff - Mfr Pd - Pd^T (Mfr^T - Mrr Pd)
                s -= mode[k].Mfr[c] * mode[j].Pd[c] + mode[k].Pd[c] * mode[j].mu[c]
            Df[k, j] = s
    invert(Df, Lam, nm)
    for k in range(nm):
        for c in range(6):
            mode[k].g[c] = 0.0
            for j in range(nm):
                mode[k].g[c] += Lam[k, j] * mode[j].mu[c]
    for r in range(6):
        for c in range(6):
            body.PR[r, c] = P[r, c]
            for k in range(nm):
                body.PR[r, c] -= mode[k].mu[r] * mode[k].g[c]
    _prepare_children(m, body, mode, Lam)


@inlined
def invert(D, out, n):
    """Write the inverse of the symmetric positive n x n matrix D into out, by Cholesky."""
    for k in range(n):
        for j in range(k + 1):
            out[k, j] = D[k, j]
    factorise(out, n)
    for j in range(n):  # L^-1 in place, column by column
        out[j, j] = 1.0 / out[j, j]
        for k in range(j + 1, n):
            s = 0.0
            for i in range(j, k):
                s -= out[k, i] * out[i, j]
            out[k, j] = s / out[k, k]
    for j in range(n):  # L^-T L^-1 into the upper triangle; row j reads rows below only
        for k in range(j, n):
            s = 0.0
            for i in range(k, n):
                s += out[i, k] * out[i, j]
            out[j, k] = s
    for j in range(n):
        for k in range(j):
            out[j, k] = out[k, j]


@inlined
def _prepare_children(m, body, mode, Lam):
    """Write zeta = Pi - S(x) Pd and Ups = Lam zeta of each child, then Om and E over all."""
    nm, first, last = body.n_modes, body.child_first, body.child_last
    for i in range(first, last):
        child = m.body[m.child[i]]
        hook = m.hook[child.hook_first : child.hook_first + nm]
        for k in range(nm):
            pw = vec3(mode[k].Pd)
            pv = add(tail3(mode[k].Pd), cross(pw, vec3(child.x_pO)))
            for c in range(3):
                hook[k].zeta[c] = hook[k].Pi[c] - pw[c]
                hook[k].zeta[3 + c] = hook[k].Pi[3 + c] - pv[c]
        for k in range(nm):
            for c in range(6):
                hook[k].Ups[c] = 0.0
                for j in range(nm):
                    hook[k].Ups[c] += Lam[k, j] * hook[j].zeta[c]
    for i in range(first, last):
        child = m.body[m.child[i]]
        hook, row = m.hook[child.hook_first : child.hook_first + nm], 6 * (i - first)
        for j in range(first, last):
            start, col = m.body[m.child[j]].hook_first, 6 * (j - first)
            _fill_om(hook, m.hook[start : start + nm], m.Om[body.flex], row, col, nm)
        _fill_e(hook, mode, vec3(child.x_pO), m.E[body.flex], row, nm)


@inlined
def _fill_om(hook, other, Om, row, col, nm):
    for r in range(6):
        for c in range(6):
            Om[row + r, col + c] = 0.0
            for k in range(nm):
                Om[row + r, col + c] += hook[k].zeta[r] * other[k].Ups[c]


@inlined
def _fill_e(hook, mode, x, E, row, nm):
    for r in range(6):
        for c in range(6):
            E[row + r, c] = 1.0 if r == c else 0.0
    E[row + 3, 1], E[row + 3, 2] = x[2], -x[1]  # S(x) = [[1, 0], [-~x, 1]]
    E[row + 4, 0], E[row + 4, 2] = -x[2], x[0]
    E[row + 5, 0], E[row + 5, 1] = x[1], -x[0]
    for r in range(6):
        for c in range(6):
            for k in range(nm):
                E[row + r, c] -= hook[k].zeta[r] * mode[k].g[c]
