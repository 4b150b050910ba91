"""Joints of a tree as joints of URDF: one freedom each, or planar, or floating."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from darts_py.multibody.names import joint_coordinates
from darts_py.multibody.tree import Array, Joint, Stage
from darts_py.spec.fields import LARGEST
from darts_py.spec.passive import CREEP_RATE
from darts_py.urdf.notes import Notes

UNIT = 1e-12  # how near to length 1 an axis of a unit joint is


@dataclass(frozen=True)
class WrittenJoint:
    """One joint of the URDF file; limits are infinite where there are none."""

    name: str
    kind: str
    axis: Array | None = None
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0


def _kind(stage: Stage) -> str:
    """Return URDF's word for a stage; empty if there is none."""
    turn, slide = stage.H[:3], stage.H[3:]
    if stage.kind == "axis" and not np.any(slide) and abs(np.linalg.norm(turn) - 1.0) < UNIT:
        return "revolute"
    if stage.kind == "axis" and not np.any(turn) and abs(np.linalg.norm(slide) - 1.0) < UNIT:
        return "prismatic"
    if stage.kind == "planar":
        return "planar"
    if stage.kind == "free" and np.array_equal(stage.H, np.eye(6)):
        return "floating"
    return ""


def refusal(joint: Joint) -> tuple[str, str, str] | None:
    """Return got, expected, hint where URDF has no such joint."""
    if joint.locked or all(_kind(stage) for stage in joint.stages):
        return None
    if any(stage.kind == "ball" for stage in joint.stages):
        hint = "three revolute stages of a compound joint can be exported, with their gimbal lock"
        return f"a {joint.kind} joint", "a joint that URDF has: no ball joints", hint
    expected = "revolute, prismatic, planar, free or fixed joints, or chains of them"
    hint = "a compound joint of revolute and prismatic stages can be exported"
    return f"a {joint.kind} joint", expected, hint


def chain_of(joint: Joint, notes: Notes) -> list[WrittenJoint]:
    """Return the joints that replace one, from the parent outward."""
    if joint.locked or not joint.stages:
        if joint.stages:
            text = "a locked joint became a fixed one in its neutral position"
            notes.warn(f"{text}: {joint.name}")
        return [WrittenJoint(joint.name, "fixed")]
    words = [name.split(".", 1)[1] for name in joint_coordinates(joint)]
    chain, speed, coord = [], 0, 0
    for stage in joint.stages:
        name = joint.name if len(joint.stages) == 1 else f"{joint.name}_{words[coord]}"
        if stage.kind == "axis":
            chain.append(_single(joint, stage, name, speed, notes))
        else:
            axis = np.array([0.0, 0.0, 1.0]) if stage.kind == "planar" else None
            chain.append(WrittenJoint(name, _kind(stage), axis))
            _warn_passive(joint, slice(speed, speed + stage.n_speeds), notes, all_of_it=True)
        speed, coord = speed + stage.n_speeds, coord + stage.n_coords
    return chain


def _single(joint: Joint, stage: Stage, name: str, k: int, notes: Notes) -> WrittenJoint:
    kind = _kind(stage)
    axis = stage.H[:3, 0] if kind == "revolute" else stage.H[3:, 0]
    ends = {key: _value(joint.limits, key, k, np.inf) for key in ("upper", "velocity", "effort")}
    ends["lower"] = _value(joint.limits, "lower", k, -np.inf)
    for key, missing in (("lower", -np.inf), ("upper", np.inf)):
        stop = _value(joint, key, k, missing)
        ends[key] = ends[key] if np.isfinite(ends[key]) else stop
    if kind == "revolute" and not (np.isfinite(ends["lower"]) or np.isfinite(ends["upper"])):
        kind = "continuous"
    _warn_passive(joint, slice(k, k + 1), notes, all_of_it=False)
    damping, friction = _value(joint, "damping", k, 0.0), _value(joint, "coulomb", k, 0.0)
    return WrittenJoint(name, kind, axis, **ends, damping=damping, friction=friction)


def _value(holder: object, key: str, k: int, missing: float) -> float:
    values = getattr(holder, key, None)
    return missing if values is None else float(values[k])


def _warn_passive(joint: Joint, speeds: slice, notes: Notes, *, all_of_it: bool) -> None:
    """Warn of what URDF cannot say about these speeds."""

    def there(key: str) -> bool:
        values = getattr(joint, key)
        return values is not None and bool(np.any(values[speeds]))

    if there("stiffness"):
        notes.warn(f"spring left out: {joint.name}")
    if there("stop_stiffness"):
        kept = "" if all_of_it else "; their places are kept as limits"
        notes.warn(f"soft stops left out{kept}: {joint.name}")
    if all_of_it and there("damping"):
        notes.warn(f"damper of a {joint.kind} joint left out: {joint.name}")
    if all_of_it and there("breakaway"):
        notes.warn(f"friction of a {joint.kind} joint left out: {joint.name}")
    if not all_of_it and _more_than_coulomb(joint, speeds):
        notes.warn(f"of the friction, the coulomb part is kept: {joint.name}")
    if all_of_it and joint.limits is not None:
        notes.warn(f"limits of a {joint.kind} joint left out: {joint.name}")


def _more_than_coulomb(joint: Joint, speeds: slice) -> bool:
    """Tell whether friction has more to say than URDF's one number and our usual creep rate."""
    if joint.coulomb is None or joint.breakaway is None or joint.creep_rate is None:
        return False
    more = np.any(joint.breakaway[speeds] != joint.coulomb[speeds])
    return bool(more or np.any(joint.creep_rate[speeds] != CREEP_RATE))


def limit_attributes(joint: WrittenJoint) -> dict[str, float]:
    """Return what a <limit> says; empty if nothing must be said. URDF has no infinity."""
    if joint.kind not in ("revolute", "continuous", "prismatic"):
        return {}
    values = {"effort": joint.effort, "velocity": joint.velocity}
    if joint.kind == "continuous" and not np.any(np.isfinite(list(values.values()))):
        return {}
    if joint.kind != "continuous":
        values = {"lower": joint.lower, "upper": joint.upper, **values}
    return {key: float(np.clip(value, -LARGEST, LARGEST)) for key, value in values.items()}
