"""Coordinate rates qdot = Gamma(q) beta, and moving along them without leaving the sphere."""

from __future__ import annotations

import math

from darts_py._jit import inlined
from darts_py.multibody.elimination import solve_in_place
from darts_py.multibody.joints import IDENTITY, ZERO, column, rotation_of_quaternion, screw_motion
from darts_py.multibody.model import AXIS, BALL, FREE, MAP
from darts_py.spatial.trigonometry import sincos
from darts_py.spatial.vector import add, cross, dot, product, scale, times, times_t

SMALL_ANGLE = 1e-3  # below it series replace the closed forms; their error is < 1e-17


@inlined
def rate_matrix(stage, q, G):
    """Write Gamma of a stage without quaternion into G[:n, :n]; G is (12, 12)."""
    n = stage.n
    if stage.kind == MAP:
        _map_rate_matrix(stage, q, G)
        return
    for i in range(n):
        for j in range(n):
            G[i, j] = 1.0 if i == j else 0.0
    if stage.kind != AXIS:  # planar: speeds are in O axes, coordinates in O+ axes
        sn, cs = sincos(q[stage.q + 2])
        G[0, 0] = G[1, 1] = cs
        G[0, 1], G[1, 0] = -sn, sn


@inlined
def _map_rate_matrix(stage, q, G):
    """Gamma = (B^T B)^-1 B^T H_O; rows 6.. of G hold the columns b_k of B."""
    n, iq = stage.n, stage.q
    R, p = IDENTITY, ZERO
    for k in range(n):
        h1, h2 = column(stage.H, k)
        b1, b2 = times_t(R, h1), times_t(R, add(cross(h1, p), h2))
        for c in range(3):
            G[6 + k, c], G[6 + k, 3 + c] = b1[c], b2[c]
        Rk, pk = screw_motion(h1, h2, q[iq + k])
        R, p = product(Rk, R), add(times(Rk, p), pk)
    for i in range(n):
        for j in range(n):
            bb = bh = 0.0
            for c in range(6):
                bb += G[6 + i, c] * G[6 + j, c]
                bh += G[6 + i, c] * stage.H[j, c]
            G[i, j], G[i, n + j] = bb, bh
    solve_in_place(G, n, n)
    for i in range(n):
        for j in range(n):
            G[i, j] = G[i, n + j]


@inlined
def stage_velocity(stage, u):
    """Angular and linear velocity H beta of a quaternion stage, outboard axes."""
    w, v = ZERO, ZERO
    for j in range(stage.n):
        h1, h2 = column(stage.H, j)
        w, v = add(w, scale(u[stage.u + j], h1)), add(v, scale(u[stage.u + j], h2))
    return w, v


@inlined
def _scalar_rates(stage, q, u, G, out, start):
    """Rates of the coordinates of a stage without quaternion."""
    n, iu = stage.n, stage.u
    if n == 1:
        out[start] = u[iu]
        return
    rate_matrix(stage, q, G)
    for i in range(n):
        out[start + i] = 0.0
        for j in range(n):
            out[start + i] += G[i, j] * u[iu + j]


@inlined
def coordinate_rates(m, q, u, G, out):
    """Write qdot; quaternion rates are 1/2 Qm(q) w."""
    for b in range(m.body.shape[0]):
        for k in range(m.body[b].n_modes):
            out[m.body[b].q_start + k] = u[m.body[b].u_start + k]
    for s in range(m.stage.shape[0]):
        stage = m.stage[s]
        k = stage.q
        if stage.kind < BALL:
            _scalar_rates(stage, q, u, G, out, k)
            continue
        w, v = stage_velocity(stage, u)
        out[k] = -0.5 * (q[k + 1] * w[0] + q[k + 2] * w[1] + q[k + 3] * w[2])
        out[k + 1] = 0.5 * (q[k] * w[0] - q[k + 3] * w[1] + q[k + 2] * w[2])
        out[k + 2] = 0.5 * (q[k + 3] * w[0] + q[k] * w[1] - q[k + 1] * w[2])
        out[k + 3] = 0.5 * (-q[k + 2] * w[0] + q[k + 1] * w[1] + q[k] * w[2])
        if stage.kind == FREE:
            v = times(rotation_of_quaternion(q[k], q[k + 1], q[k + 2], q[k + 3]), v)
            for c in range(3):
                out[k + 4 + c] = v[c]


@inlined
def local_rates(m, q, u, delta, G, out):
    """Rates of the local coordinates `delta` that lead from the step's start to q.

    A quaternion is start * exp(theta); theta' = w + theta x w / 2 + c theta x (theta x w), the
    inverse of the right differential of exp. Other coordinates are their own local ones.
    """
    for b in range(m.body.shape[0]):
        for k in range(m.body[b].n_modes):
            out[m.body[b].u_start + k] = u[m.body[b].u_start + k]
    for s in range(m.stage.shape[0]):
        stage = m.stage[s]
        iu, k = stage.u, stage.q
        if stage.kind < BALL:
            _scalar_rates(stage, q, u, G, out, iu)
            continue
        w, v = stage_velocity(stage, u)
        theta = (delta[iu], delta[iu + 1], delta[iu + 2])
        tw = cross(theta, w)
        rate = add(add(w, scale(0.5, tw)), scale(_dexp_factor(dot(theta, theta)), cross(theta, tw)))
        for c in range(3):
            out[iu + c] = rate[c]
        if stage.kind == FREE:
            v = times(rotation_of_quaternion(q[k], q[k + 1], q[k + 2], q[k + 3]), v)
            for c in range(3):
                out[iu + 3 + c] = v[c]


@inlined
def _dexp_factor(t2):
    """1/t^2 - cot(t/2) / (2 t)."""
    if t2 < SMALL_ANGLE * SMALL_ANGLE:
        return 1.0 / 12.0 + t2 / 720.0
    t = math.sqrt(t2)
    s, c = sincos(0.5 * t)
    return 1.0 / t2 - c / (2.0 * t * s)


@inlined
def retract(m, q, delta, out):
    """Write the coordinates reached from q by local coordinates delta; `out` may be q."""
    for b in range(m.body.shape[0]):
        for k in range(m.body[b].n_modes):
            out[m.body[b].q_start + k] = q[m.body[b].q_start + k] + delta[m.body[b].u_start + k]
    for s in range(m.stage.shape[0]):
        stage = m.stage[s]
        iu, k = stage.u, stage.q
        if stage.kind < BALL:
            for j in range(stage.n):
                out[k + j] = q[k + j] + delta[iu + j]
            continue
        _turn(q, k, (delta[iu], delta[iu + 1], delta[iu + 2]), out)
        if stage.kind == FREE:
            for c in range(3):
                out[k + 4 + c] = q[k + 4 + c] + delta[iu + 3 + c]


@inlined
def _turn(q, k, theta, out):
    """Quaternion product q exp(theta / 2), scaled to unit length."""
    half = 0.5 * math.sqrt(dot(theta, theta))
    sn, cs = sincos(half)
    f = (
        0.5 * sn / half
        if half > SMALL_ANGLE
        else 0.5 - half * half / 12.0 * (1.0 - half * half / 20.0)
    )
    x, y, z = f * theta[0], f * theta[1], f * theta[2]
    a, b, c, d = q[k], q[k + 1], q[k + 2], q[k + 3]
    out[k] = a * cs - b * x - c * y - d * z
    out[k + 1] = a * x + b * cs + c * z - d * y
    out[k + 2] = a * y + c * cs + d * x - b * z
    out[k + 3] = a * z + d * cs + b * y - c * x
    _normalise(out, k)


@inlined
def _normalise(q, k):
    r = 1.0 / math.sqrt(
        q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3]
    )
    for c in range(4):
        q[k + c] *= r


@inlined
def normalise_quaternions(m, q):
    """Scale every quaternion to unit length."""
    for s in range(m.stage.shape[0]):
        stage = m.stage[s]
        if stage.kind >= BALL:
            _normalise(q, stage.q)
