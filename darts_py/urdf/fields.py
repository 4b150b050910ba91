"""Attributes of URDF elements as numbers and words; every fault is noted in its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from darts_py.errors import Fault
from darts_py.spec.document import printable
from darts_py.spec.faults import show
from darts_py.spec.fields import LARGEST
from darts_py.urdf.markup import Element
from darts_py.urdf.notes import Notes
from darts_py.urdf.robot import Origin

Array = np.ndarray

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)inf(inity)?", re.IGNORECASE)
XACRO = "run `xacro FILE > robot.urdf` first: macros are not expanded here"


@dataclass
class Log:
    """Faults and notes of one file."""

    file: str
    notes: Notes = field(default_factory=Notes)
    faults: list[Fault] = field(default_factory=list)

    def add(self, at: Element, where: str, got: str, expected: str, hint: str = "") -> None:
        """Note a fault at an element."""
        self.at_line(at.line, where, got, expected, hint, at.column)

    def at_line(
        self, line: int, where: str, got: str, expected: str, hint: str = "", column: int = 1
    ) -> None:
        """Note a fault at a line."""
        where, got, expected, hint = (printable(text) for text in (where, got, expected, hint))
        self.faults.append(Fault(where, got, expected, hint, self.file, line, column))

    def sorted(self) -> list[Fault]:
        """Return the faults in file order, each once."""
        unique = dict.fromkeys(self.faults)
        return sorted(unique, key=lambda fault: (fault.line, fault.column, fault.path))


def label(element: Element) -> str:
    """Say which element is meant: <link name="arm">."""
    name = element.attributes.get("name")
    return f'<{element.tag} name="{name}">' if name else f"<{element.tag}>"


def word(element: Element, key: str, log: Log, where: str = "") -> str | None:
    """Return an attribute that must be there and be printable."""
    text = element.attributes.get(key)
    where = where or label(element)
    if text is None or not text.strip():
        log.add(element, where, "nothing" if text is None else "''", f"the attribute '{key}'")
        return None
    if not text.isprintable():
        log.add(element, where, f"{key}={show(text)}", "printable text")
        return None
    return text.strip()


def number_of(text: str) -> float | None:
    """Return a number as URDF writes it; None for anything else."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    infinite = _INFINITE.fullmatch(text)
    return float(f"{infinite.group(1)}inf") if infinite else None


def number(
    element: Element,
    key: str,
    log: Log,
    where: str,
    *,
    default: float | None = None,
    least: float | None = None,
) -> float | None:
    """Return a finite attribute; None where it is faulty, or missing without a default."""
    found = _numbers(element, key, log, where, 1, required=default is None)
    if found is None:
        return default if key not in element.attributes else None
    value = found[0]
    if least is not None and value < least:
        log.add(element, where, f"{key}={show(element.attributes[key])}", f"a number >= {least:g}")
        return None
    return value


def numbers(
    element: Element, key: str, log: Log, where: str, count: int, default: Array | None
) -> Array | None:
    """Return an attribute of several numbers; None where it is faulty or required and missing."""
    found = _numbers(element, key, log, where, count, required=default is None)
    if found is None:
        return default if key not in element.attributes else None
    return np.array(found) + 0.0  # no negative zeros: they would only look odd


def _numbers(
    element: Element, key: str, log: Log, where: str, count: int, *, required: bool
) -> list[float] | None:
    """Return the finite numbers of an attribute; None, with its fault noted, if it has none."""
    text = element.attributes.get(key)
    if text is None:
        if required:
            log.add(element, where, "nothing", f"the attribute '{key}' of <{element.tag}>")
        return None
    values = [number_of(part) for part in text.split()]
    sound = [value for value in values if value is not None and abs(value) <= LARGEST]
    if len(values) == len(sound) == count:
        return sound
    expected = "a finite number" if count == 1 else f"{count} finite numbers"
    log.add(element, where, f"{key}={show(text)}", expected, XACRO if "${" in text else "")
    return None


def only(parent: Element, tag: str, log: Log, where: str) -> Element | None:
    """Return the one child of a tag, None if there is none; a second one is a fault."""
    found = parent.all(tag)
    for extra in found[1:]:
        log.add(extra, where, f"a second <{tag}>", f"one (the first is on line {found[0].line})")
    return found[0] if found else None


def origin(parent: Element, log: Log, where: str) -> Origin:
    """Return the pose of an element; the identity where there is none."""
    element = only(parent, "origin", log, where)
    if element is None:
        return Origin()
    if "quat_xyzw" in element.attributes and "rpy" not in element.attributes:
        log.add(element, where, "quat_xyzw", "rpy: roll, pitch, yaw")
    xyz = numbers(element, "xyz", log, where, 3, np.zeros(3))
    rpy = numbers(element, "rpy", log, where, 3, np.zeros(3))
    return Origin() if xyz is None or rpy is None else Origin(xyz, rpy)
