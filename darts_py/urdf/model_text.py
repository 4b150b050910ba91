"""A plan as the text of a model file: what a person would write, every number in full.

The text depends on the plan and the options alone, so that the same robot gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import numpy as np

from darts_py.multibody.forms import axes_with_z_along
from darts_py.spec.joints import GROUND_NAME
from darts_py.urdf.fields import Log
from darts_py.urdf.plan import PlacedShape, Plan, PlannedBody, PlannedJoint, Turn
from darts_py.urdf.robot import RobotJoint

Array = np.ndarray
MeshPath = Callable[[str], str]

WORDS = {"continuous": "revolute", "floating": "free"}  # the others have the same name
ANGLES = {"lower": "lower_rad", "upper": "upper_rad", "velocity": "velocity_rad_s",
          "effort": "effort_n_m", "damping": "damping_n_m_s_per_rad",
          "stiffness": "stiffness_n_m_per_rad", "coulomb": "coulomb_n_m"}  # fmt: skip
SLIDES = {"lower": "lower_m", "upper": "upper_m", "velocity": "velocity_m_s",
          "effort": "effort_n", "damping": "damping_n_s_per_m",
          "stiffness": "stiffness_n_per_m", "coulomb": "coulomb_n"}  # fmt: skip


def shown(x: float) -> str:
    """Write a number so that reading it back gives the same one."""
    x = float(x) + 0.0
    return str(int(x)) if x.is_integer() and abs(x) < 1e9 else repr(x)


def row(values: Sequence[float] | Array) -> str:
    """Write numbers as a short list."""
    return "[" + ", ".join(shown(x) for x in values) + "]"


def quoted(text: str) -> str:
    """Write text, which is printable, as a double-quoted scalar."""
    return json.dumps(text, ensure_ascii=False)


def rotation_text(turn: Turn) -> str:
    """Write a rotation: angles where the file has them, a quaternion where it was composed."""
    if turn.rpy is not None:
        return f"{{euler_deg: {row(np.rad2deg(turn.rpy[::-1]))}, sequence: zyx}}"
    return f"{{quaternion: {row(quaternion(turn.R))}}}"


def quaternion(R: Array) -> Array:
    """Return the unit quaternion of a rotation, scalar first, its largest entry positive."""
    trace = np.trace(R)
    K = np.empty((4, 4))  # 4 q q^T
    K[0, 0] = 1.0 + trace
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = R + R.T + (1.0 - trace) * np.eye(3)
    q = K[int(np.argmax(np.diag(K)))]
    return q / np.linalg.norm(q)


def model_text(
    plan: Plan,
    head: Sequence[str],
    gravity: Sequence[float],
    stops: tuple[float, float] | None,
    mesh_path: MeshPath,
    log: Log,
) -> str:
    """Write the model file; `head` are its first lines, as comments."""
    lines = [f"# {line}".rstrip() for line in head]
    lines += ["darts_model: 1", f"name: {plan.name}"]
    lines += [f"gravity_m_s2: {row(gravity)}", "", "bodies:"]
    for body in plan.bodies:
        lines += _body(body, mesh_path)
    lines += ["", "joints:"]
    for joint in plan.joints:
        lines += _joint(joint, stops, log)
    return "\n".join(lines) + "\n"


def _body(body: PlannedBody, mesh_path: MeshPath) -> list[str]:
    lines = [f"  {body.name}:" + _called(body.name, body.link)]
    if body.inertial is None:
        lines += ["    mass_kg: 0", "    inertia_kg_m2: [0, 0, 0]"]
    else:
        lines.append(f"    mass_kg: {shown(body.inertial.mass)}")
        if np.any(body.inertial.origin.xyz):
            lines.append(f"    center_of_mass_m: {row(body.inertial.origin.xyz)}")
        lines.append(f"    inertia_kg_m2: {_inertia(body.inertial.tensor_in_link)}")
    if body.nodes:
        lines.append("    nodes:")
        for link, place in body.nodes:
            turned = "" if place.turn.none else f", rotation: {rotation_text(place.turn)}"
            text = f"      {place.node}: {{position_m: {row(place.r)}{turned}}}"
            lines.append(text + _called(place.node, link))
    for role in ("visual", "collision"):
        shapes = [placed for placed in body.shapes if placed.shape.role == role]
        lines += [f"    {role}s:"] if shapes else []
        for placed in shapes:
            lines += _shape(placed, mesh_path)
    return lines


def _called(name: str, link: str) -> str:
    return "" if name == link else f"  # link {quoted(link)}"


def _inertia(J: Array) -> str:
    if not np.any(J - np.diag(np.diag(J))):
        return row(np.diag(J))
    entries = {"xx": J[0, 0], "yy": J[1, 1], "zz": J[2, 2],
               "xy": J[0, 1], "xz": J[0, 2], "yz": J[1, 2]}  # fmt: skip
    return "{" + ", ".join(f"{key}: {shown(x)}" for key, x in entries.items()) + "}"


def _shape(placed: PlacedShape, mesh_path: MeshPath) -> list[str]:
    shape = placed.shape
    entries: list[str] = []
    if shape.kind == "mesh":
        entries.append(f"mesh: {quoted(mesh_path(shape.mesh))}")
        if np.any(shape.size != 1.0):
            entries.append(f"scale: {row(shape.size)}")
    elif shape.kind == "box":
        entries.append(f"box: {{size_m: {row(shape.size)}}}")
    elif shape.kind == "cylinder":
        radius, length = (shown(x) for x in shape.size)
        entries.append(f"cylinder: {{radius_m: {radius}, length_m: {length}}}")
    else:
        entries.append(f"sphere: {{radius_m: {shown(shape.size[0])}}}")
    entries += [f"name: {quoted(shape.name)}"] if shape.name else []
    entries += [f"position_m: {row(placed.r)}"] if np.any(placed.r) else []
    entries += [] if placed.turn.none else [f"rotation: {rotation_text(placed.turn)}"]
    entries += [] if shape.color is None else [f"color_rgba: {row(shape.color)}"]
    return [("      - " if k == 0 else "        ") + entry for k, entry in enumerate(entries)]


def _joint(joint: PlannedJoint, stops: tuple[float, float] | None, log: Log) -> list[str]:
    source, inner = joint.source, Turn(np.eye(3))
    name = joint.name if source is None else source.name
    lines = [f"  {joint.name}:"]
    if source is not None and name != joint.name:
        lines[0] += f"  # joint {quoted(name)}"
    lines.append(f"    type: {WORDS.get(joint.kind, joint.kind)}")
    if source is not None and joint.kind in ("revolute", "continuous", "prismatic"):
        lines.append(f"    axis: {row(source.axis)}")
    if source is not None and joint.kind == "planar":  # ours has its normal along z
        normal = source.axis / np.linalg.norm(source.axis)
        inner = Turn(axes_with_z_along(normal))
    lines.append(f"    parent: {joint.parent.body or GROUND_NAME}")
    lines += [f"    parent_node: {joint.parent.node}"] if joint.parent.node else []
    lines += [f"    parent_offset_m: {row(joint.offset)}"] if np.any(joint.offset) else []
    turn = joint.turn.then(inner)
    lines += [] if turn.none else [f"    parent_rotation: {rotation_text(turn)}"]
    lines.append(f"    child: {joint.child}")
    lines += [] if inner.none else [f"    child_rotation: {rotation_text(inner)}"]
    return lines + ([] if source is None else _elements(source, stops, log))


def _elements(joint: RobotJoint, stops: tuple[float, float] | None, log: Log) -> list[str]:
    """Write limits, damper, friction and, where asked for, stops."""
    if joint.kind not in ("revolute", "continuous", "prismatic"):
        if joint.damping or joint.friction:
            text = f"<dynamics> of a {joint.kind} joint left out: URDF does not say along what"
            log.notes.warn(text, joint.line)
        return []
    words = SLIDES if joint.kind == "prismatic" else ANGLES
    lines = [f"    {words['damping']}: {shown(joint.damping)}"] if joint.damping else []
    if joint.friction:
        lines.append(f"    friction: {{{words['coulomb']}: {shown(joint.friction)}}}")
    limits = _limits(joint, words)
    lines += [f"    limits: {{{limits}}}"] if limits else []
    return lines + ([] if stops is None else _stops(joint, words, stops, log))


def _limits(joint: RobotJoint, words: dict[str, str]) -> str:
    if joint.limit is None:
        return ""
    values = {key: getattr(joint.limit, key) for key in ("lower", "upper", "velocity", "effort")}
    return ", ".join(f"{words[k]}: {shown(v)}" for k, v in values.items() if v is not None)


def _stops(
    joint: RobotJoint, words: dict[str, str], stops: tuple[float, float], log: Log
) -> list[str]:
    limit = joint.limit
    if limit is None or (limit.lower is None and limit.upper is None):
        return []
    if limit.lower is not None and limit.lower == limit.upper:
        log.notes.warn("no stops where lower and upper limit are equal", limit.line)
        return []
    ends = {"lower": limit.lower, "upper": limit.upper}
    parts = [f"{words[key]}: {shown(x)}" for key, x in ends.items() if x is not None]
    parts += [
        f"{words[k]}: {shown(x)}" for k, x in zip(("stiffness", "damping"), stops, strict=True)
    ]
    return [f"    stops: {{{', '.join(parts)}}}"]
