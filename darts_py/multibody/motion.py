"""Where things are and how they move: poses, velocities, accelerations of bodies and nodes."""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.conserving import spatial_velocity
from darts_py.multibody.joints import joint_motion
from darts_py.spatial.vector import (
    add,
    cross,
    mat9,
    product,
    put,
    put_pair,
    scale,
    tail3,
    times,
    times_t,
    vec3,
)


@kernel
def sweep_motion(m, w, q, u):
    """World pose, velocity and pose rate of every body, base to tips."""
    ground = w.body[m.body.shape[0]]
    put((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), ground.R_NB)
    for b in range(m.body.shape[0]):
        joint_motion(m, w, b, q, u)
        spatial_velocity(m, w, b, u)
        own, above = w.body[b], w.body[m.body[b].parent]
        R_p, A = mat9(above.R_NB), mat9(own.A)
        put(product(R_p, A), own.R_NB)
        put(add(vec3(above.r_BN), times(R_p, vec3(own.l))), own.r_BN)
        put(add(times_t(A, vec3(above.wh)), vec3(w.hinge[b].hb)), own.wh)


@inlined
def _node_rates(m, i, rates, start, Vw, Vv):
    """Q_n [rates; V] at node i, hinge axes."""
    node = m.node[i]
    nw, nv = Vw, add(Vv, cross(Vw, vec3(node.r)))
    for k in range(m.body[node.body].n_modes):
        Pi = m.node_Pi[i, k]
        nw = add(nw, scale(rates[start + k], vec3(Pi)))
        nv = add(nv, scale(rates[start + k], tail3(Pi)))
    return nw, nv


@kernel
def node_velocity(m, w, i, u, out):
    """Write the velocity of node i, file axes. Needs `sweep_motion`."""
    body, own = m.body[m.node[i].body], w.body[m.node[i].body]
    nw, nv = _node_rates(m, i, u, body.u_start, vec3(own.V), tail3(own.V))
    R = mat9(body.R_FC)
    put_pair(times(R, nw), times(R, nv), out)


@kernel
def node_acceleration(m, w, i, u, udot, conserving, out):
    """Write the inertial acceleration of node i, file axes, gravity added back.

    Needs accelerations in w.body.al (forward or inverse dynamics) and then `sweep_motion`.
    RL: Q_n alm + [0; w x (w x r)] (section 11). CRL: component derivative plus wh x velocity.
    """
    body, own = m.body[m.node[i].body], w.body[m.node[i].body]
    aw, av = _node_rates(m, i, udot, body.u_start, vec3(own.al), tail3(own.al))
    if conserving:
        nw, nv = _node_rates(m, i, u, body.u_start, vec3(own.V), tail3(own.V))
        aw, av = add(aw, cross(vec3(own.wh), nw)), add(av, cross(vec3(own.wh), nv))
    else:
        ww = vec3(own.V)
        av = add(av, cross(ww, cross(ww, vec3(m.node[i].r))))
    av = add(av, times_t(mat9(own.R_NB), vec3(m.gravity)))
    R = mat9(body.R_FC)
    put_pair(times(R, aw), times(R, av), out)


@kernel
def node_position(m, w, i, q, deformed, out):
    """Write the world position of node i; `deformed` adds its modal displacement."""
    node = m.node[i]
    body, own, r = m.body[node.body], w.body[node.body], vec3(node.r)
    if deformed:
        for k in range(body.n_modes):
            r = add(r, scale(q[body.q_start + k], tail3(m.node_Pi[i, k])))
    put(add(vec3(own.r_BN), times(mat9(own.R_NB), r)), out)
