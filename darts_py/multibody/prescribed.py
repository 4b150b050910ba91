"""Prescribed motions as tables of polynomials, imposed on the state in the compiled step.

A motion is a position over time, p(t), piecewise of degree 7 at most; its derivatives are the speed
and the acceleration that the sweeps take (`hybrid.py`). Position and speed are imposed as well, so
that nothing drifts. A quasi-speed (of a ball, free or planar joint) has no coordinate of its own:
only p' and p'' count. Outside its table a motion goes on at the speed it has there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from darts_py._jit import inlined, kernel
from darts_py.multibody.model import Array, D, I, records

DEGREE = 7

MOTION = np.dtype(
    [
        ("speed", I),  # which speed
        ("coord", I),  # its coordinate, or -1
        ("first", I),  # its pieces
        ("last", I),  # one past the last
    ],
    align=True,
)
PIECE = np.dtype(
    [
        ("start", D),  # s
        ("length", D),  # s
        ("c", D, DEGREE + 1),  # p = sum c_k (t - start)^k
    ],
    align=True,
)


class Motions(NamedTuple):
    """All prescribed motions of a plant."""

    motion: Array  # MOTION      (n_motions,)
    piece: Array  # PIECE        (n_pieces,)


def no_motions() -> Motions:
    """Return an empty table."""
    return Motions(records(0, MOTION), records(0, PIECE))


def motion_table(motions: list[tuple[int, int, Any]]) -> Motions:
    """Return the table of (speed, coordinate or -1, PIECE array) triples."""
    rows = records(len(motions), MOTION)
    pieces = records(sum(len(piece) for _, _, piece in motions), PIECE)
    first = 0
    for row, (speed, coord, piece) in zip(rows, motions, strict=True):
        row["speed"], row["coord"] = speed, coord
        row["first"], row["last"] = first, first + len(piece)
        pieces[first : first + len(piece)] = piece
        first += len(piece)
    return Motions(rows, pieces)


@kernel
def impose_now(motions, t, q, u, given):
    """Do what `impose` does, from outside a kernel."""
    impose(motions, t, q, u, given)


@kernel
def evaluate_motion(pieces, t):
    """Position, speed and acceleration of one motion at time t."""
    return evaluate(pieces, 0, pieces.shape[0], t)


@inlined
def impose(motions, t, q, u, given):
    """Write position, speed and acceleration of every prescribed motion at time t."""
    for i in range(motions.motion.shape[0]):
        motion = motions.motion[i]
        p, v, a = evaluate(motions.piece, motion.first, motion.last, t)
        if motion.coord >= 0:
            q[motion.coord] = p
        u[motion.speed] = v
        given[motion.speed] = a


@inlined
def evaluate(pieces, first, last, t):
    """Position, speed and acceleration at time t."""
    low, high = first, last - 1
    while low < high:  # the last piece that starts at or before t, or the first one
        middle = (low + high + 1) // 2
        if pieces[middle].start <= t:
            low = middle
        else:
            high = middle - 1
    piece = pieces[low]
    x = t - piece.start
    inside = min(max(x, 0.0), piece.length)
    p = v = a = 0.0
    for k in range(DEGREE, -1, -1):
        a = a * inside + 2.0 * v  # p'' before p' before p: Horner's scheme, differentiated
        v = v * inside + p
        p = p * inside + piece.c[k]
    if inside != x:
        return p + v * (x - inside), v, 0.0
    return p, v, a
