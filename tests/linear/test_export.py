"""Linear models in files and in python-control; names, choices and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import control
import numpy as np
import pytest
from scipy.io import loadmat

import darts_py
from darts_py.errors import ArgumentError
from darts_py.linear import LinearModel, linearise
from darts_py.linear.export import MATRICES, NAMES
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


def test_same_input_gives_the_same_files(satellite: Spacecraft, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        linearise(satellite, satellite.neutral(), np.ones(satellite.n_speeds)).save(tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


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
    assert system.input_labels == ["drive_left_angle_rate"]
    assert system.output_labels[:2] == ["drive_left_angle", "base_rot_y"]
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
