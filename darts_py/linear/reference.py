"""The state that is linearised about, with a model that is smooth around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darts_py import dynamics
from darts_py.dynamics import SPEED_HINT, Forces, vector
from darts_py.linear.freedoms import require_closed_loops, without_redundant_rows
from darts_py.linear.loop_flow import moved
from darts_py.linear.stops import Engaged, without_idle_stops
from darts_py.multibody import charts
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft


@dataclass(frozen=True)
class Reference:
    """The motion through (q, u) under the given forces."""

    model: Spacecraft  # without idle stops, without redundant rows of closures
    engaged: list[Engaged]  # stops that act
    q: Array
    u: Array
    tau: Array
    forces: Forces
    terms: str
    udot: Array

    def accelerations(self, q: Array, u: Array) -> Array:
        """Return udot at another state under the same forces."""
        return dynamics.forward_dynamics(
            self.model, q, u, self.tau, forces=self.forces, terms=self.terms
        )

    def rates(self, q: Array, u: Array) -> Array:
        """Return the rates of the local coordinates around q (n_speeds,)."""
        return chart_rates(self.model, q, u)


def find_reference(
    model: Spacecraft, q: Array, u: Array, tau: Array | None, forces: Forces, terms: str
) -> Reference:
    """Check the arguments at the door and return the reference."""
    dynamics.forward_dynamics(model, q, u, tau, forces=forces, terms=terms)  # refuses what is wrong
    q, u = dynamics.checked_state(model, q, u)
    n = model.n_speeds
    q, u = moved(model, q, np.zeros(n)), u.copy()  # unit quaternions
    tau = np.zeros(n) if tau is None else vector("tau", tau, n, SPEED_HINT).copy()
    require_closed_loops(model, q, u)
    smooth, engaged = without_idle_stops(model, q, chart_rates(model, q, u))
    smooth = without_redundant_rows(smooth, q)
    udot = dynamics.forward_dynamics(smooth, q, u, tau, forces=forces, terms=terms)
    return Reference(smooth, engaged, q, u, tau, forces, terms, udot)


def chart_rates(model: Spacecraft, q: Array, u: Array) -> Array:
    """Return the rates of the local coordinates around q (n_speeds,)."""
    out = np.zeros(model.n_speeds)
    charts.chart_rates(model.arrays, model.workspace, q, u, np.zeros(model.n_speeds), out)
    return out
