"""Declared limits of a joint into the numbers of `multibody.tree`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from darts_py.multibody.tree import Limits
from darts_py.spec.fields import Spec
from darts_py.spec.joints import Compound
from darts_py.spec.limits import DeclaredLimits, LimitedAngle, LimitedSlide
from darts_py.spec.motions import Motion


def build_limits(motion: Motion) -> Limits | None:
    """Return the declared limits of a joint; None where there are none."""
    limits = _declared(motion)
    if all(entry is None for entry in limits):
        return None

    def gather(name: str, missing: float) -> np.ndarray:
        values = [getattr(entry, name, None) for entry in limits]
        return np.array([missing if value is None else value for value in values], float)

    inf = float("inf")
    ends = {"lower": -inf, "upper": inf, "velocity": inf, "effort": inf}
    return Limits(**{name: gather(name, missing) for name, missing in ends.items()})


def _declared(motion: Motion) -> Sequence[DeclaredLimits | None]:
    """Return the limits of each speed, in the order of the coordinates."""
    if isinstance(motion, LimitedAngle | LimitedSlide):
        return [motion.limits]
    if isinstance(motion, Compound):
        return [limits for stage in motion.stages for limits in _declared(stage)]
    n_speeds = len(motion.as_passives())
    coordinates: Spec | None = getattr(motion, "coordinates", None)
    if coordinates is None:
        return [None] * n_speeds
    fields = [getattr(coordinates, name) for name in type(coordinates).model_fields]
    single = [f.limits if isinstance(f, LimitedAngle | LimitedSlide) else None for f in fields]
    # an attitude comes first and has three speeds; unused columns of a map come last
    return ([None] * (n_speeds - len(single)) + single)[:n_speeds]
