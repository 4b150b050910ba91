"""Removing unknowns from an articulated body: one block step of a Cholesky factorisation.

Hinge speeds and (in the direct form) modes leave an inertia the same way. With D = L L^T the
inertia among the unknowns, U their coupling to the rest and e the force on them,

    Y = L^-1 U,  y = L^-1 e,  P := P - Y^T Y,  z := z + Y^T y;   later  x = L^-T (y - Y a).

That is GR, PRp, zp and nuR of Jain & Rodriguez 63-64, without forming an inverse.
"""

from __future__ import annotations

import math

from darts_py._jit import inlined


@inlined
def factorise(L, n):
    """Overwrite the lower triangle of the n x n matrix L by its Cholesky factor."""
    for j in range(n):
        d = L[j, j]
        for k in range(j):
            d -= L[j, k] * L[j, k]
        d = math.sqrt(d)
        L[j, j] = d
        r = 1.0 / d
        for row in range(j + 1, n):
            s = L[row, j]
            for k in range(j):
                s -= L[row, k] * L[j, k]
            L[row, j] = s * r


@inlined
def reduce(L, Y, y, n):
    """Turn D, U, e standing in L, Y, y into L, L^-1 U, L^-1 e, for n unknowns."""
    factorise(L, n)
    for j in range(n):
        for k in range(j):
            s = L[j, k]
            y[j] -= s * y[k]
            for c in range(6):
                Y[j, c] -= s * Y[k, c]
        r = 1.0 / L[j, j]
        y[j] *= r
        for c in range(6):
            Y[j, c] *= r


@inlined
def condense(Y, y, n, P, z):
    """What is left once the n reduced unknowns are gone: P - Y^T Y, z + Y^T y."""
    for j in range(n):
        for c in range(6):
            s = Y[j, c]
            z[c] += s * y[j]
            for d in range(6):
                P[c, d] -= s * Y[j, d]


@inlined
def recover(L, Y, y, n, a, x, start):
    """Solve for the removed unknowns, x[start : start + n] = L^-T (y - Y a)."""
    for j in range(n - 1, -1, -1):
        s = y[j]
        for c in range(6):
            s -= Y[j, c] * a[c]
        for k in range(j + 1, n):
            s -= L[k, j] * x[start + k]
        x[start + j] = s / L[j, j]


@inlined
def solve_in_place(T, n, n_right):
    """Gauss elimination with row exchange on T = [matrix (n x n) | n_right right sides]."""
    width = n + n_right
    for j in range(n):
        pivot = j
        for row in range(j + 1, n):
            if abs(T[row, j]) > abs(T[pivot, j]):
                pivot = row
        if pivot != j:
            for c in range(j, width):
                T[j, c], T[pivot, c] = T[pivot, c], T[j, c]
        r = 1.0 / T[j, j]
        for row in range(j + 1, n):
            s = T[row, j] * r
            if s != 0.0:
                for c in range(j + 1, width):
                    T[row, c] -= s * T[j, c]
    for j in range(n - 1, -1, -1):
        r = 1.0 / T[j, j]
        for c in range(n, width):
            T[j, c] *= r
        for row in range(j):
            s = T[row, j]
            for c in range(n, width):
                T[row, c] -= s * T[j, c]
