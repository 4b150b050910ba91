"""`darts bench`: one command per benchmark."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(
    help="Measure speed beside the peers. Figures go to stdout, progress to stderr.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def bench() -> None:
    """Measure speed beside the peers."""


@app.command()
def dynamics(
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write the report; keys in docs/cli.md."),
    ] = None,
    smoke: Annotated[
        bool, typer.Option("--smoke", help="A few seconds: that it runs, not how fast.")
    ] = False,
    use_peers: Annotated[
        bool, typer.Option("--peers/--no-peers", help="Time Pinocchio and MuJoCo alongside.")
    ] = True,
) -> None:
    """Time forward dynamics: rigid and flexible trees, articulated and composite body."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core for LAPACK, too
    from darts_py.bench import dynamics as benchmark
    from darts_py.bench.table import print_report

    talk = Console(stderr=True)
    effort = benchmark.SMOKE if smoke else benchmark.FULL
    report = benchmark.run(effort, use_peers, lambda text: talk.print(f"bench: {text}"))
    out = Console()
    print_report(report, out if out.is_terminal else Console(width=120))
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        json_file.write_text(json.dumps(report.as_json(), indent=2) + "\n")
        talk.print(f"bench: wrote {json_file}")
