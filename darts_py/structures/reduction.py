"""From a discrete structure to a few modes: cantilever, free-free or Craig-Bampton.

The floating frame of the body carries its six rigid motions, so no set of modes here contains
one: cantilever and Craig-Bampton modes vanish at the inboard attachment, free-free modes are
mass-orthogonal to rigid motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg

from darts_py.multibody.tree import Array
from darts_py.structures.definite import eliminate
from darts_py.structures.eigenmodes import (
    MASSLESS,
    ZERO_ENERGY,
    Modes,
    fix_signs,
    modes_up_to,
    natural_modes,
    negative,
    singular,
)
from darts_py.structures.refusal import refuse
from darts_py.structures.resolution import require_resolution
from darts_py.structures.sparse import Sparse

Boundary = Literal["cantilever", "free_free", "craig_bampton"]

DEPENDENT = 1e-9  # of a column's size: what the others leave of it is rounding
MOST_MODES = 200  # of one body; the real-time frame is cubic in them where a body has children


@dataclass(frozen=True)
class Wanted:
    """Which modes: a boundary, and either a count or a frequency.

    Of Craig-Bampton sets this says how many fixed-interface modes join the constraint modes.
    """

    boundary: Boundary
    count: int | None = None
    up_to_hz: float | None = None
    accept_unresolved: bool = False  # take modes finer than the mesh


@dataclass(frozen=True)
class Attachment:
    """Freedoms of a structure that move with one attachment point."""

    dofs: Array  # indices                                                     (k,)
    motion: Array  # their values in the point's unit rotations, translations  (k, 6)


@dataclass(frozen=True)
class Structure:
    """A free elastic structure in coordinates x: strain energy x'Kx/2, kinetic energy v'Mv/2."""

    K: Sparse  # (n, n)
    M: Sparse  # (n, n)
    rigid: Array  # coordinates of the rigid motions; zero columns where it has none   (n, any)
    node: Array | None = None  # of each freedom; None: whether the mesh resolves is not judged (n,)


def reduce(
    structure: Structure,
    wanted: Wanted,
    inboard: Attachment | None,
    interfaces: Sequence[Attachment] = (),
) -> Modes:
    """Return the wanted modes as coordinates of the structure, lowest first, of unit mass.

    Args:
        structure: what is reduced.
        wanted: boundary, and count or frequency.
        inboard: what cantilever and Craig-Bampton modes hold.
        interfaces: where Craig-Bampton modes carry loads besides.
    """
    if wanted.boundary == "free_free":
        modes = _select(structure.K, structure.M, wanted, structure.rigid)
        _refuse_mechanisms(structure.K, modes)
        if structure.node is not None and not wanted.accept_unresolved:
            require_resolution(structure.K, structure.M, modes, structure.node)
        return modes
    if inboard is None:
        raise refuse("inboard", "nothing", f"a node that {wanted.boundary} modes hold")
    _require_hold(structure.rigid, inboard.dofs)
    if wanted.boundary == "cantilever":
        return _held(structure, wanted, inboard.dofs)
    return _craig_bampton(structure, wanted, inboard, interfaces)


def _select(K: Sparse, M: Sparse, wanted: Wanted, rigid: Array | None = None) -> Modes:
    if wanted.up_to_hz is not None:
        return modes_up_to(K, M, 2.0 * np.pi * wanted.up_to_hz, MOST_MODES, rigid)
    count = wanted.count or 0
    modes = natural_modes(K, M, count, rigid)
    if len(modes.omega2) < count:
        hint = "freedoms without mass, held freedoms and rigid motions make no modes"
        expected = f"at most {len(modes.omega2)}, all that there are"
        raise refuse("count", f"{count} modes", expected, hint)
    return modes


def _held(structure: Structure, wanted: Wanted, held: Array) -> Modes:
    free = np.setdiff1d(np.arange(structure.K.shape[0]), held)
    if len(free) == 0:
        raise refuse("inboard", "a node that holds every freedom", "freedoms that are left")
    K, M = structure.K[free][:, free], structure.M[free][:, free]
    modes = _select(K, M, wanted)
    _refuse_mechanisms(K, modes)
    if structure.node is not None and not wanted.accept_unresolved:
        require_resolution(K, M, modes, structure.node[free])
    X = np.zeros((structure.K.shape[0], modes.X.shape[1]))
    X[free] = modes.X
    return Modes(modes.omega2, X)


def _require_hold(rigid: Array, held: Array) -> None:
    """Refuse an inboard attachment that leaves a rigid motion free."""
    scale = np.linalg.norm(rigid, axis=0)
    unit = rigid[:, scale > 0.0] / scale[scale > 0.0]
    all_motions = int(np.linalg.matrix_rank(unit, tol=1e-9))
    stopped = int(np.linalg.matrix_rank(unit[held], tol=1e-9 * np.abs(unit).max()))
    if stopped < all_motions:
        got = f"a node that holds {stopped} of {all_motions} rigid motions"
        hint = "name nodes of the mesh that together hold all of them"
        raise refuse("inboard", got, "a node that holds the structure", hint)


def _refuse_mechanisms(K: Sparse, modes: Modes) -> None:
    """Refuse modes whose strain energy is rounding error."""
    size = np.abs(modes.X)
    most = np.einsum("ik,ik->k", size, abs(K) @ size)
    if np.any(modes.omega2 < -ZERO_ENERGY * most):
        raise negative()
    loose = np.flatnonzero(modes.omega2 <= ZERO_ENERGY * most)
    if len(loose):
        raise refuse(
            "stiffness",
            f"{len(loose)} motion{'s' if len(loose) > 1 else ''} without stiffness besides the "
            "rigid motions",
            "a structure that resists every motion but the six rigid ones",
            "a part hangs loose, or what is held does not hold the structure",
        )


def _craig_bampton(
    structure: Structure, wanted: Wanted, inboard: Attachment, interfaces: Sequence[Attachment]
) -> Modes:
    """Constraint modes of the interfaces plus modes with all attachments held (Craig 1968).

    The inboard attachment stays held in both: its own constraint modes differ from those of the
    others by rigid motions only, which the floating frame has. The set is made orthogonal by the
    small eigenvalue problem in it, which leaves its span as it is.
    """
    if not interfaces:
        hint = "name a node besides the inboard one, or use cantilever modes"
        raise refuse("interfaces", "none", "attachment nodes with constraint modes", hint)
    held = np.unique(np.concatenate([inboard.dofs, *(a.dofs for a in interfaces)]))
    constraint = _constraint_modes(structure.K, held, inboard, interfaces)
    normal = np.zeros((structure.K.shape[0], 0))
    if wanted.up_to_hz is not None or wanted.count:
        normal = _held(structure, wanted, held).X
    return _orthogonal(structure, np.hstack([constraint, normal]))


def _constraint_modes(
    K: Sparse, held: Array, inboard: Attachment, interfaces: Sequence[Attachment]
) -> Array:
    n = K.shape[0]
    moved = np.zeros((n, 6 * len(interfaces)))
    for k, attachment in enumerate(interfaces):
        if np.intersect1d(attachment.dofs, inboard.dofs).size:
            expected = "attachments that share no freedom"
            raise refuse("interfaces", "an interface that the inboard node holds", expected)
        moved[attachment.dofs, 6 * k : 6 * k + 6] = attachment.motion
    moved = moved[:, np.linalg.norm(moved, axis=0) > 0.0]
    inside = np.setdiff1d(np.arange(n), held)
    if len(inside):
        factors = eliminate(K[inside][:, inside])
        if factors is None or factors.is_singular:
            raise singular() if factors is None or not factors.n_negative else negative()
        moved[inside] = -factors.solve((K @ moved)[inside])
    return moved


def _orthogonal(structure: Structure, basis: Array) -> Modes:
    """Return the natural modes within the span of a basis that has no rigid motion."""
    basis = _independent(basis, structure.K)
    energy = np.einsum("ik,ik->k", basis, structure.K @ basis)
    _refuse_mechanisms(structure.K, Modes(energy, basis))
    basis = basis / np.sqrt(energy)
    K, M = basis.T @ (structure.K @ basis), basis.T @ (structure.M @ basis)
    _, T = scipy.linalg.eigh(0.5 * (K + K.T))
    combined = basis @ T
    energy = np.einsum("ik,ik->k", combined, structure.K @ combined)
    _refuse_mechanisms(structure.K, Modes(energy, combined))
    T = T / np.sqrt(energy)
    nu, U = scipy.linalg.eigh(T.T @ (0.5 * (M + M.T)) @ T)
    if nu[0] <= MASSLESS * nu[-1]:
        hint = "leave that node out of interfaces; or give it inertia, with include_node_masses"
        expected = "interfaces all of whose motions move mass"
        raise refuse("interfaces", "a constraint mode that moves no mass", expected, hint)
    order = np.argsort(-nu, kind="stable")
    X = basis @ (T @ U[:, order])
    X /= np.sqrt(np.einsum("ik,ik->k", X, structure.M @ X))
    return Modes(np.einsum("ik,ik->k", X, structure.K @ X), fix_signs(X))


def _independent(basis: Array, K: Sparse) -> Array:
    """Leave out columns that depend on others: attachments of collinear nodes have such.

    Freedoms are weighed by their stiffness, so that metres and radians compare.
    """
    scaled = np.sqrt(K.diagonal())[:, None] * basis
    scaled = scaled / np.linalg.norm(scaled, axis=0)
    factors: Any = scipy.linalg.qr(scaled, mode="r", pivoting=True)  # its stub knows another form
    R, order = factors
    kept = np.abs(np.diag(R)) > DEPENDENT
    return basis[:, np.sort(order[: len(kept)][kept])]
