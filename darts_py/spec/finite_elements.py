"""Finite-element matrices in a model file: where they are, and what is made of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from darts_py.spec.fields import Positive, Spec, Vector3, refuse
from darts_py.spec.mode_choice import ModeChoice
from darts_py.spec.rotation import Rotation

ZERO = (0.0, 0.0, 0.0)


class FiniteElementsSpec(Spec):
    """Mass and stiffness matrices of a free structure, with its nodes."""

    file: str | None = Field(None, description=".npz file with matrices and nodes")
    mass_file: str | None = Field(None, description=".npz, .mtx, .op2, .op4 or .pch")
    stiffness_file: str | None = Field(None, description=".npz, .mtx, .op2, .op4 or .pch")
    nodes_file: str | None = Field(None, description=".npz, or a NASTRAN bulk file with GRIDs")
    mass_name: str | None = Field(None, description="of the matrix in its file")
    stiffness_name: str | None = Field(None, description="of the matrix in its file")
    length_unit_m: Positive = Field(1.0, description="the files' unit of length, in m")
    mass_unit_kg: Positive = Field(1.0, description="the files' unit of mass, in kg")
    force_unit_n: Positive | None = Field(
        None, description="the files' unit of force, in N; left out: mass x length / s^2"
    )
    origin_m: Vector3 = Field(ZERO, description="where the mesh's origin is, body frame")
    rotation: Rotation | None = Field(None, description="the mesh's axes in the body's axes")
    mass: Literal["consistent", "lumped"] = Field(
        "consistent", description="as given, or lumped on the nodes"
    )
    modes: ModeChoice

    @model_validator(mode="after")
    def _one_way(self) -> FiniteElementsSpec:
        apart = ("mass_file", "stiffness_file", "nodes_file")
        given = [key for key in apart if getattr(self, key) is not None]
        if self.file is not None and given:
            refuse(f"file and {given[0]}", "either file or mass_file, stiffness_file, nodes_file")
        if self.file is None and len(given) < 3:
            refuse(", ".join(given) or "no file", "file, or mass_file, stiffness_file, nodes_file")
        if self.modes.boundary != "free_free" and self.modes.inboard is None:
            refuse(
                "no inboard node", f"modes.inboard: the node that {self.modes.boundary} modes hold"
            )
        return self
