"""A sound model to break, and the test's way to say where a fault must be placed.

A broken document carries the mark `@@` in front of the very character the fault must point at.
"""

from __future__ import annotations

from pathlib import Path

from darts_py.errors import Fault
from darts_py.spec import check_file

MARK = "@@"

SOUND = """\
darts_model: 1
name: satellite
gravity_m_s2: [0, 0, -9.81]
bodies:
  bus:
    mass_kg: 100
    center_of_mass_m: [0, 0, 0.1]
    inertia_kg_m2: [10, 12, 14]
    nodes:
      port: {position_m: [0, 1, 0]}
  panel:
    flexible:
      stiffness_n_m: [100, 150]
      damping_n_m_s: [0.5, 0.4]
    nodes:
      root:
        position_m: [0, 0, 0]
        mass_kg: 2
        inertia_kg_m2: [0.1, 0.2, 0.25]
      tip:
        position_m: [0, 1, 0]
        mass_kg: 1
        inertia_kg_m2: [0.05, 0.05, 0.05]
        modes:
          - {slope_rad: [0.3, 0, 0], displacement_m: [0, 0, 0.2]}
          - {slope_rad: [0, 0, -0.3], displacement_m: [0.25, 0, 0]}
  wheel:
    mass_kg: 4
    inertia_kg_m2: [0.02, 0.02, 0.04]
joints:
  base:
    type: free
    parent: ground
    child: bus
  drive:
    type: revolute
    axis: [0, 1, 0]
    parent: bus
    parent_node: port
    child: panel
    child_node: root
  spin:
    type: revolute
    axis: [0, 0, 1]
    parent: bus
    parent_rotation: {quaternion: [1, 0, 0, 0]}
    child: wheel
"""

LOOPED = (
    SOUND
    + """\
    friction: {coulomb_n_m: 0.1, breakaway_n_m: 0.2, stribeck_rate_rad_s: 0.05}
closures:
  strut:
    type: revolute
    axis: [0, 0, 2]
    a: panel
    a_node: tip
    a_offset_m: [0, 0, 0.1]
    b: wheel
    b_rotation: {axis: [0, 0, 1], angle_deg: 90}
  tether:
    type: ball
    a: bus
    a_node: port
    b: ground
    b_offset_m: [0, 2, 0]
"""
)


def changed(old: str, new: str, text: str = SOUND) -> str:
    """Replace the one place where `old` stands."""
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
    return text.replace(old, new)


def write(folder: Path, text: str) -> Path:
    """Write a model file, its mark left out."""
    file = folder / "model.yaml"
    file.write_text(text.replace(MARK, ""), encoding="utf-8")
    return file


def faults_of(folder: Path, text: str) -> list[Fault]:
    """Return the faults of a document."""
    return check_file(write(folder, text))


def marked_place(text: str) -> tuple[int, int]:
    """Return line and column of the mark."""
    before = text[: text.index(MARK)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def assert_only_fault(folder: Path, text: str, path: str, *phrases: str) -> Fault:
    """Assert that a marked document has one fault, at the mark, with these phrases in it."""
    faults = faults_of(folder, text)
    assert [fault.path for fault in faults] == [path], "\n".join(map(str, faults))
    fault = faults[0]
    assert (fault.line, fault.column) == marked_place(text)
    assert fault.file == str(folder / "model.yaml")
    for phrase in phrases:
        assert phrase in str(fault)
    return fault
