"""Numeric arrays of an untrusted .npz file.

Nothing is unpickled, and an array's header must agree with the bytes that are there before any
memory is given to it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

Note = Callable[[str, str], None]  # got, expected
Array = np.ndarray


def read_arrays(file: Path, note: Note, max_bytes: int) -> dict[str, Array] | None:
    """Read all arrays of a file; every fault is noted, None means there were some.

    Args:
        file: path of the archive.
        note: called with what was found and what was expected.
        max_bytes: of all arrays, unpacked.
    """
    if not file.is_file():  # nor a pipe or device, which could be read for ever
        note(f"no file {str(file)!r}", "an .npz file, relative to the model file")
        return None
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(member.file_size for member in archive.infolist()) > max_bytes:
                note(f"more than {max_bytes} bytes of arrays in {file.name}", "a smaller file")
                return None
            return _read_members(archive, file.name, note)
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        note(f"a file that cannot be read ({error})", "an .npz file of numeric arrays")
    return None


def _read_members(archive: zipfile.ZipFile, file: str, note: Note) -> dict[str, Array] | None:
    arrays: dict[str, Array] = {}
    sound = True
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        try:
            with archive.open(member) as stream:
                _check_header(stream, member.file_size)
            with archive.open(member) as stream:
                arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
        except Exception as error:  # archive, codec and header parser raise a dozen types
            note(f"array {name!r} in {file} that cannot be read ({error})", "a numeric array")
            sound = False
    return arrays if sound else None


def _check_header(stream: IO[bytes], file_size: int) -> None:
    """Raise ValueError unless the header's shape and type account for the member's size."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"format {version[0]}.{version[1]}")
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    size = dtype.itemsize
    for length in shape:
        size *= length
    if stream.tell() + size != file_size:
        raise ValueError("its header does not agree with its size")
