"""The `darts` command: what it prints where, and its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from darts_py.cli.app import app
from tests.spec.documents import SOUND, changed

ROOT = Path(__file__).resolve().parents[2]
BAD = changed("mass_kg: 100", "mass_kg: -1", changed("type: free", "type: fre"))


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


@pytest.fixture
def bad(tmp_path: Path) -> str:
    file = tmp_path / "bad.yaml"
    file.write_text(BAD)
    return str(file)


@pytest.fixture
def good(tmp_path: Path) -> str:
    file = tmp_path / "good.yaml"
    file.write_text(SOUND)
    return str(file)


def darts(*args: str, code: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """Run the real command in a process of its own."""
    program = "from darts_py.cli.app import main; main()" if not code else code
    return subprocess.run(
        [sys.executable, "-c", program, *args],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **env},
        timeout=60,
        check=False,
    )


def test_help_starts_with_examples(runner: CliRunner) -> None:
    result = runner.invoke(app, ["--help"])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "Examples:"
    assert "darts model list" in lines[2]
    for verb in ("check", "model", "schema", "bench"):
        assert verb in result.output


def test_examples_of_the_help_run(runner: CliRunner) -> None:
    for line in ("model list", "model show flexible_satellite", "schema model"):
        assert runner.invoke(app, line.split()).exit_code == 0


def test_check_of_a_sound_file(runner: CliRunner, good: str) -> None:
    result = runner.invoke(app, ["check", good, "golden"])
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [f"{good}: OK", "golden: OK"]


def test_check_lists_all_faults_and_exits_3(runner: CliRunner, good: str, bad: str) -> None:
    result = runner.invoke(app, ["check", bad, good])
    assert result.exit_code == 3
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{bad}:6:14: bodies.bus.mass_kg: got -1")
    assert "did you mean 'free'?" in lines[1]
    assert lines[2] == f"{good}: OK"
    assert "2 faults" in result.stderr


def test_check_json(runner: CliRunner, good: str, bad: str) -> None:
    result = runner.invoke(app, ["check", "--json", good, bad])
    assert result.exit_code == 3
    sound, broken = json.loads(result.stdout)
    assert sound == {"file": good, "ok": True, "faults": []}
    assert broken["ok"] is False
    fault = broken["faults"][0]
    assert set(fault) == {"path", "got", "expected", "hint", "file", "line", "column"}
    assert (fault["path"], fault["line"], fault["column"]) == ("bodies.bus.mass_kg", 6, 14)


def test_check_of_a_missing_file_is_a_usage_error(runner: CliRunner, bad: str) -> None:
    result = runner.invoke(app, ["check", "goldn", bad])
    assert result.exit_code == 2
    assert "did you mean 'golden'?" in result.stderr
    assert "bodies.bus.mass_kg" in result.stdout


def test_schema_is_json(runner: CliRunner) -> None:
    result = runner.invoke(app, ["schema", "model"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["$schema"].endswith("2020-12/schema")


def test_model_list(runner: CliRunner) -> None:
    names = runner.invoke(app, ["model", "list"]).stdout.split()
    assert "golden" in names
    assert json.loads(runner.invoke(app, ["model", "list", "--json"]).stdout) == names


def test_model_show_draws_tree_freedoms_and_mass(runner: CliRunner) -> None:
    result = runner.invoke(app, ["model", "show", "golden"])
    assert result.exit_code == 0
    for phrase in (
        "golden (ground)",
        "base (3 kg, 2 modes) on base_hinge (revolute)",
        "pendulum (1.5 kg) on pendulum_hinge (universal)",
        "angle_1 angle_2",
        "mode_1 mode_2 angle",
        "5.8 kg",
        "centre of mass",
        "inertia about it",
    ):
        assert phrase in result.stdout


def test_model_show_json(runner: CliRunner) -> None:
    summary = json.loads(runner.invoke(app, ["model", "show", "golden", "--json"]).stdout)
    assert summary["name"] == "golden"
    assert (summary["n_bodies"], summary["n_coordinates"], summary["n_speeds"]) == (3, 7, 7)
    assert summary["mass_kg"] == pytest.approx(5.8)
    assert len(summary["inertia_kg_m2"]) == 3
    body = summary["bodies"][1]
    assert body["name"] == "pendulum"
    assert body["parent"] == "base"
    assert body["nodes"] == ["origin", "bob"]
    assert body["coordinates"] == ["pendulum_hinge.angle_1", "pendulum_hinge.angle_2"]
    assert body["speeds"] == ["pendulum_hinge.angle_1_rate", "pendulum_hinge.angle_2_rate"]


def test_model_show_of_a_child_named_before_its_parent(runner: CliRunner, tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    block = SOUND[SOUND.index("  wheel:\n") : SOUND.index("joints:\n")]
    file.write_text(changed("bodies:\n", "bodies:\n" + block, changed(block, "")))
    result = runner.invoke(app, ["model", "show", str(file)])
    assert result.exit_code == 0
    assert "wheel (4 kg) on spin (revolute)" in result.stdout


def test_model_show_of_a_faulty_file_exits_3(runner: CliRunner, bad: str) -> None:
    result = runner.invoke(app, ["model", "show", bad])
    assert result.exit_code == 3
    assert result.stdout == ""
    assert "bodies.bus.mass_kg" in result.stderr


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--help"], 0),
        (["check", "golden"], 0),
        (["check", "no_such_file.yaml"], 2),
        (["model", "show", "no_such_file.yaml"], 2),
        (["check"], 2),
        (["chekc"], 2),
        (["check", "--jsn", "golden"], 2),
        (["check", "models/make_modes.py"], 3),
    ],
)
def test_exit_codes_of_the_real_process(args: list[str], code: int) -> None:
    result = darts(*args)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr


def test_no_colour_off_a_terminal(bad: str) -> None:
    for args in (["model", "show", "golden"], ["check", bad], ["--help"], ["chekc"]):
        result = darts(*args)
        assert "\x1b" not in result.stdout + result.stderr


QUICK = """
import sys
from darts_py.cli.app import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print("numba" in sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "args", [["--help"], ["check", "flexible_satellite"], ["schema", "model"], ["model", "list"]]
)
def test_quick_verbs_do_not_load_the_compiler(args: list[str]) -> None:
    result = darts(*args, code=QUICK)
    assert result.returncode == 0, result.stderr
    assert result.stderr.splitlines()[-1] == "False"


def test_bench_hands_over(runner: CliRunner) -> None:
    result = darts("bench", "--help")
    assert result.returncode == 0
    assert "darts bench" in result.stdout
