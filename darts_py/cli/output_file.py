"""Files that a verb writes: never over another one unasked, and whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from darts_py.errors import ArgumentError


def require_room(
    output: Path | None, force: bool, *, option: str = "--output", permission: str = "--force"
) -> None:
    """Refuse, before any work, a file that is there already, and a folder that is not.

    Args:
        output: where the file will be; None is stdout.
        force: whether a file there may go.
        option: as the user knows it, for the message.
        permission: the option that says that it may go.
    """
    if output is None:
        return
    if output.is_dir():
        raise ArgumentError(option, got=f"{output}, a folder", expected="a file name")
    if output.exists() and not force:
        got, hint = f"{output}, which exists", f"{permission} overwrites it"
        raise ArgumentError(option, got=got, expected="a new file", hint=hint)
    if not output.parent.is_dir():
        got = f"{output}, and no folder {output.parent}"
        raise ArgumentError(option, got=got, expected="a file in a folder that exists")


def write_whole(raw: bytes, output: Path, *, option: str = "--output") -> None:
    """Write a file at once: what was there stays until the new one is complete."""
    name = ""
    try:
        with tempfile.NamedTemporaryFile("wb", dir=output.parent, delete=False) as stream:
            name = stream.name
            stream.write(raw)
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
