"""3-vectors and 3x3 matrices as tuples of floats.

Tuples live in registers, allocate nothing and work the same un-jitted. A matrix is nine floats
row by row; a symmetric one six: (xx, xy, xz, yy, yz, zz).
"""

from __future__ import annotations

from darts_py._jit import inlined


@inlined
def add(a, b):
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inlined
def sub(a, b):
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inlined
def scale(s, a):
    """s a."""
    return (s * a[0], s * a[1], s * a[2])


@inlined
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a, b):
    """a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def times(R, a):
    """R a."""
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@inlined
def times_t(R, a):
    """R^T a."""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@inlined
def product(R, S):
    """R S."""
    return (
        R[0] * S[0] + R[1] * S[3] + R[2] * S[6],
        R[0] * S[1] + R[1] * S[4] + R[2] * S[7],
        R[0] * S[2] + R[1] * S[5] + R[2] * S[8],
        R[3] * S[0] + R[4] * S[3] + R[5] * S[6],
        R[3] * S[1] + R[4] * S[4] + R[5] * S[7],
        R[3] * S[2] + R[4] * S[5] + R[5] * S[8],
        R[6] * S[0] + R[7] * S[3] + R[8] * S[6],
        R[6] * S[1] + R[7] * S[4] + R[8] * S[7],
        R[6] * S[2] + R[7] * S[5] + R[8] * S[8],
    )


@inlined
def product_t(R, S):
    """R^T S."""
    return product((R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]), S)


@inlined
def symmetric_times(J, a):
    """J a for a symmetric J."""
    return (
        J[0] * a[0] + J[1] * a[1] + J[2] * a[2],
        J[1] * a[0] + J[3] * a[1] + J[4] * a[2],
        J[2] * a[0] + J[4] * a[1] + J[5] * a[2],
    )


@inlined
def vec3(row):
    """The first three entries of a row."""
    return (row[0], row[1], row[2])


@inlined
def tail3(row):
    """Entries 3 to 5 of a row: the linear half of a spatial vector."""
    return (row[3], row[4], row[5])


@inlined
def vec6(row):
    """The first six entries of a row."""
    return (row[0], row[1], row[2], row[3], row[4], row[5])


@inlined
def mat9(row):
    """Nine entries of a row: a matrix."""
    return (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8])


@inlined
def put(a, row):
    """Write the tuple a into a row."""
    for k in range(len(a)):
        row[k] = a[k]


@inlined
def put_pair(a, b, row):
    """Write the spatial vector [a; b] into a row."""
    for k in range(3):
        row[k] = a[k]
        row[3 + k] = b[k]


@inlined
def add_pair(a, b, row):
    """Add the spatial vector [a; b] to a row."""
    for k in range(3):
        row[k] += a[k]
        row[3 + k] += b[k]
