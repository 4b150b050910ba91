"""`darts bench dynamics`: forward dynamics beside its peers, in interleaved rounds.

Machines are noisy, so ours and theirs are timed in turn within each round; a figure is the median
over rounds of the best in each, a ratio the median of the rounds' ratios.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from darts_py.bench import cases, flexible_cases, peer_files, peers
from darts_py.bench.cases import Case
from darts_py.bench.constrained import Constrained, Operator, OperatorRace, make_races
from darts_py.bench.counts import count_ratio
from darts_py.bench.engine import CompositeEngine, Engine
from darts_py.bench.machine import describe_machine
from darts_py.bench.measure import median, one_core
from darts_py.bench.peers import Peer
from darts_py.bench.targets import Target, judge

OPERATOR_BODIES = (10, 20, 50, 100)
AGREEMENT = 1e-8  # relative: an engine that differs more was not given the same system

Say = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    rounds: int
    seconds: float  # per sample


FULL = Effort(rounds=9, seconds=0.04)
SMOKE = Effort(rounds=3, seconds=0.004)


@dataclass(frozen=True)
class Rigid:
    """One rigid case beside its peers; None where a peer is missing."""

    case: str
    n_dofs: int
    darts_ns: float
    pinocchio_local_ns: float | None = None
    pinocchio_world_ns: float | None = None
    mujoco_ns: float | None = None
    ratio_pinocchio: float | None = None  # darts over the better convention
    ratio_mujoco: float | None = None
    difference: float | None = None  # greatest relative difference of accelerations


@dataclass(frozen=True)
class Flexible:
    """One chain of Fig. 2: articulated against composite body."""

    n_modes: int
    n_dofs: int
    articulated_ns: float
    composite_ns: float  # as it runs in darts_py
    solve_ns: float  # its own Cholesky solve
    lapack_ns: float  # LAPACK's on the same matrix
    charged_ns: float  # composite with the faster of both solves
    ratio: float  # charged over articulated
    count_ratio: float  # the same in operations, Sec. VII
    difference: float  # of both paths' accelerations, relative


@dataclass
class Report:
    """Everything the benchmark found; its fields are the keys of the JSON file."""

    benchmark: str = "dynamics"
    format: int = 1
    machine: dict[str, object] = field(default_factory=describe_machine)
    rounds: int = 0
    seconds_per_sample: float = 0.0
    core: str = ""
    peers: dict[str, dict[str, str]] = field(default_factory=dict)
    rigid: list[Rigid] = field(default_factory=list)
    scaling_100_to_10: float = 0.0
    flexible: list[Flexible] = field(default_factory=list)
    constrained: list[Constrained] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    operators_100_to_10: float = 0.0
    satellite_n_dofs: int = 0
    satellite_ns: float = 0.0
    targets: list[Target] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Return plain numbers, strings, lists and maps."""
        return asdict(self)


def run(effort: Effort, with_peers: bool, say: Say) -> Report:
    """Measure everything and judge it against the targets."""
    report = Report(rounds=effort.rounds, seconds_per_sample=effort.seconds)
    found = _prepare_peers(with_peers)
    report.peers = {
        p.name: {"version": p.version, "missing": p.missing, "build": p.build} for p in found
    }
    with one_core() as report.core:
        _race(report, effort, found, say)
    report.targets = judge(report)
    return report


def _race(report: Report, effort: Effort, found: list[Peer], say: Say) -> None:
    """Compile, then time every case in every round, and fill the figures in."""
    say("compiling kernels")
    rigid = [RigidRace(case, found) for case in cases.rigid_cases()]
    flexible = [FlexibleRace(n) for n in flexible_cases.CHAIN_MODES]
    constrained = make_races()
    operators = [OperatorRace(n) for n in OPERATOR_BODIES]
    satellite = make_satellite()
    satellite_ns: list[float] = []
    for k in range(effort.rounds):
        say(f"round {k + 1} of {effort.rounds}")
        for race in (*rigid, *flexible, *constrained, *operators):
            race.sample(effort.seconds)
        satellite_ns.append(satellite.articulated_ns(effort.seconds))
    report.rigid = [race.figures() for race in rigid]
    report.flexible = [race.figures() for race in flexible]
    report.constrained = [race.figures() for race in constrained]
    report.operators = [race.figures() for race in operators]
    pairs = zip(operators[-1].solve_ns, operators[0].solve_ns, strict=True)
    report.operators_100_to_10 = median([long / short for long, short in pairs])
    report.satellite_n_dofs, report.satellite_ns = satellite.n_dofs, median(satellite_ns)
    report.scaling_100_to_10 = _scaling(rigid)


def _prepare_peers(wanted: bool) -> list[Peer]:
    """Build the harnesses; a peer that is not wanted is missing for that reason."""
    if not wanted:
        return [Peer(name, missing="left out (--no-peers)") for name in ("pinocchio", "mujoco")]
    return [peers.pinocchio(), peers.mujoco()]


def make_satellite() -> Engine:
    """Return the 20-DOF satellite with two six-mode panels."""
    tree = flexible_cases.flexible_satellite()
    return Engine(tree, flexible_cases.draw_tree_state(tree))


def _scaling(rigid: list[RigidRace]) -> float:
    """Return the cost of 100 bodies in units of that of 10, median over rounds."""
    samples = {race.case.name: race.darts_ns for race in rigid}
    pairs = zip(samples["chain 100"], samples["chain 10"], strict=True)
    return median([long / short for long, short in pairs])


class RigidRace:
    """A rigid case timed by darts_py, Pinocchio and MuJoCo in turn."""

    def __init__(self, case: Case, found: list[Peer]) -> None:
        self.case = case
        self.engine = Engine(cases.make_tree(case.name, case.links), case.state)
        self.pinocchio, self.mujoco = found
        self.darts_ns: list[float] = []
        self.local_ns: list[float] = []
        self.world_ns: list[float] = []
        self.forward_ns: list[float] = []
        self.answers: list[np.ndarray] = []

    def sample(self, seconds: float) -> None:
        """Time every engine once."""
        self.darts_ns.append(self.engine.articulated_ns(seconds))
        with tempfile.TemporaryDirectory(prefix="darts-bench-") as folder:
            if self.pinocchio.program:
                self._sample_pinocchio(Path(folder), seconds)
            if self.mujoco.program:
                self._sample_mujoco(Path(folder), seconds)

    def _sample_pinocchio(self, folder: Path, seconds: float) -> None:
        peer_files.write_pinocchio(self.case, folder / "case.txt")
        answer = peers.ask(self.pinocchio, folder / "case.txt", str(seconds))
        self.local_ns += answer["local_ns"]
        self.world_ns += answer["world_ns"]
        self.answers.append(peer_files.from_pinocchio(self.case, np.array(answer["udot"])))

    def _sample_mujoco(self, folder: Path, seconds: float) -> None:
        peer_files.write_mujoco(self.case, folder / "case.xml", folder / "state.txt")
        files = (folder / "case.xml", folder / "state.txt")
        answer = peers.ask(self.mujoco, *files, str(seconds))
        self.forward_ns += answer["forward_ns"]
        self.answers.append(peer_files.from_mujoco(self.case, np.array(answer["udot"])))

    def figures(self) -> Rigid:
        """Sum the rounds up; None for a peer that did not take part."""
        better = [min(pair) for pair in zip(self.local_ns, self.world_ns, strict=True)]
        udot = self.engine.udot()
        differences = [_difference(udot, answer) for answer in self.answers]
        return Rigid(
            self.case.name,
            self.case.n_dofs,
            median(self.darts_ns),
            _median_or_none(self.local_ns),
            _median_or_none(self.world_ns),
            _median_or_none(self.forward_ns),
            _ratio_or_none(self.darts_ns, better),
            _ratio_or_none(self.darts_ns, self.forward_ns),
            max(differences, default=None),
        )


class FlexibleRace:
    """A chain of ten bodies with modes, by articulated and by composite body."""

    def __init__(self, n_modes: int) -> None:
        tree = flexible_cases.flexible_chain(n_modes)
        self.n_modes = n_modes
        self.engine = CompositeEngine(tree, flexible_cases.draw_tree_state(tree))
        self.rounds: list[tuple[float, float, float, float]] = []

    def sample(self, seconds: float) -> None:
        """Time both paths, the composite path's solve and LAPACK's."""
        engine = self.engine
        paths = engine.articulated_ns(seconds), engine.composite_ns(seconds)
        self.rounds.append((*paths, engine.solve_ns(seconds), engine.lapack_ns(seconds)))

    def figures(self) -> Flexible:
        """Sum the rounds up, the composite path charged with the faster solve."""
        articulated, composite, solve, lapack = (
            list(column) for column in zip(*self.rounds, strict=True)
        )
        saved = max(0.0, min(solve) - min(lapack))
        charged = [whole - saved for whole in composite]
        ratios = [whole / ours for whole, ours in zip(charged, articulated, strict=True)]
        engine = self.engine
        return Flexible(
            self.n_modes,
            engine.n_dofs,
            median(articulated),
            median(composite),
            median(solve),
            median(lapack),
            median(charged),
            median(ratios),
            count_ratio(flexible_cases.CHAIN_BODIES, self.n_modes),
            _difference(engine.udot(), engine.composite_udot()),
        )


def _difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))


def _median_or_none(values: list[float]) -> float | None:
    return median(values) if values else None


def _ratio_or_none(ours: list[float], theirs: list[float]) -> float | None:
    if not theirs:
        return None
    return median([a / b for a, b in zip(ours, theirs, strict=True)])
