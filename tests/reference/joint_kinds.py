"""Random joints of every kind, with or without springs, dampers and soft stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from darts_py.multibody import joint_types as jt
from darts_py.multibody.tree import Stage

Array = np.ndarray
Rng = np.random.Generator


def rotation(rng: Rng) -> Array:
    """Return a random proper rotation."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.linalg.det(Q)


def cross_matrix(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def moved(H: Array, rng: Rng) -> Array:
    """Return a joint map seen from a turned and displaced frame, its columns mixed."""
    R, c = rotation(rng), 0.4 * rng.normal(size=3)
    out = np.vstack([R @ H[:3], R @ H[3:] + cross_matrix(c) @ R @ H[:3]])
    mix = np.eye(H.shape[1]) + 0.3 * rng.uniform(-1, 1, size=(H.shape[1],) * 2) / H.shape[1]
    return out @ mix


def _unit_columns(*entries: int) -> Array:
    return np.eye(6)[:, list(entries)]


def _pitched_plane(rng: Rng) -> Array:
    """Return two slides and a screw about their normal: closed, but not `planar`."""
    H = _unit_columns(3, 4, 2)
    H[5, 2] = rng.uniform(-0.5, 0.5)
    return H


def map_of(H: Callable[[Rng], Array] | Array) -> Callable[[Rng], tuple[Stage, ...]]:
    """Return a maker of constant-map joints, seen from a random frame."""
    return lambda rng: jt.constant_map(moved(H(rng) if callable(H) else H, rng))


def _compound(rng: Rng) -> tuple[Stage, ...]:
    parts = COMPOUNDS[rng.integers(len(COMPOUNDS))]
    return jt.compound([JOINTS[part](rng) for part in parts])


def _axis(rng: Rng) -> Array:
    return rng.normal(size=3)


JOINTS: dict[str, Callable[[Rng], tuple[Stage, ...]]] = {
    "fixed": lambda rng: jt.fixed(),
    "revolute": lambda rng: jt.revolute(_axis(rng)),
    "prismatic": lambda rng: jt.prismatic(_axis(rng)),
    "screw": lambda rng: jt.screw(_axis(rng), rng.uniform(-0.5, 0.5)),
    "cylindrical": lambda rng: jt.cylindrical(_axis(rng)),
    "universal": lambda rng: jt.universal(_axis(rng), _axis(rng)),
    "spherical": lambda rng: jt.spherical(),
    "planar": lambda rng: jt.planar(),
    "free": lambda rng: jt.free(),
    "map-axis": map_of(_unit_columns(1)),
    "map-cylinder": map_of(_unit_columns(2, 5)),
    "map-slides": map_of(_unit_columns(3, 4)),
    "map-plane": map_of(_pitched_plane),
    "map-translation": map_of(_unit_columns(3, 4, 5)),
    "map-schoenflies": map_of(_unit_columns(2, 3, 4, 5)),
    "map-ball": map_of(_unit_columns(0, 1, 2)),
    "map-free": map_of(np.eye(6)),
    "compound": _compound,
}
COMPOUNDS = (  # chains whose speeds stay independent in almost every position
    ("revolute", "prismatic"),
    ("prismatic", "spherical"),
    ("spherical", "prismatic", "prismatic"),
    ("screw", "revolute"),
    ("planar", "revolute"),
    ("revolute", "map-plane"),
    ("map-ball", "map-slides"),
    ("prismatic", "universal", "screw"),
)
ALL_KINDS = tuple(JOINTS)
PLAIN_KINDS = ALL_KINDS[:9]


def quaternion_stage(stage: Stage) -> bool:
    """Return whether the stage's first three springs belong to a rotation."""
    return stage.kind in ("ball", "free")


def friction_elements(stages: Sequence[Stage], rng: Rng) -> dict[str, Array]:
    """Return random dry friction for a joint, some of it without a peak at breakaway."""
    n = sum(stage.n_speeds for stage in stages)
    coulomb = rng.uniform(0, 2, n) * (rng.random(n) < 0.8)
    return {
        "coulomb": coulomb,
        "breakaway": coulomb + rng.uniform(0, 2, n) * (rng.random(n) < 0.5),
        "stribeck_rate": rng.uniform(0.05, 1.0, n),
        "creep_rate": 10.0 ** rng.uniform(-3, -1, n),
    }


def passive_elements(stages: Sequence[Stage], rng: Rng) -> dict[str, Array]:
    """Return random springs, dampers and soft stops for a joint."""
    n = sum(stage.n_speeds for stage in stages)
    out = {
        "stiffness": rng.uniform(0, 3, n),
        "rest": 0.3 * rng.normal(size=n),
        "damping": rng.uniform(0, 1, n),
        "lower": np.full(n, -np.inf),
        "upper": np.full(n, np.inf),
        "stop_stiffness": rng.uniform(5, 20, n),
        "stop_damping": rng.uniform(0, 2, n),
    }
    first = 0
    for stage in stages:
        scalar = first + (3 if quaternion_stage(stage) else 0)
        last = first + stage.n_speeds
        out["stiffness"][first:scalar] = out["stiffness"][first]
        out["rest"][first:scalar] = 0.0
        limit = np.abs(rng.normal(size=last - scalar))  # half of all states press a stop
        out["lower"][scalar:last] = -limit
        out["upper"][scalar:last] = limit
        first = last
    return out
