"""Mechanisms of one degree of freedom in closed form: one ordinary differential equation each.

Where all joint angles are known functions q(s) of one coordinate, kinetic energy is I(s) sdot^2 / 2
and Lagrange's equation reads I sddot + I' sdot^2 / 2 + V' = 0: no constraint, no multiplier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.integrate import solve_ivp

from darts_py.multibody.tree import Tree
from tests.reference.twin import Twin

Array = np.ndarray
STEP = 1e-40


@dataclass(frozen=True)
class OneDegree:
    """Reduced inertia and potential of a mechanism, with their derivatives."""

    inertia: Callable[[float], tuple[float, float]]  # I and I'
    slope: Callable[[float], float]  # V'

    def run(self, s: float, rate: float, times: Array) -> Array:
        """Return s and its rate at the given times, (2, n)."""

        def acceleration(_: float, x: Array) -> list[float]:
            inertia, change = self.inertia(x[0])
            return [x[1], -(0.5 * change * x[1] ** 2 + self.slope(x[0])) / inertia]

        run = solve_ivp(
            acceleration,
            (0.0, times[-1]),
            [s, rate],
            method="DOP853",
            t_eval=times,
            rtol=1e-13,
            atol=1e-13,
        )
        return run.y


# -- four-bar -----------------------------------------------------------------------------------

CRANK, COUPLER, ROCKER, GROUND = 0.5, 1.5, 1.2, 1.5
MASSES = (1.0, 3.0, 2.4)
MOMENTS = (0.0209, 0.5625, 0.288)  # about the mass centres, which are in the middle
GRAVITY = 9.81


def four_bar_angles(crank: complex) -> tuple[complex, complex]:
    """Return the inclinations of coupler and rocker against x, counted upward, for the crank's.

    By the law of cosines in the triangle of crank tip, rocker pivot and closing pin, which is
    above the line of the pivots.
    """
    x, z = GROUND - CRANK * np.cos(crank), -CRANK * np.sin(crank)  # crank tip to rocker pivot
    d2 = x * x + z * z
    d = np.sqrt(d2)
    cosine = (COUPLER**2 + d2 - ROCKER**2) / (2 * COUPLER * d)
    coupler = np.arctan(z / x) + _arccos(cosine)
    px, pz = COUPLER * np.cos(coupler) - x, COUPLER * np.sin(coupler) - z
    rocker = _arccos(px / ROCKER)
    return coupler, rocker if pz.real > 0 else -rocker


def _arccos(x: complex) -> complex:
    """Return arccos of numbers in (-1, 1) with a tiny imaginary part."""
    x = complex(x)
    return complex(np.arccos(x.real), -x.imag / np.sqrt(1.0 - x.real**2))


def four_bar() -> OneDegree:
    """Return the shipped four-bar; s is the crank's inclination, counted upward."""

    def inertia_at(s: complex) -> complex:
        rates = _rates(s)
        lengths, pivots = (CRANK, COUPLER, ROCKER), (0.0, CRANK, 0.0)
        inclinations = (s, *four_bar_angles(s))
        total = 0.0 + 0.0j
        for k in range(3):
            # mass centre: half a link beyond a pivot that the crank carries (coupler) or not
            vx = -0.5 * lengths[k] * np.sin(inclinations[k]) * rates[k]
            vz = 0.5 * lengths[k] * np.cos(inclinations[k]) * rates[k]
            vx, vz = vx - pivots[k] * np.sin(s), vz + pivots[k] * np.cos(s)
            total += MASSES[k] * (vx**2 + vz**2) + MOMENTS[k] * rates[k] ** 2
        return total

    def inertia(s: float) -> tuple[float, float]:
        value = inertia_at(s + 1j * STEP)
        return value.real, value.imag / STEP

    def slope(s: float) -> float:
        x = s + 1j * STEP
        coupler, rocker = four_bar_angles(x)
        heights = (
            0.5 * CRANK * np.sin(x),
            CRANK * np.sin(x) + 0.5 * COUPLER * np.sin(coupler),
            0.5 * ROCKER * np.sin(rocker),
        )
        return sum(m * GRAVITY * z for m, z in zip(MASSES, heights, strict=True)).imag / STEP

    return OneDegree(inertia, slope)


def _rates(s: complex) -> tuple[complex, complex, complex]:
    """Return the rates of all inclinations per rate of the crank, from the closed loop.

    crank + coupler = ground + rocker, differentiated: two equations, by Cramer's rule.
    """
    coupler, rocker = four_bar_angles(s)
    determinant = COUPLER * ROCKER * np.sin(coupler - rocker)
    return (
        1.0,
        CRANK * ROCKER * np.sin(rocker - s) / determinant,
        CRANK * COUPLER * np.sin(coupler - s) / determinant,
    )


# -- Bricard --------------------------------------------------------------------------------------


def bricard_angles(s: Array | float) -> Array:
    """Return the angles of pins 1 to 5 for that of pin 1: odd ones alike, even ones alike.

    The trihedral symmetric case of Bricard's orthogonal linkage: sin a + sin b + sin a sin b = 0
    between the angle a of the odd pins and b of the even ones, all zero in the cube.
    """
    b = np.arcsin(-np.sin(s) / (1.0 + np.sin(s)))
    return np.stack([s, b, s, b, s], -1)


def bricard(tree: Tree, degree: int = 60) -> OneDegree:
    """Return the shipped Bricard mechanism between its two cubes; s is the angle of pin 1.

    Mass matrix and potential of the open chain come from the twin, and are interpolated.
    """
    twin, range_ = Twin(tree), [-0.3, np.pi + 0.3]

    def inertia_at(s: float) -> float:
        b = bricard_angles(s)[1]
        # cos a (1 + sin b) da + cos b (1 + sin a) db = 0
        change = -np.cos(s) * (1 + np.sin(b)) / (np.cos(b) * (1 + np.sin(s)))
        rates = np.array([1.0, change, 1.0, change, 1.0])
        return float(rates @ twin.mass_matrix(bricard_angles(s)) @ rates)

    def potential_at(s: float) -> float:
        return float(twin.energy(bricard_angles(s), np.zeros(5)).gravity)

    inertia = Chebyshev.interpolate(np.vectorize(inertia_at), degree, range_)
    slope = Chebyshev.interpolate(np.vectorize(potential_at), degree, range_).deriv()
    change = inertia.deriv()
    return OneDegree(lambda s: (inertia(s), change(s)), slope)
