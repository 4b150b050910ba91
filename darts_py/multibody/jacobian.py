"""Generalized forces of a wrench: one walk from a body to its root (a row of a Jacobian)."""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.handover import force_at_parent
from darts_py.spatial.inertia import shift_force
from darts_py.spatial.vector import add, cross, dot, mat9, tail3, times_t, vec3


@inlined
def project_force(m, w, b, n, f, row):
    """Add calH^* Phi^* [n; f]: the generalized forces of a wrench at body b's hinge origin."""
    while b < m.body.shape[0]:
        body, own, hinge = m.body[b], w.body[b], w.hinge[b]
        for k in range(body.n_modes):
            Pd = m.mode[body.mode_first + k].Pd
            row[body.u_start + k] -= dot(vec3(Pd), n) + dot(tail3(Pd), f)
        for j in range(body.n_hinge):
            h = hinge.H[j]
            row[body.u_start + body.n_modes + j] += dot(vec3(h), n) + dot(tail3(h), f)
        n, f = force_at_parent(body, own, vec3(own.l), n, f)
        if body.parent < m.body.shape[0]:
            parent = m.body[body.parent]
            for k in range(parent.n_modes):
                Pi = m.hook[body.hook_first + k].Pi
                row[parent.u_start + k] += dot(vec3(Pi), n) + dot(tail3(Pi), f)
        n = shift_force(vec3(body.x_pO), n, f)
        b = body.parent


@kernel
def node_jacobian(m, w, i, out):
    """Write J (6, n_speeds) of node i: its velocity is J u, file axes. Poses must be in w."""
    node = m.node[i]
    body, r = m.body[node.body], vec3(node.r)
    R = mat9(body.R_FC)
    out[:, :] = 0.0
    for c in range(6):
        unit = (1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0)
        n, f = times_t(R, unit), (0.0, 0.0, 0.0)
        if c > 2:
            n, f = f, n
        for k in range(body.n_modes):
            Pi = m.node_Pi[i, k]
            out[c, body.u_start + k] = dot(vec3(Pi), n) + dot(tail3(Pi), f)
        project_force(m, w, node.body, add(n, cross(r, f)), f, out[c])
