"""What a model file says about a body: rigid, or flexible from any of the sources of modes."""

from __future__ import annotations

from typing import Annotated, cast

from annotated_types import Len
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Strict,
    Tag,
    model_validator,
)

from darts_py.spec.appearance import Shown
from darts_py.spec.beam import BeamSpec
from darts_py.spec.fields import (
    ModalMatrix,
    Name,
    NonNegative,
    Spec,
    Vector3,
    choice,
    refuse,
)
from darts_py.spec.finite_elements import FiniteElementsSpec
from darts_py.spec.inertia import LumpedInertia, RigidInertia
from darts_py.spec.plate import PlateSpec
from darts_py.spec.rotation import Rotation

ORIGIN = "origin"  # node every rigid body has: its frame's origin
ZERO = (0.0, 0.0, 0.0)


class RigidNode(Spec):
    """A named attachment point of a rigid body."""

    position_m: Vector3 = Field(description="position in the body frame")
    rotation: Rotation | None = Field(None, description="its axes in body axes; kept as data")


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


def _number(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        refuse("", "the number of a node, a whole number >= 0")
    return value


NodeNumber = Annotated[int, BeforeValidator(_number)]


class ModeShape(Spec):
    """Motion of a node per unit of one modal coordinate, body axes."""

    slope_rad: Vector3 = Field(ZERO, description="small rotation")
    displacement_m: Vector3 = Field(ZERO, description="translation")


class LumpedNode(Spec):
    """What hangs on a node: a lumped mass, or none."""

    mass_kg: NonNegative = 0.0
    center_of_mass_offset_m: Vector3 = Field(ZERO, description="from the node, body axes")
    inertia_kg_m2: LumpedInertia = Field(ZERO, description="about the node's centre of mass")


class FlexibleNode(LumpedNode):
    """A node of a flexible body: a lumped mass (or none) that moves with the modes."""

    position_m: Vector3 = Field(description="rest position in the body frame")
    modes: Annotated[tuple[ModeShape, ...], Field(strict=False)] = Field(
        (), description="one shape per mode; left out: the node does not move with the modes"
    )


class StructureNode(LumpedNode):
    """A named point on a beam or plate."""

    position_m: Vector3 = Field(description="rest position in the body frame")


class MeshNode(LumpedNode):
    """A named node of a finite-element mesh, or several of its nodes taken together."""

    fe_node: NodeNumber | None = Field(None, description="number of a node of the mesh")
    fe_nodes: Annotated[tuple[NodeNumber, ...], Strict(False), Len(1)] | None = Field(
        None, description="numbers of nodes that carry this one together"
    )

    @model_validator(mode="after")
    def _one_kind(self) -> MeshNode:
        if (self.fe_node is None) == (self.fe_nodes is None):
            refuse("neither" if self.fe_node is None else "both", "one of fe_node and fe_nodes")
        if self.fe_nodes is not None and len(set(self.fe_nodes)) < len(self.fe_nodes):
            refuse("a node twice in fe_nodes", "each node once")
        return self


def _ratio_form(value: object) -> str:
    return "<each>" if isinstance(value, list) else "<all>"


DampingRatio = Annotated[
    Annotated[NonNegative, Tag("<all>")]
    | Annotated[tuple[NonNegative, ...], Field(strict=False), Tag("<each>")],
    Discriminator(_ratio_form),
]


class Damping(Spec):
    """Modal damping of a flexible body; exactly one of the two."""

    damping_n_m_s: ModalMatrix | None = Field(
        None, description="modal damping: the diagonal or all rows"
    )
    damping_ratio: DampingRatio | None = Field(
        None, description="fraction of critical damping: one for all modes, or one per mode"
    )


class Flexibility(Damping):
    """Modal stiffness and damping; modal coordinates are pure numbers."""

    stiffness_n_m: ModalMatrix | None = Field(
        None, description="modal stiffness: the diagonal or all rows"
    )
    modes_file: str | None = Field(
        None, description=".npz file with nodes, shapes and stiffness, relative to this file"
    )


class BeamFlexibility(Damping):
    """A beam whose modes are computed."""

    beam: BeamSpec


class PlateFlexibility(Damping):
    """A plate whose modes are computed."""

    plate: PlateSpec


class MeshFlexibility(Damping):
    """Finite-element matrices whose modes are computed."""

    finite_elements: FiniteElementsSpec


class FlexibleBody(Shown):
    """A flexible body: its mass sits on its nodes, which move with its modes."""

    description: str = ""
    flexible: Flexibility
    nodes: dict[Name, FlexibleNode] = Field({}, description="left out where modes_file has them")


class BeamBody(Shown):
    """A flexible body that is a beam, with lumped masses on its nodes if they have any."""

    description: str = ""
    flexible: BeamFlexibility
    nodes: dict[Name, StructureNode] = Field(min_length=1, description="points on its axis")


class PlateBody(Shown):
    """A flexible body that is a plate, with lumped masses on its nodes if they have any."""

    description: str = ""
    flexible: PlateFlexibility
    nodes: dict[Name, StructureNode] = Field(min_length=1, description="points in its plane")


class MeshBody(Shown):
    """A flexible body from finite-element matrices."""

    description: str = ""
    flexible: MeshFlexibility
    nodes: dict[Name, MeshNode] = Field(min_length=1, description="named nodes of the mesh")


AnyFlexibleBody = FlexibleBody | BeamBody | PlateBody | MeshBody
AnyBody = RigidBody | AnyFlexibleBody

SOURCES = {"beam": "<beam>", "plate": "<plate>", "finite_elements": "<mesh>"}


def _body_form(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    body = cast("dict[str, object]", value)
    if "flexible" not in body:
        return "<rigid>"
    flexible = body["flexible"]
    keys = cast("dict[str, object]", flexible) if isinstance(flexible, dict) else {}
    return next((form for key, form in SOURCES.items() if key in keys), "<flexible>")


BodySpec = Annotated[
    Annotated[RigidBody, Tag("<rigid>")]
    | Annotated[FlexibleBody, Tag("<flexible>")]
    | Annotated[BeamBody, Tag("<beam>")]
    | Annotated[PlateBody, Tag("<plate>")]
    | Annotated[MeshBody, Tag("<mesh>")],
    choice(_body_form, "a mapping with mass_kg and inertia_kg_m2, or with flexible"),
]
