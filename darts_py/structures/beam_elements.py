"""Finite elements of a straight Euler-Bernoulli beam: cubic in bending, linear otherwise.

Six freedoms per node in beam axes: rotation about x, y, z, then displacement. Bending about z is
(v, v') and turns about z; bending about y is (w, -w'). Freedoms that the section does not resist
elastically are left out: the beam is rigid that way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures.reduction import Attachment
from darts_py.structures.samples import rigid_motion
from darts_py.structures.section import Section
from darts_py.structures.sparse import Sparse

# points per element: exact to degree 11, all that linear tapers ask for, but for the torsion
# constants of rectangle and box, which are no polynomials of their sizes
GAUSS = 6

# freedoms of each family among [rx, ry, rz, x, y, z]
FREEDOMS = {
    "stretch": (3,),
    "torsion": (0,),
    "bending_about_y": (1, 5),
    "bending_about_z": (2, 4),
}


def gauss_points(grid: Array) -> tuple[Array, Array]:
    """Return Gauss points and weights of every panel of a grid."""
    x, w = np.polynomial.legendre.leggauss(GAUSS)
    h = np.diff(grid)[:, None]
    return (grid[:-1, None] + 0.5 * h * (x + 1.0)).ravel(), (0.5 * h * w).ravel()


class BeamElements:
    """Mass, stiffness and shape functions over a grid of element boundaries."""

    def __init__(self, grid: Array, section: Section) -> None:
        self.grid = grid
        self.families = section.families
        present = sorted(k for family in section.families for k in FREEDOMS[family])
        self._kept = (6 * np.arange(len(grid))[:, None] + present).ravel()
        self._number = np.full(6 * len(grid), -1)
        self._number[self._kept] = np.arange(len(self._kept))
        self.n = len(self._kept)
        s, weight = gauss_points(grid)
        values = section.values(s)
        N, B = self._motion(s), self._strain(s)
        inertia = np.hstack([values.inertia, np.repeat(values.mass[:, None], 3, axis=1)])
        self.M = _congruence(N, (weight[:, None] * inertia).ravel())
        zero = np.zeros(len(s))
        order = ("stretch", "torsion", "bending_about_z", "bending_about_y")
        stiffness = np.stack([values.stiffness.get(name, zero) for name in order], axis=-1)
        self._B, self._resist = B, (weight[:, None] * stiffness).ravel()
        self.K = _congruence(B, self._resist)
        axis = np.stack([grid, 0.0 * grid, 0.0 * grid], axis=-1)
        self.rigid = rigid_motion(axis).reshape(-1, 6)[self._kept]

    def family_dofs(self, family: str) -> Array:
        """Return the indices of a family's freedoms."""
        numbers = 6 * np.arange(len(self.grid))[:, None] + FREEDOMS[family]
        return np.sort(self._number[numbers.ravel()])

    def energies(self, X: Array) -> Array:
        """Return twice the strain energy of every column of X, from its strains.

        Of a mode with b wave numbers per element this loses b^-2 in digits, x^T K x loses b^-4.
        """
        return self._resist @ (self._B @ X) ** 2

    def attachment(self, station: float) -> Attachment:
        """Return the freedoms of the grid point at a station."""
        k = int(np.argmin(np.abs(self.grid - station)))
        number = self._number[6 * k : 6 * k + 6]
        return Attachment(number[number >= 0], np.eye(6)[number >= 0])

    def shapes(self, s: Array, X: Array) -> Array:
        """Return slope and displacement of shapes X at stations, beam axes.   (s, 6, nm)."""
        return (self._motion(s) @ X).reshape(len(s), 6, X.shape[1])

    def motion_maps(self, stations: Array, R: Array) -> Sequence[Sparse]:
        """Return for each station the map from freedoms to its motion in axes turned by R."""
        N = self._motion(stations)
        turn = sp.csr_array(np.kron(np.eye(2), R))
        return [sp.csr_array(turn @ N[6 * k : 6 * k + 6]) for k in range(len(stations))]

    def _locate(self, s: Array) -> tuple[Array, Array, Array]:
        e = np.clip(np.searchsorted(self.grid, s, side="right") - 1, 0, len(self.grid) - 2)
        h = self.grid[e + 1] - self.grid[e]
        return e, (s - self.grid[e]) / h, h

    def _motion(self, s: Array) -> Sparse:
        """Slope and displacement at stations from the freedoms.   (6 s, n)."""
        e, x, h = self._locate(s)
        linear = [1.0 - x, x]
        cubic = [1.0 - 3.0 * x**2 + 2.0 * x**3, h * (x - 2.0 * x**2 + x**3)]
        cubic += [3.0 * x**2 - 2.0 * x**3, h * (x**3 - x**2)]
        slope = [6.0 * (x**2 - x) / h, 1.0 - 4.0 * x + 3.0 * x**2]
        slope += [6.0 * (x - x**2) / h, 3.0 * x**2 - 2.0 * x]
        rows = [(0, (0, 6), linear), (3, (3, 9), linear)]
        rows += [(4, (4, 2, 10, 8), cubic), (2, (4, 2, 10, 8), slope)]  # v, and theta_z = v'
        down = [cubic[0], -cubic[1], cubic[2], -cubic[3]]  # theta_y = -w'
        tilt = [-slope[0], slope[1], -slope[2], slope[3]]
        rows += [(5, (5, 1, 11, 7), down), (1, (5, 1, 11, 7), tilt)]
        return self._gather(rows, e, 6)

    def _strain(self, s: Array) -> Sparse:
        """Stretch, twist, curvature in the plane of y, of z.   (4 s, n)."""
        e, x, h = self._locate(s)
        linear = [-1.0 / h, 1.0 / h]
        bend = [(12.0 * x - 6.0) / h**2, (6.0 * x - 4.0) / h]
        bend += [(6.0 - 12.0 * x) / h**2, (6.0 * x - 2.0) / h]
        rows = [(0, (3, 9), linear), (1, (0, 6), linear), (2, (4, 2, 10, 8), bend)]
        rows += [(3, (5, 1, 11, 7), [bend[0], -bend[1], bend[2], -bend[3]])]
        return self._gather(rows, e, 4)

    def _gather(
        self, rows: Sequence[tuple[int, tuple[int, ...], list[Array]]], e: Array, size: int
    ) -> Sparse:
        i, j, v = [], [], []
        at = size * np.arange(len(e))
        for row, freedoms, functions in rows:
            for freedom, function in zip(freedoms, functions, strict=True):
                column = self._number[6 * e + freedom]
                kept = column >= 0
                i.append((at + row)[kept])
                j.append(column[kept])
                v.append(function[kept])
        entries = (np.concatenate(v), (np.concatenate(i), np.concatenate(j)))
        return sp.csr_array(entries, shape=(size * len(e), self.n))


def _congruence(B: Sparse, weight: Array) -> Sparse:
    """Return B^T diag(weight) B, symmetric to the last bit, without the zeros it holds."""
    A = sp.csr_array(B.T @ (sp.diags_array(weight) @ B))
    A = sp.csr_array(0.5 * (A + A.T))
    A.eliminate_zeros()
    return A
