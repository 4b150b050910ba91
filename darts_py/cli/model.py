"""`darts model`: look at models."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from darts_py.cli import model_files

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.tree import Tree as Drawing

    from darts_py.cli.state_file import State
    from darts_py.multibody.spacecraft import Spacecraft
    from darts_py.multibody.tree import Body

UNBOUNDED = 100_000  # columns

app = typer.Typer(
    help="List, show, import and export models.", no_args_is_help=True, rich_markup_mode=None
)
app.command("import")(model_files.import_model)
app.command("export")(model_files.export_model)


@app.command("list")
def list_shipped(
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """List the shipped models."""
    from darts_py.spec import list_models

    names = list_models()
    print(json.dumps(names, indent=2) if as_json else "\n".join(names))


@app.command("show")
def show(
    file: Annotated[str, typer.Argument(metavar="FILE", help="a model file or a shipped model")],
    state_file: Annotated[
        str | None,
        typer.Option("--state", metavar="FILE", help="JSON with q, u, tau for the system's modes"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show a model's tree, degrees of freedom and mass, its bodies' modes and the system's."""
    from darts_py.cli.state_file import State, read_state
    from darts_py.loading import load_model

    state = State(load_model(file))
    if state_file is not None:
        read_state(state, state_file)
    if as_json:
        print(json.dumps(_summary(state), indent=2, allow_nan=False))
    else:
        _print_summary(state)


def _summary(state: State) -> dict[str, Any]:
    from darts_py.cli.mode_tables import system_summary
    from darts_py.multibody.names import coordinate_names, speed_names
    from darts_py.spec.spatial import mass_properties

    model, tree = state.model, state.model.tree
    mass, coordinates, speeds = mass_properties(tree), coordinate_names(tree), speed_names(tree)
    masses = model.arrays.body["Mrr"][model.kernel_body, 15]
    rows = zip(tree.bodies, tree.joints, coordinates, speeds, masses, strict=True)
    return {
        "name": tree.name,
        "gravity_m_s2": tree.gravity.tolist(),
        "n_bodies": len(tree.bodies),
        "n_coordinates": sum(len(names) for names in coordinates),
        "n_speeds": sum(len(names) for names in speeds),
        "mass_kg": mass.mass_kg,
        "center_of_mass_m": mass.center_of_mass_m.tolist(),
        "inertia_kg_m2": mass.inertia_kg_m2.tolist(),
        "bodies": [
            {
                "name": body.name,
                "mass_kg": float(kg),
                "n_modes": body.n_modes,
                **_modes_of(model, body),
                "nodes": [node.name for node in body.nodes],
                "joint": joint.name,
                "joint_type": joint.kind,
                "locked": joint.locked,
                "parent": tree.bodies[joint.parent].name if joint.parent >= 0 else "ground",
                "coordinates": q,
                "speeds": u,
            }
            for body, joint, q, u, kg in rows
        ],
        "system": system_summary(state),
    }


def _modes_of(model: Spacecraft, body: Body) -> dict[str, Any]:
    """Return the modes of a flexible body: as described, and held at its hinge."""
    if not body.n_modes:
        return {"modes": None, "held_modes": None}
    from darts_py.cli.mode_tables import body_summary
    from darts_py.linear.body_modes import body_modes, described_modes

    return {
        "modes": body_summary(described_modes(model, body.name)),
        "held_modes": body_summary(body_modes(model, body.name)),
    }


def _print_summary(state: State) -> None:
    from rich.console import Console

    from darts_py.cli.mode_tables import system_notes, system_table

    console, summary = Console(highlight=False, soft_wrap=True), _summary(state)
    console.print(_drawing(summary), soft_wrap=False)
    tables = [_freedoms(summary), _mass_table(summary)]
    for body in summary["bodies"]:
        tables += _mode_tables(body, console.width) if body["modes"] else []
    if summary["system"]["modes"]:
        tables.append(system_table(_table("Modes of the system"), summary["system"]))
    for table in tables:
        _print_whole(console, table)
    for note in system_notes(summary["system"]):
        console.print(note, soft_wrap=False)


def _mode_tables(body: dict[str, Any], width: int) -> list[Table]:
    """Return the table of a body as described and, where it differs, as held at its hinge."""
    from darts_py.cli.mode_tables import body_table, described_title, held_title

    tables = [body_table(_table(described_title(body)), body["modes"], width)]
    if body["modes"]["moves_hinge"]:
        tables.append(body_table(_table(held_title(body)), body["held_modes"], width))
    return tables


def _print_whole(console: Console, table: Table) -> None:
    """Print a table; on a terminal too narrow for its numbers it is wider, never cut."""
    from rich.measure import Measurement

    for column in table.columns:
        if column.no_wrap:
            column.min_width = max(len(str(text)) for text in (column.header, *column.cells))
    least = Measurement.get(console, console.options.update(width=UNBOUNDED), table).minimum
    table.width = least if least > console.width else None
    console.print(table)


def _drawing(summary: dict[str, Any]) -> Drawing:
    from rich.tree import Tree as Drawing

    root = Drawing(f"{summary['name']} (ground)")
    branches = {"ground": root}
    waiting = list(summary["bodies"])
    while waiting:  # the file may name a child before its parent
        later = []
        for body in waiting:
            if body["parent"] in branches:
                branches[body["name"]] = branches[body["parent"]].add(_label(body))
            else:
                later.append(body)
        waiting = later
    return root


def _label(body: dict[str, Any]) -> str:
    kind = body["joint_type"] + (", locked" if body["locked"] else "")
    modes = f", {body['n_modes']} modes" if body["n_modes"] else ""
    return f"{body['name']} ({body['mass_kg']:g} kg{modes}) on {body['joint']} ({kind})"


def _freedoms(summary: dict[str, Any]) -> Table:
    table = _table("Degrees of freedom", "body", "joint", "coordinates", "speeds")
    for body in summary["bodies"]:
        words = [_short(body["coordinates"]), _short(body["speeds"])]
        table.add_row(body["name"], f"{body['joint']} ({body['joint_type']})", *words)
    n_q, n_u = summary["n_coordinates"], summary["n_speeds"]
    table.add_row("total", "", str(n_q), str(n_u))
    return table


def _short(names: list[str]) -> str:
    words = [name.split(".", 1)[1] for name in names]
    modes = [word for word in words if word.startswith("mode_")]
    if len(modes) > 2:
        words = [f"{modes[0]} ... {modes[-1]}", *words[len(modes) :]]
    return " ".join(words) or "-"


def _mass_table(summary: dict[str, Any]) -> Table:
    from darts_py.cli.mode_tables import without_rounding

    table = _table("Neutral position, world axes", "quantity", "value")
    table.columns[1].no_wrap = True
    table.add_row("mass", f"{summary['mass_kg']:.9g} kg")
    centre = summary["center_of_mass_m"]
    size = math.hypot(*centre, math.sqrt(_trace(summary) / (summary["mass_kg"] or 1.0)))
    table.add_row("centre of mass", _numbers(without_rounding(centre, [size] * 3)) + " m")
    inertia = summary["inertia_kg_m2"]
    greatest = max(abs(x) for row in inertia for x in row)
    for label, row in zip(("inertia about it", "", ""), inertia, strict=True):
        table.add_row(label, _numbers(without_rounding(row, [greatest] * 3)) + " kg m2")
    return table


def _trace(summary: dict[str, Any]) -> float:
    return sum(summary["inertia_kg_m2"][c][c] for c in range(3))


def _numbers(row: list[float]) -> str:
    return "  ".join(f"{x:12.6g}" for x in row)


def _table(title: str, *columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
