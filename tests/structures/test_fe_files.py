"""Files of finite-element models: every format gives the same model; damage is refused."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from darts_py.structures import fe_files
from darts_py.structures.fe_files import (
    MatrixSource,
    read_elements,
    read_matrix,
    read_mesh,
    write_elements,
)
from darts_py.structures.fe_model import FiniteElements
from darts_py.structures.refusal import StructureError
from tests.structures.meshes import beam_mesh, solid_mesh


def nodes_of(model: FiniteElements) -> dict[str, np.ndarray]:
    dof = np.stack([model.node_id[model.node], model.component + 1], axis=1)
    return {"node_id": model.node_id, "position_m": model.position, "dof": dof}


def write(
    folder: Path, form: str, model: FiniteElements
) -> tuple[MatrixSource, MatrixSource, Path]:
    """Write a model in one of the formats; return stiffness, mass and nodes."""
    together, nodes = folder / "model.npz", folder / "nodes.npz"
    np.savez(nodes, **nodes_of(model))
    if form == "own":
        write_elements(together, model)
        return MatrixSource(together, "stiffness"), MatrixSource(together, "mass"), together
    if form == "dense":
        dense = {"stiffness": model.K.toarray(), "mass": model.M.toarray()}
        np.savez(together, **dense, **nodes_of(model))
        return MatrixSource(together, "stiffness"), MatrixSource(together, "mass"), together
    sources = []
    for name, A in (("stiffness", model.K), ("mass", model.M)):
        if form == "mtx":
            file = folder / f"{name}.mtx"
            scipy.io.mmwrite(file, sp.coo_matrix(A), precision=17, symmetry="general")
        elif form == "mtx symmetric":
            file = folder / f"{name}.mtx"
            symmetric = sp.coo_matrix(0.5 * (A + A.T))
            scipy.io.mmwrite(file, symmetric, precision=17, symmetry="symmetric")
        elif form == "mtx array":
            file = folder / f"{name}.mtx"
            scipy.io.mmwrite(file, A.toarray(), precision=17, symmetry="general")
        else:
            file = folder / f"{name}.npz"
            sp.save_npz(file, getattr(sp, f"{form}_matrix")(A))
        sources.append(MatrixSource(file, name))
    return sources[0], sources[1], nodes


FORMS = ["own", "dense", "csr", "csc", "coo", "mtx", "mtx symmetric", "mtx array"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", [beam_mesh, solid_mesh])
def test_every_format_gives_the_same_model(tmp_path: Path, form: str, make) -> None:
    model = make()
    found = read_elements(*write(tmp_path, form, model))
    for A, B in ((found.K, model.K), (found.M, model.M)):
        # symmetric storage takes the mean of two triangles that differ by rounding
        atol = 1e-15 * abs(B).max() if form == "mtx symmetric" else 0.0
        np.testing.assert_allclose(A.toarray(), B.toarray(), rtol=0.0, atol=atol)
    np.testing.assert_array_equal(found.node_id, model.node_id)
    np.testing.assert_array_equal(found.position, model.position)
    np.testing.assert_array_equal(found.node, model.node)
    np.testing.assert_array_equal(found.component, model.component)


def test_sparse_arrays_of_scipy_are_read_as_well(tmp_path: Path) -> None:
    A = solid_mesh().K
    sp.save_npz(tmp_path / "k.npz", sp.coo_array(A))
    found = read_matrix(MatrixSource(tmp_path / "k.npz", "stiffness"), "stiffness").A
    np.testing.assert_array_equal(found.toarray(), A.toarray())


def arrays(**changes) -> dict[str, np.ndarray]:
    model = beam_mesh(2)
    found = {"stiffness": model.K.toarray(), "mass": model.M.toarray(), **nodes_of(model)}
    found.update(changes)
    return {key: value for key, value in found.items() if value is not None}


BROKEN = {
    "no node numbers": ({"node_id": None}, "nodes: got no array 'node_id'"),
    "no places": ({"position_m": None}, "nodes: got no array 'position_m'"),
    "no labels": ({"dof": None}, "neither 'dof' nor 'dofs_per_node'"),
    "labels twice": ({"dofs_per_node": np.array(6)}, "both 'dof' and 'dofs_per_node'"),
    "five freedoms": (
        {"dof": None, "dofs_per_node": np.array(5)},
        "the number 3 or 6",
    ),
    "real node numbers": ({"node_id": np.array([1.0, 2.0, 3.0])}, "one whole number per node"),
    "flat places": ({"position_m": np.zeros((3, 2))}, r"numbers of shape \(3, 3\)"),
    "labels of three": ({"dof": np.zeros((18, 3), int)}, "whole numbers of shape"),
    "no mass": ({"mass": None}, "mass: got no matrix 'mass'"),
    "flat mass": ({"mass": np.ones(18)}, "a matrix of numbers"),
    "words": ({"mass": np.array([["a"]])}, "a matrix of numbers"),
    "small mass": ({"mass": np.eye(17)}, "a matrix of 17 rows"),
    "oblong": ({"mass": np.ones((18, 17))}, "a square matrix"),
    "not finite": ({"mass": np.full((18, 18), np.nan)}, "a value that is not finite"),
    "entry outside": (
        {
            "mass": None,
            "mass_entries": np.ones(1),
            "mass_rows": np.array([18]),
            "mass_columns": np.array([0]),
            "mass_size": np.array(18),
        },
        "a damaged sparse matrix",
    ),
    "huge": (
        {
            "mass": None,
            "mass_entries": np.ones(1),
            "mass_rows": np.array([0]),
            "mass_columns": np.array([0]),
            "mass_size": np.array(10**12),
        },
        "a damaged sparse matrix",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_file_is_refused(tmp_path: Path, case: str) -> None:
    changes, expected = BROKEN[case]
    file = tmp_path / "model.npz"
    np.savez(file, **arrays(**changes))
    with pytest.raises(StructureError, match=expected):
        read_elements(MatrixSource(file, "stiffness"), MatrixSource(file, "mass"), file)


def test_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(StructureError) as caught:
        read_elements(
            MatrixSource(tmp_path / "k.mtx", "stiffness"),
            MatrixSource(tmp_path / "m.txt", "mass"),
            tmp_path / "nodes.npz",
        )
    found = {refusal.key: refusal.got for refusal in caught.value.refusals}
    assert set(found) == {"stiffness", "mass", "nodes"}
    assert "no file" in found["stiffness"]
    assert "a file 'm.txt'" in found["mass"]


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    np.savez(file, **arrays(), extra=np.array([{"a": 1}], dtype=object))
    with pytest.raises(StructureError, match="cannot be read"):
        read_mesh(file, "nodes")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n", "complex entries"),
        ("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "pattern entries"),
        ("%%MatrixMarket matrix array real general\n999999 999999\n1\n", "999999 x 999999"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n", "cannot be read"),
        ("not a matrix", "cannot be read"),
    ],
)
def test_odd_matrix_market_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "k.mtx"
    file.write_text(text)
    with pytest.raises(StructureError, match=expected):
        read_matrix(MatrixSource(file, "stiffness"), "stiffness")


def test_large_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(fe_files, "MAX_BYTES", 1000)
    file = tmp_path / "model.npz"
    np.savez(file, **arrays())
    with pytest.raises(StructureError, match="at most 1000 bytes"):
        read_mesh(file, "nodes")


def test_damaged_scipy_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "k.npz"
    A = sp.csr_matrix(np.eye(4))
    for change, expected in (
        ({"indptr": np.array([0, 9, 9, 9, 9])}, "damaged"),
        ({"indices": np.array([0, 1, 2, 9])}, "damaged"),
        ({"format": np.array(b"bsr")}, "csr, csc or coo"),
        ({"data": np.array([1j, 1, 1, 1])}, "damaged"),
    ):
        parts = {
            "format": np.array(b"csr"),
            "shape": np.array([4, 4]),
            "data": A.data,
            "indices": A.indices,
            "indptr": A.indptr,
        }
        np.savez(file, **(parts | change))
        with pytest.raises(StructureError, match=expected):
            read_matrix(MatrixSource(file, "stiffness"), "stiffness")


@settings(max_examples=60)
@given(data=st.data())
def test_flipped_bytes_never_escape(tmp_path_factory, data) -> None:
    """Whatever is done to a file, it is read or refused, and nothing else happens."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays())
    raw = bytearray(buffer.getvalue())
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    file = tmp_path_factory.mktemp("flip") / "model.npz"
    file.write_bytes(raw)
    with contextlib.suppress(StructureError):
        read_elements(MatrixSource(file, "stiffness"), MatrixSource(file, "mass"), file)


def test_nastran_without_pynastran_says_what_to_do(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyNastran", None)
    for name in [word for word in sys.modules if word.startswith(("pyNastran.", "cpylog"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("k.op4", "k.op2", "k.pch"):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(StructureError, match=r"pip install darts-py\[fe\].*convert-fe"):
            read_matrix(MatrixSource(tmp_path / name, "KGG"), "stiffness")
    (tmp_path / "n.bdf").write_text("GRID,1,,0.,0.,0.\n")
    with pytest.raises(StructureError, match=r"nodes: .*pip install darts-py\[fe\]"):
        read_mesh(tmp_path / "n.bdf", "nodes")
