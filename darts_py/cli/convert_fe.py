"""`darts model convert-fe`: NASTRAN matrices and grids into one .npz file.

pyNastran wants an older NumPy than the rest of the world; this verb runs once, where it is
installed, and the file it writes is read everywhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from darts_py.errors import ArgumentError


def convert_fe(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILES...", help="matrices (.op2 .op4 .pch .mtx .npz) and nodes"),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="the .npz file to write")],
    stiffness: Annotated[str, typer.Option(help="name of the stiffness matrix")] = "KGG",
    mass: Annotated[str, typer.Option(help="name of the mass matrix")] = "MGG",
) -> None:
    """Write mass, stiffness and nodes of a finite-element model as one .npz file.

    Name one file with both matrices, or the stiffness file and then the mass file; and the
    bulk data file (.bdf .dat .nas) or .npz file that has the nodes.
    """
    from darts_py.structures.fe_checks import check_structure
    from darts_py.structures.fe_files import read_elements, write_elements
    from darts_py.structures.matrix_files import MatrixSource
    from darts_py.structures.refusal import StructureError

    matrices, nodes = _sort(files)
    if output.suffix != ".npz":
        raise ArgumentError("--output", got=output.name, expected="a file called *.npz")
    sources = [MatrixSource(matrices[0], stiffness), MatrixSource(matrices[-1], mass)]
    try:
        model = read_elements(sources[0], sources[1], nodes)
        check_structure(model)
    except StructureError as error:
        raise ArgumentError("convert-fe", got=f"\n{error}", expected="sound files") from error
    write_elements(output, model)
    total = float(model.rigid[:, 3] @ (model.M @ model.rigid[:, 3]))
    print(f"{output}: {model.n} freedoms of {len(model.node_id)} nodes, {total:.9g} kg")


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
