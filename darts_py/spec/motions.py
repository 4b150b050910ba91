"""The joint words of a model file: what each may say, and the stages it becomes.

A motion is a joint without its attachment, so the same classes serve as joints and as the
stages of a compound joint.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Len
from pydantic import Field, Strict, model_validator
from typing_extensions import override

from darts_py.errors import Fault, ModelError
from darts_py.multibody import joint_types
from darts_py.multibody.joint_types import Stages
from darts_py.spec.fields import Axis, Number, Spec, Vector, refuse
from darts_py.spec.maps import admissible
from darts_py.spec.passive import (
    AngleElements,
    BallElements,
    NumberElements,
    Passive,
    SlideElements,
)

TwoAxes = Annotated[tuple[Axis, ...], Strict(False), Len(2, 2)]


JointMap = Annotated[
    tuple[Vector, ...], Strict(False), Len(6, 6), admissible(joint_types.constant_map)
]


class Motion(Spec, ABC):
    """What a joint lets its child do."""

    @abstractmethod
    def as_stages(self) -> Stages:
        """Return the stages, from the parent outward; inadmissible ones raise ModelError."""

    @abstractmethod
    def as_passives(self) -> list[Passive]:
        """Return the passive elements of each speed."""


class Fixed(Motion):
    """No motion: the hinge frames coincide."""

    type: Literal["fixed"]

    @override
    def as_stages(self) -> Stages:
        return joint_types.fixed()

    @override
    def as_passives(self) -> list[Passive]:
        return []


class Revolute(AngleElements, Motion):
    """Turn about an axis."""

    type: Literal["revolute"]
    axis: Axis

    @override
    def as_stages(self) -> Stages:
        return joint_types.revolute(self.axis)

    @override
    def as_passives(self) -> list[Passive]:
        return [self.passive()]


class Prismatic(SlideElements, Motion):
    """Slide along an axis."""

    type: Literal["prismatic"]
    axis: Axis

    @override
    def as_stages(self) -> Stages:
        return joint_types.prismatic(self.axis)

    @override
    def as_passives(self) -> list[Passive]:
        return [self.passive()]


class Screw(AngleElements, Motion):
    """Turn about an axis and advance along it."""

    type: Literal["screw"]
    axis: Axis
    pitch_m_per_rad: Number

    @override
    def as_stages(self) -> Stages:
        return joint_types.screw(self.axis, self.pitch_m_per_rad)

    @override
    def as_passives(self) -> list[Passive]:
        return [self.passive()]


class CylindricalCoordinates(Spec):
    """Passive elements by coordinate."""

    angle: AngleElements = AngleElements()
    slide: SlideElements = SlideElements()


class Cylindrical(Motion):
    """Turn about an axis and, independently, slide along it."""

    type: Literal["cylindrical"]
    axis: Axis
    coordinates: CylindricalCoordinates = CylindricalCoordinates()

    @override
    def as_stages(self) -> Stages:
        return joint_types.cylindrical(self.axis)

    @override
    def as_passives(self) -> list[Passive]:
        return [self.coordinates.angle.passive(), self.coordinates.slide.passive()]


class UniversalCoordinates(Spec):
    """Passive elements by coordinate."""

    angle_1: AngleElements = AngleElements()
    angle_2: AngleElements = AngleElements()


class Universal(Motion):
    """Hooke joint: turn about the first axis, fixed in the parent, then about the second."""

    type: Literal["universal"]
    axes: TwoAxes
    coordinates: UniversalCoordinates = UniversalCoordinates()

    @override
    def as_stages(self) -> Stages:
        return joint_types.universal(*self.axes)

    @override
    def as_passives(self) -> list[Passive]:
        return [self.coordinates.angle_1.passive(), self.coordinates.angle_2.passive()]


class Spherical(BallElements, Motion):
    """Rotate about the hinge point in any way; the coordinate is a quaternion."""

    type: Literal["spherical"]

    @override
    def as_stages(self) -> Stages:
        return joint_types.spherical()

    @override
    def as_passives(self) -> list[Passive]:
        return [self.passive()] * 3


class PlanarCoordinates(Spec):
    """Passive elements by coordinate."""

    x: SlideElements = SlideElements()
    y: SlideElements = SlideElements()
    angle: AngleElements = AngleElements()


class Planar(Motion):
    """Slide in the xy plane of the parent's hinge frame and turn about its z axis."""

    type: Literal["planar"]
    coordinates: PlanarCoordinates = PlanarCoordinates()

    @override
    def as_stages(self) -> Stages:
        return joint_types.planar()

    @override
    def as_passives(self) -> list[Passive]:
        c = self.coordinates
        return [c.x.passive(), c.y.passive(), c.angle.passive()]


class FreeCoordinates(Spec):
    """Passive elements by coordinate; x, y, z along the parent's hinge frame."""

    attitude: BallElements = BallElements()
    x: SlideElements = SlideElements()
    y: SlideElements = SlideElements()
    z: SlideElements = SlideElements()


class Free(Motion):
    """Move in any way: quaternion and position."""

    type: Literal["free"]
    coordinates: FreeCoordinates = FreeCoordinates()

    @override
    def as_stages(self) -> Stages:
        return joint_types.free()

    @override
    def as_passives(self) -> list[Passive]:
        c = self.coordinates
        return [c.attitude.passive()] * 3 + [c.x.passive(), c.y.passive(), c.z.passive()]


class MapCoordinates(Spec):
    """Passive elements by column of the map."""

    c1: NumberElements | None = None
    c2: NumberElements | None = None
    c3: NumberElements | None = None
    c4: NumberElements | None = None
    c5: NumberElements | None = None
    c6: NumberElements | None = None

    def columns(self) -> list[NumberElements | None]:
        """Return them in order."""
        return [self.c1, self.c2, self.c3, self.c4, self.c5, self.c6]


class Map(Motion):
    """Move along the columns of any admissible constant joint map."""

    type: Literal["map"]
    map: JointMap = Field(description="six rows (rotation, then translation), a column per speed")
    coordinates: MapCoordinates = MapCoordinates()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        n = len(self.map[0])
        if any(elements is not None for elements in self.coordinates.columns()[n:]):
            refuse(f"coordinates beyond c{n}", f"at most c{n}: the map has {n} columns")
        return self

    @override
    def as_stages(self) -> Stages:
        stages = joint_types.constant_map(np.array(self.map))
        if stages[0].kind in ("ball", "free"):
            _require_dampers_only(self.coordinates.columns())
        return stages

    @override
    def as_passives(self) -> list[Passive]:
        columns = self.coordinates.columns()[: len(self.map[0])]
        return [(elements or NumberElements()).passive() for elements in columns]


def _require_dampers_only(columns: list[NumberElements | None]) -> None:
    """Refuse springs and stops where the coordinates of the map are a quaternion."""
    for elements in columns:
        if elements and (elements.spring or elements.stops):
            fault = Fault(
                "joint",
                "a spring or stop on a map that rotates freely",
                "dampers and friction only: its coordinates are a quaternion",
                "use type: spherical or type: free for springs",
            )
            raise ModelError([fault])
