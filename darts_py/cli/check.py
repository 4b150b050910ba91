"""`darts check`: all faults of model files."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from darts_py.cli.exit_codes import ExitCode
from darts_py.errors import ArgumentError, Fault


def check(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="model files, or names of shipped models")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """List every fault of model files, each with its place."""
    from darts_py.spec import check_file

    results: list[tuple[str, list[Fault]]] = []
    missing = False
    for file in files:
        try:
            results.append((file, check_file(file)))
        except ArgumentError as error:
            print(error, file=sys.stderr)
            missing = True
    if as_json:
        print(json.dumps([_record(file, faults) for file, faults in results], indent=2))
    else:
        _print_text(results)
    if missing:
        raise typer.Exit(ExitCode.USAGE)
    if any(faults for _, faults in results):
        raise typer.Exit(ExitCode.INVALID)


def _record(file: str, faults: list[Fault]) -> dict[str, object]:
    return {"file": file, "ok": not faults, "faults": [asdict(fault) for fault in faults]}


def _print_text(results: list[tuple[str, list[Fault]]]) -> None:
    for file, faults in results:
        for fault in faults:
            print(fault)
        if not faults:
            print(f"{file}: OK")
        else:
            plural = "s" if len(faults) != 1 else ""
            print(f"{file}: {len(faults)} fault{plural}", file=sys.stderr)
