"""How results are compared: relative to the largest entry, and by backward error."""

from __future__ import annotations

import numpy as np

from darts_py.multibody.tree import Tree

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


def row_scale(M: Array, C: Array, tau: Array, udot: Array) -> Array:
    """Return |M||udot| + |C| + |tau|, row by row."""
    return np.abs(M) @ np.abs(udot) + np.abs(C) + np.abs(tau)


def hinge_scale(tree: Tree, loads: Array) -> Array:
    """Return, for each speed, the size of the load through the hinge of its body."""
    pairs = zip(tree.bodies, tree.joints, strict=True)
    counts = [body.n_modes + joint.n_speeds for body, joint in pairs]
    return np.repeat(np.max(np.abs(loads), axis=1), counts)


def backward_error(residual: Array, scale: Array) -> float:
    """Return the smallest e with |residual| <= e * scale in every row."""
    return float(np.max(np.abs(residual) / np.maximum(scale, 1e-300), initial=0.0))
