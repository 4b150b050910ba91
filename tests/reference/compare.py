"""How results are compared: relative to the largest entry, and by backward error."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


FLOOR = 1e-3  # masses, lengths and rates of the test trees are of order 1: less counts as zero


def relative_error(got: Array, expected: Array) -> float:
    """Return the largest difference over the largest expected entry (0 if both are empty)."""
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    if expected.size == 0:
        return 0.0
    return float(np.max(np.abs(got - expected)) / max(np.max(np.abs(expected)), FLOOR))


def assert_close(got: Array, expected: Array, rtol: float, what: str = "") -> None:
    """Fail with both arrays in sight unless they agree relative to the largest entry."""
    error = relative_error(got, expected)
    assert error <= rtol, f"{what}: {error:.2e} > {rtol:.0e}\n got {got}\n expected {expected}"


def backward_error(M: Array, C: Array, tau: Array, udot: Array) -> float:
    """Return the smallest e with |M udot + C - tau| <= e (|M||udot| + |C| + |tau|), rowwise.

    Rowwise is the stricter reading: no row may hide behind a heavier one. Speeds of one
    row always act on the same hinge, so the scale on the right is the size of the loads that
    cross that hinge.
    """
    residual = np.abs(M @ udot + C - tau)
    scale = np.abs(M) @ np.abs(udot) + np.abs(C) + np.abs(tau)
    return float(np.max(residual / np.maximum(scale, 1e-300))) if len(tau) else 0.0
