"""Checks at the door: what callers hand in becomes what kernels can take, or an ArgumentError."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from darts_py.errors import ArgumentError

Array = np.ndarray
MOST = 2**53  # counts beyond it are no longer exact as floating-point numbers


def vector(what: str, value: ArrayLike, size: int, hint: str = "") -> Array:
    """Return `value` as an array kernels can take: `size` finite numbers, writeable."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise ArgumentError(what, got=type(value).__name__, expected=f"{size} numbers") from None
    if array.dtype.kind not in "fiu" and array.size:
        got = type(value).__name__ if array.ndim == 0 else f"an array of {array.dtype}"
        raise ArgumentError(what, got=got, expected=f"{size} real numbers")
    # a read-only array is another type to numba: it would compile every kernel anew
    array = np.require(array, np.float64, ["C", "A", "W"])
    if array.shape != (size,):
        raise ArgumentError(
            what, got=f"shape {array.shape}", expected=f"shape ({size},)", hint=hint
        )
    if not np.all(np.isfinite(array)):
        worst = int(np.argmin(np.isfinite(array)))
        raise ArgumentError(f"{what}[{worst}]", got=array[worst], expected="a finite number")
    return array


def require(holds: Any, what: str, got: object, expected: str, hint: str = "") -> None:
    """Raise ArgumentError unless the argument is what it should be."""
    if not holds:
        raise ArgumentError(what, got=got, expected=expected, hint=hint)


def one_of(what: str, value: object, words: Sequence[str]) -> None:
    """Raise ArgumentError unless the value is one of some words."""
    known = isinstance(value, str) and value in words
    require(known, what, repr(value), " | ".join(words))


def count(what: str, value: Any, least: int, hint: str = "") -> int:
    """Return a whole number, of whatever integer type, that is at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    ok = least <= number <= MOST and not isinstance(value, bool)
    require(ok, what, repr(value), f"an int >= {least}", hint)
    return number


def shaped(what: str, value: object, shape: tuple[int, ...]) -> Array:
    """Return `value` as finite numbers of this shape, a copy."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        array = np.empty(0)
    ok = array.shape == shape and array.dtype.kind in "fiu" and bool(np.all(np.isfinite(array)))
    require(ok, what, f"{array.dtype} of shape {array.shape}", f"finite numbers of shape {shape}")
    return array.astype(float)
