"""Orientation of a hinge frame: exactly one of matrix, quaternion, axis and angle, Euler angles.

All of them give R, which maps components in the hinge frame to components in the body frame.
"""

from __future__ import annotations

from typing import Annotated, Literal, cast

import numpy as np
from annotated_types import Len
from pydantic import AfterValidator, Field, Strict, Tag

from darts_py.spec.fields import Axis, Matrix3, Number, Spec, Vector3, choice, refuse

TOLERANCE = 1e-6  # what typing six digits loses; within it the nearest rotation is taken

Vector4 = Annotated[tuple[Number, ...], Strict(False), Len(4, 4)]


def _orthonormal(rows: tuple[tuple[float, ...], ...]) -> tuple[tuple[float, ...], ...]:
    R = np.array(rows)
    defect = float(np.abs(R @ R.T - np.eye(3)).max())
    if defect > TOLERANCE:
        hint = "rows must be unit vectors at right angles; quaternion or euler_deg is easier"
        refuse(f"rows off by {defect:.2g}", "an orthonormal matrix", hint)
    if np.linalg.det(R) < 0.0:
        refuse("a left-handed frame (determinant -1)", "a right-handed frame", "swap two rows")
    return rows


def _unit(q: tuple[float, ...]) -> tuple[float, ...]:
    length = float(np.linalg.norm(q))
    if abs(length - 1.0) > TOLERANCE:
        refuse(f"a quaternion of length {length:g}", "length 1", "scalar first: [w, x, y, z]")
    return q


class MatrixRotation(Spec):
    """Rotation matrix, row by row."""

    matrix: Annotated[Matrix3, AfterValidator(_orthonormal)]


class QuaternionRotation(Spec):
    """Unit quaternion, scalar first."""

    quaternion: Annotated[Vector4, AfterValidator(_unit)]


class AxisAngleRotation(Spec):
    """Turn by an angle about an axis."""

    axis: Axis
    angle_deg: Number


class EulerRotation(Spec):
    """Three turns, each about an axis of the frame the ones before it have made."""

    euler_deg: Vector3
    sequence: Literal[
        "xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"
    ] = Field(description="axes of the three turns, e.g. zyx: yaw, pitch, roll")


_FORMS = {
    "matrix": "<matrix>",
    "quaternion": "<quaternion>",
    "angle_deg": "<axis>",
    "axis": "<axis>",
    "euler_deg": "<euler>",
    "sequence": "<euler>",
}


def _form(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    keys = cast("dict[str, object]", value)
    found = {_FORMS[key] for key in keys if key in _FORMS}
    return found.pop() if len(found) == 1 else None


Rotation = Annotated[
    Annotated[MatrixRotation, Tag("<matrix>")]
    | Annotated[QuaternionRotation, Tag("<quaternion>")]
    | Annotated[AxisAngleRotation, Tag("<axis>")]
    | Annotated[EulerRotation, Tag("<euler>")],
    choice(
        _form,
        "exactly one of: matrix; quaternion; axis with angle_deg; euler_deg with sequence",
    ),
]


def rotation_matrix(rotation: Rotation | None) -> np.ndarray:
    """Return R of a rotation field; the identity where there is none."""
    match rotation:
        case MatrixRotation():
            return _nearest(np.array(rotation.matrix))
        case QuaternionRotation():
            return _of_quaternion(np.array(rotation.quaternion))
        case AxisAngleRotation():
            return turn(np.array(rotation.axis), np.deg2rad(rotation.angle_deg))
        case EulerRotation():
            axes = [np.eye(3)["xyz".index(letter)] for letter in rotation.sequence]
            a, b, c = (turn(*t) for t in zip(axes, np.deg2rad(rotation.euler_deg), strict=True))
            return a @ b @ c
        case None:
            return np.eye(3)


def _nearest(R: np.ndarray) -> np.ndarray:
    U, _, Vt = np.linalg.svd(R)
    return R if np.array_equal(R @ R.T, np.eye(3)) else U @ Vt


def _of_quaternion(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Return the rotation by `angle` (rad) about `axis` of any length."""
    x, y, z = axis / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)
