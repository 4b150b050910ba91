"""Lowest natural modes of (K, M): the same input gives the same bits, signs included.

The pencil is turned over: nu = 1 / (lambda + shift) are the largest eigenvalues of
M x = nu (K + shift M) x, whose right side is positive definite also where K has rigid motions
and where M is singular (massless rotations), which K x = lambda M x itself would not bear.
Parts that neither matrix couples are solved apart, so that a symmetric structure keeps its planes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from darts_py.multibody.tree import Array
from darts_py.structures.refusal import refuse
from darts_py.structures.sparse import Sparse

DENSE = 400  # freedoms up to which the dense solver is used; above, Lanczos with shift-invert
SPARE = 2  # modes beyond those wanted; a Lanczos run is least sure of its last ones
MASSLESS = 1e-14  # nu relative to the largest, below which a mode has no mass
RIGID_MASS = 1e-12  # of a rigid motion's mass relative to the others', all scaled to 1
ZERO_ENERGY = 1e-14  # x^T K x relative to |x|^T |K| |x|, below which a motion meets no stiffness


@dataclass(frozen=True)
class Modes:
    """Natural modes, lowest first, of unit modal mass."""

    omega2: Array  # squared frequencies, rad^2/s^2   (nm,)
    X: Array  # shapes                                (n, nm)


def natural_modes(K: Sparse, M: Sparse, count: int, rigid: Array | None = None) -> Modes:
    """Return the `count` lowest modes (or all there are), rigid motions left out.

    Args:
        K: stiffness, symmetric positive semidefinite.
        M: mass, symmetric positive semidefinite.
        count: how many modes are wanted.
        rigid: rigid motions of a free structure, which are the null space of K. (n, any)
    """
    part = connected_components(abs(K) + abs(M), directed=False)[1]
    found: list[Modes] = []
    for label in range(int(part.max()) + 1):
        rows = np.flatnonzero(part == label)
        inside = None if rigid is None else _independent(rigid[rows])
        modes = _part_modes(K[rows][:, rows], M[rows][:, rows], count, inside)
        X = np.zeros((K.shape[0], len(modes.omega2)))
        X[rows] = modes.X
        found.append(Modes(modes.omega2, X))
    omega2 = np.concatenate([modes.omega2 for modes in found])
    order = np.argsort(omega2, kind="stable")[:count]
    return Modes(omega2[order], fix_signs(np.hstack([modes.X for modes in found])[:, order]))


def modes_up_to(K: Sparse, M: Sparse, omega: float, most: int, rigid: Array | None = None) -> Modes:
    """Return all modes up to the frequency `omega`, rad/s; refuses more than `most`."""
    count = 16
    while True:
        modes = natural_modes(K, M, min(count, most + 1), rigid)
        n = int(np.count_nonzero(modes.omega2 <= omega**2))
        if n > most:
            got = f"more than {most} modes up to {omega / (2 * np.pi):g} Hz"
            raise refuse("up_to_hz", got, f"at most {most}", "choose a lower frequency or a count")
        if n < len(modes.omega2) or len(modes.omega2) < min(count, most + 1):
            return Modes(modes.omega2[:n], modes.X[:, :n])
        count *= 2


def fix_signs(X: Array) -> Array:
    """Make the first of the large entries of every column positive."""
    size = np.abs(X)
    first = np.argmax(size >= 0.99 * size.max(axis=0, initial=0.0), axis=0)
    signs = np.sign(X[first, np.arange(X.shape[1])])
    return X * np.where(signs == 0.0, 1.0, signs)


def _independent(columns: Array) -> Array:
    """Return an orthonormal basis of the columns."""
    scale = np.linalg.norm(columns, axis=0)
    kept = columns[:, scale > 0.0] / scale[scale > 0.0]
    if kept.shape[1] == 0:
        return kept
    U, s, _ = np.linalg.svd(kept, full_matrices=False)
    return U[:, s > 1e-9 * s[0]]


def _part_modes(K: Sparse, M: Sparse, count: int, rigid: Array | None) -> Modes:
    n_rigid = 0 if rigid is None else rigid.shape[1]
    n = K.shape[0]
    if M.count_nonzero() == 0:  # massless: it follows the rest statically
        return Modes(np.zeros(0), np.zeros((n, 0)))
    wanted = min(count, n - n_rigid)
    if wanted <= 0:
        return Modes(np.zeros(0), np.zeros((n, 0)))
    if rigid is None or n_rigid == 0:
        return _solve(K, M, wanted, 0.0)
    _require_rigid_mass(M, rigid)
    shift = _first_shift(K, M)
    first = _without_rigid(_solve(K, M, min(n_rigid + 1, n), shift), M, rigid)
    if len(first.omega2) and first.omega2[0] > 0.0:  # of the size of the first elastic mode
        shift = float(first.omega2[0])
    modes = _without_rigid(_solve(K, M, min(wanted + n_rigid, n), shift), M, rigid)
    return Modes(modes.omega2[:wanted], modes.X[:, :wanted])


def _require_rigid_mass(M: Sparse, rigid: Array) -> None:
    """Refuse a rigid motion that neither mass nor stiffness meets: it has no frequency at all."""
    G = rigid.T @ (M @ rigid)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(G), np.finfo(float).tiny))
    if np.linalg.eigvalsh(G * np.outer(scale, scale))[0] <= RIGID_MASS:
        hint = "point masses on a line turn about it without inertia; use cantilever modes"
        raise refuse("mass", "a rigid motion that moves no mass", "mass in all six", hint)


def _first_shift(K: Sparse, M: Sparse) -> float:
    """Return a positive number well below the elastic spectrum, on its scale."""
    k, m = float(K.diagonal().mean()), float(M.diagonal().mean())
    return 1e-6 * k / m


def _without_rigid(modes: Modes, M: Sparse, rigid: Array | None) -> Modes:
    """Remove rigid motions: mass-orthogonalise all to them, and drop what nothing is left of."""
    if rigid is None or rigid.shape[1] == 0:
        return modes
    L = np.linalg.cholesky(rigid.T @ (M @ rigid))
    N = scipy.linalg.solve_triangular(L, rigid.T, lower=True).T  # mass-orthonormal
    X = modes.X - N @ (N.T @ (M @ modes.X))
    left = np.einsum("ik,ik->k", X, M @ X)  # 1 for elastic modes, 0 for rigid ones
    order = np.sort(np.argsort(-left, kind="stable")[: max(len(left) - rigid.shape[1], 0)])
    return Modes(modes.omega2[order], X[:, order] / np.sqrt(left[order]))


def _solve(K: Sparse, M: Sparse, count: int, shift: float) -> Modes:
    A = (K + shift * M).tocsc()
    n, k = A.shape[0], min(count + SPARE, A.shape[0])
    if n <= DENSE or k > n // 2:
        nu, X = _dense(A.toarray(), M.toarray(), k)
    else:
        nu, X = _lanczos(A, M, k)
    if nu.min(initial=0.0) < -MASSLESS * np.abs(nu).max(initial=0.0):
        raise negative()
    order = np.argsort(-nu, kind="stable")[:count]
    nu, X = nu[order], X[:, order]
    kept = nu > MASSLESS * nu.max(initial=0.0)
    nu, X = nu[kept], X[:, kept]
    mass = np.einsum("ik,ik->k", X, M @ X)
    X = X / np.sqrt(mass)
    # not 1 / nu - shift, which cancels where rigid motions were shifted away
    return Modes(np.einsum("ik,ik->k", X, K @ X), X)


def _dense(A: Array, M: Array, count: int) -> tuple[Array, Array]:
    n = len(A)
    scale = np.sqrt(np.maximum(np.diag(A), np.finfo(float).tiny))  # metres beside radians
    try:
        nu, X = scipy.linalg.eigh(
            M / np.outer(scale, scale),
            A / np.outer(scale, scale),
            subset_by_index=[n - count, n - 1],
        )
    except np.linalg.LinAlgError as error:
        raise singular() from error
    return nu, X / scale[:, None]


def _lanczos(A: Sparse, M: Sparse, count: int) -> tuple[Array, Array]:
    """Largest nu of M x = nu A x, in the inner product of M, by the factors of A."""
    try:
        factors = splu(A, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    except RuntimeError as error:
        raise singular() from error
    operator: Any = LinearOperator  # its stub knows another signature
    inverse = operator(A.shape, matvec=factors.solve, dtype=float)
    start = 1.0 + 0.5 * np.cos(1.7 * np.arange(A.shape[0]) + 0.3)  # no symmetry, always the same
    start = factors.solve(M @ start)  # into the range of M: massless freedoms follow
    try:
        lam, X = eigsh(A, count, M, sigma=0.0, OPinv=inverse, v0=start, tol=0)
    except ArpackError as error:
        got = f"an eigenvalue problem that does not converge ({error})"
        raise refuse("", got, "matrices whose entries agree in scale") from error
    # vectors may have gathered motions without mass, which M does not see: one more step of the
    # iteration removes them (Nour-Omid, Parlett, Ericsson & Jensen 1987)
    return 1.0 / lam, factors.solve(M @ X)


def negative() -> Exception:
    """Return the refusal of a stiffness that pushes."""
    hint = "beyond buckling, or damaged; in entries of few digits, also a part that hangs loose"
    expected = "a positive semidefinite matrix"
    return refuse("stiffness", "a motion of negative stiffness", expected, hint)


def singular() -> Exception:
    """Return the refusal of a stiffness that leaves a motion free."""
    return refuse(
        "stiffness",
        "a mechanism: a motion without stiffness that is not a rigid motion of the whole",
        "a structure that resists every motion but the six rigid ones",
        "a part hangs loose, or what is held does not hold the structure",
    )
