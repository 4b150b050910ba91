"""Is a pair of matrices a free structure? Symmetry, signs, rigid motions, mass, connection.

Every limit is relative to what the matrix's own entries add up to, so that neither units nor the
mix of metres and radians matter. Matrices in single precision pass.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from darts_py.multibody.tree import Array
from darts_py.structures.fe_model import FiniteElements
from darts_py.structures.refusal import Refusals
from darts_py.structures.sparse import Sparse

SYMMETRY = 1e-8  # of the largest entry
LEAKAGE = 1e-6  # of K R relative to |K| |R|, row by row at worst
NEGATIVE = 1e-6  # of a matrix scaled to unit diagonal; a mode below it is refused when it is met
PHYSICAL = 1e-6  # of R^T M R: isotropy of mass, antisymmetry of the coupling, triangle inequality

MOTIONS = (
    *(f"rotation about {axis}" for axis in "xyz"),
    *(f"translation along {axis}" for axis in "xyz"),
)


def check_structure(model: FiniteElements) -> None:
    """Refuse what is not a free elastic structure with mass; all that is wrong is listed."""
    log = Refusals()
    sound = [_check_matrix(model, "stiffness", model.K, log)]
    sound.append(_check_matrix(model, "mass", model.M, log))
    if sound[0]:
        _check_rigid_motions(model, log)
        _check_connection(model, log)
    if sound[1]:
        _check_inertia(model, log)
    log.settle()


def symmetrised(A: Sparse) -> Sparse:
    """Return the symmetric part, symmetric to the last bit."""
    return sp.csr_array(0.5 * (A + A.T))


def _check_matrix(model: FiniteElements, key: str, A: Sparse, log: Refusals) -> bool:
    """Check symmetry and sign; return whether the matrix is fit for further checks."""
    largest = float(abs(A).max()) if A.nnz else 0.0
    if largest == 0.0:
        log.add(key, "a matrix without any entry", f"a {key} matrix")
        return False
    defect = sp.coo_array(abs(A - A.T))
    worst = int(np.argmax(defect.data)) if defect.nnz else -1
    if worst >= 0 and defect.data[worst] > SYMMETRY * largest:
        i, j = int(defect.row[worst]), int(defect.col[worst])
        got = f"entries {A[i, j]:g} and {A[j, i]:g} for {model.label(i)} with {model.label(j)}"
        hint = "a matrix stored as one triangle must be written out, or as mtx 'symmetric'"
        log.add(key, got, "a symmetric matrix", hint)
        return False
    return _check_sign(model, key, symmetrised(A), log)


def _check_sign(model: FiniteElements, key: str, A: Sparse, log: Refusals) -> bool:
    diagonal = A.diagonal()
    if np.any(diagonal < 0.0):
        row = int(np.argmin(diagonal))
        got = f"the diagonal entry {diagonal[row]:g} at {model.label(row)}"
        log.add(key, got, f"no negative {key}")
        return False
    n = count_negative(A)
    if n:
        got = f"{n} negative eigenvalue{'s' if n > 1 else ''}"
        hint = "a preloaded structure beyond buckling, or a damaged matrix"
        log.add(key, got, "a positive semidefinite matrix", hint if key == "stiffness" else "")
    return n == 0


def count_negative(A: Sparse) -> int:
    """Return how many eigenvalues of the scaled matrix lie below -NEGATIVE (Sylvester's law).

    The signs of the pivots of L D L^T are those of the eigenvalues, so no eigenvalue is computed.
    """
    diagonal = A.diagonal()
    empty = diagonal == 0.0
    scale = 1.0 / np.sqrt(np.where(empty, 1.0, diagonal))
    S = sp.diags_array(scale)
    B = sp.csc_array(S @ A @ S + NEGATIVE * sp.eye_array(len(diagonal)))
    try:
        options = {"SymmetricMode": True}
        factors = splu(B, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError:  # a pivot of exactly zero: an eigenvalue of -NEGATIVE or a 2 x 2 saddle
        return 1
    return int(np.count_nonzero(factors.U.diagonal() < 0.0))


def _check_rigid_motions(model: FiniteElements, log: Refusals) -> None:
    """K R = 0: a rigid motion of a free structure meets no stiffness."""
    R = model.rigid
    force, size = np.abs(model.K @ R), abs(model.K) @ np.abs(R)
    leak = force.max(axis=0) / np.maximum(size.max(axis=0), np.finfo(float).tiny)
    for k in np.flatnonzero(leak > LEAKAGE):
        row = int(np.argmax(force[:, k]))
        got = f"stiffness against {MOTIONS[k]}: relative {leak[k]:.2g}, most at {model.label(row)}"
        hint = "matrices of the free structure are wanted, held nowhere; do coordinates fit them?"
        log.add("stiffness", got, f"rigid motions without stiffness (relative {LEAKAGE:g})", hint)


def _check_connection(model: FiniteElements, log: Refusals) -> None:
    """Name the nodes of parts that no stiffness connects to the rest."""
    k = len(model.node_id)
    at = sp.csr_array((np.ones(model.n), (model.node, np.arange(model.n))), shape=(k, model.n))
    part = connected_components(at @ abs(model.K) @ at.T, directed=False)[1]
    used = np.unique(model.node)
    labels, counts = np.unique(part[used], return_counts=True)
    if len(labels) < 2:
        return
    loose = labels[np.argsort(counts, kind="stable")[:-1]]
    nodes = np.sort(model.node_id[used[np.isin(part[used], loose)]])
    shown = ", ".join(str(node) for node in nodes[:8]) + (", ..." if len(nodes) > 8 else "")
    got = f"{len(labels)} parts that no stiffness connects (apart: node {shown})"
    log.add("stiffness", got, "one connected structure")


def _check_inertia(model: FiniteElements, log: Refusals) -> None:
    """R^T M R must be the spatial inertia of some mass distribution."""
    I = model.rigid.T @ (model.M @ model.rigid)
    m = float(np.trace(I[3:, 3:])) / 3.0
    if m <= 0.0:
        log.add("mass", f"a total mass of {m:g} kg", "a positive one")
        return
    defect = float(np.abs(I[3:, 3:] - m * np.eye(3)).max()) / m
    if defect > PHYSICAL:
        x, y, z = np.diag(I[3:, 3:])
        got = f"masses {x:g}, {y:g}, {z:g} kg along x, y, z (or coupled: relative {defect:.2g})"
        hint = "matrices of all freedoms are wanted, none held or condensed away"
        log.add("mass", got, "the same mass in all directions", hint)
        return
    coupling = I[:3, 3:]
    arm = np.sqrt(max(float(np.trace(I[:3, :3])), 0.0) / m)
    defect = float(np.abs(coupling + coupling.T).max()) / (m * max(arm, np.finfo(float).tiny))
    if defect > PHYSICAL:
        got = f"first moments that no mass distribution has (relative {defect:.2g})"
        log.add("mass", got, "a mass matrix that fits the coordinates")
        return
    c = np.array([coupling[2, 1], coupling[0, 2], coupling[1, 0]]) / m
    J = I[:3, :3] - m * (c @ c * np.eye(3) - np.outer(c, c))
    _check_moments(J, log)


def _check_moments(J: Array, log: Refusals) -> None:
    low, middle, high = np.linalg.eigvalsh(J)
    if low < -PHYSICAL * high or high > (low + middle) * (1.0 + PHYSICAL):
        got = f"principal moments of inertia {low:g}, {middle:g}, {high:g}"
        log.add("mass", got, "moments that some mass distribution has", "do coordinates fit it?")
