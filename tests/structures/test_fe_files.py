"""Files of finite-element models: every format gives the same model; damage is refused."""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from darts_py.structures import matrix_files
from darts_py.structures.fe_files import read_elements, read_mesh, write_elements
from darts_py.structures.fe_model import FiniteElements
from darts_py.structures.matrix_files import MatrixSource, read_matrix
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


MARKET = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n", "complex entries"),
        ("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", "pattern entries"),
        ("%%MatrixMarket matrix array real general\n999999 999999\n1\n", "999999 x 999999"),
        ("%%MatrixMarket matrix array real general\n199999 199999\n1\n", "at most .* bytes"),
        ("%%MatrixMarket matrix array real symmetric\n2 3\n1\n", "a square matrix"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 0\n", "skew-symmetric"),
        ("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 5\n", "above the diagonal"),
        ("%%MatrixMarket matrix list real general\n2 2 1\n1 2 5\n", "coordinate or array"),
        (MARKET + "2 2 1\n3 1 5\n", "row 3, column 1"),
        (MARKET + "2 2 1\n1.5 1 5\n", "row 1.5, column 1"),
        (MARKET + "2 2 1\nnan 1 5\n", "row nan, column 1"),
        (MARKET + "2 2 1\n0 1 5\n", "row 0, column 1"),
        (MARKET + "2 2 3\n1 1 5\n", "1 entries where 3 are announced"),
        (MARKET + "2 2 1\n1 1 5\n2 2 5\n", "2 entries where 1 are announced"),
        (MARKET + "2 2 99999999999999\n1 1 5\n", "1 entries where 99999999999999"),
        (MARKET + "2 2 1\n", "0 entries where 1"),
        (MARKET + "2 2 1\n1 1\n", "lines of 2 numbers"),
        (MARKET + "2 2 2\n1 1 5\n2 2\n", "no numbers"),
        (MARKET + "2 2 1\n1 1 x\n", "no numbers"),
        (MARKET + "2 2 -1\n1 1 5\n", "whole numbers"),
        (MARKET + "2 2\n1 1 5\n", "whole numbers"),
        (MARKET + "0 0 0\n", "some rows and columns"),
        (MARKET + "2 2 99999999999999999999\n1 1 5\n", "of some sense"),
        (MARKET, "whole numbers"),
        ("", "in the first line"),
        ("not a matrix", "in the first line"),
    ],
)
def test_odd_matrix_market_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "k.mtx"
    file.write_text(text)
    with pytest.raises(StructureError, match=expected):
        read_matrix(MatrixSource(file, "stiffness"), "stiffness")


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("dense", [False, True])
def test_matrix_market_is_read_as_scipy_reads_it(
    tmp_path: Path, symmetry: str, dense: bool
) -> None:
    file = tmp_path / "k.mtx"
    raw = market_file(symmetry, dense)
    file.write_bytes(raw.replace(b"\n", b"\n% a remark\n\n", 1))
    found = read_matrix(MatrixSource(file, "mass"), "mass").A
    other: Any = scipy.io.mmread(io.BytesIO(raw))
    np.testing.assert_array_equal(found.toarray(), other if dense else other.toarray())


def test_large_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(matrix_files, "MAX_BYTES", 1000)
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
        ({"data": np.array(1.0)}, "damaged"),
        ({"shape": np.array(["4", "4"])}, "damaged"),
        ({"shape": np.array([4.5, 4.0])}, "damaged"),
        ({"shape": np.array([np.nan, 4.0])}, "damaged"),
        ({"shape": np.zeros(0, int)}, "damaged"),
        ({"indptr": np.arange(5.0)}, "damaged"),
        ({"indptr": np.array(list("01234"))}, "damaged"),
        ({"indptr": np.array([4, 3, 2, 1, 0], np.uint8)}, "damaged"),
        ({"indices": np.zeros((2, 2), int)}, "damaged"),
        ({"format": np.array(b"coo")}, "damaged"),
        ({"format": np.array(b"coo"), "coords": np.array(3)}, "damaged"),
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


def survives(folder: Path, raw: bytes, suffix: str) -> None:
    """Whatever is done to a file, it is read or refused, and nothing else happens."""
    file = folder / f"model{suffix}"
    file.write_bytes(raw)
    with contextlib.suppress(StructureError):
        read_matrix(MatrixSource(file, "stiffness"), "stiffness")
    if suffix == ".npz":
        with contextlib.suppress(StructureError):
            read_elements(MatrixSource(file, "stiffness"), MatrixSource(file, "mass"), file)


def npz(parts: dict[str, np.ndarray]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **parts)  # type: ignore[arg-type]
    return buffer.getvalue()


def scipy_file(form: str) -> bytes:
    buffer = io.BytesIO()
    sp.save_npz(buffer, getattr(sp, f"{form}_matrix")(beam_mesh(1).K), compressed=False)
    return buffer.getvalue()


def market_file(symmetry: str, dense: bool = False) -> bytes:
    buffer, A = io.BytesIO(), beam_mesh(1).M
    A = 0.5 * (A + A.T)
    scipy.io.mmwrite(buffer, A.toarray() if dense else sp.coo_matrix(A), symmetry=symmetry)
    return buffer.getvalue()


WHOLE = {
    "own": (npz(arrays()), ".npz"),
    "csr": (scipy_file("csr"), ".npz"),
    "coo": (scipy_file("coo"), ".npz"),
    "mtx": (market_file("general"), ".mtx"),
    "mtx symmetric": (market_file("symmetric"), ".mtx"),
    "mtx array": (market_file("general", dense=True), ".mtx"),
}


PUT = [b"9" * 14, b"-", b" ", b"\n", b"%", b"nan", b"\xff"]


@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=60)
@given(data=st.data())
def test_mangled_bytes_never_escape(tmp_path_factory, kind: str, data) -> None:
    """Flipped, cut out, put in, cut short; half of the changes among the first bytes."""
    whole, suffix = WHOLE[kind]
    raw = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 6))):
        end = len(raw) if data.draw(st.booleans()) else min(len(raw), 120)
        at = data.draw(st.integers(0, max(end - 1, 0)))
        match data.draw(st.sampled_from(["flip", "cut", "put", "end"])):
            case "flip" if raw:
                raw[at] ^= data.draw(st.integers(1, 255))
            case "cut":
                del raw[at : at + data.draw(st.integers(1, 40))]
            case "put":
                raw[at:at] = data.draw(
                    st.sampled_from([b"9" * 14, b"-", b" ", b"\n", b"%", b"nan"])
                )
            case "end":
                del raw[at:]
    survives(tmp_path_factory.mktemp("mangled"), bytes(raw), suffix)


ODD = [
    np.zeros(0),
    np.array(3),
    np.array("word"),
    np.array(b"csc"),
    np.array([np.nan, np.inf]),
    np.array([[1, 2], [3, 4]]),
    np.array([-1, 2**62]),
    np.array([2**64 - 1], np.uint64),
    np.array([1 + 2j]),
    np.array([True, False]),
    np.array(["1970-01-01"], "datetime64[D]"),
    np.zeros(2, [("a", float), ("b", int)]),
]


@settings(max_examples=80)
@given(data=st.data())
def test_odd_arrays_never_escape(tmp_path_factory, data) -> None:
    """Sound archives whose arrays are anything at all, or missing."""
    parts, A = arrays(stiffness=None, mass=None), sp.coo_array(beam_mesh(2).K)
    for name in ("stiffness", "mass"):
        parts |= {f"{name}_entries": A.data, f"{name}_rows": A.row, f"{name}_columns": A.col}
        parts[f"{name}_size"] = np.array(A.shape[0])
    if data.draw(st.booleans()):
        form = data.draw(st.sampled_from(["csr", "csc", "coo"]))
        with np.load(io.BytesIO(scipy_file(form))) as archive:
            parts = dict(archive)
    for name in data.draw(st.lists(st.sampled_from(sorted(parts)), min_size=1, max_size=3)):
        odd = data.draw(st.sampled_from([None, *ODD]))
        parts.pop(name, None)
        if odd is not None:
            parts[name] = odd
    survives(tmp_path_factory.mktemp("odd"), npz(parts), ".npz")


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
