"""`darts model import` and `darts model export`: robots in URDF, in and out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from darts_py.cli.output_file import require_room, write_whole

if TYPE_CHECKING:
    from darts_py.urdf import Imported, Note

Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="write here; default: stdout")
]
Force = Annotated[bool, typer.Option("--force", "--overwrite", help="overwrite the output file")]


def import_model(
    file: Annotated[Path, typer.Argument(metavar="FILE.urdf", help="a robot; xacro expanded")],
    output: Output = None,
    base: Annotated[
        str | None, typer.Option(help="fixed | floating; default: fixed if world or massless")
    ] = None,
    gravity: Annotated[
        tuple[float, float, float], typer.Option(metavar="X Y Z", help="m/s2, world axes")
    ] = (0.0, 0.0, 0.0),
    stops: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="STIFFNESS DAMPING", help="soft stops at the limits, SI units of the joint"
        ),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="add links on fixed joints to what carries them")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="mend impossible inertias and joints without mass")
    ] = False,
    force: Force = False,
) -> None:
    """Turn a URDF robot into a model file; say what has no meaning here."""
    from darts_py.urdf import Options, import_urdf

    require_room(output, force)
    robot = import_urdf(
        file,
        Options(
            base=base,
            stops=stops,
            merge=merge,
            repair=repair,
            gravity_m_s2=gravity,
            output=output,
        ),
    )
    _write(robot.text, output)
    _print_notes(robot.notes)
    _print_summary(robot, output)


def export_model(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="a model file or a shipped model")],
    output: Output = None,
    force: Force = False,
) -> None:
    """Write a rigid model as URDF; say what is lost."""
    from darts_py.spec import find_model, load_tree
    from darts_py.urdf import export_urdf

    require_room(output, force)
    written = export_urdf(load_tree(model), find_model(model), output)
    _write(written.text, output)
    _print_notes(written.notes)
    where = output or "stdout"
    _say(f"{where}: {written.n_links} links, {written.n_joints} joints")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
    else:
        write_whole(text.encode(), output)


def _print_notes(notes: Sequence[Note]) -> None:
    for note in notes:
        _say(str(note))


def _print_summary(robot: Imported, output: Path | None) -> None:
    kinds = ", ".join(f"{n} {kind}" for kind, n in robot.joint_types.items())
    rows = {
        "model": f"{robot.name} -> {output or 'stdout'}",
        "base": robot.base,
        "bodies": f"{robot.n_bodies}, and {robot.n_nodes} nodes from massless links",
        "joints": kinds,
        "shapes": f"{robot.n_shapes}",
        "mass": f"{robot.mass_kg:.9g} kg",
    }
    for key, value in rows.items():
        _say(f"{key:8}{value}")


def _say(text: str) -> None:
    print(text, file=sys.stderr)
