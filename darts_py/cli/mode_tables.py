"""Modes for `darts model show`: of each flexible body on its own, and of the whole system."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from darts_py.errors import ArgumentError

if TYPE_CHECKING:
    from rich.table import Table

    from darts_py.cli.state_file import State
    from darts_py.linear.body_modes import BodyModes

SHOWN = 40  # modes listed on a terminal; --json has all
ROUNDING = 1e-12  # relative: a number less than this is printed as 0
TAKES_PART = 0.05  # part of the kinetic energy from which a body is named
WIDE = 100  # columns from which modal masses are listed, too

Summary = dict[str, Any]


def body_summary(modes: BodyModes) -> Summary:
    """Return the modes of a flexible body as plain numbers."""
    mass, inertia = modes.mass_kg, modes.inertia_kg_m2.tolist()
    return {
        "frequency_hz": _plain(modes.frequency_rad_s / (2.0 * math.pi)),
        "damping_ratio": _plain(modes.damping_ratio),
        "coordinate": None if modes.coordinates is None else (modes.coordinates + 1).tolist(),
        "modal_mass_kg": _plain(modes.modal_mass_kg),
        "modal_inertia_kg_m2": _plain(modes.modal_inertia_kg_m2),
        "effective_mass_kg": _parts_of([mass] * 3, modes.effective_mass_kg),
        "effective_inertia_kg_m2": _parts_of(inertia, modes.effective_inertia_kg_m2),
        "residual_mass_kg": _parts_of([mass] * 3, [modes.residual_mass_kg])[0],
        "residual_inertia_kg_m2": _parts_of(inertia, [modes.residual_inertia_kg_m2])[0],
        "mass_kg": mass,
        "inertia_about_hinge_kg_m2": inertia,
        "moves_hinge": modes.moves_hinge,
    }


def _plain(values: Any) -> list[float | None]:
    return [float(x) if math.isfinite(x) else None for x in values]


def _parts_of(totals: list[float], rows: Any) -> list[list[float]]:
    """Return rows of parts of totals, with rounding taken as nothing."""
    return [without_rounding(row, totals) for row in rows]


def without_rounding(values: Any, sizes: Any) -> list[float]:
    """Return numbers with those that are rounding, beside their sizes, as 0."""
    pairs = zip(values, sizes, strict=True)
    return [float(x) if abs(x) > ROUNDING * abs(size) else 0.0 for x, size in pairs]


def system_summary(state: State) -> Summary:
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


def described_title(body: Summary) -> str:
    """Return the title of the table of a body's modes as the model describes them."""
    modes, name = body["modes"], body["name"]
    where = "its frame at rest" if modes["moves_hinge"] else "held at its hinge"
    mixed = "" if modes["coordinate"] else "; each mixes modal coordinates"
    return f"{name}: modes as described, {where}{mixed}\n{_percentages(modes)}"


def held_title(body: Summary) -> str:
    """Return the title of the table of a body's modes when its hinge does not move."""
    return f"{body['name']}: modes when held at its hinge\n{_percentages(body['held_modes'])}"


def _percentages(modes: Summary) -> str:
    inertia = ", ".join(_number(x) for x in modes["inertia_about_hinge_kg_m2"])
    return (
        "effective mass m along and inertia J about the body axes at the hinge, in %\n"
        f"of {_number(modes['mass_kg'])} kg and of {inertia} kg m2"
    )


def body_table(table: Table, modes: Summary, width: int) -> Table:
    """Fill the table of one flexible body; `width` is that of the terminal."""
    scalars = ["frequency_hz", "damping_ratio"]
    titles = ["mode", "Hz", "damping"]
    if width >= WIDE:
        scalars += ["modal_mass_kg", "modal_inertia_kg_m2"]
        titles += ["modal kg", "modal kg m2"]
    for title in (*titles, *(f"{word}{c} %" for word in "mJ" for c in "xyz")):
        table.add_column(title, justify="right", no_wrap=True)
    mass, inertia = [modes["mass_kg"]] * 3, modes["inertia_about_hinge_kg_m2"]
    masses, inertias = modes["effective_mass_kg"], modes["effective_inertia_kg_m2"]
    numbers = modes["coordinate"] or range(1, len(masses) + 1)
    for k, number in list(enumerate(numbers))[:SHOWN]:
        cells = [_number(modes[key][k]) for key in scalars]
        table.add_row(str(number), *cells, *_parts(masses[k], mass), *_parts(inertias[k], inertia))
    blank = [""] * len(scalars)
    if len(masses) > SHOWN:
        table.add_row("...", *blank, *[""] * 6)
    sums = [*_parts(_sums(masses), mass), *_parts(_sums(inertias), inertia)]
    table.add_row("all", *blank, *sums)
    return table


def _sums(rows: list[list[float]]) -> list[float]:
    return [math.fsum(row[c] for row in rows) for c in range(3)]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{0.0 if abs(value) < ROUNDING else value:.4g}"


def _parts(values: list[float], totals: list[float]) -> list[str]:
    pairs = zip(values, totals, strict=True)
    return [f"{100.0 * x / total:.1f}" if total > 0.0 else "-" for x, total in pairs]


def system_table(table: Table, system: Summary) -> Table:
    """Fill the table of the system's modes."""
    for title in ("mode", "Hz", "damping", "decay s"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("bodies that move (% of kinetic energy)", overflow="fold")
    fastest = max(math.hypot(*mode["eigenvalue_rad_s"]) for mode in system["modes"])
    for k, mode in enumerate(system["modes"][:SHOWN]):
        table.add_row(str(k + 1), *_rates(mode, fastest), _bodies(mode["participation"]))
    if len(system["modes"]) > SHOWN:
        table.add_row("...", "", "", "", f"{len(system['modes']) - SHOWN} more (--json has all)")
    return table


def _rates(mode: Summary, fastest: float) -> list[str]:
    """Return frequency, damping ratio and decay time; a real eigenvalue has only the last.

    An eigenvalue is known to rounding of the greatest, so a smaller real part is no damping.
    """
    real, imaginary = mode["eigenvalue_rad_s"]
    real = real if abs(real) > ROUNDING * max(fastest, abs(imaginary)) else 0.0
    time_s = _number(-1.0 / real) if real else "-"
    if imaginary == 0.0:
        return ["-", "-", time_s]
    ratio = -real / math.hypot(real, imaginary)
    return [_number(mode["frequency_hz"]), _number(ratio), time_s]


def _bodies(participation: dict[str, float]) -> str:
    """Name the bodies that move most; those that move alike in the order of the file."""
    percent = {name: round(100.0 * part) for name, part in participation.items()}
    ranked = sorted(percent, key=lambda name: -percent[name])
    named = [name for name in ranked if participation[name] >= TAKES_PART][:3] or ranked[:1]
    return ", ".join(f"{name}:{percent[name]}%" for name in named)


def system_notes(system: Summary) -> list[str]:
    """Return what must be said beside the table."""
    if system["missing"]:
        return [f"No system modes: {system['missing']}."]
    notes = list(system["warnings"])
    rigid, freedoms = system["n_rigid"], system["n_freedoms"]
    word = "freedom" if freedoms == 1 else "freedoms"
    text = f"{freedoms} {word}, {rigid} of them held by no stiffness (rigid-body modes)"
    if system["n_closures"]:
        text += f"; closed loops take {system['n_closures']}"
    notes.append(text + ".")
    if not system["is_equilibrium"]:
        notes.append(
            "Not an equilibrium: the greatest acceleration is "
            f"{system['greatest_acceleration']:.3g} in units of its speed."
        )
    return notes
