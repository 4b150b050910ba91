"""Constraints of which some say nothing new, or hold what cannot move.

Redundancy belongs to the closed configuration: a loop open by a gap tilts rows against each other
by about gap / length, and rows that were one become two, nearly parallel. So the rank is decided
by how open the loop is, and an integrator decides where its step begins, with loops closed, and
keeps the decision through the step (`start_step`, `hold_rank`). A constraint between heavy bodies
through a light one looks just as nearly parallel, in proportion to the masses; in closed loops all
but a ratio of 1e-12 of it is told apart.
"""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.loop_motion import measure_gaps
from darts_py.multibody.model import (
    FORCE,
    FORM_CARRIED,
    FORM_REVOLUTE,
    GAP,
    IDLE,
    REST,
    SPARE,
)
from darts_py.multibody.semidefinite import solve_semidefinite
from darts_py.spatial.vector import dot, mat9, sub, tail3, times, vec3

# Tolerances on squared sines: pivots of a Gram matrix with a unit diagonal.
ROUNDING = 1e-13  # what is left of one row written twice is 1e-15 times the number of speeds
TILT = 10.0  # rows of a loop open by a gap (rad, or m over the shortest link) tilt by so much of it
MOST = 1e-8  # however open the loop

UNDECIDED = -1  # a rank
HELD, STRICT = 1, 2  # order[r + 1]: keep the rank; decide it as if loops were closed


@inlined
def start_step(w):
    """Let the next evaluation decide the rank anew."""
    n = w.loop.row.shape[1]
    w.loop.order[n], w.loop.order[n + 1] = UNDECIDED, 0


@inlined
def hold_rank(w):
    """Keep the rank that the last evaluation decided."""
    w.loop.order[w.loop.row.shape[1] + 1] = HELD


@inlined
def rank_is_held(w):
    """Tell whether a rank was decided in this step and is to be kept."""
    n = w.loop.row.shape[1]
    return w.loop.order[n + 1] == HELD and w.loop.order[n] != UNDECIDED


@kernel
def solve_redundant(m, w, q):
    """Solve for the multipliers where rows may be redundant: the smallest that do it."""
    loop, row = w.loop, w.loop.row
    n, below = row.shape[1], loop.column.shape[0]
    Lam, normal = loop.column[below - 2 * n : below - n], loop.column[below - n :]
    tolerance = 0.0
    if not rank_is_held(w):
        if m.closure[0].gain_position == 0.0:
            measure_gaps(m, w, q)
        strict = loop.order[n + 1] == STRICT
        tolerance = ROUNDING if strict else _rank_tolerance(m, w)
        _mark_idle(m, w, Lam, tolerance, row[IDLE])
        loop.order[n] = UNDECIDED
    solve_semidefinite(
        Lam, row[REST], row[FORCE], normal, row[SPARE], row[IDLE], loop.order, tolerance
    )


@inlined
def _rank_tolerance(m, w):
    """Return below which squared sine two rows count as one, with loops as open as they are."""
    worst = 0.0
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        for r in range(closure.n_rows):
            turn = vec3(closure.S[r])
            gap = abs(w.loop.row[GAP, closure.row_first + r])
            worst = max(worst, gap if dot(turn, turn) > 0.5 else gap / closure.shortest)
    return min(ROUNDING + (TILT * worst) * (TILT * worst), MOST)


@inlined
def _mark_idle(m, w, Lam, tolerance, idle):
    """Mark the rows in which nothing can move: a planar mechanism held in space has such rows.

    Rounding and gaps make their mobility tiny, not zero, and a force along them would be huge.
    """
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        for r in range(closure.row_first, closure.row_first + closure.n_rows):
            least = tolerance * _mobility_without_cancellation(m, w, c, r)
            idle[r] = 0.0 if Lam[r, r] > least else 1.0


@inlined
def _mobility_without_cancellation(m, w, c, r):
    """J M^-1 J^T of one row, if each joint felt the whole of its force and moment.

    Its force passes a hinge at some arm; what the hinge feels may be nothing, because the force
    meets the axis or runs along it. Tilted by a small angle it would feel that part of this.
    """
    closure, frame, E = m.closure[c], w.loop.frame[c], w.loop.column[12 + m.mode.shape[0] :]
    S, R_B = closure.S[r - closure.row_first], mat9(frame.R_B)
    n, f = times(R_B, vec3(S)), times(R_B, tail3(S))
    total = 0.0
    for i in range(closure.path_first, closure.path_last):
        b = m.path[i]
        body, link = m.body[b], w.loop.link[b]
        arm = sub(vec3(frame.r_a), vec3(link.r))
        force = dot(f, f)
        moment = dot(n, n) + dot(arm, arm) * force
        if body.form == FORM_REVOLUTE:
            total += moment * w.body[b].d
        elif body.form != FORM_CARRIED and not body.locked:
            for j in range(body.n_hinge):
                h, scale = w.hinge[b].H[j], w.hinge[b].L[j, j]
                turn, slide = dot(vec3(h), vec3(h)), dot(tail3(h), tail3(h))
                total += (turn * moment + slide * force) / (scale * scale)
        for k in range(body.n_modes):
            total += E[body.u_start + k, r] * E[body.u_start + k, r]
    return total
