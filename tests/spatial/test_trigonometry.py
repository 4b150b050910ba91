from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from darts_py._jit import kernel
from darts_py.spatial import trigonometry
from darts_py.spatial.trigonometry import LARGEST_REDUCED

EPS = np.finfo(float).eps


@njit
def sincos(x: float) -> tuple[float, float]:
    """Inlined functions can only be called by compiled ones."""
    return trigonometry.sincos(x)


@given(x=st.floats(-LARGEST_REDUCED, LARGEST_REDUCED))
def test_sincos_is_within_two_ulp_of_one(x: float) -> None:
    s, c = sincos(x)
    assert abs(s - math.sin(x)) <= 2 * EPS
    assert abs(c - math.cos(x)) <= 2 * EPS


@given(k=st.integers(-10_000_000, 10_000_000), e=st.floats(-1e-3, 1e-3))
def test_sincos_keeps_relative_digits_near_its_zeros(k: int, e: float) -> None:
    """Range reduction in three parts: no cancellation next to multiples of pi / 2."""
    x = k * (math.pi / 2) + e
    s, c = sincos(x)
    assert s == pytest.approx(math.sin(x), rel=1e-14, abs=1e-300)
    assert c == pytest.approx(math.cos(x), rel=1e-14, abs=1e-300)


@given(x=st.floats(-1e3, 1e3))
def test_sincos_is_odd_and_even_to_the_bit(x: float) -> None:
    s, c = sincos(x)
    t, d = sincos(-x)
    assert (t, d) == (-s, c)


@given(x=st.floats(1.6e6, 1.7e12))
def test_sincos_splits_large_angles(x: float) -> None:
    """The first products are exact; j * PIO2_2 is rounded, to x * 2/pi * 6.1e-11 * 2^-53 each."""
    s, c = sincos(x)
    bound = 2 * EPS + 2 * (x * 0.6367 * 6.08e-11 * EPS / 2)
    assert abs(s - math.sin(x)) <= bound
    assert abs(c - math.cos(x)) <= bound


def test_sincos_passes_large_and_non_finite_arguments_on() -> None:
    assert sincos(1e22) == (math.sin(1e22), math.cos(1e22))
    assert all(math.isnan(v) for v in sincos(math.nan))


def test_a_kernel_outside_the_hashed_rooms_is_refused() -> None:
    """Its machine code would not be keyed by its source."""

    def stray() -> None: ...

    stray.__module__ = "darts_py.cli.stray"
    with pytest.raises(ImportError, match="KERNEL_ROOMS"):
        kernel(stray)
