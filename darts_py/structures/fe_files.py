"""Finite-element matrices and meshes from files: .npz, Matrix Market, NASTRAN.

One file may hold everything (`panel.npz`), or mass, stiffness and nodes each have their own.
Files are untrusted: sizes are looked at before memory is given, nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures.fe_model import FiniteElements, assemble_elements, dof_table
from darts_py.structures.npz import read_arrays
from darts_py.structures.refusal import Refusals, StructureError
from darts_py.structures.sparse import Sparse

MAX_BYTES = 2**30  # of all arrays of a file, unpacked
MAX_FREEDOMS = 200_000
MATRIX_SUFFIXES = (".npz", ".mtx", ".op2", ".op4", ".pch")
NODE_SUFFIXES = (".npz", ".bdf", ".dat", ".nas")
NASTRAN_SUFFIXES = (".op2", ".op4", ".pch", ".bdf", ".dat", ".nas")

Note = Callable[[str, str], None]


@dataclass(frozen=True)
class Mesh:
    """Nodes, and what each row of the matrices moves (None: not said in this file)."""

    node_id: Array  # (k,)
    position: Array  # (k, 3)
    dof: Array | None  # node number, component 1 to 6   (n, 2)


@dataclass(frozen=True)
class MatrixSource:
    """A file, and the name of the matrix in it where it holds several."""

    file: Path
    name: str


def read_elements(stiffness: MatrixSource, mass: MatrixSource, nodes: Path) -> FiniteElements:
    """Read a model from its files; everything wrong with them is listed at once.

    Raises:
        StructureError: with keys `stiffness`, `mass`, `nodes`.
    """
    log = Refusals()
    mesh: Any = _attempt(lambda: read_mesh(nodes, "nodes"), log)
    K: Any = _attempt(lambda: read_matrix(stiffness, "stiffness"), log)
    M: Any = _attempt(lambda: read_matrix(mass, "mass"), log)
    log.settle()
    dof = _row_labels(mesh, K, M, log)
    log.settle()
    K, M = _in_order(K, dof), _in_order(M, dof)
    return assemble_elements(K, M, mesh.node_id, mesh.position, dof)


def _attempt(read: Callable[[], object], log: Refusals) -> object:
    """Return what is read, or None with its refusals noted."""
    try:
        return read()
    except StructureError as error:
        for refusal in error.refusals:
            log.add(refusal.key, refusal.got, refusal.expected, refusal.hint)
    return None


@dataclass(frozen=True)
class LabelledMatrix:
    """A matrix, and what its rows move where the file says so."""

    A: Sparse
    dof: Array | None = None  # (n, 2)


def _row_labels(mesh: Mesh, K: LabelledMatrix, M: LabelledMatrix, log: Refusals) -> Array:
    """Return the rows' labels: the matrices' own, those of the mesh, or six for every node."""
    labelled = [matrix.dof for matrix in (K, M) if matrix.dof is not None]
    if len(labelled) == 2:
        return np.unique(np.vstack(labelled), axis=0)
    if labelled:
        log.add("mass", "one matrix with labels of its rows, one without", "both or none")
    if mesh.dof is not None:
        return mesh.dof
    k, n = len(mesh.node_id), K.A.shape[0]
    if n not in (3 * k, 6 * k):
        got = f"{n} rows for {k} nodes, and no table 'dof'"
        hint = "dof: one row [node number, component 1 to 6] per freedom"
        log.add("nodes", got, "3 or 6 rows for every node", hint)
        return np.zeros((0, 2), int)
    return dof_table(np.sort(mesh.node_id), n // k)  # NASTRAN's order: by number


def _in_order(matrix: LabelledMatrix, dof: Array) -> Sparse:
    """Return a matrix with its rows in the order of `dof`; rows it does not have are empty."""
    if matrix.dof is None:
        return matrix.A
    key = {(int(node), int(component)): row for row, (node, component) in enumerate(dof)}
    to = np.array([key[int(node), int(component)] for node, component in matrix.dof])
    coo = sp.coo_array(matrix.A)
    entries = (coo.data, (to[coo.row], to[coo.col]))
    return sp.csr_array(entries, shape=(len(dof), len(dof)))


def read_mesh(file: Path, key: str) -> Mesh:
    """Read nodes; raises StructureError."""
    log = Refusals()
    _check_file(file, key, NODE_SUFFIXES, log)
    if file.suffix.lower() in NASTRAN_SUFFIXES:
        from darts_py.structures.nastran import read_grids

        node_id, position = read_grids(file, key)
        return Mesh(node_id, position, None)
    arrays = read_arrays(file, log.note(key), MAX_BYTES)
    log.settle()
    assert arrays is not None
    mesh = _mesh_from_arrays(arrays, log, key, file.name)
    log.settle()
    assert mesh is not None
    return mesh


def _mesh_from_arrays(arrays: dict[str, Array], log: Refusals, key: str, file: str) -> Mesh | None:
    for name in ("node_id", "position_m"):
        if name not in arrays:
            log.add(key, f"no array '{name}' in {file}", "arrays node_id, position_m")
    if len(log):
        return None
    node_id, position = arrays["node_id"], arrays["position_m"]
    if node_id.dtype.kind not in "iu" or node_id.ndim != 1 or len(node_id) == 0:
        log.add(key, f"'node_id' of {_form(node_id)} in {file}", "one whole number per node")
        return None
    if position.dtype.kind not in "fiu" or position.shape != (len(node_id), 3):
        expected = f"numbers of shape ({len(node_id)}, 3)"
        log.add(key, f"'position_m' of {_form(position)} in {file}", expected)
    if "dof" in arrays and "dofs_per_node" in arrays:
        log.add(key, f"both 'dof' and 'dofs_per_node' in {file}", "one of them")
    dof = None
    if "dof" in arrays:
        dof = arrays["dof"]
        if dof.dtype.kind not in "iu" or dof.ndim != 2 or dof.shape[1:] != (2,):
            log.add(key, f"'dof' of {_form(dof)} in {file}", "whole numbers of shape (rows, 2)")
    elif "dofs_per_node" in arrays:
        value = arrays["dofs_per_node"]
        if value.shape != () or value.dtype.kind not in "iu" or int(value) not in (3, 6):
            log.add(key, f"'dofs_per_node' of {_form(value)} in {file}", "the number 3 or 6")
        else:
            dof = dof_table(node_id, int(value))
    else:
        hint = "dofs_per_node: 3 or 6, or dof: rows [node number, component 1 to 6]"
        log.add(key, f"neither 'dof' nor 'dofs_per_node' in {file}", "one of them", hint)
    return None if len(log) else Mesh(node_id.astype(int), position.astype(float), dof)


def read_matrix(source: MatrixSource, key: str) -> LabelledMatrix:
    """Read a matrix; raises StructureError."""
    log = Refusals()
    suffix = source.file.suffix.lower()
    _check_file(source.file, key, MATRIX_SUFFIXES, log)
    if suffix in NASTRAN_SUFFIXES:
        from darts_py.structures.nastran import read_nastran_matrix

        A, dof = read_nastran_matrix(source.file, source.name, key)
        matrix = LabelledMatrix(A, dof)
    elif suffix == ".mtx":
        matrix = LabelledMatrix(_read_matrix_market(source.file, key, log))
    else:
        arrays = read_arrays(source.file, log.note(key), MAX_BYTES)
        log.settle()
        assert arrays is not None
        matrix = LabelledMatrix(_matrix_from_arrays(arrays, source, key, log))
    log.settle()
    return matrix


def _check_file(file: Path, key: str, suffixes: tuple[str, ...], log: Refusals) -> None:
    if file.suffix.lower() not in suffixes:
        log.add(key, f"a file {file.name!r}", f"a file of type {', '.join(suffixes)}")
    elif not file.is_file():
        log.add(key, f"no file {str(file)!r}", "a file, relative to the model file")
    elif file.stat().st_size > MAX_BYTES:
        log.add(key, f"{file.stat().st_size} bytes in {file.name}", f"at most {MAX_BYTES} bytes")
    log.settle()


def _read_matrix_market(file: Path, key: str, log: Refusals) -> Sparse:
    expected = "a real matrix in Matrix Market format"
    try:
        rows, columns, _, form, field, _ = scipy.io.mminfo(file)
        if field not in ("real", "integer", "double"):
            log.add(key, f"{field} entries in {file.name}", expected)
        elif max(rows, columns) > MAX_FREEDOMS or (
            form == "array" and rows * columns > MAX_BYTES // 8
        ):
            log.add(key, f"{rows} x {columns} in {file.name}", f"at most {MAX_FREEDOMS} rows")
        if not len(log):
            return sp.csr_array(scipy.io.mmread(file), dtype=float)
    except (ValueError, OSError, OverflowError, TypeError, StopIteration) as error:
        log.add(key, f"{file.name} that cannot be read ({error})", expected)
    return sp.csr_array((0, 0))


def _matrix_from_arrays(
    arrays: dict[str, Array], source: MatrixSource, key: str, log: Refusals
) -> Sparse:
    """Find a matrix among arrays: dense, as entries, or as scipy.sparse.save_npz writes it."""
    file, name = source.file.name, source.name
    empty = sp.csr_array((0, 0))
    if name in arrays:
        A = arrays[name]
        if A.dtype.kind not in "fiu" or A.ndim != 2:
            log.add(key, f"'{name}' of {_form(A)} in {file}", "a matrix of numbers")
            return empty
        return sp.csr_array(A.astype(float))
    if f"{name}_entries" in arrays:
        parts = [
            arrays.get(f"{name}_{part}", np.zeros(0)) for part in ("entries", "rows", "columns")
        ]
        size = arrays.get(f"{name}_size", np.zeros(0))
        size = int(size) if size.shape == () and size.dtype.kind in "iu" else -1
        return _from_entries(parts[0], parts[1], parts[2], (size, size), key, file, log)
    if "format" in arrays and "shape" in arrays and "data" in arrays:
        return _from_scipy(arrays, key, file, log)
    expected = f"'{name}', '{name}_entries', or a matrix of scipy.sparse.save_npz"
    log.add(key, f"no matrix '{name}' in {file}", expected)
    return empty


def _from_scipy(arrays: dict[str, Array], key: str, file: str, log: Refusals) -> Sparse:
    """Rebuild what scipy.sparse.save_npz wrote, by entries, so that every index is checked."""
    form = arrays["format"].item() if arrays["format"].shape == () else b""
    form = form.decode("ascii", "replace") if isinstance(form, bytes) else str(form)
    shape = tuple(int(x) for x in np.ravel(arrays["shape"])[:2])
    nothing = np.zeros(0, int)
    if form == "coo" and "coords" in arrays and arrays["coords"].shape[:1] == (2,):
        rows, columns = arrays["coords"]
    elif form == "coo":
        rows, columns = arrays.get("row", nothing), arrays.get("col", nothing)
    elif form in ("csr", "csc"):
        pointer, index = arrays.get("indptr", nothing), arrays.get("indices", nothing)
        major = shape[0] if form == "csr" else shape[-1]
        steps = np.diff(pointer) if pointer.ndim == 1 else nothing
        if len(steps) != major or np.any(steps < 0) or int(steps.sum()) != index.size:
            log.add(key, f"a damaged sparse matrix in {file}", "what scipy.sparse.save_npz writes")
            return sp.csr_array((0, 0))
        expanded = np.repeat(np.arange(major), steps)
        rows, columns = (expanded, index) if form == "csr" else (index, expanded)
    else:
        log.add(key, f"a sparse matrix of format {form!r} in {file}", "csr, csc or coo")
        return sp.csr_array((0, 0))
    return _from_entries(arrays["data"], rows, columns, shape, key, file, log)


def _from_entries(
    data: Array,
    rows: Array,
    columns: Array,
    shape: tuple[int, ...],
    key: str,
    file: str,
    log: Refusals,
) -> Sparse:
    sound = (
        len(shape) == 2
        and 0 < min(shape)
        and max(shape) <= MAX_FREEDOMS
        and data.ndim == rows.ndim == columns.ndim == 1
        and len(data) == len(rows) == len(columns)
        and data.dtype.kind in "fiu"
        and rows.dtype.kind in "iu"
        and columns.dtype.kind in "iu"
    )
    if sound and len(data):
        sound = bool(
            min(rows.min(), columns.min()) >= 0
            and rows.max() < shape[0]
            and columns.max() < shape[1]
        )
    if not sound:
        expected = f"real entries with rows and columns inside at most {MAX_FREEDOMS}"
        log.add(key, f"a damaged sparse matrix in {file}", expected)
        return sp.csr_array((0, 0))
    return sp.csr_array((data.astype(float), (rows, columns)), shape=shape)


def _form(array: Array) -> str:
    return f"shape {array.shape}, type {array.dtype}"


def write_elements(file: Path, model: FiniteElements) -> None:
    """Write a model as one .npz file that `read_elements` takes."""
    arrays: dict[str, Any] = {
        "node_id": model.node_id,
        "position_m": model.position,
        "dof": np.stack([model.node_id[model.node], model.component + 1], axis=1),
    }
    for name, A in (("stiffness", sp.coo_array(model.K)), ("mass", sp.coo_array(model.M))):
        arrays |= {
            f"{name}_entries": A.data,
            f"{name}_rows": A.row,
            f"{name}_columns": A.col,
            f"{name}_size": np.array(model.n),
        }
    with file.open("wb") as stream:  # savez would append .npz to a name without it
        np.savez_compressed(stream, **arrays)
