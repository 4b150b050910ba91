"""Modes of a linear model: eigenvalues, damping, shapes, and which bodies take part.

At a state of rest whose stiffness and damping matrices are symmetric the modes come from the
generalized symmetric problem K x = w^2 M x, with the freedoms that no stiffness holds taken out
first: their zero eigenvalues come in defective pairs, which rounding would split by its square
root. Everything else (moving states, follower forces) goes through the eigenvalues of A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from darts_py.linear.linear_model import Array, LinearModel

SYMMETRIC = 1e-7  # relative to the diagonal: less is the error of derivatives
NULL = 1e-9  # of a stiffness scaled to unit diagonal: less is no stiffness
ZERO = 1e-8  # of the greatest eigenvalue of A: less counts as zero
TIE = 1e-6  # entries this close count as equally large when a sign is fixed


@dataclass(frozen=True)
class Mode:
    """One mode: a pair of complex eigenvalues, or one real eigenvalue."""

    eigenvalue: complex  # rad/s; of a pair the one with positive imaginary part
    shape: Array  # all local coordinates, the greatest is 1    (n_speeds,) complex
    output_shape: Array  # the outputs in this mode             (n_outputs,) complex
    participation: Array  # part of each body in the kinetic energy (n_bodies,), sum 1

    @property
    def frequency_rad_s(self) -> float:
        """Natural frequency |eigenvalue|, rad/s."""
        return abs(self.eigenvalue)

    @property
    def frequency_hz(self) -> float:
        """Natural frequency, Hz."""
        return abs(self.eigenvalue) / (2.0 * math.pi)

    @property
    def damping_ratio(self) -> float:
        """Damping as a fraction of critical; a real eigenvalue has 1 (decays) or -1 (grows)."""
        return -self.eigenvalue.real / abs(self.eigenvalue) + 0.0


@dataclass(frozen=True)
class Modes:
    """The modes of a linear model in ascending frequency, without the zero eigenvalues."""

    modes: tuple[Mode, ...]
    n_rigid: int  # displacements that change nothing: freedoms without any stiffness
    n_zero: int  # zero eigenvalues (two for each freedom without stiffness and damping)
    local_names: tuple[str, ...]  # of the entries of a shape
    output_names: tuple[str, ...]  # of the entries of an output shape
    body_names: tuple[str, ...]  # of the entries of a participation

    def __iter__(self):
        return iter(self.modes)

    def __len__(self) -> int:
        return len(self.modes)

    def __getitem__(self, k: int) -> Mode:
        return self.modes[k]

    @property
    def eigenvalues(self) -> Array:
        """One eigenvalue of each mode, rad/s."""
        return np.array([mode.eigenvalue for mode in self.modes], complex)

    @property
    def frequencies_hz(self) -> Array:
        """Natural frequencies, Hz."""
        return np.array([mode.frequency_hz for mode in self.modes])

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios."""
        return np.array([mode.damping_ratio for mode in self.modes])


def find_modes(model: LinearModel) -> Modes:
    """Return the modes of a linear model."""
    pair = _second_order(model)
    if pair is None:
        values, vectors, n_zero = _general(model.A)
    else:
        values, vectors, n_zero = _symmetric(model.mass, *pair, model.A)
    fd = model.n_displacements
    modes = [_mode(model, value, vectors[:, k]) for k, value in enumerate(values)]
    return Modes(
        modes=tuple(sorted(modes, key=_order)),
        n_rigid=fd - _scaled_rank(model.A[:, :fd]),
        n_zero=n_zero,
        local_names=model.local_names,
        output_names=model.output_names,
        body_names=model.body_names,
    )


def _order(mode: Mode) -> tuple[float, float]:
    return (mode.frequency_rad_s, mode.eigenvalue.real)


def _second_order(model: LinearModel) -> tuple[Array, Array] | None:
    """Return stiffness and damping of M p'' + D p' + K p = 0, or None where they do not exist.

    The displacements p are those whose rates are the speeds: d delta_I = A12 p. They do at rest.
    """
    f = model.n_displacements
    if f != model.n_freedoms:
        return None
    A11, A12, A21, A22 = model.A[:f, :f], model.A[:f, f:], model.A[f:, :f], model.A[f:, f:]
    if np.any(A11):
        return None
    K, D = -model.mass @ A21 @ A12, -model.mass @ A22
    if not (_is_symmetric(K) and _is_symmetric(D)):
        return None
    return _symmetrised(K), _symmetrised(D)


def _diagonal_scale(K: Array) -> Array:
    """Return 1/sqrt|K_kk|, or by the greatest entry of the row where the diagonal is zero."""
    size = np.abs(np.diag(K))
    most = np.max(np.abs(K), axis=1, initial=0.0)
    size = np.where(size > NULL * most, size, most)
    return 1.0 / np.sqrt(np.where(size > 0.0, size, 1.0))


def _is_symmetric(K: Array) -> bool:
    s = _diagonal_scale(K)
    scaled = K * np.outer(s, s)
    return bool(np.max(np.abs(scaled - scaled.T), initial=0.0) <= SYMMETRIC)


def _symmetrised(K: Array) -> Array:
    """Return (K + K^T) / 2, zero wherever one of the two is."""
    return np.where((K == 0.0) | (K.T == 0.0), 0.0, 0.5 * (K + K.T))


def _null_space(K: Array) -> Array:
    """Return a basis of the directions that a symmetric K does not hold, as columns."""
    s = _diagonal_scale(K)
    values, vectors = linalg.eigh(K * np.outer(s, s))
    most = np.max(np.abs(values), initial=0.0)
    return s[:, None] * vectors[:, np.abs(values) <= NULL * max(most, NULL)]


def _scaled_rank(columns: Array) -> int:
    """Return the rank of a matrix whose rows and columns may have any units."""
    rows = np.max(np.abs(columns), axis=1, initial=0.0)
    scaled = columns[rows > 0.0] / rows[rows > 0.0, None]
    if scaled.size == 0:
        return 0
    size = np.max(np.abs(scaled), axis=0)
    values = np.asarray(linalg.svdvals(scaled[:, size > 0.0] / size[size > 0.0]))
    return int(np.sum(values > NULL * values[0]))


def _symmetric(M: Array, K: Array, D: Array, A: Array) -> tuple[Array, Array, int]:
    """Return eigenvalues (one of each pair), vectors (2 f, n) and the number of zeros.

    In coordinates Z (no stiffness), X (natural modes), M-orthonormal, stiffness is diagonal;
    the part of Z that nothing damps either is left out, and the rest, damped, is solved as a
    first-order system.
    """
    f = M.shape[0]
    if f == 0:
        return np.zeros(0, complex), np.zeros((0, 0), complex), 0
    Z = _m_orthonormal(_null_space(K), M)
    Y = _m_complement(Z, M)
    w2, X = linalg.eigh(_symmetrised(Y.T @ K @ Y), _symmetrised(Y.T @ M @ Y))
    X = Y @ X
    undamped = _undamped(Z, D)
    coasting = undamped.shape[1]
    if not np.any(D):
        values = [complex(0.0, math.sqrt(x)) if x > 0.0 else complex(math.sqrt(-x)) for x in w2]
        grows = [k for k, value in enumerate(values) if value.imag == 0.0]
        values += [-values[k] for k in grows]
        shapes = np.concatenate([X, X[:, grows]], axis=1)
        return *_stacked(np.array(values, complex), shapes, A), 2 * coasting
    damped = Z @ _complement(undamped)
    basis = np.concatenate([damped, X], axis=1)
    stiffness = np.concatenate([np.zeros(damped.shape[1]), w2])
    n = stiffness.size
    S = np.block([[np.zeros((n, n)), np.eye(n)], [-np.diag(stiffness), -(basis.T @ D @ basis)]])
    values, vectors, n_zero = _general(S)
    return *_stacked(values, basis @ vectors[:n], A), 2 * coasting + n_zero


def _undamped(Z: Array, D: Array) -> Array:
    """Return the combinations of the columns of Z that no damper resists."""
    if not np.any(D):
        return np.eye(Z.shape[1])
    found = _null_space(_symmetrised(Z.T @ D @ Z))
    s = _diagonal_scale(D)
    left = np.abs(s[:, None] * (D @ Z @ found))
    still = left <= NULL * np.max(np.abs(Z @ found / s[:, None]), axis=0, initial=0.0)
    return found if np.all(still) else found[:, :0]  # D not semidefinite: nothing is left out


def _m_orthonormal(Z: Array, M: Array) -> Array:
    """Return the columns of Z made orthonormal in M."""
    if Z.shape[1] == 0:
        return Z
    L = linalg.cholesky(Z.T @ M @ Z, lower=True)
    return linalg.solve_triangular(L, Z.T, lower=True).T


def _m_complement(Z: Array, M: Array) -> Array:
    """Return a basis of the directions that are M-orthogonal to Z."""
    if Z.shape[1] == 0:
        return np.eye(M.shape[0])
    scale = 1.0 / np.sqrt(np.diag(M))  # rad, m and modal units made comparable
    return scale[:, None] * _complement(scale[:, None] * (M @ Z))


def _complement(Z: Array) -> Array:
    """Return an orthonormal basis of what is orthogonal to the columns of Z."""
    return np.linalg.qr(Z, mode="complete")[0][:, Z.shape[1] :]


def _stacked(values: Array, p: Array, A: Array) -> tuple[Array, Array]:
    """Return eigenvectors [d delta_I; du_I] of displacements p: du_I = lambda p, at rest."""
    f = A.shape[0] // 2
    return values, np.concatenate([A[:f, f:] @ p, p * values])


def _general(A: Array) -> tuple[Array, Array, int]:
    """Return the nonzero eigenvalues (one of each pair), vectors and the number of zeros."""
    if A.size == 0:
        return np.zeros(0, complex), np.zeros((A.shape[0], 0), complex), 0
    values, vectors = np.linalg.eig(A)
    zero = np.abs(values) <= ZERO * np.max(np.abs(values))
    kept = ~zero & (np.imag(values) >= 0.0)
    return values[kept], vectors[:, kept], int(np.sum(zero))


def _mode(model: LinearModel, value: complex, x: Array) -> Mode:
    """Return a mode with its shape scaled: its first greatest coordinate is 1."""
    f = model.n_displacements
    shape = model.shape_basis @ x[:f]
    size = np.abs(shape) if np.any(shape) else np.abs(x[f:])
    first = int(np.argmax(size >= (1.0 - TIE) * np.max(size)))
    scale = (shape if np.any(shape) else x[f:])[first]
    x, shape = x / scale, shape / scale
    energy = np.einsum("i,bij,j->b", x[f:].conj(), model.body_mass, x[f:]).real
    return Mode(complex(value), shape, model.C @ x, energy / np.sum(energy))
