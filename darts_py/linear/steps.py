"""How far each coordinate and speed may be moved when a derivative is taken."""

from __future__ import annotations

import math

import numpy as np

from darts_py.linear.body_motion import rigid_inertia
from darts_py.multibody.model import BALL, FREE, Array
from darts_py.multibody.spacecraft import Spacecraft

TURN = 0.25  # rad: sines and cosines extrapolate well from there
FRICTION = 0.25  # part of the way to the nearest complex pole of the friction law
THIN = 1e-3  # bodies smaller than this part of the largest do not set the length


def length_scale(model: Spacecraft) -> float:
    """Return the least radius of gyration of a body about its hinge, metres."""
    radii = []
    for b in range(model.n_bodies):
        inertia = rigid_inertia(model, b)
        radii.append(math.sqrt(np.trace(inertia[:3, :3]) / max(np.trace(inertia[3:, 3:]), 1e-300)))
    return max(min(radii), THIN * max(radii)) or 1.0


def coordinate_steps(model: Spacecraft) -> Array:
    """Return a large step of each local coordinate (n_speeds,): about a quarter of a radian."""
    L, m = length_scale(model), model.arrays
    steps = np.full(model.n_speeds, TURN)
    for stage in m.stage:
        kind, n, iu = int(stage["kind"]), int(stage["n"]), int(stage["u"])
        if kind == FREE:
            steps[iu + 3 : iu + 6] = TURN * L
        elif kind != BALL:
            for j in range(n):
                steps[iu + j] = TURN / _size(stage["H"][j], L)
    for b, row in enumerate(m.body):
        shapes = m.node_Pi[m.node["body"] == b]  # slope; displacement
        for k in range(int(row["n_modes"])):
            size = max((_size(Pi, L) for Pi in shapes[:, k]), default=0.0)
            steps[row["u_start"] + k] = TURN / size if size > 0.0 else 1.0
    return steps


def _size(motion: Array, length: float) -> float:
    """Return the size of a motion [rotation; translation] in radians."""
    return max(float(np.linalg.norm(motion[:3])), float(np.linalg.norm(motion[3:])) / length)


def speed_steps(model: Spacecraft, u: Array, steps: Array) -> Array:
    """Return a large step of each speed (n_speeds,).

    Velocity products are of second degree, for which any step is exact; the step is of the size
    of the motion itself, so that rounding is least. Friction bends at its creep rate.
    """
    rate = max(1.0 / TURN, float(np.max(np.abs(u) / steps, initial=0.0)))
    out = rate * steps
    laws = model.arrays.speed
    if "breakaway" in (laws.dtype.names or ()):
        for j in np.flatnonzero(laws["breakaway"] > 0.0):
            bend = min(float(laws[j]["creep_rate"]), float(laws[j]["stribeck_rate"]))
            out[j] = min(out[j], FRICTION * math.hypot(float(u[j]), bend))
    return out
