"""`darts model import` and `darts model export`: files, streams, exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from darts_py.cli.app import app
from tests.urdf import robots


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    return robots.write(tmp_path, robots.ARM, "arm.urdf")


def test_import_writes_the_model_to_stdout_and_talks_on_stderr(
    runner: CliRunner, arm: Path
) -> None:
    result = runner.invoke(app, ["model", "import", str(arm)])
    assert result.exit_code == 0
    assert result.stdout.startswith("# Imported from arm.urdf")
    assert str(arm.parent) not in result.stdout
    for phrase in ("note: root link 'world'", "bodies  5, and 1 nodes", "mass    12.5 kg"):
        assert phrase in result.stderr


def test_imported_file_is_accepted_and_never_overwritten(
    runner: CliRunner, arm: Path, tmp_path: Path
) -> None:
    output = tmp_path / "arm.yaml"
    command = ["model", "import", str(arm), "-o", str(output)]
    assert runner.invoke(app, command).exit_code == 0
    assert runner.invoke(app, ["check", str(output)]).exit_code == 0
    first = output.read_bytes()
    output.write_bytes(b"mine")
    refused = runner.invoke(app, command)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert output.read_bytes() == b"mine"
    assert runner.invoke(app, [*command, "--force"]).exit_code == 0
    assert output.read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.urdf", "arm.yaml"]


def test_import_options_reach_the_model(runner: CliRunner, arm: Path) -> None:
    options = ["--gravity", "0", "0", "-9.81", "--stops", "100", "5", "--base", "fixed", "--merge"]
    result = runner.invoke(app, ["model", "import", str(arm), *options])
    assert result.exit_code == 0
    assert "gravity_m_s2: [0, 0, -9.81]" in result.stdout
    assert "stiffness_n_m_per_rad: 100, damping_n_m_s_per_rad: 5" in result.stdout
    assert "bracket: {position_m" in result.stdout


def test_faulty_robot_exits_3_and_writes_nothing(runner: CliRunner, tmp_path: Path) -> None:
    bad = robots.write(tmp_path, robots.robot(robots.link("a"), robots.link("b")))
    output = tmp_path / "out.yaml"
    result = runner.invoke(app, ["model", "import", str(bad), "-o", str(output)])
    assert result.exit_code == 3
    assert "a second root" in result.stderr
    assert result.stdout == ""
    assert not output.exists()


def test_import_of_a_missing_file_or_into_a_missing_folder_is_usage(
    runner: CliRunner, arm: Path, tmp_path: Path
) -> None:
    assert runner.invoke(app, ["model", "import", str(tmp_path / "no.urdf")]).exit_code == 2
    nowhere = str(tmp_path / "no" / "out.yaml")
    result = runner.invoke(app, ["model", "import", str(arm), "-o", nowhere])
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


def test_export_there_and_back(runner: CliRunner, tmp_path: Path) -> None:
    output = tmp_path / "arm.urdf"
    result = runner.invoke(app, ["model", "export", "arm_satellite", "-o", str(output)])
    assert result.exit_code == 0
    assert "27 links" in result.stderr
    assert runner.invoke(app, ["model", "import", str(output)]).exit_code == 0


def test_export_of_a_flexible_model_exits_3(runner: CliRunner) -> None:
    result = runner.invoke(app, ["model", "export", "flexible_satellite"])
    assert result.exit_code == 3
    assert "a flexible body" in result.stderr
    assert result.stdout == ""
