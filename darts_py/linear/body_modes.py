"""Modes of one flexible body held at its inboard hinge, and the mass that goes with each.

With the hinge held, modal mass is Df = Hf Mm Hf^T and stiffness K (docs/equations.md 2, 9), which
makes cantilever and free-free descriptions of a structure comparable. For modes x with
x^T Df x = 1 the reaction at the hinge per unit of modal acceleration is p = mu x (six numbers);
p_c^2 is the *effective mass* of the mode in direction c. What the modes leave of the rigid mass
matrix, Mrr - mu Df^-1 mu^T = PR, moves with the hinge: the residual.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from darts_py.errors import ArgumentError
from darts_py.linear.body_motion import rigid_inertia
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft

TIE = 1e-6


@dataclass(frozen=True)
class BodyModes:
    """Natural modes of a body held at its hinge; directions are body axes, about the hinge."""

    body: str
    frequency_rad_s: Array  # ascending                                              (nm,)
    damping_ratio: Array  # nan for a mode without stiffness                         (nm,)
    modal_mass_kg: Array  # of a shape whose greatest nodal displacement is 1 m,
    #                       nan if no node is displaced                              (nm,)
    shapes: Array  # columns over the body's modal coordinates, unit modal mass      (nm, nm)
    effective_mass_kg: Array  # along x, y, z                                        (nm, 3)
    effective_inertia_kg_m2: Array  # about x, y, z through the hinge                (nm, 3)
    mass_kg: float  # of the body
    inertia_kg_m2: Array  # of the body about the hinge, moments about x, y, z       (3,)

    @property
    def residual_mass_kg(self) -> Array:
        """Mass that no mode carries (3,)."""
        return self.mass_kg - np.sum(self.effective_mass_kg, axis=0)

    @property
    def residual_inertia_kg_m2(self) -> Array:
        """Moment of inertia that no mode carries (3,)."""
        return self.inertia_kg_m2 - np.sum(self.effective_inertia_kg_m2, axis=0)


def body_modes(model: Spacecraft, body: str) -> BodyModes:
    """Return the modes of one flexible body held at its hinge.

    Args:
        model: what `load_model` returns.
        body: name of a flexible body.
    """
    flexible = [b.name for b in model.tree.bodies if b.n_modes]
    if body not in flexible:
        hint = f"there are: {', '.join(flexible[:8])}" if flexible else "the model has none"
        expected = "the name of a flexible body"
        raise ArgumentError("body", got=repr(body), expected=expected, hint=hint)
    i = [b.name for b in model.tree.bodies].index(body)
    b, m = int(model.kernel_body[i]), model.arrays
    row = m.body[b]
    nm, f, first = int(row["n_modes"]), int(row["flex"]), int(row["mode_first"])
    modes = m.mode[first : first + nm]
    w2, X = linalg.eigh(m.K[f, :nm, :nm], m.Df[f, :nm, :nm])
    w = np.sqrt(np.maximum(w2, 0.0))
    X = X * _signs(X)
    R = row["R_FC"].reshape(3, 3)
    p, rigid = X.T @ modes["mu"], rigid_inertia(model, b)
    damping = np.diag(X.T @ m.Dm[f, :nm, :nm] @ X)
    return BodyModes(
        body=body,
        frequency_rad_s=w,
        damping_ratio=damping / np.where(w > 0.0, 2.0 * w, math.nan),
        modal_mass_kg=_modal_masses(model, b, modes["Pd"], X),
        shapes=X,
        effective_mass_kg=(p[:, 3:] @ R.T) ** 2,
        effective_inertia_kg_m2=(p[:, :3] @ R.T) ** 2,
        mass_kg=float(rigid[3, 3]),
        inertia_kg_m2=np.diag(R @ rigid[:3, :3] @ R.T).copy(),
    )


def _signs(X: Array) -> Array:
    """Return the signs that make the first greatest entry of each column positive."""
    size = np.abs(X)
    first = np.argmax(size >= (1.0 - TIE) * np.max(size, axis=0), axis=0)
    return np.where(X[first, np.arange(X.shape[1])] < 0.0, -1.0, 1.0)


def _modal_masses(model: Spacecraft, b: int, Pd: Array, X: Array) -> Array:
    """Return 1 / (greatest nodal displacement)^2 of modes of unit modal mass, hinge held."""
    m, nm = model.arrays, X.shape[0]
    rows = np.flatnonzero(m.node["body"] == b)
    r = m.node["r"][rows]  # (nodes, 3), from the hinge
    held = Pd[None, :, 3:] + np.cross(Pd[None, :, :3], r[:, None, :])
    shapes = np.einsum("nkc,kj->njc", m.node_Pi[rows, :nm, 3:] - held, X)
    most = np.max(np.linalg.norm(shapes, axis=2), axis=0, initial=0.0)
    return 1.0 / np.where(most > 0.0, most, math.nan) ** 2
