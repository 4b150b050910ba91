"""`darts linearise` and the modes of `darts model show`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat
from typer.testing import CliRunner

import darts_py
from darts_py.cli.app import app


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


def test_formats_hold_the_same_model(runner: CliRunner, tmp_path: Path) -> None:
    for ending in ("npz", "mat", "json"):
        out = str(tmp_path / f"m.{ending}")
        args = ["linearise", "golden", "-o", out, "--set", "base_hinge.angle=0.3"]
        args += ["--inputs", "pendulum.bob.f?", "--outputs", "pendulum.bob.*"]
        result = runner.invoke(app, args)
        assert result.exit_code == 0, result.output
        assert result.stdout == ""  # data go to the file, talk to stderr
        assert "14 states, 3 inputs, 18 outputs" in result.stderr
    with np.load(tmp_path / "m.npz", allow_pickle=False) as file:
        A, names = file["A"], file["state_names"].tolist()
    assert np.array_equal(A, loadmat(tmp_path / "m.mat")["A"])
    document = json.loads((tmp_path / "m.json").read_text())
    assert np.array_equal(A, document["A"])
    assert names == document["state_names"]
    assert document["q"][document["state_names"].index("base_hinge.angle")] == 0.3


def test_state_of_a_simulation_is_where_it_ended(runner: CliRunner, tmp_path: Path) -> None:
    args = ["simulate", "double_pendulum", "--set", "elbow.angle=0.4", "--duration-s", "0.5"]
    run = runner.invoke(app, [*args, "--json"])
    state = tmp_path / "run.json"
    state.write_text(run.stdout)
    out = str(tmp_path / "m.json")
    result = runner.invoke(app, ["linearise", "double_pendulum", "-o", out, "--state", str(state)])
    assert result.exit_code == 0, result.output
    assert "accelerates" in result.stderr
    document = json.loads(Path(out).read_text())
    assert document["q"] == json.loads(run.stdout)["q"][-1]
    assert document["u"] == json.loads(run.stdout)["u"][-1]


def test_named_states(runner: CliRunner, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"set": {"elbow.angle": 0.25, "shoulder.angle_rate": -1},'
                     ' "tau": {"elbow.angle_rate": 2}}')  # fmt: skip
    out = str(tmp_path / "m.json")
    args = ["linearise", "double_pendulum", "-o", out, "--state", str(state)]
    assert runner.invoke(app, args).exit_code == 0
    document = json.loads(Path(out).read_text())
    assert (document["q"], document["u"], document["tau"]) == ([0, 0.25], [-1, 0], [0, 2])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "expected JSON"),
        ("[1, 2]", "got another layout"),
        ('{"angle": 2}', "got another layout"),
        ('{"q": [1]}', "q: got shape (1,), expected 2 finite numbers"),
        ('{"q": [1, NaN]}', "expected 2 finite numbers"),
        ('{"q": "abc"}', "expected 2 finite numbers"),
        ('{"set": {"elbo.angle": 1}}', "did you mean elbow.angle"),
        ('{"set": {"elbow.angle": true}}', "expected a finite number"),
        ('{"set": [1]}', "expected {name: value}"),
        ('{"tau": {"elbow.angle": 1}}', "did you mean elbow.angle_rate"),
    ],
)
def test_faulty_state_files_are_usage_errors(
    runner: CliRunner, tmp_path: Path, content: str, message: str
) -> None:
    state = tmp_path / "state.json"
    state.write_text(content)
    out = str(tmp_path / "m.json")
    args = ["linearise", "double_pendulum", "-o", out, "--state", str(state)]
    result = runner.invoke(app, args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not Path(out).exists()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-o", "m.csv"], "ends in .npz, .mat, .json"),
        (["-o", "m.npz", "--set", "elbow.angle"], "expected NAME=NUMBER"),
        (["-o", "m.npz", "--set", "elbow.angle=x"], "expected a finite number"),
        (["-o", "m.npz", "--force", "elbow.angle=1"], "did you mean"),
        (["-o", "m.npz", "--state", "none.json"], "expected a file"),
        (["-o", "m.npz", "--inputs", "elbow.angl_rate"], "did you mean"),
        (["-o", "no/such/folder/m.npz"], "expected a file to write"),
    ],
)
def test_refusals(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["linearise", "double_pendulum", *args])
    assert result.exit_code == 2, result.output
    assert message in result.stderr


# -- darts model show ---------------------------------------------------------------------------


def test_show_lists_modes_of_bodies_and_system(runner: CliRunner) -> None:
    text = runner.invoke(app, ["model", "show", "flexible_satellite"]).stdout
    for phrase in (
        "panel_left held at its hinge",
        "Modes of the system",
        "24 freedoms, 12 of them held by no stiffness",
        "panel_left 48 %",
    ):
        assert phrase in text
    summary = json.loads(
        runner.invoke(app, ["model", "show", "flexible_satellite", "--json"]).stdout
    )
    panel = summary["bodies"][1]["modes"]
    assert len(panel["frequency_hz"]) == summary["bodies"][1]["n_modes"] == 6
    total = np.sum(panel["effective_mass_kg"], axis=0) + panel["residual_mass_kg"]
    assert np.allclose(total, panel["mass_kg"])
    assert summary["bodies"][0]["modes"] is None
    system = summary["system"]
    assert (system["n_freedoms"], system["n_rigid"], system["is_equilibrium"]) == (24, 12, True)
    for mode in system["modes"]:
        assert sum(mode["participation"].values()) == pytest.approx(1.0)
        assert len(mode["shape_real"]) == len(system["coordinates"]) == 24
        size = abs(complex(*mode["eigenvalue_rad_s"]))
        assert mode["frequency_hz"] == pytest.approx(size / (2 * np.pi))


def test_show_of_every_shipped_model_fits_a_terminal(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for name in json.loads(runner.invoke(app, ["model", "list", "--json"]).stdout):
        result = runner.invoke(app, ["model", "show", name])
        assert result.exit_code == 0, name
        start = result.stdout.index("Neutral position")
        assert max(map(len, result.stdout[start:].splitlines())) <= 100, name
        json.loads(runner.invoke(app, ["model", "show", name, "--json"]).stdout)


def test_show_at_a_state(runner: CliRunner, tmp_path: Path) -> None:
    """A pendulum held up: its modes are those of the state, unstable."""
    state = tmp_path / "up.json"
    state.write_text(json.dumps({"set": {"shoulder.angle": np.pi}}))
    args = ["model", "show", "double_pendulum", "--json", "--state", str(state)]
    system = json.loads(runner.invoke(app, args).stdout)["system"]
    model = darts_py.load_model("double_pendulum")
    linear = darts_py.linearise(model, np.array([np.pi, 0.0]), np.zeros(2))
    growth = max(np.linalg.eigvals(linear.A).real)
    found = max(mode["eigenvalue_rad_s"][0] for mode in system["modes"])
    assert found == pytest.approx(growth, rel=1e-9)
