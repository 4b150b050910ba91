"""Do the joints about massless bodies and point masses, taken together, move mass?

A body without inertia of its own may stand between joints: a gimbal ring, an empty link of an
imported robot. Each of its freedoms moves what hangs outboard, but two of them may cancel:
then the mass matrix is singular although no single freedom is at fault. Within a cluster of such
bodies the speeds must be independent as seen by the bodies that do have inertia:

    M_c = sum of J_b^T M_b J_b over the cluster and its children is regular,

at coordinates without symmetry. What is outboard of a body with regular inertia adds no rank.
At special coordinates (axes that line up) such a joint chain may still be singular, as a
compound joint may.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from darts_py.multibody.tree import GROUND, Array, Body, Joint
from darts_py.spec.faults import FaultLog, listing
from darts_py.spec.freedom import NO_INERTIA, SINGULAR, generic_motion, weakest
from darts_py.spec.spatial import modal_mass, rotate, shift


def check_light_bodies(
    bodies: Sequence[Body | None],
    joints: Sequence[Joint | None],
    parents: Sequence[int],
    log: FaultLog,
) -> None:
    """Note each cluster of light bodies whose freedoms cancel; `None` is faulty in itself."""
    light = {i for i, body in enumerate(bodies) if body is not None and _is_light(body)}
    members: dict[int, list[int]] = {}  # root of a cluster: its bodies and their children
    for i in _parents_first(parents):
        root = i
        while parents[root] in light:
            root = parents[root]
        if root in light:
            members.setdefault(root, []).append(i)
    for cluster in members.values():
        if all(bodies[i] is not None and joints[i] is not None for i in cluster):
            _check_cluster(cluster, bodies, joints, parents, log)  # pyright: ignore[reportArgumentType]


def _rigid_mass(body: Body) -> Array:
    """Return the spatial inertia of a body with its modes at rest, about its origin."""
    Mrr = modal_mass(body.nodes)[-6:, -6:]
    return Mrr if body.distributed is None else Mrr + body.distributed.Mrr


def _is_light(body: Body) -> bool:
    Mrr = _rigid_mass(body)
    scale = np.sqrt(np.diag(Mrr))
    if np.any(scale == 0.0):
        return True
    return float(np.linalg.eigvalsh(Mrr / np.outer(scale, scale))[0]) < SINGULAR


def _parents_first(parents: Sequence[int]) -> list[int]:
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(parents):
        children.setdefault(parent, []).append(i)
    order: list[int] = []
    waiting = children.get(GROUND, [])[::-1]
    while waiting:
        i = waiting.pop()
        order.append(i)
        waiting += children.get(i, [])[::-1]
    return order


def _check_cluster(
    cluster: Sequence[int],
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    parents: Sequence[int],
    log: FaultLog,
) -> None:
    owners = [i for i in cluster if not joints[i].locked for _ in range(joints[i].n_speeds)]
    M = _cluster_mass(cluster, owners, bodies, joints, parents)
    diagonal = np.diag(M)
    if not owners or np.any(diagonal <= NO_INERTIA * float(diagonal.max())):
        return  # nothing moves, or a single freedom moves nothing: `check_freedoms` says so
    weak = weakest(M)
    if not weak:
        return
    named = list(dict.fromkeys(joints[owners[int(k) - 1]].name for k in weak.split(", ")))
    if len(named) == 1:
        return  # one joint alone: `check_freedoms` says so
    got = f"freedoms that together move no mass: joints {listing(named)}"
    light = listing(bodies[i].name for i in cluster if _is_light(bodies[i]))
    hint = f"give inertia to one of {light}, or take out a joint that repeats another's motion"
    log.add(("joints", named[0]), got, "inertia moved by every motion", hint, at_key=True)


def _cluster_mass(
    cluster: Sequence[int],
    owners: Sequence[int],
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    parents: Sequence[int],
) -> Array:
    """Return M_c, with J_b in the axes and about the origin of each body."""
    mass, J = np.zeros((len(owners), len(owners))), dict[int, Array]()
    for i in cluster:
        body, joint = bodies[i], joints[i]
        pose, H = generic_motion(joint.stages)
        arm = body.nodes[joint.child_node].r + joint.o_d
        A = joint.R_pO @ pose.R @ joint.R_iO.T
        J[i] = np.zeros((6, len(owners)))
        if parents[i] in J:
            node = bodies[parents[i]].nodes[joint.parent_node]
            o = node.r + joint.o_t + joint.R_pO @ pose.o - A @ arm
            J[i] += rotate(A.T) @ shift(o) @ J[parents[i]]
        if i in owners:
            first = list(owners).index(i)
            J[i][:, first : first + joint.n_speeds] += shift(-arm) @ rotate(joint.R_iO) @ H
        mass += J[i].T @ _rigid_mass(body) @ J[i]
    return mass
