"""What the dynamics should reach, and whether it did: stated in the report, never asserted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from darts_py.bench.dynamics import Report

RIGID_RATIO = 0.7  # of Pinocchio's time
SCALING = 10.5  # 100 bodies over 10
FLEXIBLE_RATIOS = {5: 2.5, 10: 5.0}  # modes -> composite over articulated, wall time
SATELLITE_NS = 4000.0
HYBRID = LOADS = 1.5  # of the plain forward dynamics
CLOSURE = 2.0


@dataclass(frozen=True)
class Target:
    """A figure beside its limit; `met` is None where the figure could not be had."""

    name: str
    value: float | None
    sense: str  # "<=" or ">="
    limit: float
    met: bool | None


def judge(report: Report) -> list[Target]:
    """Hold the report against every target."""
    targets = [
        _target(f"{row.case}: time / Pinocchio", row.ratio_pinocchio, "<=", RIGID_RATIO)
        for row in report.rigid
    ]
    targets.append(_target("chain 100 / chain 10", report.scaling_100_to_10, "<=", SCALING))
    for row in report.flexible:
        if row.n_modes in FLEXIBLE_RATIOS:
            name = f"{row.n_modes} modes: composite / articulated"
            targets.append(_target(name, row.ratio, ">=", FLEXIBLE_RATIOS[row.n_modes]))
    for row in report.constrained:
        targets.append(_target(f"{row.case}: all joints prescribed", row.hybrid, "<=", HYBRID))
        targets.append(_target(f"{row.case}: with loads", row.loads, "<=", LOADS))
        for kind in ("ball", "revolute", "weld"):
            value = getattr(row, kind)
            targets.append(_target(f"{row.case}: one {kind} closure", value, "<=", CLOSURE))
    name = "operators, chain 100 / chain 10"
    targets.append(_target(name, report.operators_100_to_10, "<=", SCALING))
    name = "satellite with two 6-mode panels, ns"
    targets.append(_target(name, report.satellite_ns, "<=", SATELLITE_NS))
    return targets


def _target(name: str, value: float | None, sense: str, limit: float) -> Target:
    if value is None:
        return Target(name, None, sense, limit, None)
    return Target(name, value, sense, limit, value <= limit if sense == "<=" else value >= limit)
