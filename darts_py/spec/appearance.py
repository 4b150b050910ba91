"""What a body looks like and what it would collide with: kept as data, without any dynamics."""

from __future__ import annotations

from typing import Annotated, Self

import numpy as np
from annotated_types import Len
from pydantic import AfterValidator, Field, Strict, model_validator

from darts_py.multibody.tree import Shape
from darts_py.spec.fields import Number, Positive, Spec, Vector3, refuse
from darts_py.spec.rotation import Rotation, rotation_matrix

MAX_TEXT = 1024  # characters of a mesh path or a shape's name
FORMS = ("mesh", "box", "cylinder", "sphere")


def _safe_text(text: str) -> str:
    if not text.strip() or len(text) > MAX_TEXT or not text.isprintable():
        refuse("", f"printable text, 1 to {MAX_TEXT} characters")
    return text


def _scale(scale: tuple[float, ...]) -> tuple[float, ...]:
    if 0.0 in scale:
        refuse("", "three numbers, none of them zero (a negative one mirrors the mesh)")
    return scale


Text = Annotated[str, AfterValidator(_safe_text)]
Size3 = Annotated[tuple[Positive, ...], Strict(False), Len(3, 3)]
Scale3 = Annotated[Vector3, AfterValidator(_scale)]
Share = Annotated[Number, Field(ge=0.0, le=1.0)]
Color = Annotated[tuple[Share, ...], Strict(False), Len(4, 4)]


class Box(Spec):
    """A box about the shape's origin."""

    size_m: Size3 = Field(description="lengths along x, y, z")


class Cylinder(Spec):
    """A cylinder along z, about the shape's origin."""

    radius_m: Positive
    length_m: Positive


class Sphere(Spec):
    """A sphere about the shape's origin."""

    radius_m: Positive


class ShapeSpec(Spec):
    """One shape of a body: a mesh, a box, a cylinder or a sphere, placed in the body frame."""

    name: Text | None = None
    mesh: Text | None = Field(None, description="path relative to this file, or package://...")
    scale: Scale3 | None = Field(None, description="of the mesh along x, y, z; default 1, 1, 1")
    box: Box | None = None
    cylinder: Cylinder | None = None
    sphere: Sphere | None = None
    position_m: Vector3 = Field((0.0, 0.0, 0.0), description="of its origin, body frame")
    rotation: Rotation | None = Field(None, description="its axes in body axes")
    color_rgba: Color | None = Field(None, description="red, green, blue, opacity: 0 to 1")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        given = [form for form in FORMS if getattr(self, form) is not None]
        if len(given) != 1:
            refuse(" and ".join(given) or "no shape", f"exactly one of {', '.join(FORMS)}")
        if self.scale is not None and self.mesh is None:
            refuse("a scale without a mesh", "a scale with a mesh only")
        return self

    def build(self, role: str) -> Shape:
        """Return the shape as numbers."""
        kind, size = self._form()
        return Shape(
            role,
            kind,
            name=self.name or "",
            mesh=self.mesh or "",
            size=np.array(size, float),
            r=np.array(self.position_m, float),
            R=rotation_matrix(self.rotation),
            color=None if self.color_rgba is None else np.array(self.color_rgba, float),
        )

    def _form(self) -> tuple[str, tuple[float, ...]]:
        if self.box is not None:
            return "box", self.box.size_m
        if self.cylinder is not None:
            return "cylinder", (self.cylinder.radius_m, self.cylinder.length_m)
        if self.sphere is not None:
            return "sphere", (self.sphere.radius_m,)
        return "mesh", self.scale or (1.0, 1.0, 1.0)


Shapes = Annotated[tuple[ShapeSpec, ...], Strict(False)]


class Shown(Spec):
    """What every body may say about its looks."""

    visuals: Shapes = Field((), description="what it looks like; no effect on the dynamics")
    collisions: Shapes = Field((), description="what it would hit; no effect on the dynamics")

    def as_appearance(self) -> tuple[Shape, ...]:
        """Return all shapes as numbers."""
        seen = [shape.build("visual") for shape in self.visuals]
        return (*seen, *(shape.build("collision") for shape in self.collisions))
