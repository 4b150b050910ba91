"""The state that is linearised about, with a model that is smooth around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from darts_py import dynamics
from darts_py.arguments import vector
from darts_py.dynamics import SPEED_HINT, Forces
from darts_py.errors import ArgumentError
from darts_py.hybrid import hybrid_dynamics
from darts_py.linear.freedoms import require_closed_loops, without_redundant_rows
from darts_py.linear.loop_flow import moved
from darts_py.linear.stops import Engaged, without_idle_stops
from darts_py.multibody import charts
from darts_py.multibody.hybrid import mark_given, without_given
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft

COARSE = 1e-3  # rad or m: where numbers are further apart than this, steps are lost in rounding
LARGEST = 1e100  # beyond it products of accelerations leave the range of a double


@dataclass(frozen=True)
class Reference:
    """The motion through (q, u) under the given forces."""

    model: Spacecraft  # prescribed speeds marked; no idle stops, no redundant rows of closures
    engaged: list[Engaged]  # stops that act
    q: Array
    u: Array
    tau: Array
    forces: Forces
    terms: str
    prescribed: dict[str, float]  # acceleration of each prescribed speed
    udot: Array

    def accelerations(self, q: Array, u: Array) -> Array:
        """Return udot at another state under the same forces and prescribed accelerations."""
        return _accelerations(self.model, q, u, self.tau, self.forces, self.terms, self.prescribed)

    def rates(self, q: Array, u: Array) -> Array:
        """Return the rates of the local coordinates around q (n_speeds,)."""
        return chart_rates(self.model, q, u)


def find_reference(
    model: Spacecraft,
    q: Array,
    u: Array,
    tau: Array | None,
    forces: Forces,
    terms: str,
    prescribed: Mapping[str, float] | None,
) -> Reference:
    """Check the arguments at the door and return the reference."""
    q, u = dynamics.checked_state(model, q, u)
    n = model.n_speeds
    q, u = moved(model, q, np.zeros(n)), u.copy()  # unit quaternions
    tau = np.zeros(n) if tau is None else vector("tau", tau, n, SPEED_HINT).copy()
    given = _prescribed(model, prescribed)
    _accelerations(model, q, u, tau, forces, terms, given)  # refuses what is wrong with the rest
    require_closed_loops(model, q, u)
    smooth, engaged = without_idle_stops(model, q, chart_rates(model, q, u))
    smooth = without_redundant_rows(_marked(smooth, given), q)
    udot = _accelerations(smooth, q, u, tau, forces, terms, given)
    _require_resolution(model, q, udot)
    return Reference(smooth, engaged, q, u, tau, forces, terms, given, udot)


def _require_resolution(model: Spacecraft, q: Array, udot: Array) -> None:
    """Refuse a state about which numbers of 16 digits have no derivative."""
    for name, value in zip(model.coord_names, q, strict=True):
        if not np.spacing(abs(value)) <= COARSE:
            expected = f"a coordinate below {COARSE / np.finfo(float).eps:.0e}"
            hint = "whole turns may be taken off an angle"
            raise ArgumentError(f"q ({name})", got=f"{value:g}", expected=expected, hint=hint)
    for name, value in zip(model.speed_names, udot, strict=True):
        if not abs(value) <= LARGEST:
            expected = f"accelerations of at most {LARGEST:g} in size"
            hint = "the speeds or forces are out of proportion"
            raise ArgumentError(f"udot ({name})", got=f"{value:g}", expected=expected, hint=hint)


def _prescribed(model: Spacecraft, wanted: Mapping[str, float] | None) -> dict[str, float]:
    """Return the acceleration of every prescribed speed: a plant's go on at their rate."""
    given = np.flatnonzero(model.arrays.speed["given"] == 1)
    found = {model.speed_names[j]: 0.0 for j in given}
    if wanted is None:
        return found
    if not isinstance(wanted, Mapping):
        got, expected = type(wanted).__name__, "{speed name: acceleration}"
        raise ArgumentError("prescribed", got=got, expected=expected)
    return found | dict(wanted)


def _marked(model: Spacecraft, given: dict[str, float]) -> Spacecraft:
    """Return a copy in which just these speeds are marked as prescribed."""
    marked = model.copy()
    m = without_given(marked.arrays)
    m = m._replace(body=m.body.copy(), speed=m.speed.copy())
    mark_given(m, np.array([model.find_speed(name) for name in given], np.int64))
    marked.arrays = m
    return marked


def _accelerations(
    model: Spacecraft,
    q: Array,
    u: Array,
    tau: Array,
    forces: Forces,
    terms: str,
    given: dict[str, float],
) -> Array:
    if not given:
        return dynamics.forward_dynamics(model, q, u, tau, forces=forces, terms=terms)
    arguments = {"prescribed": given, "forces": forces, "terms": terms}
    return hybrid_dynamics(model, q, u, tau, **arguments).udot


def chart_rates(model: Spacecraft, q: Array, u: Array) -> Array:
    """Return the rates of the local coordinates around q (n_speeds,)."""
    out = np.zeros(model.n_speeds)
    charts.chart_rates(model.arrays, model.workspace, q, u, np.zeros(model.n_speeds), out)
    return out
