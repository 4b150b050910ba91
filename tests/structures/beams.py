"""Beams that several tests use."""

from __future__ import annotations

import numpy as np

from darts_py.structures.beam import Beam, BeamModes, beam_body
from darts_py.structures.modal_body import LumpedMass, ModalBody, Place
from darts_py.structures.reduction import Wanted
from darts_py.structures.section import Profile, Section, section_from_properties

LENGTH, MASS, POLAR = 6.0, 2.0, 0.03
STIFFNESS = {
    "stretch": 1e6,
    "torsion": 500.0,
    "bending_about_y": 900.0,
    "bending_about_z": 400.0,
}


def constant_section(
    mass: float = MASS,
    inertia: tuple[float, float, float] = (POLAR, 0.0, 0.0),
    stiffness: dict[str, float] | None = None,
) -> Section:
    stiffness = STIFFNESS if stiffness is None else stiffness
    a, b, c = (Profile.constant(value) for value in inertia)
    profiles = {key: Profile.constant(value) for key, value in stiffness.items()}
    return section_from_properties(Profile.constant(mass), (a, b, c), profiles)


def turned() -> np.ndarray:
    """A rotation without any symmetry."""
    Q, _ = np.linalg.qr(np.array([[1.0, 0.4, -0.3], [0.2, 1.0, 0.6], [0.5, -0.7, 1.0]]))
    return Q * np.sign(np.linalg.det(Q))


def uniform(section: Section | None = None, root: tuple[float, ...] = (0.3, -0.2, 0.5)) -> Beam:
    return Beam(LENGTH, np.array(root), turned(), section or constant_section())


def places(beam: Beam, *fractions: float, tip: LumpedMass | None = None) -> list[Place]:
    """Nodes at fractions of the length, the last one with a mass."""
    points = [beam.root + f * beam.length * beam.R[:, 0] for f in fractions]
    last = len(points) - 1
    return [
        Place(f"n{k}", r, tip if tip is not None and k == last else LumpedMass())
        for k, r in enumerate(points)
    ]


def body(beam: Beam, boundary: str, count: int = 8, **options) -> ModalBody:
    nodes = options.pop("nodes", None) or places(beam, 0.0, 1.0)
    return beam_body(beam, nodes, BeamModes(Wanted(boundary, count), **options))  # type: ignore[arg-type]


def omega(modal: ModalBody) -> np.ndarray:
    return np.sqrt(np.diag(modal.K))
