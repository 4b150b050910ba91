"""Solving A x = b with a symmetric A that may be singular: redundant constraints.

Factorisation without square roots where A is regular; otherwise Cholesky with row exchange on A
scaled to a unit diagonal, and where a rank is missing, the solution of least (scaled) size among
the many. The answer is what J^T x makes of it: that is unique as long as b can be reached.
"""

from __future__ import annotations

import math

from darts_py._jit import inlined
from darts_py.multibody.elimination import factorise

WELL_CONDITIONED = 1e-5  # pivots above this part of their diagonal need no row exchange
MOST = 1e-8  # pivots above this are not redundant, however perturbed the rows
COMPARABLE = 1e-3  # and diagonals above this part of the largest no second look


@inlined
def solve_regular(A, b, x, T):
    """Solve A x = b where A (lower triangle, kept) is plainly regular, or return False."""
    n = b.shape[0]
    if not _factor_regular(A, T, n):
        return False
    for i in range(n):
        x[i] = b[i]
    _substitute_regular(T, x, n)
    return True


@inlined
def solve_semidefinite(A, b, x, T, t, order, least, tilt):
    """Solve A x = b; rows with t = 0 are left out, their x is zero.

    The pivots and, in order[n], the rank are those that `order` holds; a rank below zero has them
    found. Pivots above `least` count and, while they are found, above what a perturbation of the
    rows by an angle of square `tilt` can make of redundant ones: the more, the smaller the pivot
    before and the share t that is left of a row after cancellation. A's lower triangle, t and T
    are overwritten.
    """
    n = b.shape[0]
    for i in range(n):  # x holds the scale until the end
        x[i] = 1.0 / math.sqrt(A[i, i]) if t[i] > 0.0 else 0.0
        for j in range(i + 1):
            A[i, j] *= x[i] * x[j]
    if order[n] < 0:
        for i in range(n):
            order[i] = i
        order[n] = _pivoted_cholesky(A, n, order, t, least, tilt)
        rank = order[n]
    else:
        _reorder(A, T, n, order)
        rank = _cholesky(A, n, order[n], least)
    for i in range(n):
        t[i] = b[order[i]] * x[order[i]]
    if rank == n:
        _substitute(A, t, n)
    else:
        _least_solution(A, t, n, rank, T)
    for i in range(n):
        x[order[i]] *= t[i]


@inlined
def _factor_regular(A, T, n):
    """Write T with A = (T)(D)(T^T), 1/D on its diagonal; False if some row is nearly redundant."""
    largest = 0.0
    for j in range(n):
        largest = max(largest, A[j, j])
    for j in range(n):
        d, least = A[j, j], WELL_CONDITIONED * A[j, j]
        if not d >= COMPARABLE * largest:
            return False
        for k in range(j):
            d -= T[j, k] * T[k, j]
        if not d > least:
            return False
        r = 1.0 / d
        T[j, j] = r
        for i in range(j + 1, n):
            s = A[i, j]
            for k in range(j):
                s -= T[i, k] * T[k, j]
            T[j, i] = s  # D times the entry below: saves a multiplication each time it is used
            T[i, j] = s * r
    return True


@inlined
def _substitute_regular(T, x, n):
    """x := (T D T^T)^-1 x."""
    for j in range(n):
        for k in range(j):
            x[j] -= T[j, k] * x[k]
    for j in range(n - 1, -1, -1):
        x[j] *= T[j, j]
        for k in range(j + 1, n):
            x[j] -= T[k, j] * x[k]


# The diagonal of the factors below holds reciprocals.


@inlined
def _pivoted_cholesky(A, n, order, share, least, tilt):
    """Overwrite the lower triangle by L, rows in the order of falling pivots; return the rank."""
    before = 1.0
    for j in range(n):
        best = -1
        for i in range(j, n):
            if A[i, i] > least and (best < 0 or A[i, i] > A[best, best]):
                best = i if A[i, i] > min(tilt / (before * share[order[i]]), MOST) else best
        if best < 0:
            return j
        before = A[best, best]
        if best != j:
            _exchange(A, n, j, best)
            order[j], order[best] = order[best], order[j]
        _eliminate(A, n, j)
    return n


@inlined
def _cholesky(A, n, rank, least):
    """Do the same in the order in which the rows are, to a rank that is known."""
    for j in range(rank):
        if not A[j, j] > least:
            return j
        _eliminate(A, n, j)
    return rank


@inlined
def _eliminate(A, n, j):
    r = 1.0 / math.sqrt(A[j, j])
    A[j, j] = r
    for i in range(j + 1, n):
        A[i, j] *= r
    for i in range(j + 1, n):
        for k in range(j + 1, i + 1):
            A[i, k] -= A[i, j] * A[k, j]


@inlined
def _reorder(A, T, n, order):
    """Bring rows and columns of A (lower triangle) into the order of pivots."""
    for i in range(n):
        for j in range(i + 1):
            first, second = max(order[i], order[j]), min(order[i], order[j])
            T[i, j] = A[first, second]
    for i in range(n):
        for j in range(i + 1):
            A[i, j] = T[i, j]


@inlined
def _exchange(A, n, j, i):
    """Swap rows and columns j < i of a symmetric matrix kept in its lower triangle."""
    for k in range(j):
        A[j, k], A[i, k] = A[i, k], A[j, k]
    A[j, j], A[i, i] = A[i, i], A[j, j]
    for k in range(j + 1, i):
        A[k, j], A[i, k] = A[i, k], A[k, j]
    for k in range(i + 1, n):
        A[k, j], A[k, i] = A[k, i], A[k, j]


@inlined
def _substitute(L, t, n):
    """t := (L L^T)^-1 t."""
    for j in range(n):
        for k in range(j):
            t[j] -= L[j, k] * t[k]
        t[j] *= L[j, j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            t[j] -= L[k, j] * t[k]
        t[j] *= L[j, j]


@inlined
def _least_solution(L, t, n, rank, T):
    """t := the smallest x with L L^T x = t, L being n x rank: one solution less its null part.

    With L1 the first rows of L and W^T the others times L1^-1, the null space is [-W; 1]: well
    conditioned also where L1 is not, as near a dead centre or with very different masses.
    """
    _substitute(L, t, rank)
    for j in range(rank, n):
        for a in range(rank - 1, -1, -1):
            s = L[j, a]
            for c in range(a + 1, rank):
                s -= L[c, a] * T[j, c]
            T[j, a] = s * L[a, a]
    for i in range(rank, n):
        t[i] = 0.0
        for a in range(rank):
            t[i] -= T[i, a] * t[a]
        for j in range(rank, i + 1):
            s = 1.0 if i == j else 0.0
            for a in range(rank):
                s += T[i, a] * T[j, a]
            T[i, j] = s
    S, y = T[rank:, rank:], t[rank:]
    factorise(S, n - rank)
    for i in range(n - rank):
        S[i, i] = 1.0 / S[i, i]
    _substitute(S, y, n - rank)
    for i in range(rank, n):
        for a in range(rank):
            t[a] += T[i, a] * t[i]
        t[i] = -t[i]
