"""Closed-form natural modes of a uniform Euler-Bernoulli beam, clamped-free and free-free.

Bending shapes hold the growing and the decaying exponential apart, each times a factor that is
computed without cancellation, so that the hundredth mode is as exact as the first. Bare
translation of the section makes the modes; its rotary inertia enters the integrals only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from darts_py.multibody.tree import Array
from darts_py.structures.beam_elements import FREEDOMS
from darts_py.structures.reduction import MOST_MODES, Wanted
from darts_py.structures.refusal import refuse
from darts_py.structures.section import SectionValues

Curve = Callable[[Array], tuple[Array, Array]]  # x = s / L -> value, derivative by x


@dataclass(frozen=True)
class _Mode:
    omega2: float
    family: str
    curve: Curve  # of unit mean square: int_0^1 value^2 dx = 1


def analytic_shapes(
    values: SectionValues, length: float, wanted: Wanted, families: Mapping[str, int] | None
) -> tuple[Array, Callable[[Array], Array]]:
    """Return squared frequencies and shapes (at stations, beam axes, of unit modal mass)."""
    if wanted.boundary == "craig_bampton":
        hint = "use method: finite_elements"
        raise refuse("method", "analytic Craig-Bampton modes", "cantilever or free_free", hint)
    if families is not None:
        modes = [
            _mode(values, length, wanted.boundary, name, k)
            for name, count in families.items()
            for k in range(1, count + 1)
        ]
    elif wanted.count is not None:
        names = values.stiffness
        modes = [
            _mode(values, length, wanted.boundary, name, k)
            for name in names
            for k in range(1, wanted.count + 1)
        ]
    else:
        modes = _modes_up_to(values, length, wanted)
    modes.sort(key=lambda mode: mode.omega2)
    modes = modes if families is not None or wanted.count is None else modes[: wanted.count]
    if len(modes) > MOST_MODES:
        raise refuse("modes", f"{len(modes)} modes", f"at most {MOST_MODES}")
    mass = {name: _inertia_per_length(values, name) for name in values.stiffness}

    def shapes(s: Array) -> Array:
        Pi = np.zeros((len(s), 6, len(modes)))
        for k, mode in enumerate(modes):
            value, slope = mode.curve(np.asarray(s) / length)
            scale = 1.0 / np.sqrt(mass[mode.family] * length)
            *turn, shift = FREEDOMS[mode.family]
            Pi[:, shift, k] = scale * value
            if turn:  # theta_z = v', theta_y = -w'
                sign = -1.0 if mode.family == "bending_about_y" else 1.0
                Pi[:, turn[0], k] = sign * scale / length * slope
        return Pi

    return np.array([mode.omega2 for mode in modes]), shapes


def _modes_up_to(values: SectionValues, length: float, wanted: Wanted) -> list[_Mode]:
    limit = (2.0 * np.pi * (wanted.up_to_hz or 0.0)) ** 2
    modes: list[_Mode] = []
    for name in values.stiffness:
        for k in range(1, MOST_MODES + 2):
            mode = _mode(values, length, wanted.boundary, name, k)
            if mode.omega2 > limit:
                break
            modes.append(mode)
    return modes


def _inertia_per_length(values: SectionValues, family: str) -> float:
    return float(values.inertia[0, 0] if family == "torsion" else values.mass[0])


def _mode(values: SectionValues, length: float, boundary: str, family: str, k: int) -> _Mode:
    stiffness, inertia = float(values.stiffness[family][0]), _inertia_per_length(values, family)
    free = boundary == "free_free"
    if family in ("stretch", "torsion"):  # omega = lambda sqrt(EA / mu) / L
        lam = k * np.pi if free else (k - 0.5) * np.pi
        return _Mode(lam**2 * stiffness / inertia / length**2, family, _rod_curve(lam, free))
    lam = bending_root(k, free)  # omega = lambda^2 sqrt(EI / mu) / L^2
    return _Mode(lam**4 * stiffness / inertia / length**4, family, _bending_curve(lam, free))


def bending_root(k: int, free: bool) -> float:
    """Return the k-th root of cos b cosh b = 1 (free-free, b > 0) or -1 (clamped-free)."""
    start = k if free else k - 1
    sign = -1.0 if free else 1.0

    def residual(b: float) -> float:  # divided by cosh, so that it stays of size 1
        return float(np.cos(b) + sign / np.cosh(min(b, 700.0)))

    exact: Any = {"xtol": 1e-15, "rtol": 4.0 * np.finfo(float).eps}
    root: Any = brentq(residual, start * np.pi, (start + 1) * np.pi, **exact)
    return float(root)


def _rod_curve(lam: float, free: bool) -> Curve:
    root2 = np.sqrt(2.0)
    if free:
        return lambda x: (root2 * np.cos(lam * x), -root2 * lam * np.sin(lam * x))
    return lambda x: (root2 * np.sin(lam * x), root2 * lam * np.cos(lam * x))


def _bending_curve(b: float, free: bool) -> Curve:
    """Return cosh + c cos - sigma (sinh + c sin) of b x, c = 1 free-free, -1 clamped-free.

    As exponentials it is up e^{b(x-1)} + down e^{-bx} + c (cos - sigma sin), where 1 - sigma is
    (c cos b - c sin b - e^-b) / (sinh b - c sin b): the numerator does not cancel. Its mean
    square is 1 (Blevins 2001, table 8-1: both families are normalised so).
    """
    c, decay = (1.0 if free else -1.0), np.exp(-b)
    sine, cosine = np.sin(b), np.cos(b)
    below = 1.0 - decay**2 - 2.0 * c * decay * sine  # 2 e^-b (sinh b - c sin b)
    top = c * cosine - c * sine - decay  # of 1 - sigma, times sinh b - c sin b
    up = top / below  # (1 - sigma) / 2 times e^b
    sigma = 1.0 - 2.0 * decay * top / below
    down = 0.5 * (1.0 + sigma)

    def curve(x: Array) -> tuple[Array, Array]:
        grow, fade = up * np.exp(b * (x - 1.0)), down * np.exp(-b * x)
        cos, sin = np.cos(b * x), np.sin(b * x)
        value = grow + fade + c * (cos - sigma * sin)
        slope = b * (grow - fade - c * (sin + sigma * cos))
        held = (x == 0.0) & (not free)  # exactly, not to rounding
        return np.where(held, 0.0, value), np.where(held, 0.0, slope)

    return curve
