"""The dynamics report as tables for people."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from darts_py.bench.dynamics import AGREEMENT, Report


def print_report(report: Report, console: Console) -> None:
    """Print where it ran, the tables and the targets."""
    _print_heading(report, console)
    console.print(_rigid_table(report))
    console.print(f"100 bodies cost {report.scaling_100_to_10:.2f} times 10 bodies")
    console.print(_flexible_table(report))
    console.print(_constrained_table(report))
    console.print(_operator_table(report))
    console.print(f"100 bodies cost {report.operators_100_to_10:.2f} times 10 bodies")
    console.print(
        f"satellite with two 6-mode panels, {report.satellite_n_dofs} DOF: "
        f"{report.satellite_ns:.0f} ns per evaluation"
    )
    console.print(_target_table(report))
    for line in _warnings(report):
        console.print(line, style="bold")


def _print_heading(report: Report, console: Console) -> None:
    machine = report.machine
    console.print(f"{machine['cpu']}, {machine['system']}, {report.core}")
    packages = machine["packages"]
    assert isinstance(packages, dict)
    versions = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
    console.print(
        f"Python {machine['python']}, {versions}; commit {machine['commit'] or 'unknown'}"
    )
    for name, peer in report.peers.items():
        said = (
            f"MISSING: {peer['missing']}"
            if peer["missing"]
            else f"{peer['version']} by {peer['build']}"
        )
        console.print(f"{name}: {said}")
    console.print(f"{report.rounds} rounds; medians of best times, medians of ratios\n")


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right")
    return table


def _rigid_table(report: Report) -> Table:
    names = ("case", "DOF", "darts ns", "pin LOCAL ns", "pin WORLD ns", "mujoco ns")
    table = _table("Rigid trees, forward dynamics", *names, "darts/pin", "darts/mujoco")
    for row in report.rigid:
        table.add_row(
            row.case,
            str(row.n_dofs),
            _whole(row.darts_ns),
            _whole(row.pinocchio_local_ns),
            _whole(row.pinocchio_world_ns),
            _whole(row.mujoco_ns),
            _ratio(row.ratio_pinocchio),
            _ratio(row.ratio_mujoco),
        )
    return table


def _flexible_table(report: Report) -> Table:
    names = ("modes", "DOF", "articulated ns", "composite ns", "its solve ns", "LAPACK ns")
    title = "Ten flexible bodies (Jain & Rodriguez 1992, Fig. 2), composite / articulated"
    table = _table(title, *names, "wall time", "operations")
    for row in report.flexible:
        times = (row.articulated_ns, row.composite_ns, row.solve_ns, row.lapack_ns)
        ratios = (_ratio(row.ratio), _ratio(row.count_ratio))
        table.add_row(str(row.n_modes), str(row.n_dofs), *(_whole(t) for t in times), *ratios)
    table.caption = "wall time charges the composite path with the faster of the two solves"
    return table


def _constrained_table(report: Report) -> Table:
    names = ("case", "DOF", "plain ns", "all prescribed", "a third", "loads only")
    title = "Prescribed joints, hinge loads, one closure to the ground: times the plain dynamics"
    table = _table(title, *names, "ball", "revolute", "weld", "ball twice", "step")
    for row in report.constrained:
        ratios = (row.hybrid, row.hybrid_third, row.loads)
        ties = (row.ball, row.revolute, row.weld, row.redundant, row.step)
        cells = (_ratio(value) for value in (*ratios, *ties))
        table.add_row(row.case, str(row.n_dofs), _whole(row.plain_ns), *cells)
    table.caption = (
        "prescribed: with required forces and hinge loads; step: Runge-Kutta with a ball, "
        "projected, over one without"
    )
    return table


def _operator_table(report: Report) -> Table:
    names = ("bodies", "factorise ns", "M^-1 x ns", "ns per body")
    table = _table("The mass matrix of a chain as an operator", *names)
    for row in report.operators:
        per_body = _whole(row.solve_ns / row.n_bodies)
        table.add_row(str(row.n_bodies), _whole(row.factorise_ns), _whole(row.solve_ns), per_body)
    return table


def _target_table(report: Report) -> Table:
    table = _table("Targets", "figure", "value", "target", "")
    words = {True: "met", False: "missed", None: "not measured"}
    for target in report.targets:
        limit = f"{target.sense} {target.limit:g}"
        table.add_row(target.name, _ratio(target.value), limit, words[target.met])
    return table


def _warnings(report: Report) -> list[str]:
    """Say which engines did not solve the same problem."""
    rows = [(row.case, row.difference) for row in report.rigid]
    rows += [(f"{row.n_modes} modes", row.difference) for row in report.flexible]
    return [
        f"WARNING: {name}: accelerations differ by {difference:.1e} between engines"
        for name, difference in rows
        if difference is not None and not difference <= AGREEMENT
    ]


def _whole(value: float | None) -> str:
    return "missing" if value is None else f"{value:.0f}"


def _ratio(value: float | None) -> str:
    return "missing" if value is None else f"{value:.2f}"
