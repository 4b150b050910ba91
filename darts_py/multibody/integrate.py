"""Fixed-step integrators: one compiled call advances any number of steps.

Coordinates move in *local coordinates* delta (one per speed): quaternions by the exponential
map, so they never leave the sphere; only plain `rk4` treats them as four numbers and rescales.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from darts_py._jit import inlined, kernel
from darts_py.multibody.aba import forward_dynamics
from darts_py.multibody.joint_rates import (
    coordinate_rates,
    local_rates,
    normalise_quaternions,
    retract,
)
from darts_py.multibody.mass_properties import prepare_modes
from darts_py.multibody.model import Array, Model
from darts_py.spatial.array import add_scaled, copy_into

OK, NON_FINITE = range(2)

GAMMA = 1.0 - math.sqrt(0.5)  # makes the implicit method L-stable


class Stages(NamedTuple):
    """Scratch of an integrator."""

    q: Array  # coordinates at a stage          (n_coords,)
    u: Array  # speeds at a stage               (n_speeds,)
    delta: Array  # local coordinates there     (n_speeds,)
    rate: Array  # their rates, or qdot         (n_coords,)
    rate_1: Array  # rates of the first stage   (n_speeds,)
    udot_1: Array  # speeds' rates there        (n_speeds,)
    sum_q: Array  # weighted rates              (n_coords,)
    sum_u: Array  # weighted accelerations      (n_speeds,)
    tau: Array  # force with implicit terms     (n_speeds,)


def make_stages(n_coords: int, n_speeds: int) -> Stages:
    """Allocate the scratch of an integrator."""
    on_coords = {"q", "rate", "sum_q"}
    return Stages(*(np.zeros(n_coords if f in on_coords else n_speeds) for f in Stages._fields))


@inlined
def _is_finite(u):
    """One sum is enough: infinities and NaN survive it."""
    total = 0.0
    for k in range(u.shape[0]):
        total += abs(u[k])
    return total < math.inf


@kernel
def advance_rk4(m, w, s, q, u, tau, node_force, conserving, dt, n_steps, lie):
    """Classical Runge-Kutta, in local coordinates if `lie`. Returns a status."""
    G = w.scratch[0].G
    for _ in range(n_steps):
        copy_into(q, s.q)
        copy_into(u, s.u)
        s.delta[:] = 0.0
        s.sum_q[:] = 0.0
        s.sum_u[:] = 0.0
        for stage in range(4):
            if lie:
                local_rates(m, s.q, s.u, s.delta, G, s.rate)
            else:
                coordinate_rates(m, s.q, s.u, G, s.rate)
            forward_dynamics(m, w, s.q, s.u, tau, node_force, conserving)
            weight = dt / 3.0 if stage == 1 or stage == 2 else dt / 6.0
            add_scaled(weight, s.rate, s.sum_q)
            add_scaled(weight, w.udot, s.sum_u)
            if stage < 3:
                h = dt if stage == 2 else 0.5 * dt
                _move(m, q, s.rate, h, lie, s.delta, s.q)
                copy_into(u, s.u)
                add_scaled(h, w.udot, s.u)
        _move(m, q, s.sum_q, 1.0, lie, s.delta, s.q)
        copy_into(s.q, q)
        normalise_quaternions(m, q)
        add_scaled(1.0, s.sum_u, u)
        if not _is_finite(u):
            return NON_FINITE
    return OK


@inlined
def _move(m, q, rate, h, lie, delta, out):
    """Write q moved by h * rate into `out`, through local coordinates if `lie`."""
    if lie:
        for k in range(delta.shape[0]):
            delta[k] = h * rate[k]
        retract(m, q, delta, out)
    else:
        for k in range(q.shape[0]):
            out[k] = q[k] + h * rate[k]


@kernel
def advance_semi_implicit(m, w, s, q, u, tau, node_force, conserving, dt, n_steps):
    """Semi-implicit (symplectic) Euler: speeds first, then coordinates with the new speeds."""
    for _ in range(n_steps):
        forward_dynamics(m, w, q, u, tau, node_force, conserving)
        add_scaled(dt, w.udot, u)
        s.delta[:] = 0.0
        local_rates(m, q, u, s.delta, w.scratch[0].G, s.rate)
        _move(m, q, s.rate, dt, True, s.delta, q)
        if not _is_finite(u):
            return NON_FINITE
    return OK


@kernel
def advance_implicit_modes(m, mi, w, s, q, u, tau, node_force, conserving, dt, n_steps):
    """Rosenbrock method ROS2 with the modal stiffness and damping implicit, order 2, L-stable.

    Verwer et al. 1999: (1 - g h A) k1 = f(y), (1 - g h A) k2 = f(y + h k1) - 2 k1 and
    y := y + h (3 k1 + k2) / 2, of order 2 for any matrix A. With A the modal part of the
    Jacobian, both systems are forward dynamics of the model `mi`, whose modal mass matrix is
    Mff + g h Dm + (g h)^2 K: still O(n). Written for k2 + 2 k1, so that no product with M is
    needed.
    """
    gh, G = GAMMA * dt, w.scratch[0].G
    for _ in range(n_steps):
        copy_into(tau, s.tau)
        for b in range(m.body.shape[0]):
            _add_modal_force(m, b, -gh, m.K, u, s.tau)
        s.delta[:] = 0.0
        local_rates(m, q, u, s.delta, G, s.rate)
        forward_dynamics(mi, w, q, u, s.tau, node_force, conserving)
        _add_modal_rates(m, gh, w.udot, s.rate)
        for k in range(u.shape[0]):
            s.rate_1[k], s.udot_1[k] = s.rate[k], w.udot[k]
            s.u[k] = u[k] + dt * w.udot[k]
        _move(m, q, s.rate_1, dt, True, s.delta, s.q)
        copy_into(tau, s.tau)
        for b in range(m.body.shape[0]):
            _add_modal_force(m, b, 2.0 * gh, m.K, s.rate_1, s.tau)
            _add_modal_force(m, b, 2.0 * gh, m.Dm, s.udot_1, s.tau)
            _add_modal_force(m, b, -gh, m.K, s.u, s.tau)
            _add_modal_force(m, b, 2.0 * gh * gh, m.K, s.udot_1, s.tau)
        local_rates(m, s.q, s.u, s.delta, G, s.rate)
        forward_dynamics(mi, w, s.q, s.u, s.tau, node_force, conserving)
        _add_modal_rates(m, -2.0 * gh, s.udot_1, s.rate)
        _add_modal_rates(m, gh, w.udot, s.rate)
        for k in range(u.shape[0]):
            s.rate[k] = 0.5 * (s.rate_1[k] + s.rate[k])
            u[k] += 0.5 * dt * (s.udot_1[k] + w.udot[k])
        _move(m, q, s.rate, dt, True, s.delta, q)
        if not _is_finite(u):
            return NON_FINITE
    return OK


@inlined
def _add_modal_force(m, b, h, matrix, x, out):
    """out += h matrix x on the modes of body b."""
    body = m.body[b]
    for k in range(body.n_modes):
        for j in range(body.n_modes):
            out[body.u_start + k] += h * matrix[body.flex, k, j] * x[body.u_start + j]


@inlined
def _add_modal_rates(m, h, udot, out):
    """out += h udot on the modes of all bodies."""
    for b in range(m.body.shape[0]):
        for k in range(m.body[b].u_start, m.body[b].u_start + m.body[b].n_modes):
            out[k] += h * udot[k]


def implicit_model(m: Model) -> Model:
    """Return a model for `advance_implicit_modes`: own constants, shared nodes and matrices."""
    own = ("body", "mode", "hook", "Mff", "Df", "Lam", "Om", "E")
    return m._replace(**{name: getattr(m, name).copy() for name in own})


@kernel
def refresh_implicit_model(m, mi, w, dt):
    """Bring `mi` up to date with m's masses and locks, for the step dt."""
    gh = GAMMA * dt
    for b in range(m.body.shape[0]):
        mi.body[b] = m.body[b]
    for k in range(m.mode.shape[0]):
        mi.mode[k] = m.mode[k]
    for b in range(m.body.shape[0]):
        body = m.body[b]
        f = body.flex
        for k in range(body.n_modes):
            for j in range(body.n_modes):
                mi.Mff[f, k, j] = m.Mff[f, k, j] + gh * m.Dm[f, k, j] + gh * gh * m.K[f, k, j]
        if f >= 0:
            prepare_modes(mi, w, b)
