"""NASTRAN files written record by record, where pyNastran reads a format that it cannot write.

Fortran records: a length in bytes, the data, the length again. OP2: every number between tables is
a record of its own, a marker. Layouts: MSC Nastran DMAP Programmer's Guide, OUTPUT2 and OUTPUT4.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np


def record(data: bytes) -> bytes:
    length = struct.pack("<i", len(data))
    return length + data + length


def markers(*values: int) -> bytes:
    return b"".join(record(struct.pack("<i", value)) for value in values)


def block(data: bytes) -> bytes:
    return markers(len(data) // 4) + record(data)


def strings(column: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the runs of a column without zeros: first row (from 1), values."""
    start = None
    for row, value in enumerate([*column, 0.0]):
        if value != 0.0 and start is None:
            start = row
        elif value == 0.0 and start is not None:
            yield start + 1, column[start:row]
            start = None


def op2_file(matrices: dict[str, np.ndarray]) -> bytes:
    """An OUTPUT2 file with nothing but matrices, double precision."""
    out = markers(3) + record(struct.pack("<3i", 1, 1, 26))  # a date
    out += markers(7) + record(b"NASTRAN FORT TAPE ID CODE - ") + markers(2) + record(b"NX11.0  ")
    out += markers(-1, 0)
    for number, (name, A) in enumerate(matrices.items(), start=101):
        word, n = name.ljust(8).encode(), len(A)
        out += markers(2) + record(word) + markers(-1)
        out += block(struct.pack("<7i", number, n, n, 6, 2, 2 * n, 10000))
        out += markers(-2, 1, 0) + block(word + struct.pack("<2i", 170, 170))
        for k, column in enumerate(A.T):
            out += markers(-3 - k, 1, 1)
            for row, values in strings(column):
                data = struct.pack("<i", row) + values.astype("<f8").tobytes()
                out += markers(2 * len(values)) + record(data)
        out += markers(-3 - n, 1, 0, 0)
    return out + markers(0)


def binary_op4_file(matrices: dict[str, np.ndarray]) -> bytes:
    """An OUTPUT4 file, binary, dense, double precision."""
    out = b""
    for name, A in matrices.items():
        n = len(A)
        out += record(struct.pack("<4i8s", n, n, 6, 2, name.ljust(8).encode()))
        for k, column in enumerate(A.T, start=1):
            values = column.astype("<f8").tobytes()
            out += record(struct.pack("<3i", k, 1, 2 * n) + values)
        out += record(struct.pack("<3id", n + 1, 1, 2, 1.0))
    return out
