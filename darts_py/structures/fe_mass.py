"""Modal integrals of a finite-element mass matrix, consistent or lumped.

A matrix gives Mff, Mfr and Mrr outright. The first moments C and the products G of modes need
the field between the nodes, which a matrix does not show; they are taken as the matrix weighs
nodal fields: exactly for solids and lumped masses, convergent with the mesh for beams and shells
(docs/structures.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array, Distributed
from darts_py.structures.fe_model import SPATIAL, FiniteElements
from darts_py.structures.samples import Samples, cross_matrix, integrate
from darts_py.structures.sparse import Sparse

LUMPED = 1e-12  # relative; off-diagonal entries this small leave a mass matrix lumped


@dataclass(frozen=True)
class NodeMasses:
    """A lumped mass matrix by nodes."""

    m: Array  # (k,)
    J: Array  # about x, y, z   (k, 3)


def lump(model: FiniteElements) -> NodeMasses:
    """Lump a mass matrix: diagonal entries scaled to the total mass (Hinton, Rock, Zienkiewicz).

    Every entry stays positive, which sums of rows do not. The three directions of a node are
    averaged, so that a node has one mass; rotations are scaled like translations.
    """
    diagonal, shift = model.M.diagonal(), model.component < 3
    I = model.rigid.T @ (model.M @ model.rigid)
    scale = float(np.trace(I[3:, 3:])) / float(diagonal[shift].sum())
    m, J = np.zeros(len(model.node_id)), np.zeros((len(model.node_id), 3))
    np.add.at(m, model.node[shift], scale * diagonal[shift] / 3.0)
    np.add.at(J, (model.node[~shift], model.component[~shift] - 3), scale * diagonal[~shift])
    return NodeMasses(m, J)


def as_lumped(model: FiniteElements) -> NodeMasses | None:
    """Return the masses of a matrix that is lumped already, else None."""
    diagonal = model.M.diagonal()
    off = abs(model.M - sp.diags_array(diagonal))
    if off.nnz and float(off.max()) > LUMPED * float(diagonal.max()):
        return None
    k = len(model.node_id)
    table = np.zeros((k, 6))
    table[model.node, model.component] = diagonal
    if float(np.ptp(table[:, :3], axis=1).max()) > LUMPED * float(diagonal.max()):
        return None
    return NodeMasses(table[:, 0], table[:, 3:])


def lumped_matrix(model: FiniteElements, masses: NodeMasses) -> Sparse:
    """Return node masses as a diagonal matrix."""
    table = np.hstack([np.repeat(masses.m[:, None], 3, axis=1), masses.J])
    return sp.csr_array(sp.diags_array(table[model.node, model.component]))


def lumped_integrals(model: FiniteElements, masses: NodeMasses, X: Array) -> Distributed:
    """Return the integrals of shapes X over node masses, rotary inertia included."""
    Pi = np.zeros((len(model.node_id), 6, X.shape[1]))
    Pi[model.node, SPATIAL[model.component]] = X
    J = masses.J[:, :, None] * np.eye(3)
    return integrate(Samples(model.position, masses.m, J, Pi[:, 3:], Pi[:, :3]))


def consistent_integrals(model: FiniteElements, X: Array) -> Distributed:
    """Return the integrals of shapes X under a coupled mass matrix."""
    nm, MX, MR = X.shape[1], model.M @ X, model.M @ model.rigid
    Mff, Mrr, Mfr = X.T @ MX, model.rigid.T @ MR, X.T @ MR
    G = np.stack([MX.T @ _turned(model, X, axis) for axis in np.eye(3)], axis=-1)
    return Distributed(
        Mrr=0.5 * (Mrr + Mrr.T),
        Mfr=Mfr,
        Mff=0.5 * (Mff + Mff.T),
        C=_first_moments(model, MX, Mfr),
        G=0.5 * (G - np.swapaxes(G, 0, 1)),
        Jr=np.zeros((3, 3)),
        Z=np.zeros((nm, 3, 3)),
        y=np.zeros((nm, 3)),
    )


def _turned(model: FiniteElements, X: Array, axis: Array) -> Array:
    """Return the nodal fields axis x phi: int (phi_l x phi_k).e = int phi_k.(e x phi_l).

    Rotations of the nodes are left at zero: turned along, they would bring the rotary inertia of
    sections in, which is no part of the integral; what is left out vanishes with the mesh size.
    """
    phi = np.zeros((len(model.node_id), 3, X.shape[1]))
    shift = np.flatnonzero(model.component < 3)
    phi[model.node[shift], model.component[shift]] = X[shift]
    turned = np.zeros_like(X)
    turned[shift] = (cross_matrix(axis) @ phi)[model.node[shift], model.component[shift]]
    return turned


def _first_moments(model: FiniteElements, MX: Array, Mfr: Array) -> Array:
    """Return C_k = int phi_k r^T dm.

    Its antisymmetric part is the angular momentum, which Mfr has exactly; its symmetric part
    is what the matrix makes of the fields (e_a r_b + e_b r_a) / 2, rotations zero.
    """
    r, shift = model.position[model.node], model.component < 3
    C = np.zeros((MX.shape[1], 3, 3))
    for a in range(3):
        for b in range(a, 3):
            field = np.zeros(model.n)
            field[shift] = 0.5 * (
                (model.component[shift] == a) * r[shift, b]
                + (model.component[shift] == b) * r[shift, a]
            )
            C[:, a, b] = C[:, b, a] = field @ MX
    # L = int r x phi: L_c = C[b, a] - C[a, b] for a, b, c in cyclic order
    return C + 0.5 * cross_matrix(Mfr[:, :3])
