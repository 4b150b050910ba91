"""Modal integrals of a body from its motion at sample points that carry mass.

Sample points are Gauss points of beam and plate elements (the integrands are polynomials there,
so the sums are exact) or lumped masses. docs/structures.md defines every integral.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darts_py.multibody.tree import Array, Distributed


@dataclass(frozen=True)
class Samples:
    """Mass at points, and how the points move; body axes, s points, nm modes."""

    r: Array  # rest position                     (s, 3)
    m: Array  # mass                              (s,)
    J: Array  # rotary inertia about the point    (s, 3, 3)
    phi: Array  # displacement                    (s, 3, nm)
    psi: Array  # slope                           (s, 3, nm)


def cross_matrix(a: Array) -> Array:
    """Return the matrices of a x, for one vector or a stack of them."""
    a = np.asarray(a, float)
    out = np.zeros((*a.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    return out - np.swapaxes(out, -1, -2)


def rigid_motion(r: Array) -> Array:
    """Return S(r) = [[1, 0], [-~r, 1]]: slope and displacement at r of unit rigid motions.

    Columns: rotation about x, y, z of the origin, then translation.
    """
    S = np.zeros((*np.shape(r)[:-1], 6, 6))
    S[..., range(6), range(6)] = 1.0
    S[..., 3:, :3] = -cross_matrix(r)
    return S


def integrate(samples: Samples) -> Distributed:
    """Return the integrals of `tree.Distributed` as sums over the sample points."""
    r, m, J, phi, psi = samples.r, samples.m, samples.J, samples.phi, samples.psi
    S = rigid_motion(r)
    Pi = np.concatenate([psi, phi], axis=1)
    M = np.zeros((len(m), 6, 6))
    M[:, :3, :3] = J
    M[:, 3:, 3:] = m[:, None, None] * np.eye(3)
    MPi = M @ Pi
    # phi_l x phi_k, component c: eps_cab phi_l,a phi_k,b
    pairs = np.einsum("s,sak,sbl->abkl", m, phi, phi, optimize=True)
    G = np.stack([pairs[b, a] - pairs[a, b] for a, b in ((1, 2), (2, 0), (0, 1))], axis=-1)
    return Distributed(
        Mrr=_symmetric(np.einsum("sia,sij,sjb->ab", S, M, S, optimize=True)),
        Mfr=np.einsum("sik,sij->kj", MPi, S, optimize=True),
        Mff=_symmetric(np.einsum("sik,sil->kl", Pi, MPi, optimize=True)),
        C=np.einsum("s,sak,sb->kab", m, phi, r, optimize=True),
        G=0.5 * (G - np.swapaxes(G, 0, 1)),
        Jr=_symmetric(J.sum(axis=0)),
        Z=np.einsum("skab,sbc->kac", cross_matrix(np.swapaxes(psi, 1, 2)), J, optimize=True),
        y=np.einsum("sab,sbk->ka", J, psi, optimize=True),
    )


def _symmetric(A: Array) -> Array:
    return 0.5 * (A + A.T)


def add_integrals(a: Distributed, b: Distributed) -> Distributed:
    """Return the integrals of two parts of a body taken together."""
    names = ("Mrr", "Mfr", "Mff", "C", "G", "Jr", "Z", "y")
    return Distributed(*(getattr(a, name) + getattr(b, name) for name in names))
