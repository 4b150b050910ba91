"""Springs, dampers, soft stops and friction of a joint coordinate, with units in the keys.

Three families differ in units only: angles (rad), slides (m), and the coordinates of a general
joint map, which are pure numbers. Aliases carry the units; the code reads the plain names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from pydantic import Field, model_validator

from darts_py.spec.fields import NonNegative, Number, Positive, Spec, refuse
from darts_py.spec.limits import LimitedAngle, LimitedSlide

CREEP_RATE = 1e-3  # rad/s, m/s or 1/s: sticking joints creep at most about this fast


@dataclass(frozen=True)
class Passive:
    """Passive elements of one speed, in SI units; no stop is an infinite limit."""

    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    lower: float = -float("inf")
    upper: float = float("inf")
    stop_stiffness: float = 0.0
    stop_damping: float = 0.0
    coulomb: float = 0.0
    breakaway: float = 0.0
    stribeck_rate: float = 1.0  # without effect where breakaway is coulomb
    creep_rate: float = CREEP_RATE


class Spring(Spec):
    """A linear spring on one coordinate."""

    stiffness: NonNegative
    rest: Number = 0.0


class Stops(Spec):
    """Soft stops: a spring and damper that act beyond a limit."""

    lower: Number | None = None
    upper: Number | None = None
    stiffness: Positive
    damping: NonNegative = 0.0

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.lower is None and self.upper is None:
            refuse("no limit", "a lower or an upper limit, or both")
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            got = f"lower limit {self.lower:g} and upper limit {self.upper:g}"
            refuse(got, "a lower limit below the upper limit")
        return self


class Friction(Spec):
    """Dry friction: -(Fc + (Fs - Fc) / (1 + (v / vs)^2)) v / sqrt(v^2 + vc^2) on a speed v.

    Fc coulomb, Fs breakaway, vs stribeck_rate, vc creep_rate.
    """

    coulomb: NonNegative
    breakaway: NonNegative | None = None
    stribeck_rate: Positive | None = None
    creep_rate: Positive = CREEP_RATE

    @model_validator(mode="after")
    def _falling(self) -> Self:
        if self.breakaway is None or self.breakaway == self.coulomb:
            return self
        if self.breakaway < self.coulomb:
            got = f"breakaway friction {self.breakaway:g} below coulomb friction {self.coulomb:g}"
            refuse(got, "breakaway friction of at least the coulomb friction")
        if self.stribeck_rate is None:
            key = type(self).model_fields["stribeck_rate"].alias or "stribeck_rate"
            hint = "the speed at which half of the excess over coulomb friction is gone"
            refuse("breakaway above coulomb friction, and no rate", f"the key '{key}'", hint)
        return self


class AngleSpring(Spring):
    """A torsion spring."""

    stiffness: NonNegative = Field(alias="stiffness_n_m_per_rad")
    rest: Number = Field(default=0.0, alias="rest_rad", description="angle without torque")


class AngleStops(Stops):
    """Soft stops of an angle."""

    lower: Number | None = Field(default=None, alias="lower_rad")
    upper: Number | None = Field(default=None, alias="upper_rad")
    stiffness: Positive = Field(alias="stiffness_n_m_per_rad")
    damping: NonNegative = Field(default=0.0, alias="damping_n_m_s_per_rad")


class SlideSpring(Spring):
    """A linear spring."""

    stiffness: NonNegative = Field(alias="stiffness_n_per_m")
    rest: Number = Field(default=0.0, alias="rest_m", description="position without force")


class SlideStops(Stops):
    """Soft stops of a slide."""

    lower: Number | None = Field(default=None, alias="lower_m")
    upper: Number | None = Field(default=None, alias="upper_m")
    stiffness: Positive = Field(alias="stiffness_n_per_m")
    damping: NonNegative = Field(default=0.0, alias="damping_n_s_per_m")


class NumberSpring(Spring):
    """A spring on a coordinate that is a pure number."""

    stiffness: NonNegative = Field(alias="stiffness_n_m")
    rest: Number = 0.0


class NumberStops(Stops):
    """Soft stops of a coordinate that is a pure number."""

    stiffness: Positive = Field(alias="stiffness_n_m")
    damping: NonNegative = Field(default=0.0, alias="damping_n_m_s")


class AngleFriction(Friction):
    """Dry friction of an angle."""

    coulomb: NonNegative = Field(alias="coulomb_n_m", description="while it moves")
    breakaway: NonNegative | None = Field(
        default=None, alias="breakaway_n_m", description="before it moves; default: coulomb"
    )
    stribeck_rate: Positive | None = Field(
        default=None, alias="stribeck_rate_rad_s", description="where half of the excess is gone"
    )
    creep_rate: Positive = Field(
        default=CREEP_RATE, alias="creep_rate_rad_s", description="below it friction is viscous"
    )


class SlideFriction(Friction):
    """Dry friction of a slide."""

    coulomb: NonNegative = Field(alias="coulomb_n", description="while it moves")
    breakaway: NonNegative | None = Field(
        default=None, alias="breakaway_n", description="before it moves; default: coulomb"
    )
    stribeck_rate: Positive | None = Field(
        default=None, alias="stribeck_rate_m_s", description="where half of the excess is gone"
    )
    creep_rate: Positive = Field(
        default=CREEP_RATE, alias="creep_rate_m_s", description="below it friction is viscous"
    )


class NumberFriction(Friction):
    """Dry friction of a coordinate that is a pure number."""

    coulomb: NonNegative = Field(alias="coulomb_n_m", description="while it moves")
    breakaway: NonNegative | None = Field(
        default=None, alias="breakaway_n_m", description="before it moves; default: coulomb"
    )
    stribeck_rate: Positive | None = Field(
        default=None, alias="stribeck_rate_per_s", description="where half of the excess is gone"
    )
    creep_rate: Positive = Field(
        default=CREEP_RATE, alias="creep_rate_per_s", description="below it friction is viscous"
    )


class BallSpring(Spec):
    """A torsion spring, the same about every axis, that pulls the two hinge frames together."""

    stiffness: NonNegative = Field(alias="stiffness_n_m_per_rad")


def _gather(
    spring: Spring | BallSpring | None,
    damping: float,
    stops: Stops | None,
    friction: Friction | None,
) -> Passive:
    inf = float("inf")
    rubbing = friction or Friction(coulomb=0.0)
    return Passive(
        stiffness=spring.stiffness if spring else 0.0,
        rest=spring.rest if isinstance(spring, Spring) else 0.0,
        damping=damping,
        lower=-inf if stops is None or stops.lower is None else stops.lower,
        upper=inf if stops is None or stops.upper is None else stops.upper,
        stop_stiffness=stops.stiffness if stops else 0.0,
        stop_damping=stops.damping if stops else 0.0,
        coulomb=rubbing.coulomb,
        breakaway=rubbing.coulomb if rubbing.breakaway is None else rubbing.breakaway,
        stribeck_rate=rubbing.stribeck_rate or 1.0,
        creep_rate=rubbing.creep_rate,
    )


class AngleElements(LimitedAngle):
    """Passive elements of an angle."""

    spring: AngleSpring | None = None
    damping: NonNegative = Field(default=0.0, alias="damping_n_m_s_per_rad")
    stops: AngleStops | None = None
    friction: AngleFriction | None = None

    def passive(self) -> Passive:
        """Return the numbers."""
        return _gather(self.spring, self.damping, self.stops, self.friction)


class SlideElements(LimitedSlide):
    """Passive elements of a slide."""

    spring: SlideSpring | None = None
    damping: NonNegative = Field(default=0.0, alias="damping_n_s_per_m")
    stops: SlideStops | None = None
    friction: SlideFriction | None = None

    def passive(self) -> Passive:
        """Return the numbers."""
        return _gather(self.spring, self.damping, self.stops, self.friction)


class NumberElements(Spec):
    """Passive elements of a coordinate that is a pure number."""

    spring: NumberSpring | None = None
    damping: NonNegative = Field(default=0.0, alias="damping_n_m_s")
    stops: NumberStops | None = None
    friction: NumberFriction | None = None

    def passive(self) -> Passive:
        """Return the numbers."""
        return _gather(self.spring, self.damping, self.stops, self.friction)


class BallElements(Spec):
    """Passive elements of a rotation about any axis; it has no limits."""

    spring: BallSpring | None = None
    damping: NonNegative = Field(default=0.0, alias="damping_n_m_s_per_rad")
    friction: AngleFriction | None = None

    def passive(self) -> Passive:
        """Return the numbers of each of the three speeds."""
        return _gather(self.spring, self.damping, None, self.friction)
