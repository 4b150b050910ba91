"""Local coordinates around a configuration, for callers outside the kernels."""

from __future__ import annotations

from darts_py._jit import kernel
from darts_py.multibody.joint_rates import local_rates, retract


@kernel
def move(m, q, delta, out):
    """Write the coordinates reached from q by local coordinates delta (one per speed)."""
    retract(m, q, delta, out)


@kernel
def chart_rates(m, w, q, u, origin, out):
    """Write the rates of the local coordinates around q itself; `origin` is zeros (n_speeds,)."""
    local_rates(m, q, u, origin, w.scratch[0].G, out)
