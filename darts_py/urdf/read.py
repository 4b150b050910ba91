"""From elements to a robot: what URDF knows is read, what it does not know is noted."""

from __future__ import annotations

import numpy as np

from darts_py.spec.faults import show, suggest
from darts_py.spec.fields import LARGEST
from darts_py.urdf.fields import XACRO, Log, label, number, number_of, numbers, only, origin, word
from darts_py.urdf.markup import Element
from darts_py.urdf.read_links import Materials, read_link
from darts_py.urdf.robot import Limit, Link, Robot, RobotJoint

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")

# what has no meaning here, and why
IGNORED = {
    "transmission": "<transmission> left out: actuators are not part of a model file yet",
    "gazebo": "<gazebo> left out: it is for another simulator",
    "sensor": "<sensor> left out: sensors are not part of a model file yet",
    "ros2_control": "<ros2_control> left out: it is for ROS controllers",
    "safety_controller": "<safety_controller> left out: it is for a controller",
    "mimic": "<mimic> left out: the joint becomes independent of the one it mimics",
    "calibration": "<calibration> left out: it is for a driver",
}
JOINT_CHILDREN = {"origin", "parent", "child", "axis", "dynamics", "limit"}


def read_robot(root: Element, log: Log) -> Robot | None:
    """Read the robot; None where the root element is something else."""
    if root.tag != "robot":
        log.add(root, "document", f"<{root.tag}>", "<robot>", "is this a URDF file?")
        return None
    if _has_macros(root, log):
        return None
    name = word(root, "name", log, "<robot>") or "robot"
    materials = Materials(log)
    for element in root.all("material"):
        materials.define(element)
    links = [read_link(element, materials, log) for element in root.all("link")]
    joints = [_joint(element, log) for element in root.all("joint")]
    _note_unknown(root, {"link", "joint", "material"}, log)
    robot = Robot(name, {}, {})
    for link in links:
        if link is not None and link is not robot.links.setdefault(link.name, link):
            _note_twice("link", link, robot.links[link.name].line, log)
    for joint in joints:
        if joint is not None and joint is not robot.joints.setdefault(joint.name, joint):
            _note_twice("joint", joint, robot.joints[joint.name].line, log)
            robot.joints[f"{joint.name} again, line {joint.line}"] = joint  # it is in the tree
    return robot


def _note_twice(kind: str, part: Link | RobotJoint, first: int, log: Log) -> None:
    got = f"a second {kind} '{part.name}' (first on line {first})"
    log.at_line(part.line, f'<{kind} name="{part.name}">', got, "each name once")


def _has_macros(root: Element, log: Log) -> bool:
    """Refuse a file for the macro processor: nothing else in it can be judged."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag.startswith("xacro:"):
            log.add(element, "<robot>", f"<{element.tag}>", "plain URDF", XACRO)
            return True
        waiting += reversed(element.children)
    return False


def _note_unknown(parent: Element, known: set[str], log: Log) -> None:
    for child in parent.children:
        if child.tag not in known:
            told = IGNORED.get(child.tag, f"<{child.tag}> in <{parent.tag}> left out: unknown here")
            log.notes.warn(told, child.line)


def _joint(element: Element, log: Log) -> RobotJoint | None:
    """Read a joint; None where its ends are missing.

    What else is faulty is noted and replaced, so that the tree can be judged with it.
    """
    where = label(element)
    name, kind = word(element, "name", log), word(element, "type", log)
    if kind is not None and kind not in KINDS:
        log.add(element, where, f"type={show(kind)}", "one of " + ", ".join(KINDS),
                suggest(kind, KINDS))  # fmt: skip
    ends = [_end(element, tag, log, where) for tag in ("parent", "child")]
    pose = origin(element, log, where)
    axis = _axis(element, kind or "", log, where)
    limit = _limit(element, kind or "", log, where)
    damping, friction = _dynamics(element, log, where)
    _note_unknown(element, JOINT_CHILDREN, log)
    parent, child = ends
    if parent is None or child is None:
        return None
    name = name or f"<joint> on line {element.line}:{element.column}"
    return RobotJoint(
        name, kind or "fixed", parent, child, pose, axis, limit, damping, friction, element.line
    )


def _end(joint: Element, tag: str, log: Log, where: str) -> str | None:
    element = only(joint, tag, log, where)
    if element is None:
        log.add(joint, where, "nothing", f'<{tag} link="...">')
        return None
    return word(element, "link", log, where)


def _axis(joint: Element, kind: str, log: Log, where: str) -> np.ndarray:
    """Return the axis; x where there is none, as URDF has it."""
    element, x = only(joint, "axis", log, where), np.array([1.0, 0.0, 0.0])
    if element is None:
        if kind in WITH_AXIS:
            log.notes.warn("a joint without <axis> moves along x, as URDF has it", joint.line)
        return x
    axis = numbers(element, "xyz", log, where, 3, None)
    if axis is None or kind not in WITH_AXIS:
        return x
    if float(np.linalg.norm(axis)) < 1e-12:
        log.add(element, where, f"axis {show(element.attributes['xyz'])}", "a direction, not zero")
    return axis


def _dynamics(joint: Element, log: Log, where: str) -> tuple[float, float]:
    element = only(joint, "dynamics", log, where)
    if element is None:
        return 0.0, 0.0
    damping = number(element, "damping", log, where, default=0.0, least=0.0)
    friction = number(element, "friction", log, where, default=0.0, least=0.0)
    return damping or 0.0, friction or 0.0


def _limit(joint: Element, kind: str, log: Log, where: str) -> Limit | None:
    element = only(joint, "limit", log, where)
    if element is None:
        if kind in ("revolute", "prismatic"):
            log.notes.warn("a joint without <limit>: no limits kept", joint.line)
        return None
    if kind in ("fixed", "floating", "planar"):
        if kind != "fixed":
            log.notes.warn(f"<limit> of a {kind} joint left out", element.line)
        return None
    lower, upper = (_bound(element, key, 0.0, log, where) for key in ("lower", "upper"))
    if kind == "continuous":
        lower = upper = None
    elif lower is not None and upper is not None and lower > upper:
        text = f"<limit> with lower {lower:g} above upper {upper:g}: the range is left out"
        log.notes.warn(text, element.line)
        lower = upper = None
    velocity, effort = (_bound(element, key, None, log, where) for key in ("velocity", "effort"))
    for key, value in (("velocity", velocity), ("effort", effort)):
        if value is not None and value < 0.0:
            log.notes.warn(f"<limit> with a negative {key}: taken as its size", element.line)
    velocity, effort = (None if x is None else abs(x) for x in (velocity, effort))
    return Limit(lower, upper, velocity, effort, element.line)


def _bound(element: Element, key: str, default: float | None, log: Log, where: str) -> float | None:
    """Return one number of a limit; None where it says nothing or is as good as infinite."""
    text = element.attributes.get(key)
    if text is None:
        return default
    value = number_of(text)
    if value is None:
        hint = XACRO if "${" in text else ""
        log.add(element, where, f"{key}={show(text)}", "a number", hint)
        return None
    return value if abs(value) < LARGEST else None
