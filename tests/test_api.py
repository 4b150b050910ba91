"""The doors of the Python API: what is wrong, what was expected, what to do."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import darts_py
from darts_py.errors import ArgumentError
from darts_py.multibody.spacecraft import Spacecraft
from tests.reference import golden

Q, U = golden.Q, golden.U


@pytest.fixture(scope="module")
def model() -> Spacecraft:
    return Spacecraft(golden.tree())


def test_every_promised_name_is_there_and_documented() -> None:
    for name in darts_py.__all__:
        assert getattr(darts_py, name).__doc__, name
    for name in darts_py.__all__:
        function = getattr(darts_py, name)
        if name.islower() and "q" in inspect.signature(function).parameters:
            text = str(function.__doc__)
            assert "(n_coords,)" in text, name  # shapes are stated where help() shows them


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Q[:5], U), r"q: got shape \(5,\), expected shape \(7,\) \(modes and joint"),
        ((Q, U[:, None]), r"u: got shape \(7, 1\), expected shape \(7,\)"),
        (("abc", U), r"q: got str, expected 7 real numbers"),
        ((Q + 0j, U), r"q: got an array of complex128, expected 7 real numbers"),
        ((Q > 0, U), r"q: got an array of bool, expected 7 real numbers"),
        ((Q, np.where(np.arange(7) == 3, np.nan, U)), r"u\[3\]: got nan, expected a finite"),
        ((Q, U, U[:2]), r"tau: got shape \(2,\), expected shape \(7,\)"),
    ],
)
def test_wrong_shapes_are_refused(model: Spacecraft, arguments: tuple, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        darts_py.forward_dynamics(model, *arguments)


def test_wrong_options_are_refused(model: Spacecraft) -> None:
    with pytest.raises(ArgumentError, match="method: got 'fast', expected articulated"):
        darts_py.forward_dynamics(model, Q, U, method="fast")
    with pytest.raises(ArgumentError, match="terms: got 'RL'"):
        darts_py.bias_force(model, Q, U, terms="RL")
    with pytest.raises(ArgumentError, match=r"did you mean 'slider.tip'"):
        darts_py.forward_dynamics(model, Q, U, forces={"slider.tib": np.zeros(6)})
    with pytest.raises(ArgumentError, match=r"forces\['slider.tip'\]: got shape \(3,\)"):
        darts_py.forward_dynamics(model, Q, U, forces={"slider.tip": np.zeros(3)})
    with pytest.raises(ArgumentError, match="deformed: got 'yes'"):
        darts_py.node_motion(model, Q, U, node="mast.tip", deformed="yes")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="node: got"):
        darts_py.node_motion(model, Q, U, node=["mast.tip"])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="forces: got list"):
        darts_py.forward_dynamics(model, Q, U, forces=[1, 2])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="name: got int, expected a path"):
        darts_py.load_model(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="model: got Tree, expected what load_model returns"):
        darts_py.mass_matrix(golden.tree(), Q)  # type: ignore[arg-type]


def test_a_zero_quaternion_is_refused() -> None:
    model = darts_py.load_model("flexible_satellite")
    with pytest.raises(ArgumentError, match=r"zero quaternion.*neutral"):
        darts_py.mass_matrix(model, np.zeros(model.n_coords))


def test_names_follow_the_state(model: Spacecraft) -> None:
    assert len(model.coord_names) == model.n_coords == Q.size
    assert len(model.speed_names) == model.n_speeds == U.size
    assert model.coord_names[:3] == ("boom.mode_1", "boom.mode_2", "hinge.angle")


def test_inputs_are_left_as_they_were(model: Spacecraft) -> None:
    q, u = Q.copy(), U.copy()
    darts_py.forward_dynamics(model, q, u)
    darts_py.mass_matrix(model, q)
    darts_py.energy(model, q, u)
    assert np.array_equal(q, Q)
    assert np.array_equal(u, U)


def test_results_are_copies(model: Spacecraft) -> None:
    first = darts_py.mass_matrix(model, Q)
    kept = first.copy()
    darts_py.mass_matrix(model, Q + 0.1)
    assert np.array_equal(first, kept)
