"""Real matrices in Matrix Market format (Boisvert, Pozo & Remington 1996, NISTIR 5935).

Not by `scipy.io.mmread`: the parser of SciPy 1.17 crashes the process on some damaged files.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures.sparse import Sparse

LONGEST_LINE = 1024  # as the format says
EXAMPLE = "%%MatrixMarket matrix coordinate real symmetric"


class MarketError(ValueError):
    """A file that is no real matrix in Matrix Market format, and what was expected."""

    def __init__(self, got: str, expected: str) -> None:
        self.got, self.expected = got, expected
        super().__init__(f"{got}, expected {expected}")


@dataclass(frozen=True)
class _Header:
    dense: bool
    symmetric: bool  # only the lower triangle is written
    rows: int
    columns: int
    entries: int  # lines that follow


def read_matrix_market(file: Path, most_rows: int, most_bytes: int) -> Sparse:
    """Return the matrix of a file.

    Raises:
        MarketError: it is damaged, not real, or larger than allowed.
        OSError: it cannot be opened.
    """
    with file.open(encoding="ascii", errors="replace") as stream:
        header = _read_header(stream)
        if max(header.rows, header.columns) > most_rows:
            raise MarketError(f"{header.rows} x {header.columns}", f"at most {most_rows} rows")
        if header.dense and header.rows * header.columns > most_bytes // 8:
            raise MarketError(f"{header.rows} x {header.columns}", f"at most {most_bytes} bytes")
        table = _read_table(stream, 1 if header.dense else 3)
    if len(table) != header.entries:
        got = f"{len(table)} entries where {header.entries} are announced"
        raise MarketError(got, "as many as announced")
    return _dense(header, table[:, 0]) if header.dense else _sparse(header, table)


def _read_header(stream: TextIO) -> _Header:
    words = stream.readline(LONGEST_LINE).lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise MarketError("a file that does not begin so", f"{EXAMPLE!r} in the first line")
    layout, field, symmetry = words[2:]
    if layout not in ("coordinate", "array"):
        raise MarketError(f"the layout {layout!r}", "coordinate or array")
    if field not in ("real", "integer", "double"):
        raise MarketError(f"{field} entries", "real ones")
    if symmetry not in ("general", "symmetric"):
        raise MarketError(f"a {symmetry} matrix", "general or symmetric")
    line = "%"
    while line.startswith("%") or (line and not line.strip()):
        line = stream.readline(LONGEST_LINE)
    return _sizes(line.split(), layout == "array", symmetry == "symmetric")


def _sizes(words: list[str], dense: bool, symmetric: bool) -> _Header:
    known = 2 if dense else 3
    if len(words) != known or not all(word.isascii() and word.isdigit() for word in words):
        what = "rows and columns" if dense else "rows, columns and entries"
        raise MarketError(f"sizes {' '.join(words)[:60]!r}", f"{what}, whole numbers")
    if max(len(word) for word in words) > 18:
        raise MarketError(f"sizes {' '.join(words)[:60]!r}", "numbers of some sense")
    rows, columns, *rest = (int(word) for word in words)
    if min(rows, columns) == 0 or (symmetric and rows != columns):
        expected = "a square matrix" if symmetric else "some rows and columns"
        raise MarketError(f"{rows} x {columns}", expected)
    entries = rest[0] if rest else rows * columns
    if dense and symmetric:
        entries = rows * (rows + 1) // 2
    return _Header(dense, symmetric, rows, columns, entries)


def _read_table(stream: TextIO, columns: int) -> Array:
    """Return all numbers that follow, `columns` in each line; nothing else may."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*input contained no data")
        try:
            table = np.loadtxt(stream, comments=None, ndmin=2)
        except ValueError as error:
            raise MarketError(f"lines that are no numbers ({error})"[:200], "numbers") from error
    table = table.reshape(0, columns) if table.size == 0 else table
    if table.shape[1] != columns:
        raise MarketError(f"lines of {table.shape[1]} numbers", f"{columns} in each line")
    return table


def _sparse(header: _Header, table: Array) -> Sparse:
    index, values = table[:, :2] - 1.0, table[:, 2]
    limit = np.array([header.rows, header.columns])
    sound = np.all((index >= 0.0) & (index < limit) & (index == np.floor(index)), axis=1)
    if not np.all(sound):
        row = int(np.argmin(sound))
        got = f"an entry in row {table[row, 0]:g}, column {table[row, 1]:g}"
        raise MarketError(got, f"whole numbers from 1 to {header.rows}, {header.columns}")
    i, j = index.astype(int).T
    if header.symmetric:
        if np.any(i < j):
            raise MarketError("an entry above the diagonal", "the lower triangle if symmetric")
        off = i != j
        i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        values = np.concatenate([values, values[off]])
    return sp.csr_array((values, (i, j)), shape=(header.rows, header.columns))


def _dense(header: _Header, values: Array) -> Sparse:
    """Return a matrix written column by column."""
    if not header.symmetric:
        return sp.csr_array(values.reshape(header.columns, header.rows).T)
    A = np.zeros((header.rows, header.columns))
    j, i = np.triu_indices(header.rows)  # of the lower triangle, column by column
    A[i, j] = A[j, i] = values
    return sp.csr_array(A)
