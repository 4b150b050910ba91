"""Linear models in files and in python-control; names, choices and refusals."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import control
import numpy as np
import pytest
from scipy.io import loadmat

import darts_py
from darts_py.errors import ArgumentError
from darts_py.linear import LinearModel, linearise
from darts_py.linear.export import MATRICES, NAMES, control_name, name_of_control
from darts_py.multibody.spacecraft import Spacecraft


@pytest.fixture(scope="module")
def satellite() -> Spacecraft:
    return darts_py.load_model("flexible_satellite")


@pytest.fixture(scope="module")
def linear(satellite: Spacecraft) -> LinearModel:
    return linearise(
        satellite,
        satellite.neutral(),
        np.zeros(satellite.n_speeds),
        inputs=["drive_left.angle_rate", "bus.thruster.f?"],
        outputs=["base.rot_?", "drive_*.angle", "bus.gyro.wx", "bus.gyro.a?"],
    )


def test_names_are_in_the_order_asked_for(linear: LinearModel) -> None:
    forces = tuple(f"bus.thruster.f{axis}" for axis in "xyz")
    assert linear.input_names == ("drive_left.angle_rate", *forces)
    assert linear.output_names == (
        *(f"base.rot_{axis}" for axis in "xyz"),
        "drive_left.angle",
        "drive_right.angle",
        "bus.gyro.wx",
        *(f"bus.gyro.a{axis}" for axis in "xyz"),
    )
    assert linear.B.shape == (48, 4)
    assert linear.C.shape == (9, 48)
    assert linear.D.shape == (9, 4)
    assert np.any(linear.D[-3:])


def test_defaults_are_joint_forces_and_the_whole_state(satellite: Spacecraft) -> None:
    model = linearise(satellite, satellite.neutral(), np.zeros(satellite.n_speeds))
    assert model.output_names == model.state_names
    assert np.array_equal(model.C, np.eye(48))
    assert len(model.input_names) == 12
    assert not any("mode" in name for name in model.input_names)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"inputs": "drive_lef.angle_rate"}, r"did you mean drive_left.angle_rate"),
        ({"inputs": ["bus.thruster.q"]}, r"inputs: got 'bus.thruster.q', expected one of the"),
        ({"outputs": "bus.*.zzzzzz"}, r"there are: bus.origin.px, .*"),
        ({"outputs": [3]}, r"outputs: got \[3\], expected names, or patterns"),
    ],
)
def test_unknown_names_are_refused(satellite: Spacecraft, wanted: dict, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        linearise(satellite, satellite.neutral(), np.zeros(satellite.n_speeds), **wanted)


def test_npz_round_trip_without_pickle(linear: LinearModel, tmp_path: Path) -> None:
    linear.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
        for key in (*MATRICES, "q", "u", "tau", "udot", "y", "mass"):
            assert np.array_equal(file[key], getattr(linear, key)), key
        for key in NAMES:
            assert tuple(file[key].tolist()) == getattr(linear, key)
        assert str(file["model"]) == "flexible_satellite"
        assert bool(file["is_equilibrium"])


def test_mat_file_is_what_matlab_reads(linear: LinearModel, tmp_path: Path) -> None:
    linear.save(str(tmp_path / "model.mat"))
    file = loadmat(tmp_path / "model.mat")
    for key in MATRICES:
        assert np.array_equal(file[key], getattr(linear, key)), key
    for key in NAMES:
        cells = file[key]
        assert cells.dtype == object  # a cell array ...
        assert cells.shape == (len(getattr(linear, key)), 1)  # ... that is a column
        assert tuple(str(cell[0]) for cell in cells[:, 0]) == getattr(linear, key)
    assert file["u"].shape == (24, 1)
    assert (tmp_path / "model.mat").read_bytes().startswith(b"MATLAB 5.0 MAT-file")


def test_json_round_trip(linear: LinearModel, tmp_path: Path) -> None:
    linear.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    for key in MATRICES:
        assert np.array_equal(np.array(document[key]), getattr(linear, key)), key
    assert tuple(document["output_names"]) == linear.output_names
    assert document["n_freedoms"] == 24


@pytest.mark.parametrize("ending", ["json", "npz", "mat"])
def test_same_input_gives_the_same_files(
    satellite: Spacecraft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """Neither the date (that SciPy and zip files know) nor anything else gets in."""
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for year, file in zip((2001, 2031), files, strict=True):
        monkeypatch.setattr(time, "asctime", lambda *_, year=year: f"Mon Jan  1 00:00:00 {year}")
        monkeypatch.setattr(time, "time", lambda year=year: (year - 1970) * 3.15e7)
        linearise(satellite, satellite.neutral(), np.ones(satellite.n_speeds)).save(file)
    assert files[0].read_bytes() == files[1].read_bytes()


def loaded_modes(file: Path) -> dict[str, np.ndarray]:
    """Return what a file says of the modes, vectors flat."""
    if file.suffix == ".json":
        text = json.loads(file.read_text())
        both = {key[:-5] for key in text if key.endswith("_imag")}
        found = {key: np.array(text[f"{key}_real"]) + 1j * np.array(text[f"{key}_imag"])
                 for key in both}  # fmt: skip
        return found | {key: np.array(value) for key, value in text.items()}
    if file.suffix == ".mat":
        content = loadmat(file)
        flat = ("mode_eigenvalues", "mode_frequencies_hz", "mode_damping_ratios")
        return content | {key: content[key].ravel() for key in flat}
    with np.load(file, allow_pickle=False) as content:
        return dict(content)


@pytest.mark.parametrize("ending", ["json", "npz", "mat", "control"])
def test_exports_hold_the_modes(linear: LinearModel, tmp_path: Path, ending: str) -> None:
    """A v = lambda v for every mode, with v and lambda as another tool finds them."""
    if ending == "control":
        found = linear.to_control().darts_modes
    else:
        linear.save(tmp_path / f"m.{ending}")
        found = loaded_modes(tmp_path / f"m.{ending}")
    values, shapes = found["mode_eigenvalues"], found["mode_shapes"]
    assert shapes.shape == (24, values.size)
    assert found["mode_participation"].shape == (len(linear.body_names), values.size)
    assert np.allclose(found["mode_participation"].sum(axis=0), 1.0)
    assert np.allclose(found["mode_frequencies_hz"], np.abs(values) / (2.0 * np.pi))
    assert np.allclose(found["mode_damping_ratios"], -values.real / np.abs(values))
    zeros = 2 * 6 + 6  # the free base; four wheels and two drives, which are damped
    assert (found["n_rigid"], found["n_zero"]) == (12, zeros)
    assert 2 * np.sum(values.imag > 0.0) + np.sum(values.imag == 0.0) + zeros == 48
    x = np.concatenate([shapes, shapes * values])  # at rest: speeds are the rates of coordinates
    assert np.max(np.abs(linear.A @ x - x * values)) < 1e-8 * np.max(np.abs(values)) ** 2
    assert np.allclose(found["mode_output_shapes"], linear.C @ x, atol=1e-9 * np.max(np.abs(x)))


def test_names_in_control_are_distinct_and_lead_back(linear: LinearModel) -> None:
    """`a_b.c` and `a.b_c` are two names; with underscores for dots they were one."""
    twins = replace(linear, input_names=("a_b.c", "a.b_c", "a.b.c", "a_b_c"))
    system = twins.to_control()
    assert len(set(system.input_labels)) == 4
    assert tuple(map(name_of_control, system.input_labels)) == twins.input_names
    assert tuple(map(name_of_control, system.state_labels)) == linear.state_names
    name = control_name("bus.gyro.wx")
    part = system[name, control_name("a.b_c")]
    assert np.array_equal(part.D, linear.D[[linear.output_names.index("bus.gyro.wx")], 1:2])


def test_unknown_endings_are_refused(linear: LinearModel, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"file: got .*model.csv'.* ends in .npz, .mat, .json"):
        linear.save(tmp_path / "model.csv")


def test_python_control_agrees_with_the_plant(satellite: Spacecraft) -> None:
    """A small step on a drive: linear response against the nonlinear simulation.

    The response grows to about 1e-4 rad; products of two such quantities are 1e-8, that is 1e-4
    of the response. RK4 at 1 ms and `control`'s matrix exponential add 1e-7.
    """
    torque, n_steps = 1e-3, 2000
    model = linearise(
        satellite,
        satellite.neutral(),
        np.zeros(satellite.n_speeds),
        inputs="drive_left.angle_rate",
        outputs=["drive_left.angle", "base.rot_y", "panel_left.mode_?", "bus.gyro.wy"],
    )
    system = model.to_control()
    assert isinstance(system, control.StateSpace)
    assert system.input_labels == ["drive_left:angle_rate"]
    assert system.output_labels[:2] == ["drive_left:angle", "base:rot_y"]
    t = np.linspace(0.0, n_steps * 1e-3, n_steps // 100 + 1)
    response = control.forced_response(system, t, np.full((1, t.size), torque)).outputs
    plant = darts_py.Plant(satellite, dt_ns=1_000_000)
    plant.tau[satellite.speed_names.index("drive_left.angle_rate")] = torque
    angle, start = satellite.coord_names.index("drive_left.angle"), plant.q.copy()
    modes = [satellite.coord_names.index(f"panel_left.mode_{k + 1}") for k in range(6)]
    simulated = []
    for k in range(t.size):
        if k:
            plant.advance(100)
        gyro = darts_py.node_motion(satellite, plant.q, plant.u, node="bus.gyro").V[1]
        turn = 2.0 * plant.q[satellite.coord_names.index("base.qy")]
        simulated.append([plant.q[angle], turn, *(plant.q[modes] - start[modes]), gyro])
    simulated = np.array(simulated).T
    for row, expected in zip(response, simulated, strict=True):
        assert np.max(np.abs(row - expected)) <= 1e-4 * np.max(np.abs(simulated))
    assert np.max(np.abs(response[0] - simulated[0])) <= 1e-4 * np.max(np.abs(simulated[0]))
