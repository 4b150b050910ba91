"""Everything the top of `darts_py` offers, in one place."""

from __future__ import annotations

import os

from darts_py.dynamics import (
    BodyMotion,
    Energy,
    NodeMotion,
    bias_force,
    body_motion,
    energy,
    forward_dynamics,
    hinge_loads,
    inverse_dynamics,
    mass_matrix,
    momentum,
    node_motion,
)
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.plant import Plant, Status
from darts_py.spec import find_model, load_tree

__all__ = [
    "BodyMotion",
    "Energy",
    "NodeMotion",
    "Plant",
    "Spacecraft",
    "Status",
    "bias_force",
    "body_motion",
    "energy",
    "forward_dynamics",
    "hinge_loads",
    "inverse_dynamics",
    "load_model",
    "mass_matrix",
    "momentum",
    "node_motion",
]


def load_model(name: str | os.PathLike[str]) -> Spacecraft:
    """Load a model file, or a shipped model by its name; raise ModelError listing all faults."""
    return Spacecraft(load_tree(find_model(os.fspath(name))))
