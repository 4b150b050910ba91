"""Copying between arrays without numba's run time (a slice assignment would need it)."""

from __future__ import annotations

from darts_py._jit import inlined


@inlined
def copy_into(x, out):
    """Write the vector x into out, entry by entry."""
    for k in range(out.shape[0]):
        out[k] = x[k]


@inlined
def add_scaled(h, x, out):
    """Add h x to the vector out."""
    for k in range(out.shape[0]):
        out[k] += h * x[k]
