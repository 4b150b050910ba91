"""The Python API of the dynamics: arrays in, arrays out, checked at the door.

Conventions: SI units, spatial vectors rotation first, quaternions scalar first; state order as
in `Spacecraft`. With M the mass matrix and C the bias force, M(q) udot + C(q, u) = tau; C holds
velocity products, gravity, modal strain and damping, joint springs, dampers and stops, less the
external node forces. `terms` picks the velocity products: "rl" or "crl". Speeds of locked joints
count as zero. The functions share the model's scratch: threads need a `model.copy()` each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from darts_py.arguments import vector
from darts_py.errors import ArgumentError
from darts_py.multibody import aba, crba, jacobian, motion, rnea
from darts_py.multibody import energy as energies
from darts_py.multibody.hybrid import without_given
from darts_py.multibody.model import BALL, DIRECT, WOODBURY, Array, Model
from darts_py.multibody.spacecraft import Spacecraft

METHODS = ("articulated", "articulated-direct", "articulated-woodbury", "composite")

Forces = Mapping[str, Array] | None

SPEED_HINT = "modes and joint of each body in file order; see model.speed_names"


class Energy(NamedTuple):
    """Energy of a state in joules; gravity counts from the world origin."""

    kinetic: float
    strain: float
    gravity: float
    spring: float

    @property
    def total(self) -> float:
        """Sum of all four."""
        return sum(self)


class NodeMotion(NamedTuple):
    """Where a node is and how it moves."""

    r_N: Array  # position, world axes                                             (3,)
    R: Array  # node axes (= body axes) to world axes                              (3, 3)
    V: Array  # velocity [w; v], body axes                                         (6,)
    A: Array  # inertial acceleration, body axes (zeros where no udot is given)    (6,)
    J: Array  # Jacobian: V = J u                                                  (6, n_speeds)


class BodyMotion(NamedTuple):
    """Motion of every body frame of the model file."""

    V: Array  # velocity [w; v] of the frame, its axes                  (n_bodies, 6)
    a: Array  # velocity-product acceleration a_i, its axes             (n_bodies, 6)


def checked_model(model: Spacecraft) -> Spacecraft:
    """Return the model if it is one."""
    if not isinstance(model, Spacecraft):
        got = type(model).__name__
        raise ArgumentError("model", got=got, expected="what load_model returns")
    return model


def checked_state(model: Spacecraft, q: Array, u: Array) -> tuple[Array, Array]:
    """Return q and u as kernels take them, speeds of locked joints at zero."""
    checked_model(model)
    hint = "modes and joint of each body in file order; see model.coord_names"
    coords = vector("q", q, model.n_coords, hint)
    for row in model.arrays.stage:
        if row["kind"] >= BALL and not np.any(coords[row["q"] : row["q"] + 4]):
            got, expected = "a zero quaternion", "quaternions other than zero"
            raise ArgumentError("q", got=got, expected=expected, hint="start from model.neutral()")
    return coords, _without_locked(model, vector("u", u, model.n_speeds, SPEED_HINT))


def _without_locked(model: Spacecraft, u: Array) -> Array:
    """Return u with the speeds of locked joints at zero."""
    rows = model.arrays.body[model.arrays.body["locked"] == 1]
    if rows.size:
        u = u.copy()
        for row in rows:
            first = row["u_start"] + row["n_modes"]
            u[first : first + row["n_hinge"]] = 0.0
    return u


def checked_forces(model: Spacecraft, tau: Array | None) -> Array:
    """Return generalized forces as kernels take them, zero if left out."""
    if tau is None:
        return np.zeros(model.n_speeds)
    return vector("tau", tau, model.n_speeds, SPEED_HINT)


def is_conserving(terms: str) -> bool:
    """Tell "crl" from "rl"."""
    if terms not in ("rl", "crl"):
        raise ArgumentError("terms", got=repr(terms), expected="'rl' or 'crl'")
    return terms == "crl"


def node_forces(model: Spacecraft, forces: Forces) -> Array:
    """Return the table of node forces that kernels take, (n_nodes, 6)."""
    table = np.zeros((model.arrays.node.shape[0], 6))
    if forces is not None and not isinstance(forces, Mapping):
        got, expected = type(forces).__name__, '{"body.node": [moment; force]}'
        raise ArgumentError("forces", got=got, expected=expected)
    for name, wrench in (forces or {}).items():
        table[model.find_node(name)] += vector(f"forces[{name!r}]", wrench, 6, "[moment; force]")
    return table


def forward_dynamics(
    model: Spacecraft,
    q: Array,
    u: Array,
    tau: Array | None = None,
    *,
    forces: Forces = None,
    terms: str = "rl",
    method: str = "articulated",
) -> Array:
    """Return udot (n_speeds,) that solves M udot + C = tau.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        tau: generalized forces (n_speeds,), zero if left out.
        forces: {"body.node": [moment; force]} in body axes about the node.
        terms: "rl" or "crl".
        method: "articulated" (O(n); picks the form of D_f^-1 per body), "articulated-direct",
            "articulated-woodbury", or "composite" (mass matrix and Cholesky).
    """
    q, u = checked_state(model, q, u)
    tau = checked_forces(model, tau)
    args = (model.workspace, q, u, tau, node_forces(model, forces), is_conserving(terms))
    if model.tree.closures and method != "articulated":
        hint = "the tree alone: a model without closures"
        raise ArgumentError("method", got=repr(method), expected="'articulated'", hint=hint)
    if method == "composite":
        crba.forward_dynamics_composite(model.arrays, *args)
    elif method in METHODS:
        aba.forward_dynamics(_with_form(without_given(model.arrays), method), *args)
    else:
        raise ArgumentError("method", got=repr(method), expected=" | ".join(METHODS))
    return model.workspace.udot.copy()


def _with_form(m: Model, method: str) -> Model:
    """Return the model with one form of D_f^-1 for all bodies, or as it is."""
    if method == "articulated":
        return m
    body = m.body.copy()
    body["df_form"] = DIRECT if method == "articulated-direct" else WOODBURY
    return m._replace(body=body)


def inverse_dynamics(
    model: Spacecraft, q: Array, u: Array, udot: Array, *, forces: Forces = None, terms: str = "rl"
) -> Array:
    """Return tau (n_speeds,) = M udot + C; entries of modes are forces that modes would need.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        udot: accelerations (n_speeds,).
        forces: {"body.node": [moment; force]} in body axes about the node.
        terms: velocity products, "rl" or "crl".
    """
    q, u = checked_state(model, q, u)
    udot, tau = vector("udot", udot, model.n_speeds, SPEED_HINT), np.zeros(model.n_speeds)
    args = (q, u, udot, node_forces(model, forces), is_conserving(terms), tau)
    rnea.inverse_dynamics(model.arrays, model.workspace, *args)
    return tau


def bias_force(
    model: Spacecraft, q: Array, u: Array, *, forces: Forces = None, terms: str = "rl"
) -> Array:
    """Return C (n_speeds,), the inverse dynamics at udot = 0: M udot + C = tau.

    C holds velocity products, gravity, modal strain and damping, joint springs, dampers and
    stops, less the external node forces.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        forces: {"body.node": [moment; force]} in body axes about the node.
        terms: velocity products, "rl" or "crl".
    """
    checked_model(model)
    return inverse_dynamics(model, q, u, np.zeros(model.n_speeds), forces=forces, terms=terms)


def mass_matrix(model: Spacecraft, q: Array) -> Array:
    """Return M (n_speeds, n_speeds), symmetric, by composite bodies.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
    """
    q, u = checked_state(model, q, np.zeros(checked_model(model).n_speeds))
    crba.composite_mass_matrix(model.arrays, model.workspace, q, u)
    return model.workspace.M.copy()


def node_motion(
    model: Spacecraft,
    q: Array,
    u: Array,
    udot: Array | None = None,
    *,
    node: str,
    terms: str = "rl",
    deformed: bool = False,
) -> NodeMotion:
    """Return position, attitude, velocity, acceleration and Jacobian of "body.node".

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        udot: accelerations (n_speeds,) to evaluate the node's at; left out, `A` is zero.
        node: "body.node".
        terms: velocity products, "rl" or "crl".
        deformed: add the node's own modal displacement to its position; velocities are those
            of the linearised model and do not depend on it.
    """
    if not isinstance(deformed, bool):
        raise ArgumentError("deformed", got=repr(deformed), expected="True or False")
    q, u = checked_state(model, q, u)
    m, w, i = model.arrays, model.workspace, int(model.kernel_node[model.find_node(node)])
    A, V, r_N, J = np.zeros(6), np.zeros(6), np.zeros(3), np.zeros((6, model.n_speeds))
    if udot is not None:
        inverse_dynamics(model, q, u, udot, terms=terms)
    motion.sweep_motion(m, w, q, u)
    if udot is not None:
        accelerations = vector("udot", udot, model.n_speeds)
        motion.node_acceleration(m, w, i, u, accelerations, is_conserving(terms), A)
    motion.node_velocity(m, w, i, u, V)
    motion.node_position(m, w, i, q, deformed, r_N)
    jacobian.node_jacobian(m, w, i, J)
    b = m.node[i]["body"]
    R = w.body[b]["R_NB"].reshape(3, 3) @ m.body[b]["R_FC"].reshape(3, 3).T
    return NodeMotion(r_N, R, V, A, J)


def _to_file_frame(model: Spacecraft, b: int, vector: Array) -> Array:
    """Move a velocity from body b's hinge frame to its file frame."""
    R = model.arrays.body[b]["R_FC"].reshape(3, 3)
    x = model.arrays.body[b]["r_FC"]  # file origin to hinge origin
    first, second = R @ vector[:3], R @ vector[3:]
    return np.concatenate([first, second - np.cross(first, x)])


def body_motion(model: Spacecraft, q: Array, u: Array) -> BodyMotion:
    """Return velocity and RL velocity-product acceleration of every body frame, file order.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).

    Returns:
        V and a, each (n_bodies, 6): rotation first, about and in the body's own frame.
    """
    q, u = checked_state(model, q, u)
    m, w = model.arrays, model.workspace
    inverse_dynamics(model, q, u, np.zeros(model.n_speeds))
    a_hinge, w_i = w.body["a"].copy(), w.body["w"].copy()
    motion.sweep_motion(m, w, q, u)
    V, a = np.zeros((model.n_bodies, 6)), np.zeros((model.n_bodies, 6))
    for b, i in enumerate(model.order):
        V[i] = _to_file_frame(model, b, w.body[b]["V"])
        a[i] = _to_file_frame(model, b, a_hinge[b])
        R_FC, p = m.body[b]["R_FC"].reshape(3, 3), m.body[b]["parent"]
        a[i, 3:] -= _centripetal(R_FC @ w_i[b], m.body[b]["r_FC"])
        if p < model.n_bodies:  # a_i counts from the parent's file origin, not from its hinge
            R_pFC = m.body[p]["R_FC"].reshape(3, 3)
            at_parent = R_pFC.T @ _centripetal(R_pFC @ w_i[p], m.body[p]["r_FC"])
            a[i, 3:] += R_FC @ w.body[b]["A"].reshape(3, 3).T @ at_parent
    return BodyMotion(V, a)


def _centripetal(rate: Array, r: Array) -> Array:
    return np.cross(rate, np.cross(rate, r))


def energy(model: Spacecraft, q: Array, u: Array) -> Energy:
    """Return kinetic, strain, gravity and joint-spring energy (soft stops included), joules.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
    """
    q, u = checked_state(model, q, u)
    out = np.zeros(4)
    energies.energy(model.arrays, model.workspace, q, u, out)
    return Energy(*out.tolist())


def momentum(model: Spacecraft, q: Array, u: Array) -> Array:
    """Return (6,): angular momentum about the world origin, then linear, world axes.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
    """
    q, u = checked_state(model, q, u)
    out = np.zeros(6)
    energies.momentum(model.arrays, model.workspace, q, u, out)
    return out
