"""What a model file says about a joint: its motion, and where it is attached."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Len
from pydantic import Field, Strict, Tag
from typing_extensions import override

from darts_py.multibody.joint_types import Stages, compound
from darts_py.spec.bodies import ZERO
from darts_py.spec.fields import Vector3, by_type
from darts_py.spec.motions import (
    Cylindrical,
    Fixed,
    Free,
    Map,
    Motion,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from darts_py.spec.passive import Passive
from darts_py.spec.rotation import Rotation

GROUND_NAME = "ground"

STAGE_TYPES = (
    "revolute",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "map",
)
JOINT_TYPES = ("fixed", *STAGE_TYPES, "free", "compound")


StageSpec = Annotated[
    Annotated[Revolute, Tag("<revolute>")]
    | Annotated[Prismatic, Tag("<prismatic>")]
    | Annotated[Screw, Tag("<screw>")]
    | Annotated[Cylindrical, Tag("<cylindrical>")]
    | Annotated[Universal, Tag("<universal>")]
    | Annotated[Spherical, Tag("<spherical>")]
    | Annotated[Planar, Tag("<planar>")]
    | Annotated[Map, Tag("<map>")],
    by_type(STAGE_TYPES),
]


class Compound(Motion):
    """Simple joints one after the other, from the parent outward, through one hinge point."""

    type: Literal["compound"]
    stages: Annotated[tuple[StageSpec, ...], Strict(False), Len(1)]

    @override
    def as_stages(self) -> Stages:
        return compound([stage.as_stages() for stage in self.stages])

    @override
    def as_passives(self) -> list[Passive]:
        return [passive for stage in self.stages for passive in stage.as_passives()]


class Attachment(Motion):
    """Where a joint sits: hinge frame O+ on the parent, hinge frame O on the child."""

    description: str = ""
    parent: str = Field(description="a body, or ground")
    parent_node: str | None = Field(None, description="default: the origin of a rigid body")
    parent_offset_m: Vector3 = Field(ZERO, description="from the node to O+, parent axes")
    parent_rotation: Rotation | None = Field(None, description="O+ axes in parent axes")
    child: str = Field(description="the body this joint carries")
    child_node: str | None = Field(None, description="default: the origin of a rigid body")
    child_offset_m: Vector3 = Field(ZERO, description="from the node to O, child axes")
    child_rotation: Rotation | None = Field(None, description="O axes in child axes")
    locked: bool = Field(False, description="hold the joint where it is")


class FixedJoint(Fixed, Attachment):
    """Two bodies joined rigidly."""


class RevoluteJoint(Revolute, Attachment):
    """A joint that turns about an axis."""


class PrismaticJoint(Prismatic, Attachment):
    """A joint that slides along an axis."""


class ScrewJoint(Screw, Attachment):
    """A joint that turns about an axis and advances along it."""


class CylindricalJoint(Cylindrical, Attachment):
    """A joint that turns about and slides along an axis."""


class UniversalJoint(Universal, Attachment):
    """A Hooke joint."""


class SphericalJoint(Spherical, Attachment):
    """A ball joint."""


class PlanarJoint(Planar, Attachment):
    """A joint that slides in a plane and turns about its normal."""


class FreeJoint(Free, Attachment):
    """No constraint: six degrees of freedom."""


class MapJoint(Map, Attachment):
    """A joint given by its map from speeds to velocity."""


class CompoundJoint(Compound, Attachment):
    """Several simple joints through one hinge point."""


JointSpec = Annotated[
    Annotated[FixedJoint, Tag("<fixed>")]
    | Annotated[RevoluteJoint, Tag("<revolute>")]
    | Annotated[PrismaticJoint, Tag("<prismatic>")]
    | Annotated[ScrewJoint, Tag("<screw>")]
    | Annotated[CylindricalJoint, Tag("<cylindrical>")]
    | Annotated[UniversalJoint, Tag("<universal>")]
    | Annotated[SphericalJoint, Tag("<spherical>")]
    | Annotated[PlanarJoint, Tag("<planar>")]
    | Annotated[FreeJoint, Tag("<free>")]
    | Annotated[MapJoint, Tag("<map>")]
    | Annotated[CompoundJoint, Tag("<compound>")],
    by_type(JOINT_TYPES),
]
