"""Which way a body goes through the sweeps: hinge axes, fast paths, form of D_f^-1."""

from __future__ import annotations

import numpy as np

from darts_py.multibody.model import DIRECT, FORM_FREE, FORM_GENERAL, FORM_REVOLUTE, WOODBURY
from darts_py.multibody.tree import Array, Body, Joint


def axes_with_z_along(h: Array) -> Array:
    """Return a rotation whose third column is h, the identity when h is already z."""
    if h[2] > 1.0 - 1e-15:
        return np.eye(3)
    x = np.cross([0.0, 1.0, 0.0], h) if abs(h[1]) < 0.9 else np.cross([1.0, 0.0, 0.0], h)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(h, x), h])


def hinge_turn(joint: Joint) -> Array:
    """Return the rotation of hinge axes that puts a single unit rotation axis on z."""
    if len(joint.stages) == 1 and joint.stages[0].kind == "axis":
        h = joint.stages[0].H[:3, 0]
        if abs(np.linalg.norm(h) - 1.0) < 1e-12:
            return axes_with_z_along(h)
    return np.eye(3)


def fastest_form(body: Body, joint: Joint) -> int:
    """Choose how a body goes through the sweeps while its joint is not locked."""
    if len(joint.stages) != 1:
        return FORM_GENERAL
    stage = joint.stages[0]
    if stage.kind == "free" and np.array_equal(stage.H, np.eye(6)):
        return FORM_FREE
    if stage.kind != "axis" or body.n_modes or np.any(stage.H[3:]):
        return FORM_GENERAL
    on_z = np.linalg.norm(hinge_turn(joint).T @ stage.H[:3, 0] - [0, 0, 1]) < 1e-14
    return FORM_REVOLUTE if on_z else FORM_GENERAL


def cheaper_form(n_modes: int, n_children: int) -> int:
    """Choose the form of D_f^-1 that takes less time.

    Nanoseconds per body, fitted to timings of one flexible body with 0 to 3 children and 4 to 30
    modes. With one child they cross between 8 and 9 modes (Jain & Rodriguez count 7 and 8),
    without children the constants always win.
    """
    n, c = n_modes, 6 * n_children
    solve = 6 * c * (c + 7) + c**3 / 3 + 7 * c**2 + 36 * c  # multiplications
    direct = 400 + 30 * n + 3.0 * n**2 + 0.07 * n**3 + n_children * (20 * n + 0.35 * n**2)
    woodbury = 280 + 20 * n + 0.63 * n**2 + 0.5 * solve + 17 * n_children * n
    return DIRECT if direct < woodbury else WOODBURY
