from __future__ import annotations

import re
import tomllib

import pytest

from tools.workshop import environments
from tools.workshop.environments import DEV, FE, PEERS, ROOT, Environment
from tools.workshop.everything import BENCHMARKS, every_stage

LOCKS = [DEV.lock, PEERS.lock, FE.lock]


def metadata() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_lock_pins_versions_and_hashes_and_names_no_address(lock):
    text = lock.read_text()
    assert not re.search(r"://|--index|--find-links|@ |file:", text)
    entries = re.split(r"\n(?=\S)", text.split("\n", 1)[1].strip())
    assert all(re.match(r"[a-z0-9-]+==\S+", entry) for entry in entries)
    assert all("--hash=sha256:" in entry for entry in entries)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_lock_holds_every_dependency_and_the_build_backend(lock):
    locked = set(re.findall(r"^([a-z0-9-]+)==", lock.read_text(), re.MULTILINE))
    wanted = {re.split(r"[\[>=<]", word)[0] for word in metadata()["project"]["dependencies"]}
    assert wanted | {"hatchling"} <= locked


def test_stamp_follows_the_lock(tmp_path):
    lock = tmp_path / "lock.txt"
    lock.write_text("a==1")
    environment = Environment(tmp_path / "venv", lock)
    before = environments.stamp_of(environment)
    lock.write_text("a==2")
    assert environments.stamp_of(environment) != before
    assert not environments.is_current(environment)


def test_limits_of_stages_are_those_promised():
    """At most 10 minutes for the default suite, bounds and no JIT, 20 for slow, 60 in all."""
    limits = {stage.name: stage.limit_s / 60 for stage in every_stage([])}
    for name, most in {"default": 10, "bounds": 10, "no jit": 10, "slow": 20}.items():
        assert limits[name] <= most
    assert sum(limits.values()) <= 60


def test_every_benchmark_has_a_smoke_stage():
    names = {stage.name for stage in every_stage([])}
    assert {f"bench {name}" for name in BENCHMARKS} <= names


@pytest.mark.parametrize("name", ["peers", "fe"])
def test_oracles_may_not_skip(name):
    (stage,) = [stage for stage in every_stage([]) if stage.name == name]
    assert not stage.may_skip
