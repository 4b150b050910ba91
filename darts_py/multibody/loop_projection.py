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
from darts_py.multibody.joint_rates import local_rates, retract
from darts_py.multibody.loop_motion import loop_errors
from darts_py.multibody.model import EXTRA, GAP, RATE, Model
from darts_py.spatial.array import add_scaled, copy_into


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
def project_state(still, w, rest, q, u):
    """Move q and u onto the closed loops, one Newton step each; `rest` has zeros and scratch."""
    project_position(still, w, rest, q, math.inf)
    project_velocity(still, w, rest, q, u)


@kernel
def project_position(still, w, rest, q, longest):
    """Take one Newton step of q towards closed loops, shortened to `longest` (rad or m)."""
    loop_errors(still, w, q, rest.u)
    _correct(still, w, rest, w.loop.row[GAP], q)
    rest.delta[:] = 0.0
    local_rates(still, q, w.udot, rest.delta, w.scratch[0].G, rest.rate)
    size = 0.0
    for k in range(rest.rate.shape[0]):
        size = max(size, abs(rest.rate[k]))
    if size > longest:
        for k in range(rest.rate.shape[0]):
            rest.rate[k] *= longest / size
    retract(still, q, rest.rate, q)


@kernel
def project_velocity(still, w, rest, q, u):
    """Take out of u what would open the loops; other momentum is kept."""
    loop_errors(still, w, q, u)
    _correct(still, w, rest, w.loop.row[RATE], q)
    add_scaled(1.0, w.udot, u)


@inlined
def _correct(still, w, rest, error, q):
    """Write -M^-1 J^T (J M^-1 J^T)^-1 error into w.udot."""
    w.given[:] = 0.0
    copy_into(error, w.loop.row[EXTRA])
    conserving = w.loop.row.shape[0] == 0  # False; written out it would be another signature
    forward_dynamics(still, w, q, rest.u, rest.tau, rest.node_force, conserving)
    w.loop.row[EXTRA][:] = 0.0
