"""Bringing a state back onto closed loops: position, then velocity.

The correction of least kinetic energy, d = -M^-1 J^T (J M^-1 J^T)^-1 gap, is forward dynamics of a
spacecraft at rest, without any force but the constraints', whose gaps are asked to accelerate by
minus the error (docs/equations.md section 11).
"""

from __future__ import annotations

import math

import numpy as np

from darts_py._jit import inlined, kernel
from darts_py.multibody.aba import forward_dynamics
from darts_py.multibody.handover import on_one_axis
from darts_py.multibody.joint_rates import local_rates, retract
from darts_py.multibody.loop_motion import loop_errors
from darts_py.multibody.model import EXTRA, GAP, GOOD, LOOP_OPEN, NON_FINITE, RATE, Model
from darts_py.multibody.redundancy import start_step
from darts_py.spatial.array import add_scaled, copy_into
from darts_py.spatial.vector import add, cross, dot, tail3, vec3

CLOSED = 1e-12  # rad, or parts of the longest link: a gap not worth another correction
MOST_CORRECTIONS = 12  # of the position in one step
FAR = 0.1  # rad, or parts of the longest link: corrections beyond this are no integration error
ROUNDING = 2e-14  # of the distance from the reference frame: what a gap can be measured to


def still_model(m: Model) -> Model:
    """Return the model without forces of its own; masses and locks stay shared with m."""
    closure = m.closure.copy()
    closure["gain_velocity"] = closure["gain_position"] = 0.0
    return m._replace(
        gravity=np.zeros(3),
        passive=m.passive[:0].copy(),
        K=np.zeros_like(m.K),
        Dm=np.zeros_like(m.Dm),
        closure=closure,
    )


@kernel
def project_state(still, w, rest, q, u, tolerance):
    """Move q and u onto the closed loops; return an outcome (`model.GOOD` and so on).

    One Newton step of q is the rule. Bent bodies need some more: J is that of no deformation, so
    each leaves as much of the gap as slopes are. A step that would need to move a joint far has
    no closed configuration nearby, as beyond a dead centre.
    """
    moved = 0.0
    for k in range(MOST_CORRECTIONS + 1):
        loop_errors(still, w, q, u)
        gap = greatest_gap(still, w, min(tolerance, CLOSED))
        if not gap < math.inf:
            return NON_FINITE
        if k > 0:
            start_step(w)  # loops are nearly closed: what is redundant here is known best here
        last = k == MOST_CORRECTIONS and greatest_gap(still, w, tolerance) <= 1.0
        if k > 0 and (gap <= 1.0 or last):
            _correct(still, w, rest, w.loop.row[RATE], q)
            add_scaled(1.0, w.udot, u)
            return GOOD
        moved += _move_towards(still, w, rest, q, math.inf)
        if not moved < math.inf:
            return NON_FINITE
        if moved > FAR:
            return LOOP_OPEN
    return LOOP_OPEN


@kernel
def judge_loops(m, w, q, u, tolerance):
    """Return a state's greatest gap in units of what is tolerated, and its `opening`."""
    loop_errors(m, w, q, u)
    return greatest_gap(m, w, tolerance), opening(m, w)


@kernel
def project_position(still, w, rest, q, longest):
    """Take one Newton step of q towards closed loops, shortened to `longest` (rad or m)."""
    loop_errors(still, w, q, rest.u)
    _move_towards(still, w, rest, q, longest)


@kernel
def project_velocity(still, w, rest, q, u):
    """Take out of u what would open the loops; other momentum is kept."""
    loop_errors(still, w, q, u)
    _correct(still, w, rest, w.loop.row[RATE], q)
    add_scaled(1.0, w.udot, u)


@inlined
def greatest_gap(m, w, tolerance):
    """Return the greatest gap as a multiple of what is tolerated.

    That is `tolerance` in radians or in parts of the longest link, and rounding far away.
    """
    worst = 0.0
    for c in range(m.closure.shape[0]):
        closure, r = m.closure[c], vec3(w.loop.frame[c].r_a)
        far = ROUNDING * (abs(r[0]) + abs(r[1]) + abs(r[2]))
        for k in range(closure.n_rows):
            turn = vec3(closure.S[k])
            slides = dot(turn, turn) < 0.5
            limit = tolerance * closure.longest + far if slides else tolerance + ROUNDING
            gap = abs(w.loop.row[GAP, closure.row_first + k]) / limit
            worst = gap if not gap <= worst else worst  # keeps NaN
    return worst


@inlined
def opening(m, w):
    """Return the greatest rate of a gap against how fast bodies on loops move; after an evaluation.

    A loop as long as a metre that hardly moves counts as moving at 1 m/s or rad/s.
    """
    size = loop_size(m)
    moves = size
    for i in range(m.closure[0].all_first, m.closure[0].all_last):
        link = w.loop.link[m.path[i]]
        turn = vec3(link.V)
        slide = add(tail3(link.V), cross(turn, vec3(link.r)))
        moves = max(moves, size * math.sqrt(dot(turn, turn)), math.sqrt(dot(slide, slide)))
    worst = 0.0
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        for k in range(closure.n_rows):
            turn = vec3(closure.S[k])
            rate = abs(w.loop.row[RATE, closure.row_first + k])
            rate = rate if dot(turn, turn) < 0.5 else rate * size
            worst = rate if not rate <= worst else worst
    return worst / moves


@inlined
def _move_towards(still, w, rest, q, longest):
    """Move q by the measured gap; return how far joints moved, slides in parts of loops.

    The move is shortened to `longest` (rad or m).
    """
    _correct(still, w, rest, w.loop.row[GAP], q)
    rest.delta[:] = 0.0
    local_rates(still, q, w.udot, rest.delta, w.scratch[0].G, rest.rate)
    size, part, scale = 0.0, 0.0, loop_size(still)
    for b in range(still.body.shape[0]):
        body = still.body[b]
        first = body.u_start + body.n_modes  # modes are in units of their own
        for j in range(body.n_hinge):
            move, slides = abs(rest.rate[first + j]), False
            if not on_one_axis(body):
                turn = vec3(w.hinge[b].H[j])
                slides = dot(turn, turn) == 0.0
            size = move if not move <= size else size
            move = move / scale if slides else move
            part = move if not move <= part else part
    if size > longest:
        for k in range(rest.rate.shape[0]):
            rest.rate[k] *= longest / size
    retract(still, q, rest.rate, q)
    return part


@inlined
def loop_size(m):
    """Return the longest link of all loops."""
    size = 0.0
    for c in range(m.closure.shape[0]):
        size = max(size, m.closure[c].longest)
    return size


@inlined
def _correct(still, w, rest, error, q):
    """Write -M^-1 J^T (J M^-1 J^T)^-1 error into w.udot."""
    w.given[:] = 0.0
    copy_into(error, w.loop.row[EXTRA])
    conserving = w.loop.row.shape[0] == 0  # False; written out it would be another signature
    forward_dynamics(still, w, q, rest.u, rest.tau, rest.node_force, conserving)
    w.loop.row[EXTRA][:] = 0.0
