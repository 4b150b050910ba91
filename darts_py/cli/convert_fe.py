"""`darts model convert-fe`: matrices and nodes of a finite-element model into one .npz file.

pyNastran wants an older NumPy than the rest of the world; this verb runs once, where it is
installed, and the file it writes is read everywhere.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from darts_py.cli.output_file import require_room, write_whole
from darts_py.errors import ArgumentError, Fault, ModelError

if TYPE_CHECKING:
    from darts_py.structures.refusal import Refusal


def convert_fe(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES...", help="matrices (.op2 .op4 .pch .mtx .npz) and nodes"),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="the .npz file to write")],
    stiffness: Annotated[str, typer.Option(help="name of the stiffness matrix")] = "KGG",
    mass: Annotated[str, typer.Option(help="name of the mass matrix")] = "MGG",
    length_unit_m: Annotated[float, typer.Option(help="the files' unit of length, in m")] = 1.0,
    mass_unit_kg: Annotated[float, typer.Option(help="the files' unit of mass, in kg")] = 1.0,
    force_unit_n: Annotated[
        float | None,
        typer.Option(help="the files' unit of force, in N; default: mass x length / s2"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite the output file")] = False,
) -> None:
    """Write mass, stiffness and nodes of a finite-element model as one .npz file in SI units.

    Name one file with both matrices, or the stiffness file and then the mass file; and the
    bulk data file (.bdf .dat .nas) or .npz file that has the nodes.
    """
    from darts_py.structures.fe_checks import check_structure
    from darts_py.structures.fe_files import elements_as_bytes, read_elements
    from darts_py.structures.fe_units import FileUnits, in_si
    from darts_py.structures.matrix_files import MatrixSource
    from darts_py.structures.refusal import StructureError

    matrices, nodes = _sort(files)
    if output.suffix != ".npz":
        raise ArgumentError("--output", got=output.name, expected="a file called *.npz")
    require_room(output, force)
    for name, unit in (("length-unit-m", length_unit_m), ("mass-unit-kg", mass_unit_kg)):
        _require_unit(name, unit)
    if force_unit_n is not None:
        _require_unit("force-unit-n", force_unit_n)
    source = {"stiffness": matrices[0], "mass": matrices[-1], "nodes": nodes}
    try:
        model = read_elements(
            MatrixSource(source["stiffness"], stiffness), MatrixSource(source["mass"], mass), nodes
        )
        model = in_si(model, FileUnits(length_unit_m, mass_unit_kg, force_unit_n))
        check_structure(model)
    except StructureError as error:
        raise ModelError([_fault(refusal, source) for refusal in error.refusals]) from error
    write_whole(elements_as_bytes(model), output)
    total = float(model.rigid[:, 3] @ (model.M @ model.rigid[:, 3]))
    summary = f"{output}: {model.n} freedoms of {len(model.node_id)} nodes, {total:.9g} kg"
    print(summary, file=sys.stderr)


def _fault(refusal: Refusal, source: dict[str, Path]) -> Fault:
    """Word a refusal with the file it is about."""
    file = source.get(refusal.key)
    path = refusal.key if file is None else f"{file}: {refusal.key}"
    return Fault(path, refusal.got, refusal.expected, refusal.hint)


def _require_unit(name: str, unit: float) -> None:
    if not 0.0 < unit < float("inf"):
        raise ArgumentError(f"--{name}", got=unit, expected="a number > 0")


def _sort(files: list[Path]) -> tuple[list[Path], Path]:
    """Tell files with matrices from the one with nodes, by their types."""
    nodes = [file for file in files if file.suffix.lower() in (".bdf", ".dat", ".nas")]
    others = [file for file in files if file not in nodes]
    if not nodes and len(others) > 1 and others[-1].suffix.lower() == ".npz":
        nodes = [others.pop()]
    if len(nodes) != 1 or len(others) not in (1, 2):
        raise ArgumentError(
            "FILES",
            got=", ".join(file.name for file in files),
            expected="one or two files with matrices and one with nodes",
            hint="darts model convert-fe panel.op4 panel.bdf -o panel.npz",
        )
    return others, nodes[0]
