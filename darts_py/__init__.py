"""darts-py: real-time hardware-in-the-loop simulation of flexible multibody spacecraft.

    model = darts_py.load_model("flexible_satellite")
    plant = darts_py.Plant(model, dt_ns=1_000_000)
    plant.advance(1000)

Names are loaded on first use, so that the command line starts without the compiler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from darts_py.api import (
        BodyMotion,
        Energy,
        NodeMotion,
        Plant,
        Spacecraft,
        Status,
        bias_force,
        body_motion,
        energy,
        forward_dynamics,
        hinge_loads,
        inverse_dynamics,
        load_model,
        mass_matrix,
        momentum,
        node_motion,
    )

__version__ = "0.1.0"

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


def __getattr__(name: str) -> Any:
    if name in __all__:
        from darts_py import api

        return getattr(api, name)
    raise AttributeError(f"module 'darts_py' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
