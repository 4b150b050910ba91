"""Beams, plates and finite-element matrices of a model file, into modal bodies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import numpy as np

from darts_py.multibody.tree import Array
from darts_py.spec.beam import STIFFNESS_KEYS, BeamSpec
from darts_py.spec.bodies import BeamBody, LumpedNode, MeshBody, PlateBody
from darts_py.spec.document import Path as DocumentPath
from darts_py.spec.faults import FaultLog, listing, suggest
from darts_py.spec.finite_elements import FiniteElementsSpec
from darts_py.spec.inertia import inertia_matrix
from darts_py.spec.mode_choice import ModeChoice
from darts_py.spec.plate import PlateSpec
from darts_py.spec.rotation import rotation_matrix
from darts_py.structures.beam import Beam, BeamModes, beam_body
from darts_py.structures.fe_body import FeModes, FeNode, finite_element_body
from darts_py.structures.fe_files import read_elements
from darts_py.structures.fe_units import FileUnits, in_si
from darts_py.structures.matrix_files import MatrixSource
from darts_py.structures.modal_body import LumpedMass, ModalBody, Place
from darts_py.structures.placement import in_mesh_axes, placed
from darts_py.structures.plate import Plate, PlateModes, plate_body
from darts_py.structures.reduction import Wanted
from darts_py.structures.refusal import Refusal, Refusals, StructureError
from darts_py.structures.section import (
    SHAPES,
    Material,
    Profile,
    Section,
    check_profile,
    check_walls,
    section_from_properties,
    section_from_shape,
)

MODE_KEYS = (
    "count",
    "up_to_hz",
    "inboard",
    "interfaces",
    "accept_unresolved",
    *STIFFNESS_KEYS,
)


def build_structure(
    path: DocumentPath, spec: BeamBody | PlateBody | MeshBody, folder: Path, log: FaultLog
) -> ModalBody | None:
    """Return the modal data of a body, or None with its faults noted."""
    if isinstance(spec, BeamBody):
        builder = _BeamBuilder(path, spec, log)
    elif isinstance(spec, PlateBody):
        builder = _PlateBuilder(path, spec, log)
    else:
        builder = _MeshBuilder(path, spec, folder, log)
    n_faults = len(log)
    builder.check_names()
    if len(log) > n_faults:
        return None
    try:
        return builder.build()
    except StructureError as error:
        for refusal in error.refusals:
            at, got = builder.place(refusal.key), builder.word(refusal)
            log.add(at, got, refusal.expected, refusal.hint, at_key=True)
    return None


def lumped_mass(node: LumpedNode) -> LumpedMass:
    """Return what hangs on a node."""
    Jc = inertia_matrix(node.inertia_kg_m2)
    return LumpedMass(node.mass_kg, node.center_of_mass_offset_m, Jc)


class _Builder(ABC):
    """What all sources share: where things are in the file, and which nodes modes refer to."""

    source = ""

    def __init__(
        self, path: DocumentPath, choice: ModeChoice, nodes: Mapping[str, LumpedNode], log: FaultLog
    ) -> None:
        self.path: DocumentPath = path
        self.at: DocumentPath = (*path, "flexible", self.source)
        self.choice = choice
        self.nodes = nodes
        self.log = log

    @abstractmethod
    def build(self) -> ModalBody:
        """Return the modal data; raises StructureError."""

    def place(self, key: str) -> DocumentPath:
        """Return where in the file a refusal belongs."""
        if key.startswith("nodes."):
            return (*self.path, "nodes", key.removeprefix("nodes."))
        if key in MODE_KEYS:
            return (*self.at, "modes", key)
        return (*self.at, key) if key else self.at

    def word(self, refusal: Refusal) -> str:
        """Return what was found, in words that say where its place alone does not."""
        return refusal.got

    def check_names(self) -> None:
        """Check the names of nodes that the choice of modes refers to."""
        if self.choice.inboard is not None:
            self.check_name(self.choice.inboard, ("inboard",))
        for k, name in enumerate(self.choice.interfaces or ()):
            self.check_name(name, ("interfaces", k))

    def check_name(self, name: str, key: DocumentPath) -> None:
        if name not in self.nodes:
            expected = f"one of {listing(self.nodes)}"
            hint = suggest(name, self.nodes)
            self.log.add((*self.at, "modes", *key), f"unknown node '{name}'", expected, hint)

    @property
    def wanted(self) -> Wanted:
        choice = self.choice
        return Wanted(choice.boundary, choice.count, choice.up_to_hz, choice.accept_unresolved)

    def interfaces(self, held: tuple[str, ...]) -> tuple[str, ...]:
        """Return the nodes with constraint modes: those named, or all that are not held."""
        if self.choice.boundary != "craig_bampton":
            return ()
        if self.choice.interfaces is not None:
            return self.choice.interfaces
        return tuple(name for name in self.nodes if name not in held)


class _BeamBuilder(_Builder):
    source = "beam"

    def __init__(self, path: DocumentPath, body: BeamBody, log: FaultLog) -> None:
        self.spec: BeamSpec = body.flexible.beam
        self.body = body
        super().__init__(path, self.spec.modes, body.nodes, log)

    def place(self, key: str) -> DocumentPath:
        """Return where in the file a refusal belongs."""
        if key in SHAPES.get(self.spec.section.shape if self.spec.section else "", ()):
            return (*self.at, "section", key)
        return super().place(key)

    def build(self) -> ModalBody:
        spec, modes = self.spec, self.spec.modes
        R = beam_axes(np.array(spec.direction), spec.section_y_axis)
        beam = Beam(spec.length_m, np.array(spec.root_m), R, self._section())
        places = [
            Place(name, np.array(node.position_m), lumped_mass(node))
            for name, node in self.body.nodes.items()
        ]
        held = (modes.inboard,) if modes.inboard else self._at_root(beam, places)
        return beam_body(
            beam,
            places,
            BeamModes(
                wanted=self.wanted,
                method=spec.method,
                elements=spec.elements,
                families=modes.by_family,
                inboard=modes.inboard,
                interfaces=self.interfaces(held),
                with_node_masses=modes.include_node_masses,
            ),
        )

    def _at_root(self, beam: Beam, places: list[Place]) -> tuple[str, ...]:
        return tuple(p.name for p in places if beam.station(p) <= 1e-9 * beam.length)

    def _section(self) -> Section:
        spec, log = self.spec, Refusals()
        if spec.material is not None and spec.section is not None:
            shape = spec.section.shape
            sizes = {key: _profile(getattr(spec.section, key)) for key in SHAPES[shape]}
            for key, profile in sizes.items():
                check_profile(key, profile, spec.length_m, log)
            check_walls(shape, sizes, log)
            log.settle()
            stuff = Material(
                spec.material.young_modulus_pa, spec.material.shear, spec.material.density_kg_m3
            )
            return section_from_shape(stuff, shape, sizes, bool(spec.rotary_inertia))
        keys = ["mass_kg_per_m", "polar_inertia_kg_m"]
        keys += [f"rotary_inertia_about_{axis}_kg_m" for axis in "yz"]
        found = {
            key: _profile(value)
            for key in [*keys, *STIFFNESS_KEYS.values()]
            if (value := getattr(spec, key)) is not None
        }
        for key, profile in found.items():
            check_profile(key, profile, spec.length_m, log)
        log.settle()
        none = Profile.constant(0.0)
        polar, about_y, about_z = (found.get(key, none) for key in keys[1:])
        stiffness = {name: found[key] for name, key in STIFFNESS_KEYS.items() if key in found}
        return section_from_properties(found[keys[0]], (polar, about_y, about_z), stiffness)


def _profile(value: object) -> Profile:
    if isinstance(value, tuple):
        table = np.array(cast("tuple[tuple[float, ...], ...]", value))
        return Profile(table[:, 0], table[:, 1])
    return Profile.constant(cast("float", value))


def beam_axes(direction: Array, section_y: tuple[float, ...] | None) -> Array:
    """Return beam axes by columns; without a y axis given, y is the body axis most across it."""
    x = direction / np.linalg.norm(direction)
    y = np.eye(3)[int(np.argmin(np.abs(x)))] if section_y is None else np.array(section_y)
    y = y - (y @ x) * x
    y = y / np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)


class _PlateBuilder(_Builder):
    source = "plate"

    def __init__(self, path: DocumentPath, body: PlateBody, log: FaultLog) -> None:
        self.spec: PlateSpec = body.flexible.plate
        self.body = body
        super().__init__(path, self.spec.modes, body.nodes, log)

    def check_names(self) -> None:
        super().check_names()
        for k, name in enumerate(self.spec.modes.inboard_points or ()):
            self.check_name(name, ("inboard_points", k))

    def build(self) -> ModalBody:
        spec, modes = self.spec, self.spec.modes
        places = [
            Place(name, np.array(node.position_m), lumped_mass(node))
            for name, node in self.body.nodes.items()
        ]
        plate = self._plate()
        held = modes.inboard_points or ((modes.inboard,) if modes.inboard else ())
        on_edge = tuple(p.name for p in places if not held and plate.on_root_edge(p))
        return plate_body(
            plate,
            places,
            PlateModes(
                wanted=self.wanted,
                elements=(spec.elements[0], spec.elements[1]),
                points=held,
                interfaces=self.interfaces(held or on_edge),
                with_node_masses=modes.include_node_masses,
            ),
        )

    def _plate(self) -> Plate:
        spec = self.spec
        x = np.array(spec.direction) / np.linalg.norm(spec.direction)
        z = np.array(spec.normal) - (np.array(spec.normal) @ x) * x
        z = z / np.linalg.norm(z)
        R = np.stack([x, np.cross(z, x), z], axis=1)
        if spec.thickness_m is not None:
            E, h = cast("float", spec.young_modulus_pa), spec.thickness_m
            bending = E * h**3 / (12.0 * (1.0 - spec.poisson_ratio**2))
            mass = cast("float", spec.density_kg_m3) * h
            rotary = mass * h**2 / 12.0 if spec.rotary_inertia else 0.0
        else:
            bending, mass = (
                cast("float", spec.bending_stiffness_n_m),
                cast("float", spec.areal_mass_kg_m2),
            )
            rotary = spec.rotary_inertia_kg or 0.0
        root = np.array(spec.root_m)
        return Plate(
            spec.length_m, spec.width_m, root, R, bending, spec.poisson_ratio, mass, rotary
        )


class _MeshBuilder(_Builder):
    source = "finite_elements"

    def __init__(self, path: DocumentPath, body: MeshBody, folder: Path, log: FaultLog) -> None:
        self.spec: FiniteElementsSpec = body.flexible.finite_elements
        self.body = body
        self.folder = folder
        super().__init__(path, self.spec.modes, body.nodes, log)

    def place(self, key: str) -> DocumentPath:
        """Return where in the file a refusal belongs."""
        if key in ("mass", "stiffness", "nodes"):
            return (*self.at, "file" if self.spec.file is not None else f"{key}_file")
        if key == "elements":
            return (*self.at, "modes", "up_to_hz" if self.choice.count is None else "count")
        return super().place(key)

    def word(self, refusal: Refusal) -> str:
        """Say which matrix it is where one file holds both."""
        if refusal.key in ("mass", "stiffness") and self.spec.file is not None:
            return f"in the {refusal.key} matrix: {refusal.got}"
        return refusal.got

    def build(self) -> ModalBody:
        spec, modes = self.spec, self.spec.modes
        together = spec.file or ""
        stiffness = MatrixSource(
            self.folder / (spec.stiffness_file or together), spec.stiffness_name or "stiffness"
        )
        mass = MatrixSource(self.folder / (spec.mass_file or together), spec.mass_name or "mass")
        model = read_elements(stiffness, mass, self.folder / (spec.nodes_file or together))
        model = in_si(model, FileUnits(spec.length_unit_m, spec.mass_unit_kg, spec.force_unit_n))
        R, origin = rotation_matrix(spec.rotation), np.array(spec.origin_m)
        nodes = [
            FeNode(
                name,
                node.fe_nodes if node.fe_nodes is not None else (cast("int", node.fe_node),),
                in_mesh_axes(lumped_mass(node), R),
            )
            for name, node in self.body.nodes.items()
        ]
        held = (modes.inboard,) if modes.inboard else ()
        choice = FeModes(
            wanted=self.wanted,
            lumped=spec.mass == "lumped",
            inboard=modes.inboard,
            interfaces=self.interfaces(held),
            with_node_masses=modes.include_node_masses,
        )
        body = finite_element_body(model, nodes, choice)
        is_there = np.array_equal(R, np.eye(3)) and not np.any(origin)
        return body if is_there else placed(body, R, origin)
