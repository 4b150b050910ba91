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
    J: Array  # rotary inertia   (k, 3, 3)


def lump(model: FiniteElements) -> NodeMasses:
    """Lump a mass matrix on its nodes.

    A node gets the sum of its rows: what of a rigid translation its freedoms carry, averaged over
    the directions. Where that is negative (corners of quadratic elements), all nodes get their
    diagonal entries, scaled to the total mass (Hinton, Rock & Zienkiewicz 1976). Rotary inertia is
    the sum of the rotations' rows, without negative parts.
    """
    table = _block_sums(model, model.M)
    m = np.trace(table[:, :3, :3], axis1=1, axis2=2) / 3.0
    total = float(m.sum())
    used = np.unique(model.node)
    if np.any(m[used] < 0.0):
        diagonal = np.where(model.component < 3, model.M.diagonal() / 3.0, 0.0)
        m = np.bincount(model.node, diagonal, len(model.node_id))
        m *= total / m.sum()
    values, axes = np.linalg.eigh(0.5 * (table[:, 3:, 3:] + np.swapaxes(table[:, 3:, 3:], 1, 2)))
    J = (axes * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(axes, 1, 2)
    return NodeMasses(m, J)


def _block_sums(model: FiniteElements, A: Sparse) -> Array:
    """Return for each node the sum of its 6 x 6 blocks with all nodes.   (k, 6, 6)."""
    A = sp.coo_array(A)
    table = np.zeros((len(model.node_id), 6, 6))
    at = (model.node[A.row], model.component[A.row], model.component[A.col])
    np.add.at(table, at, A.data)
    return table


def as_lumped(model: FiniteElements) -> NodeMasses | None:
    """Return the masses of a matrix that is lumped already, else None."""
    A = sp.coo_array(model.M)
    limit = LUMPED * float(np.abs(A.data).max())
    between = model.node[A.row] != model.node[A.col]
    mixed = (model.component[A.row] < 3) != (model.component[A.col] < 3)
    if np.any(np.abs(A.data[between | mixed]) > limit):
        return None
    table = _block_sums(model, model.M)
    m = np.trace(table[:, :3, :3], axis1=1, axis2=2) / 3.0
    if float(np.abs(table[:, :3, :3] - m[:, None, None] * np.eye(3)).max()) > limit:
        return None
    return NodeMasses(m, 0.5 * (table[:, 3:, 3:] + np.swapaxes(table[:, 3:, 3:], 1, 2)))


def lumped_matrix(model: FiniteElements, masses: NodeMasses) -> Sparse:
    """Return node masses as a matrix of one block per node."""
    table = np.zeros((len(masses.m), 6, 6))
    table[:, :3, :3] = masses.m[:, None, None] * np.eye(3)
    table[:, 3:, 3:] = masses.J
    row = np.full((len(masses.m), 6), -1)
    row[model.node, model.component] = np.arange(model.n)
    i, j = (
        np.broadcast_to(row[:, :, None], table.shape),
        np.broadcast_to(row[:, None, :], table.shape),
    )
    kept = (i >= 0) & (j >= 0) & (table != 0.0)
    return sp.csr_array((table[kept], (i[kept], j[kept])), shape=(model.n, model.n))


def lumped_integrals(model: FiniteElements, masses: NodeMasses, X: Array) -> Distributed:
    """Return the integrals of shapes X over node masses, rotary inertia included."""
    Pi = np.zeros((len(model.node_id), 6, X.shape[1]))
    Pi[model.node, SPATIAL[model.component]] = X
    return integrate(Samples(model.position, masses.m, masses.J, Pi[:, 3:], Pi[:, :3]))


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
