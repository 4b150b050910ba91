"""Square plates by Ritz's method: products of beam functions or of polynomials, no elements.

With the first six clamped-free or free-free beam functions in each direction it is the computation
of Leissa 1973; with many polynomials it is exact for a free plate (a clamped one has singular
corners, where anything converges slowly). omega a^2 sqrt(rho / D), lowest first.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.polynomial.legendre import Legendre, leggauss
from scipy.optimize import brentq

Functions = np.ndarray  # value, first and second derivative at the Gauss points   (k, 3, points)

_X, _W = leggauss(60)
X, WEIGHT = 0.5 * (_X + 1.0), 0.5 * _W


def beam_functions(clamped: bool, k: int) -> Functions:
    """Natural modes of a clamped-free or free-free beam, its rigid motions included."""
    one = np.ones_like(X)
    found = [] if clamped else [(one, 0 * one, 0 * one), (1 - 2 * X, -2 * one, 0 * one)]
    sign, start = (1.0, 0) if clamped else (-1.0, 1)
    c = -sign
    for n in range(start, start + k - len(found)):
        b = brentq(lambda b: np.cos(b) * np.cosh(b) + sign, n * np.pi, (n + 1) * np.pi)
        s = (np.cosh(b) - c * np.cos(b)) / (np.sinh(b) - c * np.sin(b))
        ch, sh, co, si = np.cosh(b * X), np.sinh(b * X), np.cos(b * X), np.sin(b * X)
        value, slope = ch + c * co - s * (sh + c * si), sh - c * si - s * (ch + c * co)
        found.append((value, b * slope, b**2 * (ch - c * co - s * (sh - c * si))))
    return np.array(found)


def polynomials(clamped: bool, k: int) -> Functions:
    """Legendre's, times x^2 where the edge x = 0 is clamped."""
    found = []
    for n in range(k):
        p = Legendre.basis(n, domain=[0.0, 1.0])
        v, d, dd = p(X), p.deriv()(X), p.deriv(2)(X)
        if clamped:
            v, d, dd = X**2 * v, 2 * X * v + X**2 * d, 2 * v + 4 * X * d + X**2 * dd
        found.append((v, d, dd))
    return np.array(found)


def frequencies(along: Functions, across: Functions, nu: float) -> np.ndarray:
    """Frequencies of the plate in the products of functions, rigid motions left out."""

    def product(i: int, j: int, k: int, l: int) -> np.ndarray:
        left, right = (
            (along[:, i] * WEIGHT) @ along[:, j].T,
            (across[:, k] * WEIGHT) @ across[:, l].T,
        )
        return np.kron(left, right)

    K = product(2, 2, 0, 0) + product(0, 0, 2, 2) + nu * (product(2, 0, 0, 2) + product(0, 2, 2, 0))
    K = K + 2.0 * (1.0 - nu) * product(1, 1, 1, 1)
    squares = scipy.linalg.eigh(K, product(0, 0, 0, 0), eigvals_only=True)
    return np.sqrt(squares[squares > 1.0])
