"""Matrices from files: arrays of .npz, Matrix Market, NASTRAN.

Files are untrusted: sizes are looked at before memory is given, nothing is unpickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures.matrix_market import MarketError, read_matrix_market
from darts_py.structures.npz import read_arrays
from darts_py.structures.refusal import Refusals
from darts_py.structures.sparse import Sparse

MAX_BYTES = 2**30  # of all arrays of a file, unpacked
MAX_FREEDOMS = 200_000
NASTRAN_SUFFIXES = (".op2", ".op4", ".pch")
MATRIX_SUFFIXES = (".npz", ".mtx", *NASTRAN_SUFFIXES)


@dataclass(frozen=True)
class MatrixSource:
    """A file, and the name of the matrix in it where it holds several."""

    file: Path
    name: str


@dataclass(frozen=True)
class LabelledMatrix:
    """A matrix, and what its rows move where the file says so."""

    A: Sparse
    dof: Array | None = None  # (n, 2)


def read_matrix(source: MatrixSource, key: str) -> LabelledMatrix:
    """Read a matrix; raises StructureError."""
    log = Refusals()
    suffix = source.file.suffix.lower()
    check_file(source.file, key, MATRIX_SUFFIXES, log)
    if suffix in NASTRAN_SUFFIXES:
        from darts_py.structures.nastran import read_nastran_matrix

        A, dof = read_nastran_matrix(source.file, source.name, key)
        matrix = LabelledMatrix(A, dof)
    elif suffix == ".mtx":
        matrix = LabelledMatrix(_market(source.file, key, log))
    else:
        arrays = read_arrays(source.file, log.note(key), MAX_BYTES)
        log.settle()
        assert arrays is not None
        matrix = LabelledMatrix(_matrix_from_arrays(arrays, source, key, log))
    log.settle()
    return matrix


def check_file(file: Path, key: str, suffixes: tuple[str, ...], log: Refusals) -> None:
    """Refuse a file of another type, one that is not there, or one too large."""
    if file.suffix.lower() not in suffixes:
        log.add(key, f"a file {file.name!r}", f"a file of type {', '.join(suffixes)}")
    elif not file.is_file():
        log.add(key, f"no file {str(file)!r}", "a file, relative to the model file")
    elif file.stat().st_size > MAX_BYTES:
        log.add(key, f"{file.stat().st_size} bytes in {file.name}", f"at most {MAX_BYTES} bytes")
    log.settle()


def _market(file: Path, key: str, log: Refusals) -> Sparse:
    try:
        return read_matrix_market(file, MAX_FREEDOMS, MAX_BYTES)
    except MarketError as error:
        log.add(key, f"{error.got} in {file.name}", f"a real Matrix Market file: {error.expected}")
    except (OSError, MemoryError) as error:
        log.add(key, f"{file.name} that cannot be read ({error})", "a real Matrix Market file")
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
            log.add(key, f"'{name}' of {array_form(A)} in {file}", "a matrix of numbers")
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
    if form not in ("csr", "csc", "coo"):
        log.add(key, f"a sparse matrix of format {form!r} in {file}", "csr, csc or coo")
        return sp.csr_array((0, 0))
    shape = arrays["shape"]
    size = (-1, -1)
    if shape.shape == (2,) and shape.dtype.kind in "iu":
        size = (int(shape[0]), int(shape[1]))
    found = _coo_indices(arrays) if form == "coo" else _unrolled(arrays, form, size)
    if found is None:
        log.add(key, f"a damaged sparse matrix in {file}", "what scipy.sparse.save_npz writes")
        return sp.csr_array((0, 0))
    return _from_entries(arrays["data"], found[0], found[1], size, key, file, log)


def _coo_indices(arrays: dict[str, Array]) -> tuple[Array, Array] | None:
    """Return rows and columns of a coo matrix (`row`, `col`) or array (`coords`)."""
    if "coords" in arrays:
        coords = arrays["coords"]
        return (coords[0], coords[1]) if coords.ndim == 2 and len(coords) == 2 else None
    if "row" in arrays and "col" in arrays:
        return arrays["row"], arrays["col"]
    return None


def _unrolled(
    arrays: dict[str, Array], form: str, size: tuple[int, int]
) -> tuple[Array, Array] | None:
    """Return rows and columns of a csr or csc matrix; None unless its pointers fit."""
    if "indptr" not in arrays or "indices" not in arrays:
        return None
    pointer, index = arrays["indptr"], arrays["indices"]
    major = size[0] if form == "csr" else size[1]
    if pointer.ndim != 1 or pointer.dtype.kind not in "iu" or len(pointer) != major + 1:
        return None
    pointer = pointer.astype(np.int64)
    steps = np.diff(pointer)
    if pointer[0] != 0 or np.any(steps < 0) or pointer[-1] != index.size:
        return None
    expanded = np.repeat(np.arange(major), steps)
    return (expanded, index) if form == "csr" else (index, expanded)


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


def array_form(array: Array) -> str:
    """Word the shape and type of an array."""
    return f"shape {array.shape}, type {array.dtype}"
