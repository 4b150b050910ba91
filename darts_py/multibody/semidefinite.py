"""Solving A x = b with a symmetric A that may be singular: redundant constraints.

Factorisation without square roots where A is regular; otherwise Cholesky with row exchange on A
scaled to a unit diagonal, and where a rank is missing, the solution of
least (scaled) size among the many. The answer is what J^T x makes of it: that is unique as long
as b can be reached.
"""

from __future__ import annotations

import math

from darts_py._jit import inlined
from darts_py.multibody.elimination import factorise

# Pivots of a unit-diagonal Gram matrix are squared sines: rows that differ by less than 1e-4 rad
# count as one. Inside a Runge-Kutta step loops are open by so much that they do differ by 1e-5.
RANK_TOLERANCE = 1e-8
WELL_CONDITIONED = 1e-5  # pivots above this part of the diagonal need no row exchange


@inlined
def solve_semidefinite(A, b, x, T, t, order):
    """Solve A x = b and return A's rank; a row with A[i, i] <= t[i] is left out.

    A's lower triangle, t, T and order are overwritten.
    """
    n = b.shape[0]
    if _factor_regular(A, t, T, n):  # the usual case, without scaling and row exchange
        for i in range(n):
            x[i] = b[i]
        _substitute_regular(T, x, n)
        return n
    for i in range(n):  # x holds the scale until the end
        x[i] = 1.0 / math.sqrt(A[i, i]) if A[i, i] > t[i] else 0.0
        order[i] = i
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
def _factor_regular(A, floor, T, n):
    """Write T with A = (T)(D)(T^T), 1/D on its diagonal; False if some row is nearly redundant."""
    for j in range(n):
        d, least = A[j, j], max(floor[j], WELL_CONDITIONED * A[j, j])
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
def _pivoted_cholesky(A, n, order):
    """Overwrite the lower triangle by L, rows in the order of falling pivots; return the rank."""
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
        r = 1.0 / math.sqrt(A[j, j])
        A[j, j] = r
        for i in range(j + 1, n):
            A[i, j] *= r
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
