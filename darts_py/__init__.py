"""darts-py: real-time hardware-in-the-loop simulation of flexible multibody spacecraft.

    model = darts_py.load_model("flexible_satellite")
    plant = darts_py.Plant(model, dt_ns=1_000_000)
    plant.advance(1000)

Names are loaded on first use, so that the command line starts without the compiler.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from darts_py.dynamics import (
        BodyMotion,
        Energy,
        NodeMotion,
        bias_force,
        body_motion,
        energy,
        forward_dynamics,
        inverse_dynamics,
        mass_matrix,
        momentum,
        node_motion,
    )
    from darts_py.hybrid import (
        Hybrid,
        closure_loads,
        hinge_loads,
        hybrid_dynamics,
        load_about,
    )
    from darts_py.linear import LinearModel, linearise
    from darts_py.loading import load_model
    from darts_py.loops import (
        ClosureError,
        close_loops,
        closure_error,
        closure_jacobian,
        closure_rows,
    )
    from darts_py.motions import Motion
    from darts_py.operators import MassOperator
    from darts_py.plant import Loads, Plant, Spacecraft, Status

__version__ = "0.1.0"

__all__ = [
    "BodyMotion",
    "ClosureError",
    "Energy",
    "Hybrid",
    "LinearModel",
    "Loads",
    "MassOperator",
    "Motion",
    "NodeMotion",
    "Plant",
    "Spacecraft",
    "Status",
    "bias_force",
    "body_motion",
    "close_loops",
    "closure_error",
    "closure_jacobian",
    "closure_loads",
    "closure_rows",
    "energy",
    "forward_dynamics",
    "hinge_loads",
    "hybrid_dynamics",
    "inverse_dynamics",
    "linearise",
    "load_about",
    "load_model",
    "mass_matrix",
    "momentum",
    "node_motion",
]


_ROOMS = ("dynamics", "hybrid", "operators", "loops", "motions", "plant", "linear", "loading")


def __getattr__(name: str) -> Any:
    if name in __all__:
        for room in _ROOMS:
            module = importlib.import_module(f"darts_py.{room}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'darts_py' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
