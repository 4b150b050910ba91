"""Inputs of a linear model: generalized forces on speeds, and forces and moments on nodes.

A generalized force has the name of its speed. Of a node "body.node": fx fy fz (N) and mx my mz
(N m), in the axes of its body and turning with it, as `forces` of `darts_py.forward_dynamics`.
"""

from __future__ import annotations

import numpy as np

from darts_py import dynamics
from darts_py.linear.names import WRENCH, held_speeds, is_mode
from darts_py.multibody.model import Array
from darts_py.multibody.spacecraft import Spacecraft


def input_catalogue(model: Spacecraft) -> list[str]:
    """Return the names of all inputs; locked joints have none."""
    free = ~held_speeds(model)
    names = [name for name, moves in zip(model.speed_names, free, strict=True) if moves]
    return names + [f"{node}.{word}" for node in model.node_index for word in WRENCH]


def default_inputs(model: Spacecraft) -> list[str]:
    """Return the inputs where none are chosen: the forces on all joint speeds."""
    driven = ~held_speeds(model) & ~is_mode(model)
    return [name for name, is_one in zip(model.speed_names, driven, strict=True) if is_one]


def input_forces(model: Spacecraft, q: Array, names: list[str]) -> Array:
    """Return the generalized forces (n_speeds, n_inputs) of a unit of each input."""
    columns, still = np.zeros((model.n_speeds, len(names))), np.zeros(model.n_speeds)
    jacobians: dict[str, Array] = {}
    for k, name in enumerate(names):
        if name in model.speed_names:
            columns[model.speed_names.index(name), k] = 1.0
            continue
        node, _, word = name.rpartition(".")
        if node not in jacobians:
            jacobians[node] = dynamics.node_motion(model, q, still, node=node).J
        columns[:, k] = jacobians[node][WRENCH.index(word)]  # J^T times a unit of force
    return columns
