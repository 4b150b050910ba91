"""Inertia kernels against the 6 x 6 matrices they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from scipy.spatial.transform import Rotation

from darts_py.spatial import inertia

seeds = st.integers(0, 2**32 - 1)


def _cross(x: np.ndarray) -> np.ndarray:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def _spd(rng: np.random.Generator) -> np.ndarray:
    A = rng.normal(size=(6, 6))
    return A @ A.T + np.eye(6)


@njit
def _moved(R: tuple, x: tuple, P: np.ndarray, out: np.ndarray) -> None:
    """Rotate and shift an inertia, as `hand_to_parent` does."""
    A, B, M = inertia.blocks_of_square(P)
    A, B, M = (
        inertia.rotate_symmetric(R, A),
        inertia.rotate_full(R, B),
        inertia.rotate_symmetric(R, M),
    )
    C = inertia.shift_coupling(x, B, M)
    row = np.zeros(21)
    inertia.put_inertia(inertia.shift_rotation(x, A, B, C), C, M, row)
    inertia.square(row, out)


@njit
def _rotations(R: tuple, S: tuple, B: tuple) -> tuple:
    """General and special forms, for matrices whose z row vanishes."""
    return (
        inertia.rotate_symmetric(R, S),
        inertia.rotate_symmetric_xy(R, S),
        inertia.rotate_full(R, B),
        inertia.rotate_full_xy(R, B),
    )


@njit
def _times(P: np.ndarray, w: tuple, v: tuple) -> tuple:
    A, B, M = inertia.blocks_of_square(P)
    return inertia.inertia_times(A, B, M, w, v)


@given(seed=seeds)
def test_rotation_and_shift_are_the_congruence(seed: int) -> None:
    """P' = S(x)^T T P T^T S(x) with T = blkdiag(R, R), S(x) = [[1, 0], [-~x, 1]]."""
    rng = np.random.default_rng(seed)
    P, x = _spd(rng), rng.normal(size=3)
    R = Rotation.random(random_state=seed % 2**31).as_matrix()
    got = np.zeros((6, 6))
    _moved(tuple(R.ravel().tolist()), tuple(x.tolist()), P, got)
    T = np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])
    S = np.block([[np.eye(3), np.zeros((3, 3))], [-_cross(x), np.eye(3)]])
    expected = S.T @ T @ P @ T.T @ S
    assert np.abs(got - expected).max() <= 1e-13 * np.abs(expected).max()


@given(seed=seeds)
def test_forms_for_a_vanishing_z_agree_with_the_general_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = tuple(Rotation.random(random_state=seed % 2**31).as_matrix().ravel().tolist())
    a, b, c = rng.normal(size=3).tolist()
    S = (a, b, 0.0, c, 0.0, 0.0)
    B = (*rng.normal(size=6).tolist(), 0.0, 0.0, 0.0)
    full_S, special_S, full_B, special_B = _rotations(r, S, B)
    assert special_S == pytest.approx(full_S, abs=1e-14)
    assert special_B == pytest.approx(full_B, abs=1e-14)


@given(seed=seeds)
def test_inertia_times_is_the_matrix_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, V = _spd(rng), rng.normal(size=6)
    n, f = _times(P, tuple(V[:3].tolist()), tuple(V[3:].tolist()))
    assert [*n, *f] == pytest.approx(P @ V, rel=1e-12, abs=1e-12)
