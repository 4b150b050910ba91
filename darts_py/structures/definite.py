"""Signs of the eigenvalues of a sparse symmetric matrix, by elimination, to what rounding allows.

Pivots of L D L^T have the signs of the eigenvalues (Sylvester's law of inertia), so that none is
computed. The matrix is scaled to unit diagonal first: metres stand beside radians.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from darts_py.multibody.tree import Array
from darts_py.structures.sparse import Sparse

EPS = float(np.finfo(float).eps) / 2.0  # unit roundoff


@dataclass(frozen=True)
class Elimination:
    """L D L^T of a symmetric matrix scaled to unit diagonal, S A S + shift."""

    pivots: Array  # (n,)
    rounding: float  # the most by which elimination moves an eigenvalue of the scaled matrix
    finest: float  # the most by which it moves a diagonal entry: no pivot means less
    solve: Callable[[Array], Array]  # A x = b, of the matrix as given (shift left out of account)

    @property
    def n_negative(self) -> int:
        """How many eigenvalues are negative."""
        return int(np.count_nonzero(self.pivots < 0.0))

    @property
    def is_singular(self) -> bool:
        """Whether a pivot is nothing but rounding."""
        return bool(self.pivots.min(initial=1.0) <= self.finest)


def unit_diagonal(A: Sparse) -> tuple[Sparse, Array]:
    """Return the matrix scaled to unit diagonal, and the scale; empty rows stay as they are."""
    diagonal = A.diagonal()
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    S = sp.diags_array(scale)
    return sp.csc_array(S @ A @ S), scale


def eliminate(A: Sparse, shift: float = 0.0) -> Elimination | None:
    """Eliminate without exchanging rows; None where a pivot is exactly zero.

    A semidefinite matrix asks for no exchange. Rounding: with unit diagonal, elimination makes an
    error of at most k u in every entry of the filled pattern, k the terms of its longest sum
    (Demmel 1989; Higham 2002, theorems 10.5 and 10.7); an eigenvalue moves by that times the
    entries of the fullest row.
    """
    B, scale = unit_diagonal(A)
    B = sp.csc_array(B + shift * sp.eye_array(B.shape[0]))
    options = {"SymmetricMode": True, "Equil": False}
    try:
        factors = splu(B, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError:
        return None
    if not np.array_equal(factors.perm_r, factors.perm_c):  # it went round a zero
        return None
    L: Sparse = factors.L
    rows, columns = np.bincount(L.indices, minlength=L.shape[0]), np.diff(L.indptr)

    def solve(b: Array) -> Array:
        s = scale if b.ndim == 1 else scale[:, None]
        return s * factors.solve(np.ascontiguousarray(s * b))

    finest = EPS * float(rows.max() + 1)
    rounding = finest * float((rows + columns).max())
    return Elimination(factors.U.diagonal(), rounding, finest, solve)


def count_negative(A: Sparse, uncertainty: float = 0.0) -> int:
    """Return how many eigenvalues are negative beyond what rounding explains.

    Args:
        A: symmetric.
        uncertainty: by how much errors of its entries may move an eigenvalue at unit diagonal.
    """
    first = eliminate(A, uncertainty)
    if first is not None and first.n_negative == 0:
        return 0
    rounding = first.rounding if first is not None else EPS * A.shape[0] ** 2
    second = eliminate(A, uncertainty + rounding)
    return 1 if second is None else second.n_negative
