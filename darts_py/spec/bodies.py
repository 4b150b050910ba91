"""What a model file says about a body: rigid, or flexible with nodes that carry mass and modes."""

from __future__ import annotations

from typing import Annotated, cast

from pydantic import AfterValidator, Discriminator, Field, Tag

from darts_py.spec.appearance import Shown
from darts_py.spec.fields import (
    ModalMatrix,
    Name,
    NonNegative,
    Spec,
    Vector3,
    choice,
    refuse,
)
from darts_py.spec.inertia import LumpedInertia, RigidInertia

ORIGIN = "origin"  # node every rigid body has: its frame's origin
ZERO = (0.0, 0.0, 0.0)


class RigidNode(Spec):
    """A named attachment point of a rigid body."""

    position_m: Vector3 = Field(description="position in the body frame")


def _not_origin(name: str) -> str:
    if name == ORIGIN:
        hint = "every rigid body has this node at the origin of its frame"
        refuse(f"a node called '{ORIGIN}'", "another name", hint)
    return name


class RigidBody(Shown):
    """A rigid body. Its frame is wherever the file puts it; positions refer to it."""

    description: str = ""
    mass_kg: NonNegative = Field(description="0 with zero inertia: a frame between joints")
    center_of_mass_m: Vector3 = Field(ZERO, description="position in the body frame")
    inertia_kg_m2: RigidInertia = Field(
        description="about the centre of mass, body axes: 3 moments, 3 rows, or xx, yy, zz, xy, ..."
    )
    nodes: dict[Annotated[Name, AfterValidator(_not_origin)], RigidNode] = Field(
        {}, description="named attachment points"
    )


class ModeShape(Spec):
    """Motion of a node per unit of one modal coordinate, body axes."""

    slope_rad: Vector3 = Field(ZERO, description="small rotation")
    displacement_m: Vector3 = Field(ZERO, description="translation")


class FlexibleNode(Spec):
    """A node of a flexible body: a lumped mass (or none) that moves with the modes."""

    position_m: Vector3 = Field(description="rest position in the body frame")
    mass_kg: NonNegative = 0.0
    center_of_mass_offset_m: Vector3 = Field(ZERO, description="from the node, body axes")
    inertia_kg_m2: LumpedInertia = Field(ZERO, description="about the node's centre of mass")
    modes: Annotated[tuple[ModeShape, ...], Field(strict=False)] = Field(
        (), description="one shape per mode; left out: the node does not move with the modes"
    )


def _ratio_form(value: object) -> str:
    return "<each>" if isinstance(value, list) else "<all>"


DampingRatio = Annotated[
    Annotated[NonNegative, Tag("<all>")]
    | Annotated[tuple[NonNegative, ...], Field(strict=False), Tag("<each>")],
    Discriminator(_ratio_form),
]


class Flexibility(Spec):
    """Modal stiffness and damping; modal coordinates are pure numbers."""

    stiffness_n_m: ModalMatrix | None = Field(
        None, description="modal stiffness: the diagonal or all rows"
    )
    damping_n_m_s: ModalMatrix | None = Field(
        None, description="modal damping: the diagonal or all rows"
    )
    damping_ratio: DampingRatio | None = Field(
        None, description="fraction of critical damping: one for all modes, or one per mode"
    )
    modes_file: str | None = Field(
        None, description=".npz file with nodes, shapes and stiffness, relative to this file"
    )


class FlexibleBody(Shown):
    """A flexible body: its mass sits on its nodes, which move with its modes."""

    description: str = ""
    flexible: Flexibility
    nodes: dict[Name, FlexibleNode] = Field({}, description="left out where modes_file has them")


def _body_form(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    return "<flexible>" if "flexible" in cast("dict[str, object]", value) else "<rigid>"


BodySpec = Annotated[
    Annotated[RigidBody, Tag("<rigid>")] | Annotated[FlexibleBody, Tag("<flexible>")],
    choice(_body_form, "a mapping with mass_kg and inertia_kg_m2, or with flexible"),
]
