"""Inertia tensors as files write them: diagonal, rows, or named components."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Tag

from darts_py.spec.fields import (
    Matrix3,
    Number,
    Rows,
    Spec,
    Vector3,
    as_rows,
    choice,
    list_form,
    refuse,
    symmetric,
)

TRIANGLE = 1e-6  # relative; a flat plate printed to six digits must pass


class InertiaComponents(Spec):
    """Entries of the inertia matrix; xy, xz, yz are the off-diagonal entries themselves."""

    xx: Number
    yy: Number
    zz: Number
    xy: Number = 0.0
    xz: Number = 0.0
    yz: Number = 0.0

    def rows(self) -> Rows:
        """Return the matrix."""
        return (
            (self.xx, self.xy, self.xz),
            (self.xy, self.yy, self.yz),
            (self.xz, self.yz, self.zz),
        )


def _form(value: object) -> str | None:
    return "<components>" if isinstance(value, dict) else list_form(value)


def _matrix(value: object) -> np.ndarray:
    if isinstance(value, InertiaComponents):
        return np.array(value.rows())
    array = np.array(value, float)
    return np.diag(array) if array.ndim == 1 else symmetric(array, "an inertia")


def check_principal(J: np.ndarray) -> None:
    """Refuse moments of inertia that no mass distribution has; zero ones pass."""
    low, middle, high = (float(x) for x in np.linalg.eigvalsh(J))
    if low < -TRIANGLE * abs(high):
        got = f"principal moments {low:g}, {middle:g}, {high:g}"
        refuse(got, "an inertia that is positive definite", "check the sign of xy, xz and yz")
    if high > (low + middle) * (1.0 + TRIANGLE):
        refuse(
            f"principal moments {low:g}, {middle:g}, {high:g}",
            "the largest at most the sum of the others (triangle inequality)",
            "no distribution of mass has this inertia; is it about the centre of mass?",
        )


def _rigid(value: object) -> Rows:
    J = _matrix(value)
    if not J.any():  # a point mass, or no mass; `check_freedoms` asks what that leaves at rest
        return as_rows(J)
    lowest = np.linalg.eigvalsh(J)
    if float(lowest[0]) <= 1e-12 * abs(float(lowest[2])):
        refuse(
            f"principal moments {lowest[0]:g}, {lowest[1]:g}, {lowest[2]:g}",
            "an inertia that is positive definite",
            "check the sign of xy, xz and yz",
        )
    check_principal(J)
    return as_rows(J)


def _lumped(value: object) -> Rows:
    J = _matrix(value)
    check_principal(J)
    return as_rows(J)


_Forms = Annotated[
    Annotated[Vector3, Tag("<diagonal>")]
    | Annotated[Matrix3, Tag("<rows>")]
    | Annotated[InertiaComponents, Tag("<components>")],
    choice(_form, "3 moments, 3 rows of 3, or a mapping with xx, yy, zz, xy, xz, yz"),
]

RigidInertia = Annotated[_Forms, AfterValidator(_rigid)]
LumpedInertia = Annotated[_Forms, AfterValidator(_lumped)]


def inertia_matrix(value: object) -> np.ndarray:
    """Return a validated inertia field as an array."""
    return _matrix(value)
