"""Keys of beams, plates and finite-element matrices: what they make, and what is refused where."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from darts_py.spec import load_tree
from darts_py.spec.spatial import body_mass, mass_properties
from darts_py.structures.beam_elements import gauss_points
from darts_py.structures.fe_files import write_elements
from darts_py.structures.section import (
    Material,
    Profile,
    _rectangle_torsion,
    section_from_shape,
)
from tests.spec.documents import MARK, faults_of
from tests.structures.meshes import beam_mesh, with_matrices

HEAD = """\
darts_model: 1
name: satellite
bodies:
  bus: {mass_kg: 100, inertia_kg_m2: [10, 12, 14]}
"""
TAIL = """\
joints:
  base: {type: free, parent: ground, child: bus}
  hinge: {type: revolute, axis: [0, 0, 1], parent: bus, child: panel, child_node: root}
"""

BEAM = """\
  panel:
    flexible:
      beam:
        length_m: 4
        direction: [0, 1, 0]
        section_y_axis: [1, 0, 0]
        root_m: [0, 0.5, 0]
        mass_kg_per_m: [[0, 2], [4, 1]]
        bending_stiffness_about_y_n_m2: [[0, 900], [2, 500], [4, 300]]
        bending_stiffness_about_z_n_m2: 800
        axial_stiffness_n: 1e6
        torsional_stiffness_n_m2: 400
        polar_inertia_kg_m: 0.02
        elements: 16
        modes: {boundary: cantilever, count: 6}
      damping_ratio: 0.005
    nodes:
      root: {position_m: [0, 0.5, 0]}
      tip: {position_m: [0, 4.5, 0], mass_kg: 2}
"""

TUBE = """\
  panel:
    flexible:
      beam:
        length_m: 4
        direction: [0, 1, 0]
        material: {young_modulus_pa: 7e10, poisson_ratio: 0.33, density_kg_m3: 2700}
        section: {shape: tube, outer_diameter_m: 0.05, wall_m: 0.002}
        modes: {boundary: cantilever, up_to_hz: 100}
      damping_n_m_s: [0, 0, 0, 0, 0, 0]
    nodes:
      root: {position_m: [0, 0, 0]}
"""

PLATE = """\
  panel:
    flexible:
      plate:
        length_m: 3
        width_m: 1.5
        direction: [0, 1, 0]
        normal: [0, 0, 1]
        thickness_m: 0.01
        young_modulus_pa: 7e9
        density_kg_m3: 400
        poisson_ratio: 0.3
        elements: [6, 4]
        modes: {boundary: cantilever, count: 5}
      damping_ratio: 0.005
    nodes:
      root: {position_m: [0, 0, 0]}
      corner: {position_m: [0.75, 3, 0]}
"""

MESH = """\
  panel:
    flexible:
      finite_elements:
        file: beam.npz
        mass: consistent
        modes: {boundary: cantilever, count: 6, inboard: root}
      damping_ratio: 0.005
    nodes:
      root: {fe_node: 10}
      tip: {fe_node: 130, mass_kg: 1}
"""


def document(body: str) -> str:
    return HEAD + body + TAIL


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_elements(tmp_path / "beam.npz", beam_mesh())
    return tmp_path


@pytest.mark.parametrize("body", [BEAM, TUBE, PLATE, MESH], ids=["beam", "tube", "plate", "mesh"])
def test_document_is_sound_and_modes_have_mass(folder: Path, body: str) -> None:
    assert faults_of(folder, document(body)) == []
    (folder / "m.yaml").write_text(document(body))
    panel = load_tree(folder / "m.yaml").bodies[1]
    M = body_mass(panel.nodes, panel.distributed)
    scale = np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(M / np.outer(scale, scale))[0] > 1e-8
    np.testing.assert_array_equal(panel.nodes[0].Pi, 0.0)
    assert panel.K.shape == panel.Dm.shape


@pytest.mark.parametrize("body", [BEAM, TUBE, PLATE, MESH], ids=["beam", "tube", "plate", "mesh"])
def test_loading_twice_gives_equal_bits(folder: Path, body: str) -> None:
    (folder / "m.yaml").write_text(document(body))
    first, second = (load_tree(folder / "m.yaml").bodies[1] for _ in range(2))
    for name in ("Mrr", "Mfr", "Mff", "C", "G", "Jr", "Z", "y"):
        a, b = getattr(first.distributed, name), getattr(second.distributed, name)
        assert a.tobytes() == b.tobytes()
    assert first.K.tobytes() == second.K.tobytes()
    assert first.Dm.tobytes() == second.Dm.tobytes()


def test_mass_of_the_whole_counts_structure_and_nodes(folder: Path) -> None:
    (folder / "m.yaml").write_text(document(BEAM))
    mass = mass_properties(load_tree(folder / "m.yaml"))
    assert mass.mass_kg == pytest.approx(100.0 + 6.0 + 2.0, rel=1e-12)
    # a linear taper from 2 to 1 kg/m over 4 m: first moment int (2 - s/4) s ds = 16 - 16/3
    moment = 6.0 * 0.5 + (16.0 - 16.0 / 3.0) + 2.0 * 4.5
    # the hinge is at the bus's origin, the root 0.5 m from the body's
    assert mass.center_of_mass_m[1] == pytest.approx((moment - 0.5 * 8.0) / 108.0, rel=1e-12)


def test_tube_has_the_properties_of_its_metal(folder: Path) -> None:
    (folder / "m.yaml").write_text(document(TUBE))
    panel = load_tree(folder / "m.yaml").bodies[1]
    A = np.pi / 4 * (0.05**2 - 0.046**2)
    I = np.pi / 64 * (0.05**4 - 0.046**4)
    assert panel.distributed is not None
    assert panel.distributed.Mrr[3, 3] == pytest.approx(2700 * A * 4.0, rel=1e-12)
    exact = (1.8751040687 / 4.0) ** 2 * np.sqrt(7e10 * I / (2700 * A))
    np.testing.assert_allclose(np.sqrt(np.diag(panel.K))[:2], exact, rtol=1e-7)
    # three in each plane: 3.0, 19.0 and 53.2 Hz
    assert panel.n_modes == 6


@pytest.mark.parametrize(
    ("section", "A", "Iy", "Iz"),
    [
        (
            "{shape: rectangle, width_y_m: 0.02, height_z_m: 0.05}",
            1e-3,
            0.02 * 0.05**3 / 12,
            0.05 * 0.02**3 / 12,
        ),
        ("{shape: circle, diameter_m: 0.04}", np.pi * 4e-4, np.pi * 4e-8, np.pi * 4e-8),
        (
            "{shape: box, width_y_m: 0.04, height_z_m: 0.06, wall_m: 0.002}",
            0.04 * 0.06 - 0.036 * 0.056,
            (0.04 * 0.06**3 - 0.036 * 0.056**3) / 12,
            (0.06 * 0.04**3 - 0.056 * 0.036**3) / 12,
        ),
    ],
)
def test_shapes_have_their_areas_and_moments(
    folder: Path, section: str, A: float, Iy: float, Iz: float
) -> None:
    shape = "{shape: tube, outer_diameter_m: 0.05, wall_m: 0.002}"
    modes = "modes: {boundary: cantilever, bending_about_y: 1, bending_about_z: 1}"
    text = TUBE.replace(shape, section).replace(
        "modes: {boundary: cantilever, up_to_hz: 100}", modes
    )
    text = text.replace("damping_n_m_s: [0, 0, 0, 0, 0, 0]", "damping_ratio: 0")
    axes = "direction: [0, 1, 0]\n        section_y_axis: [1, 0, 0]\n"
    text = text.replace("direction: [0, 1, 0]\n", axes)
    (folder / "m.yaml").write_text(document(text))
    panel = load_tree(folder / "m.yaml").bodies[1]
    exact = sorted((1.8751040687 / 4.0) ** 4 * 7e10 * I / (2700 * A) for I in (Iy, Iz))
    np.testing.assert_allclose(np.diag(panel.K), exact, rtol=1e-7)


def test_square_torsion_constant_is_saint_venants() -> None:
    """0.1406 a^4 for a square, a c^3 / 3 for a thin strip (Timoshenko & Goodier)."""
    one, thin = np.array([1.0]), np.array([1e-3])
    assert _rectangle_torsion(one, one)[0] == pytest.approx(0.1406, abs=5e-5)
    assert _rectangle_torsion(one, thin)[0] == pytest.approx(1e-9 / 3.0, rel=1e-3)


TAPERS = {
    "rectangle": {"width_y_m": (0.1, 0.03), "height_z_m": (0.05, 0.08)},
    "box": {"width_y_m": (0.1, 0.03), "height_z_m": (0.05, 0.08), "wall_m": (0.002, 0.001)},
    "circle": {"diameter_m": (0.1, 0.0)},
    "tube": {"outer_diameter_m": (0.1, 0.03), "wall_m": (0.002, 0.001)},
}


@pytest.mark.parametrize("shape", TAPERS)
def test_quadrature_of_tapers_is_exact_but_for_torsion_of_flat_sections(shape: str) -> None:
    """One element with degree 11 against many: exact for polynomials, and they alone."""
    sizes = {key: Profile(np.array([0.0, 4.0]), np.array(v)) for key, v in TAPERS[shape].items()}
    section = section_from_shape(Material(1.0, 1.0, 1.0), shape, sizes, True)

    def integrals(elements: int) -> dict[str, float]:
        s, weight = gauss_points(np.linspace(0.0, 4.0, elements + 1))
        return {key: float(weight @ v) for key, v in section.values(s).stiffness.items()}

    one, some, exact = integrals(1), integrals(16), integrals(512)
    for key, value in exact.items():
        polynomial = key != "torsion" or shape in ("circle", "tube")
        assert one[key] == pytest.approx(value, rel=2e-15 if polynomial else 1e-5)
        assert some[key] == pytest.approx(value, rel=4e-15 if polynomial else 1e-11)
        assert polynomial or abs(one[key] / value - 1.0) > 1e-13


def test_damping_ratio_is_that_of_every_mode(folder: Path) -> None:
    (folder / "m.yaml").write_text(document(MESH))
    panel = load_tree(folder / "m.yaml").bodies[1]
    M = body_mass(panel.nodes, panel.distributed)[:6, :6]
    L = np.linalg.cholesky(M)
    inverse = np.linalg.solve(L, np.eye(6))
    K, D = (inverse @ A @ inverse.T for A in (panel.K, panel.Dm))
    np.testing.assert_allclose(D @ D, 4.0 * 0.005**2 * K, atol=1e-9 * np.abs(K).max())


B, P, F = (
    "bodies.panel.flexible.beam",
    "bodies.panel.flexible.plate",
    "bodies.panel.flexible.finite_elements",
)

# body, what to replace, by what (the mark is where the fault must be), path, words of the message
REFUSED = {
    "beam without modes": (
        BEAM,
        "        modes: {boundary: cantilever, count: 6}\n",
        "",
        B + ".modes",
        "the key 'modes'",
    ),
    "two choices": (
        BEAM,
        "modes: {boundary: cantilever, count: 6}",
        "modes: @@{boundary: cantilever, count: 6, up_to_hz: 3}",
        B + ".modes",
        "one of count, up_to_hz",
    ),
    "no choice": (
        BEAM,
        "modes: {boundary: cantilever, count: 6}",
        "modes: @@{boundary: cantilever}",
        B + ".modes",
        "one of count, up_to_hz",
    ),
    "boundary unknown": (
        BEAM,
        "boundary: cantilever",
        "boundary: @@clamped",
        B + ".modes.boundary",
        "'cantilever'",
    ),
    "count of half": (BEAM, "count: 6", "count: @@2.5", B + ".modes.count", "a whole number"),
    "count of none": (
        BEAM,
        "modes: {boundary: cantilever, count: 6}",
        "modes: @@{boundary: cantilever, count: 0}",
        B + ".modes",
        "at least one mode",
    ),
    "unknown inboard": (
        BEAM,
        "count: 6}",
        "count: 6, inboard: @@rot}",
        B + ".modes.inboard",
        "did you mean 'root'",
    ),
    "unknown interface": (
        BEAM,
        "cantilever, count: 6}",
        "craig_bampton, count: 6, interfaces: [@@tp]}",
        B + ".modes.interfaces[0]",
        "did you mean 'tip'",
    ),
    "interface of cantilever": (
        BEAM,
        "modes: {boundary: cantilever, count: 6}",
        "modes: @@{boundary: cantilever, count: 6, interfaces: [tip]}",
        B + ".modes",
        "only craig_bampton",
    ),
    "stations too short": (
        BEAM,
        "mass_kg_per_m: [[0, 2], [4, 1]]",
        "@@mass_kg_per_m: [[0, 2], [3, 1]]",
        B + ".mass_kg_per_m",
        "from 0 to the length, 4 m",
    ),
    "stations backwards": (
        BEAM,
        "bending_stiffness_about_y_n_m2: [[0, 900], [2, 500]",
        "@@bending_stiffness_about_y_n_m2: [[0, 900], [5, 500]",
        B + ".bending_stiffness_about_y_n_m2",
        "increasing stations",
    ),
    "negative stiffness": (
        BEAM,
        "bending_stiffness_about_z_n_m2: 800",
        "bending_stiffness_about_z_n_m2: @@-800",
        B + ".bending_stiffness_about_z_n_m2",
        "> 0",
    ),
    "zero inside": (
        BEAM,
        "bending_stiffness_about_y_n_m2: [[0, 900], [2, 500]",
        "@@bending_stiffness_about_y_n_m2: [[0, 900], [2, 0]",
        B + ".bending_stiffness_about_y_n_m2",
        "zero at an end",
    ),
    "no mass": (BEAM, "        mass_kg_per_m: [[0, 2], [4, 1]]\n", "", B, "mass_kg_per_m"),
    "torsion without inertia": (
        BEAM,
        "        polar_inertia_kg_m: 0.02\n",
        "",
        B,
        "polar_inertia_kg_m",
    ),
    "shape and properties": (
        TUBE,
        "wall_m: 0.002}\n",
        "wall_m: 0.002}\n        mass_kg_per_m: 2\n",
        B,
        "either properties or material",
    ),
    "material alone": (
        TUBE,
        "        section: {shape: tube, outer_diameter_m: 0.05, wall_m: 0.002}\n",
        "",
        B,
        "the key 'section'",
    ),
    "thick wall": (TUBE, "wall_m: 0.002", "@@wall_m: 0.03", B + ".section.wall_m", "at most half"),
    "unknown shape": (
        TUBE,
        "section: {shape: tube",
        "section: @@{shape: tub",
        B + ".section",
        "rectangle, box, circle or tube",
    ),
    "both shears": (
        TUBE,
        "material: {",
        "material: @@{shear_modulus_pa: 2e10, ",
        B + ".material",
        "one of shear_modulus_pa and poisson_ratio",
    ),
    "node beside": (
        BEAM,
        "tip: {position_m: [0, 4.5, 0]",
        "@@tip: {position_m: [0, 4.6, 0]",
        "bodies.panel.nodes.tip",
        "a point on its axis",
    ),
    "node without place": (
        BEAM,
        "tip: {position_m: [0, 4.5, 0], mass_kg: 2}",
        "@@tip: {mass_kg: 2}",
        "bodies.panel.nodes.tip.position_m",
        "position_m",
    ),
    "no nodes": (
        BEAM,
        "    nodes:\n      root: {position_m: [0, 0.5, 0]}\n"
        "      tip: {position_m: [0, 4.5, 0], mass_kg: 2}\n",
        "",
        "bodies.panel.nodes",
        "the key 'nodes'",
    ),
    "analytic taper": (
        BEAM,
        "        elements: 16\n",
        "        @@method: analytic\n",
        B + ".method",
        "a uniform beam",
    ),
    "too many elements": (BEAM, "elements: 16", "elements: 5000", B, "at most 2000"),
    "inertia without mass": (
        BEAM,
        "tip: {position_m: [0, 4.5, 0], mass_kg: 2}",
        "tip: @@{position_m: [0, 4.5, 0], inertia_kg_m2: [1, 1, 1]}",
        "bodies.panel.nodes.tip",
        "mass where there is inertia",
    ),
    "no damping": (
        BEAM,
        "      damping_ratio: 0.005\n",
        "",
        "bodies.panel.flexible",
        "one of damping_n_m_s and damping_ratio",
    ),
    "modes at a node": (
        BEAM,
        "tip: {position_m: [0, 4.5, 0], mass_kg: 2}",
        "tip: {position_m: [0, 4.5, 0], @@modes: []}",
        "bodies.panel.nodes.tip.modes",
        "unknown key",
    ),
    "two sources": (
        BEAM,
        "      damping_ratio: 0.005\n",
        "      damping_ratio: 0.005\n      @@plate: {}\n",
        "bodies.panel.flexible.plate",
        "unknown key",
    ),
    "plate with half a make": (
        PLATE,
        "        thickness_m: 0.01\n",
        "",
        P,
        "bending_stiffness_n_m and areal_mass_kg_m2",
    ),
    "plate askew": (PLATE, "normal: [0, 0, 1]", "normal: [0, 0.1, 1]", P, "right angles"),
    "plate too fine": (PLATE, "elements: [6, 4]", "elements: [6, 41]", P, "at most 40"),
    "node off the plate": (
        PLATE,
        "corner: {position_m: [0.75, 3, 0]}",
        "@@corner: {position_m: [0.8, 3, 0]}",
        "bodies.panel.nodes.corner",
        "a point on its middle plane",
    ),
    "unknown point": (
        PLATE,
        "count: 5}",
        "count: 5, inboard_points: [root, @@edge]}",
        P + ".modes.inboard_points[1]",
        "unknown node 'edge'",
    ),
    "poisson's ratio": (
        PLATE,
        "poisson_ratio: 0.3",
        "poisson_ratio: @@0.6",
        P + ".poisson_ratio",
        "between -1 and 0.5",
    ),
    "section along the beam": (
        BEAM,
        "section_y_axis: [1, 0, 0]",
        "section_y_axis: [0, -3, 0]",
        B,
        "an axis across the beam",
    ),
    "free-free held": (
        BEAM,
        "modes: {boundary: cantilever, count: 6}",
        "modes: @@{boundary: free_free, count: 6, inboard: root}",
        B + ".modes",
        "free_free modes hold nothing",
    ),
    "free-free plate held": (
        PLATE,
        "{boundary: cantilever, count: 5}",
        "{boundary: free_free, count: 5, inboard_points: [root]}",
        P,
        "free_free modes hold nothing",
    ),
    "no unit": (
        MESH,
        "mass: consistent",
        "length_unit_m: @@0",
        F + ".length_unit_m",
        "> 0",
    ),
    "unresolved modes": (
        MESH,
        "count: 6, ",
        "@@count: 60, ",
        F + ".modes.count",
        "modes that the mesh resolves",
    ),
    "unresolved plate": (
        PLATE,
        "elements: [6, 4]\n        modes: {boundary: cantilever, count: 5}",
        "@@elements: [6, 4]\n        modes: {boundary: cantilever, count: 60}",
        P + ".elements",
        "modes that the mesh resolves",
    ),
    "no file": (MESH, "file: beam.npz", "@@file: bem.npz", F + ".file", "no file"),
    "file of another kind": (
        MESH,
        "file: beam.npz",
        "@@file: beam.mat",
        F + ".file",
        "a file of type",
    ),
    "half of the files": (
        MESH,
        "        file: beam.npz\n",
        "        mass_file: beam.npz\n",
        F,
        "stiffness_file",
    ),
    "no inboard node": (MESH, ", inboard: root}", "}", F, "modes.inboard"),
    "unknown mesh node": (
        MESH,
        "tip: {fe_node: 130",
        "@@tip: {fe_node: 131",
        "bodies.panel.nodes.tip",
        "one of the 13 nodes",
    ),
    "node number": (
        MESH,
        "fe_node: 130",
        "fe_node: @@-1",
        "bodies.panel.nodes.tip.fe_node",
        "a whole number",
    ),
    "two kinds of node": (
        MESH,
        "tip: {fe_node: 130, mass_kg: 1}",
        "tip: @@{fe_node: 130, fe_nodes: [1]}",
        "bodies.panel.nodes.tip",
        "one of fe_node and fe_nodes",
    ),
    "node twice": (
        MESH,
        "tip: {fe_node: 130, mass_kg: 1}",
        "tip: @@{fe_nodes: [130, 130]}",
        "bodies.panel.nodes.tip",
        "each node once",
    ),
    "mass unknown": (MESH, "mass: consistent", "mass: @@diagonal", F + ".mass", "'consistent'"),
    "more modes than freedoms": (
        MESH,
        "count: 6, ",
        "@@count: 100, ",
        F + ".modes.count",
        "at most 72",
    ),
    "nastran without nodes": (
        MESH,
        "        file: beam.npz\n",
        "        mass_file: m.op4\n        stiffness_file: k.op4\n        @@nodes_file: n.bdf\n",
        F + ".nodes_file",
        "no file",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_its_place(folder: Path, case: str) -> None:
    body, old, new, path, words = REFUSED[case]
    assert body.count(old) == 1, "the test itself"
    marked = document(body.replace(old, new))
    at = marked.find(MARK)
    faults = faults_of(folder, marked.replace(MARK, ""))
    here = [fault for fault in faults if fault.path == path and words in str(fault)]
    assert here, [str(fault) for fault in faults]
    if at >= 0:
        before = marked[:at]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        assert (here[0].line, here[0].column) == (line, column), str(here[0])


def test_faults_of_several_keys_come_at_once(folder: Path) -> None:
    text = document(BEAM).replace("length_m: 4", "length_m: -4").replace("count: 6", "count: x")
    text = text.replace("axial_stiffness_n: 1e6", "axial_stifness_n: 1e6")
    paths = {fault.path for fault in faults_of(folder, text)}
    assert {B + ".length_m", B + ".modes.count", B + ".axial_stifness_n"} <= paths


def test_rigid_motion_among_modes_is_still_refused(folder: Path) -> None:
    """A free-free body on a joint whose motion none of its modes is: sound, all three ways."""
    for boundary in ("free_free", "craig_bampton"):
        text = document(BEAM).replace("boundary: cantilever", f"boundary: {boundary}")
        assert faults_of(folder, text) == []


@pytest.mark.parametrize("key", ["mass", "stiffness"])
def test_fault_of_a_matrix_names_it_whatever_its_file(folder: Path, key: str) -> None:
    model = beam_mesh()
    name = "K" if key == "stiffness" else "M"
    A = getattr(model, name).toarray()
    A[0, 5] *= 1.5
    A[0, 5] += 1.0
    write_elements(folder / "beam.npz", with_matrices(model, **{name: A}))
    (fault,) = faults_of(folder, document(MESH))
    assert fault.path == F + ".file"
    assert f"got in the {key} matrix: entries" in str(fault)
    apart = "mass_file: beam.npz\n        stiffness_file: beam.npz\n        nodes_file: beam.npz"
    (fault,) = faults_of(folder, document(MESH.replace("file: beam.npz", apart)))
    assert fault.path == f"{F}.{key}_file"
