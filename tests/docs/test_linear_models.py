"""The page on linear models works as printed."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from darts_py.linear import LinearModel, Mode
from darts_py.linear.names import NODE_OUTPUTS, WRENCH

PAGE = (Path(__file__).parents[2] / "docs" / "linear_models.md").read_text("utf-8")


def test_python_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "linear_models.md", "exec"), {})
    assert Path("satellite.mat").stat().st_size > 0


def test_page_names_every_field_input_and_output() -> None:
    words = set(re.findall(r"\w+", PAGE))
    told = {field.name for field in fields(LinearModel)} - {"name", "terms", "body_names"}
    told |= {field.name for field in fields(Mode)} | {*WRENCH, *NODE_OUTPUTS}
    assert told <= words
