"""A finite-element model by its matrices: mass, stiffness, and what each row of them moves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures.refusal import Refusals
from darts_py.structures.samples import rigid_motion
from darts_py.structures.sparse import Sparse

COMPONENTS = ("x", "y", "z", "rx", "ry", "rz")  # 1 to 6, as NASTRAN numbers them
SPATIAL = np.array([3, 4, 5, 0, 1, 2])  # place of component 1 to 6 in [rotation; translation]


@dataclass(frozen=True)
class FiniteElements:
    """Matrices of a free structure in body axes; n freedoms, k nodes."""

    K: Sparse  # N/m, N, N m                       (n, n)
    M: Sparse  # kg, kg m, kg m^2                  (n, n)
    node_id: Array  # (k,)
    position: Array  # m, body axes                      (k, 3)
    node: Array  # of each freedom, index in node_id     (n,)
    component: Array  # of each freedom, 0 to 5          (n,)

    @property
    def n(self) -> int:
        """Number of freedoms."""
        return len(self.node)

    @cached_property
    def rigid(self) -> Array:
        """Freedoms in the rotations about, and translations of, the origin.   (n, 6)."""
        return rigid_motion(self.position)[self.node, SPATIAL[self.component]]

    def label(self, row: int) -> str:
        """Name a freedom."""
        return f"node {self.node_id[self.node[row]]} {COMPONENTS[self.component[row]]}"


def assemble_elements(
    K: Sparse, M: Sparse, node_id: Array, position: Array, dof: Array
) -> FiniteElements:
    """Check sizes and labels and put the model together.

    Freedoms with neither stiffness nor mass (rotations of solid elements in a matrix of six per
    node) are dropped.

    Args:
        K: stiffness.
        M: mass.
        node_id: number of each node. (k,)
        position: of each node. (k, 3)
        dof: node number and component 1 to 6 of each row. (n, 2)
    """
    log = Refusals()
    _check_sizes(K, M, len(dof), log)
    _check_labels(node_id, position, dof, log)
    log.settle()
    order = np.argsort(node_id, kind="stable")
    node = order[np.searchsorted(node_id[order], dof[:, 0])]
    for A in (K, M):
        A.eliminate_zeros()
    used = np.flatnonzero((np.diff(K.tocsr().indptr) + np.diff(M.tocsr().indptr)) > 0)
    if len(used) == 0:
        log.add("stiffness", "matrices without any entry", "stiffness and mass")
        log.settle()
    K, M = K[used][:, used], M[used][:, used]
    return FiniteElements(
        sp.csr_array(K),
        sp.csr_array(M),
        node_id,
        position.astype(float),
        node[used],
        dof[used, 1].astype(int) - 1,
    )


def dof_table(node_id: Array, per_node: int) -> Array:
    """Return the rows' labels of matrices with the same freedoms at every node, node by node."""
    components = np.arange(1, per_node + 1)
    return np.stack([np.repeat(node_id, per_node), np.tile(components, len(node_id))], axis=1)


def _check_sizes(K: Sparse, M: Sparse, n: int, log: Refusals) -> None:
    for key, A in (("stiffness", K), ("mass", M)):
        if A.shape[0] != A.shape[1]:
            log.add(key, f"a matrix of {A.shape[0]} x {A.shape[1]}", "a square matrix")
        elif A.shape[0] != n:
            got = f"a matrix of {A.shape[0]} rows"
            hint = "dof lists one row per freedom; dofs_per_node is 3 or 6 for every node"
            log.add(key, got, f"{n} rows, as the nodes have freedoms", hint)
        if not np.all(np.isfinite(A.data)):
            log.add(key, "a value that is not finite", "finite numbers")


def _check_labels(node_id: Array, position: Array, dof: Array, log: Refusals) -> None:
    if not np.all(np.isfinite(position)):
        log.add("nodes", "a position that is not finite", "finite numbers")
    unique, counts = np.unique(node_id, return_counts=True)
    if np.any(counts > 1):
        log.add("nodes", f"node {unique[counts > 1][0]} twice", "each node number once")
    unknown = np.setdiff1d(dof[:, 0], node_id)
    if len(unknown):
        log.add("nodes", f"freedoms of node {unknown[0]}, which has no position", "its position")
    wrong = dof[(dof[:, 1] < 1) | (dof[:, 1] > 6), 1]
    if len(wrong):
        log.add("nodes", f"component {wrong[0]}", "1 to 6: x, y, z, then rotations")
    rows, counts = np.unique(dof, axis=0, return_counts=True)
    if np.any(counts > 1):
        node, component = rows[counts > 1][0]
        log.add("nodes", f"node {node} component {component} twice", "each freedom once")
