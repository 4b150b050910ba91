"""Shapes, declared limits and massless bodies in model files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.spec import load_tree
from tests.spec.documents import SOUND, assert_only_fault, changed, faults_of, write

PORT = "      port: {position_m: [0, 1, 0]}\n"
SPIN = "    parent_rotation: {quaternion: [1, 0, 0, 0]}\n"
WHEEL = "    mass_kg: 4\n    inertia_kg_m2: [0.02, 0.02, 0.04]\n"


def shaped(shape: str, key: str = "visuals") -> str:
    return changed(PORT, f"{PORT}    {key}:\n      - {shape}\n")


def limited(limits: str) -> str:
    return changed(SPIN, f"{SPIN}    limits: {limits}\n")


def test_shapes_are_kept_as_data_and_change_no_motion(tmp_path: Path) -> None:
    text = shaped(
        '{mesh: "a/b c.stl", scale: [1, 1, -1], rotation: {axis: [0, 0, 1], angle_deg: 90}}'
    )
    text = changed("  panel:\n", "  panel:\n    collisions: [{sphere: {radius_m: 2}}]\n", text)
    tree, plain = load_tree(write(tmp_path, text)), load_tree(write(tmp_path, SOUND))
    (mesh,), (ball,) = tree.bodies[0].appearance, tree.bodies[1].appearance
    assert (mesh.role, mesh.kind, mesh.mesh, mesh.size.tolist()) == (
        "visual", "mesh", "a/b c.stl", [1, 1, -1],
    )  # fmt: skip
    assert np.allclose(mesh.R, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert (ball.role, ball.kind, ball.size.tolist()) == ("collision", "sphere", [2])
    q, u = Spacecraft(plain).neutral(), np.linspace(-1, 1, Spacecraft(plain).n_speeds)
    a, b = (darts_py.forward_dynamics(Spacecraft(t), q, u) for t in (tree, plain))
    assert np.array_equal(a, b)


SHAPES = {
    "two forms": ("@@{mesh: a, sphere: {radius_m: 1}}", "", ["mesh and sphere", "exactly one of"]),
    "no form": ("@@{name: a}", "", ["no shape"]),
    "scale of a box": ("@@{box: {size_m: [1, 1, 1]}, scale: [1, 1, 1]}", "", ["with a mesh only"]),
    "zero scale": ("{mesh: a, scale: @@[1, 0, 1]}", ".scale", ["none of them zero"]),
    "control character": ('{mesh: @@"a\\nb"}', ".mesh", ["printable text"]),
    "empty path": ('{mesh: @@""}', ".mesh", ["printable text"]),
    "negative radius": ("{sphere: {radius_m: @@-1}}", ".sphere.radius_m", ["> 0"]),
    "flat box": ("{box: {size_m: [1, @@0, 1]}}", ".box.size_m[1]", ["> 0"]),
    "loud colour": ("{mesh: a, color_rgba: [0, @@2, 0, 1]}", ".color_rgba[1]", ["<= 1"]),
    "three colours": ("{mesh: a, color_rgba: @@[0, 0, 1]}", ".color_rgba", ["4 values"]),
    "unknown key": ("{mesh: a, @@colour: [0, 0, 1, 1]}", ".colour", ["did you mean 'color_rgba'"]),
}


@pytest.mark.parametrize("case", list(SHAPES))
def test_shape_is_refused_in_its_place(tmp_path: Path, case: str) -> None:
    shape, path, phrases = SHAPES[case]
    assert_only_fault(tmp_path, shaped(shape), f"bodies.bus.visuals[0]{path}", *phrases)


def test_limits_are_kept_and_exert_no_force(tmp_path: Path) -> None:
    text = limited("{lower_rad: -1, upper_rad: 1, velocity_rad_s: 5}")
    tree, plain = load_tree(write(tmp_path, text)), load_tree(write(tmp_path, SOUND))
    limits = tree.joints[2].limits
    assert limits is not None
    assert (limits.lower[0], limits.upper[0], limits.velocity[0]) == (-1, 1, 5)
    assert limits.effort[0] == np.inf
    assert plain.joints[2].limits is None
    q = Spacecraft(plain).neutral()
    q[-1] = 30.0
    u = np.ones(Spacecraft(plain).n_speeds)
    a, b = (darts_py.forward_dynamics(Spacecraft(t), q, u) for t in (tree, plain))
    assert np.array_equal(a, b)


def test_limits_of_joints_with_several_freedoms_are_in_state_order(tmp_path: Path) -> None:
    text = changed(
        "    type: free\n",
        "    type: free\n    coordinates: {y: {limits: {lower_m: -2}}}\n",
    )
    stages = (
        "    type: compound\n    stages:\n      - {type: revolute, axis: [1, 0, 0]}\n"
        "      - {type: cylindrical, axis: [0, 0, 1], "
        "coordinates: {slide: {limits: {effort_n: 3}}}}\n"
    )
    tree = load_tree(write(tmp_path, text))
    assert tree.joints[0].limits is not None
    assert tree.joints[0].limits.lower.tolist() == [-np.inf] * 4 + [-2.0, -np.inf]
    spin = "    type: revolute\n    axis: [0, 0, 1]\n    parent: bus\n    parent_rotation"
    text = changed(spin, f"{stages}    parent: bus\n    parent_rotation")
    tree = load_tree(write(tmp_path, text))
    assert tree.joints[2].limits is not None
    assert tree.joints[2].limits.effort.tolist() == [np.inf, np.inf, 3.0]


LIMITS = {
    "upside down": ("@@{lower_rad: 2, upper_rad: 1}", "", ["lower limit 2 and upper limit 1"]),
    "metres on an angle": ("{@@lower_m: 1}", ".lower_m", ["unknown key"]),
    "negative effort": ("{effort_n_m: @@-1}", ".effort_n_m", [">= 0"]),
}


@pytest.mark.parametrize("case", list(LIMITS))
def test_limit_is_refused_in_its_place(tmp_path: Path, case: str) -> None:
    limits, path, phrases = LIMITS[case]
    assert_only_fault(tmp_path, limited(limits), f"joints.spin.limits{path}", *phrases)


GIMBAL = """\
darts_model: 1
name: gimbal
bodies:
  ring: {mass_kg: 0, inertia_kg_m2: [0, 0, 0]}
  rotor: {mass_kg: 2, inertia_kg_m2: [0.1, 0.2, 0.25]}
joints:
  @@outer: {type: revolute, axis: [0, 0, 1], parent: ground, child: ring}
  inner: {type: revolute, axis: [1, 0, 0], parent: ring, child: rotor}
"""


def test_massless_ring_is_a_universal_joint(tmp_path: Path) -> None:
    ring = load_tree(write(tmp_path, GIMBAL))
    joint = """\
darts_model: 1
name: hooke
bodies:
  rotor: {mass_kg: 2, inertia_kg_m2: [0.1, 0.2, 0.25]}
joints:
  hooke: {type: universal, axes: [[0, 0, 1], [1, 0, 0]], parent: ground, child: rotor}
"""
    hooke = load_tree(write(tmp_path, joint))
    q, u, tau = np.array([0.4, 1.1]), np.array([0.7, -0.3]), np.array([0.2, 0.5])
    a, b = (darts_py.forward_dynamics(Spacecraft(tree), q, u, tau) for tree in (ring, hooke))
    assert np.allclose(a, b, rtol=1e-13)


def test_rings_that_cancel_each_other_are_refused(tmp_path: Path) -> None:
    text = changed("axis: [1, 0, 0]", "axis: [0, 0, -1]", GIMBAL)
    phrases = ("together move no mass", "joints outer, inner", "give inertia to one of ring")
    assert_only_fault(tmp_path, text, "joints.outer", *phrases)


def test_point_mass_on_a_wrist_is_refused(tmp_path: Path) -> None:
    """Three axes through one point turn a point mass in two ways only."""
    text = changed("mass_kg: 2, inertia_kg_m2: [0.1, 0.2, 0.25]",
                   "mass_kg: 2, inertia_kg_m2: [0, 0, 0], center_of_mass_m: [0.3, 0.2, 0.1]",
                   GIMBAL)  # fmt: skip
    assert faults_of(tmp_path, text) == []  # two axes are fine
    text = changed("joints:", "  hub: {mass_kg: 0, inertia_kg_m2: [0, 0, 0]}\njoints:", text)
    text = changed("parent: ring, child: rotor}", "parent: ring, child: hub}\n"
                   "  third: {type: revolute, axis: [0, 1, 0], parent: hub, child: rotor}",
                   text)  # fmt: skip
    (fault,) = faults_of(tmp_path, text)
    assert "together move no mass" in fault.got


def test_massless_body_on_a_fixed_joint_may_end_a_chain(tmp_path: Path) -> None:
    text = changed(WHEEL, "    mass_kg: 0\n    inertia_kg_m2: [0, 0, 0]\n")
    text = changed(
        "  spin:\n    type: revolute\n    axis: [0, 0, 1]\n", "  spin:\n    type: fixed\n", text
    )
    assert faults_of(tmp_path, text) == []


def test_massless_body_on_a_moving_joint_may_not(tmp_path: Path) -> None:
    text = changed(WHEEL, "    mass_kg: 0\n    inertia_kg_m2: [0, 0, 0]\n")
    text = changed("  spin:\n", "  @@spin:\n", text)
    assert_only_fault(tmp_path, text, "joints.spin", "moves no mass", "'wheel'")


def test_model_without_any_mass_can_be_shown(tmp_path: Path) -> None:
    text = """\
darts_model: 1
name: nothing
bodies:
  frame: {mass_kg: 0, inertia_kg_m2: [0, 0, 0]}
joints:
  weld: {type: fixed, parent: ground, child: frame}
"""
    from darts_py.spec.spatial import mass_properties

    assert mass_properties(load_tree(write(tmp_path, text))).mass_kg == 0.0
