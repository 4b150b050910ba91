"""The flow on closed loops where bodies bend: what keeps the loops of the plant closed.

Gaps are measured between frames that move with the modes, to first order; the rows Jc of speeds,
as everything in the dynamics, are those of the undeformed geometry (docs/equations.md 11). So with
Gap the derivative of the gaps by the local coordinates, Gap Gamma u is not quite Jc u = 0: bent
loops drift open, in proportion to bending and speed, and the plant closes them again by the least
kinetic energy, along M^-1 Jc^T. In the limit of short steps that adds to the flow

    delta' = Gamma (u + M^-1 Jc^T l) ,   Gap delta' = 0
    u'     = udot + M^-1 Jc^T k ,        Jc u' + (d Jc along delta') u = 0

Without modes l and k are zero; so they are at rest. (k also makes good the velocity products that
strict linearisation, `rl`, leaves out of Jc udot.) Rows that hold speeds only have no gap: they
act on the correction.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from darts_py import dynamics, loops
from darts_py.linear.derivative import derivative
from darts_py.linear.names import held_speeds
from darts_py.multibody import charts
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft

REACH = 0.25  # of the steps of the coordinates: gaps are polynomials in sines and modes


def holding_rows(model: Spacecraft) -> Array:
    """Return which rows of Jc hold displacements, not speeds only (r,)."""
    rows = [row["holds"][: row["n_rows"]] for row in model.arrays.closure]
    return np.concatenate([*rows, []]).astype(bool)


def moved(model: Spacecraft, q: Array, delta: Array) -> Array:
    """Return the coordinates reached from q by local coordinates delta."""
    out = np.zeros(model.n_coords)
    charts.move(model.arrays, q, np.ascontiguousarray(delta), out)
    return out


def bends(model: Spacecraft) -> bool:
    """Return whether there are loops that modes can bend."""
    return bool(model.tree.closures) and bool(np.any(model.arrays.body["n_modes"]))


def gap_slopes(model: Spacecraft, q: Array, directions: Array, steps: Array) -> Array:
    """Return the derivatives of the gaps (r, k) along k directions of local coordinates.

    Args:
        model: the spacecraft.
        q: coordinates (n_coords,).
        directions: columns (n_speeds, k).
        steps: size of a large step of each local coordinate (n_speeds,).
    """
    still = np.zeros(model.n_speeds)

    def gaps(t: float, direction: Array) -> Array:
        return loops.closure_error(model, moved(model, q, t * direction), still).position

    columns = []
    for direction in directions.T:
        reach = float(np.max(np.abs(direction) / steps, initial=0.0))
        if reach == 0.0:
            columns.append(gaps(0.0, direction) * 0.0)
        else:
            columns.append(derivative(lambda t, d=direction: gaps(t, d), REACH / reach)[0])
    return np.stack(columns, -1)


def corrected_flow(
    model: Spacecraft, q: Array, u: Array, flow: tuple[Array, Array], Gamma: Array, steps: Array
) -> tuple[Array, Array]:
    """Return the rates of the local coordinates and of the speeds, with what closes bent loops.

    Args:
        model: the spacecraft, closures without redundant rows.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        flow: Gamma u and udot, each (n_speeds,).
        Gamma: rates of local coordinates per speed (n_speeds, n_speeds).
        steps: size of a large step of each local coordinate (n_speeds,).
    """
    rates, udot = flow
    if not np.any(u):
        return rates, udot
    J, holds = loops.closure_jacobian(model, q), holding_rows(model)
    push = _response(model, q, J)  # M^-1 Jc^T
    ways = Gamma @ push
    slopes = gap_slopes(model, q, np.column_stack([rates, ways]), steps)
    drift = np.where(holds, slopes[:, 0], 0.0)
    opening = np.where(holds[:, None], slopes[:, 1:], J @ push)
    rates = rates + ways @ np.linalg.solve(opening, -drift)
    slip = J @ udot + turned_rows(model, q, u, rates, steps)  # d(Jc u)/dt
    return rates, udot + push @ np.linalg.solve(J @ push, -slip)


def _response(model: Spacecraft, q: Array, J: Array) -> Array:
    """Return M^-1 J^T (n_speeds, r) of the speeds that may deviate."""
    free = np.flatnonzero(~held_speeds(model))
    M = dynamics.mass_matrix(model, q)[free][:, free]
    out = np.zeros(J.T.shape)
    out[free] = linalg.cho_solve(linalg.cho_factor(M), J[:, free].T)
    return out


def turned_rows(model: Spacecraft, q: Array, u: Array, direction: Array, steps: Array) -> Array:
    """Return d(Jc u) along a displacement at fixed u (r,)."""
    reach = float(np.max(np.abs(direction) / steps, initial=0.0))

    def rows(t: float) -> Array:
        return loops.closure_jacobian(model, moved(model, q, t * direction)) @ u

    return derivative(rows, 1.0 / reach)[0]
