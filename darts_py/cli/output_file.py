"""Files that a verb writes: never over another one unasked, and whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from darts_py.errors import ArgumentError


def require_room(output: Path | None, force: bool) -> None:
    """Refuse a file that is there already, and a folder that is not."""
    if output is None:
        return
    if output.exists() and not force:
        got, hint = f"{output}, which exists", "--force overwrites it"
        raise ArgumentError("--output", got=got, expected="a new file", hint=hint)
    if not output.parent.is_dir():
        got = f"{output}, and no folder {output.parent}"
        raise ArgumentError("--output", got=got, expected="a file in a folder that exists")


def write_whole(raw: bytes, output: Path) -> None:
    """Write a file at once: what was there stays until the new one is complete."""
    try:
        with tempfile.NamedTemporaryFile("wb", dir=output.parent, delete=False) as stream:
            stream.write(raw)
        os.chmod(stream.name, 0o666 & ~_umask())
        os.replace(stream.name, output)
    except OSError as error:
        got = f"{output}: {error.strerror}"
        raise ArgumentError("--output", got=got, expected="a place to write to") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
