"""Shipped models: found, sound, and equal to what they are said to be."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from darts_py.errors import ArgumentError
from darts_py.multibody.names import coordinate_names, speed_names
from darts_py.multibody.tree import Tree
from darts_py.spec import (
    check_file,
    find_model,
    list_models,
    load_tree,
    model_json_schema,
    shipped,
)
from darts_py.spec.document import read_document
from darts_py.spec.joints import JOINT_TYPES
from darts_py.spec.spatial import mass_properties, modal_mass
from tests.reference import golden
from tests.reference.twin import Twin

ROOT = Path(__file__).resolve().parents[2]
MODELS = [
    "arm_satellite",
    "bricard",
    "double_pendulum",
    "flexible_satellite",
    "four_bar",
    "free_free_boom",
    "golden",
    "joint_zoo",
    "structural_satellite",
]


def read(name: str) -> Any:
    """Return a model's document; YAML 1.1 would take 2e-5 for a word."""
    value, faults = read_document(find_model(name).read_bytes(), name)
    assert value is not None
    assert not faults
    return value.data


def test_models_are_listed() -> None:
    assert set(MODELS) <= set(list_models())


@pytest.mark.parametrize("name", MODELS)
def test_shipped_model_is_sound(name: str) -> None:
    assert check_file(name) == []
    assert load_tree(name).name == name


@pytest.mark.parametrize("name", MODELS)
def test_shipped_model_meets_the_json_schema(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(model_json_schema()).validate(read(name))


def test_json_schema_is_valid_and_refuses() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    document = read("golden")
    document["bodies"]["pendulum"]["mas_kg"] = 3
    assert not jsonschema.Draft202012Validator(schema).is_valid(document)


def test_json_schema_describes_its_keys() -> None:
    schema = model_json_schema()
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["properties"]["gravity_m_s2"]["description"]
    joint = schema["$defs"]["RevoluteJoint"]["properties"]
    assert joint["parent_rotation"]["description"]
    assert "damping_n_m_s_per_rad" in joint


def test_golden_model_is_the_golden_case() -> None:
    """The numbers of the equation sheet's golden case, one by one."""
    tree = load_tree("golden")
    base, pendulum, slider = tree.bodies
    np.testing.assert_array_equal(tree.gravity, [0, 0, -9.81])
    np.testing.assert_array_equal(base.K, np.diag([100, 150]))
    np.testing.assert_array_equal(base.Dm, np.diag([0.5, 0.4]))
    root, tip = base.nodes
    assert (root.m, tip.m) == (2.0, 1.0)
    np.testing.assert_array_equal(root.Jc, np.diag([0.1, 0.2, 0.3]))
    np.testing.assert_array_equal(root.Pi.T, [[0, 0, 0.1, 0, 0.05, 0], [0, 0.1, 0, 0, 0, 0.02]])
    np.testing.assert_array_equal(tip.r, [1, 0, 0])
    np.testing.assert_array_equal(tip.Pi.T, [[0, 0, 0.3, 0, 0.2, 0], [0, -0.3, 0, 0, 0, 0.25]])
    np.testing.assert_array_equal(tip.Jc, 0.05 * np.eye(3))
    # the mass of the sheet's node 2 sits on the origin node, at the same place
    assert pendulum.nodes[0].m == 1.5
    np.testing.assert_allclose(pendulum.nodes[0].p, [0, 0, 0.5 + 0.1], rtol=1e-15)
    np.testing.assert_array_equal(pendulum.nodes[0].Jc, np.diag([0.2, 0.2, 0.1]))
    np.testing.assert_array_equal(pendulum.nodes[1].r, [0, 0, 0.5])
    assert (slider.nodes[0].m, slider.nodes[1].m) == (0.5, 0.8)
    np.testing.assert_array_equal(slider.nodes[0].Pi, np.zeros((6, 1)))
    np.testing.assert_array_equal(slider.nodes[1].Pi[:, 0], [0.5, 0, 0, 0, 0, 0.3])
    np.testing.assert_array_equal(slider.nodes[1].r, [0, 0.4, 0])
    assert (slider.K, slider.Dm) == (80.0, 0.1)


def test_golden_joints_are_those_of_the_golden_case() -> None:
    tree = load_tree("golden")
    first, second, third = tree.joints
    assert [joint.parent for joint in tree.joints] == [-1, 0, 0]
    assert [joint.parent_node for joint in tree.joints] == [0, 1, 1]
    np.testing.assert_array_equal(first.stages[0].H[:, 0], [0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(second.stages[0].H[:, 0], [1, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(second.stages[1].H[:, 0], [0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(second.o_t, [0.1, 0, 0])
    np.testing.assert_array_equal(third.stages[0].H[:, 0], [0, 0, 0, 0, 1, 0])
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    np.testing.assert_allclose(third.R_pO, [[c, -s, 0], [s, c, 0], [0, 0, 1]], atol=1e-16)


def test_golden_composite_masses_agree_with_the_sheet() -> None:
    """Entries of M that do not depend on the state."""
    tree = load_tree("golden")
    pendulum, slider = modal_mass(tree.bodies[1].nodes), modal_mass(tree.bodies[2].nodes)
    assert pendulum[1, 1] == pytest.approx(0.74, rel=1e-12)
    assert slider[0, 0] == pytest.approx(0.077, rel=1e-12)
    assert slider[5, 5] == pytest.approx(1.3, rel=1e-12)


def test_golden_model_has_the_mass_matrix_of_the_sheet() -> None:
    """By brute force, without any of the loader's own algebra."""
    M = Twin(load_tree("golden")).mass_matrix(golden.Q)
    np.testing.assert_allclose(M, golden.mass_matrix(), atol=1e-10)


def test_zoo_has_every_joint_type() -> None:
    tree = load_tree("joint_zoo")
    assert {joint.kind for joint in tree.joints} == set(JOINT_TYPES)


def test_zoo_joint_elements_reach_the_tree() -> None:
    joints = {joint.name: joint for joint in load_tree("joint_zoo").joints}
    assert joints["bolt"].n_speeds == 0
    assert joints["parking"].locked
    hinge = joints["hinge"]
    assert hinge.stiffness == [3.0]
    assert (hinge.rest, hinge.damping) == ([0.1], [0.02])
    assert (hinge.lower, hinge.upper) == ([-1.0], [1.2])
    assert (hinge.stop_stiffness, hinge.stop_damping) == ([500.0], [1.0])
    assert joints["slide"].lower == [-np.inf]
    np.testing.assert_array_equal(joints["ball"].stiffness, [0.5] * 3)
    np.testing.assert_array_equal(joints["drifting"].stiffness, [0, 0, 0, 0, 0, 5])
    np.testing.assert_array_equal(joints["drifting"].damping, [0.01] * 3 + [0, 0, 0.1])
    np.testing.assert_array_equal(joints["cam"].stiffness, [0, 8])
    np.testing.assert_array_equal(joints["gimbal"].damping, [0.01, 0, 0])
    assert joints["thread"].stages[0].H[4, 0] == 0.02
    assert joints["thread"].stiffness is None
    R = joints["hinge"].R_pO
    np.testing.assert_allclose(R, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-15)


def names_fit(tree: Tree) -> None:
    for joint, body, q, u in zip(
        tree.joints, tree.bodies, coordinate_names(tree), speed_names(tree), strict=True
    ):
        assert len(q) == len(set(q)) == body.n_modes + joint.n_coords
        assert len(u) == len(set(u)) == body.n_modes + joint.n_speeds


@pytest.mark.parametrize("name", MODELS)
def test_every_coordinate_and_speed_has_its_own_name(name: str) -> None:
    names_fit(load_tree(name))


def test_satellite_has_twenty_speeds() -> None:
    assert sum(len(names) for names in speed_names(load_tree("arm_satellite"))) == 20


def make_modes():
    spec = importlib.util.spec_from_file_location("make_modes", ROOT / "models" / "make_modes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["panel", "boom"])
def test_modal_data_are_what_their_generator_makes(name: str) -> None:
    made = getattr(make_modes(), name)()
    with np.load(ROOT / "models" / f"{name}.npz") as stored:
        assert set(stored.files) == set(made)
        for key, array in made.items():
            if key == "names":
                assert stored[key].tolist() == array.tolist()
            else:
                np.testing.assert_allclose(stored[key], array, rtol=1e-7, atol=1e-8)


def test_panel_modes_are_cantilever_modes_of_a_20_kg_panel() -> None:
    panel = load_tree("flexible_satellite").bodies[1]
    assert sum(node.m for node in panel.nodes) == pytest.approx(20.0)
    np.testing.assert_allclose(modal_mass(panel.nodes)[:6, :6], np.eye(6), atol=1e-12)
    np.testing.assert_array_equal(panel.nodes[0].Pi, np.zeros((6, 6)))
    frequency = np.sqrt(np.diag(panel.K)) / (2 * np.pi)
    assert 0.3 < frequency[0] < 1.0
    # a uniform beam of 4 m, 5 kg/m, EI = 1020 N m2: 0.5 Hz and 6.27 times that
    assert frequency[0] == pytest.approx(1.8751**2 / (2 * np.pi) * np.sqrt(1020 / 5) / 16, rel=0.01)
    assert frequency[2] / frequency[0] == pytest.approx(6.267, rel=0.02)


def test_boom_modes_are_free_free() -> None:
    boom = load_tree("free_free_boom").bodies[1]
    M = modal_mass(boom.nodes)
    np.testing.assert_allclose(M[:3, :3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(M[:3, 3:], 0.0, atol=1e-11)  # Mfr = 0
    assert np.abs(boom.nodes[0].Pi).max() > 0.1
    frequency = np.sqrt(boom.K[0, 0]) / (2 * np.pi)
    assert frequency == pytest.approx(4.730**2 / (2 * np.pi) * np.sqrt(900 / 2) / 36, rel=0.05)


def test_mass_properties_of_the_double_pendulum() -> None:
    mass = mass_properties(load_tree("double_pendulum"))
    assert mass.mass_kg == 2.0
    np.testing.assert_allclose(mass.center_of_mass_m, [0, 0, -1])
    J = 2 * (0.0834 + 0.25)
    np.testing.assert_allclose(mass.inertia_kg_m2, np.diag([J, J, 4e-4]), atol=1e-12)


def test_find_model_takes_paths_before_names(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_model("golden").name == "golden.yaml"
    (tmp_path / "golden").write_text("x: 1")
    assert find_model("golden") == Path("golden")


def test_models_are_found_in_an_installed_wheel(tmp_path: Path, monkeypatch) -> None:
    inside = tmp_path / "_shipped" / "models"
    inside.mkdir(parents=True)
    (inside / "golden.yaml").write_bytes(find_model("golden").read_bytes())
    monkeypatch.setattr(shipped, "_FOLDERS", (tmp_path / "models", inside))
    assert list_models() == ["golden"]
    assert load_tree("golden").name == "golden"


def test_find_model_suggests() -> None:
    with pytest.raises(ArgumentError, match="did you mean 'golden'"):
        find_model("goldn")
    with pytest.raises(ArgumentError, match="shipped models: arm_satellite"):
        find_model("nowhere/qqq.yaml")
    with pytest.raises(ArgumentError, match="a folder"):
        find_model(ROOT / "models")


def test_readme_lists_every_shipped_model() -> None:
    page = (ROOT / "models" / "README.md").read_text()
    listed = re.findall(r"^\| `(\w+)\.yaml` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(list_models())
