"""`darts model`: look at models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from darts_py.cli import model_files

if TYPE_CHECKING:
    from rich.table import Table
    from rich.tree import Tree as Drawing

    from darts_py.cli.state_file import State

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
    from darts_py.cli.mode_tables import body_summary, system_summary
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
                "modes": body_summary(model, body.name) if body.n_modes else None,
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


def _print_summary(state: State) -> None:
    from rich.console import Console

    from darts_py.cli.mode_tables import body_table, body_title, system_notes, system_table

    console, summary = Console(highlight=False, soft_wrap=True), _summary(state)
    console.print(_drawing(summary))
    console.print(_freedoms(summary))
    console.print(_mass_table(summary))
    for body in summary["bodies"]:
        if body["modes"]:
            console.print(body_table(_table(body_title(body)), body["modes"]))
    if summary["system"]["modes"]:
        console.print(system_table(_table("Modes of the system"), summary["system"]))
    for note in system_notes(summary["system"]):
        console.print(note)


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
    table.columns[2].overflow = table.columns[3].overflow = "fold"
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
    table = _table("Neutral position, world axes", "quantity", "value")
    table.add_row("mass", f"{summary['mass_kg']:.9g} kg")
    table.add_row("centre of mass", _numbers(summary["center_of_mass_m"]) + " m")
    for label, row in zip(("inertia about it", "", ""), summary["inertia_kg_m2"], strict=True):
        table.add_row(label, _numbers(row) + " kg m2")
    return table


def _numbers(row: list[float]) -> str:
    return "  ".join(f"{x:12.6g}" for x in row)


def _table(title: str, *columns: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(*columns, title=title, title_justify="left", box=box.SIMPLE)
