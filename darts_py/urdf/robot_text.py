"""Links and joints as the text of a URDF file, every number in full."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

import numpy as np

from darts_py.multibody.tree import Array, Shape
from darts_py.urdf.export_joints import WrittenJoint, limit_attributes
from darts_py.urdf.model_text import shown
from darts_py.urdf.robot import rpy_of_rotation


@dataclass(frozen=True)
class Frame:
    """Axes and origin of a frame in another."""

    R: Array
    r: Array

    def seen_from(self, other: Frame) -> Frame:
        """Return this frame as seen from another; both are given in the same one."""
        if other.is_identity:
            return self
        return Frame(other.R.T @ self.R, other.R.T @ (self.r - other.r))

    @property
    def is_identity(self) -> bool:
        """Tell whether there is no motion between the two."""
        return np.array_equal(self.R, np.eye(3)) and not np.any(self.r)


PlacedShape = tuple[Shape, Frame]


def robot_text(name: str, comments: Sequence[str], parts: Iterable[str]) -> str:
    """Put the parts together."""
    head = ['<?xml version="1.0"?>', *(f"<!-- {_comment(text)} -->" for text in comments)]
    return "\n".join([*head, f"<robot name={quoteattr(name)}>", *parts, "</robot>"]) + "\n"


def _comment(text: str) -> str:
    return text.replace("--", "- -")  # two hyphens end a comment


def link_text(
    name: str, inertial: tuple[float, Array, Array] | None, shapes: Sequence[PlacedShape]
) -> str:
    """Write a link; without mass and shapes it is a mere frame."""
    if inertial is None and not shapes:
        return f"  <link name={quoteattr(name)}/>"
    lines = [f"  <link name={quoteattr(name)}>"]
    if inertial is not None:
        mass, centre, J = inertial
        entries = {"ixx": J[0, 0], "ixy": J[0, 1], "ixz": J[0, 2],
                   "iyy": J[1, 1], "iyz": J[1, 2], "izz": J[2, 2]}  # fmt: skip
        lines += ["    <inertial>", *_origin(Frame(np.eye(3), centre), 6)]
        lines += [f'      <mass value="{shown(mass)}"/>', f"      <inertia{_attributes(entries)}/>"]
        lines.append("    </inertial>")
    for k, (shape, frame) in enumerate(shapes):
        lines += _shape(shape, frame, f"{name}_{k + 1}")
    return "\n".join([*lines, "  </link>"])


def joint_text(joint: WrittenJoint, name: str, parent: str, child: str, place: Frame) -> str:
    """Write a joint."""
    lines = [f'  <joint name={quoteattr(name)} type="{joint.kind}">', *_origin(place, 4)]
    lines += [f"    <parent link={quoteattr(parent)}/>", f"    <child link={quoteattr(child)}/>"]
    if joint.axis is not None:
        lines.append(f'    <axis xyz="{_numbers(joint.axis)}"/>')
    limit = limit_attributes(joint)
    lines += [f"    <limit{_attributes(limit)}/>"] if limit else []
    dynamics = {"damping": joint.damping, "friction": joint.friction}
    lines += [f"    <dynamics{_attributes(dynamics)}/>"] if any(dynamics.values()) else []
    return "\n".join([*lines, "  </joint>"])


def _shape(shape: Shape, frame: Frame, material: str) -> list[str]:
    name = f" name={quoteattr(shape.name)}" if shape.name else ""
    lines = [f"    <{shape.role}{name}>", *_origin(frame, 6)]
    lines.append(f"      <geometry>{_geometry(shape)}</geometry>")
    if shape.color is not None and shape.role == "visual":
        color = f'<color rgba="{_numbers(shape.color)}"/>'
        lines.append(f"      <material name={quoteattr(material)}>{color}</material>")
    return [*lines, f"    </{shape.role}>"]


def _geometry(shape: Shape) -> str:
    if shape.kind == "box":
        return f'<box size="{_numbers(shape.size)}"/>'
    if shape.kind == "cylinder":
        return f'<cylinder radius="{shown(shape.size[0])}" length="{shown(shape.size[1])}"/>'
    if shape.kind == "sphere":
        return f'<sphere radius="{shown(shape.size[0])}"/>'
    scale = f' scale="{_numbers(shape.size)}"' if np.any(shape.size != 1.0) else ""
    return f"<mesh filename={quoteattr(shape.mesh)}{scale}/>"


def _origin(frame: Frame, indent: int) -> list[str]:
    if frame.is_identity:
        return []
    xyz, rpy = _numbers(frame.r), _numbers(rpy_of_rotation(frame.R))
    return [f'{" " * indent}<origin xyz="{xyz}" rpy="{rpy}"/>']


def _attributes(values: Mapping[str, float]) -> str:
    return "".join(f' {key}="{shown(x)}"' for key, x in values.items())


def _numbers(values: Array) -> str:
    return " ".join(shown(x) for x in values)
