"""Reading YAML: types of plain words, places, limits, and what is beyond reading."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import pytest

from darts_py.spec import load_tree
from darts_py.spec.document import MAX_BYTES, read_document
from tests.spec.documents import SOUND, assert_only_fault, changed, faults_of, write


def read(text: str) -> object:
    value, faults = read_document(text.encode(), "f")
    assert value is not None
    assert faults == []
    return value.data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 1e-3),
        ("1E5", 1e5),
        ("-2.5e+3", -2500.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("010", 10),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("~", None),
        ("", None),
        ("'5'", "5"),
        ("2024-01-01", "2024-01-01"),
        ("!!float 5", 5),
    ],
)
def test_plain_words_follow_yaml_1_2(text: str, value: object) -> None:
    data = read(f"x: {text}")
    assert data == {"x": value}
    assert isinstance(data, dict)
    assert type(data["x"]) is type(value)


def test_huge_integers_become_floats() -> None:
    assert read("x: " + "9" * 5000) == {"x": float("inf")}


def test_keys_are_words_whatever_they_look_like() -> None:
    assert read("{yes: 1, 1: 2, null: 3, 1e3: 4}") == {"yes": 1, "1": 2, "null": 3, "1e3": 4}


def test_anchors_may_be_used(tmp_path: Path) -> None:
    text = changed("  wheel:\n", "  wheel: &wheel\n")
    text = changed("joints:\n", "  spare: *wheel\njoints:\n", text)
    text += "  more: {type: fixed, parent: bus, child: spare}\n"
    tree = load_tree(write(tmp_path, text))
    assert tree.bodies[3].nodes[0].m == tree.bodies[2].nodes[0].m


BROKEN = {
    "syntax": ("bodies:\n", "bodies: @@}\n", ["expected"]),
    "open bracket": (
        "center_of_mass_m: [0, 0, 0.1]",
        "center_of_mass_m: [0, 0, 0.1\n    @@inertia_kg_m2: [",
        [],
    ),
    "second document": ("joints:\n", "@@---\njoints:\n", ["one document"]),
    "unknown alias": ("mass_kg: 100", "mass_kg: @@*heavy", ["alias"]),
    "list as a key": ("    mass_kg: 100", "    ? @@[a, b]\n    : 100", ["as a key"]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_unreadable_yaml_is_one_placed_fault(tmp_path: Path, case: str) -> None:
    old, new, phrases = BROKEN[case]
    text = changed(old, new)
    faults = faults_of(tmp_path, text)
    assert len(faults) == 1
    line = text[: text.index("@@")].count("\n") + 1
    assert faults[0].line == line
    assert faults[0].column > 0
    for phrase in phrases:
        assert phrase in str(faults[0])


def test_tab_indentation_gets_a_hint(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, changed("    mass_kg: 100", "\tmass_kg: 100"))
    assert "indent with spaces" in faults[0].hint
    assert (faults[0].line, faults[0].column) == (6, 1)


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system", "!custom", "!!set", "!!binary"])
def test_tags_are_refused(tmp_path: Path, tag: str) -> None:
    text = changed("name: satellite", f"name: @@{tag} satellite")
    assert_only_fault(tmp_path, text, "name", "tag", "without tags")


def test_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 30)]
    start = perf_counter()
    faults = faults_of(tmp_path, "\n".join(lines))
    assert "too many values" in faults[-1].got
    assert perf_counter() - start < 5.0


def test_alias_inside_its_own_anchor_is_refused(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, "bodies: &b {bus: *b}\n")
    assert "inside its own anchor" in faults[0].got


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, "x: " + "[" * 50_000)
    assert "deep" in faults[0].got


def test_long_list_is_refused(tmp_path: Path) -> None:
    faults = faults_of(tmp_path, "x: [" + "1," * 120_000 + "1]")
    assert "too many values" in faults[0].got


def test_large_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    faults = faults_of_file(file)
    assert "at most" in faults[0].expected
    assert "modes_file" in faults[0].hint


def faults_of_file(file: Path) -> list:
    from darts_py.spec import check_file

    return check_file(file)


@pytest.mark.parametrize(
    ("raw", "place", "phrase"),
    [
        (b"name: a\nx: \xff\n", (2, 4), "0xff"),
        (b"name: a\nx: \x07\n", (2, 4), "U+0007"),
        (b"", (1, 1), "empty"),
        (b"# only a comment\n", (1, 1), "empty"),
        (b"- 1\n- 2\n", (1, 1), "mapping"),
        (b"just words", (1, 1), "mapping"),
    ],
)
def test_files_that_are_no_model(
    tmp_path: Path, raw: bytes, place: tuple[int, int], phrase: str
) -> None:
    file = tmp_path / "model.yaml"
    file.write_bytes(raw)
    fault = faults_of_file(file)[0]
    assert (fault.line, fault.column) == place
    assert phrase in str(fault)
    assert fault.path


def test_byte_order_mark_is_allowed(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + SOUND.encode())
    assert faults_of_file(file) == []


def test_messages_cannot_carry_terminal_codes(tmp_path: Path) -> None:
    text = changed("name: satellite", 'name: "\\e[31mred"')
    text = changed("    mass_kg: 100\n", '    mass_kg: 100\n    "\\e[1m": 3\n', text)
    for fault in faults_of(tmp_path, text):
        assert "\x1b" not in str(fault)
