"""Kinetic energy of each body, from its mass integrals and its motion per unit of speed."""

from __future__ import annotations

import numpy as np

from darts_py.multibody import motion
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft


def rigid_inertia(model: Spacecraft, b: int) -> Array:
    """Return Mrr (6, 6) of kernel body b about its hinge, hinge axes."""
    out = np.zeros((6, 6))
    _square(model.arrays.body[b]["Mrr"], out)
    return out


def _square(packed: Array, out: Array) -> None:
    """Unpack a spatial inertia: A (6, symmetric), B (9), M (6, symmetric)."""
    upper = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2])
    for first, corner in ((0, slice(0, 3)), (15, slice(3, 6))):
        block = np.zeros((3, 3))
        block[upper] = packed[first : first + 6]
        out[corner, corner] = block + block.T - np.diag(np.diag(block))
    out[:3, 3:] = np.reshape(packed[6:15], (3, 3))
    out[3:, :3] = out[:3, 3:].T


def body_mass_matrices(model: Spacecraft, q: Array) -> Array:
    """Return (n_bodies, n_speeds, n_speeds): the share of each body in M, file order.

    T = 1/2 sum Vm^T Mm Vm (docs/equations.md 12), Vm = [modal rates; velocity of the hinge].
    """
    m, w, n = model.arrays, model.workspace, model.n_speeds
    V = np.zeros((model.n_bodies, 6, n))
    for j, unit in enumerate(np.eye(n)):
        motion.sweep_motion(m, w, q, unit)
        V[:, :, j] = w.body["V"][: model.n_bodies]
    out = np.zeros((model.n_bodies, n, n))
    for b, i in enumerate(model.order):
        row = m.body[b]
        out[i] = V[b].T @ rigid_inertia(model, b) @ V[b]
        if row["n_modes"]:
            nm, first, start = int(row["n_modes"]), int(row["mode_first"]), int(row["u_start"])
            modes = slice(start, start + nm)
            coupling = m.mode["Mfr"][first : first + nm] @ V[b]
            out[i][modes] += coupling
            out[i][:, modes] += coupling.T
            out[i][modes, modes] += m.Mff[row["flex"], :nm, :nm]
    return out
