"""Damaged robots: a list of faults or a sound model, never anything else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from darts_py.errors import Fault, ModelError
from darts_py.spec.load import load_document
from darts_py.urdf import Options, import_urdf
from tests.urdf import robots
from tests.urdf.test_import import LOOKS

TEXTS = [robots.ARM, robots.MASSLESS, robots.PLANAR, LOOKS]
VALUES = [
    "",
    "0",
    "-1",
    "1e40",
    "nan",
    "inf",
    "0 0 0",
    "a b c",
    "world",
    "\u00e4\u2028",
    "${x}",
    "1 2",
]
TAGS = ["link", "joint", "origin", "inertial", "mimic", "mesh", "xacro:if", "geometry", "robot"]


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """Return a robot with a few attributes changed, elements renamed, lines dropped or doubled."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["value", "tag", "drop", "double", "cut", "attribute"]))
        lines = text.splitlines(keepends=True)
        k = draw(st.integers(0, max(len(lines) - 1, 0)))
        if kind == "drop":
            del lines[k : k + 1]
            text = "".join(lines)
        elif kind == "double":
            text = "".join(lines[: k + 1] + lines[k:])
        elif kind == "cut":
            at = draw(st.integers(0, len(text)))
            text = (
                text[:at]
                + draw(st.sampled_from(["", "<", "&", '"', "</link>", "\x00"]))
                + text[at:]
            )
        else:
            pattern = {"value": r'"[^"]*"', "tag": r"(?<=<)\w+", "attribute": r" \w+(?==)"}[kind]
            found = list(re.finditer(pattern, text))
            if found:
                match = found[draw(st.integers(0, len(found) - 1))]
                new = {
                    "value": f'"{draw(st.sampled_from(VALUES))}"',
                    "tag": draw(st.sampled_from(TAGS)),
                    "attribute": f" {draw(st.sampled_from(['name', 'value', 'xyz', 'odd']))}",
                }[kind]
                text = text[: match.start()] + new + text[match.end() :]
    return text


@given(text=damaged(), repair=st.booleans(), merge=st.booleans())
def test_damaged_robot_is_refused_or_sound(
    tmp_path_factory: pytest.TempPathFactory, text: str, repair: bool, merge: bool
) -> None:
    file = robots.write(tmp_path_factory.mktemp("fuzz"), text)
    faults: list[Fault] = []
    try:
        result = import_urdf(file, Options(repair=repair, merge=merge, stops=(10.0, 1.0)))
    except ModelError as error:
        faults = error.faults
    if faults:
        assert all(fault.line >= 1 and str(fault).isprintable() for fault in faults)
        return
    tree, left = load_document(result.text.encode(), Path("model.yaml"))
    assert left == []
    assert tree is not None
    assert all(str(note).isprintable() for note in result.notes)
