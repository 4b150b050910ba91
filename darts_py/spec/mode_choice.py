"""Which modes a flexible body gets: the boundary they hold, and how many there are."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Len
from pydantic import BeforeValidator, Field, Strict, model_validator

from darts_py.spec.fields import Name, Positive, Spec, refuse

MOST = 10_000  # a whole number beyond this is a slip of the finger


def _whole(least: int) -> BeforeValidator:
    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
            refuse("", f"a whole number from {least} to {MOST}")
        return value

    return BeforeValidator(check)


Count = Annotated[int, Field(ge=1), _whole(1)]
CountOrZero = Annotated[int, Field(ge=0), _whole(0)]
Names = Annotated[tuple[Name, ...], Strict(False), Len(1)]


class ModeChoice(Spec):
    """The modes of a structure that become coordinates of the body."""

    boundary: Literal["cantilever", "free_free", "craig_bampton"] = Field(
        description="what the modes hold: the inboard node, nothing, or all attachment nodes"
    )
    count: CountOrZero | None = Field(None, description="the lowest so many modes")
    up_to_hz: Positive | None = Field(None, description="all modes up to this frequency")
    inboard: Name | None = Field(None, description="node that cantilever modes hold")
    interfaces: Names | None = Field(
        None, description="nodes with constraint modes; left out: all but the inboard one"
    )
    include_node_masses: bool = Field(
        False, description="whether masses on nodes take part in making the modes"
    )
    accept_unresolved: bool = Field(
        False, description="take modes that the mesh does not resolve: masses and springs"
    )

    @model_validator(mode="after")
    def _one_choice(self) -> ModeChoice:
        self._check_choice([self.count is not None, self.up_to_hz is not None], "count, up_to_hz")
        return self

    def _check_choice(self, given: list[bool], words: str) -> None:
        if sum(given) != 1:
            refuse("none of them" if not any(given) else "several of them", f"one of {words}")
        if self.count == 0 and self.boundary != "craig_bampton":
            refuse("count: 0", "at least one mode", "constraint modes alone are craig_bampton's")
        if self.interfaces is not None and self.boundary != "craig_bampton":
            refuse("interfaces", "none: only craig_bampton modes have them")
        if self.inboard is not None and self.boundary == "free_free":
            refuse("inboard", "none: free_free modes hold nothing")


class BeamModeChoice(ModeChoice):
    """The modes of a beam: as of any structure, or by the kind of motion."""

    bending_about_y: CountOrZero | None = Field(None, description="modes with motion along z")
    bending_about_z: CountOrZero | None = Field(None, description="modes with motion along y")
    stretch: CountOrZero | None = Field(None, description="modes along the beam")
    torsion: CountOrZero | None = Field(None, description="modes about the beam")

    @property
    def by_family(self) -> dict[str, int] | None:
        """Counts by the kind of motion; None where count or up_to_hz chooses."""
        counts = {
            "bending_about_y": self.bending_about_y,
            "bending_about_z": self.bending_about_z,
            "stretch": self.stretch,
            "torsion": self.torsion,
        }
        given = {name: count for name, count in counts.items() if count is not None}
        return given or None

    @model_validator(mode="after")
    def _one_choice(self) -> BeamModeChoice:
        given = [self.count is not None, self.up_to_hz is not None, self.by_family is not None]
        words = "count, up_to_hz, or counts by motion (bending_about_y, ..., torsion)"
        self._check_choice(given, words)
        if self.by_family is not None and self.boundary == "craig_bampton":
            refuse("counts by motion with craig_bampton modes", "count or up_to_hz")
        return self
