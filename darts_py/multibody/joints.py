"""Joint kinematics: pose, joint map, its rate, and coordinate rates, for every kind of stage.

A joint is a chain of stages. Each is a group of motions with constant map (Kwatny & Blankenship
Prop. 1-2), so the whole is their compound joint: going from the child inward,
U_k = lambda_k U_(k-1), block k of H_O = [R^T H1; R^T(H1 x p + H2)] at U_(k-1), and
c_J = sum_k [xi_k, sum_(j<k) xi_j] with xi_k = H_O^(k) beta_k   (docs/equations.md section 3).
"""

from __future__ import annotations

import math

from darts_py._jit import inlined
from darts_py.multibody.model import AXIS, FORM_FREE, FREE, MAP, PLANAR
from darts_py.spatial.trigonometry import sincos
from darts_py.spatial.vector import (
    add,
    cross,
    mat9,
    product,
    put,
    put_pair,
    scale,
    sub,
    times,
    times_t,
    vec3,
)

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
ZERO = (0.0, 0.0, 0.0)


@inlined
def rotation_of_quaternion(w, x, y, z):
    """R(q), components of the turned frame to those of the fixed one; q need not be unit."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        1.0 - s * (y * y + z * z),
        s * (x * y - w * z),
        s * (x * z + w * y),
        s * (x * y + w * z),
        1.0 - s * (x * x + z * z),
        s * (y * z - w * x),
        s * (x * z - w * y),
        s * (y * z + w * x),
        1.0 - s * (x * x + y * y),
    )


@inlined
def screw_motion(h1, h2, e):
    """lambda(e): rotation exp(~h1 e) and the path integral of exp(~h1 s) h2."""
    t = math.sqrt(h1[0] * h1[0] + h1[1] * h1[1] + h1[2] * h1[2])
    if t == 0.0:
        return IDENTITY, scale(e, h2)
    k = scale(1.0 / t, h1)
    s, c = sincos(t * e)
    half, _ = sincos(0.5 * t * e)
    v = 2.0 * half * half  # 1 - cos, without cancellation
    R = (
        c + v * k[0] * k[0],
        v * k[0] * k[1] - s * k[2],
        v * k[0] * k[2] + s * k[1],
        v * k[0] * k[1] + s * k[2],
        c + v * k[1] * k[1],
        v * k[1] * k[2] - s * k[0],
        v * k[0] * k[2] - s * k[1],
        v * k[1] * k[2] + s * k[0],
        c + v * k[2] * k[2],
    )
    kh = cross(k, h2)
    kkh = cross(k, kh)
    return R, add(scale(e, h2), add(scale(v / t, kh), scale(_arc_less_sine(t * e, s) / t, kkh)))


@inlined
def _arc_less_sine(x, sine):
    """x - sin x, without cancellation."""
    if abs(x) > 0.1:
        return x - sine
    z = x * x
    return x * z / 6.0 * (1.0 - z / 20.0 * (1.0 - z / 42.0 * (1.0 - z / 72.0 * (1.0 - z / 110.0))))


@inlined
def column(H, k):
    """Column k of a joint map (stored as row k), as rotation and translation."""
    return (H[k, 0], H[k, 1], H[k, 2]), (H[k, 3], H[k, 4], H[k, 5])


@inlined
def stage_pose(stage, q):
    """Pose (R, p) of a stage: outboard components to inboard ones."""
    kind, k = stage.kind, stage.q
    if kind == AXIS or kind == MAP:
        R, p = IDENTITY, ZERO
        for j in range(stage.n):  # lambda_r ... lambda_1, column 1 next to the child
            h1, h2 = column(stage.H, j)
            Rj, pj = screw_motion(h1, h2, q[k + j])
            R, p = product(Rj, R), add(times(Rj, p), pj)
        return R, p
    if kind == PLANAR:
        sn, cs = sincos(q[k + 2])
        return (cs, -sn, 0.0, sn, cs, 0.0, 0.0, 0.0, 1.0), (q[k], q[k + 1], 0.0)
    R = rotation_of_quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
    if kind == FREE:
        return R, (q[k + 4], q[k + 5], q[k + 6])
    return R, sub(vec3(stage.c), times(R, vec3(stage.c)))


@inlined
def joint_motion(m, w, b, q, u):
    """Write pose, joint map, relative velocity H beta and map rate of body b's joint."""
    if m.body[b].form == FORM_FREE:
        _free_motion(m, w, b, q, u)
    else:
        _staged_motion(m, w, b, q, u)


@inlined
def _free_motion(m, w, b, q, u):
    """The same for the commonest root, H = 1 throughout."""
    body, hinge = m.body[b], w.hinge[b]
    k, j = body.q_start + body.n_modes, body.u_start + body.n_modes
    E = mat9(body.R_pO)
    R = rotation_of_quaternion(q[k], q[k + 1], q[k + 2], q[k + 3])
    put(product(E, R), w.body[b].A)
    put(add(vec3(body.x_pO), times(E, (q[k + 4], q[k + 5], q[k + 6]))), w.body[b].l)
    for r in range(6):
        hinge.hb[r] = u[j + r]
        hinge.cJ[r] = 0.0
        for c in range(6):
            hinge.H[r, c] = 1.0 if r == c else 0.0


@inlined
def _staged_motion(m, w, b, q, u):
    body, hinge = m.body[b], w.hinge[b]
    R, p = IDENTITY, ZERO
    sw, sv = ZERO, ZERO  # sum of the xi of stages nearer the child
    cw, cv = ZERO, ZERO
    u_joint = body.u_start + body.n_modes
    for s in range(body.stage_last - 1, body.stage_first - 1, -1):
        stage = m.stage[s]
        xw, xv = ZERO, ZERO
        for j in range(stage.n):
            h1, h2 = column(stage.H, j)
            h2 = times_t(R, add(cross(h1, p), h2))
            h1 = times_t(R, h1)
            put_pair(h1, h2, hinge.H[stage.u + j - u_joint])
            speed = u[stage.u + j]
            xw, xv = add(xw, scale(speed, h1)), add(xv, scale(speed, h2))
        cw = add(cw, cross(xw, sw))
        cv = add(cv, sub(cross(xw, sv), cross(sw, xv)))
        sw, sv = add(sw, xw), add(sv, xv)
        Rs, ps = stage_pose(stage, q)
        R, p = product(Rs, R), add(times(Rs, p), ps)
    E = mat9(body.R_pO)
    put(product(E, R), w.body[b].A)
    put(add(vec3(body.x_pO), times(E, p)), w.body[b].l)
    put_pair(sw, sv, hinge.hb)
    put_pair(cw, cv, hinge.cJ)
