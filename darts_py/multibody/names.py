"""Names of coordinates and speeds, in the order of the state: per body its modes, then its joint.

A joint's names follow from its stages; where one name would occur twice in a joint (two angles
of a Hooke joint) the names are numbered: angle_1, angle_2.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from darts_py.multibody.tree import Joint, Stage, Tree

_QUATERNION = ["qw", "qx", "qy", "qz"]
_RATES = ["wx", "wy", "wz"]


def coordinate_names(tree: Tree) -> list[list[str]]:
    """Return the coordinate names of each body: `panel.mode_1`, `drive.angle`."""
    return [
        _modes(body.name, body.n_modes, "") + joint_coordinates(joint)
        for body, joint in zip(tree.bodies, tree.joints, strict=True)
    ]


def speed_names(tree: Tree) -> list[list[str]]:
    """Return the speed names of each body: `panel.mode_1_rate`, `drive.angle_rate`."""
    return [
        _modes(body.name, body.n_modes, "_rate") + joint_speeds(joint)
        for body, joint in zip(tree.bodies, tree.joints, strict=True)
    ]


def _modes(body: str, n_modes: int, ending: str) -> list[str]:
    return [f"{body}.mode_{k + 1}{ending}" for k in range(n_modes)]


def joint_coordinates(joint: Joint) -> list[str]:
    """Return the coordinate names of one joint."""
    words = _numbered([word for stage in joint.stages for word in _coordinates(stage)])
    return [f"{joint.name}.{word}" for word in words]


def joint_speeds(joint: Joint) -> list[str]:
    """Return the speed names of one joint."""
    words = _numbered([word for stage in joint.stages for word in _speeds(stage)])
    return [f"{joint.name}.{word}" for word in words]


def _numbered(words: list[str]) -> list[str]:
    total, seen, numbered = Counter(words), Counter[str](), list[str]()
    for word in words:
        seen[word] += 1
        stem, rate = word.removesuffix("_rate"), "_rate" if word.endswith("_rate") else ""
        numbered.append(f"{stem}_{seen[word]}{rate}" if total[word] > 1 else word)
    return numbered


def _axis(stage: Stage) -> str:
    return "angle" if np.any(stage.H[:3]) else "slide"


def _coordinates(stage: Stage) -> list[str]:
    match stage.kind:
        case "axis":
            return [_axis(stage)]
        case "planar":
            return ["x", "y", "angle"]
        case "ball":
            return _QUATERNION
        case "free":
            return [*_QUATERNION, "x", "y", "z"]
        case _:
            return [f"c{k + 1}" for k in range(stage.n_speeds)]


def _speeds(stage: Stage) -> list[str]:
    if stage.kind == "axis":
        return [f"{_axis(stage)}_rate"]
    if stage.kind == "planar":
        return ["vx", "vy", "wz"]
    if stage.kind == "ball" and np.array_equal(stage.H[:3], np.eye(3)):
        return _RATES
    if stage.kind == "free" and np.array_equal(stage.H, np.eye(6)):
        return [*_RATES, "vx", "vy", "vz"]
    return [f"s{k + 1}" for k in range(stage.n_speeds)]
