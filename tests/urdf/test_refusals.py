"""Robots that cannot be imported: every fault at once, each with file and line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from darts_py.errors import ArgumentError, Fault, ModelError
from darts_py.urdf import Options, import_urdf
from darts_py.urdf.inertias import nearest_inertia
from darts_py.urdf.markup import MAX_BYTES, MAX_DEPTH, read_markup
from tests.urdf import robots
from tests.urdf.robots import INERTIAL, LIMIT, joint, link, robot

AXIS = '<axis xyz="0 0 1"/>'


def faults_of(folder: Path, text: str, **options: object) -> list[Fault]:
    file = robots.write(folder, text)
    with pytest.raises(ModelError) as caught:
        import_urdf(file, Options(**options))  # type: ignore[arg-type]
    assert all(fault.file == str(file) for fault in caught.value.faults)
    return caught.value.faults


def line_of(text: str, mark: str) -> int:
    (line,) = [k + 1 for k, line in enumerate(text.splitlines()) if mark in line]
    return line


def inertial(mass: float, *moments: float) -> str:
    xx, yy, zz = moments
    return (
        f'<inertial><mass value="{mass}"/><inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" '
        f'izz="{zz}"/></inertial>'
    )


BROKEN = {
    # what: (robot, text in the faulty line, phrases of the message)
    "unknown link": (
        robot(link("a"), link("arm"), joint("j", "continuous", "a", "amr", AXIS)),
        '<joint name="j"',
        ["unknown link 'amr'", "did you mean 'arm'?"],
    ),
    "two parents": (
        robot(link("a"), link("b"), joint("j", "continuous", "a", "b", AXIS),
              joint("k", "continuous", "a", "b", AXIS)),
        '<joint name="k"',
        ["'b' a second time", "joint 'j'"],
    ),
    "cycle": (
        robot(link("r"), link("a"), link("b"), joint("j", "continuous", "b", "a", AXIS),
              joint("k", "continuous", "a", "b", AXIS)),
        '<joint name="j"',
        ["a cycle", "a -> b -> a"],
    ),
    "two roots": (
        robot(link("a"), link("b")), '<link name="b"', ["a second root", "'a' is one already"],
    ),
    "no links": (robot(), "<?xml", ["no links"]),
    "same link twice": (
        robot(link("a"), link("c", INERTIAL), '<link name="a"/> <!-- again -->\n',
              joint("j", "continuous", "a", "c", AXIS)),
        "<!-- again -->",
        ["a second link 'a' (first on line 3)"],
    ),
    "zero axis": (
        robot(link("a"), link("b"),
              joint("j", "continuous", "a", "b", '<axis xyz="0 0 0"/>')),
        "<axis",
        ["a direction, not zero"],
    ),
    "unknown type": (
        robot(link("a"), link("b"), joint("j", "revolut", "a", "b", AXIS)),
        '<joint name="j"',
        ["type='revolut'", "did you mean 'revolute'?"],
    ),
    "spherical": (
        robot(link("a"), link("b"), joint("j", "spherical", "a", "b")),
        '<joint name="j"',
        ["one of revolute, continuous, prismatic, fixed, floating, planar"],
    ),
    "two numbers": (
        robot(link("a"), link("b"), joint("j", "fixed", "a", "b", '<origin xyz="0 1"/>')),
        "<origin xyz=\"0 1\"",
        ["xyz='0 1'", "3 finite numbers"],
    ),
    "Python's idea of a number": (
        robot(link("a", INERTIAL.replace('"2.5"', '"1_0"'))), "<mass", ["value='1_0'"],
    ),
    "not a number": (
        robot(link("a", INERTIAL.replace('"2.5"', '"nan"'))), "<mass", ["value='nan'"],
    ),
    "negative mass": (
        robot(link("a", INERTIAL.replace('"2.5"', '"-2.5"'))), "<mass", [">= 0"],
    ),
    "no mass": (
        robot(link("a", "<inertial>" + INERTIAL.split('"2.5"/>')[1])), "<inertial>",
        ["the element <mass>"],
    ),
    "no ixy": (
        robot(link("a", INERTIAL.replace('ixy="0.02"', ""))), "<inertia ",
        ["the attribute 'ixy' of <inertia>"],
    ),
    "no name": (robot("<link/>\n"), "<link/>", ["the attribute 'name'"]),
    "no child": (
        robot(link("a"), '<joint name="j" type="fixed"><parent link="a"/></joint>\n'),
        "<joint",
        ['<child link="...">'],
    ),
    "xacro": (
        robot('<xacro:include filename="x"/>\n', link("a")), "<xacro", ["xacro FILE"],
    ),
    "xacro expression": (
        robot(link("a", INERTIAL.replace('"2.5"', '"${m}"'))), "<mass", ["xacro FILE"],
    ),
    "not a robot": ("<sdf/>\n", "<sdf/>", ["<robot>", "is this a URDF file?"]),
    "triangle": (
        robot(link("a", inertial(1, 1, 2, 4))), "<inertial>", ["triangle", "1, 2, 4", "--repair"],
    ),
    "not positive": (
        robot(link("a", inertial(1, -1, 2, 2))), "<inertial>", ["not positive definite", "-1, 2"],
    ),
    "inertia without mass": (
        robot(link("a", inertial(0, 1, 1, 1))), "<inertial>", ["inertia without mass"],
    ),
    "massless end": (
        robot(link("a"), link("b", ""), joint("j", "continuous", "a", "b", AXIS)),
        '<joint name="j"',
        ["moves no mass", "'b'"],
    ),
    "two massless rings about one axis": (
        robot(link("a"), link("b", ""), link("c"), joint("j", "continuous", "a", "b", AXIS),
              joint("k", "continuous", "b", "c", AXIS)),
        '<joint name="j"',
        ["together move no mass", "joints j, k"],
    ),
    "nothing": (robot(link("a", "")), '<link name="a"', ["nothing but the ground"]),
}  # fmt: skip


@pytest.mark.parametrize("case", list(BROKEN))
def test_fault_is_told_in_its_place(tmp_path: Path, case: str) -> None:
    text, mark, phrases = BROKEN[case]
    (fault,) = faults_of(tmp_path, text)
    assert fault.line == line_of(text, mark)
    for phrase in phrases:
        assert phrase in str(fault)


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    text = robot(
        link("a", inertial(1, 1, 2, 4)),
        link("b", INERTIAL.replace('"2.5"', '"-1"')),
        link("c"),
        joint("j", "continuous", "a", "bb", AXIS),
        joint("k", "continuous", "a", "c", AXIS),
        joint("l", "continuous", "b", "c", AXIS),
    )
    told = "\n".join(str(fault) for fault in faults_of(tmp_path, text))
    for phrase in ("triangle", ">= 0", "unknown link 'bb'", "'c' a second time"):
        assert phrase in told


def test_a_fault_hides_no_other(tmp_path: Path) -> None:
    """Faults of reading, of the tree and of masses in one file: each is told, at its line."""
    text = robot(
        '  <link name="a"/>\n',
        link("b", inertial(1, 1, 2, 4)),
        link("c", INERTIAL.replace('"2.5"', '"heavy"')),
        '  <link name="a"> <!-- again -->\n  </link>\n',
        joint("bent", "continuous", "a", "b", '<axis xyz="0 0 0"/>'),
        joint("odd", "revolut", "a", "cc", AXIS),
        joint("twice", "fixed", "c", "b", '<origin xyz="1 2"/>'),
        joint("bent", "continuous", "b", "c", AXIS),
        joint("loop", "continuous", "c", "d", AXIS),
        joint("back", "continuous", "d", "d", AXIS),
    )
    faults = faults_of(tmp_path, text)
    expected = {
        "triangle": '<link name="b"',
        "value='heavy'": '<link name="c"',
        "a second link 'a'": "<!-- again -->",
        "axis '0 0 0'": '<axis xyz="0 0 0"',
        "type='revolut'": '<joint name="odd"',
        "unknown link 'cc'": '<joint name="odd"',
        "xyz='1 2'": '<origin xyz="1 2"',
        "'b' a second time": '<joint name="twice"',
        "a second joint 'bent'": None,
        "unknown link 'd'": None,
        "'d' a second time": '<joint name="back"',
    }
    for phrase, mark in expected.items():
        found = [fault for fault in faults if phrase in str(fault)]
        assert found, phrase
        if mark is not None:
            assert abs(found[0].line - line_of(text, mark)) <= 3, phrase
    assert all(fault.line > 0 for fault in faults)


def test_a_part_that_cannot_be_named_does_not_make_others_faulty(tmp_path: Path) -> None:
    """A link without a name may be the one that a joint means: the joint is not blamed."""
    text = robot(
        "  <link/>\n",
        link("a", inertial(1, 1, 2, 4)),
        joint("j", "continuous", "a", "b", AXIS),
        '  <joint name="k" type="fixed"/>\n',
    )
    told = "\n".join(str(fault) for fault in faults_of(tmp_path, text))
    assert "unknown link" not in told
    for phrase in ("the attribute 'name'", "triangle", '<parent link="...">', '<child link="...">'):
        assert phrase in told


LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<robot name="&b;"/>
"""
OUTSIDE = """<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<robot name="&x;"/>
"""


@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE, "<!DOCTYPE robot>\n<robot name='a'/>"])
def test_document_types_and_entities_are_refused(tmp_path: Path, text: str) -> None:
    (fault,) = faults_of(tmp_path, text)
    assert "document type declaration" in fault.got


def test_undefined_entities_and_broken_markup_are_faults(tmp_path: Path) -> None:
    for text in ("<robot name='&x;'/>", "<robot><link></robot>", "", "plain", "<a/><b/>"):
        (fault,) = faults_of(tmp_path, text)
        assert fault.expected == "well-formed XML"


def test_size_and_depth_are_bounded(tmp_path: Path) -> None:
    root, faults = read_markup(b" " * (MAX_BYTES + 1), "big")
    assert root is None
    assert "at most" in faults[0].expected
    deep = "<robot name='a'>" + "<x>" * MAX_DEPTH + "</x>" * MAX_DEPTH + "</robot>"
    (fault,) = faults_of(tmp_path, deep)
    assert "deep" in fault.got


def test_unknown_encoding_is_a_fault() -> None:
    root, faults = read_markup(b"<?xml version='1.0' encoding='no-such'?><robot/>", "odd")
    assert root is None
    assert len(faults) == 1


def test_control_characters_never_reach_the_terminal(tmp_path: Path) -> None:
    text = robot(link("a"), '<link name="&#10;b">', "</link>\n")
    (fault,) = faults_of(tmp_path, text)
    assert str(fault).isprintable()


def test_repair_puts_the_nearest_possible_inertia(tmp_path: Path) -> None:
    """Moments 1, 2, 4 have second moments 2.5, 1.5, -0.5: the last becomes next to nothing."""
    result = import_urdf(
        robots.write(tmp_path, robot(link("a", inertial(1, 1, 2, 4)))), Options(repair=True)
    )
    assert any("repaired, now principal moments 1.5, 2.5, 4" in n.text for n in result.notes)


def test_possible_inertia_is_its_own_nearest() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.normal(size=(3, 8))
        J = np.trace(X @ X.T) * np.eye(3) - X @ X.T
        assert np.allclose(nearest_inertia(J), J, rtol=1e-12)


def test_repair_fixes_a_joint_that_moves_no_mass(tmp_path: Path) -> None:
    text = BROKEN["massless end"][0]
    result = import_urdf(robots.write(tmp_path, text), Options(repair=True))
    assert result.places["b"].node == "b"
    assert any("'j' moves no mass: repaired, now fixed" in note.text for note in result.notes)


def test_limits_upside_down_are_left_out_with_a_warning(tmp_path: Path) -> None:
    text = robot(link("a"), link("b"), joint("j", "revolute", "a", "b",
                 AXIS + LIMIT.replace('"-1"', '"3"')))  # fmt: skip
    result = import_urdf(robots.write(tmp_path, text))
    assert "lower" not in result.text
    assert any("lower 3 above upper 2" in note.text for note in result.notes)


@pytest.mark.parametrize(
    "options",
    [Options(base="flying"), Options(stops=(0.0, 1.0)), Options(stops=(1.0, -1.0)),
     Options(gravity_m_s2=(0.0, 0.0, float("nan")))],
)  # fmt: skip
def test_options_out_of_range_are_refused(tmp_path: Path, options: Options) -> None:
    file = robots.write(tmp_path, robot(link("a")))
    with pytest.raises(ArgumentError):
        import_urdf(file, options)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="readable"):
        import_urdf(tmp_path / "none.urdf")
