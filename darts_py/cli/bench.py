"""`darts bench`: hands over to the benchmarks, which are imported only when asked for."""

from __future__ import annotations

import importlib.util
import sys

import typer
from typer.main import get_command

from darts_py.cli.exit_codes import ExitCode


def bench(ctx: typer.Context) -> None:
    """Measure how fast this machine is (see `darts bench --help`)."""
    if importlib.util.find_spec("darts_py.bench.cli") is None:
        print("darts bench: this installation has no benchmarks", file=sys.stderr)
        raise typer.Exit(ExitCode.USAGE)
    from darts_py.bench.cli import app  # pyright: ignore

    args = ctx.args or ["--help"]
    get_command(app).main(args=args, prog_name="darts bench", standalone_mode=True)
