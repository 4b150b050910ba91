"""A modal body in another frame: the mesh's own axes and origin need not be the body's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from darts_py.multibody.tree import Array, Distributed, Node
from darts_py.structures.modal_body import LumpedMass, ModalBody
from darts_py.structures.samples import cross_matrix


def placed(body: ModalBody, R: Array, origin: Array) -> ModalBody:
    """Return a body whose points are at origin + R r, displacements and slopes turned by R."""
    nodes = tuple(_placed_node(node, R, origin) for node in body.nodes)
    return replace(body, nodes=nodes, distributed=_placed_integrals(body.distributed, R, origin))


def in_mesh_axes(mass: LumpedMass, R: Array) -> LumpedMass:
    """Return a mass given in body axes, in axes that R maps to them."""
    Jc = None if mass.Jc is None else R.T @ mass.Jc @ R
    return LumpedMass(mass.m, tuple(float(x) for x in R.T @ np.array(mass.p)), Jc)


def _placed_node(node: Node, R: Array, origin: Array) -> Node:
    Pi = np.concatenate([R @ node.Pi[:3], R @ node.Pi[3:]])
    return replace(node, r=origin + R @ node.r, p=R @ node.p, Jc=R @ node.Jc @ R.T, Pi=Pi)


def _placed_integrals(d: Distributed, R: Array, origin: Array) -> Distributed:
    """Put r = origin + R r', phi = R phi', psi = R psi' into the integrals' definitions."""
    P, L = d.Mfr[:, 3:] @ R.T, d.Mfr[:, :3] @ R.T
    # a rigid motion about the body's origin, seen at the mesh's origin, in its axes
    S = np.zeros((6, 6))
    S[:3, :3] = S[3:, 3:] = R.T
    S[3:, :3] = -R.T @ cross_matrix(origin)
    Mrr = S.T @ d.Mrr @ S
    return replace(
        d,
        Mrr=0.5 * (Mrr + Mrr.T),
        Mfr=np.hstack([L + np.cross(origin, P), P]),
        C=R @ d.C @ R.T + P[:, :, None] * origin,
        G=d.G @ R.T,
        Jr=R @ d.Jr @ R.T,
        Z=R @ d.Z @ R.T,
        y=d.y @ R.T,
    )
