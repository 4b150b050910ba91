"""Closed loops: their errors, their forces, and states that satisfy them.

Closures stand in the model file. `forward_dynamics`, `hybrid_dynamics` and `Plant` honour them;
`mass_matrix`, `bias_force`, `inverse_dynamics` and `MassOperator` are those of the tree without
closures: M udot + C = tau + J^T force, with J of `closure_jacobian`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from darts_py import dynamics
from darts_py.errors import ArgumentError
from darts_py.multibody import closures
from darts_py.multibody.charts import move
from darts_py.multibody.integrate import Rules, make_rules
from darts_py.multibody.loop_motion import loop_errors
from darts_py.multibody.loop_projection import judge_loops, project_position, project_velocity
from darts_py.multibody.model import GAP, RATE, Array
from darts_py.multibody.prescribed import no_motions
from darts_py.multibody.redundancy import STRICT
from darts_py.multibody.spacecraft import Spacecraft

CLOSED = 1e-12  # rad, or parts of the longest link: a gap to stop at
GOOD_ENOUGH = 1e3  # times that, if it gets no smaller
MAX_STEPS = 500  # LONGEST_STEP each: loops open by 100 m close, in some ms
LONGEST_STEP = 0.3  # rad or m
PATIENCE = 20  # steps without a smaller gap than before
# How to try: started aside by (rad or m), out of a dead centre; strict about the rank or not.
# Loops wide open lead to rows that are redundant only when closed, and strictness fails there;
# very light bodies between heavy ones look like it, and need strictness.
ATTEMPTS = ((0.0, False), (0.0, True), (0.1, False), (-0.1, False), (0.4, False), (-0.4, False))


class ClosureError(NamedTuple):
    """How far the rows of all closures are from zero, in the order of `closure_rows`."""

    position: Array  # m and rad; zero for rows that hold speeds only      (r,)
    velocity: Array  # m/s and rad/s                                       (r,)


def closure_rows(model: Spacecraft) -> dict[str, slice]:
    """Return the rows that belong to each closure, by its name."""
    rows, first = {}, 0
    for closure in dynamics.checked_model(model).tree.closures:
        rows[closure.name] = slice(first, first + closure.S.shape[1])
        first += closure.S.shape[1]
    return rows


def closure_jacobian(model: Spacecraft, q: Array) -> Array:
    """Return J (r, n_speeds) of all closures: J u is their velocity error.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
    """
    q, still = dynamics.checked_state(model, q, np.zeros(dynamics.checked_model(model).n_speeds))
    out = np.zeros((model.workspace.loop.row.shape[1], model.n_speeds))
    closures.closure_jacobian(model.arrays, model.workspace, q, still, out)
    return out


def closure_error(model: Spacecraft, q: Array, u: Array) -> ClosureError:
    """Return how far the loops are from closed.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
    """
    q, u = dynamics.checked_state(model, q, u)
    loop_errors(model.arrays, model.workspace, q, u)
    return ClosureError(*model.workspace.loop.row[[GAP, RATE]].copy())


def loads_of_multipliers(model: Spacecraft, force: Array) -> dict[str, Array]:
    """Return the load of each closure from the multipliers of its rows."""
    rows = closure_rows(model)
    return {c.name: c.S @ force[rows[c.name]] for c in model.tree.closures}


def close_loops(model: Spacecraft, q: Array, u: Array | None = None) -> tuple[Array, Array]:
    """Return the state nearest to (q, u), in the sense of kinetic energy, with closed loops.

    Locked and prescribed joints stay where they are. From far away Newton's method may fail, or
    close the loops in another way than meant; in a dead centre (a linkage stretched out) it starts
    again from a little aside.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,) to start from.
        u: speeds (n_speeds,), zero if left out.

    Raises:
        ArgumentError: the loops do not close from there.
    """
    start = np.zeros(dynamics.checked_model(model).n_speeds) if u is None else u
    q, u = (x.copy() for x in dynamics.checked_state(model, q, start))
    if not model.tree.closures:
        return q, u
    rules, gap = make_rules(model.arrays, no_motions(), project=True), np.inf
    for nudge, strict in ATTEMPTS:
        moved = _nudged(model, q, nudge)
        gap = _newton(model, rules, moved, strict=strict)
        if gap <= GOOD_ENOUGH:
            project_velocity(rules.still, model.workspace, rules.rest, moved, u)
            return moved, u
    raise ArgumentError(
        "q", got=f"loops that stay open by {gap * CLOSED:.3g} of their size, or rad",
        expected="coordinates near a closed configuration",
        hint="start nearer (Plant takes q=...), and see that no joint is locked",
    )  # fmt: skip


def _newton(model: Spacecraft, rules: Rules, q: Array, *, strict: bool) -> float:
    """Move q towards closed loops; return the greatest gap left, in units of CLOSED."""
    w, gap, best, idle = model.workspace, np.inf, np.inf, 0
    for _ in range(MAX_STEPS):
        gap, _ = judge_loops(model.arrays, w, q, rules.rest.u, CLOSED)
        idle = 0 if gap < best else idle + 1
        best = min(best, gap)
        if gap <= 1.0 or idle > PATIENCE or not np.all(np.isfinite(q)):
            break
        w.loop.order[-1] = STRICT if strict else 0
        project_position(rules.still, w, rules.rest, q, LONGEST_STEP)
        w.loop.order[-1] = 0
    return gap if np.all(np.isfinite(q)) else np.inf


def _nudged(model: Spacecraft, q: Array, size: float) -> Array:
    """Return coordinates a little aside, the same for the same q; what is held stays."""
    out, delta = q.copy(), np.zeros(model.n_speeds)
    for k in range(model.n_speeds):
        if not (model.is_locked(k) or model.arrays.speed[k]["given"]):
            delta[k] = size * np.sin(1.0 + k)
    for row in model.arrays.body:  # modes are in units of their own
        delta[row["u_start"] : row["u_start"] + row["n_modes"]] = 0.0
    move(model.arrays, q, delta, out)
    return out
