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
from darts_py.multibody.semidefinite import MOST, solve_semidefinite
from darts_py.spatial.vector import dot, mat9, sub, tail3, times, vec3

# Tolerances on squared sines: pivots of a Gram matrix with a unit diagonal.
ROUNDING = 1e-13  # what is left of one row written twice is 1e-15 times the number of speeds
TILT = 10.0  # rows of a loop open by a gap (rad, or m over the shortest link) tilt by so much of it

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
    tilt = 0.0
    if not rank_is_held(w):
        if loop.order[n + 1] != STRICT:
            if m.closure[0].gain_position == 0.0:
                measure_gaps(m, w, q)
            tilt = _tilt(m, w)
        loop.order[n] = UNDECIDED
    _find_shares(m, w, Lam, row[SPARE])
    for r in range(n):
        if loop.order[n] == UNDECIDED:
            row[IDLE, r] = 0.0 if row[SPARE, r] > max(ROUNDING, min(tilt, MOST)) else 1.0
        if row[IDLE, r] > 0.0 or not row[SPARE, r] > ROUNDING:  # a later stage may meet a dead
            row[SPARE, r] = 0.0  # centre
    solve_semidefinite(Lam, row[REST], row[FORCE], normal, row[SPARE], loop.order, ROUNDING, tilt)


@inlined
def _tilt(m, w):
    """Return the squared angle by which rows may be tilted, with loops as open as they are.

    More where a row's mobility is a small share of what it could be; see `semidefinite`.
    """
    worst = 0.0
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        for r in range(closure.n_rows):
            turn = vec3(closure.S[r])
            gap = abs(w.loop.row[GAP, closure.row_first + r])
            worst = max(worst, gap if dot(turn, turn) > 0.5 else gap / closure.shortest)
    return (TILT * worst) * (TILT * worst)


@inlined
def _find_shares(m, w, Lam, share):
    """Write which part each row's mobility is of what it would be without cancellation.

    Almost nothing where nothing can move, as in some rows of a planar mechanism held in space:
    rounding and gaps make their mobility tiny, not zero, and a force along them would be huge.
    """
    for c in range(m.closure.shape[0]):
        closure = m.closure[c]
        for r in range(closure.row_first, closure.row_first + closure.n_rows):
            whole = _mobility_without_cancellation(m, w, c, r)
            share[r] = Lam[r, r] / whole if whole > 0.0 else 0.0


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
                if m.speed[body.u_start + body.n_modes + j].given:
                    continue
                h, scale = w.hinge[b].H[j], w.hinge[b].L[j, j]
                turn, slide = dot(vec3(h), vec3(h)), dot(tail3(h), tail3(h))
                total += (turn * moment + slide * force) / (scale * scale)
        for k in range(body.n_modes):
            total += E[body.u_start + k, r] * E[body.u_start + k, r]
    return total
