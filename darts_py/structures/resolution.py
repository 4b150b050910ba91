"""Does a mesh resolve a mode? Its frequency against that of single freedoms, all others held.

A freedom that moves alone has omega^2 = K_ii / M_ii. A mode x is no motion of the structure but one
of the mesh where its own omega^2 reaches the mean of these,

    rho = (x^T K x / x^T M x) / (sum K_ii x_i^2 / sum M_ii x_i^2) >= 1.

For a wave of wave number b in linear elements of size h, rho = 1 - cos bh with lumped and
2 (1 - cos bh) / (2 + cos bh) with consistent mass: both reach 1 at bh = pi / 2, four elements to a
wave. For cubic beam elements rho jumps from 2/7 to 52/17 at bh = pi, where modes outnumber the
elements. The measure has no unit and asks for nothing but the two matrices.
"""

from __future__ import annotations

import numpy as np

from darts_py.multibody.tree import Array
from darts_py.structures.eigenmodes import Modes
from darts_py.structures.refusal import refuse
from darts_py.structures.sparse import Sparse

SINGLE_NODE = 0.5  # of a mode's kinetic energy: more in one node, and it is a mass on a spring


def coarseness(K: Sparse, M: Sparse, modes: Modes) -> Array:
    """Return rho of every mode."""
    squares = modes.X**2
    alone = (K.diagonal() @ squares) / (M.diagonal() @ squares)
    return modes.omega2 / alone


def require_resolution(K: Sparse, M: Sparse, modes: Modes, node: Array) -> None:
    """Refuse modes that are motions of the mesh.

    A mode in which a single node has most of the kinetic energy is that of a mass on a spring,
    which needs no mesh.

    Args:
        K: stiffness.
        M: mass.
        modes: of unit modal mass.
        node: to which node a freedom belongs. (n,)
    """
    rho = coarseness(K, M, modes)
    at = np.unique(node, return_inverse=True)[1]
    energy = np.zeros((int(at.max(initial=-1)) + 1, len(rho)))
    np.add.at(energy, at, modes.X * (M @ modes.X))
    coarse = np.flatnonzero((rho >= 1.0) & (energy.max(axis=0, initial=0.0) < SINGLE_NODE))
    if len(coarse):
        k = int(coarse[0])
        got = f"mode {k + 1} at {np.sqrt(modes.omega2[k]) / (2.0 * np.pi):.4g} Hz, in which "
        got += f"neighbours move against each other (rho = {rho[k]:.2g})"
        hint = "fewer modes or a finer mesh; accept_unresolved: true for masses and springs"
        raise refuse("elements", got, "modes that the mesh resolves (rho < 1)", hint)
