"""The golden case of the equation sheet, to its printed digits, by the API and by the twin."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from tests.reference import golden
from tests.reference.twin import Twin

METHODS = ("articulated", "articulated-direct", "articulated-woodbury", "composite")

# Printed to 12 decimals (10 for M, T and Ug): half a unit of the last digit, and as much again
# for the rounding of either side.
PRINTED = 1e-12
PRINTED_SHORT = 1e-10


def _api() -> SimpleNamespace:
    model = Spacecraft(golden.tree())
    q, u, forces = golden.Q, golden.U, golden.FORCES
    V, a = darts_py.body_motion(model, q, u)
    energy = darts_py.energy(model, q, u)
    return SimpleNamespace(
        M=darts_py.mass_matrix(model, q),
        C=darts_py.bias_force(model, q, u, forces=forces),
        C_still=darts_py.bias_force(model, q, golden.U_STILL, forces=forces),
        loads=darts_py.hinge_loads(model, q, u, golden.UDOT, forces=forces),
        momentum=darts_py.momentum(model, q, u),
        V=V,
        a=a,
        energy=energy,
    )


def _twin() -> SimpleNamespace:
    twin = Twin(golden.tree())
    q, u, forces = golden.Q, golden.U, golden.FORCES
    V, a = twin.body_motion(q, u)
    return SimpleNamespace(
        M=twin.mass_matrix(q),
        C=twin.bias_force(q, u, forces),
        C_still=twin.bias_force(q, golden.U_STILL, forces),
        loads=twin.hinge_loads(q, u, golden.UDOT, forces),
        momentum=twin.momentum(q, u),
        V=V,
        a=a,
        energy=twin.energy(q, u),
    )


@pytest.fixture(scope="module", params=["api", "twin"])
def result(request: pytest.FixtureRequest) -> SimpleNamespace:
    """Everything the sheet prints but the accelerations."""
    return _api() if request.param == "api" else _twin()


def test_golden_mass_matrix(result: SimpleNamespace) -> None:
    np.testing.assert_allclose(result.M, golden.mass_matrix(), rtol=0, atol=PRINTED_SHORT)


def test_golden_bias(result: SimpleNamespace) -> None:
    np.testing.assert_allclose(result.C, golden.BIAS, rtol=0, atol=PRINTED)


def test_golden_bias_without_modal_rates(result: SimpleNamespace) -> None:
    np.testing.assert_allclose(result.C_still, golden.BIAS_STILL, rtol=0, atol=PRINTED)


def test_golden_body_motion(result: SimpleNamespace) -> None:
    np.testing.assert_allclose(result.V[1], golden.V_2, rtol=0, atol=PRINTED)
    np.testing.assert_allclose(result.a[1], golden.A_2, rtol=0, atol=PRINTED)


def test_golden_hinge_loads(result: SimpleNamespace) -> None:
    # F_1 and F_2 carry the printed accelerations' own rounding, times masses of about 1 kg
    np.testing.assert_allclose(result.loads[0], golden.F_1, rtol=0, atol=5 * PRINTED)
    np.testing.assert_allclose(result.loads[1], golden.F_2, rtol=0, atol=5 * PRINTED)


def test_golden_energy(result: SimpleNamespace) -> None:
    assert result.energy.kinetic == pytest.approx(golden.KINETIC, rel=0, abs=PRINTED_SHORT)
    assert result.energy.strain == pytest.approx(golden.STRAIN, rel=0, abs=PRINTED)
    assert result.energy.gravity == pytest.approx(golden.GRAVITY, rel=0, abs=PRINTED_SHORT)


def test_golden_momentum(result: SimpleNamespace) -> None:
    np.testing.assert_allclose(result.momentum, golden.MOMENTUM, rtol=0, atol=PRINTED)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("u", "expected"), [(golden.U, golden.UDOT), (golden.U_STILL, golden.UDOT_STILL)]
)
def test_golden_accelerations(method: str, u: np.ndarray, expected: np.ndarray) -> None:
    model = Spacecraft(golden.tree())
    udot = darts_py.forward_dynamics(
        model, golden.Q, u, golden.TAU, forces=golden.FORCES, method=method
    )
    # values reach 110: rounding of the solve (condition number 300) comes on top of the print
    np.testing.assert_allclose(udot, expected, rtol=1e-13, atol=5 * PRINTED)


@pytest.mark.parametrize(
    ("u", "expected"), [(golden.U, golden.UDOT), (golden.U_STILL, golden.UDOT_STILL)]
)
def test_golden_accelerations_of_twin(u: np.ndarray, expected: np.ndarray) -> None:
    udot = Twin(golden.tree()).forward_dynamics(golden.Q, u, golden.TAU, golden.FORCES)
    np.testing.assert_allclose(udot, expected, rtol=1e-13, atol=5 * PRINTED)
