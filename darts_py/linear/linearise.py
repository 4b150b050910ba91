"""Linear models of a spacecraft about any state, at rest or moving, closed loops included.

The state of a linear model is x = [d delta_I; d u_I]: how far the independent local coordinates
and speeds are from those of the *reference*, the motion through (q, u) under the given forces.
`delta` is measured from where the reference is at that moment, q = q_ref(t) moved by delta, so A
is the Jacobian of the flow: x(t + dt) = (1 + A dt + O(dt^2)) x(t). For a quaternion

    delta' = dw - w x delta        (w: rate of the reference, axes of the joint's outboard side)

which is *not* the Jacobian of the rates in a chart that stays behind at q (that one has half of
the cross product). Other coordinates are their own local ones: delta' = d(Gamma u).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from darts_py import dynamics
from darts_py.dynamics import SPEED_HINT, Forces, vector
from darts_py.linear.body_motion import body_mass_matrices
from darts_py.linear.derivative import derivative
from darts_py.linear.freedoms import (
    Freedoms,
    find_freedoms,
    moved,
    require_closed_loops,
    without_redundant_rows,
)
from darts_py.linear.inputs import default_inputs, input_catalogue, input_forces
from darts_py.linear.linear_model import LinearModel
from darts_py.linear.names import Names, choose, held_speeds, local_names
from darts_py.linear.outputs import NodeOutputs, OutputRows, node_outputs, output_catalogue
from darts_py.linear.steps import coordinate_steps, speed_steps
from darts_py.linear.stops import Engaged, longest_step, without_idle_stops
from darts_py.multibody import charts
from darts_py.multibody.model import BALL, Array
from darts_py.multibody.spacecraft import Spacecraft

STILL = 1e-9  # an acceleration is none if moving less than this (rad, m, 1) would cancel it
NOISE = 8.0  # an entry less than this many times its own error counts as zero


def linearise(
    model: Spacecraft,
    q: Array,
    u: Array,
    tau: Array | None = None,
    *,
    forces: Forces = None,
    terms: str = "rl",
    inputs: Names = None,
    outputs: Names = None,
) -> LinearModel:
    """Return the linear model about the motion through (q, u).

    States are the independent local coordinates, then the independent speeds. Locked joints
    have neither; closures leave as many as can be chosen freely. What the numbers mean at
    moving states and under closures is in docs/linear_models.md.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        tau: generalized forces (n_speeds,) that act on the reference, zero if left out.
        forces: {"body.node": [moment; force]} on the reference, body axes about the node.
        terms: velocity products, "rl" or "crl".
        inputs: names of speeds (generalized forces on them) or "body.node.fx" ... "mz";
            patterns with * are allowed. Default: all joint speeds.
        outputs: names of local coordinates, of speeds, or "body.node.px" (position), "rx"
            (rotation), "vx", "wx", "ax", "alx" (accelerations), ...; patterns are allowed.
            Default: all local coordinates and speeds.

    Returns:
        A, B, C, D with names, the reference, modes and exports; see `LinearModel`.
    """
    dynamics.forward_dynamics(model, q, u, tau, forces=forces, terms=terms)  # checks at the door
    channels = output_catalogue(model)
    input_names = choose("inputs", inputs, default_inputs(model), input_catalogue(model))
    output_names = choose("outputs", outputs, _default_outputs(model), list(channels))
    reference = _reference(model, q, u, tau, forces, terms)
    chosen = [channels[name] for name in output_names]
    field = _Field.at(reference, node_outputs(reference.model, terms, chosen))
    jacobian, error = field.jacobian()
    A = _state_matrix(reference, field.freedoms, jacobian)
    mass, response = _response(reference, field.freedoms, input_names)
    n, samples = reference.model.n_speeds, jacobian[2 * reference.model.n_speeds :]
    state = (reference.q, reference.u, reference.udot)
    rows = OutputRows(field.nodes, field.freedoms, samples, response, state)
    C, D, y0 = zip(*map(rows.row, chosen), strict=True) if chosen else ((), (), ())
    delta, speed = field.freedoms.delta, field.freedoms.speed
    return LinearModel(
        name=model.name,
        A=A,
        B=np.vstack([np.zeros((delta.size, len(input_names))), response[speed]]),
        C=np.reshape(C, (len(chosen), A.shape[1])),
        D=np.reshape(D, (len(chosen), len(input_names))),
        state_names=tuple(
            [local_names(model)[j] for j in delta] + [model.speed_names[j] for j in speed]
        ),
        input_names=tuple(input_names),
        output_names=tuple(output_names),
        q=reference.q,
        u=reference.u,
        tau=reference.tau,
        udot=reference.udot,
        y=np.array(y0, float),
        terms=terms,
        is_equilibrium=_is_still(reference.udot[speed], A[delta.size :]),
        derivative_error=_relative(error, jacobian, field.scales, n),
        n_closures=field.freedoms.n_closures,
        mass=mass,
        local_names=local_names(model),
        shape_basis=field.freedoms.Nd,
        body_names=tuple(body.name for body in model.tree.bodies),
        body_mass=np.einsum(
            "ji,bjk,kl->bil",
            field.freedoms.Nu,
            body_mass_matrices(reference.model, reference.q),
            field.freedoms.Nu,
        ),
    )


def _default_outputs(model: Spacecraft) -> list[str]:
    free = np.flatnonzero(~held_speeds(model))
    names = local_names(model)
    return [names[j] for j in free] + [model.speed_names[j] for j in free]


@dataclass(frozen=True)
class _Reference:
    """The state linearised about, with a model that is smooth around it."""

    model: Spacecraft
    engaged: list[Engaged]
    q: Array
    u: Array
    tau: Array
    forces: Forces
    terms: str
    udot: Array

    def accelerations(self, q: Array, u: Array) -> Array:
        return dynamics.forward_dynamics(
            self.model, q, u, self.tau, forces=self.forces, terms=self.terms
        )


def _reference(
    model: Spacecraft, q: Array, u: Array, tau: Array | None, forces: Forces, terms: str
) -> _Reference:
    n = model.n_speeds
    q, u = dynamics.checked_state(model, q, u)
    q, u = moved(model, q, np.zeros(n)), u.copy()  # unit quaternions
    tau = np.zeros(n) if tau is None else vector("tau", tau, n, SPEED_HINT).copy()
    require_closed_loops(model, q, u)
    smooth, engaged = without_idle_stops(model, q, _chart_rates(model, q, u))
    smooth = without_redundant_rows(smooth, q)
    udot = dynamics.forward_dynamics(smooth, q, u, tau, forces=forces, terms=terms)
    return _Reference(smooth, engaged, q, u, tau, forces, terms, udot)


def _chart_rates(model: Spacecraft, q: Array, u: Array) -> Array:
    out = np.zeros(model.n_speeds)
    charts.chart_rates(model.arrays, model.workspace, q, u, np.zeros(model.n_speeds), out)
    return out


@dataclass(frozen=True)
class _Field:
    """The vector field and the sampled outputs around the reference, along the states."""

    reference: _Reference
    freedoms: Freedoms
    nodes: NodeOutputs
    directions: list[tuple[Array, Array]]  # (d delta, du), each (n_speeds,), one per state
    scales: Array  # largest step along each direction                             (n_states,)

    @staticmethod
    def at(ref: _Reference, nodes: NodeOutputs) -> _Field:
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
        return _Field(ref, freedoms, nodes, directions, np.array(scales))

    def value(self, q: Array, u: Array) -> Array:
        """Return rates of the local coordinates around q, accelerations, and node outputs."""
        udot = self.reference.accelerations(q, u)
        rates = _chart_rates(self.reference.model, q, u)
        return np.concatenate([rates, udot, self.nodes.sample(q, u, udot)])

    def jacobian(self) -> tuple[Array, Array]:
        """Return the derivatives of `value` by the states, and their estimated errors."""
        ref, columns, errors = self.reference, [], []
        for (delta, du), scale in zip(self.directions, self.scales, strict=True):

            def along(t: float, delta: Array = delta, du: Array = du) -> Array:
                return self.value(moved(ref.model, ref.q, t * delta), ref.u + t * du)

            column, error = derivative(along, scale)
            columns.append(np.where(np.abs(column) <= NOISE * error, 0.0, column))
            errors.append(error)
        size = self.value(ref.q, ref.u).size
        return (
            np.reshape(columns, (len(columns), size)).T,
            np.reshape(errors, (len(errors), size)).T,
        )


def _state_matrix(ref: _Reference, freedoms: Freedoms, jacobian: Array) -> Array:
    """Return A: independent rows of the field's Jacobian, seen from the moving reference."""
    n, fd = ref.model.n_speeds, freedoms.delta.size
    rates, w = jacobian[:n].copy(), _chart_rates(ref.model, ref.q, ref.u)
    for stage in ref.model.arrays.stage:
        if stage["kind"] >= BALL:  # delta' = dw - w x delta
            part = slice(int(stage["u"]), int(stage["u"]) + 3)
            rates[part, :fd] -= np.cross(w[part], freedoms.Nd[part], axisb=0).T
    return np.vstack([rates[freedoms.delta], jacobian[n : 2 * n][freedoms.speed]])


def _response(ref: _Reference, freedoms: Freedoms, names: list[str]) -> tuple[Array, Array]:
    """Return the mass matrix of the freedoms, and udot per unit of input (n_speeds, n_inputs).

    With du = Nu du_I the constraint forces do no work: (Nu^T M Nu) udot_I = Nu^T tau.
    """
    N = freedoms.Nu
    mass = N.T @ dynamics.mass_matrix(ref.model, ref.q) @ N
    forces = N.T @ input_forces(ref.model, ref.q, names)
    if mass.size == 0:
        return mass, np.zeros((ref.model.n_speeds, len(names)))
    return mass, N @ linalg.cho_solve(linalg.cho_factor(mass), forces)


def _is_still(udot: Array, rows: Array) -> bool:
    """Return whether accelerations vanish but for rounding, given their rows of A."""
    stiff = np.max(np.abs(rows), axis=1, initial=0.0)
    return bool(np.all(np.abs(udot) <= STILL * np.maximum(stiff, 1e-3)))


def _relative(error: Array, jacobian: Array, scales: Array, n: int) -> float:
    """Return the largest error of an acceleration or output, relative to its row.

    Columns count at the size of their steps, which makes radians, metres and seconds comparable.
    """
    size, wrong = np.abs(jacobian[n:]) * scales, error[n:] * scales
    if size.size == 0:
        return 0.0
    row = np.max(size, axis=1)
    row = np.maximum(row, 1e-9 * np.max(row))  # a row of zeros has no size of its own
    worst = np.max(wrong, axis=1)
    return float(np.max(np.where(row > 0.0, worst / np.where(row > 0.0, row, 1.0), 0.0)))
