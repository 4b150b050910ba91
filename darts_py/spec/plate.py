"""A rectangular plate panel in a model file."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Len
from pydantic import Field, Strict, model_validator

from darts_py.spec.beam import PoissonRatio
from darts_py.spec.fields import Axis, NonNegative, Positive, Spec, Vector3, refuse
from darts_py.spec.mode_choice import Count, ModeChoice, Names

MOST_ELEMENTS = 40  # either way; the shape functions lose digits with its sixth power
ZERO = (0.0, 0.0, 0.0)
Grid = Annotated[tuple[Count, ...], Strict(False), Len(2, 2)]


class PlateModeChoice(ModeChoice):
    """The modes of a plate; it may be held at several points, or along its root edge."""

    inboard_points: Names | None = Field(
        None, description="nodes that are clamped in place of the whole root edge"
    )


class PlateSpec(Spec):
    """A flat rectangular Kirchhoff plate: bends out of its plane, is rigid in it."""

    length_m: Positive = Field(description="from the root edge to the opposite one")
    width_m: Positive = Field(description="along the root edge")
    direction: Axis = Field(description="of the length, body axes")
    normal: Axis = Field(description="of the plate, body axes, at right angles to direction")
    root_m: Vector3 = Field(ZERO, description="middle of the root edge, body frame")
    thickness_m: Positive | None = None
    young_modulus_pa: Positive | None = None
    density_kg_m3: Positive | None = None
    bending_stiffness_n_m: Positive | None = Field(None, description="D of a sandwich")
    areal_mass_kg_m2: Positive | None = None
    rotary_inertia_kg: NonNegative | None = Field(None, description="per area, about an edge")
    rotary_inertia: bool | None = Field(None, description="of a solid plate: whether it counts")
    poisson_ratio: PoissonRatio
    elements: Grid = Field((12, 12), description="along the length, along the width")
    modes: PlateModeChoice

    @model_validator(mode="after")
    def _one_make(self) -> PlateSpec:
        solid = ("thickness_m", "young_modulus_pa", "density_kg_m3")
        sandwich = ("bending_stiffness_n_m", "areal_mass_kg_m2")
        given = [key for key in (*solid, *sandwich) if getattr(self, key) is not None]
        if given not in (list(solid), list(sandwich)):
            expected = f"{', '.join(solid)}, or {' and '.join(sandwich)}"
            refuse(", ".join(given) or "none of them", expected)
        if self.thickness_m is None and self.rotary_inertia is not None:
            refuse("rotary_inertia", "rotary_inertia_kg, per area")
        if self.thickness_m is not None and self.rotary_inertia_kg is not None:
            refuse("rotary_inertia_kg", "rotary_inertia: true; a solid plate's is known")
        if max(self.elements) > MOST_ELEMENTS:
            got = f"{self.elements[0]} x {self.elements[1]} elements"
            hint = "bicubic elements converge fast: 12 x 12 have three to four digits"
            refuse(got, f"at most {MOST_ELEMENTS} either way", hint)
        along, across = np.array(self.direction), np.array(self.normal)
        cosine = along @ across / np.linalg.norm(along) / np.linalg.norm(across)
        if abs(cosine) > 1e-6:
            refuse(f"normal and direction with cosine {cosine:.2g}", "vectors at right angles")
        if self.modes.inboard_points and self.modes.inboard:
            refuse("inboard and inboard_points", "one of them")
        if self.modes.inboard_points and self.modes.boundary == "free_free":
            refuse("inboard_points", "none: free_free modes hold nothing")
        return self
