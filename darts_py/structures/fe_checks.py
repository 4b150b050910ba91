"""Is a pair of matrices a free structure? Symmetry, signs, rigid motions, mass, connection.

Every limit is relative to what the matrix's own entries add up to, row by row, so that neither
units nor the mix of metres and radians nor that of stiff and soft parts matter. Matrices in single
precision pass as far as their digits tell the modes that are wanted (`check_first_mode`).
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from darts_py.multibody.tree import Array
from darts_py.structures.definite import EPS, count_negative, unit_diagonal
from darts_py.structures.fe_model import SPATIAL, FiniteElements
from darts_py.structures.refusal import Refusals
from darts_py.structures.samples import rigid_motion
from darts_py.structures.sparse import Sparse

SINGLE = 2.0**-24  # unit roundoff of single precision
SYMMETRY = 1e-8  # of sqrt(A_ii A_jj), which bounds the entries of a semidefinite matrix
LEAKAGE = 16.0 * SINGLE  # 1e-6 of |K| |R|, row by row: sixteen rounded elements meet in an entry
TURNED = 96.0 * EPS  # sixteen elements, each turned by two products of three terms
ALTERNATING = 8.0  # roundings of either sign sum to less than their bound, by less than this
FIRST_MODE = 1e-3  # of the first mode's omega^2: moves its frequency by 5e-4, less than meshes do
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
    size = np.sqrt(np.abs(A.diagonal()))
    excess = defect.data - SYMMETRY * size[defect.row] * size[defect.col]
    worst = int(np.argmax(excess)) if defect.nnz else -1
    if worst >= 0 and excess[worst] > 0.0:
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
    n = count_negative(A, _uncertainty(model) if key == "stiffness" else _mass_uncertainty(A))
    if n:
        got = f"{n} negative eigenvalue{'s' if n > 1 else ''}"
        hint = "a preloaded structure beyond buckling, or a damaged matrix"
        log.add(key, got, "a positive semidefinite matrix", hint if key == "stiffness" else "")
    return n == 0


def _mass_uncertainty(A: Sparse) -> float:
    """Return the same of a mass matrix, which shows nothing of its rounding.

    It is allowed single precision: scaled to unit diagonal its condition does not grow with the
    mesh (Wathen 1987), so that nothing hides below.
    """
    return LEAKAGE * float(abs(unit_diagonal(A)[0]).sum(axis=0).max())


def _uncertainty(model: FiniteElements) -> float:
    """Return by how much rounding of K's entries may move an eigenvalue, K at unit diagonal.

    The size of an error e in the entries shows in K's own rigid motions; |dK_ij| <= e g_i g_j with
    the grain g moves an eigenvalue by at most the largest sum of a row.
    """
    force, _, grain = _forces(model)
    e = float(np.divide(force, grain, out=np.zeros_like(force), where=grain > 0.0).max())
    d, g = model.K.diagonal(), _grain(model)
    amplified = np.divide(g, np.sqrt(d), out=np.ones_like(g), where=d > 0.0)
    rows = amplified * (_pattern(model.K) @ amplified)
    return ALTERNATING * min(max(e, EPS), LEAKAGE) * float(rows.max())


def leakage(model: FiniteElements) -> Array:
    """Return |K R| relative to the size of the terms that each row sums.   (n, 6)."""
    force, terms, grain = _forces(model)
    size = terms + TURNED / LEAKAGE * grain
    return np.divide(force, size, out=np.zeros_like(force), where=size > 0.0)


def _forces(model: FiniteElements) -> tuple[Array, Array, Array]:
    """Return |K R|, the size of its terms |K| |R|, and that size in units of the grain.   (n, 6).

    Rotations are taken about the middle of the nodes. The size of a node's displacement in them
    is its whole arm: components that vanish up to rounding of coordinates are not held to digits
    which they have not.
    """
    r, R = _about_the_middle(model)
    size, shift = np.abs(R), model.component < 3
    size[shift, :3] = np.linalg.norm(r[shift], axis=1)[:, None]
    g = _grain(model)[:, None]
    return np.abs(model.K @ R), abs(model.K) @ size, g * (_pattern(model.K) @ (g * size))


def _grain(model: FiniteElements) -> Array:
    """Return sqrt(K_ii) of the stiffest direction of a freedom's node.   (n,).

    An element turned from its own axes into those of the mesh leaves rounding of its stiffest
    direction in all three, so that entries of rows i and j are no finer than u g_i g_j.
    """
    kind = 2 * model.node + (model.component >= 3)
    stiffest = np.zeros(2 * len(model.node_id))
    np.maximum.at(stiffest, kind, np.maximum(model.K.diagonal(), 0.0))
    return np.sqrt(stiffest[kind])


def _pattern(A: Sparse) -> Sparse:
    return sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)


def _about_the_middle(model: FiniteElements) -> tuple[Array, Array]:
    """Return each freedom's place from the middle of the nodes, and rigid motions about it."""
    r = model.position[model.node] - model.position[np.unique(model.node)].mean(axis=0)
    return r, rigid_motion(r)[np.arange(model.n), SPATIAL[model.component]]


def _check_rigid_motions(model: FiniteElements, log: Refusals) -> None:
    """K R = 0 in every row: a rigid motion of a free structure meets no stiffness."""
    leak = leakage(model)
    for k in np.flatnonzero(leak.max(axis=0) > LEAKAGE):
        row = int(np.argmax(leak[:, k]))
        got = f"stiffness against {MOTIONS[k]}: relative {leak[row, k]:.2g}, "
        got += f"most at {model.label(row)}"
        hint = "matrices of the free structure are wanted, held nowhere; do coordinates fit them?"
        log.add("stiffness", got, f"rigid motions without stiffness (relative {LEAKAGE:.1g})", hint)


def check_first_mode(model: FiniteElements, omega2: float) -> None:
    """Refuse stiffness, of either sign, of rigid motions that the first mode would feel.

    Entries are right to a part of their own size, and what they sum to in a smooth motion of a fine
    mesh is far smaller. Rayleigh quotients of rigid motions, and the number of eigenvalues of
    (K, M) below zero, show what is left; it moves the first mode's omega^2 by as much.

    Args:
        model: with symmetric matrices.
        omega2: squared frequency of the first mode that is wanted, rad^2/s^2.
    """
    log, limit = Refusals(), FIRST_MODE * omega2
    quotients = _rigid_quotients(model)
    worst = float(quotients[np.argmax(np.abs(quotients))])
    hint = (
        "entries with more digits, a coarser mesh; or a spring to ground, coordinates that misfit"
    )
    expected = f"less than {FIRST_MODE:g} of it"
    if abs(worst) > limit:
        got = f"stiffness of a rigid motion, {worst / omega2:.2g} of the first mode's"
        log.add("stiffness", f"{got} ({np.sqrt(omega2) / (2 * np.pi):.4g} Hz)", expected, hint)
    else:
        if count_negative(sp.csr_array(model.K + limit * model.M)):
            got = "negative stiffness, or digits that cannot tell it from the first mode's"
            log.add("stiffness", f"{got} ({np.sqrt(omega2) / (2 * np.pi):.4g} Hz)", expected, hint)
    log.settle()


def _rigid_quotients(model: FiniteElements) -> Array:
    """Return x^T K x / x^T M x of the rigid motions that have mass, principal values."""
    _, R = _about_the_middle(model)
    K, M = R.T @ (model.K @ R), R.T @ (model.M @ R)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    mass, T = scipy.linalg.eigh(M * np.outer(scale, scale))
    heavy = mass > PHYSICAL * mass[-1]
    T = scale[:, None] * T[:, heavy] / np.sqrt(mass[heavy])
    return np.linalg.eigvalsh(T.T @ (0.5 * (K + K.T)) @ T)


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
