"""From finite-element matrices to a flexible body: attachments, reduction, integrals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures.fe_checks import check_first_mode, check_structure, symmetrised
from darts_py.structures.fe_mass import (
    as_lumped,
    consistent_integrals,
    lump,
    lumped_integrals,
    lumped_matrix,
)
from darts_py.structures.fe_model import COMPONENTS, SPATIAL, FiniteElements
from darts_py.structures.modal_body import NO_MASS, LumpedMass, ModalBody, Place, node_masses
from darts_py.structures.reduction import Attachment, Structure, Wanted, reduce
from darts_py.structures.refusal import Refusals, refuse
from darts_py.structures.samples import rigid_motion
from darts_py.structures.sparse import Sparse


@dataclass(frozen=True)
class FeNode:
    """A named node of the body: one node of the mesh, or several that carry it together."""

    name: str
    ids: tuple[int, ...]
    mass: LumpedMass = NO_MASS


@dataclass(frozen=True)
class FeModes:
    """Which modes of a finite-element model are wanted."""

    wanted: Wanted
    lumped: bool = False  # lump the mass matrix first
    inboard: str | None = None
    interfaces: Sequence[str] = ()
    with_node_masses: bool = False


def finite_element_body(
    model: FiniteElements, nodes: Sequence[FeNode], modes: FeModes
) -> ModalBody:
    """Return the structure in modal form, with its named nodes."""
    log = Refusals()
    found = {node.name: _mesh_nodes(model, node, log) for node in nodes}
    log.settle()
    places = [_place(model, node, found[node.name]) for node in nodes]
    maps = [_motion_map(model, found[place.name], place, log) for place in places]
    log.settle()
    check_structure(model)
    model = replace(model, K=symmetrised(model.K), M=symmetrised(model.M))
    masses = lump(model) if modes.lumped else as_lumped(model)
    if masses is not None:
        model = replace(model, M=lumped_matrix(model, masses))
    X = _shapes(model, modes, places, found, maps)
    integrals = (
        consistent_integrals(model, X) if masses is None else lumped_integrals(model, masses, X)
    )
    named = tuple(place.node(T @ X) for place, T in zip(places, maps, strict=True))
    omega2 = np.einsum("ik,ik->k", X, model.K @ X)
    check_first_mode(model, float(omega2.min()))
    return ModalBody(named, np.diag(omega2), integrals)


def _mesh_nodes(model: FiniteElements, node: FeNode, log: Refusals) -> Array:
    """Return indices of the mesh's nodes that a named node stands for."""
    known = {int(number): k for k, number in enumerate(model.node_id)}
    for number in node.ids:
        if number not in known:
            expected = f"one of the {len(known)} nodes of the mesh"
            log.add(f"nodes.{node.name}", f"node {number}", expected)
    return np.array([known[number] for number in node.ids if number in known], int)


def _place(model: FiniteElements, node: FeNode, mesh: Array) -> Place:
    return Place(node.name, model.position[mesh].mean(axis=0), node.mass)


def _motion_map(model: FiniteElements, mesh: Array, place: Place, log: Refusals) -> Sparse:
    """Return the map from freedoms to slope and displacement of a named node.   (6, n).

    One node with all six freedoms moves as they say. Several make the rigid motion that fits
    their displacements best (as NASTRAN's RBE3 with equal weights does).
    """
    rows = np.flatnonzero(np.isin(model.node, mesh))
    motion = _attached(model, mesh, place).motion
    if len(mesh) > 1:  # displacements decide where they can
        shifts = model.component[rows] < 3
        if _tells_all(motion[shifts]):
            rows, motion = rows[shifts], motion[shifts]
    if not _tells_all(motion):
        present = sorted({COMPONENTS[c] for c in model.component[rows]})
        got = f"{len(mesh)} node{'s' if len(mesh) != 1 else ''} with freedoms {', '.join(present)}"
        expected = "nodes that tell six motions"
        hint = "name three or more nodes that do not lie on a line: fe_nodes: [1, 2, 3]"
        log.add(f"nodes.{place.name}", got, expected, hint)
        return sp.csr_array((6, model.n))
    T, scale = np.zeros((6, model.n)), np.linalg.norm(motion, axis=0)
    T[:, rows] = np.linalg.pinv(motion / scale) / scale[:, None]
    return sp.csr_array(T)


def _tells_all(motion: Array) -> bool:
    """Whether the freedoms tell six motions apart."""
    scale = np.linalg.norm(motion, axis=0)
    if np.any(scale == 0.0):
        return False
    return int(np.linalg.matrix_rank(motion / scale, tol=1e-9)) == 6


def _attached(model: FiniteElements, mesh: Array, place: Place) -> Attachment:
    rows = np.flatnonzero(np.isin(model.node, mesh))
    S = rigid_motion(model.position[model.node[rows]] - place.r)
    return Attachment(rows, S[np.arange(len(rows)), SPATIAL[model.component[rows]]])


def _shapes(
    model: FiniteElements,
    modes: FeModes,
    places: Sequence[Place],
    found: Mapping[str, Array],
    maps: Sequence[Sparse],
) -> Array:
    M = model.M
    if modes.with_node_masses:
        M = sp.csr_array(M + node_masses(places, maps, model.n))
    structure = Structure(model.K, M, model.rigid, model.node)
    by_name = {place.name: place for place in places}

    def attachment(name: str) -> Attachment:
        return _attached(model, found[name], by_name[name])

    inboard = attachment(modes.inboard) if modes.inboard else None
    interfaces = [attachment(name) for name in modes.interfaces]
    X = reduce(structure, modes.wanted, inboard, interfaces).X
    if X.shape[1] == 0:
        raise refuse("modes", "no mode", "at least one", "choose a count or a higher frequency")
    return X
