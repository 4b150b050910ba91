"""The tutorial works as printed: its YAML, its shell commands, its Python, in order."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from darts_py.cli.app import app

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TUTORIAL.read_text(), re.DOTALL)


def test_tutorial_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("boom_satellite.yaml").write_text(_blocks("yaml")[0])
    for line in "".join(_blocks("sh")).splitlines():
        program, *arguments = shlex.split(line)
        assert program == "darts"
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, f"{line}\n{result.output}"
    names: dict[str, object] = {}
    for block in _blocks("python"):
        exec(compile(block, str(TUTORIAL), "exec"), names)
