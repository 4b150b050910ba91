"""What a model file says about a closure: what it forbids, and which two frames it ties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal

import numpy as np
from annotated_types import Len
from pydantic import Field, Strict, Tag
from typing_extensions import override

from darts_py.multibody import closure_types
from darts_py.spec.bodies import ZERO
from darts_py.spec.fields import Axis, Spec, Vector, Vector3, by_type
from darts_py.spec.maps import admissible
from darts_py.spec.rotation import Rotation

CLOSURE_TYPES = (
    "ball",
    "revolute",
    "weld",
    "prismatic",
    "cylindrical",
    "planar",
    "point_on_plane",
    "point_on_line",
    "map",
)


ClosureMap = Annotated[
    tuple[Vector, ...], Strict(False), Len(6, 6), admissible(closure_types.constrained_map)
]


class Frames(Spec, ABC):
    """The two frames a closure ties: A on one body, B on another."""

    description: str = ""
    a: str = Field(description="a body, or ground")
    a_node: str | None = Field(None, description="default: the origin of a rigid body")
    a_offset_m: Vector3 = Field(ZERO, description="from the node to A, axes of its body")
    a_rotation: Rotation | None = Field(None, description="A axes in the axes of its body")
    b: str = Field(description="a body, or ground")
    b_node: str | None = Field(None, description="default: the origin of a rigid body")
    b_offset_m: Vector3 = Field(ZERO, description="from the node to B, axes of its body")
    b_rotation: Rotation | None = Field(None, description="B axes in the axes of its body")

    @abstractmethod
    def directions(self) -> np.ndarray:
        """Return the constrained directions S (6, r), B axes."""


class BallClosure(Frames):
    """The origins of A and B coincide."""

    type: Literal["ball"]

    @override
    def directions(self) -> np.ndarray:
        return closure_types.ball()


class RevoluteClosure(Frames):
    """A turns about an axis through B, nothing else."""

    type: Literal["revolute"]
    axis: Axis = Field(description="in B axes, and the same in A axes")

    @override
    def directions(self) -> np.ndarray:
        return closure_types.revolute(self.axis)


class WeldClosure(Frames):
    """A and B coincide."""

    type: Literal["weld"]

    @override
    def directions(self) -> np.ndarray:
        return closure_types.weld()


class PrismaticClosure(Frames):
    """A slides along an axis through B, nothing else."""

    type: Literal["prismatic"]
    axis: Axis = Field(description="in B axes")

    @override
    def directions(self) -> np.ndarray:
        return closure_types.prismatic(self.axis)


class CylindricalClosure(Frames):
    """A turns about and slides along an axis through B."""

    type: Literal["cylindrical"]
    axis: Axis = Field(description="in B axes, and the same in A axes")

    @override
    def directions(self) -> np.ndarray:
        return closure_types.cylindrical(self.axis)


class PlanarClosure(Frames):
    """A slides in a plane through B and turns about its normal."""

    type: Literal["planar"]
    axis: Axis = Field(description="normal, in B axes, and the same in A axes")

    @override
    def directions(self) -> np.ndarray:
        return closure_types.planar(self.axis)


class PointOnPlaneClosure(Frames):
    """A's origin stays in a plane through B."""

    type: Literal["point_on_plane"]
    axis: Axis = Field(description="normal, in B axes")

    @override
    def directions(self) -> np.ndarray:
        return closure_types.point_on_plane(self.axis)


class PointOnLineClosure(Frames):
    """A's origin stays on a line through B."""

    type: Literal["point_on_line"]
    axis: Axis = Field(description="direction of the line, in B axes")

    @override
    def directions(self) -> np.ndarray:
        return closure_types.point_on_line(self.axis)


class MapClosure(Frames):
    """A closure given by the directions it forbids."""

    type: Literal["map"]
    map: ClosureMap = Field(
        description="six rows (rotation, then translation), B axes, a column per direction"
    )

    @override
    def directions(self) -> np.ndarray:
        return closure_types.constrained_map(np.array(self.map))


ClosureSpec = Annotated[
    Annotated[BallClosure, Tag("<ball>")]
    | Annotated[RevoluteClosure, Tag("<revolute>")]
    | Annotated[WeldClosure, Tag("<weld>")]
    | Annotated[PrismaticClosure, Tag("<prismatic>")]
    | Annotated[CylindricalClosure, Tag("<cylindrical>")]
    | Annotated[PlanarClosure, Tag("<planar>")]
    | Annotated[PointOnPlaneClosure, Tag("<point_on_plane>")]
    | Annotated[PointOnLineClosure, Tag("<point_on_line>")]
    | Annotated[MapClosure, Tag("<map>")],
    by_type(CLOSURE_TYPES),
]
