"""Every refusal: where it points, what it is called, what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from darts_py.errors import ModelError
from darts_py.spec import load_tree
from tests.spec.documents import SOUND, assert_only_fault, changed, faults_of, write

TIP = "        modes:\n          - {slope_rad: [0.3, 0, 0], displacement_m: [0, 0, 0.2]}\n"
AXIS = "    axis: [0, 0, 1]\n"
QUATERNION = "{quaternion: [1, 0, 0, 0]}"


def test_the_document_to_break_is_sound(tmp_path: Path) -> None:
    assert faults_of(tmp_path, SOUND) == []


# old text, new text with the mark, path, phrases
STRUCTURE = {
    "unknown key": (
        "    mass_kg: 100\n",
        "    mass_kg: 100\n    @@colour: red\n",
        "bodies.bus.colour",
        ["unknown key 'colour'", "mass_kg"],
    ),
    "misspelt key": (
        "    center_of_mass_m:",
        "    @@centre_of_mass_m:",
        "bodies.bus.centre_of_mass_m",
        ["did you mean 'center_of_mass_m'?"],
    ),
    "duplicate key": (
        "    mass_kg: 100\n",
        "    mass_kg: 100\n    @@mass_kg: 200\n",
        "bodies.bus.mass_kg",
        ["a second time", "first on line 6"],
    ),
    "missing key": ("    mass_kg: 100\n", "", "bodies.bus.mass_kg", ["got nothing", "'mass_kg'"]),
    "text for a number": (
        "mass_kg: 100",
        "mass_kg: @@100 kg",
        "bodies.bus.mass_kg",
        ["'100 kg'", "a number", "without units"],
    ),
    "true for a number": ("mass_kg: 100", "mass_kg: @@true", "bodies.bus.mass_kg", ["a number"]),
    "not finite": ("mass_kg: 100", "mass_kg: @@.nan", "bodies.bus.mass_kg", ["finite"]),
    "infinite": (
        "gravity_m_s2: [0, 0, -9.81]",
        "gravity_m_s2: [0, 0, @@-.inf]",
        "gravity_m_s2[2]",
        ["finite"],
    ),
    "overflow": ("mass_kg: 100", "mass_kg: @@1e999", "bodies.bus.mass_kg", ["finite"]),
    "out of range": ("mass_kg: 100", "mass_kg: @@1e40", "bodies.bus.mass_kg", ["1e+30"]),
    "vector too short": (
        "center_of_mass_m: [0, 0, 0.1]",
        "center_of_mass_m: @@[0, 0.1]",
        "bodies.bus.center_of_mass_m",
        ["2 values", "3 values"],
    ),
    "wrong version": ("darts_model: 1", "darts_model: @@2", "darts_model", ["format version 1"]),
    "later devices": (
        "joints:\n",
        "@@devices: {}\njoints:\n",
        "devices",
        ["come in a later version"],
    ),
    "misspelt at the top": (
        "gravity_m_s2:",
        "@@gravty_m_s2:",
        "gravty_m_s2",
        ["did you mean 'gravity_m_s2'?", "bodies, joints"],
    ),
    "bad name": ("name: satellite", "name: @@my satellite", "name", ["letters, digits"]),
    "bad node name": (
        "      port: {position_m: [0, 1, 0]}",
        "      port: {position_m: [0, 1, 0]}\n      @@2nd: {position_m: [0, 1, 0]}",
        "bodies.bus.nodes.2nd",
        ["letters, digits"],
    ),
    "reserved node": (
        "      port: {position_m: [0, 1, 0]}",
        "      port: {position_m: [0, 1, 0]}\n      @@origin: {position_m: [0, 1, 0]}",
        "bodies.bus.nodes.origin",
        ["every rigid body has this node"],
    ),
    "locked is no word": (
        AXIS,
        AXIS + "    locked: @@1\n",
        "joints.spin.locked",
        ["true or false"],
    ),
    "unknown joint type": (
        "    type: free",
        "    type: @@fre",
        "joints.base.type",
        ["did you mean 'free'?", "revolute"],
    ),
    "axis without direction": (
        "axis: [0, 0, 1]",
        "axis: @@[0, 0, 0]",
        "joints.spin.axis",
        ["not all zero"],
    ),
}

PHYSICS = {
    "zero mass": (
        "mass_kg: 100",
        "mass_kg: @@0",
        "bodies.bus.mass_kg",
        ["got 0", "> 0", "compound joint"],
    ),
    "negative mass": ("mass_kg: 100", "mass_kg: @@-1", "bodies.bus.mass_kg", ["got -1"]),
    "inertia not symmetric": (
        "inertia_kg_m2: [10, 12, 14]",
        "inertia_kg_m2: @@[[10, 1, 0], [2, 12, 0], [0, 0, 14]]",
        "bodies.bus.inertia_kg_m2",
        ["symmetric", "1 in row 1 and 2 in row 2"],
    ),
    "inertia indefinite": (
        "inertia_kg_m2: [10, 12, 14]",
        "inertia_kg_m2: @@{xx: 10, yy: 12, zz: 14, xy: 20}",
        "bodies.bus.inertia_kg_m2",
        ["positive definite"],
    ),
    "inertia zero": (
        "inertia_kg_m2: [10, 12, 14]",
        "inertia_kg_m2: @@[0, 1, 1]",
        "bodies.bus.inertia_kg_m2",
        ["positive definite"],
    ),
    "triangle": (
        "inertia_kg_m2: [10, 12, 14]",
        "inertia_kg_m2: @@[1, 2, 4]",
        "bodies.bus.inertia_kg_m2",
        ["triangle inequality", "1, 2, 4"],
    ),
    "inertia of two numbers": (
        "inertia_kg_m2: [10, 12, 14]",
        "inertia_kg_m2: @@[1, 2]",
        "bodies.bus.inertia_kg_m2",
        ["3 values"],
    ),
    "inertia of no form": (
        "inertia_kg_m2: [10, 12, 14]",
        "inertia_kg_m2: @@10",
        "bodies.bus.inertia_kg_m2",
        ["3 moments"],
    ),
    "matrix not orthonormal": (
        QUATERNION,
        "{matrix: @@[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}",
        "joints.spin.parent_rotation.matrix",
        ["orthonormal"],
    ),
    "matrix left-handed": (
        QUATERNION,
        "{matrix: @@[[1, 0, 0], [0, 1, 0], [0, 0, -1]]}",
        "joints.spin.parent_rotation.matrix",
        ["left-handed"],
    ),
    "quaternion not unit": (
        QUATERNION,
        "{quaternion: @@[1, 0, 0, 0.1]}",
        "joints.spin.parent_rotation.quaternion",
        ["length 1"],
    ),
    "two rotations": (
        QUATERNION,
        "@@{quaternion: [1, 0, 0, 0], euler_deg: [0, 0, 0]}",
        "joints.spin.parent_rotation",
        ["exactly one of"],
    ),
    "stops the wrong way": (
        AXIS,
        AXIS + "    stops: @@{lower_rad: 1, upper_rad: 1, stiffness_n_m_per_rad: 9}\n",
        "joints.spin.stops",
        ["lower limit below"],
    ),
    "stops without limits": (
        AXIS,
        AXIS + "    stops: @@{stiffness_n_m_per_rad: 9}\n",
        "joints.spin.stops",
        ["a lower or an upper limit"],
    ),
    "stops without stiffness": (
        AXIS,
        AXIS + "    stops: {lower_rad: 1, stiffness_n_m_per_rad: @@0}\n",
        "joints.spin.stops.stiffness_n_m_per_rad",
        ["> 0"],
    ),
    "negative damping": (
        AXIS,
        AXIS + "    damping_n_m_s_per_rad: @@-1\n",
        "joints.spin.damping_n_m_s_per_rad",
        [">= 0"],
    ),
    "units of another joint": (
        AXIS,
        AXIS + "    @@damping_n_s_per_m: 1\n",
        "joints.spin.damping_n_s_per_m",
        ["unknown key", "damping_n_m_s_per_rad"],
    ),
    "parallel axes": (
        "    type: revolute\n" + AXIS,
        "    type: universal\n    axes: @@[[0, 0, 1], [0, 0, 2]]\n",
        "joints.spin.axes",
        ["parallel"],
    ),
    "non-holonomic map": (
        "    type: revolute\n" + AXIS,
        "    type: map\n    map: @@[[0, 0], [1, 0], [0, 1], [0, 0], [0, 0], [0, 0]]\n",
        "joints.spin.map",
        ["non-holonomic", "Lie bracket"],
    ),
    "ragged map": (
        "  spin:\n    type: revolute\n" + AXIS,
        "  spin:\n    type: map\n    map: @@[[0], [1, 0], [0], [0], [0], [0]]\n",
        "joints.spin.map",
        ["six rows of one length"],
    ),
    "spring on a quaternion map": (
        "    type: revolute\n" + AXIS,
        "    type: map\n    map: @@[[1, 0, 0], [0, 1, 0], [0, 0, 1], "
        "[0, 0, 0], [0, 0, 0], [0, 0, 0]]\n    coordinates: {c1: {spring: {stiffness_n_m: 1}}}\n",
        "joints.spin.map",
        ["dampers and friction only"],
    ),
    "stages that repeat": (
        "    type: revolute\n" + AXIS,
        "    type: compound\n    stages:\n      @@- {type: revolute, axis: [0, 0, 1]}\n"
        "      - {type: revolute, axis: [0, 0, 1]}\n",
        "joints.spin.stages",
        ["2 freedoms that make 1"],
    ),
    "fault inside a stage": (
        "    type: revolute\n" + AXIS,
        "    type: compound\n    stages:\n"
        "      - {type: universal, axes: @@[[1, 0, 0], [1, 0, 0]]}\n",
        "joints.spin.stages[0].axes",
        ["parallel"],
    ),
}

REFERENCES = {
    "unknown parent": (
        "    parent: bus\n    parent_node: port",
        "    parent: @@buss\n    parent_node: port",
        "joints.drive.parent",
        ["unknown body 'buss'", "did you mean 'bus'?", "ground"],
    ),
    "unknown child": (
        "    child: wheel\n",
        "    child: @@whel\n",
        "joints.spin.child",
        ["unknown body 'whel'", "did you mean 'wheel'?"],
    ),
    "unknown node": (
        "    parent_node: port",
        "    parent_node: @@prot",
        "joints.drive.parent_node",
        ["unknown node 'prot'", "did you mean 'port'?", "origin"],
    ),
    "node of ground": (
        "    parent: ground\n",
        "    parent: ground\n    parent_node: @@port\n",
        "joints.base.parent_node",
        ["ground has none"],
    ),
    "no node on a flexible body": (
        "  drive:\n",
        "  @@drive:\n",
        "joints.drive.child_node",
        ["a node of flexible body 'panel': root, tip"],
    ),
    "orphan": (
        "  wheel:\n",
        "  @@spare:\n    mass_kg: 1\n    inertia_kg_m2: [1, 1, 1]\n  wheel:\n",
        "bodies.spare",
        ["without a joint"],
    ),
    "two joints, one child": (
        "joints:\n",
        "joints:\n  first: {type: fixed, parent: ground, child: wheel}\n",
        "joints.spin.child",
        ["'wheel' a second time", "joint 'first'", "closures"],
    ),
    "body called ground": (
        "  wheel:\n",
        "  @@ground: {mass_kg: 1, inertia_kg_m2: [1, 1, 1]}\n  wheel:\n",
        "bodies.ground",
        ["the world itself"],
    ),
}


@pytest.mark.parametrize("case", [*STRUCTURE, *PHYSICS])
def test_fault_is_placed_and_worded(tmp_path: Path, case: str) -> None:
    old, new, path, phrases = {**STRUCTURE, **PHYSICS}[case]
    text = changed(old, new)
    if case == "missing key":
        text = changed("  bus:\n", "  @@bus:\n", text)
    assert_only_fault(tmp_path, text, path, *phrases)


@pytest.mark.parametrize("case", REFERENCES)
def test_reference_fault_is_placed_and_worded(tmp_path: Path, case: str) -> None:
    old, new, path, phrases = REFERENCES[case]
    text = changed(old, new)
    if case == "two joints, one child":
        text = changed("    child: wheel\n", "    child: @@wheel\n", text)
    if case == "no node on a flexible body":
        text = changed("    child_node: root\n", "", text)
    if case == "body called ground":
        text += "  more: {type: fixed, parent: bus, child: ground}\n"
    assert_only_fault(tmp_path, text, path, *phrases)


def test_missing_sections_are_noted(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, "darts_model: 1\nname: a\nbodys: {}\n")
    assert [fault.path for fault in faults] == ["bodies", "joints", "bodys"]
    assert faults[2].hint == "did you mean 'bodies'?"
    assert (faults[2].line, faults[2].column) == (3, 1)


def test_cycle_is_named_in_full(tmp_path: Path) -> None:
    text = changed("    parent: ground\n", "    parent: @@panel\n")
    text = changed("    child: bus\n", "    child: bus\n    parent_node: tip\n", text)
    phrases = ["bus -> panel -> bus", "lead to ground", "closures"]
    assert_only_fault(tmp_path, text, "joints.base.parent", *phrases)


def test_load_tree_raises_what_check_lists(tmp_path: Path) -> None:
    text = changed("mass_kg: 100", "mass_kg: -1")
    with pytest.raises(ModelError) as caught:
        load_tree(write(tmp_path, text))
    assert caught.value.faults == faults_of(tmp_path, text)


def test_all_faults_are_listed_at_once_in_file_order(tmp_path: Path) -> None:
    text = changed("mass_kg: 100", "mass_kg: -1")  # structure
    text = changed("inertia_kg_m2: [10, 12, 14]", "inertia_kg_m2: [1, 2, 4]", text)  # physics
    text = changed("stiffness_n_m: [100, 150]", "stiffness_n_m: [[1, 2], [2, 1]]", text)
    text = changed("inertia_kg_m2: [0.02, 0.02, 0.04]", "inertia: [0.02, 0.02, 0.04]", text)
    text = changed("type: free", "type: fre", text)
    text = changed("parent_node: port", "parent_node: prot", text)  # reference
    text = changed("quaternion: [1, 0, 0, 0]", "quaternion: [2, 0, 0, 0]", text)
    text = changed("child: wheel", "child: panel", text)  # topology
    faults = faults_of(tmp_path, text)
    assert [fault.path for fault in faults] == [
        "bodies.bus.mass_kg",
        "bodies.bus.inertia_kg_m2",
        "bodies.panel.flexible.stiffness_n_m",
        "bodies.wheel",
        "bodies.wheel.inertia_kg_m2",
        "bodies.wheel.inertia",
        "joints.base.type",
        "joints.drive.parent_node",
        "joints.spin.parent_rotation.quaternion",
        "joints.spin.child",
    ]


def test_messages_hold_no_jargon(tmp_path: Path) -> None:
    wrong = ["5", "word", "[]", "{}", "[[1], {}]", "{x: 1}", "true", "", "2024-01-01"]
    lines = [line.split(": ")[0] for line in SOUND.splitlines()]
    listing = ""
    for k, line in enumerate(lines):
        for value in wrong:
            text = "\n".join([*lines[:k], line.rstrip(":") + ": " + value, *lines[k + 1 :]])
            listing += "\n".join(str(fault) for fault in faults_of(tmp_path, text))
    for word in ("pydantic", "http", "Input should", "validator", "tuple", "<", "another value"):
        assert word not in listing
