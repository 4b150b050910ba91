"""Friction in the model file: what reaches the tree, and every refusal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from darts_py.multibody.tree import Joint
from darts_py.spec import load_tree
from tests.spec.documents import SOUND, assert_only_fault, changed, write

SPIN = "  spin:\n    type: revolute\n    axis: [0, 0, 1]\n"


def spin_with(folder: Path, keys: str) -> Joint:
    """Return the joint `spin` with another motion."""
    text = changed(SPIN, "  spin:\n" + keys, SOUND)
    return load_tree(write(folder, text)).joints[2]


def friction_of(joint: Joint) -> list[list[float]]:
    """Return the four arrays as lists."""
    arrays = (joint.coulomb, joint.breakaway, joint.stribeck_rate, joint.creep_rate)
    return [np.asarray(array).tolist() for array in arrays]


def test_friction_of_an_angle(tmp_path: Path) -> None:
    keys = "    friction: {coulomb_n_m: 0.4, breakaway_n_m: 0.6, stribeck_rate_rad_s: 0.02,"
    joint = spin_with(
        tmp_path, "    type: revolute\n    axis: [0, 0, 1]\n" + keys + " creep_rate_rad_s: 1e-4}\n"
    )
    assert friction_of(joint) == [[0.4], [0.6], [0.02], [1e-4]]


def test_defaults_are_coulomb_and_a_small_creep_rate(tmp_path: Path) -> None:
    joint = spin_with(
        tmp_path, "    type: prismatic\n    axis: [0, 0, 1]\n    friction: {coulomb_n: 3}\n"
    )
    assert friction_of(joint) == [[3.0], [3.0], [1.0], [1e-3]]


def test_friction_by_coordinate(tmp_path: Path) -> None:
    joint = spin_with(
        tmp_path,
        "    type: cylindrical\n    axis: [0, 0, 1]\n    coordinates:\n"
        "      slide: {friction: {coulomb_n: 3, creep_rate_m_s: 1e-5}}\n",
    )
    assert friction_of(joint)[0] == [0.0, 3.0]
    assert friction_of(joint)[1] == [0.0, 3.0]
    assert friction_of(joint)[3] == [1e-3, 1e-5]


def test_friction_of_a_ball_and_of_a_map(tmp_path: Path) -> None:
    ball = spin_with(tmp_path, "    type: spherical\n    friction: {coulomb_n_m: 0.1}\n")
    assert friction_of(ball)[0] == [0.1] * 3
    cam = spin_with(
        tmp_path,
        "    type: map\n    map: [[0], [0], [1], [0], [0], [0.1]]\n    coordinates:\n"
        "      c1: {friction: {coulomb_n_m: 0, breakaway_n_m: 2, stribeck_rate_per_s: 0.3}}\n",
    )
    assert friction_of(cam) == [[0.0], [2.0], [0.3], [1e-3]]


def test_joints_without_friction_have_none(tmp_path: Path) -> None:
    joint = spin_with(tmp_path, "    type: revolute\n    axis: [0, 0, 1]\n")
    assert joint.coulomb is joint.breakaway is joint.stribeck_rate is joint.creep_rate is None


FAULTS = {
    "no coulomb": ("@@{breakaway_n_m: 1}", "", ["nothing", "coulomb_n_m"]),
    "negative": ("{coulomb_n_m: @@-1}", ".coulomb_n_m", [">= 0"]),
    "no creep": ("{coulomb_n_m: 1, creep_rate_rad_s: @@0}", ".creep_rate_rad_s", ["> 0"]),
    "rising": ("@@{coulomb_n_m: 1, breakaway_n_m: 0.5}", "", ["breakaway friction 0.5 below"]),
    "no rate": ("@@{coulomb_n_m: 1, breakaway_n_m: 2}", "", ["the key 'stribeck_rate_rad_s'"]),
    "units": ("{coulomb_n_m: 1, @@creep_rate_m_s: 1}", ".creep_rate_m_s", ["creep_rate_rad_s"]),
    "a number": ("@@0.4", "", ["0.4", "a mapping"]),
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault_is_placed_and_worded(tmp_path: Path, case: str) -> None:
    value, path, phrases = FAULTS[case]
    text = changed(SPIN, SPIN + f"    friction: {value}\n", SOUND)
    if case == "no coulomb":
        text = changed("@@", "", text).replace("    friction:", "    @@friction:")
        path = ".coulomb_n_m"
    assert_only_fault(tmp_path, text, f"joints.spin.friction{path}", *phrases)
