"""LAPACK's Cholesky solve, called from compiled code without Python in between."""

from __future__ import annotations

import ctypes
import functools

import numpy as np
from numba import njit
from numba.extending import get_cython_function_address

_P = ctypes.c_void_p


def _routine(name: str, n_arguments: int):
    """Return a LAPACK routine of scipy that numba can call; all arguments are addresses."""
    address = get_cython_function_address("scipy.linalg.cython_lapack", name)
    return ctypes.CFUNCTYPE(None, *([_P] * n_arguments))(address)


@functools.cache
def make_solver():
    """Return `repeat(n, M, b, A, x, ints, letter)`: solve M x = b n times, M and b kept."""
    dpotrf, dpotrs = _routine("dpotrf", 5), _routine("dpotrs", 8)

    @njit
    def repeat(n, M, b, A, x, ints, letter):
        for i in range(n):
            A[:] = M
            x[:] = b
            x[0] += 1e-6 * i
            size, one, info = ints[0:].ctypes, ints[1:].ctypes, ints[2:].ctypes
            dpotrf(letter.ctypes, size, A.ctypes, size, info)
            dpotrs(letter.ctypes, size, one, A.ctypes, size, x.ctypes, size, info)

    return repeat


class LapackSolve:
    """Solve M x = b with dpotrf and dpotrs; copying M is part of it, as in the composite path."""

    def __init__(self, M: np.ndarray, b: np.ndarray) -> None:
        self._repeat = make_solver()
        self.x = np.zeros_like(b)
        n = b.shape[0]
        ints = np.array([n, 1, 0], np.int32)
        # "L": of the transposed, column-wise reading; M is symmetric
        self._arguments = (
            M.copy(),
            b.copy(),
            np.zeros((n, n)),
            self.x,
            ints,
            np.array([76], np.int8),
        )

    def __call__(self, n: int) -> None:
        """Solve n times."""
        self._repeat(n, *self._arguments)
