"""`darts linearise`: a linear model as a file for NumPy, MATLAB or anything that reads JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from darts_py.cli.output_file import require_room, write_whole
from darts_py.cli.state_file import (
    ForceOption,
    SetOption,
    State,
    assigned,
    named_numbers,
    read_state,
)

if TYPE_CHECKING:
    from darts_py.linear import LinearModel


def linearise(
    file: Annotated[str, typer.Argument(metavar="MODEL", help="a model file or a shipped model")],
    out: Annotated[
        str, typer.Option("-o", "--out", metavar="FILE", help="FILE.npz, FILE.mat or FILE.json")
    ],
    state_file: Annotated[
        str | None,
        typer.Option("--state", metavar="FILE", help="JSON with q, u, tau; default: neutral"),
    ] = None,
    initial: SetOption = None,
    force: ForceOption = None,
    prescribe: Annotated[
        list[str] | None,
        typer.Option(metavar="SPEED=ACCELERATION", help="a speed that moves as told; repeat"),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="speed or body.node.fx..mz, with *; repeat"),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="coordinate, speed or body.node.px..., with *; repeat"),
    ] = None,
    terms: Annotated[str, typer.Option(help="rl | crl: velocity products")] = "rl",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="replace the file")] = False,
) -> None:
    """Linearise a model about a state and write A, B, C, D with their names, and its modes."""
    import warnings

    from darts_py.linear import LinearisationWarning
    from darts_py.linear import linearise as linear_model
    from darts_py.linear.export import encoded, require_ending
    from darts_py.loading import load_model

    place = require_ending(out)
    require_room(place, overwrite, option="-o", permission="--overwrite")  # before any work
    model = load_model(file)
    state = State(model)
    if state_file is not None:
        read_state(state, state_file)
    assigned(state, initial, force)
    note = state.close()
    if note:
        print(f"darts linearise: {note}", file=sys.stderr)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LinearisationWarning)
        linear = linear_model(
            model,
            state.q,
            state.u,
            state.tau,
            terms=terms,
            prescribed=named_numbers("--prescribe", prescribe),
            inputs=inputs,
            outputs=outputs,
        )
    for warning in caught:
        print(f"darts linearise: {warning.message}", file=sys.stderr)
    write_whole(encoded(linear, place), place, option="-o")
    _report(linear, out)


def _report(linear: LinearModel, out: str) -> None:
    """Say on stderr what was written; data are in the file."""
    sizes = f"{len(linear.state_names)} states, {len(linear.input_names)} inputs, "
    print(
        f"{out}: {sizes}{len(linear.output_names)} outputs; "
        f"derivatives good to {linear.derivative_error:.1e}",
        file=sys.stderr,
    )
    if not linear.is_equilibrium:
        print(
            f"the reference accelerates (greatest {linear.equilibrium_defect:.3g} in units of its "
            "speed): the model holds along its motion, not about a point",
            file=sys.stderr,
        )
