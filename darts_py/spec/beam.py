"""A beam in a model file: its axis, and its section by properties or by material and shape."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

import numpy as np
from annotated_types import Len
from pydantic import AfterValidator, Field, Strict, Tag, model_validator

from darts_py.spec.fields import (
    Axis,
    Number,
    Positive,
    Spec,
    Vector3,
    choice,
    refuse,
)
from darts_py.spec.mode_choice import BeamModeChoice, Count

ZERO = (0.0, 0.0, 0.0)
PARALLEL = 1e-6  # sine of an angle; below it, typed digits do not tell the direction across

Station = Annotated[tuple[Number, ...], Strict(False), Len(2, 2)]
Stations = Annotated[tuple[Station, ...], Strict(False), Len(2)]


def _profile_form(value: object) -> str | None:
    if isinstance(value, list):
        return "<stations>"
    return "<number>" if isinstance(value, int | float) and not isinstance(value, bool) else None


# a quantity along the beam: one number, or [station in m, value] pairs, linear in between
Along = Annotated[
    Annotated[Positive, Tag("<number>")] | Annotated[Stations, Tag("<stations>")],
    choice(_profile_form, "a number > 0, or a list of [station in m, value] pairs"),
]


def _between(ratio: float) -> float:
    if not -1.0 < ratio < 0.5:
        refuse("", "a number between -1 and 0.5")
    return ratio


PoissonRatio = Annotated[Number, AfterValidator(_between)]


class MaterialSpec(Spec):
    """An isotropic material; one of shear modulus and Poisson's ratio."""

    young_modulus_pa: Positive
    shear_modulus_pa: Positive | None = None
    poisson_ratio: PoissonRatio | None = None
    density_kg_m3: Positive

    @model_validator(mode="after")
    def _one_shear(self) -> MaterialSpec:
        if (self.shear_modulus_pa is None) == (self.poisson_ratio is None):
            got = "neither" if self.poisson_ratio is None else "both"
            refuse(got, "one of shear_modulus_pa and poisson_ratio")
        return self

    @property
    def shear(self) -> float:
        """Shear modulus, Pa."""
        if self.shear_modulus_pa is not None:
            return self.shear_modulus_pa
        return self.young_modulus_pa / (2.0 * (1.0 + cast("float", self.poisson_ratio)))


class Rectangle(Spec):
    """A solid rectangle."""

    shape: Literal["rectangle"]
    width_y_m: Along = Field(description="along the section's y")
    height_z_m: Along = Field(description="along the section's z")


class Box(Spec):
    """A rectangular tube of one wall thickness."""

    shape: Literal["box"]
    width_y_m: Along = Field(description="outer size along the section's y")
    height_z_m: Along = Field(description="outer size along the section's z")
    wall_m: Along


class Circle(Spec):
    """A solid circle."""

    shape: Literal["circle"]
    diameter_m: Along


class Tube(Spec):
    """A circular tube."""

    shape: Literal["tube"]
    outer_diameter_m: Along
    wall_m: Along


def _shape(value: object) -> str | None:
    shape = cast("dict[str, Any]", value).get("shape") if isinstance(value, dict) else None
    return f"<{shape}>" if shape in ("rectangle", "box", "circle", "tube") else None


SectionSpec = Annotated[
    Annotated[Rectangle, Tag("<rectangle>")]
    | Annotated[Box, Tag("<box>")]
    | Annotated[Circle, Tag("<circle>")]
    | Annotated[Tube, Tag("<tube>")],
    choice(_shape, "a mapping with shape: rectangle, box, circle or tube"),
]

STIFFNESS_KEYS = {
    "stretch": "axial_stiffness_n",
    "torsion": "torsional_stiffness_n_m2",
    "bending_about_y": "bending_stiffness_about_y_n_m2",
    "bending_about_z": "bending_stiffness_about_z_n_m2",
}


class BeamSpec(Spec):
    """A straight Euler-Bernoulli beam, uniform or tapered."""

    length_m: Positive
    direction: Axis = Field(description="from root to tip, body axes")
    section_y_axis: Axis | None = Field(
        None, description="the section's y, body axes; its part across the beam is taken"
    )
    root_m: Vector3 = Field(ZERO, description="where the beam begins, body frame")
    mass_kg_per_m: Along | None = None
    bending_stiffness_about_y_n_m2: Along | None = Field(None, description="E I_y: motion along z")
    bending_stiffness_about_z_n_m2: Along | None = Field(None, description="E I_z: motion along y")
    axial_stiffness_n: Along | None = Field(None, description="E A; left out: does not stretch")
    torsional_stiffness_n_m2: Along | None = Field(None, description="G J; left out: no torsion")
    polar_inertia_kg_m: Along | None = Field(None, description="about the axis, per length")
    rotary_inertia_about_y_kg_m: Along | None = Field(None, description="left out: none")
    rotary_inertia_about_z_kg_m: Along | None = Field(None, description="left out: none")
    material: MaterialSpec | None = Field(None, description="with section, in place of the above")
    section: SectionSpec | None = None
    rotary_inertia: bool | None = Field(
        None, description="of a section's shape in bending; torsion always has it"
    )
    method: Literal["analytic", "finite_elements"] = "finite_elements"
    elements: Count = Field(32, description="about how many finite elements")
    modes: BeamModeChoice

    @model_validator(mode="after")
    def _one_section(self) -> BeamSpec:
        keys = ["mass_kg_per_m", *STIFFNESS_KEYS.values(), "polar_inertia_kg_m"]
        keys += ["rotary_inertia_about_y_kg_m", "rotary_inertia_about_z_kg_m"]
        given = [key for key in keys if getattr(self, key) is not None]
        if (self.material is None) != (self.section is None):
            missing = "section" if self.section is None else "material"
            refuse("one of material and section", f"the key '{missing}' as well")
        if self.material is not None and given:
            refuse(f"both a section and {given[0]}", "either properties or material and section")
        if self.material is None:
            self._check_properties()
        if self.elements > 2000:
            refuse(f"{self.elements} elements", "at most 2000")
        self._check_axes()
        return self

    def _check_axes(self) -> None:
        if self.section_y_axis is None:
            return
        x, y = (
            np.array(axis) / np.linalg.norm(axis) for axis in (self.direction, self.section_y_axis)
        )
        across = float(np.linalg.norm(np.cross(x, y)))
        if across < PARALLEL:
            got = f"section_y_axis along direction (sine {across:.2g})"
            refuse(got, "an axis across the beam", "left out, the body axis most across is taken")

    def _check_properties(self) -> None:
        if self.mass_kg_per_m is None:
            refuse("no mass", "mass_kg_per_m, or material and section")
        if all(getattr(self, key) is None for key in STIFFNESS_KEYS.values()):
            refuse("no stiffness", f"one of {', '.join(STIFFNESS_KEYS.values())}")
        if self.torsional_stiffness_n_m2 is not None and self.polar_inertia_kg_m is None:
            refuse("torsion without inertia", "polar_inertia_kg_m")
        if self.rotary_inertia is not None:
            refuse("rotary_inertia", "rotary_inertia_about_y_kg_m and ..._z_kg_m", "per length")
