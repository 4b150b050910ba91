"""The independent freedoms of a spacecraft at one state: what locks and closures leave.

A linear model keeps the names of the coordinates: of all local coordinates delta and speeds u a
subset is independent, and the others follow from it,

    d delta = Nd d delta_I ,    du = Nu du_I + L d delta_I .

Jc u = 0 holds on closed loops (docs/linear_models.md), hence Jc Nu = 0; displacements leave the
gaps closed, Gap Nd = 0, which is Jc Gamma^-1 Nd = 0 where nothing is bent; and a change of
configuration at fixed u_I changes the dependent speeds, d(Jc) u + Jc L = 0, which matters where
the state moves. Rows of Jc that hold speeds only (a rolling contact) leave the displacements free:
there are then more delta_I than u_I.
Dependent are, as far as that costs no digits, the last joints of the file, and modes after joints:
the independent ones keep the names that drive a mechanism.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from darts_py import loops
from darts_py.errors import ArgumentError
from darts_py.linear.loop_flow import bends, gap_slopes, holding_rows, turned_rows
from darts_py.linear.names import held_displacements, held_speeds, is_mode
from darts_py.multibody import charts
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft

RANK = 1e-9  # singular values below this part of the greatest count as zero
OPEN_LOOP = 1e-5  # m, rad, m/s, rad/s: a loop more open than this is refused
PIVOT = 0.1  # a pivot this much smaller than the greatest is taken if its column comes first


class Freedoms(NamedTuple):
    """Independent local coordinates and speeds, and what follows from them."""

    delta: Array  # numbers of the independent local coordinates            (fd,)
    speed: Array  # numbers of the independent speeds                       (f,)
    Gamma: Array  # delta' = Gamma u at q                       (n_speeds, n_speeds)
    Nd: Array  # d delta / d delta_I                                        (n_speeds, fd)
    Nu: Array  # du / du_I                                                  (n_speeds, f)
    L: Array  # du / d delta_I                                              (n_speeds, fd)
    n_closures: int  # independent rows of Jc


def find_freedoms(model: Spacecraft, q: Array, u: Array, steps: Array) -> Freedoms:
    """Return the freedoms at a state.

    Args:
        model: the spacecraft, closures `without_redundant_rows`.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        steps: size of a large step of each local coordinate (n_speeds,).
    """
    Gamma = rate_matrix(model, q)
    free, loose = (np.flatnonzero(~held(model)) for held in (held_speeds, held_displacements))
    if not model.tree.closures:
        Nu, Nd = (np.eye(model.n_speeds)[:, kept] for kept in (free, loose))
        return Freedoms(loose, free, Gamma, Nd, Nu, np.zeros(Nd.shape), 0)
    J, modal = loops.closure_jacobian(model, q), is_mode(model)
    last = np.concatenate([np.flatnonzero(kind)[::-1] for kind in (~modal, modal)])
    speed, Nu = _independent(J, free, last)
    delta, Nd = _independent(_gap_rows(model, q, J, Gamma, steps), loose, last)
    L = np.zeros(Nd.shape)
    if np.any(u):
        dependent = np.setdiff1d(free, speed)
        turned = [turned_rows(model, q, u, column, steps) for column in Nd.T]
        L[dependent] = _solve(J[:, dependent], -np.stack(turned, -1))
    return Freedoms(delta, speed, Gamma, Nd, Nu, L, free.size - speed.size)


def _gap_rows(model: Spacecraft, q: Array, J: Array, Gamma: Array, steps: Array) -> Array:
    """Return the derivatives of the gaps by the local coordinates, of rows that hold them.

    Where nothing can bend they are those of the speeds, Jc Gamma^-1.
    """
    holds = holding_rows(model)
    if not bends(model):
        return linalg.solve(Gamma.T, J[holds].T).T
    return gap_slopes(model, q, np.eye(model.n_speeds), steps)[holds]


def without_redundant_rows(model: Spacecraft, q: Array) -> Spacecraft:
    """Return a copy whose closures keep rows that are independent at q, as many as there are.

    Off the closed configurations, where derivatives are sampled, a redundant row is a constraint
    of its own (two points that are apart cannot both be at rest on a turning body), however
    small the gap; the rows that are kept imply it on closed ones.
    """
    reduced, closure = model.copy(), model.arrays.closure.copy()
    if not model.tree.closures:
        return reduced
    J, holds = loops.closure_jacobian(model, q), holding_rows(model)
    J = J * ~held_speeds(model)
    rows = _spanning(J.T, np.flatnonzero(holds).tolist())
    rows += _spanning(J.T - _projected(J.T, rows), np.flatnonzero(~holds).tolist())
    first = 0
    for record in closure:
        own = range(int(record["row_first"]), int(record["row_first"] + record["n_rows"]))
        kept = [k for k, r in enumerate(own) if r in rows]
        record["S"][: len(kept)] = record["S"][kept]
        record["holds"][: len(kept)] = record["holds"][kept]
        record["row_first"], record["n_rows"] = first, len(kept)
        record["gain_velocity"] = record["gain_position"] = 0.0  # stabilisation: an integrator's
        first += len(kept)
    reduced.arrays = reduced.arrays._replace(closure=closure)
    return reduced


def _spanning(columns: Array, order: list[int]) -> list[int]:
    """Return those of the columns in `order` that span them all."""
    if not order:
        return []
    values = np.linalg.svd(columns[:, order], compute_uv=False)
    rank = int(np.sum(values > RANK * max(values[0], RANK)))
    return [int(j) for j in _dependent(columns, list(order), rank)]


def _projected(columns: Array, chosen: list[int]) -> Array:
    """Return the part of the columns that lies in the span of the chosen ones."""
    Q = np.linalg.qr(columns[:, chosen])[0]
    return Q @ (Q.T @ columns)


def rate_matrix(model: Spacecraft, q: Array) -> Array:
    """Return Gamma (n_speeds, n_speeds): rates of the local coordinates around q per speed."""
    n = model.n_speeds
    out, origin = np.zeros((n, n)), np.zeros(n)
    for j, unit in enumerate(np.eye(n)):
        charts.chart_rates(model.arrays, model.workspace, q, unit, origin, out[j])
    return out.T.copy()


def require_closed_loops(model: Spacecraft, q: Array, u: Array) -> None:
    """Refuse a state whose loops are open."""
    if not model.tree.closures:
        return
    for what, error in zip("qu", loops.closure_error(model, q, u), strict=True):
        worst = float(np.max(np.abs(error), initial=0.0))
        if not worst <= OPEN_LOOP:
            unit = "m or rad" if what == "q" else "m/s or rad/s"
            got, expected = f"loops open by {worst:.3g} {unit}", "a state that closes the loops"
            raise ArgumentError(what, got=got, expected=expected)


def _independent(J: Array, free: Array, last: Array) -> tuple[Array, Array]:
    """Return the independent ones of `free`, and N with J N = 0 and N = 1 on them.

    Args:
        J: rows of constraints (r, n).
        free: columns that may move.
        last: order in which columns are made dependent, as far as that costs no digits (n,).
    """
    if J.shape[0] == 0 or free.size == 0:
        return free, np.eye(J.shape[1])[:, free]
    values = np.asarray(linalg.svdvals(J[:, free]))
    rank = int(np.sum(values > RANK * values[0]))
    dependent = np.sort(_dependent(J, [j for j in last if j in set(free)], rank))
    chosen = np.setdiff1d(free, dependent)
    N = np.zeros((J.shape[1], chosen.size))
    N[chosen, np.arange(chosen.size)] = 1.0
    N[dependent] = _solve(J[:, dependent], -J[:, chosen])
    return chosen, N


def _dependent(J: Array, order: list[int], rank: int) -> Array:
    """Return `rank` columns that span J: the first in `order` that are well off the others'.

    A column counts if what the chosen ones leave of it is at least a tenth of the greatest such
    rest; so no pivot is less than a tenth of the one that column pivoting would take.
    """
    rest, chosen = J.astype(float).copy(), list[int]()
    while len(chosen) < rank:
        sizes = np.linalg.norm(rest[:, order], axis=0)
        k = int(np.argmax(sizes >= PIVOT * np.max(sizes)))
        chosen.append(order.pop(k))
        along = rest[:, chosen[-1]] / sizes[k]
        rest -= np.outer(along, along @ rest)
    return np.array(chosen, int)


def _solve(J: Array, right: Array) -> Array:
    """Return the x of J x = right; rows of J beyond its columns repeat what others say."""
    return np.linalg.lstsq(J, right, rcond=RANK)[0]
