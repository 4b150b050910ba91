"""Prescribed motions: constant acceleration, spline, or any function of time.

    plant.prescribe("drive.angle", Motion.spline([0, 10], [0, 1.57]))

Every motion becomes a table of polynomials before the run, so that the compiled step evaluates it
without calling Python, and the same at every stage of an integrator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from darts_py.arguments import one_of, vector
from darts_py.errors import ArgumentError
from darts_py.multibody.model import Array, records
from darts_py.multibody.prescribed import DEGREE, PIECE, evaluate_motion

OF = ("position", "speed", "acceleration")
MAX_PIECES = 20_000  # of a fitted function; 2 MB


class Motion:
    """A position over time, piecewise polynomial; beyond its ends it goes on at constant speed.

    Where only speed or acceleration is given, position (and speed) go on from what they are when
    the motion is prescribed.
    """

    def __init__(self, pieces: Array, of: str) -> None:
        self.pieces = pieces  # PIECE records of the position; its constants are open, see `of`
        self.of = of

    @classmethod
    def constant(cls, acceleration: float, *, start_s: float = 0.0) -> Motion:
        """Return constant acceleration (rad/s^2, m/s^2, or 1/s^2 of a mode) from a time on."""
        a, t = (float(vector(n, [x], 1)[0]) for n, x in (("acceleration", acceleration),
                                                         ("start_s", start_s)))  # fmt: skip
        pieces = records(1, PIECE)
        pieces[0]["start"], pieces[0]["length"] = t, 1e30
        pieces[0]["c"][2] = 0.5 * a
        return cls(pieces, "acceleration")

    @classmethod
    def spline(cls, times_s: Array, values: Array, *, of: str = "position") -> Motion:
        """Return a spline through values at increasing times.

        A position spline is quintic, at rest with no acceleration at both ends; one of speed or
        acceleration is cubic, with zero slope at both ends.

        Args:
            times_s: simulated time, two or more, increasing (n,).
            values: position, speed or acceleration at these times (n,).
            of: what the values are.
        """
        from scipy.interpolate import PPoly, make_interp_spline

        _check_of(of)
        times = vector("times_s", times_s, _length(times_s))
        if times.size < 2 or np.any(np.diff(times) <= 0.0):
            raise ArgumentError("times_s", got=times.tolist(), expected="two or more, increasing")
        values = vector("values", values, times.size, "one for each time")
        flat = [(1, 0.0), (2, 0.0)] if of == "position" else [(1, 0.0)]
        order = 5 if of == "position" else 3
        curve = make_interp_spline(times, values, k=order, bc_type=(flat, flat))  # type: ignore[arg-type]
        return cls(_pieces(_integrated(PPoly.from_spline(curve), of)), of)

    @classmethod
    def function(
        cls,
        function: Callable[[float], float],
        start_s: float,
        end_s: float,
        *,
        of: str = "position",
        tolerance: float = 1e-11,
    ) -> Motion:
        """Return a function of time, fitted by polynomials before the run.

        Pieces are halved until the fit meets the function between its own points to `tolerance`
        times the largest value; the function must be smooth but for steps at halves of the span.

        Args:
            function: simulated time in seconds to position, speed or acceleration.
            start_s: where the fit begins.
            end_s: where it ends.
            of: what the function returns.
            tolerance: error of the fit, relative to the largest value. Where positions are
                fitted, accelerations are good to about its square root less a digit.
        """
        _check_of(of)
        span = vector("start_s, end_s", [start_s, end_s], 2)
        if not span[0] < span[1]:
            raise ArgumentError("end_s", got=end_s, expected=f"a time after {start_s} s")
        if not callable(function):
            raise ArgumentError("function", got=type(function).__name__, expected="a function")
        limit = float(vector("tolerance", [tolerance], 1)[0])
        if not limit > 0.0:
            raise ArgumentError("tolerance", got=tolerance, expected="a number > 0")
        return cls(_pieces(_integrated(_fit(function, span, of, limit), of)), of)

    def started(self, time_s: float, position: float, speed: float) -> Motion:
        """Return the motion with its open constants chosen to go on from this state."""
        if self.of == "position":
            return self
        at, rate, _ = evaluate_motion(self.pieces, time_s)
        pieces = self.pieces.copy()
        change = 0.0 if self.of == "speed" else speed - rate
        offset = position - at
        for piece in pieces:  # p + offset + change (t - time_s)
            piece["c"][0] += offset + change * (piece["start"] - time_s)
            piece["c"][1] += change
        return Motion(pieces, "position")

    def __call__(self, time_s: float) -> tuple[float, float, float]:
        """Return position, speed and acceleration at a time."""
        return evaluate_motion(self.pieces, float(vector("time_s", [time_s], 1)[0]))


def _length(values: Any) -> int:
    return len(values) if hasattr(values, "__len__") else 1


def _check_of(of: str) -> None:
    one_of("of", of, OF)


def _integrated(curve: Any, of: str) -> Any:
    """Return the position, up to its open constants."""
    times = OF.index(of)
    return curve.antiderivative(times) if times else curve


def _pieces(curve: Any) -> Array:
    """Return PIECE records of a scipy PPoly."""
    n_coefficients, n = curve.c.shape
    if n_coefficients > DEGREE + 1:
        raise ArgumentError("motion", got=f"degree {n_coefficients - 1}", expected=f"<= {DEGREE}")
    pieces = records(n, PIECE)
    pieces["start"], pieces["length"] = curve.x[:-1], np.diff(curve.x)
    pieces["c"][:, :n_coefficients] = curve.c[::-1].T
    return pieces[pieces["length"] > 0.0]


def _fit(function: Callable[[float], float], span: Array, of: str, tolerance: float) -> Any:
    """Return a PPoly by interpolation in Chebyshev points, halving where it is not good enough."""
    from numpy.polynomial import chebyshev
    from scipy.interpolate import PPoly

    degree = DEGREE - OF.index(of)  # what is left after integration
    nodes, between = chebyshev.chebpts1(degree + 1), np.linspace(-1.0, 1.0, 2 * degree + 3)
    largest = max(max(abs(_value(function, t)) for t in np.linspace(span[0], span[1], 33)), 1e-30)
    waiting, done = [(float(span[0]), float(span[1]))], []
    while waiting:
        low, high = waiting.pop()
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        values = [_value(function, middle + half * x) for x in nodes]
        series = chebyshev.chebfit(nodes, values, degree)
        exact = np.array([_value(function, middle + half * x) for x in between])
        error = np.abs(chebyshev.chebval(between, series) - exact).max()
        if error <= tolerance * largest:
            done.append((low, high, chebyshev.cheb2poly(series), middle, half))
        elif len(done) + len(waiting) > MAX_PIECES or half < 1e-9 * (span[1] - span[0]):
            raise ArgumentError(
                "function", got=f"an error of {error:.3g} near t = {middle:.6g} s after halving",
                expected=f"a smooth function, to {tolerance:g} of {largest:.3g}",
                hint="loosen the tolerance, or split it at its kinks",
            )  # fmt: skip
        else:
            waiting += [(middle, high), (low, middle)]
    breaks = np.array([piece[0] for piece in done] + [done[-1][1]])
    c = np.zeros((degree + 1, len(done)))
    for k, (low, _, powers, middle, half) in enumerate(done):
        local = np.polynomial.Polynomial(powers)(
            np.polynomial.Polynomial([(low - middle) / half, 1.0 / half])
        )
        coefficients = np.zeros(degree + 1)
        coefficients[: local.coef.size] = local.coef
        c[:, k] = coefficients[::-1]
    return PPoly(c, breaks)


def _value(function: Callable[[float], float], t: float) -> float:
    value = function(float(t))
    number = isinstance(value, int | float | np.floating | np.integer)
    if not number or isinstance(value, bool) or not abs(value) < np.inf:
        raise ArgumentError(f"function({t:g})", got=repr(value), expected="a finite number")
    return float(value)
