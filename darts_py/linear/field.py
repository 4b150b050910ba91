"""The vector field of a spacecraft and its outputs, differentiated along the states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darts_py.linear.derivative import derivative
from darts_py.linear.freedoms import Freedoms, find_freedoms, rate_matrix
from darts_py.linear.loop_flow import bends, corrected_flow, moved
from darts_py.linear.outputs import NodeOutputs
from darts_py.linear.reference import Reference
from darts_py.linear.steps import coordinate_steps, speed_steps
from darts_py.linear.stops import longest_step
from darts_py.multibody.model import Array

NOISE = 8.0  # an entry less than this many times its own error counts as zero


@dataclass(frozen=True)
class Jacobian:
    """Derivatives by the states (n_states columns)."""

    rates: Array  # of the local coordinates around q                           (n_speeds,)
    udot: Array  # of the accelerations                                         (n_speeds,)
    samples: Array  # of what nodes do                                          (n_samples,)
    error: float  # of accelerations and samples, estimated, relative to the row


@dataclass(frozen=True)
class Field:
    """The vector field and the sampled outputs around the reference, along the states."""

    reference: Reference
    freedoms: Freedoms
    nodes: NodeOutputs
    directions: list[tuple[Array, Array]]  # (d delta, du), each (n_speeds,), one per state
    scales: Array  # largest step along each direction                             (n_states,)
    steps: Array  # large step of each local coordinate                            (n_speeds,)

    @staticmethod
    def at(ref: Reference, nodes: NodeOutputs) -> Field:
        """Return the field around a reference."""
        steps = coordinate_steps(ref.model)
        freedoms = find_freedoms(ref.model, ref.q, ref.u, steps)
        still = np.zeros(ref.model.n_speeds)
        directions = list(zip(freedoms.Nd.T, freedoms.L.T, strict=True))
        directions += [(still, column) for column in freedoms.Nu.T]
        most = np.concatenate([steps, speed_steps(ref.model, ref.u, steps)])
        scales = [
            min(
                1.0 / np.max(np.abs(np.concatenate([delta, du])) / most),
                longest_step(ref.engaged, delta, freedoms.Gamma @ du),
            )
            for delta, du in directions
        ]
        return Field(ref, freedoms, nodes, directions, np.array(scales), steps)

    def value(self, q: Array, u: Array) -> Array:
        """Return rates of the local coordinates around q, accelerations, and node outputs."""
        udot = self.reference.accelerations(q, u)
        return np.concatenate([*self.flow(q, u, udot), self.nodes.sample(q, u, udot)])

    def flow(self, q: Array, u: Array, udot: Array) -> tuple[Array, Array]:
        """Return the rates of the local coordinates around q and of the speeds."""
        model, rates = self.reference.model, self.reference.rates(q, u)
        if not bends(model):
            return rates, udot
        Gamma = rate_matrix(model, q)
        return corrected_flow(model, q, u, (rates, udot), Gamma, self.steps)

    def jacobian(self) -> Jacobian:
        """Return the derivatives of `value` by the states."""
        ref, n = self.reference, self.reference.model.n_speeds
        size = self.value(ref.q, ref.u).size
        columns, errors = np.zeros((2, size, len(self.directions)))
        for k, ((delta, du), scale) in enumerate(zip(self.directions, self.scales, strict=True)):

            def along(t: float, delta: Array = delta, du: Array = du) -> Array:
                return self.value(moved(ref.model, ref.q, t * delta), ref.u + t * du)

            columns[:, k], errors[:, k] = derivative(along, scale)
        columns[np.abs(columns) <= NOISE * errors] = 0.0
        error = _relative(errors[n:] * self.scales, columns[n:] * self.scales)
        return Jacobian(columns[:n], columns[n : 2 * n], columns[2 * n :], error)


def _relative(error: Array, jacobian: Array) -> float:
    """Return the largest error of an acceleration or output, relative to its row.

    Columns count at the size of their steps, which makes radians, metres and seconds comparable.
    """
    if jacobian.size == 0:
        return 0.0
    row = np.max(np.abs(jacobian), axis=1)
    row = np.maximum(row, 1e-9 * np.max(row))  # a row of zeros has no size of its own
    worst = np.max(error, axis=1)
    return float(np.max(np.where(row > 0.0, worst / np.where(row > 0.0, row, 1.0), 0.0)))
