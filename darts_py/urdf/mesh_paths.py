"""Paths of mesh files, which are relative to the file that names them."""

from __future__ import annotations

import os
from pathlib import Path


def moved_mesh(mesh: str, source: Path | None, output: Path | None) -> str:
    """Return the path of a mesh named in `source` as `output` must name it.

    URIs and absolute paths stay, and so does everything where either file is not known.
    """
    if not mesh or "://" in mesh or os.path.isabs(mesh) or source is None or output is None:
        return mesh
    target = os.path.abspath(source.parent / mesh)
    return Path(os.path.relpath(target, os.path.abspath(output.parent))).as_posix()
