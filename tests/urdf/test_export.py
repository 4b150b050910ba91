"""Models out to URDF and back: the same motion; what URDF cannot say is refused or told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import darts_py
from darts_py.errors import ModelError
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from darts_py.spec import load_tree
from darts_py.spec.load import load_document
from darts_py.urdf import Exported, Options, export_urdf, import_urdf
from tests.reference.compare import assert_close
from tests.reference.trees import Options as TreeOptions
from tests.reference.trees import random_state, random_tree
from tests.urdf import robots

EXPORTABLE = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "planar", "free")


def there_and_back(folder: Path, tree: Tree) -> tuple[Exported, Tree]:
    """Export a tree, import the file, return the new tree."""
    file = folder / "robot.urdf"
    written = export_urdf(tree)
    file.write_text(written.text)
    gravity = tuple(float(g) for g in tree.gravity)
    result = import_urdf(file, Options(gravity_m_s2=gravity))  # type: ignore[arg-type]
    again, faults = load_document(result.text.encode(), folder / "model.yaml")
    assert faults == []
    assert again is not None
    return written, again


def assert_same_dynamics(tree: Tree, again: Tree, rng: np.random.Generator) -> None:
    """State and speeds keep their order: chains list their freedoms as the joint did."""
    a, b = Spacecraft(tree), Spacecraft(again)
    assert (a.n_coords, a.n_speeds) == (b.n_coords, b.n_speeds)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=a.n_speeds)
    assert_close(darts_py.mass_matrix(b, q), darts_py.mass_matrix(a, q), 1e-12, "mass matrix")
    assert_close(darts_py.bias_force(b, q, u), darts_py.bias_force(a, q, u), 1e-12, "bias")
    expected = darts_py.forward_dynamics(a, q, u, tau)
    assert_close(darts_py.forward_dynamics(b, q, u, tau), expected, 1e-10, "acceleration")


@pytest.mark.parametrize("kind", EXPORTABLE)
def test_every_joint_that_urdf_has_goes_there_and_back(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(EXPORTABLE.index(kind))
    tree = random_tree(rng, 4, TreeOptions(kinds=[kind], max_modes=0, branching=0.7))
    _, again = there_and_back(tmp_path, tree)
    assert_same_dynamics(tree, again, rng)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_go_there_and_back(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    options = TreeOptions(kinds=EXPORTABLE, max_modes=0, n_roots=1 + seed % 3)
    tree = random_tree(rng, 8, options)
    _, again = there_and_back(tmp_path, tree)
    assert_same_dynamics(tree, again, rng)


def test_axes_of_massless_frames_go_there_and_back(tmp_path: Path) -> None:
    """Links without mass are frames that people measure in: place and axes survive both ways."""
    result = import_urdf(robots.write(tmp_path, robots.MASSLESS))
    tree, _ = load_document(result.text.encode(), tmp_path / "model.yaml")
    assert tree is not None
    _, again = there_and_back(tmp_path, tree)
    turned = 0
    for before, after in zip(tree.bodies, again.bodies, strict=True):
        frames = {node.name: node for node in after.nodes}
        for node in before.nodes:
            assert_close(frames[node.name].r, node.r, 1e-14)
            assert_close(frames[node.name].R, node.R, 1e-14)
            turned += not np.allclose(node.R, np.eye(3))
    assert turned >= 2


@pytest.mark.parametrize("name", ["arm_satellite", "double_pendulum"])
def test_shipped_rigid_models_go_there_and_back(tmp_path: Path, name: str) -> None:
    tree = load_tree(name)
    written, again = there_and_back(tmp_path, tree)
    assert_same_dynamics(tree, again, np.random.default_rng(0))
    assert export_urdf(tree).text == written.text


MODEL = """\
darts_model: 1
name: looks
gravity_m_s2: [0, 0, -9.81]
bodies:
  arm:
    mass_kg: 2
    center_of_mass_m: [0.1, 0.2, 0.3]
    inertia_kg_m2: [0.3, 0.4, 0.5]
    nodes:
      tip: {position_m: [1, 0, 0]}
    visuals:
      - {mesh: "meshes/arm & leg.stl", scale: [2, 2, 2], position_m: [0, 1, 0], name: skin}
      - {box: {size_m: [1, 2, 3]}, rotation: {axis: [0, 0, 1], angle_deg: 30}, color_rgba: [1, 0, 0, 1]}
    collisions:
      - {cylinder: {radius_m: 0.1, length_m: 1}}
      - {sphere: {radius_m: 0.2}}
  fork:
    mass_kg: 1
    inertia_kg_m2: [0.1, 0.1, 0.1]
joints:
  shoulder:
    type: revolute
    axis: [0, 0, 1]
    parent: ground
    child: arm
    child_offset_m: [0.5, 0, 0]
    child_rotation: {euler_deg: [10, 90, 30], sequence: zyx}
    damping_n_m_s_per_rad: 0.2
    limits: {lower_rad: -1, upper_rad: 2, velocity_rad_s: 3, effort_n_m: 4}
  slide:
    type: prismatic
    axis: [1, 0, 0]
    parent: arm
    parent_node: tip
    child: fork
    limits: {velocity_m_s: 0.5}
"""  # noqa: E501


def model(folder: Path, text: str = MODEL) -> Tree:
    file = folder / "model.yaml"
    file.write_text(text)
    return load_tree(file)


def test_looks_limits_and_nodes_go_there_and_back(tmp_path: Path) -> None:
    tree = model(tmp_path)
    _, again = there_and_back(tmp_path, tree)
    assert_same_dynamics(tree, again, np.random.default_rng(0))
    a, b = Spacecraft(tree), Spacecraft(again)
    q, u = random_state(tree, np.random.default_rng(1))
    before, after = (darts_py.node_motion(s, q, u, node="arm.tip") for s in (a, b))
    assert_close(after.r_N, before.r_N, 1e-14)
    old, new = tree.joints[0].limits, again.joints[0].limits
    assert old is not None
    assert new is not None
    for key in ("lower", "upper", "velocity", "effort"):
        assert np.array_equal(getattr(old, key), getattr(new, key))
    slide = again.joints[1].limits
    assert slide is not None
    assert (slide.lower[0], slide.velocity[0], slide.effort[0]) == (-np.inf, 0.5, np.inf)
    joint = tree.joints[0]  # F of the old body is not the frame of the link
    for mine, theirs in zip(tree.bodies[0].appearance, again.bodies[0].appearance, strict=True):
        assert (mine.role, mine.kind, mine.mesh) == (theirs.role, theirs.kind, theirs.mesh)
        assert np.array_equal(mine.size, theirs.size)
        assert_close(theirs.r, joint.R_iO.T @ (mine.r - joint.o_d), 1e-14)
        assert_close(theirs.R, joint.R_iO.T @ mine.R, 1e-14)


def test_friction_goes_there_and_back(tmp_path: Path) -> None:
    dry = "    damping_n_m_s_per_rad: 0.2\n    friction: {coulomb_n_m: 0.7}\n"
    tree = model(tmp_path, MODEL.replace("    damping_n_m_s_per_rad: 0.2\n", dry))
    written, again = there_and_back(tmp_path, tree)
    assert '<dynamics damping="0.2" friction="0.7"/>' in written.text
    assert not any("friction" in note.text for note in written.notes)
    assert_same_dynamics(tree, again, np.random.default_rng(0))


def test_friction_beyond_coulomb_is_told(tmp_path: Path) -> None:
    dry = "{coulomb_n_m: 0.7, breakaway_n_m: 0.9, stribeck_rate_rad_s: 0.1}"
    text = MODEL.replace("    damping_n_m_s_per_rad: 0.2\n", f"    friction: {dry}\n")
    written = export_urdf(model(tmp_path, text))
    assert any("the coulomb part is kept: shoulder" in note.text for note in written.notes)


def test_mesh_paths_follow_the_urdf_file(tmp_path: Path) -> None:
    tree = model(tmp_path)
    text = export_urdf(tree, tmp_path / "model.yaml", tmp_path / "out" / "robot.urdf").text
    assert 'filename="../meshes/arm &amp; leg.stl"' in text


def test_what_is_lost_is_told(tmp_path: Path) -> None:
    text = MODEL.replace(
        "    limits: {velocity_m_s: 0.5}\n",
        "    spring: {stiffness_n_per_m: 10}\n"
        "    stops: {lower_m: -1, upper_m: 1, stiffness_n_per_m: 100}\n",
    ).replace("    damping_n_m_s_per_rad: 0.2\n", "    locked: true\n")
    written = export_urdf(model(tmp_path, text))
    told = "\n".join(str(note) for note in written.notes)
    for phrase in ("spring left out: slide", "places are kept as limits: slide",
                   "locked joint became a fixed one", "gravity left out"):  # fmt: skip
        assert phrase in told
    assert 'lower="-1" upper="1"' in written.text


def test_what_urdf_cannot_say_is_refused_at_once() -> None:
    with pytest.raises(ModelError) as caught:
        export_urdf(load_tree("joint_zoo"))
    kinds = " ".join(fault.got for fault in caught.value.faults)
    for kind in ("screw", "spherical", "map"):
        assert kind in kinds
    with pytest.raises(ModelError, match="flexible"):
        export_urdf(load_tree("flexible_satellite"))
