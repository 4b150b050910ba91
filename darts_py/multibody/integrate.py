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
from darts_py.multibody.loop_motion import loop_errors
from darts_py.multibody.loop_projection import greatest_gap, opening, project_state, still_model
from darts_py.multibody.model import GOOD, LOOP_OPEN, NON_FINITE, Array, Model
from darts_py.multibody.prescribed import Motions, impose
from darts_py.multibody.redundancy import hold_rank, start_step
from darts_py.spatial.array import add_scaled, copy_into


class Stages(NamedTuple):
    """Scratch of an integrator."""

    q: Array  # coordinates at a stage          (n_coords,)
    u: Array  # speeds at a stage               (n_speeds,)
    delta: Array  # local coordinates there     (n_speeds,)
    rate: Array  # their rates, or qdot         (n_coords,)
    sum_q: Array  # weighted rates              (n_coords,)
    sum_u: Array  # weighted accelerations      (n_speeds,)


PROJECTED_OPENING = 1e-6  # of the speed of a loop
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
    tolerance: float  # rad, or parts of the longest link: a greater gap stops the motion
    opening: float  # parts of the speed of a loop: so does a gap that changes faster


def make_rules(m: Model, motions: Motions, *, project: bool, tolerance: float = math.inf) -> Rules:
    """Make the rules of a plant; the model they hold shares masses and locks with m.

    Projected speeds keep loops closed but for rounding, Baumgarte's to ten times what gaps do.
    """
    n_speeds, n_nodes = m.speed.shape[0], m.node.shape[0]
    shapes = dict.fromkeys(Rest._fields, (n_speeds,)) | {"node_force": (n_nodes, 6)}
    rest = Rest(**{name: np.zeros(shape) for name, shape in shapes.items()})
    opening = PROJECTED_OPENING if project else 10.0 * tolerance
    projects = project and m.closure.shape[0] > 0
    return Rules(motions, still_model(m), rest, projects, tolerance, opening)


def make_stages(n_coords: int, n_speeds: int) -> Stages:
    """Allocate the scratch of an integrator."""
    on_coords = {"q", "rate", "sum_q"}
    return Stages(*(np.zeros(n_coords if f in on_coords else n_speeds) for f in Stages._fields))


@inlined
def loops_are_open(m, rules, w):
    """Tell whether the speeds of the first evaluation of a step open a loop."""
    return m.closure.shape[0] > 0 and not opening(m, w) <= rules.opening


@inlined
def finish_step(rules, w, t, q_new, u_new, q, u):
    """Impose prescribed motions, close the loops that opened in the step, and take the new state.

    Returns an outcome; the old state stays where it is not GOOD.
    """
    impose(rules.motions, t, q_new, u_new, w.given)
    outcome = GOOD if _is_finite(q_new) and _is_finite(u_new) else NON_FINITE
    if outcome == GOOD and rules.project:
        outcome = project_state(rules.still, w, rules.rest, q_new, u_new, rules.tolerance)
    elif outcome == GOOD and w.loop.row.shape[1] > 0:
        loop_errors(rules.still, w, q_new, u_new)
        if not greatest_gap(rules.still, w, rules.tolerance) <= 1.0:
            outcome = LOOP_OPEN
    start_step(w)
    if outcome == GOOD and not (_is_finite(q_new) and _is_finite(u_new)):
        outcome = NON_FINITE
    if outcome == GOOD:
        copy_into(q_new, q)
        copy_into(u_new, u)
    return outcome


@inlined
def _is_finite(x):
    total = 0.0  # one sum is enough: infinities and NaN survive it
    for k in range(x.shape[0]):
        total += abs(x[k])
    return total < math.inf


@kernel
def advance_rk4(m, rules, w, s, q, u, tau, node_force, conserving, dt, tick, n_steps, lie):
    """Classical Runge-Kutta, in local coordinates if `lie`.

    Returns the number of good steps and, if these are fewer than asked for, why.
    """
    G = w.scratch[0].G
    for step in range(n_steps):
        t = (tick + step) * dt
        start_step(w)
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
            if stage == 0:
                if loops_are_open(m, rules, w):
                    return step, LOOP_OPEN
                hold_rank(w)
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
        outcome = finish_step(rules, w, (tick + step + 1) * dt, s.q, s.u, q, u)
        if outcome != GOOD:
            return step, outcome
    return n_steps, GOOD


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
    """Semi-implicit Euler, symplectic for trees: speeds first, then coordinates by these."""
    for step in range(n_steps):
        start_step(w)
        impose(rules.motions, (tick + step) * dt, q, u, w.given)
        forward_dynamics(m, w, q, u, tau, node_force, conserving)
        if loops_are_open(m, rules, w):
            return step, LOOP_OPEN
        hold_rank(w)
        copy_into(u, s.u)
        add_scaled(dt, w.udot, s.u)
        s.delta[:] = 0.0
        local_rates(m, q, s.u, s.delta, w.scratch[0].G, s.rate)
        _move(m, q, s.rate, dt, True, s.delta, s.q)
        outcome = finish_step(rules, w, (tick + step + 1) * dt, s.q, s.u, q, u)
        if outcome != GOOD:
            return step, outcome
    return n_steps, GOOD
