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
        ('{"q": [1, NaN]}', "q[1]: got nan, expected a finite number"),
        ('{"q": [1, 1e999]}', "q[1]: got inf, expected a finite number"),
        ('{"tau": 5}', "tau: got 5, expected 2 finite numbers"),
        ('{"q": [0, 0], "tua": [0, 0]}', "got the key 'tua', expected {"),
        ('{"q": [0, 0], "coord_names": ["a"]}', "coord_names: got other names, expected those of"),
        ("[" * 100_000, "expected {"),
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
        (["-o", "m.npz", "--prescribe", "elbow.rate=1"], "expected the name of a speed"),
        (["-o", "m.npz", "--prescribe", "elbow.angle_rate=nan"], "expected a finite number"),
        (["-o", "m.npz", "--set", "elbow.angle=1e300"], "q (elbow.angle): got 1e+300, expected"),
        (["-o", "m.npz", "--set", "elbow.angle_rate=1e200"], "expected accelerations of at most"),
        (["-o", "m.npz", "--force", "elbow.angle_rate=1e308"], "out of proportion"),
        (["-o", "."], "expected a file name that ends in"),
        (["-o", "no/such/folder/m.npz"], "no folder no/such/folder"),
    ],
)
def test_refusals(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = runner.invoke(app, ["linearise", "double_pendulum", *args])
    assert result.exit_code == 2, result.output
    assert message in result.stderr


def test_files_are_not_overwritten_unasked(runner: CliRunner, tmp_path: Path) -> None:
    out = tmp_path / "m.mat"
    out.write_bytes(b"mine")
    command = ["linearise", "double_pendulum", "-o", str(out)]
    refused = runner.invoke(app, command)
    assert refused.exit_code == 2
    assert "which exists, expected a new file (--overwrite overwrites it)" in refused.stderr
    assert out.read_bytes() == b"mine"
    assert runner.invoke(app, [*command, "--overwrite"]).exit_code == 0
    assert loadmat(out)["A"].shape == (4, 4)
    assert [path.name for path in tmp_path.iterdir()] == ["m.mat"]


# -- darts model show ---------------------------------------------------------------------------


def test_show_lists_modes_of_bodies_and_system(runner: CliRunner) -> None:
    text = runner.invoke(app, ["model", "show", "flexible_satellite"]).stdout
    for phrase in (
        "panel_left: modes as described, held at its hinge",
        "Modes of the system",
        "24 freedoms, 12 of them held by no stiffness",
        "panel_left:48%",
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


@pytest.mark.parametrize("columns", ["80", "140", None])
def test_show_of_every_shipped_model_fits_a_terminal(
    runner: CliRunner, monkeypatch: pytest.MonkeyPatch, columns: str | None
) -> None:
    """On terminals and in pipes (80 columns): no line too long, no value cut."""
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    for name in json.loads(runner.invoke(app, ["model", "list", "--json"]).stdout):
        result = runner.invoke(app, ["model", "show", name])
        assert result.exit_code == 0, name
        assert max(map(len, result.stdout.splitlines())) <= int(columns or 80), name
        assert "\u2026" not in result.stdout, name
    json.loads(runner.invoke(app, ["model", "show", name, "--json"]).stdout)


TWISTING = """
darts_model: 1
name: twisting
bodies:
  boom:
    flexible:
      beam:
        length_m: 8
        direction: [1, 0, 0]
        material: {young_modulus_pa: 7e10, poisson_ratio: 0.33, density_kg_m3: 2700}
        section: {shape: tube, outer_diameter_m: 0.08, wall_m: 0.001}
        modes: {boundary: BOUNDARY, count: 20}
      damping_ratio: 0.005
    nodes:
      root: {position_m: [0, 0, 0]}
      tip: {position_m: [8, 0, 0]}
joints:
  mount: {type: revolute, axis: [1, 2, 3], parent: ground, child: boom, child_node: root}
"""


def columns_of(text: str, title: str) -> list[list[str]]:
    """Return the cells of a table's rows, without titles."""
    lines = text[text.index(title) :].splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith(" mode")) + 2
    last = next(k for k, line in enumerate(lines) if line.split()[:1] == ["all"])
    return [line.split() for line in lines[first:last]]


@pytest.mark.parametrize("columns", ["40", "80", "140"])
def test_show_lists_modes_as_described_and_as_held(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    """Free-free: the description carries no momentum; held at the hinge, torsion turns only."""
    monkeypatch.setenv("COLUMNS", columns)
    file = tmp_path / "boom.yaml"
    file.write_text(TWISTING.replace("BOUNDARY", "free_free"))
    text = runner.invoke(app, ["model", "show", str(file)]).stdout
    body = json.loads(runner.invoke(app, ["model", "show", str(file), "--json"]).stdout)["bodies"][
        0
    ]
    for key, title in (("modes", "as described, its frame"), ("held_modes", "when held")):
        rows = columns_of(text, title)
        assert [float(row[1]) for row in rows] == [
            pytest.approx(hz, rel=1e-3) for hz in body[key]["frequency_hz"]
        ]
        shares = np.array([[float(cell) for cell in row[-6:]] for row in rows])
        masses = np.array(body[key]["effective_mass_kg"]) / body[key]["mass_kg"]
        assert np.max(np.abs(shares[:, :3] / 100.0 - masses)) <= 0.0005001
        if columns == "140":
            kg = [row[3] for row in rows]
            assert kg.count("-") == body[key]["modal_mass_kg"].count(None) > 0
            assert all(float(cell) < 100.0 for cell in kg if cell != "-")
    assert not np.any(body["modes"]["effective_mass_kg"])
    file.write_text(TWISTING.replace("BOUNDARY", "cantilever"))
    text = runner.invoke(app, ["model", "show", str(file)]).stdout
    assert "as described, held at its hinge" in text
    assert "when held" not in text


def test_show_prints_no_rounding(runner: CliRunner) -> None:
    """The satellite is symmetric: its products of inertia are zero, not 1e-15."""
    for name in ("structural_satellite", "flexible_satellite"):
        assert "e-1" not in runner.invoke(app, ["model", "show", name]).stdout


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
