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
from darts_py.multibody.loop_projection import project_state, still_model
from darts_py.multibody.model import Array, Model
from darts_py.multibody.prescribed import Motions, impose
from darts_py.spatial.array import add_scaled, copy_into


class Stages(NamedTuple):
    """Scratch of an integrator."""

    q: Array  # coordinates at a stage          (n_coords,)
    u: Array  # speeds at a stage               (n_speeds,)
    delta: Array  # local coordinates there     (n_speeds,)
    rate: Array  # their rates, or qdot         (n_coords,)
    sum_q: Array  # weighted rates              (n_coords,)
    sum_u: Array  # weighted accelerations      (n_speeds,)


C = (0.0, 0.5, 0.5, 1.0)  # when the stages of Runge-Kutta are, in steps


class Rest(NamedTuple):
    """Zeros and scratch for corrections of a state."""

    u: Array  # no speeds                       (n_speeds,)
    tau: Array  # no forces                     (n_speeds,)
    node_force: Array  # none here either       (n_nodes, 6)
    delta: Array  # scratch                     (n_speeds,)
    rate: Array  # scratch                      (n_speeds,)


class Rules(NamedTuple):
    """What the motion must obey besides forces: prescribed motions and closed loops."""

    motions: Motions
    still: Model  # see `loop_projection`
    rest: Rest
    project: bool  # True: states are brought back onto closed loops after each step


def make_rules(m: Model, motions: Motions, *, project: bool) -> Rules:
    """Make the rules of a plant; the model they hold shares masses and locks with m."""
    n_speeds, n_nodes = m.speed.shape[0], m.node.shape[0]
    shapes = dict.fromkeys(Rest._fields, (n_speeds,)) | {"node_force": (n_nodes, 6)}
    rest = Rest(**{name: np.zeros(shape) for name, shape in shapes.items()})
    return Rules(motions, still_model(m), rest, project and m.closure.shape[0] > 0)


def make_stages(n_coords: int, n_speeds: int) -> Stages:
    """Allocate the scratch of an integrator."""
    on_coords = {"q", "rate", "sum_q"}
    return Stages(*(np.zeros(n_coords if f in on_coords else n_speeds) for f in Stages._fields))


@inlined
def take_if_finite(q_new, u_new, q, u):
    """Copy the new state if it is finite; otherwise leave the old one and return False."""
    total = 0.0  # one sum is enough: infinities and NaN survive it
    for k in range(q.shape[0]):
        total += abs(q_new[k])
    for k in range(u.shape[0]):
        total += abs(u_new[k])
    if not total < math.inf:
        return False
    copy_into(q_new, q)
    copy_into(u_new, u)
    return True


@inlined
def finish_step(rules, w, t, q, u):
    """Impose prescribed motions at the end of a step, and close the loops that opened in it."""
    impose(rules.motions, t, q, u, w.given)
    if rules.project:
        project_state(rules.still, w, rules.rest, q, u)


@kernel
def advance_rk4(m, rules, w, s, q, u, tau, node_force, conserving, dt, tick, n_steps, lie):
    """Classical Runge-Kutta, in local coordinates if `lie`. Returns the number of good steps."""
    G = w.scratch[0].G
    for step in range(n_steps):
        t = (tick + step) * dt
        copy_into(q, s.q)
        copy_into(u, s.u)
        s.delta[:] = 0.0
        s.sum_q[:] = 0.0
        s.sum_u[:] = 0.0
        for stage in range(4):
            impose(rules.motions, t + C[stage] * dt, s.q, s.u, w.given)
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
        normalise_quaternions(m, s.q)
        copy_into(u, s.u)
        add_scaled(1.0, s.sum_u, s.u)
        finish_step(rules, w, (tick + step + 1) * dt, s.q, s.u)
        if not take_if_finite(s.q, s.u, q, u):
            return step
    return n_steps


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
def advance_semi_implicit(m, rules, w, s, q, u, tau, node_force, conserving, dt, tick, n_steps):
    """Semi-implicit (symplectic) Euler: speeds first, then coordinates with the new speeds."""
    for step in range(n_steps):
        impose(rules.motions, (tick + step) * dt, q, u, w.given)
        forward_dynamics(m, w, q, u, tau, node_force, conserving)
        copy_into(u, s.u)
        add_scaled(dt, w.udot, s.u)
        s.delta[:] = 0.0
        local_rates(m, q, s.u, s.delta, w.scratch[0].G, s.rate)
        _move(m, q, s.rate, dt, True, s.delta, s.q)
        finish_step(rules, w, (tick + step + 1) * dt, s.q, s.u)
        if not take_if_finite(s.q, s.u, q, u):
            return step
    return n_steps
