from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from darts_py.cli.app import app

ZYZ = """
darts_model: 1
name: zyz
bodies:
  rotor: {mass_kg: 1, inertia_kg_m2: [1, 1.2, 1.5]}
joints:
  gimbal:
    type: compound
    parent: ground
    child: rotor
    stages:
      - {type: revolute, axis: [0, 0, 1]}
      - {type: revolute, axis: [0, 1, 0]}
      - {type: revolute, axis: [0, 0, 1]}
"""
SHORT = ["--duration-s", "0.1"]


def _run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["simulate", *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_simulate_says_what_it_did() -> None:
    code, out, _ = _run("flexible_satellite", *SHORT, "--set", "base.wz=0.1")
    assert code == 0
    assert "100 steps of rk4-lie (rl)" in out
    assert "times real time" in out
    assert "\x1b" not in out


def test_simulate_json_keeps_the_books() -> None:
    """A free pendulum swings: energy constant, time in whole steps, motion there."""
    code, out, _ = _run("double_pendulum", "--duration-s", "1", "--json")
    summary = json.loads(out)
    assert code == 0
    assert summary["status"] == "OK"
    assert summary["t_s"][-1] == pytest.approx(1.0, abs=1e-12)
    assert len(summary["q"]) == len(summary["t_s"]) == len(summary["energy_j"])
    assert len(summary["q"][0]) == len(summary["coord_names"])


def test_set_and_force_act() -> None:
    _, out, _ = _run("flexible_satellite", *SHORT, "--json", "--force", "base.wx=1")
    momentum = json.loads(out)["momentum"][-1]
    assert momentum[0] == pytest.approx(0.1, rel=1e-9)  # 1 N m for 0.1 s


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["--set", "base.wq=1"], "did you mean base.w"),
        (["--set", "base.wx"], "NAME=NUMBER"),
        (["--force", "base.wx=a"], "a finite number"),
        (["--force", "base.wx=inf"], "a finite number"),
        (["--integrator", "euler"], "rk4 | rk4-lie"),
        (["--terms", "exact"], "rl | crl"),
        (["--duration-s", "-1"], "at least one step"),
        (["--duration-s", "inf"], "an end"),
        (["--dt-ns", "0"], "at least one step"),
    ],
)
def test_simulate_refuses_with_advice(arguments: list[str], phrase: str) -> None:
    code, _, err = _run("flexible_satellite", *arguments)
    assert code == 2
    assert phrase in err


def test_simulate_reports_a_state_that_blew_up() -> None:
    """A step far too long for the modes: the run stops at its last finite step."""
    arguments = ["--dt-ns", "2000000000", "--duration-s", "4000", "--set", "panel_left.mode_1=0.1"]
    with pytest.warns(RuntimeWarning, match="implicit-modes"):
        code, _, err = _run("flexible_satellite", *arguments, "--json")
    assert code == 1
    assert "NON_FINITE: no finite step from t =" in err


def test_simulate_names_a_singular_joint(tmp_path: Path) -> None:
    """z-y-z is singular at zero; the message says which joint and what to do."""
    (tmp_path / "zyz.yaml").write_text(ZYZ)
    code, _, err = _run(str(tmp_path / "zyz.yaml"), *SHORT, "--set", "gimbal.angle_1_rate=0.1")
    assert code == 1
    assert "joint gimbal is singular" in err
    code, _, _ = _run(str(tmp_path / "zyz.yaml"), *SHORT, "--set", "gimbal.angle_2=0.5")
    assert code == 0
