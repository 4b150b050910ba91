"""`darts simulate`: run a model offline, from given speeds and under given forces."""

from __future__ import annotations

import json
import math
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from darts_py.cli.exit_codes import ExitCode
from darts_py.cli.state_file import ForceOption, SetOption, State, assigned
from darts_py.errors import ArgumentError

if TYPE_CHECKING:
    from darts_py.multibody.spacecraft import Spacecraft
    from darts_py.plant import Plant

ROWS = 10  # lines of the history printed
FILE_WIDTH = 160  # columns where nobody's terminal sets them


def simulate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="a model file or a shipped model")],
    duration_s: Annotated[float, typer.Option(help="simulated time, seconds")] = 60.0,
    dt_ns: Annotated[int, typer.Option(help="step, integer nanoseconds")] = 1_000_000,
    integrator: Annotated[
        str, typer.Option(help="rk4 | rk4-lie | semi-implicit-euler | implicit-modes")
    ] = "rk4-lie",
    terms: Annotated[str, typer.Option(help="rl | crl: velocity products")] = "rl",
    initial: SetOption = None,
    force: ForceOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Simulate a model as fast as possible and print how it moved, with energy and momentum."""
    import darts_py

    if not (math.inf > duration_s * 1e9 >= dt_ns > 0):
        raise ArgumentError(
            "--duration-s", got=duration_s, expected="at least one step, and an end"
        )
    model = darts_py.load_model(file)
    plant = darts_py.Plant(model, dt_ns=dt_ns, integrator=integrator, terms=terms)
    state = assigned(State(model), initial, force)
    plant.q[:], plant.u[:], plant.tau[:] = state.q, state.u, state.tau
    summary = _run(plant, round(duration_s * 1e9 / dt_ns))
    if as_json:
        print(json.dumps(summary, indent=2))
    else:
        _print(model, summary)
    if summary["status"] != "OK":
        print(f"darts simulate: {_why_it_stopped(plant)}", file=sys.stderr)
        raise typer.Exit(ExitCode.INTERNAL)


def _why_it_stopped(plant: Plant) -> str:
    """Say when a state stopped being finite and, where a joint is singular, which."""
    text = f"NON_FINITE: no finite step from t = {plant.t_ns * 1e-9:g} s on"
    singular = plant.model.singular_joints(plant.q)
    if singular:
        text += f"; joint {', '.join(singular)} is singular there (start elsewhere with --set)"
    return text


def _run(plant: Plant, n_steps: int) -> dict[str, Any]:
    """Advance in equal parts; keep time, state, energy and momentum at each."""
    import darts_py

    plant.advance(0)  # compile before the clock starts
    model, history = plant.model, []
    marks = [round(n_steps * k / ROWS) for k in range(ROWS + 1)]
    wall_s, status = 0.0, darts_py.Status.OK
    for before, after in zip([0, *marks], marks, strict=False):
        start = time.perf_counter()
        status = plant.advance(after - before)
        wall_s += time.perf_counter() - start
        if status != darts_py.Status.OK:
            break
        energy = darts_py.energy(plant.model, plant.q, plant.u)
        momentum = darts_py.momentum(plant.model, plant.q, plant.u)
        history.append((plant.t_ns * 1e-9, energy, momentum, plant.q.tolist(), plant.u.tolist()))
    t_s, energies, momenta, q, u = zip(*history, strict=True)
    return {
        "model": model.name,
        "integrator": plant.integrator,
        "terms": plant.terms,
        "status": status.name,
        "n_steps": plant.tick,
        "wall_s": wall_s,
        "times_real_time": t_s[-1] / wall_s if wall_s > 0 else 0.0,
        "step_us": 1e6 * wall_s / max(plant.tick, 1),
        "coord_names": list(model.coord_names),
        "speed_names": list(model.speed_names),
        "t_s": list(t_s),
        "energy_j": [e._asdict() | {"total": e.total} for e in energies],
        "momentum": [list(map(float, h)) for h in momenta],
        "q": list(q),
        "u": list(u),
    }


def _print(model: Spacecraft, summary: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    n_modes = sum(body.n_modes for body in model.tree.bodies)
    console.print(f"{model.name}: {model.n_bodies} bodies, {model.n_speeds} degrees of freedom, "
                  f"{n_modes} of them modes")  # fmt: skip
    shown = _most_moving(summary)
    table = Table(box=None, header_style="", pad_edge=False)
    for title in ("t (s)", *(name for name, _ in shown), "energy (J)", "|h| (N m s)"):
        table.add_column(title, justify="right", no_wrap=True)
    for k, t in enumerate(summary["t_s"]):
        h = sum(x * x for x in summary["momentum"][k][:3]) ** 0.5
        cells = [f"{values[k]:.5g}" for _, values in shown]
        table.add_row(f"{t:.3f}", *cells, f"{summary['energy_j'][k]['total']:.9g}", f"{h:.9g}")
    console.print(table)
    console.print(f"{summary['n_steps']} steps of {summary['integrator']} ({summary['terms']}) in "
                  f"{summary['wall_s']:.2f} s: {summary['step_us']:.2f} us a step, "
                  f"{summary['times_real_time']:.0f} times real time")  # fmt: skip


def _most_moving(summary: dict[str, Any], count: int = 3) -> list[tuple[str, list[float]]]:
    """Return the coordinates worth a column: the ones that moved most, in the state's order."""
    columns = list(zip(summary["coord_names"], zip(*summary["q"], strict=True), strict=True))
    spans = [max(values) - min(values) for _, values in columns]
    keep = sorted(sorted(range(len(columns)), key=lambda k: -spans[k])[:count])
    return [(columns[k][0], list(columns[k][1])) for k in keep]
