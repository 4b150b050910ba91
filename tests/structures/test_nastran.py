"""NASTRAN files through pyNastran: matrices and grids come back as they were.

Runs in the environment that tools/fe makes: pyNastran wants an older NumPy.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from darts_py.cli.app import app
from darts_py.spec import check_file, load_tree
from darts_py.structures.beam_elements import BeamElements
from darts_py.structures.fe_files import read_elements, read_mesh
from darts_py.structures.matrix_files import MatrixSource, read_matrix
from darts_py.structures.refusal import StructureError
from tests.structures.beams import constant_section
from tests.structures.meshes import TO_FILE
from tests.structures.nastran_files import binary_op4_file, op2_file

pytestmark = pytest.mark.fe

try:
    import pyNastran
    from pyNastran.bdf.bdf import BDF
    from pyNastran.op2.result_objects.matrix import Matrix
    from pyNastran.op4.op4 import OP4
except ImportError:
    pytest.skip(
        "pyNastran is not installed: NOTHING here was read with it; run tools/fe",
        allow_module_level=True,
    )

ELEMENTS = 6
NODES = np.arange(10, 10 * (ELEMENTS + 2), 10)


def beam_matrices() -> dict[str, np.ndarray]:
    """A beam of unit elements whose entries have few digits, so that eleven of a punch hold them.

    Consistent mass of an element has 420 below the line, hence 4.2 kg/m.
    """
    section = constant_section(4.2, (0.03, 0.0, 0.0))
    mesh = BeamElements(np.arange(ELEMENTS + 1.0), section)
    order = (6 * np.arange(ELEMENTS + 1)[:, None] + TO_FILE).ravel()
    return {
        name: np.round(A[order][:, order].toarray(), 9)
        for name, A in (("KGG", mesh.K), ("MGG", mesh.M))
    }


def positions() -> np.ndarray:
    return np.stack([np.arange(ELEMENTS + 1.0), np.zeros(7), np.full(7, 2.0)], axis=1)


def bulk() -> BDF:
    """GRIDs in a moved and turned coordinate system: x is basic x, origin at z = 2."""
    model = BDF(debug=False)
    model.add_cord2r(5, [0.0, 0.0, 2.0], [0.0, 0.0, 3.0], [1.0, 0.0, 2.0])
    for number, r in zip(NODES.tolist(), positions(), strict=True):
        model.add_grid(number, (r - [0.0, 0.0, 2.0]).tolist(), cp=5)
    return model


def labels() -> list[tuple[int, int]]:
    return [(int(node), component) for node in NODES for component in range(1, 7)]


def write_bulk(file: Path) -> Path:
    bulk().write_bdf(str(file), size=16, is_double=True)
    return file


def write_op4(file: Path, sparse: bool) -> Path:
    matrices = {
        name: Matrix(name, "symmetric", data=sp.coo_matrix(A) if sparse else A)
        for name, A in beam_matrices().items()
    }
    OP4(log=None, debug=False).write_op4(
        str(file), matrices, name_order=list(matrices), precision="double", is_binary=False
    )
    return file


def write_punch(file: Path) -> Path:
    """DMIG of one triangle, as NASTRAN's EXTSEOUT(DMIGPCH) writes a symmetric matrix."""
    model, rows = BDF(debug=False), labels()
    for name, A in beam_matrices().items():
        i, j = np.nonzero(np.tril(A))
        model.add_dmig(
            name, 6, 2, 0, 0, 0, [rows[k] for k in j], [rows[k] for k in i], A[i, j].tolist()
        )
    model.write_bdf(str(file), size=16, is_double=True)
    return file


def write_matrices(kind: str, folder: Path) -> Path:
    if kind == "punch":
        return write_punch(folder / "beam.pch")
    if kind == "op2":
        (folder / "beam.op2").write_bytes(op2_file(beam_matrices()))
        return folder / "beam.op2"
    if kind == "op4 binary":
        (folder / "beam.op4").write_bytes(binary_op4_file(beam_matrices()))
        return folder / "beam.op4"
    return write_op4(folder / "beam.op4", sparse=kind == "op4 sparse")


KINDS = ["op4 dense", "op4 sparse", "op4 binary", "op2", "punch"]


@pytest.mark.parametrize("kind", KINDS)
def test_matrices_come_back(tmp_path: Path, kind: str) -> None:
    file = write_matrices(kind, tmp_path)
    model = read_elements(
        MatrixSource(file, "KGG"), MatrixSource(file, "MGG"), write_bulk(tmp_path / "beam.bdf")
    )
    exact = beam_matrices()
    for found, A in ((model.K, exact["KGG"]), (model.M, exact["MGG"])):
        np.testing.assert_allclose(found.toarray(), A, rtol=1e-12, atol=1e-12 * np.abs(A).max())
    np.testing.assert_array_equal(model.node_id, NODES)
    np.testing.assert_allclose(model.position, positions(), atol=1e-12)
    np.testing.assert_array_equal(model.node_id[model.node], [node for node, _ in labels()])
    np.testing.assert_array_equal(model.component + 1, [component for _, component in labels()])


MODEL = """\
darts_model: 1
name: nastran
bodies:
  boom:
    flexible:
      finite_elements:
        mass_file: {file}
        mass_name: MGG
        stiffness_file: {file}
        stiffness_name: KGG
        nodes_file: beam.bdf
        modes: {{boundary: cantilever, count: 8, inboard: root}}
      damping_ratio: 0.01
    nodes:
      root: {{fe_node: 10}}
      tip: {{fe_node: 70}}
joints:
  mount: {{type: revolute, axis: [1, 0, 0], parent: ground, child: boom, child_node: root}}
"""


@pytest.mark.parametrize("kind", KINDS)
def test_model_file_takes_nastran_files(tmp_path: Path, kind: str) -> None:
    """The body is the one that the same matrices in an .npz give."""
    file = write_matrices(kind, tmp_path)
    write_bulk(tmp_path / "beam.bdf")
    model = tmp_path / "model.yaml"
    model.write_text(MODEL.format(file=file.name))
    assert check_file(model) == []
    found = load_tree(model).bodies[0]
    exact = beam_matrices()
    arrays = {"stiffness": exact["KGG"], "mass": exact["MGG"]}
    nodes = {"node_id": NODES, "position_m": positions(), "dofs_per_node": 6}
    np.savez(tmp_path / "beam.npz", **arrays, **nodes)
    head, tail = MODEL.split("        mass_file")[0], MODEL.split("beam.bdf\n")[1]
    model.write_text((head + "        file: beam.npz\n" + tail).format())
    twin = load_tree(model).bodies[0]
    np.testing.assert_allclose(found.K, twin.K, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.nodes[1].Pi, twin.nodes[1].Pi, atol=1e-9)


def test_reader_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for kind in KINDS:
        file = write_matrices(kind, tmp_path)
        write_bulk(tmp_path / "beam.bdf")
        capfd.readouterr()
        read_matrix(MatrixSource(file, "KGG"), "stiffness")
        read_mesh(tmp_path / "beam.bdf", "nodes")
        assert capfd.readouterr() == ("", "")


def test_reader_says_nothing_of_damaged_files_either(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for suffix in (".op2", ".op4", ".pch", ".bdf"):
        file = tmp_path / f"broken{suffix}"
        for raw in (bytes(range(256)) * 4, b"GRID,1,,x,0.,0.\n", b"GRID,1\nGRID,1,,2.\n"):
            file.write_bytes(raw)
            matrix = suffix != ".bdf"
            with pytest.raises(StructureError) as caught:
                read_matrix(MatrixSource(file, "KGG"), "k") if matrix else read_mesh(file, "n")
            assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_wrong_name_lists_those_there_are(tmp_path: Path) -> None:
    for kind in KINDS:
        file = write_matrices(kind, tmp_path)
        with pytest.raises(StructureError, match=r"one of KGG, MGG .hint: mass_name says which"):
            read_matrix(MatrixSource(file, "MAA"), "mass")


@pytest.mark.parametrize("suffix", [".op4", ".op2", ".pch", ".bdf"])
def test_damaged_file_is_a_refusal(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"broken{suffix}"
    file.write_bytes(bytes(range(256)) * 4)
    matrix = suffix != ".bdf"
    with pytest.raises(StructureError, match="broken"):
        read_matrix(MatrixSource(file, "KGG"), "mass") if matrix else read_mesh(file, "nodes")


def test_freedoms_in_another_system_are_refused(tmp_path: Path) -> None:
    model = bulk()
    model.nodes[20].cd = 5
    model.write_bdf(str(tmp_path / "turned.bdf"))
    with pytest.raises(StructureError, match="GRID 20 with freedoms in coordinate system 5"):
        read_mesh(tmp_path / "turned.bdf", "nodes")


BULK = """\
CORD2R,5,,0.,0.,2.,0.,0.,3.
,1.,0.,2.
GRID,1,5,1.,0.,0.
GRID,2,,0.,1.,0.
"""


@pytest.mark.parametrize(
    "text",
    [
        BULK,
        "$ BEGIN BULK is only spoken of\n" + BULK,
        "BEGIN BULK\n" + BULK + "ENDDATA\n",
        "SOL 103\nCEND\nBEGIN BULK\n" + BULK + "ENDDATA\nGRID,3,,7.,7.,7.\n",
        "GRDSET,,,,,,,345\n" + BULK,
        BULK + "CQUAD4,1,1,1,2,8,9\nUNKNOWN,1,2\n",
    ],
    ids=["bare", "remark", "begin", "whole", "grdset of constraints", "other cards"],
)
def test_bulk_data_is_found_with_or_without_what_goes_before(tmp_path: Path, text: str) -> None:
    (tmp_path / "n.bdf").write_text(text)
    mesh = read_mesh(tmp_path / "n.bdf", "nodes")
    np.testing.assert_array_equal(mesh.node_id, [1, 2])
    np.testing.assert_allclose(mesh.position, [[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]], atol=1e-15)


def test_grids_in_a_system_of_three_grids(tmp_path: Path) -> None:
    text = (
        "CORD1R,5,1,2,3\nGRID,1,,0.,0.,1.\nGRID,2,,0.,0.,2.\nGRID,3,,0.,1.,1.\nGRID,4,5,3.,0.,0.\n"
    )
    (tmp_path / "n.bdf").write_text(text)
    np.testing.assert_allclose(
        read_mesh(tmp_path / "n.bdf", "nodes").position[3], [0.0, 3.0, 1.0], atol=1e-15
    )


@pytest.mark.parametrize("card", ["GRDSET,,5\n", "GRDSET,,,,,,5\n"])
def test_default_systems_are_refused(tmp_path: Path, card: str) -> None:
    (tmp_path / "n.bdf").write_text(card + BULK)
    with pytest.raises(StructureError, match="a GRDSET with coordinate systems"):
        read_mesh(tmp_path / "n.bdf", "nodes")


def test_includes_are_not_followed(tmp_path: Path) -> None:
    """A bulk file reads no other file."""
    write_bulk(tmp_path / "other.bdf")
    (tmp_path / "main.bdf").write_text("INCLUDE 'other.bdf'\nGRID,1,,0.,0.,0.\n")
    with pytest.raises(StructureError, match="an INCLUDE in main"):
        read_mesh(tmp_path / "main.bdf", "nodes")


def test_version_is_one_that_the_extra_allows() -> None:
    major, minor = (int(word) for word in pyNastran.__version__.split(".")[:2])
    assert (major, minor) >= (1, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_converted_file_is_the_same_model(tmp_path: Path, kind: str) -> None:
    """`darts model convert-fe`, for environments without pyNastran."""
    file, nodes = write_matrices(kind, tmp_path), write_bulk(tmp_path / "beam.bdf")
    target = tmp_path / "beam.npz"
    words = ["model", "convert-fe", str(file), str(nodes), "-o", str(target)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "42 freedoms of 7 nodes, 25.2 kg" in result.output
    before = read_elements(MatrixSource(file, "KGG"), MatrixSource(file, "MGG"), nodes)
    after = read_elements(MatrixSource(target, "stiffness"), MatrixSource(target, "mass"), target)
    np.testing.assert_array_equal(before.K.toarray(), after.K.toarray())
    np.testing.assert_array_equal(before.M.toarray(), after.M.toarray())
    np.testing.assert_array_equal(before.position, after.position)
    np.testing.assert_array_equal(before.component, after.component)
