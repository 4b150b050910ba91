"""Units of a finite-element model's files, into SI."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures.fe_model import FiniteElements


@dataclass(frozen=True)
class FileUnits:
    """What the units of the files are in SI; the unit of time is the second."""

    length: float = 1.0  # m
    mass: float = 1.0  # kg
    force: float | None = None  # N; None: that of a consistent system, mass length / s^2

    @property
    def newtons(self) -> float:
        """The unit of force in N."""
        return self.mass * self.length if self.force is None else self.force


SI = FileUnits()


def in_si(model: FiniteElements, units: FileUnits) -> FiniteElements:
    """Return the model in metres, kilograms and newtons.

    A translation is measured in the file's unit of length, a rotation in radians: with T the
    coordinates' units, K and M are T^-1 A T^-1 in units of energy, N m and kg m^2.
    """
    if units == SI:
        return model
    per_unit = np.where(model.component < 3, 1.0 / units.length, 1.0)
    return replace(
        model,
        K=_scaled(model.K, per_unit, units.newtons * units.length),
        M=_scaled(model.M, per_unit, units.mass * units.length**2),
        position=model.position * units.length,
    )


def _scaled(A: sp.csr_array, per_unit: Array, energy: float) -> sp.csr_array:
    S = sp.diags_array(per_unit)
    return sp.csr_array(energy * (S @ A @ S))
