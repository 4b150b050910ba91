"""Soft stops under linearisation: a stop that does not act is left out, one that does stays.

A stop is a kink in the force law. Where the coordinate is between its limits the stop has no
part in the derivative, so the copy that is differentiated goes without it; where the coordinate
is beyond a limit, steps are kept short enough to stay there.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np

from darts_py.multibody.model import BALL, FREE, Array
from darts_py.multibody.spacecraft import Spacecraft

ON_EDGE = 1e-9  # m or rad: closer to a limit than this counts as on it
SHARE = 0.5  # part of the way to a kink that a step may go


class LinearisationWarning(UserWarning):
    """The state sits where the model has no derivative; the linear model holds on one side."""


class Engaged(NamedTuple):
    """A stop that acts: how far beyond the limit, and how much force is left before it lets go."""

    speed: int
    depth: float
    force: float
    stiffness: float
    damping: float


def without_idle_stops(model: Spacecraft, q: Array, rates: Array) -> tuple[Spacecraft, list]:
    """Return a copy without the stops that do not act at q, and those that do.

    Args:
        model: the spacecraft.
        q: coordinates (n_coords,).
        rates: of the local coordinates (n_speeds,).
    """
    smooth, engaged = model.copy(), list[Engaged]()
    laws = model.arrays.speed.copy()
    for j, x in _limited(model, q):
        law = laws[j]
        _warn_on_edge(model, j, x, law)
        below, above = law["lower"] - x, x - law["upper"]
        depth, outward = (below, -rates[j]) if below > 0.0 else (above, rates[j])
        if depth <= ON_EDGE:
            law["lower"], law["upper"] = -math.inf, math.inf
            continue
        stiffness, damping = float(law["stop_stiffness"]), float(law["stop_damping"])
        force = stiffness * depth + damping * outward
        if abs(force) <= stiffness * ON_EDGE:
            _warn(model, j, x, "is where a soft stop is about to let go")
            law["lower"], law["upper"] = -math.inf, math.inf
            continue
        engaged.append(Engaged(j, float(depth), float(force), stiffness, damping))
    smooth.arrays = smooth.arrays._replace(speed=laws)
    return smooth, engaged


def _limited(model: Spacecraft, q: Array) -> list[tuple[int, float]]:
    """Return speed number and value of every coordinate that has a stop."""
    found = []
    for stage in model.arrays.stage:
        kind, n, iq, iu = (int(stage[key]) for key in ("kind", "n", "q", "u"))
        if kind == BALL:
            continue
        pairs = [(iu + k, iq + k) for k in range(n)]
        if kind == FREE:  # position only; an attitude has no stops
            pairs = [(iu + 3 + k, iq + 4 + k) for k in range(3)]
        found += [(j, float(q[k])) for j, k in pairs if _has_stop(model.arrays.speed[j])]
    return found


def _has_stop(law: np.void) -> bool:
    limited = math.isfinite(law["lower"]) or math.isfinite(law["upper"])
    return limited and (law["stop_stiffness"] > 0.0 or law["stop_damping"] > 0.0)


def _warn_on_edge(model: Spacecraft, j: int, x: float, law: np.void) -> None:
    if min(abs(x - law["lower"]), abs(x - law["upper"])) <= ON_EDGE:
        _warn(model, j, x, "is on the edge of a soft stop")


def _warn(model: Spacecraft, j: int, x: float, what: str) -> None:
    warnings.warn(
        f"{model.speed_names[j]}: its coordinate {x:g} {what}; the linear model holds on the side "
        "where the stop does not act",
        LinearisationWarning,
        stacklevel=5,
    )


def longest_step(engaged: list[Engaged], delta: Array, rates: Array) -> float:
    """Return how far a direction (delta, its rates; both (n_speeds,)) may be followed."""
    longest = math.inf
    for stop in engaged:
        moves = abs(delta[stop.speed])
        pushes = stop.stiffness * moves + stop.damping * abs(rates[stop.speed])
        if moves > 0.0:
            longest = min(longest, SHARE * stop.depth / moves)
        if pushes > 0.0 and stop.force != 0.0:
            longest = min(longest, SHARE * abs(stop.force) / pushes)
    return longest
