"""Modes for `darts model show`: of each flexible body on its own, and of the whole system."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from darts_py.errors import ArgumentError

if TYPE_CHECKING:
    from rich.table import Table

    from darts_py.cli.state_file import State
    from darts_py.multibody.spacecraft import Spacecraft

SHOWN = 40  # modes listed on a terminal; --json has all
ROUNDING = 1e-12  # a number less than this is printed as 0
TAKES_PART = 0.05  # part of the kinetic energy from which a body is named


def body_summary(model: Spacecraft, body: str) -> dict[str, Any]:
    """Return the modes of a flexible body as plain numbers."""
    from darts_py.linear.body_modes import body_modes

    modes = body_modes(model, body)
    return {
        "frequency_hz": _plain(modes.frequency_rad_s / (2.0 * math.pi)),
        "damping_ratio": _plain(modes.damping_ratio),
        "modal_mass_kg": _plain(modes.modal_mass_kg),
        "effective_mass_kg": modes.effective_mass_kg.tolist(),
        "effective_inertia_kg_m2": modes.effective_inertia_kg_m2.tolist(),
        "residual_mass_kg": modes.residual_mass_kg.tolist(),
        "residual_inertia_kg_m2": modes.residual_inertia_kg_m2.tolist(),
        "mass_kg": modes.mass_kg,
        "inertia_about_hinge_kg_m2": modes.inertia_kg_m2.tolist(),
    }


def _plain(values: Any) -> list[float | None]:
    return [float(x) if math.isfinite(x) else None for x in values]


def system_summary(state: State) -> dict[str, Any]:
    """Return the modes of the whole system at a state as plain numbers."""
    from darts_py.linear import LinearisationWarning, linearise

    try:
        note = state.close()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LinearisationWarning)
            linear = linearise(state.model, state.q, state.u, state.tau, inputs=[], outputs=[])
    except ArgumentError as error:  # loops that do not close from there
        return {"missing": str(error), "modes": []}
    modes = linear.modes()
    return {
        "missing": "",
        "warnings": [*filter(None, [note]), *(str(warning.message) for warning in caught)],
        "n_freedoms": linear.n_freedoms,
        "n_closures": linear.n_closures,
        "is_equilibrium": linear.is_equilibrium,
        "greatest_acceleration": linear.equilibrium_defect,
        "n_rigid": modes.n_rigid,
        "coordinates": list(modes.local_names),
        "modes": [
            {
                "frequency_hz": mode.frequency_hz,
                "damping_ratio": mode.damping_ratio,
                "eigenvalue_rad_s": [mode.eigenvalue.real, mode.eigenvalue.imag],
                "participation": dict(
                    zip(modes.body_names, mode.participation.tolist(), strict=True)
                ),
                "shape_real": [entry.real for entry in mode.shape.tolist()],
                "shape_imag": [entry.imag for entry in mode.shape.tolist()],
            }
            for mode in modes
        ],
    }


def body_title(body: dict[str, Any]) -> str:
    """Return the title of a flexible body's table."""
    return (
        f"{body['name']} held at its hinge: natural modes; effective mass along, inertia about\n"
        f"the body axes through the hinge, in % of the body's ({body['mass_kg']:g} kg)"
    )


def body_table(table: Table, modes: dict[str, Any]) -> Table:
    """Fill the table of one flexible body."""
    for title in ("mode", "Hz", "damping", "modal kg", *(f"m{c} %" for c in "xyz"),
                  *(f"J{c} %" for c in "xyz")):  # fmt: skip
        table.add_column(title, justify="right", no_wrap=True)
    mass, inertia = modes["mass_kg"], modes["inertia_about_hinge_kg_m2"]
    masses, inertias = modes["effective_mass_kg"], modes["effective_inertia_kg_m2"]
    count = len(masses)
    for k in range(min(count, SHOWN)):
        scalars = [modes[key][k] for key in ("frequency_hz", "damping_ratio", "modal_mass_kg")]
        table.add_row(str(k + 1), *map(_number, scalars), *_parts(masses[k], [mass] * 3),
                      *_parts(inertias[k], inertia))  # fmt: skip
    if count > SHOWN:
        table.add_row("...", *[""] * 9)
    table.add_row("all", "", "", "", *_parts(_sums(masses), [mass] * 3),
                  *_parts(_sums(inertias), inertia))  # fmt: skip
    return table


def _sums(rows: list[list[float]]) -> list[float]:
    return [math.fsum(row[c] for row in rows) for c in range(3)]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{0.0 if abs(value) < ROUNDING else value:.4g}"


def _parts(values: list[float], totals: list[float]) -> list[str]:
    pairs = zip(values, totals, strict=True)
    return [f"{100.0 * x / total:.1f}" if total > 0.0 else "-" for x, total in pairs]


def system_table(table: Table, system: dict[str, Any]) -> Table:
    """Fill the table of the system's modes."""
    for title in ("mode", "Hz", "damping", "decay s"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("bodies that move (part of the kinetic energy)", overflow="fold")
    for k, mode in enumerate(system["modes"][:SHOWN]):
        table.add_row(str(k + 1), *_rates(mode), _bodies(mode["participation"]))
    if len(system["modes"]) > SHOWN:
        table.add_row("...", "", "", "", f"{len(system['modes']) - SHOWN} more (--json has all)")
    return table


def _rates(mode: dict[str, Any]) -> list[str]:
    """Return frequency, damping ratio and decay time; a real eigenvalue has only the last."""
    real, imaginary = mode["eigenvalue_rad_s"]
    decays = abs(real) > ROUNDING * mode["frequency_hz"]
    time_s = _number(-1.0 / real) if decays else "-"
    if imaginary == 0.0:
        return ["-", "-", time_s]
    return [_number(mode["frequency_hz"]), _number(mode["damping_ratio"]), time_s]


def _bodies(participation: dict[str, float]) -> str:
    ranked = sorted(participation.items(), key=lambda item: -item[1])
    named = [(name, part) for name, part in ranked if part >= TAKES_PART][:3] or ranked[:1]
    return ", ".join(f"{name} {100.0 * part:.0f} %" for name, part in named)


def system_notes(system: dict[str, Any]) -> list[str]:
    """Return what must be said beside the table."""
    if system["missing"]:
        return [f"No system modes: {system['missing']}."]
    notes = list(system["warnings"])
    rigid, freedoms = system["n_rigid"], system["n_freedoms"]
    text = f"{freedoms} freedoms, {rigid} of them held by no stiffness (rigid-body modes)"
    if system["n_closures"]:
        text += f"; closed loops take {system['n_closures']}"
    notes.append(text + ".")
    if not system["is_equilibrium"]:
        notes.append(
            "Not an equilibrium: the greatest acceleration is "
            f"{system['greatest_acceleration']:.3g} in units of its speed."
        )
    return notes
