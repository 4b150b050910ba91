"""A rectangular Kirchhoff plate in modal form, by C1 finite elements of scikit-fem.

Bogner-Fox-Schmit quadrilaterals: bicubic, with w, w_x, w_y, w_xy at every corner, exact rigid
motions. Plate axes: x along the length from the root edge, y along the width from its middle, z the
normal. The plate bends along z and is rigid in its plane.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from skfem import Basis, BilinearForm, ElementQuadBFS, MeshQuad, asm
from skfem.helpers import dd, ddot, dot, trace

from darts_py.multibody.tree import Array
from darts_py.structures.modal_body import ModalBody, Place, node_masses
from darts_py.structures.reduction import Attachment, Structure, Wanted, reduce
from darts_py.structures.refusal import refuse
from darts_py.structures.samples import Samples, integrate
from darts_py.structures.sparse import Sparse

ON_PLATE = 1e-6  # of the length: nodes are typed by hand
ORDER = 7  # of the quadrature: bicubic shapes have squares of degree 6 in each direction


@dataclass(frozen=True)
class Plate:
    """A flat rectangular plate of one make."""

    length: float
    width: float
    root: Array  # middle of the root edge, body axes       (3,)
    R: Array  # plate axes to body axes                     (3, 3)
    D: float  # bending stiffness, N m
    nu: float  # Poisson's ratio
    mass: float  # kg/m^2
    rotary: float  # rotary inertia about an edge, kg

    def point(self, place: Place) -> Array:
        """Return x, y of a node, from the middle; refuses one that is not on the plate."""
        x, y, z = self.R.T @ (place.r - self.root)
        off = max(abs(z), -x, x - self.length, abs(y) - 0.5 * self.width)
        if off > ON_PLATE * self.length:
            hint = "a joint or device beside it gets an offset of its own"
            got = f"a point {off:g} m away from the plate"
            raise refuse(f"nodes.{place.name}", got, "a point on its middle plane", hint)
        size = np.array([0.5 * self.length, 0.5 * self.width])
        return np.clip(np.array([x - size[0], y]), -size, size)

    def on_root_edge(self, place: Place) -> bool:
        """Whether a node lies on the root edge."""
        return bool(self.point(place)[0] + 0.5 * self.length <= ON_PLATE * self.length)


@dataclass(frozen=True)
class PlateModes:
    """Which modes of a plate are wanted."""

    wanted: Wanted
    elements: tuple[int, int] = (12, 12)
    points: Sequence[str] = ()  # nodes that are clamped; none: the root edge is
    interfaces: Sequence[str] = ()
    with_node_masses: bool = False


def plate_body(plate: Plate, places: Sequence[Place], modes: PlateModes) -> ModalBody:
    """Return the plate in modal form, with its named nodes."""
    points = {place.name: plate.point(place) for place in places}
    pinned = [points[name] for name in (*modes.points, *modes.interfaces)]
    mesh = _PlateMesh(plate, modes.elements, pinned)
    maps = mesh.motion_maps([points[place.name] for place in places])
    M = mesh.M
    if modes.with_node_masses:
        M = sp.csr_array(M + node_masses(places, maps, mesh.n))
    corners = {name: mesh.corner(points[name]) for name in (*modes.points, *modes.interfaces)}
    if modes.points:
        dofs = np.concatenate([corners[name].dofs for name in modes.points])
        inboard = Attachment(np.unique(dofs), np.zeros((0, 6)))
    else:
        inboard = mesh.root_edge()
    interfaces = [corners[name] for name in modes.interfaces]
    structure = Structure(mesh.K, M, mesh.rigid, np.arange(mesh.n))
    X = reduce(structure, modes.wanted, inboard, interfaces).X
    if X.shape[1] == 0:
        raise refuse("modes", "no mode", "at least one", "choose a count or a higher frequency")
    nodes = tuple(place.node(T @ X) for place, T in zip(places, maps, strict=True))
    return ModalBody(nodes, np.diag(mesh.energies(X)), integrate(mesh.samples(X)))


@BilinearForm
def _bending(u, v, w):
    """D ((1 - nu) w_,ab w_,ab + nu (lap w)^2)."""
    H, G = cast("Any", dd(u)), cast("Any", dd(v))
    return w["D"] * ((1.0 - w["nu"]) * ddot(H, G) + w["nu"] * trace(H) * trace(G))


@BilinearForm
def _inertia(u, v, w):
    return w["mass"] * u * v + w["rotary"] * dot(u.grad, v.grad)


class _PlateMesh:
    """Matrices and shape functions of one plate.

    Its coordinates begin at the middle of the plate: scikit-fem makes the shape functions from
    monomials of them, and loses digits with the sixth power of distance over element size.
    """

    def __init__(self, plate: Plate, elements: tuple[int, int], pinned: Sequence[Array]) -> None:
        self.plate = plate
        sides = [
            _grid(-0.5 * size, 0.5 * size, elements[k], [point[k] for point in pinned])
            for k, size in enumerate((plate.length, plate.width))
        ]
        self.mesh: Any = MeshQuad.init_tensor(*sides)
        self.basis: Any = Basis(self.mesh, ElementQuadBFS(), intorder=ORDER)
        self.n = int(self.basis.N)
        make = {"D": plate.D, "nu": plate.nu, "mass": plate.mass, "rotary": plate.rotary}
        self.K = _symmetric(asm(_bending, self.basis, D=make["D"], nu=make["nu"]))
        self.M = _symmetric(asm(_inertia, self.basis, mass=make["mass"], rotary=make["rotary"]))
        self.rigid = self._rigid()

    def _rigid(self) -> Array:
        """Freedoms in the plate's rigid motions: rotation about x, about y, translation along z."""
        x, y = self.mesh.p
        R = np.zeros((self.n, 3))
        w, w_x, w_y, _ = self.basis.nodal_dofs
        R[w, 0], R[w_y, 0] = y, 1.0
        R[w, 1], R[w_x, 1] = -x, -1.0
        R[w, 2] = 1.0
        return R

    def root_edge(self) -> Attachment:
        """Return the freedoms of the clamped root edge: w and w_x are zero all along it."""
        on_edge = np.flatnonzero(self.mesh.p[0] == self.mesh.p[0].min())
        return Attachment(np.sort(self.basis.nodal_dofs[:, on_edge].ravel()), np.zeros((0, 6)))

    def corner(self, point: Array) -> Attachment:
        """Return the freedoms of the mesh's corner at a point: w, w_x, w_y; the twist is free."""
        k = int(np.argmin(np.hypot(*(self.mesh.p - point[:, None]))))
        dofs = self.basis.nodal_dofs[:3, k]
        motion = np.zeros((3, 6))  # of w, w_x = -theta_y, w_y = theta_x, plate axes
        motion[0, 5], motion[1, 1], motion[2, 0] = 1.0, -1.0, 1.0
        return Attachment(dofs, motion)

    def motion_maps(self, points: Sequence[Array]) -> list[Sparse]:
        """Return for each point the map from freedoms to slope, displacement in body axes."""
        x = np.array(points).T
        cells, mapping = self.mesh.element_finder()(*x), self.mesh.mapping()
        local = np.clip(mapping.invF(x[:, :, None], tind=cells), 0.0, 1.0)
        columns = self.basis.element_dofs[:, cells]
        T = np.zeros((len(cells), 3, 2, len(columns)))  # slope (w_y, -w_x, 0), displacement w
        for k in range(len(columns)):
            (field,) = self.basis.elem.gbasis(mapping, local, k, tind=cells)
            T[:, 0, 0, k], T[:, 1, 0, k] = field.grad[1, :, 0], -field.grad[0, :, 0]
            T[:, 2, 1, k] = np.asarray(field)[:, 0]
        T[np.abs(T) < 1e-10 * np.abs(T).max(axis=-1, keepdims=True)] = 0.0  # exact on edges
        maps = []
        for k in range(len(cells)):
            out = np.zeros((6, self.n))
            out[:3, columns[:, k]] = self.plate.R @ T[k, :, 0]
            out[3:, columns[:, k]] = self.plate.R @ T[k, :, 1]
            maps.append(sp.csr_array(out))
        return maps

    def energies(self, X: Array) -> Array:
        """Return twice the strain energy of every column of X, from its curvatures.

        Curvatures lose fewer digits than x^T K x, which takes differences of large forces.
        """
        D, nu = self.plate.D, self.plate.nu
        found = np.zeros(X.shape[1])
        for k, x in enumerate(X.T):
            H = self.basis.interpolate(x).hess
            square = (1.0 - nu) * np.einsum("ab...,ab...", H, H) + nu * (H[0, 0] + H[1, 1]) ** 2
            found[k] = D * np.sum(square * self.basis.dx)
        return found

    def samples(self, X: Array) -> Samples:
        """Return mass and motion at the quadrature points."""
        R, plate = self.plate.R, self.plate
        x, y = np.asarray(self.basis.global_coordinates()).reshape(2, -1)
        area = self.basis.dx.ravel()
        phi, psi = np.zeros((2, len(area), 3, X.shape[1]))
        for k, column in enumerate(X.T):
            field = self.basis.interpolate(column)
            grad = np.asarray(field.grad).reshape(2, -1)
            phi[:, :, k] = np.asarray(field).ravel()[:, None] * R[:, 2]
            psi[:, :, k] = grad[1][:, None] * R[:, 0] - grad[0][:, None] * R[:, 1]
        x = x + 0.5 * plate.length
        r = plate.root + x[:, None] * R[:, 0] + y[:, None] * R[:, 1]
        rotary = plate.rotary * (R @ np.diag([1.0, 1.0, 2.0]) @ R.T)
        return Samples(r, plate.mass * area, area[:, None, None] * rotary, phi, psi)


def _grid(low: float, high: float, elements: int, pinned: Sequence[float]) -> Array:
    """Return about `elements` equal steps with a grid line through every pinned value."""
    close = 1e-9 * (high - low)
    marks = [low]
    for mark in np.unique([*pinned, high]):
        if mark - marks[-1] > close:
            marks.append(float(mark))
    marks[-1] = high
    pieces = [np.array([low])]
    for a, b in itertools.pairwise(marks):
        n = max(1, round(elements * (b - a) / (high - low)))
        pieces.append(a + (b - a) * np.arange(1, n + 1) / n)
    return np.concatenate(pieces)


def _symmetric(A: Sparse) -> Sparse:
    A = sp.csr_array(0.5 * (A + A.T))
    A.eliminate_zeros()
    return A
