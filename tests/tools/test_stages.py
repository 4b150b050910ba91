from __future__ import annotations

import sys
import time

import pytest

from tools.workshop.stages import Counts, Stage, read_counts, run_stage

REPORT = """<?xml version="1.0"?><testsuites><testsuite name="pytest" errors="1" failures="2"
skipped="3" tests="10" time="1.0"></testsuite></testsuites>"""


def script(text: str, **options) -> Stage:
    return Stage("probe", (sys.executable, "-c", text), options.pop("limit_s", 20.0), **options)


def test_stage_passes_on_exit_code_zero():
    assert run_stage(script("pass"), 60.0).ok


def test_stage_fails_on_any_other_exit_code():
    outcome = run_stage(script("raise SystemExit(3)"), 60.0)
    assert not outcome.ok
    assert "3" in outcome.note


def test_stage_is_stopped_with_its_children_at_its_limit(tmp_path):
    child = f"import time, pathlib; time.sleep(3); pathlib.Path({str(tmp_path / 'late')!r}).touch()"
    text = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    start = time.monotonic()
    outcome = run_stage(script(text, limit_s=0.7), 60.0)
    assert not outcome.ok
    assert "limit" in outcome.note
    assert time.monotonic() - start < 3.0
    time.sleep(max(0.0, 3.5 - (time.monotonic() - start)))
    assert not (tmp_path / "late").exists()


def test_stage_is_not_started_when_the_whole_run_is_out_of_time():
    assert "out of time" in run_stage(script("pass"), 0.0).note


def test_stage_tolerates_only_what_it_says():
    assert run_stage(script("raise SystemExit(7)", tolerated=(7,)), 60.0).ok


@pytest.mark.parametrize(("may_skip", "ok"), [(True, True), (False, False)])
def test_stage_that_must_not_skip_fails_on_skipped_tests(tmp_path, may_skip, ok):
    report = tmp_path / "report.xml"
    text = f"import pathlib; pathlib.Path({str(report)!r}).write_text({REPORT!r})"
    assert run_stage(script(text, report=report, may_skip=may_skip), 60.0).ok is ok


def test_counts_come_from_the_report(tmp_path):
    (tmp_path / "r.xml").write_text(REPORT)
    assert read_counts(tmp_path / "r.xml") == Counts(passed=4, failed=3, skipped=3)
    assert read_counts(tmp_path / "none.xml") == Counts()


def test_counts_add_up_to_a_closing_line():
    assert str(Counts(1, 0, 2) + Counts(3, 1, 0)) == "4 passed, 1 failed, 2 skipped"
