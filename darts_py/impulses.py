"""Speeds brought to given values at once, as by brakes and drives that grip."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from darts_py.errors import ArgumentError
from darts_py.loops import closure_jacobian
from darts_py.multibody.crba import composite_mass_matrix
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft

UNREACHED = 1e-6  # of the largest speed: more than this is a contradiction, not lost digits
REDUNDANT = 1e-13  # singular values of scaled rows below this part of the largest
REFINEMENTS = 4  # digits that mass ratios cost come back, some each time


def speeds_after_impulse(
    model: Spacecraft, q: Array, u: Array, wanted: Mapping[int, float]
) -> Array:
    """Return u with some speeds brought to given values; loops stay closed, momentum is kept.

    With h the speeds held and f the others, the impulses on h change u_f by -M_ff^-1 M_fh du_h,
    and those of closed loops by M_ff^-1 J_f^T x, such that J u = 0.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds before (n_speeds,).
        wanted: {number of a speed: what it is to be}.

    Raises:
        ArgumentError: closed loops do not let all of them have these speeds.
    """
    held = np.array(sorted(wanted), int)
    free = np.setdiff1d(np.arange(u.size), held)
    J, w = closure_jacobian(model, q), model.workspace
    composite_mass_matrix(model.arrays, w, q, u)
    after = u.copy()
    after[held] = [wanted[int(k)] for k in held]
    push = w.M[np.ix_(free, held)] @ (after - u)[held]
    columns = np.linalg.solve(w.M[np.ix_(free, free)], np.column_stack([push, J[:, free].T]))
    after[free] -= columns[:, 0]
    if J.size:
        _close(after, J, free, columns[:, 1:])
        _require_reached(model, J, after, u, held)
    return after


def _close(u: Array, J: Array, free: Array, columns: Array) -> None:
    """Take out of the free speeds what opens loops, with M_ff^-1 J_f^T given."""
    mobility = J[:, free] @ columns
    size = np.sqrt(np.maximum(np.diag(mobility), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    inverse = np.linalg.pinv(scale[:, None] * mobility * scale, rcond=REDUNDANT, hermitian=True)
    for _ in range(REFINEMENTS):
        u[free] -= columns @ (scale * (inverse @ (scale * (J @ u))))


def _require_reached(model: Spacecraft, J: Array, after: Array, u: Array, held: Array) -> None:
    left = np.abs(J @ after).max()
    if left > UNREACHED * max(1.0, np.abs(J).max()) * max(np.abs(u).max(), np.abs(after).max()):
        names = ", ".join(model.speed_names[k] for k in held)
        raise ArgumentError(
            "prescribed motions and locks", got=f"{names}, {left:.3g} rad/s or m/s apart",
            expected="speeds that closed loops can have together",
            hint="prescribe fewer joints of a loop, or speeds that go together",
        )  # fmt: skip
