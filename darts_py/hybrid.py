"""Prescribed accelerations and the loads that go with them: Banerjee & Lemak's two questions.

`hybrid_dynamics` answers both at once: which forces does a prescribed motion need, and what does
every hinge transmit. Loads act on the outboard body: moment and force, rotation first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from darts_py import dynamics
from darts_py.arguments import vector
from darts_py.dynamics import Forces
from darts_py.errors import ArgumentError
from darts_py.loops import loads_of_multipliers
from darts_py.multibody import aba, hybrid, loads
from darts_py.multibody.model import FORCE, Array, Model, Workspace
from darts_py.multibody.spacecraft import Spacecraft


class Hybrid(NamedTuple):
    """Accelerations, forces and loads of one instant."""

    udot: Array  # accelerations, the prescribed ones among them          (n_speeds,)
    tau: Array  # generalized forces, those that the prescribed need      (n_speeds,)
    hinge_loads: Array  # on each body through its inboard hinge          (n_bodies, 6)
    closure_loads: dict[str, Array]  # on A of each closure, about A's origin, B axes  (6,)


def hybrid_dynamics(
    model: Spacecraft,
    q: Array,
    u: Array,
    tau: Array | None = None,
    *,
    prescribed: Mapping[str, float],
    forces: Forces = None,
    terms: str = "rl",
    at: str = "body",
) -> Hybrid:
    """Return the motion where some accelerations are given, and what that takes.

    M udot + C = tau + J^T force holds for all of it: tau is the given one at free speeds and the
    required one at prescribed speeds, on top of springs, dampers, friction and stops; J^T force are
    the constraint forces of closed loops, where there are any. Accelerations prescribed so that
    loops cannot follow are met, and the loops' rows missed by as little as possible.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        tau: generalized forces (n_speeds,), zero if left out; ignored at prescribed speeds.
        prescribed: {speed name: its acceleration}, of joints or modes; may be empty.
        forces: {"body.node": [moment; force]} in body axes about the node.
        terms: velocity products, "rl" or "crl".
        at: where hinge loads are given, as for `hinge_loads`.
    """
    q, u = dynamics.checked_state(model, q, u)
    tau = dynamics.checked_forces(model, tau)
    _check_place(model, at)
    m, w = _with_given(model, prescribed), model.workspace
    node_force = dynamics.node_forces(model, forces)
    aba.forward_dynamics(m, w, q, u, tau, node_force, dynamics.is_conserving(terms))
    loads.sweep_loads(m, w)
    required = np.zeros(model.n_speeds)
    loads.required_forces(m, w, tau, required)
    closures = loads_of_multipliers(model, w.loop.row[FORCE])
    return Hybrid(w.udot.copy(), required, loads_of_workspace(model, w, at), closures)


def closure_loads(
    model: Spacecraft,
    q: Array,
    u: Array,
    tau: Array | None = None,
    *,
    prescribed: Mapping[str, float] | None = None,
    forces: Forces = None,
    terms: str = "rl",
) -> dict[str, Array]:
    """Return, by closure, [moment; force] that B exerts on A: about A's origin, in B axes.

    Where closures are redundant many loads give the same motion; these are the smallest.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        tau: generalized forces (n_speeds,), zero if left out; ignored at prescribed speeds.
        prescribed: {speed name: its acceleration}, none if left out.
        forces: {"body.node": [moment; force]} in body axes about the node.
        terms: velocity products, "rl" or "crl".
    """
    options: dict[str, Any] = {"forces": forces, "terms": terms}
    given = {} if prescribed is None else prescribed
    return hybrid_dynamics(model, q, u, tau, prescribed=given, **options).closure_loads


def _with_given(model: Spacecraft, prescribed: Mapping[str, float]) -> Model:
    """Return kernel arrays with these accelerations prescribed; the values go to the workspace."""
    if not isinstance(prescribed, Mapping):
        got, expected = type(prescribed).__name__, "{speed name: acceleration}"
        raise ArgumentError("prescribed", got=got, expected=expected)
    speeds = [model.find_speed(name) for name in prescribed]
    values = vector("prescribed", list(prescribed.values()), len(speeds))
    for name, speed in zip(prescribed, speeds, strict=True):
        if model.is_locked(speed):
            hint = "a locked joint does not accelerate; unlock it first"
            raise ArgumentError("prescribed", got=repr(name), expected="a free joint", hint=hint)
    model.workspace.given[:] = 0.0
    model.workspace.given[speeds] = values
    m = hybrid.without_given(model.arrays)
    if speeds:
        m = m._replace(body=m.body.copy(), speed=m.speed.copy())
        hybrid.mark_given(m, np.array(speeds))
    return m


def hinge_loads(
    model: Spacecraft,
    q: Array,
    u: Array,
    udot: Array,
    *,
    forces: Forces = None,
    terms: str = "rl",
    at: str = "body",
) -> Array:
    """Return (n_bodies, 6): the load on each body through its inboard hinge, file order.

    Args:
        model: what `load_model` returns.
        q: coordinates (n_coords,).
        u: speeds (n_speeds,).
        udot: accelerations (n_speeds,).
        forces: {"body.node": [moment; force]} in body axes about the node.
        terms: velocity products, "rl" or "crl".
        at: "body": about the origin of the body frame, body axes; "hinge": about the hinge
            point, axes of the hinge frame O, in which the joint's own axes are written (what
            is not along them is what the hinge's structure carries). `load_about` moves a load
            to any node.
    """
    _check_place(model, at)
    if model.tree.closures:
        hint = "closed loops carry loads that udot does not tell: see hybrid_dynamics"
        raise ArgumentError("model", got="closures", expected="a tree", hint=hint)
    dynamics.inverse_dynamics(model, q, u, udot, forces=forces, terms=terms)
    return loads_of_workspace(model, model.workspace, at)


def load_about(model: Spacecraft, load: Array, node: str) -> Array:
    """Return a load given about the origin of a body frame, about the rest position of a node.

    Args:
        model: what `load_model` returns.
        load: [moment; force] in body axes about the body's origin: a row of `hinge_loads`.
        node: "body.node".
    """
    dynamics.checked_model(model)
    load = vector("load", load, 6, "[moment; force]")
    row = model.arrays.node[model.kernel_node[model.find_node(node)]]
    body = model.arrays.body[row["body"]]
    r = body["r_FC"] + body["R_FC"].reshape(3, 3) @ row["r"]
    return np.concatenate([load[:3] - np.cross(r, load[3:]), load[3:]])


def _check_place(model: Spacecraft, at: str) -> None:
    dynamics.checked_model(model)
    if not isinstance(at, str) or at not in ("body", "hinge"):
        hint = "load_about() moves a load to any node"
        raise ArgumentError("at", got=repr(at), expected="'body' or 'hinge'", hint=hint)


def loads_of_workspace(model: Spacecraft, w: Workspace, at: str) -> Array:
    """Return the hinge loads that the last sweep left in a workspace, file order (n_bodies, 6)."""
    _check_place(model, at)
    out = np.zeros((model.n_bodies, 6))
    for i, joint in enumerate(model.tree.joints):
        b = model.kernel_body[i]
        R = model.arrays.body[b]["R_FC"].reshape(3, 3)  # kernel axes to body axes
        moment, force = R @ w.body[b]["fr"][:3], R @ w.body[b]["fr"][3:]  # about the hinge point
        if at == "body":
            moment = moment + np.cross(model.arrays.body[b]["r_FC"], force)
        else:
            moment, force = joint.R_iO.T @ moment, joint.R_iO.T @ force
        out[i] = np.concatenate([moment, force])
    return out
