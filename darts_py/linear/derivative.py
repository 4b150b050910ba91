"""Directional derivatives of smooth vector functions, with an estimate of their error.

Central differences at steps h, h/2, h/4, ... extrapolated to h = 0 (C. J. F. Ridders, "Accurate
computation of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4(2), 1982). Every entry takes the
place in the triangle where its error is least: large steps where the function is a polynomial
of low degree, which cost no digits, small ones where it bends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray

LEVELS = 7  # smallest step: 1/64 of the first
EPS = float(np.finfo(float).eps)


def derivative(f: Callable[[float], Array], step: float) -> tuple[Array, Array]:
    """Return df/dt at t = 0 and the estimated error of each entry.

    Args:
        f: returns a vector (n,); need not be defined beyond |t| <= step.
        step: first and largest step.
    """
    best, error = np.zeros(0), np.zeros(0)
    above: list[Array] = []
    for level in range(LEVELS):
        h = step * 0.5**level
        plus, minus = f(h), f(-h)
        row = [(plus - minus) / (2.0 * h)]
        rounding = EPS * np.maximum(np.abs(plus), np.abs(minus)) / h
        if level == 0:
            best, error = row[0], np.full(row[0].shape, np.inf)
        for j, coarse in enumerate(above):
            row.append(row[j] + (row[j] - coarse) / (4.0 ** (j + 1) - 1.0))
            spread = np.maximum(np.abs(row[-1] - row[-2]), np.abs(row[-1] - coarse))
            estimate = np.maximum(spread, rounding)
            better = estimate < error  # false where a sample was not finite
            best, error = np.where(better, row[-1], best), np.where(better, estimate, error)
        above = row
    return best, error
