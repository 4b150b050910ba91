from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from darts_py.bench import dynamics
from darts_py.bench.cli import app
from darts_py.bench.targets import judge
from tools.workshop.environments import ROOT


def documented_keys() -> set[str]:
    """Every key named in the documentation's table, with the prefix of the list it stands in."""
    text = (ROOT / "docs" / "cli.md").read_text().split("What `--json FILE` writes:")[1]
    keys = set()
    for line in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE):
        names = re.findall(r"`([^`]+)`", line)
        prefix = names[0].split(".")[0] if "[]." in names[0] else ""
        keys |= {prefix + name if name.startswith(".") else name for name in names}
    return keys


def report_keys(report: dict) -> set[str]:
    keys = set(report)
    for name in ("rigid", "flexible", "constrained", "operators"):
        keys.remove(name)
        keys |= {f"{name}[]"} | {f"{name}[].{key}" for key in report[name][0]}
    return keys - {"targets"} | {"targets[]"}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory) -> tuple[str, dict]:
    file = tmp_path_factory.mktemp("bench") / "report.json"
    words = ["dynamics", "--smoke", "--no-peers", "--json", str(file)]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout, json.loads(file.read_text())


@pytest.mark.bench
def test_report_has_exactly_the_documented_keys(smoke):
    assert report_keys(smoke[1]) == documented_keys()


@pytest.mark.bench
def test_both_paths_agree_on_every_flexible_chain(smoke):
    assert all(row["difference"] < dynamics.AGREEMENT for row in smoke[1]["flexible"])
    assert all(row["lapack_ns"] > 0.0 for row in smoke[1]["flexible"])


@pytest.mark.bench
def test_missing_peers_are_said_plainly(smoke):
    table, report = smoke
    assert "pinocchio: MISSING" in table
    assert "mujoco: MISSING" in table
    assert all(row["ratio_pinocchio"] is None for row in report["rigid"])
    assert {target["met"] for target in report["targets"] if "Pinocchio" in target["name"]} == {
        None
    }


@pytest.mark.bench
def test_operation_counts_stand_beside_wall_times(smoke):
    counts = {row["n_modes"]: round(row["count_ratio"], 2) for row in smoke[1]["flexible"]}
    assert (counts[5], counts[10]) == (3.68, 7.27)
    assert "3.68" in smoke[0]
    assert "7.27" in smoke[0]


def test_targets_know_their_sense():
    report = dynamics.Report(
        machine={},
        rigid=[dynamics.Rigid("chain 6", 6, 1.0, ratio_pinocchio=0.8)],
        scaling_100_to_10=10.0,
        flexible=[dynamics.Flexible(5, 60, 1, 3, 1, 1, 3, 3.0, 3.68, 0.0)],
        operators_100_to_10=11.0,
        satellite_ns=5000.0,
    )
    assert [target.met for target in judge(report)] == [False, True, True, False, False]
