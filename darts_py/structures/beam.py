"""A straight Euler-Bernoulli beam in modal form: geometry, choice of modes, integrals.

`beam_elements` and `beam_analytic` supply shapes; here they become a modal body.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from darts_py.multibody.tree import Array
from darts_py.structures.beam_analytic import analytic_shapes
from darts_py.structures.beam_elements import BeamElements, gauss_points
from darts_py.structures.modal_body import ModalBody, Place, node_masses
from darts_py.structures.reduction import MOST_MODES, Attachment, Structure, Wanted, reduce
from darts_py.structures.refusal import refuse
from darts_py.structures.samples import Samples, integrate
from darts_py.structures.section import Section

ON_AXIS = 1e-6  # of the length: nodes are typed by hand


@dataclass(frozen=True)
class Beam:
    """A straight beam; x along it, y and z the principal axes of its section."""

    length: float
    root: Array  # its end at station 0, body axes              (3,)
    R: Array  # beam axes to body axes                          (3, 3)
    section: Section

    def station(self, place: Place) -> float:
        """Return where on the axis a node is; refuses one that is not on it."""
        x, y, z = self.R.T @ (place.r - self.root)
        off = max(np.hypot(y, z), -x, x - self.length)
        if off > ON_AXIS * self.length:
            hint = "a joint or device beside it gets an offset of its own"
            got = f"a point {off:g} m away from the beam"
            raise refuse(f"nodes.{place.name}", got, "a point on its axis", hint)
        return float(np.clip(x, 0.0, self.length))


@dataclass(frozen=True)
class BeamModes:
    """Which modes of a beam are wanted."""

    wanted: Wanted
    method: str = "finite_elements"  # or `analytic`
    elements: int = 32
    families: Mapping[str, int] | None = None  # counts by family, in place of the count in `wanted`
    inboard: str | None = None  # node that is held; None: the root
    interfaces: Sequence[str] = ()
    with_node_masses: bool = False


# slope and displacement of every mode at stations, beam axes: (s, 6, nm)
Shapes = Callable[[Array], Array]


def beam_body(beam: Beam, places: Sequence[Place], modes: BeamModes) -> ModalBody:
    """Return the beam in modal form, with its named nodes."""
    stations = np.array([beam.station(place) for place in places])
    for family in modes.families or {}:
        if family not in beam.section.families:
            got, hint = f"modes in {family}", "give the stiffness of this motion"
            raise refuse(family, got, f"some of {', '.join(beam.section.families)}", hint)
    if modes.method == "analytic":
        omega2, shapes = _analytic(beam, modes)
        panels = np.linspace(0.0, beam.length, 4 * max(len(omega2), 4) + 1)
    else:
        omega2, shapes, panels = _elements(beam, places, stations, modes)
    if len(omega2) == 0:
        raise refuse("modes", "no mode", "at least one", "choose a count or a higher frequency")
    Pi = _turn(beam.R, shapes(stations))
    nodes = tuple(place.node(Pi[k]) for k, place in enumerate(places))
    return ModalBody(nodes, np.diag(omega2), integrate(_samples(beam, shapes, panels)))


def _turn(R: Array, Pi: Array) -> Array:
    return np.concatenate([R @ Pi[:, :3], R @ Pi[:, 3:]], axis=1)


def _samples(beam: Beam, shapes: Shapes, panels: Array) -> Samples:
    s, weight = gauss_points(panels)
    values, Pi = beam.section.values(s), _turn(beam.R, shapes(s))
    rotary = (weight[:, None] * values.inertia)[:, :, None] * np.eye(3)
    r = beam.root + s[:, None] * beam.R[:, 0]
    return Samples(r, weight * values.mass, beam.R @ rotary @ beam.R.T, Pi[:, 3:], Pi[:, :3])


def _analytic(beam: Beam, modes: BeamModes) -> tuple[Array, Shapes]:
    if not beam.section.is_uniform:
        hint = "use method: finite_elements"
        raise refuse("method", "analytic modes of a tapered beam", "a uniform beam", hint)
    if modes.with_node_masses:
        hint = "use method: finite_elements"
        raise refuse("method", "analytic modes with masses on nodes", "a bare beam", hint)
    if modes.inboard is not None:
        hint = "analytic modes are held at station 0; leave inboard out"
        raise refuse("inboard", f"'{modes.inboard}'", "none with method: analytic", hint)
    if modes.wanted.accept_unresolved:
        hint = "closed forms have no mesh; leave it out"
        raise refuse("accept_unresolved", "true", "none with method: analytic", hint)
    values = beam.section.values(np.zeros(1))
    return analytic_shapes(values, beam.length, modes.wanted, modes.families)


def _elements(
    beam: Beam, places: Sequence[Place], stations: Array, modes: BeamModes
) -> tuple[Array, Shapes, Array]:
    known = {place.name: k for k, place in enumerate(places)}
    grid = beam_grid(beam, stations, modes.elements)
    mesh = BeamElements(grid, beam.section)
    M = mesh.M
    if modes.with_node_masses:
        at_nodes = mesh.motion_maps(stations, beam.R)
        M = M + node_masses(places, at_nodes, mesh.n)
    structure = Structure(mesh.K, M, mesh.rigid)
    root = 0.0 if modes.inboard is None else stations[known[modes.inboard]]
    inboard = mesh.attachment(root)
    interfaces = [mesh.attachment(stations[known[name]]) for name in modes.interfaces]
    if modes.families is None:
        X = reduce(structure, modes.wanted, inboard, interfaces).X
    else:
        X = _by_family(structure, mesh, modes, inboard)
    if X.shape[1] > MOST_MODES:
        raise refuse("modes", f"{X.shape[1]} modes", f"at most {MOST_MODES}")
    if not modes.wanted.accept_unresolved:
        _require_resolution(mesh, X, modes.elements)
    return mesh.energies(X), lambda s: mesh.shapes(s, X), grid


def _by_family(
    structure: Structure, mesh: BeamElements, modes: BeamModes, inboard: Attachment
) -> Array:
    """Solve each family on its own; the masses on nodes must not couple them."""
    if modes.with_node_masses:
        hint = "give count or up_to_hz instead of counts by family"
        got = "counts by family with masses on nodes"
        raise refuse("modes", got, "modes of the bare beam", hint)
    squares: list[Array] = []
    shapes: list[Array] = []
    for family, count in (modes.families or {}).items():
        if count == 0:
            continue
        dofs = mesh.family_dofs(family)
        part = Structure(
            structure.K[dofs][:, dofs], structure.M[dofs][:, dofs], structure.rigid[dofs]
        )
        held = Attachment(np.flatnonzero(np.isin(dofs, inboard.dofs)), np.zeros((0, 6)))
        found = reduce(part, Wanted(modes.wanted.boundary, count), held)
        X = np.zeros((mesh.n, count))
        X[dofs] = found.X
        squares.append(found.omega2)
        shapes.append(X)
    if not squares:
        return np.zeros((mesh.n, 0))
    order = np.argsort(np.concatenate(squares), kind="stable")
    return np.hstack(shapes)[:, order]


def _require_resolution(mesh: BeamElements, X: Array, elements: int) -> None:
    """Refuse more modes of a family than there are elements: their shapes would be noise."""
    shares = np.array([(X[mesh.family_dofs(name)] ** 2).sum(axis=0) for name in mesh.families])
    family = np.argmax(shares, axis=0)
    for k, name in enumerate(mesh.families):
        n = int(np.count_nonzero(family == k))
        if n > elements:
            got = f"{n} modes in {name} of {elements} elements"
            raise refuse("elements", got, "at least as many elements as modes of one family")


def beam_grid(beam: Beam, stations: Array, elements: int) -> Array:
    """Return element boundaries: about `elements` of equal length, with all special stations."""
    L = beam.length
    marks = np.concatenate([[0.0, L], stations, np.clip(beam.section.breaks, 0.0, L)])
    marks = np.unique(marks)
    kept = [0.0]
    for mark in marks[1:]:  # stations closer than rounding are one
        if mark - kept[-1] > 1e-9 * L:
            kept.append(float(mark))
    kept[-1] = L
    pieces = [np.zeros(1)]
    for a, b in itertools.pairwise(kept):
        n = max(1, round(elements * (b - a) / L))
        pieces.append(a + (b - a) * np.arange(1, n + 1) / n)
    return np.concatenate(pieces)
