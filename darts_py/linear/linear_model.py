"""A linear model: matrices, names, the state it belongs to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from darts_py.linear.modes import Modes

Array = np.ndarray


@dataclass(frozen=True)
class LinearModel:
    """x' = A x + B v, outputs = y + C x + D v, about one reference motion.

    x = [fd independent local coordinates; f independent speeds], as deviations from the
    reference, which itself moves on with `u` and `udot`. fd = f unless a closure holds speeds only.
    """

    name: str  # of the spacecraft
    A: Array  #                                                     (fd + f, fd + f)
    B: Array  #                                                     (fd + f, n_inputs)
    C: Array  #                                                     (n_outputs, fd + f)
    D: Array  #                                                     (n_outputs, n_inputs)
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    q: Array  # the reference: coordinates                          (n_coords,)
    u: Array  # speeds                                              (n_speeds,)
    tau: Array  # generalized forces                                (n_speeds,)
    udot: Array  # its accelerations                                (n_speeds,)
    y: Array  # its outputs; local coordinates and rotations are 0  (n_outputs,)
    terms: str  # velocity products: rl or crl
    is_equilibrium: bool  # it does not accelerate (it may move steadily)
    derivative_error: float  # estimated, relative to the row; see docs/linear_models.md
    n_closures: int  # independent constraints of closed loops
    mass: Array  # mass matrix of the independent speeds            (f, f)
    local_names: tuple[str, ...]  # of all local coordinates        (n_speeds,)
    shape_basis: Array  # all local coordinates per independent one (n_speeds, fd)
    body_names: tuple[str, ...]
    body_mass: Array  # share of each body in `mass`                (n_bodies, f, f)

    @property
    def n_freedoms(self) -> int:
        """Number of independent freedoms, f."""
        return self.mass.shape[0]

    @property
    def n_displacements(self) -> int:
        """Number of independent local coordinates, fd."""
        return self.A.shape[0] - self.mass.shape[0]

    @property
    def equilibrium_defect(self) -> float:
        """Greatest acceleration |udot| of the reference, in the units of its speed."""
        return float(np.max(np.abs(self.udot), initial=0.0))

    def modes(self) -> Modes:
        """Return frequencies, damping, shapes and participation of the system's modes."""
        from darts_py.linear.modes import find_modes

        return find_modes(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file: .npz (NumPy), .mat (MATLAB) or .json, by its ending."""
        from darts_py.linear.export import save

        save(self, path)

    def to_control(self) -> Any:
        """Return a `control.StateSpace` with named states, inputs and outputs (python-control)."""
        from darts_py.linear.export import to_control

        return to_control(self)
