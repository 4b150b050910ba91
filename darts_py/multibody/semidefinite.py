"""Solving A x = b with a symmetric A that may be singular: redundant constraints.

Cholesky with row exchange on A scaled to a unit diagonal; where a rank is missing, the solution of
least (scaled) size among the many. The answer is what J^T x makes of it: that is unique as long
as b can be reached.
"""

from __future__ import annotations

import math

from darts_py._jit import inlined
from darts_py.multibody.elimination import factorise

# Pivots of a unit-diagonal Gram matrix are squared sines: two rows count as one below 3e-6 rad.
RANK_TOLERANCE = 1e-11
IMMOBILE = 1e-20  # a row this much smaller than the largest is rounding: nothing can move there


@inlined
def solve_semidefinite(A, b, x, T, t, order):
    """Solve A x = b and return A's rank; its lower triangle is overwritten, the rest is scratch."""
    n, least = b.shape[0], 0.0
    for i in range(n):
        least = max(least, IMMOBILE * A[i, i])
    for i in range(n):  # x holds the scale until the end
        x[i] = 1.0 / math.sqrt(A[i, i]) if A[i, i] > least else 0.0
        order[i] = i
    for i in range(n):
        for j in range(i + 1):
            A[i, j] *= x[i] * x[j]
    rank = _pivoted_cholesky(A, n, order)
    for i in range(n):
        t[i] = b[order[i]] * x[order[i]]
    if rank == n:
        _substitute(A, t, n)
    else:
        _least_solution(A, t, n, rank, T)
    for i in range(n):
        x[order[i]] *= t[i]
    return rank


@inlined
def _pivoted_cholesky(A, n, order):
    """Overwrite the lower triangle by L, rows in the order of falling pivots."""
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if A[i, i] > A[best, best]:
                best = i
        if not A[best, best] > RANK_TOLERANCE:
            return j
        if best != j:
            _exchange(A, n, j, best)
            order[j], order[best] = order[best], order[j]
        d = math.sqrt(A[j, j])
        A[j, j] = d
        for i in range(j + 1, n):
            A[i, j] /= d
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                A[i, k] -= A[i, j] * A[k, j]
    return n


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
        t[j] /= L[j, j]
    for j in range(n - 1, -1, -1):
        for k in range(j + 1, n):
            t[j] -= L[k, j] * t[k]
        t[j] /= L[j, j]


@inlined
def _least_solution(L, t, n, rank, T):
    """t := L (L^T L)^-2 L^T t, L being n x rank."""
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
    _substitute(T, t, rank)
    _substitute(T, t, rank)
    for i in range(n - 1, -1, -1):
        s = 0.0
        for k in range(min(i + 1, rank)):
            s += L[i, k] * t[k]
        t[i] = s
