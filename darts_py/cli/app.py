"""Entry point of `darts`: the verbs, and how errors become exit codes.

Verbs import what they need when they run: `darts --help` and `darts check` must answer at once.
"""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from darts_py.cli import bench, check, convert_fe, linearise, model, schema, simulate
from darts_py.cli.exit_codes import ExitCode
from darts_py.errors import ArgumentError, DartsError, ModelError

EXAMPLES = """Examples:

  darts model list                          what is shipped
  darts model show flexible_satellite       its tree, freedoms, mass and modes
  darts simulate flexible_satellite --set base.wz=0.02
                                            a minute of free motion, and its books
  darts linearise flexible_satellite -o satellite.mat
                                            A, B, C, D with names, for MATLAB, NumPy, JSON
  darts model import robot.urdf -o robot.yaml
                                            a robot as a model
  darts check my_satellite.yaml             every fault of a model at once
  darts schema model > model.schema.json    for your editor
  darts bench --help                        how fast is it here

"""
HELP = """Simulate spacecraft with flexible parts, in real time, against flight software.

Data go to stdout, talk to stderr. Exit codes: 0 ok, 2 usage, 3 invalid model.
"""


class DartsGroup(TyperGroup):
    """Help begins with examples; errors become a message on stderr and an exit code."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the examples, then what is usual."""
        formatter.write(EXAMPLES)
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except ModelError as error:
            _complain(error, ExitCode.INVALID)
        except ArgumentError as error:
            _complain(error, ExitCode.USAGE)
        except DartsError as error:
            _complain(error, ExitCode.INTERNAL)


def _complain(error: DartsError, code: ExitCode) -> None:
    print(error, file=sys.stderr)
    raise typer.Exit(code)


app = typer.Typer(
    name="darts",
    cls=DartsGroup,
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("check")(check.check)
app.command("simulate")(simulate.simulate)
model.app.command("convert-fe")(convert_fe.convert_fe)
app.command("linearise")(linearise.linearise)
app.add_typer(model.app, name="model")
app.add_typer(schema.app, name="schema")
app.command(
    "bench",
    add_help_option=False,  # the benchmark's own help is asked for
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(bench.bench)


def main() -> None:
    """Run `darts`."""
    app(prog_name="darts")
