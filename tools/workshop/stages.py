"""One stage of the test run: a command with a time limit, and what became of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.workshop.environments import ROOT

GRACE_S = 10.0  # between asking a stage that is over its time to stop, and ending it


@dataclass(frozen=True)
class Counts:
    """Tests of one or more pytest runs."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


@dataclass(frozen=True)
class Stage:
    """A command that must succeed within its limit."""

    name: str
    command: Sequence[str | Path]
    limit_s: float
    env: dict[str, str] = field(default_factory=dict)
    report: Path | None = None  # where the command, a pytest run, writes its JUnit file
    may_skip: bool = True  # False: a skipped test is a failure
    tolerated: tuple[int, ...] = ()  # exit codes that only deserve a loud word


@dataclass(frozen=True)
class Outcome:
    """What became of a stage."""

    stage: Stage
    ok: bool
    seconds: float
    note: str = ""
    counts: Counts = field(default_factory=Counts)


def run_stage(stage: Stage, remaining_s: float) -> Outcome:
    """Run a stage for at most its own limit and what remains of the whole run's."""
    limit_s = min(stage.limit_s, remaining_s)
    if limit_s <= 0.0:
        return Outcome(stage, False, 0.0, "not started: the whole run is out of time")
    if stage.report:
        stage.report.parent.mkdir(parents=True, exist_ok=True)
        stage.report.unlink(missing_ok=True)
    start = time.monotonic()
    code = _run_limited(stage, limit_s)
    seconds = time.monotonic() - start
    if code is None:
        return Outcome(stage, False, seconds, f"stopped after its limit of {limit_s:.0f} s")
    return _judge(stage, code, seconds)


def _run_limited(stage: Stage, limit_s: float) -> int | None:
    """Run the command in a process group of its own; return its exit code, None if stopped."""
    process = subprocess.Popen(
        [str(part) for part in stage.command],
        cwd=ROOT,
        env={**os.environ, **stage.env},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(timeout=limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        _stop_group(process)


def _stop_group(process: subprocess.Popen[bytes]) -> None:
    """End the command and whatever it left behind in its group."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
            process.wait(timeout=GRACE_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def _judge(stage: Stage, code: int, seconds: float) -> Outcome:
    """Turn an exit code and a report into a verdict."""
    counts = read_counts(stage.report) if stage.report else Counts()
    if code in stage.tolerated:
        return Outcome(stage, True, seconds, f"TOLERATED exit code {code}: see above", counts)
    if code != 0:
        return Outcome(stage, False, seconds, f"exit code {code}", counts)
    if stage.report and not stage.may_skip and counts.skipped:
        return Outcome(stage, False, seconds, "tests were skipped that must run", counts)
    return Outcome(stage, True, seconds, "", counts)


def read_counts(report: Path) -> Counts:
    """Count tests in a JUnit file; none if the run did not come to write it."""
    if not report.exists():
        return Counts()
    suites = list(ElementTree.parse(report).getroot().iter("testsuite"))

    def total(key: str) -> int:
        return sum(int(suite.get(key, "0")) for suite in suites)

    failed, skipped = total("failures") + total("errors"), total("skipped")
    return Counts(total("tests") - failed - skipped, failed, skipped)
