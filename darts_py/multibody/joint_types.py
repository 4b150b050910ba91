"""The joint catalogue: each word a model file may use, as stages with a constant joint map.

A joint map H (6 x r, rotation first) is the velocity of the child's hinge frame O relative to
the parent's O+, in O axes, per unit speed. Kwatny & Blankenship take any constant H for a joint
with r coordinates; that holds only if span(H) is closed under the Lie bracket, so that the
motions it generates form a group. `constant_map` tests it and says why a map is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from darts_py.errors import Fault, ModelError
from darts_py.multibody.tree import Array, Stage

RANK_TOLERANCE = 1e-9  # relative, on unit columns; joint maps are typed by hand to more digits

Stages = tuple[Stage, ...]


def _refuse(got: str, expected: str, hint: str = "") -> ModelError:
    return ModelError([Fault("joint", got, expected, hint)])


def unit(axis: Sequence[float] | Array) -> Array:
    """Return `axis` scaled to length 1; refuse what has no direction."""
    h = np.asarray(axis, float)
    length = float(np.linalg.norm(h)) if h.shape == (3,) else 0.0
    if not (np.all(np.isfinite(h)) and length > 0.0):
        raise _refuse(f"axis {list(np.atleast_1d(h))}", "three finite numbers, not all zero")
    return h / length


def _column(rotation: Array, translation: Array) -> Array:
    return np.concatenate([rotation, translation])[:, None]


def fixed() -> Stages:
    """Return no stage at all: the two hinge frames coincide."""
    return ()


def revolute(axis: Sequence[float] | Array) -> Stages:
    """Turn about `axis`."""
    return (Stage("axis", _column(unit(axis), np.zeros(3))),)


def prismatic(axis: Sequence[float] | Array) -> Stages:
    """Slide along `axis`."""
    return (Stage("axis", _column(np.zeros(3), unit(axis))),)


def screw(axis: Sequence[float] | Array, pitch: float) -> Stages:
    """Turn about `axis` and advance `pitch` metres per radian."""
    return (Stage("axis", _column(unit(axis), pitch * unit(axis))),)


def cylindrical(axis: Sequence[float] | Array) -> Stages:
    """Turn about and, independently, slide along `axis`: coordinates (angle, slide)."""
    return revolute(axis) + prismatic(axis)


def universal(inboard: Sequence[float] | Array, outboard: Sequence[float] | Array) -> Stages:
    """Hooke joint: turn about `inboard` (fixed in O+), then about `outboard` (fixed in O)."""
    h1, h2 = unit(inboard), unit(outboard)
    if np.linalg.norm(np.cross(h1, h2)) < RANK_TOLERANCE:
        raise _refuse("two parallel axes", "two different directions", "use type: revolute")
    return revolute(h1) + revolute(h2)


def spherical() -> Stages:
    """Rotate freely about O: a unit quaternion, speeds are body rates."""
    return (Stage("ball", np.vstack([np.eye(3), np.zeros((3, 3))])),)


def planar() -> Stages:
    """Slide in the O+ xy plane and turn about z: coordinates (x, y, angle), speeds in O axes."""
    H = np.zeros((6, 3))
    H[3, 0] = H[4, 1] = H[2, 2] = 1.0
    return (Stage("planar", H),)


def free() -> Stages:
    """Move freely: quaternion and position in O+ axes; speeds are body rates [w; v]."""
    return (Stage("free", np.eye(6)),)


def compound(parts: Sequence[Stages]) -> Stages:
    """Chain simple joints from the parent outward, with axes in any direction."""
    return tuple(stage for part in parts for stage in part)


def bracket(a: Array, b: Array) -> Array:
    """Lie bracket of two spatial velocities."""
    w = np.cross(a[:3], b[:3])
    return np.concatenate([w, np.cross(a[:3], b[3:]) - np.cross(b[:3], a[3:])])


def constant_map(H: Sequence[Sequence[float]] | Array) -> Stages:
    """Make a joint of any admissible constant 6 x r map; refuse the others and say why."""
    H = np.asarray(H, float)
    if H.ndim != 2 or H.shape[0] != 6 or not 1 <= H.shape[1] <= 6 or not np.all(np.isfinite(H)):
        raise _refuse(f"a joint map of shape {H.shape}", "finite numbers, 6 rows, 1 to 6 columns")
    n_columns = H.shape[1]
    lengths = np.linalg.norm(H, axis=0)
    if np.any(lengths == 0.0):
        raise _refuse("a joint map with a zero column", "independent columns")
    columns = H / lengths
    if np.linalg.matrix_rank(columns, tol=RANK_TOLERANCE) < n_columns:
        raise _refuse("a joint map with dependent columns", "independent columns")
    _require_closed_span(columns)
    n_rotations = np.linalg.matrix_rank(columns[:3], tol=RANK_TOLERANCE)
    if n_columns == 1:
        return (Stage("axis", H),)
    if n_columns == 6:
        return (Stage("free", H),)
    if n_rotations == 3:
        return (Stage("ball", H),)
    return (Stage("map", H),)


def _require_closed_span(columns: Array) -> None:
    """Refuse a map whose brackets leave its span: its hinge would be non-holonomic."""
    basis, _ = np.linalg.qr(columns)
    n_columns = columns.shape[1]
    for j in range(n_columns):
        for k in range(j + 1, n_columns):
            h = bracket(columns[:, j], columns[:, k])
            outside = h - basis @ (basis.T @ h)
            if np.linalg.norm(outside) > RANK_TOLERANCE:
                direction = np.round(outside / np.linalg.norm(outside), 6) + 0.0
                raise _refuse(
                    f"a joint map whose columns {j + 1} and {k + 1} generate motion along "
                    f"{direction.tolist()}, outside their span",
                    "a span closed under the Lie bracket: otherwise the hinge is non-holonomic "
                    f"and {n_columns} coordinates cannot describe where it gets to",
                    "use type: compound with one stage per axis, or add the missing column",
                )
