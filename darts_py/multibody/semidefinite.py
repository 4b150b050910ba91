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
COMPARABLE = 1e-3  # and diagonals above this part of the largest no second look
LEAST_PIVOT = 1e-15  # of a unit diagonal


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
def solve_semidefinite(A, b, x, T, t, idle, order, tolerance):
    """Solve A x = b; rows marked `idle` are left out, their x is zero.

    The pivots and, in order[n], the rank are those that `order` holds; a rank below zero has them
    found: pivots above `tolerance` count. A's lower triangle, t and T are overwritten.
    """
    n = b.shape[0]
    for i in range(n):  # x holds the scale until the end
        x[i] = 0.0 if idle[i] > 0.0 else 1.0 / math.sqrt(A[i, i])
        for j in range(i + 1):
            A[i, j] *= x[i] * x[j]
    if order[n] < 0:
        for i in range(n):
            order[i] = i
        order[n] = _pivoted_cholesky(A, n, order, tolerance)
        rank = order[n]
    else:
        _reorder(A, T, n, order)
        rank = _cholesky(A, n, order[n])
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
def _pivoted_cholesky(A, n, order, tolerance):
    """Overwrite the lower triangle by L, rows in the order of falling pivots; return the rank."""
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if A[i, i] > A[best, best]:
                best = i
        if not A[best, best] > tolerance:
            return j
        if best != j:
            _exchange(A, n, j, best)
            order[j], order[best] = order[best], order[j]
        _eliminate(A, n, j)
    return n


@inlined
def _cholesky(A, n, rank):
    """Do the same in the order in which the rows are, to a rank that is known."""
    for j in range(rank):
        if not A[j, j] > LEAST_PIVOT:
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
    """t := L (L^T L)^-2 L^T t, L being n x rank."""
    for i in range(rank):
        L[i, i] = 1.0 / L[i, i]
    for i in range(rank):
        for j in range(i + 1):
            s = 0.0
            for k in range(i, n):
                s += L[k, i] * L[k, j]
            T[i, j] = s
    for i in range(rank):
        s = 0.0
        for k in range(i, n):
            s += L[k, i] * t[k]
        t[i] = s
    factorise(T, rank)
    for i in range(rank):
        T[i, i] = 1.0 / T[i, i]
    _substitute(T, t, rank)
    _substitute(T, t, rank)
    for i in range(n - 1, -1, -1):
        s = 0.0
        for k in range(min(i + 1, rank)):
            s += L[i, k] * t[k]
        t[i] = s
