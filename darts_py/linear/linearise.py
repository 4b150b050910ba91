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

from collections.abc import Mapping

import numpy as np
from scipy import linalg

from darts_py import dynamics
from darts_py.dynamics import Forces
from darts_py.linear.body_motion import body_mass_matrices
from darts_py.linear.field import Field, Jacobian
from darts_py.linear.freedoms import Freedoms
from darts_py.linear.inputs import default_inputs, input_catalogue, input_forces
from darts_py.linear.linear_model import LinearModel
from darts_py.linear.names import Names, choose, local_names
from darts_py.linear.outputs import (
    OutputRows,
    default_outputs,
    node_outputs,
    output_catalogue,
)
from darts_py.linear.reference import Reference, find_reference
from darts_py.multibody.model import BALL, Array
from darts_py.multibody.spacecraft import Spacecraft

STILL = 1e-9  # an acceleration is none if moving less than this (rad, m, 1) would cancel it


def linearise(
    model: Spacecraft,
    q: Array,
    u: Array,
    tau: Array | None = None,
    *,
    forces: Forces = None,
    terms: str = "rl",
    prescribed: Mapping[str, float] | None = None,
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
        prescribed: {speed name: acceleration} of joints or modes that move as told, whatever acts
            on them. Motions that the plant of a `plant.model` prescribes count without being
            named; their accelerations are taken as zero unless named.
        inputs: names of speeds (generalized forces on them) or "body.node.fx" ... "mz";
            patterns with * are allowed. Default: all joint speeds.
        outputs: names of local coordinates, of speeds, or "body.node.px" (position), "rx"
            (rotation), "vx", "wx", "ax", "alx" (accelerations), ...; patterns are allowed.
            Default: all local coordinates and speeds.

    Returns:
        A, B, C, D with names, the reference, modes and exports; see `LinearModel`.
    """
    reference = find_reference(model, q, u, tau, forces, terms, prescribed)
    model = reference.model
    channels = output_catalogue(model)
    input_names = choose("inputs", inputs, default_inputs(model), input_catalogue(model))
    output_names = choose("outputs", outputs, default_outputs(model), list(channels))
    chosen = [channels[name] for name in output_names]
    field = Field.at(reference, node_outputs(reference.model, terms, chosen))
    freedoms, jacobian = field.freedoms, field.jacobian()
    A = _state_matrix(field, jacobian)
    mass, response = _response(reference, freedoms, input_names)
    C, D, y = OutputRows(field.nodes, freedoms, jacobian.samples, response, reference).all(chosen)
    return LinearModel(
        name=model.name,
        A=A,
        B=np.vstack([np.zeros((freedoms.delta.size, len(input_names))), response[freedoms.speed]]),
        C=C,
        D=D,
        y=y,
        state_names=_state_names(model, freedoms),
        input_names=tuple(input_names),
        output_names=tuple(output_names),
        q=reference.q,
        u=reference.u,
        tau=reference.tau,
        udot=reference.udot,
        terms=terms,
        is_equilibrium=_is_still(reference.udot[freedoms.speed], A[freedoms.delta.size :]),
        derivative_error=jacobian.error,
        n_closures=freedoms.n_closures,
        mass=mass,
        local_names=local_names(model),
        shape_basis=freedoms.Nd,
        body_names=tuple(body.name for body in model.tree.bodies),
        body_mass=_body_mass(reference, freedoms),
    )


def _state_names(model: Spacecraft, freedoms: Freedoms) -> tuple[str, ...]:
    local = local_names(model)
    return (
        *(local[j] for j in freedoms.delta),
        *(model.speed_names[j] for j in freedoms.speed),
    )


def _body_mass(ref: Reference, freedoms: Freedoms) -> Array:
    """Return the share of each body in the mass matrix of the freedoms (n_bodies, f, f)."""
    N = freedoms.Nu
    return np.einsum("ji,bjk,kl->bil", N, body_mass_matrices(ref.model, ref.q), N)


def _state_matrix(field: Field, jacobian: Jacobian) -> Array:
    """Return A: independent rows of the field's Jacobian, seen from the moving reference."""
    ref, freedoms = field.reference, field.freedoms
    fd, w = freedoms.delta.size, field.flow(ref.q, ref.u, ref.udot)[0]
    rates = jacobian.rates.copy()
    for stage in ref.model.arrays.stage:
        if stage["kind"] >= BALL:  # delta' = dw - w x delta
            part = slice(int(stage["u"]), int(stage["u"]) + 3)
            rates[part, :fd] -= np.cross(w[part], freedoms.Nd[part], axisb=0).T
    return np.vstack([rates[freedoms.delta], jacobian.udot[freedoms.speed]])


def _response(ref: Reference, freedoms: Freedoms, names: list[str]) -> tuple[Array, Array]:
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
