"""6x6 symmetric inertias as 21 numbers: P = [[A, B], [B^T, M]], rotation first.

A and M are symmetric (six floats), B is full (nine): a row of 21 in an array, three tuples in a
kernel. Moving an inertia to another frame is a rotation followed by a shift of origin.
"""

from __future__ import annotations

from darts_py._jit import inlined
from darts_py.spatial.vector import add, cross, symmetric_times, times, times_t


@inlined
def rotate_symmetric(R, S):
    """R S R^T for a symmetric S."""
    t0 = symmetric_times(S, (R[0], R[1], R[2]))
    t1 = symmetric_times(S, (R[3], R[4], R[5]))
    t2 = symmetric_times(S, (R[6], R[7], R[8]))
    return (
        R[0] * t0[0] + R[1] * t0[1] + R[2] * t0[2],
        R[0] * t1[0] + R[1] * t1[1] + R[2] * t1[2],
        R[0] * t2[0] + R[1] * t2[1] + R[2] * t2[2],
        R[3] * t1[0] + R[4] * t1[1] + R[5] * t1[2],
        R[3] * t2[0] + R[4] * t2[1] + R[5] * t2[2],
        R[6] * t2[0] + R[7] * t2[1] + R[8] * t2[2],
    )


@inlined
def rotate_symmetric_xy(R, S):
    """R S R^T for a symmetric S whose z row and column vanish."""
    a, b, c = S[0], S[1], S[3]
    x0, x1 = a * R[0] + b * R[1], b * R[0] + c * R[1]
    y0, y1 = a * R[3] + b * R[4], b * R[3] + c * R[4]
    z0, z1 = a * R[6] + b * R[7], b * R[6] + c * R[7]
    return (
        R[0] * x0 + R[1] * x1,
        R[0] * y0 + R[1] * y1,
        R[0] * z0 + R[1] * z1,
        R[3] * y0 + R[4] * y1,
        R[3] * z0 + R[4] * z1,
        R[6] * z0 + R[7] * z1,
    )


@inlined
def rotate_full(R, B):
    """R B R^T."""
    c0 = times(R, (B[0], B[1], B[2]))  # R times the rows of B
    c1 = times(R, (B[3], B[4], B[5]))
    c2 = times(R, (B[6], B[7], B[8]))
    return (
        R[0] * c0[0] + R[1] * c1[0] + R[2] * c2[0],
        R[0] * c0[1] + R[1] * c1[1] + R[2] * c2[1],
        R[0] * c0[2] + R[1] * c1[2] + R[2] * c2[2],
        R[3] * c0[0] + R[4] * c1[0] + R[5] * c2[0],
        R[3] * c0[1] + R[4] * c1[1] + R[5] * c2[1],
        R[3] * c0[2] + R[4] * c1[2] + R[5] * c2[2],
        R[6] * c0[0] + R[7] * c1[0] + R[8] * c2[0],
        R[6] * c0[1] + R[7] * c1[1] + R[8] * c2[1],
        R[6] * c0[2] + R[7] * c1[2] + R[8] * c2[2],
    )


@inlined
def rotate_full_xy(R, B):
    """R B R^T for a B whose z row vanishes."""
    c0 = times(R, (B[0], B[1], B[2]))
    c1 = times(R, (B[3], B[4], B[5]))
    return (
        R[0] * c0[0] + R[1] * c1[0],
        R[0] * c0[1] + R[1] * c1[1],
        R[0] * c0[2] + R[1] * c1[2],
        R[3] * c0[0] + R[4] * c1[0],
        R[3] * c0[1] + R[4] * c1[1],
        R[3] * c0[2] + R[4] * c1[2],
        R[6] * c0[0] + R[7] * c1[0],
        R[6] * c0[1] + R[7] * c1[1],
        R[6] * c0[2] + R[7] * c1[2],
    )


@inlined
def shift_coupling(x, B, M):
    """Return B + ~x M: the coupling block of S(x)^T P S(x)."""
    return (
        B[0] + (x[1] * M[2] - x[2] * M[1]),
        B[1] + (x[1] * M[4] - x[2] * M[3]),
        B[2] + (x[1] * M[5] - x[2] * M[4]),
        B[3] + (x[2] * M[0] - x[0] * M[2]),
        B[4] + (x[2] * M[1] - x[0] * M[4]),
        B[5] + (x[2] * M[2] - x[0] * M[5]),
        B[6] + (x[0] * M[1] - x[1] * M[0]),
        B[7] + (x[0] * M[3] - x[1] * M[1]),
        B[8] + (x[0] * M[4] - x[1] * M[2]),
    )


@inlined
def shift_rotation(x, A, B, shifted_B):
    """Return A + ~x B^T - B' ~x: the rotation block of S(x)^T P S(x), B' being the shifted B."""
    C = shifted_B
    return (
        A[0] + (x[1] * B[2] - x[2] * B[1]) - (C[1] * x[2] - C[2] * x[1]),
        A[1] + (x[1] * B[5] - x[2] * B[4]) - (C[2] * x[0] - C[0] * x[2]),
        A[2] + (x[1] * B[8] - x[2] * B[7]) - (C[0] * x[1] - C[1] * x[0]),
        A[3] + (x[2] * B[3] - x[0] * B[5]) - (C[5] * x[0] - C[3] * x[2]),
        A[4] + (x[2] * B[6] - x[0] * B[8]) - (C[3] * x[1] - C[4] * x[0]),
        A[5] + (x[0] * B[7] - x[1] * B[6]) - (C[6] * x[1] - C[7] * x[0]),
    )


@inlined
def inertia_times(A, B, M, w, v):
    """Return the moment and force of P [w; v]."""
    return add(symmetric_times(A, w), times(B, v)), add(times_t(B, w), symmetric_times(M, v))


@inlined
def shift_force(x, n, f):
    """Move a force acting at x to the origin: the moment of S(x)^T [n; f]."""
    return add(n, cross(x, f))


@inlined
def blocks(row):
    """Return A, B, M of an inertia stored as a row of 21."""
    A = (row[0], row[1], row[2], row[3], row[4], row[5])
    B = (row[6], row[7], row[8], row[9], row[10], row[11], row[12], row[13], row[14])
    return A, B, (row[15], row[16], row[17], row[18], row[19], row[20])


@inlined
def put_inertia(A, B, M, row):
    """Write an inertia into a row of 21."""
    for k in range(6):
        row[k] = A[k]
        row[15 + k] = M[k]
    for k in range(9):
        row[6 + k] = B[k]


@inlined
def add_inertia(A, B, M, row):
    """Add an inertia to a row of 21."""
    for k in range(6):
        row[k] += A[k]
    for k in range(9):
        row[6 + k] += B[k]
    for k in range(6):
        row[15 + k] += M[k]


@inlined
def first_moment(row):
    """Return mass times mass centre of a rigid inertia, from B = ~mc."""
    return (row[13], row[8], row[9])


@inlined
def square(row, out):
    """Write an inertia stored as a row of 21 as a 6 x 6 matrix."""
    out[0, 0] = row[0]
    out[0, 1] = out[1, 0] = row[1]
    out[0, 2] = out[2, 0] = row[2]
    out[1, 1] = row[3]
    out[1, 2] = out[2, 1] = row[4]
    out[2, 2] = row[5]
    for r in range(3):
        for c in range(3):
            out[r, 3 + c] = out[3 + c, r] = row[6 + 3 * r + c]
    out[3, 3] = row[15]
    out[3, 4] = out[4, 3] = row[16]
    out[3, 5] = out[5, 3] = row[17]
    out[4, 4] = row[18]
    out[4, 5] = out[5, 4] = row[19]
    out[5, 5] = row[20]


@inlined
def add_to_square(A, B, M, P):
    """Add an inertia to a symmetric 6 x 6 matrix."""
    for r in range(3):
        for c in range(3):
            k = 3 * r + c
            P[r, 3 + c] += B[k]
            P[3 + c, r] += B[k]
    k = 0
    for r in range(3):
        for c in range(r, 3):
            P[r, c] += A[k]
            P[3 + r, 3 + c] += M[k]
            if c > r:
                P[c, r] += A[k]
                P[3 + c, 3 + r] += M[k]
            k += 1


@inlined
def blocks_of_square(P):
    """Return A, B, M of a symmetric 6 x 6 matrix."""
    A = (P[0, 0], P[0, 1], P[0, 2], P[1, 1], P[1, 2], P[2, 2])
    B = (P[0, 3], P[0, 4], P[0, 5], P[1, 3], P[1, 4], P[1, 5], P[2, 3], P[2, 4], P[2, 5])
    return A, B, (P[3, 3], P[3, 4], P[3, 5], P[4, 4], P[4, 5], P[5, 5])
