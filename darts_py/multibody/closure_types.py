"""The closure catalogue: each word a model file may use, as constrained directions S.

S (6 x r, rotation first, B axes) says what frame A may not do relative to frame B:
S^T [w; v] = 0 with v the velocity of A's origin as seen from B. So rotation and translation
are measured apart, and a distribution of such velocities integrates to poses if it is closed
under the bracket of SO(3) x R^3, [(w1, v1), (w2, v2)] = (w1 x w2, 0): the criterion of
Frobenius for fields that are constant in B. A pin in a slot therefore is a closure (turn about
z, slide along x), though no joint map, whose translations turn with the outboard frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from darts_py.errors import Fault, ModelError
from darts_py.multibody.joint_types import RANK_TOLERANCE, unit
from darts_py.multibody.tree import Array

Axis = Sequence[float] | Array


def _refuse(got: str, expected: str, hint: str = "") -> ModelError:
    return ModelError([Fault("closure", got, expected, hint)])


def _rotations(directions: Array) -> Array:
    return np.vstack([directions, np.zeros_like(directions)])


def _translations(directions: Array) -> Array:
    return np.vstack([np.zeros_like(directions), directions])


def _across(axis: Axis) -> Array:
    """Return two unit vectors at right angles to `axis` and to each other, (3, 2)."""
    h = unit(axis)
    k = int(np.argmin(np.abs(h)))  # the coordinate axis that is furthest from h
    first = np.eye(3)[k] - h[k] * h
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(h, first)])


def ball() -> Array:
    """Hold A's origin at B's."""
    return _translations(np.eye(3))


def revolute(axis: Axis) -> Array:
    """Let A turn about `axis` through B's origin, nothing else."""
    return np.hstack([_rotations(_across(axis)), ball()])


def weld() -> Array:
    """Hold A on B."""
    return np.eye(6)


def prismatic(axis: Axis) -> Array:
    """Let A slide along `axis`, nothing else."""
    return np.hstack([_rotations(np.eye(3)), _translations(_across(axis))])


def cylindrical(axis: Axis) -> Array:
    """Let A turn about and slide along `axis`."""
    return np.hstack([_rotations(_across(axis)), _translations(_across(axis))])


def planar(normal: Axis) -> Array:
    """Let A slide in the plane across `normal` and turn about it."""
    return np.hstack([_rotations(_across(normal)), point_on_plane(normal)])


def point_on_plane(normal: Axis) -> Array:
    """Hold A's origin in the plane across `normal` through B's origin."""
    return _translations(unit(normal)[:, None])


def point_on_line(axis: Axis) -> Array:
    """Hold A's origin on the line along `axis` through B's origin."""
    return _translations(_across(axis))


def constrained_map(rows: Sequence[Sequence[float]] | Array) -> Array:
    """Return S of any admissible 6 x r map, its columns orthonormal; refuse the others.

    Pure rotations come first, then a direction that mixes both (admissible maps have one at
    most), then pure translations.
    """
    S = np.asarray(rows, float)
    if S.ndim != 2 or S.shape[0] != 6 or not 1 <= S.shape[1] <= 6 or not np.all(np.isfinite(S)):
        raise _refuse(f"a map of shape {S.shape}", "finite numbers, 6 rows, 1 to 6 columns")
    lengths = np.linalg.norm(S, axis=0)
    if np.any(lengths == 0.0):
        raise _refuse("a map with a zero column", "independent columns")
    basis = _orthonormal(S / lengths)
    if basis.shape[1] < S.shape[1]:
        raise _refuse("a map with dependent columns", "independent columns")
    turns = basis @ _null(basis[3:])  # what of the span has no translation
    slides = basis @ _null(basis[:3])
    pure = np.hstack([turns, slides])
    mixed = _orthonormal(basis - pure @ (pure.T @ basis))
    _require_holonomic(turns.shape[1], mixed.shape[1])
    parts = [_tidy(turns), _tidy(mixed), _tidy(slides)]
    return np.hstack(parts)


def _require_holonomic(n_turns: int, n_mixed: int) -> None:
    """Refuse a map whose free motions are not closed under the bracket of SO(3) x R^3.

    The rotations that occur in free motions are those across the pure rotations in S. They must
    be closed under the cross product: none, one axis, or all three; and with all three the
    brackets (w1 x w2, 0) are every pure rotation, so that no column may tie one to a translation.
    """
    if n_turns >= 2 or n_turns == n_mixed == 0:
        return
    got = "a map that constrains one rotation" if n_turns else "a map that constrains no rotation"
    tied = f" and ties {n_mixed} of the others to translations" if n_mixed else ""
    raise _refuse(
        got + tied,
        "none, two or all three rotations constrained, a rotation tied to translations only "
        "beside two that are: otherwise the free rotations generate a forbidden one, and the "
        "closure is non-holonomic",
        "for a universal joint put a small body between the two and joint it to one of them",
    )


def _orthonormal(columns: Array) -> Array:
    """Return an orthonormal basis of the span."""
    U, s, _ = np.linalg.svd(columns, full_matrices=False)
    return U[:, s > RANK_TOLERANCE]


def _null(rows: Array) -> Array:
    """Return an orthonormal basis of what `rows` sends to zero."""
    _, s, Vt = np.linalg.svd(rows)
    return Vt[int(np.sum(s > RANK_TOLERANCE)) :].T


def _tidy(columns: Array) -> Array:
    """Return the basis of the same span that is nearest to coordinate axes, signs fixed.

    Orthonormalises the projections of the coordinate axes on the span, those with the largest
    first, so that a map typed as unit columns comes back as typed.
    """
    n = columns.shape[1]
    projector = columns @ columns.T
    chosen = np.zeros((6, 0))
    for _ in range(n):
        rest = projector - chosen @ (chosen.T @ projector)
        lengths = np.linalg.norm(rest, axis=0)
        k = int(np.argmax(np.round(lengths, 12)))
        column = rest[:, k] / lengths[k]
        column[np.abs(column) < 1e-15] = 0.0
        chosen = np.column_stack([chosen, column / np.linalg.norm(column)])
    return chosen[:, np.argsort(np.argmax(np.round(np.abs(chosen), 12), axis=0), kind="stable")]
