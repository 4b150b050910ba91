"""Files that verbs write: never over another one unasked, and whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from darts_py.errors import ArgumentError


def require_room(option: str, output: Path, overwrite: bool, permission: str) -> None:
    """Refuse, before any work, a place that is taken or cannot be written to.

    Args:
        option: as the user typed it, for the message.
        output: where the file will be.
        overwrite: whether a file there may go.
        permission: the option that says so.
    """
    if output.is_dir():
        raise ArgumentError(option, got=f"{output}, a folder", expected="a file name")
    if output.exists() and not overwrite:
        got, hint = f"{output}, which exists", f"{permission} overwrites it"
        raise ArgumentError(option, got=got, expected="a new file", hint=hint)
    if not output.parent.is_dir():
        got = f"{output}: there is no folder {output.parent}"
        raise ArgumentError(option, got=got, expected="a place to write to")


def write_whole(option: str, output: Path, content: bytes) -> None:
    """Write the whole file or nothing."""
    name = ""
    try:
        with tempfile.NamedTemporaryFile("wb", dir=output.parent, delete=False) as stream:
            name = stream.name
            stream.write(content)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, output)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        got = f"{output}: {error.strerror or error}"
        raise ArgumentError(option, got=got, expected="a place to write to") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
