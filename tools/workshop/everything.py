"""`tools/test`: the default suite, or with `--all` every stage that must hold."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tools.workshop import environments
from tools.workshop.environments import DEV, FE, PEERS, ROOT, Environment
from tools.workshop.stages import Counts, Outcome, Stage, run_stage

MINUTE = 60.0
WHOLE_RUN_S = 60 * MINUTE
REPORTS = ROOT / "build" / "test-reports"

DEFAULT_MARKS = "not slow and not peers and not fe and not realtime"
KERNEL_ROOMS = ("tests/spatial", "tests/multibody", "tests/plant")  # by path, those that exist
BENCHMARKS = ("dynamics",)
WORKERS = "2"
# two workers with threaded linear algebra starve each other: more than thirty times slower was seen
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def test(arguments: list[str]) -> int:
    """Run the suite; what is not `--all` is handed to pytest."""
    start = time.monotonic()
    environments.ensure(DEV)
    extra = [word for word in arguments if word != "--all"]
    stages = [default_suite(extra)]
    if "--all" in arguments:
        stages = every_stage(extra)
    outcomes = [_run_announced(stage, start) for stage in stages]
    _print_summary(outcomes, time.monotonic() - start)
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def every_stage(extra: list[str]) -> list[Stage]:
    """List the stages of `--all`, cheapest faults first; their limits add up to the hour."""
    return [
        Stage("format", (DEV.command("ruff"), "format", "--check"), MINUTE),
        Stage("lint", (DEV.command("ruff"), "check"), MINUTE),
        Stage("types", (DEV.command("pyright"),), 2 * MINUTE),
        Stage("layers", (DEV.command("lint-imports"),), MINUTE),
        default_suite(extra),
        _install_peers(),
        _peers(),
        _install_fe(),
        _structures(),
        _kernel_rooms("bounds", {"NUMBA_BOUNDSCHECK": "1"}),
        _kernel_rooms("no jit", {"NUMBA_DISABLE_JIT": "1", "DARTS_REDUCED": "1"}),
        _pytest("slow", DEV, "slow and not peers and not fe and not realtime", 11 * MINUTE),
        *(_smoke(name) for name in BENCHMARKS),
        Stage("wheel", (sys.executable, "-m", "tools.workshop", "wheel"), 2 * MINUTE),
    ]


def default_suite(extra: list[str]) -> Stage:
    """Return the suite that every change runs, within ten minutes on two cores."""
    return _pytest("default", DEV, DEFAULT_MARKS, 10 * MINUTE, ["--durations=15", *extra])


def _install_peers() -> Stage:
    """Install the oracles; only outside CI may the compiler be missing."""
    tolerated = () if os.environ.get("CI") else (7,)
    command = (sys.executable, "-m", "tools.workshop", "peers")
    return Stage("install peers", command, 5 * MINUTE, tolerated=tolerated)


def _peers() -> Stage:
    """Compare with the oracles; other rooms would skip tests loudly, which fails this stage."""
    rooms = ["tests/peers", "tests/urdf"]
    return _pytest("peers", PEERS, "peers and not realtime", 3 * MINUTE, rooms, may_skip=False)


def _install_fe() -> Stage:
    """Install the environment with pyNastran and the older NumPy that it wants."""
    return Stage("install fe", (sys.executable, "-m", "tools.workshop", "fe"), 2 * MINUTE)


def _structures() -> Stage:
    """Read NASTRAN files, and run the rest of the room's tests with the older NumPy, too."""
    rooms = ["tests/structures", "tests/spec/test_structures.py", "tests/spec/test_flexible.py"]
    marks = "not slow and not peers and not realtime"
    return _pytest("fe", FE, marks, 2 * MINUTE, rooms, may_skip=False)


def _kernel_rooms(name: str, env: dict[str, str]) -> Stage:
    """Run the tests of the kernel rooms under a numba switch (it has a kernel cache of its own)."""
    rooms = [room for room in KERNEL_ROOMS if (ROOT / room).is_dir()]
    return _pytest(name, DEV, DEFAULT_MARKS, 8 * MINUTE, ["--durations=10", *rooms], env)


def _smoke(name: str) -> Stage:
    """Run a benchmark for some seconds: that it runs, not how fast."""
    report = REPORTS / f"bench_{name}.json"
    command = (DEV.command("darts"), "bench", name, "--smoke", "--json", report)
    return Stage(f"bench {name}", command, 4 * MINUTE)


def _pytest(
    name: str,
    environment: Environment,
    marks: str,
    limit_s: float,
    extra: list[str] | None = None,
    env: dict[str, str] | None = None,
    may_skip: bool = True,
) -> Stage:
    """Make a stage of a pytest run; a selection without any test fails it (pytest's code 5)."""
    report = REPORTS / f"{name.replace(' ', '_')}.xml"
    command: list[str | Path] = [environment.python, "-m", "pytest", "-n", WORKERS, "-m", marks]
    command += [f"--junitxml={report}", *(extra or [])]
    return Stage(name, command, limit_s, ONE_THREAD | (env or {}), report, may_skip)


def _run_announced(stage: Stage, start: float) -> Outcome:
    """Run a stage between two lines that say what begins and what came of it."""
    print(f"\n---- {stage.name} (at most {stage.limit_s / MINUTE:.0f} min)", flush=True)
    outcome = run_stage(stage, WHOLE_RUN_S - (time.monotonic() - start))
    word = "ok" if outcome.ok else "FAILED"
    print(f"---- {stage.name}: {word} in {outcome.seconds:.1f} s {outcome.note}", flush=True)
    return outcome


def _print_summary(outcomes: list[Outcome], seconds: float) -> None:
    """Print the table of stages, then the closing line with the sum of all tests."""
    print("\n---- summary")
    for outcome in outcomes:
        tests = str(outcome.counts) if outcome.stage.report else ""
        word = "ok" if outcome.ok else "FAILED"
        print(f"{outcome.stage.name:<16}{word:<8}{outcome.seconds:8.1f} s  {tests} {outcome.note}")
    print(f"{'whole run':<16}{'':<8}{seconds:8.1f} s")
    total = sum((outcome.counts for outcome in outcomes), Counts())
    print(f"tests: {total}", flush=True)
