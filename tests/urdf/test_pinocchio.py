"""Imported robots against Pinocchio's own import of the same file, to 1e-10.

Mass matrix, inverse and forward dynamics, and where every link is. Pinocchio does not look at the
axis of a planar joint: it is always z.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from darts_py.errors import ModelError
from darts_py.urdf import import_urdf
from tests.urdf import robots

pytestmark = pytest.mark.peers

try:
    import pinocchio as pin

    pin.Model  # noqa: B018  (another package has the same name)
except (ImportError, AttributeError):
    pytest.skip(
        "Pinocchio is not installed: NOTHING here was compared with it; run tools/peers",
        allow_module_level=True,
    )

from tests.urdf.pinocchio_robot import Pair  # noqa: E402  (needs Pinocchio)

RTOL = 1e-10
KINDS = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")

# robots that people use: what of them cannot be taken as it stands, and why
MERGED = {  # impossible inertias of parts, possible ones of what is joined rigidly
    "alex_psyonic_hands", "allegro_left_hand", "allegro_right_hand", "anymal-kinova", "anymal",
    "b1-z1", "b1", "bolt", "finger_edu", "go1", "hyq_no_sensors", "pr2", "tiago", "tiago_dual",
    "tiago_no_hand",
}  # fmt: skip
REFUSED = {
    "icub": "not positive definite",  # moments of 1e-35
    "icub_reduced": "not positive definite",
    "romeo": "moves no mass",  # massless fingers
    "romeo_laas_small": "triangle inequality",
    "romeo_small": "triangle inequality",
    "ur3": "no links",
}


def published_robots() -> list[Path]:
    """Return the URDF files of example-robot-data."""
    files = metadata.files("example-robot-data") or []
    found = [Path(str(file.locate())) for file in files if file.suffix == ".urdf"]
    assert len(found) > 50
    return sorted(found)


def _assert_agrees(pair: Pair) -> None:
    for seed in range(3):
        errors = pair.errors(np.random.default_rng(seed))
        wrong = {what: error for what, error in errors.items() if not error <= RTOL}
        assert not wrong, f"seed {seed}: {wrong}"


@pytest.mark.parametrize("name", list(robots.ALL))
def test_held_robot_moves_as_in_pinocchio(tmp_path: Path, name: str) -> None:
    _assert_agrees(Pair(robots.write(tmp_path, robots.ALL[name]), "fixed"))


@pytest.mark.parametrize("name", ["tree", "floating"])
def test_floating_robot_moves_as_in_pinocchio(tmp_path: Path, name: str) -> None:
    _assert_agrees(Pair(robots.write(tmp_path, robots.ALL[name]), "floating"))


@pytest.mark.parametrize("merge", [False, True], ids=["as it is", "merged"])
@pytest.mark.parametrize("seed", range(12))
def test_random_robot_moves_as_in_pinocchio(tmp_path: Path, seed: int, merge: bool) -> None:
    rng = np.random.default_rng(seed)
    floats = bool(seed % 2)
    text = robots.random_robot(rng, int(rng.integers(2, 14)), KINDS, base_mass=floats)
    base = "floating" if floats else "fixed"
    _assert_agrees(Pair(robots.write(tmp_path, text), base, merge=merge))


def test_published_robots_are_as_many_as_the_documentation_says() -> None:
    """47 as they stand, 16 merged (two are called anymal), 5 refused and one empty."""
    stems = [file.stem for file in published_robots()]
    merged, refused = (sum(stem in names for stem in stems) for names in (MERGED, REFUSED))
    assert (len(stems) - merged - refused, merged, refused) == (47, 16, 6)


@pytest.mark.parametrize("file", published_robots(), ids=lambda file: file.stem)
def test_published_robot_moves_as_in_pinocchio(file: Path) -> None:
    if file.stem in REFUSED:
        with pytest.raises(ModelError, match=REFUSED[file.stem]):
            import_urdf(file)
        return
    if file.stem in MERGED:
        with pytest.raises(ModelError, match="--merge"):
            import_urdf(file)
    base = "fixed" if file.stem in MERGED else import_urdf(file).base
    for choice in {base, "floating"} if file.stem in MERGED else {base}:
        _assert_agrees(Pair(file, choice, merge=file.stem in MERGED))
