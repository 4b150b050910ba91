"""What an imported robot is: numbers by hand, names, places, looks, limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from darts_py.spec import check_file
from darts_py.spec.load import load_document
from darts_py.urdf import Imported, Options, import_urdf
from darts_py.urdf.robot import rotation_of_rpy, rpy_of_rotation
from tests.reference.compare import assert_close
from tests.reference.trees import random_state
from tests.urdf import robots
from tests.urdf.robots import INERTIAL, LIMIT, joint, link, robot

PENDULUM = robot(
    link("world", ""),
    link(
        "rod",
        '<inertial><origin xyz="0 0 -0.5"/><mass value="2"/>'
        '<inertia ixx="0.17" ixy="0" ixz="0" iyy="0.17" iyz="0" izz="0.01"/></inertial>',
    ),
    joint(
        "hinge",
        "revolute",
        "world",
        "rod",
        '<axis xyz="0 2 0"/><limit lower="-1" upper="1.5" effort="7" velocity="3"/>'
        '<dynamics damping="0.25"/>',
    ),
)


def imported(folder: Path, text: str, **options: object) -> tuple[Imported, Tree]:
    """Import a robot, and load what came out."""
    result = import_urdf(robots.write(folder, text), Options(**options))  # type: ignore[arg-type]
    tree, faults = load_document(result.text.encode(), folder / "model.yaml")
    assert faults == []
    assert tree is not None
    return result, tree


def notes(result: Imported) -> str:
    return "\n".join(str(note) for note in result.notes)


def test_pendulum_falls_as_by_hand(tmp_path: Path) -> None:
    """(Iyy + m l^2) a = -m g l sin(angle) - d rate."""
    _, tree = imported(tmp_path, PENDULUM, gravity_m_s2=(0.0, 0.0, -9.81))
    angle, rate = 0.7, 0.3
    a = darts_py.forward_dynamics(Spacecraft(tree), np.array([angle]), np.array([rate]))
    expected = -(2 * 9.81 * 0.5 * np.sin(angle) + 0.25 * rate) / (0.17 + 2 * 0.25)
    assert a[0] == pytest.approx(expected, rel=1e-14)


def test_friction_brakes_as_coulomb_said(tmp_path: Path) -> None:
    """I a = -F v / sqrt(v^2 + vc^2) - d v: nearly F once the speed is well above the creep rate."""
    text = PENDULUM.replace('damping="0.25"', 'damping="0.25" friction="0.4"')
    _, tree = imported(tmp_path, text)
    rate = 0.3
    a = darts_py.forward_dynamics(Spacecraft(tree), np.zeros(1), np.array([rate]))
    assert a[0] == pytest.approx(-(0.4 + 0.25 * rate) / (0.17 + 0.5), rel=1e-4)
    slide = text.replace("revolute", "prismatic")
    assert "friction: {coulomb_n: 0.4}" in imported(tmp_path, slide)[0].text


def test_tilted_inertial_is_turned_into_link_axes(tmp_path: Path) -> None:
    """A tensor diag(1, 2, 2.5) turned by 90 degrees about z has xx and yy exchanged."""
    inertial = (
        '<inertial><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><mass value="4"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/></inertial>'
    )
    _, tree = imported(tmp_path, robot(link("box", inertial)))
    node = tree.bodies[0].nodes[0]
    assert np.allclose(node.Jc, np.diag([2.0, 1.0, 2.5]), atol=1e-15)
    assert np.array_equal(node.p, [1.0, 2.0, 3.0])
    assert node.m == 4.0


def test_limits_are_declared_and_do_not_push(tmp_path: Path) -> None:
    _, tree = imported(tmp_path, PENDULUM)
    limits = tree.joints[0].limits
    assert limits is not None
    assert (limits.lower[0], limits.upper[0]) == (-1.0, 1.5)
    assert (limits.velocity[0], limits.effort[0]) == (3.0, 7.0)
    beyond = darts_py.forward_dynamics(Spacecraft(tree), np.array([3.0]), np.zeros(1))
    assert beyond[0] == 0.0


def test_stops_push_back_beyond_the_limits(tmp_path: Path) -> None:
    """100 N m/rad, half a radian beyond the upper limit."""
    _, tree = imported(tmp_path, PENDULUM, stops=(100.0, 2.0))
    a = darts_py.forward_dynamics(Spacecraft(tree), np.array([2.0]), np.zeros(1))
    assert a[0] == pytest.approx(-100 * 0.5 / (0.17 + 0.5), rel=1e-14)


def test_prismatic_limits_are_in_metres(tmp_path: Path) -> None:
    text = PENDULUM.replace("revolute", "prismatic")
    result, tree = imported(tmp_path, text, stops=(5.0, 1.0))
    assert "limits: {lower_m: -1, upper_m: 1.5, velocity_m_s: 3, effort_n: 7}" in result.text
    assert "damping_n_s_per_m: 0.25" in result.text
    assert tree.joints[0].stop_stiffness is not None


def test_limits_as_good_as_infinite_are_left_out(tmp_path: Path) -> None:
    text = PENDULUM.replace('lower="-1" upper="1.5"', 'lower="-inf" upper="1e+300"')
    _, tree = imported(tmp_path, text, stops=(5.0, 1.0))
    limits = tree.joints[0].limits
    assert limits is not None
    assert (limits.lower[0], limits.upper[0]) == (-np.inf, np.inf)
    assert tree.joints[0].lower is None


def test_planar_joint_moves_across_its_axis(tmp_path: Path) -> None:
    """The axis of a planar joint is the normal of its plane: nothing moves along it."""
    axis = np.array([1.0, 2.0, 3.0])
    text = robots.PLANAR.replace('<axis xyz="0 0 1"/>', '<axis xyz="1 2 3"/>')
    _, tree = imported(tmp_path, text)
    model, rng = Spacecraft(tree), np.random.default_rng(0)
    R = rotation_of_rpy(np.array([0.5, -0.7, 1.9]))
    normal = R @ axis / np.linalg.norm(axis)  # in the world
    for _ in range(5):
        q, u = random_state(tree, rng)
        motion = darts_py.node_motion(model, q, u, node="puck.origin")
        w, v = motion.R @ motion.V[:3], motion.R @ motion.V[3:]
        assert abs(normal @ v) < 1e-13 * np.linalg.norm(v)
        assert np.linalg.norm(np.cross(normal, w)) < 1e-13 * np.linalg.norm(w)
    assert_close(darts_py.node_motion(model, model.neutral(), u, node="puck.origin").R, R, 1e-14)


def test_chain_of_frames_is_placed_as_by_hand(tmp_path: Path) -> None:
    """Massless links on fixed joints become nodes; poses multiply along the chain."""
    result, tree = imported(tmp_path, robots.MASSLESS)
    R, r = rotation_of_rpy(np.array([0.5, -0.7, 1.9])), np.array([0.3, -0.1, 0.7])
    place = result.places["frame_of_frame"]
    assert (place.body, place.node) == ("platform", "frame_of_frame")
    assert_close(place.r, r + R @ r, 1e-15)
    assert_close(place.turn.R, R @ R, 1e-15)
    assert [body.name for body in tree.bodies] == ["base", "ring", "platform", "hand"]
    wrist = tree.joints[3]
    assert_close(wrist.R_pO, R @ R @ R, 1e-14)
    node = tree.bodies[2].nodes[wrist.parent_node]
    assert node.name == "frame_of_frame"
    assert_close(node.R, R @ R, 1e-15)  # its axes are kept


def test_massless_root_without_anything_on_it_is_the_ground(tmp_path: Path) -> None:
    result, tree = imported(tmp_path, PENDULUM)
    assert [body.name for body in tree.bodies] == ["rod"]
    assert result.places["world"].body == ""
    assert "'world' is the ground itself" in notes(result)


@pytest.mark.parametrize(
    ("root", "inertial", "base"),
    [("world", "", "fixed"), ("hull", INERTIAL, "floating"), ("world", INERTIAL, "fixed")],
)
def test_base_is_chosen_by_the_root(tmp_path: Path, root: str, inertial: str, base: str) -> None:
    text = robot(
        link(root, inertial),
        link("arm"),
        joint("turn", "continuous", root, "arm", '<axis xyz="0 0 1"/>'),
    )
    result, tree = imported(tmp_path, text)
    assert result.base == base
    assert f"root link '{root}'" in notes(result)
    kinds = [joint.kind for joint in tree.joints]
    expected = ["free", "revolute"] if base == "floating" else ["revolute"]
    assert [kind for kind in kinds if kind != "fixed"] == expected


def test_merged_robot_has_the_same_dynamics(tmp_path: Path) -> None:
    _, whole = imported(tmp_path, robots.ARM)
    result, merged = imported(tmp_path, robots.ARM, merge=True)
    assert len(merged.bodies) == len(whole.bodies) - 1
    assert result.places["bracket"].body == "shoulder"
    q, u = random_state(whole, np.random.default_rng(1))
    M, C = darts_py.mass_matrix(Spacecraft(whole), q), darts_py.bias_force(Spacecraft(whole), q, u)
    assert_close(darts_py.mass_matrix(Spacecraft(merged), q), M, 1e-14)
    assert_close(darts_py.bias_force(Spacecraft(merged), q, u), C, 1e-13)


LOOKS = robot(
    '  <material name="blue"><color rgba="0 0 1 0.5"/></material>\n',
    link("world", ""),
    link(
        "body",
        INERTIAL,
        """
    <visual name="skin"><origin xyz="1 0 0" rpy="0 0 0.5"/>
      <geometry><mesh filename="package://robot/skin.stl" scale="0.001 0.001 0.001"/></geometry>
      <material name="blue"/></visual>
    <visual><geometry><box size="1 2 3"/></geometry></visual>
    <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision>
    <collision><geometry><sphere radius="0.4"/></geometry></collision>""",
    ),
    link("badge", "", '<visual><geometry><mesh filename="meshes/badge.dae"/></geometry></visual>'),
    joint("turn", "continuous", "world", "body", '<axis xyz="0 0 1"/>'),
    joint("glue", "fixed", "body", "badge", '<origin xyz="0 0 2" rpy="0 0 1"/>'),
)


def test_shapes_are_kept(tmp_path: Path) -> None:
    _, tree = imported(tmp_path, LOOKS)
    skin, box, badge, cylinder, sphere = tree.bodies[0].appearance
    assert (skin.kind, skin.name, skin.mesh) == ("mesh", "skin", "package://robot/skin.stl")
    assert np.array_equal(skin.size, [0.001] * 3)
    assert np.array_equal(skin.color, [0, 0, 1, 0.5])  # type: ignore[arg-type]
    assert np.array_equal(skin.r, [1, 0, 0])
    assert_close(skin.R, rotation_of_rpy(np.array([0, 0, 0.5])), 1e-15)
    assert (box.kind, box.size.tolist()) == ("box", [1, 2, 3])
    assert (cylinder.role, cylinder.size.tolist()) == ("collision", [0.1, 2])
    assert (sphere.kind, sphere.size.tolist()) == ("sphere", [0.4])
    assert badge.mesh == "meshes/badge.dae"
    assert np.array_equal(badge.r, [0, 0, 2])
    assert_close(badge.R, rotation_of_rpy(np.array([0, 0, 1.0])), 1e-15)


def test_relative_mesh_paths_follow_the_model_file(tmp_path: Path) -> None:
    output = tmp_path / "models" / "robot.yaml"
    result, _ = imported(tmp_path, LOOKS, output=output)
    assert 'mesh: "../meshes/badge.dae"' in result.text
    assert 'mesh: "package://robot/skin.stl"' in result.text


def test_names_are_made_admissible_and_distinct(tmp_path: Path) -> None:
    text = robot(
        link("ground"),
        link("a-b"),
        link("a_b"),
        link("a/b"),
        link("1st"),
        link("ärm"),
        link("l" * 70),
        *(
            joint(f"j-{k}", "continuous", "ground", child, '<axis xyz="0 0 1"/>')
            for k, child in enumerate(("a-b", "a_b", "a/b", "1st", "ärm", "l" * 70))
        ),
        name="my robot",
    )
    result, tree = imported(tmp_path, text)
    names = [body.name for body in tree.bodies]
    assert names == ["ground_2", "a_b_2", "a_b", "a_b_3", "n_1st", "n_rm", "l" * 64]
    assert result.name == "my_robot"
    assert "'a-b' is called a_b_2" in notes(result)
    assert "joint 'j-0' is called j_0" in notes(result)
    assert '# link "a-b"' in result.text


@pytest.mark.parametrize("name", list(robots.ALL))
def test_same_file_gives_the_same_bytes_that_check_accepts(tmp_path: Path, name: str) -> None:
    file = robots.write(tmp_path, robots.ALL[name])
    first, second = import_urdf(file).text, import_urdf(file).text
    assert first == second
    model = tmp_path / "model.yaml"
    model.write_text(first)
    assert check_file(model) == []


def test_numbers_survive_to_the_last_digit(tmp_path: Path) -> None:
    text = PENDULUM.replace('value="2"', 'value="0.1234567890123456789"')
    text = text.replace('xyz="0 0 -0.5"', 'xyz="1e-17 3.3333333333333335 -0"')
    _, tree = imported(tmp_path, text)
    node = tree.bodies[0].nodes[0]
    assert node.m == 0.1234567890123456789
    assert node.p.tolist() == [1e-17, 3.3333333333333335, 0.0]


@pytest.mark.parametrize("pitch", [0.0, 1.2, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9])
def test_roll_pitch_yaw_returns_the_rotation(pitch: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        R = rotation_of_rpy(np.array([rng.uniform(-3, 3), pitch, rng.uniform(-3, 3)]))
        assert np.abs(rotation_of_rpy(rpy_of_rotation(R)) - R).max() < 4e-16 * 4


def test_warnings_say_what_is_lost_once_with_all_lines(tmp_path: Path) -> None:
    text = robot(
        link("world", ""),
        link("a"),
        link("b", INERTIAL, "<sensor/>"),
        joint("j", "continuous", "world", "a", '<axis xyz="0 0 1"/><calibration rising="0"/>'),
        joint("k", "continuous", "a", "b",
              '<axis xyz="0 1 0"/><mimic joint="j" multiplier="2"/><safety_controller/>'),
        "<transmission/>\n", "<transmission/>\n", "<gazebo/>\n", "<loop_joint/>\n",
    )  # fmt: skip
    result, tree = imported(tmp_path, text)
    told = notes(result)
    lines = text.splitlines()
    first, second = (k + 1 for k, line in enumerate(lines) if "<transmission/>" in line)
    assert f"<transmission> left out: actuators are not part of a model file yet (2 times, " \
           f"lines {first}, {second})" in told  # fmt: skip
    for phrase in ("<gazebo>", "<calibration>", "<safety_controller>", "<sensor> in <link>",
                   "<loop_joint> in <robot>", "<mimic> left out: the joint"):  # fmt: skip
        assert told.count(phrase) == 1
    assert all(note.level == "warning" for note in result.notes if "left out" in note.text)
    assert tree.joints[1].n_speeds == 1


def test_joint_without_axis_moves_along_x(tmp_path: Path) -> None:
    text = robot(link("world", ""), link("a"), joint("j", "revolute", "world", "a", LIMIT))
    result, tree = imported(tmp_path, text)
    assert np.array_equal(tree.joints[0].stages[0].H[:3, 0], [1.0, 0.0, 0.0])
    assert "without <axis> moves along x" in notes(result)
