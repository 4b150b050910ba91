"""Modes of one flexible body: as it is described, and held at its inboard hinge.

*As described*: the natural modes of its modal basis, (K, Mff), with the body frame at rest. For a
free-free basis these are the free-free modes, which carry no momentum; for a cantilever basis the
modes of the clamped body.

*Held at its hinge*: modal mass is Df = Hf Mm Hf^T (docs/equations.md 2, 9), which makes cantilever
and free-free descriptions of a structure comparable. Where no mode moves the hinge the two agree.

For modes x of unit modal mass the momentum per unit of modal rate is p = Mfr^T x, hinge held
p = mu^T x (six numbers); p_c^2 is the *effective mass* of the mode in direction c. What the modes
leave of the rigid mass matrix moves with the hinge: the residual, Mrr - mu^T Df^-1 mu = PR.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg

from darts_py.errors import ArgumentError
from darts_py.linear.body_motion import rigid_inertia
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft

TIE = 1e-6  # entries this close count as equally large when a sign is fixed
EPS = float(np.finfo(float).eps)
NOTHING = 1e12  # times the body's: a modal mass this large means that no node moves but by rounding
DIAGONAL = 1e-9  # off-diagonal entries, relative to the diagonal: less is rounding


@dataclass(frozen=True)
class BodyModes:
    """Natural modes of a body; directions are body axes, about the hinge."""

    body: str
    frequency_rad_s: Array  # ascending                                              (nm,)
    damping_ratio: Array  # nan for a mode without stiffness                         (nm,)
    modal_mass_kg: Array  # of a shape whose greatest nodal displacement is 1 m,
    #                       nan if it displaces no node                              (nm,)
    modal_inertia_kg_m2: Array  # of a shape whose greatest nodal rotation is 1 rad,
    #                             nan if it turns no node                            (nm,)
    shapes: Array  # columns over the body's modal coordinates, unit modal mass      (nm, nm)
    effective_mass_kg: Array  # along x, y, z                                        (nm, 3)
    effective_inertia_kg_m2: Array  # about x, y, z through the hinge                (nm, 3)
    mass_kg: float  # of the body
    inertia_kg_m2: Array  # of the body about the hinge, moments about x, y, z       (3,)
    moves_hinge: bool  # the modes as described move the node that the hinge holds
    coordinates: Array | None  # which modal coordinate is the mode by itself, from 0;
    #                            None where modes mix coordinates                    (nm,)

    @property
    def residual_mass_kg(self) -> Array:
        """Mass that no mode carries (3,)."""
        return self.mass_kg - np.sum(self.effective_mass_kg, axis=0)

    @property
    def residual_inertia_kg_m2(self) -> Array:
        """Moment of inertia that no mode carries (3,)."""
        return self.inertia_kg_m2 - np.sum(self.effective_inertia_kg_m2, axis=0)


class _Basis(NamedTuple):
    """A body's modal basis, hinge axes about the hinge."""

    mass: Array  # (nm, nm)
    stiffness: Array  # (nm, nm)
    damping: Array  # (nm, nm)
    momentum: Array  # angular, linear momentum of each coordinate  (nm, 6)
    nodal: Array  # rotation, displacement of each node             (n_nodes, nm, 6)


def body_modes(model: Spacecraft, body: str) -> BodyModes:
    """Return the modes of one flexible body held at its hinge.

    Args:
        model: what `load_model` returns.
        body: name of a flexible body.
    """
    b = _kernel_body(model, body)
    return _natural_modes(model, b, body, _held_basis(model, b))


def described_modes(model: Spacecraft, body: str) -> BodyModes:
    """Return the modes of one flexible body as it is described, its frame at rest.

    Args:
        model: what `load_model` returns.
        body: name of a flexible body.
    """
    b = _kernel_body(model, body)
    return _natural_modes(model, b, body, _described_basis(model, b))


def _kernel_body(model: Spacecraft, body: str) -> int:
    flexible = [b.name for b in model.tree.bodies if b.n_modes]
    if body not in flexible:
        hint = f"there are: {', '.join(flexible[:8])}" if flexible else "the model has none"
        expected = "the name of a flexible body"
        raise ArgumentError("body", got=repr(body), expected=expected, hint=hint)
    return int(model.kernel_body[[b.name for b in model.tree.bodies].index(body)])


def _described_basis(model: Spacecraft, b: int) -> _Basis:
    m, row = model.arrays, model.arrays.body[b]
    nm, f, first = int(row["n_modes"]), int(row["flex"]), int(row["mode_first"])
    return _Basis(
        mass=m.Mff[f, :nm, :nm],
        stiffness=m.K[f, :nm, :nm],
        damping=m.Dm[f, :nm, :nm],
        momentum=m.mode["Mfr"][first : first + nm],
        nodal=m.node_Pi[m.node["body"] == b, :nm],
    )


def _held_basis(model: Spacecraft, b: int) -> _Basis:
    """Return the basis with every shape carried back by its own motion of the hinge, Pd."""
    m, row = model.arrays, model.arrays.body[b]
    nm, f = int(row["n_modes"]), int(row["flex"])
    modes = m.mode[int(row["mode_first"]) :][:nm]
    Pd, described = modes["Pd"], _described_basis(model, b)
    r = m.node["r"][m.node["body"] == b]  # (n_nodes, 3), from the hinge
    carried = np.zeros(described.nodal.shape)
    carried[:, :, :3] = Pd[:, :3]
    carried[:, :, 3:] = Pd[None, :, 3:] + np.cross(Pd[None, :, :3], r[:, None, :])
    return described._replace(
        mass=m.Df[f, :nm, :nm], momentum=modes["mu"], nodal=described.nodal - carried
    )


def _natural_modes(model: Spacecraft, b: int, body: str, basis: _Basis) -> BodyModes:
    row = model.arrays.body[b]
    R, rigid = row["R_FC"].reshape(3, 3), rigid_inertia(model, b)
    natural = _is_diagonal(basis.mass) and _is_diagonal(basis.stiffness)
    w2, X = _own_modes(basis) if natural else linalg.eigh(basis.stiffness, basis.mass)
    w2[w2 <= w2.size * EPS * np.max(np.abs(w2))] = 0.0  # no stiffness, but for rounding
    w, X = np.sqrt(w2), X * _signs(X)
    p, inertia = X.T @ basis.momentum, np.diag(R @ rigid[:3, :3] @ R.T).copy()
    nodal = np.einsum("nkc,kj->njc", basis.nodal, X)
    return BodyModes(
        body=body,
        frequency_rad_s=w,
        damping_ratio=np.diag(X.T @ basis.damping @ X) / np.where(w > 0.0, 2.0 * w, math.nan),
        modal_mass_kg=_modal_masses(nodal[:, :, 3:], rigid[3, 3]),
        modal_inertia_kg_m2=_modal_masses(nodal[:, :, :3], np.sum(inertia)),
        shapes=X,
        effective_mass_kg=(p[:, 3:] @ R.T) ** 2,
        effective_inertia_kg_m2=(p[:, :3] @ R.T) ** 2,
        mass_kg=float(rigid[3, 3]),
        inertia_kg_m2=inertia,
        moves_hinge=bool(np.any(model.arrays.mode["Pd"][int(row["mode_first"]) :][: w.size])),
        coordinates=np.argmax(np.abs(X), axis=0) if natural else None,
    )


def _own_modes(basis: _Basis) -> tuple[Array, Array]:
    """Return squared frequencies and shapes where every coordinate is a natural mode."""
    mass = np.diag(basis.mass)
    w2 = np.diag(basis.stiffness) / mass
    order = np.arange(w2.size)
    if np.any(np.diff(w2) < -TIE * w2[:-1]):  # equal ones keep their order
        order = np.argsort(w2, kind="stable")
    return w2[order], np.diag(1.0 / np.sqrt(mass))[:, order]


def _signs(X: Array) -> Array:
    """Return the signs that make the first greatest entry of each column positive."""
    size = np.abs(X)
    first = np.argmax(size >= (1.0 - TIE) * np.max(size, axis=0), axis=0)
    return np.where(X[first, np.arange(X.shape[1])] < 0.0, -1.0, 1.0)


def _is_diagonal(matrix: Array) -> bool:
    size = np.sqrt(np.abs(np.diag(matrix)))
    off = np.abs(matrix - np.diag(np.diag(matrix)))
    return bool(np.all(off <= DIAGONAL * np.outer(size, size)))


def _modal_masses(motion: Array, whole: float) -> Array:
    """Return 1 / (greatest nodal motion)^2 of shapes of unit modal mass; nan where no node moves.

    Args:
        motion: displacement or rotation of the nodes in each mode (n_nodes, nm, 3).
        whole: the body's mass or inertia.
    """
    most = np.max(np.linalg.norm(motion, axis=2), axis=0, initial=0.0)
    moves = most**2 * whole > 1.0 / NOTHING
    return 1.0 / np.where(moves, most, math.nan) ** 2
