"""Linear models of spacecraft: linearisation, modes, export."""

from darts_py.linear.linear_model import LinearModel
from darts_py.linear.linearise import linearise
from darts_py.linear.modes import Mode, Modes
from darts_py.linear.stops import LinearisationWarning

__all__ = ["LinearModel", "LinearisationWarning", "Mode", "Modes", "linearise"]
