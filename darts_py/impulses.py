"""Speeds brought to given values at once, as by brakes and drives that grip."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from darts_py.errors import ArgumentError
from darts_py.loops import closure_jacobian
from darts_py.multibody.crba import composite_mass_matrix
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft

UNREACHED = 1e-9  # of the largest speed: more than this is a contradiction, not rounding


def speeds_after_impulse(
    model: Spacecraft, q: Array, u: Array, wanted: Mapping[int, float]
) -> Array:
    """Return u with some speeds brought to given values; momentum is kept, loops stay closed.

    u + M^-1 G^T (G M^-1 G^T)^+ (g - G u), G picking these speeds and the rows of all closures.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds before (n_speeds,).
        wanted: {number of a speed: what it is to be}.

    Raises:
        ArgumentError: closed loops do not let all of them have these speeds.
    """
    held, w = sorted(wanted), model.workspace
    G = np.vstack([np.eye(u.size)[held], closure_jacobian(model, q)])
    g = np.concatenate([[wanted[k] for k in held], np.zeros(len(G) - len(held))])
    composite_mass_matrix(model.arrays, w, q, u)
    columns = np.linalg.solve(w.M, G.T)
    after = u + columns @ np.linalg.lstsq(G @ columns, g - G @ u, rcond=1e-12)[0]
    left = np.abs(G @ after - g).max(initial=0.0)
    largest = max(1.0, np.abs(G).max(initial=0.0)) * np.abs([*u, *g]).max(initial=0.0)
    if left > UNREACHED * largest:
        names = ", ".join(model.speed_names[k] for k in held)
        raise ArgumentError(
            "prescribed motions and locks", got=f"{names}, {left:.3g} rad/s or m/s apart",
            expected="speeds that closed loops can have together",
            hint="prescribe fewer joints of a loop, or speeds that go together",
        )  # fmt: skip
    after[held] = [wanted[k] for k in held]
    return after
