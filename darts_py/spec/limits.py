"""Declared limits of a joint coordinate: data for controllers and displays, never a force.

What pushes a joint back is `stops`; a limit alone only says what the hardware is built for.
"""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from darts_py.spec.fields import NonNegative, Number, Spec, refuse


class DeclaredLimits(Spec):
    """Range, speed and effort that a coordinate is built for."""

    lower: Number | None = None
    upper: Number | None = None
    velocity: NonNegative | None = None
    effort: NonNegative | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            got = f"lower limit {self.lower:g} and upper limit {self.upper:g}"
            refuse(got, "a lower limit of at most the upper limit")
        return self


class AngleLimits(DeclaredLimits):
    """Limits of an angle."""

    lower: Number | None = Field(default=None, alias="lower_rad")
    upper: Number | None = Field(default=None, alias="upper_rad")
    velocity: NonNegative | None = Field(default=None, alias="velocity_rad_s")
    effort: NonNegative | None = Field(default=None, alias="effort_n_m")


class SlideLimits(DeclaredLimits):
    """Limits of a slide."""

    lower: Number | None = Field(default=None, alias="lower_m")
    upper: Number | None = Field(default=None, alias="upper_m")
    velocity: NonNegative | None = Field(default=None, alias="velocity_m_s")
    effort: NonNegative | None = Field(default=None, alias="effort_n")


class LimitedAngle(Spec):
    """An angle that may declare limits."""

    limits: AngleLimits | None = Field(default=None, description="declared: no force; `stops` push")


class LimitedSlide(Spec):
    """A slide that may declare limits."""

    limits: SlideLimits | None = Field(default=None, description="declared: no force; `stops` push")
