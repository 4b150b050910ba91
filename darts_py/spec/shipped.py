"""Where models are: a path, or the name of a model that is shipped with the package."""

from __future__ import annotations

from pathlib import Path

from darts_py.errors import ArgumentError
from darts_py.spec.faults import listing, suggest

_PACKAGE = Path(__file__).resolve().parents[1]
_FOLDERS = (
    _PACKAGE.parent / "models",  # a checkout
    _PACKAGE / "_shipped" / "models",  # an installed wheel
)


def _folder() -> Path | None:
    # a site-packages folder may hold somebody else's "models"; ours has the package's own models
    return next((folder for folder in _FOLDERS if (folder / "golden.yaml").is_file()), None)


def list_models() -> list[str]:
    """Return the names of the shipped models."""
    folder = _folder()
    return sorted(file.stem for file in folder.glob("*.yaml")) if folder else []


def find_model(name_or_path: str | Path) -> Path:
    """Return the file of a model: the path itself, or a shipped model of that name.

    Raises:
        ArgumentError: there is neither.
    """
    path, folder = Path(name_or_path), _folder()
    if path.is_file():
        return path
    if folder and path.name == str(name_or_path) and (folder / f"{path.name}.yaml").is_file():
        return folder / f"{path.name}.yaml"
    if path.is_dir():
        raise ArgumentError("model", got=f"{path}, a folder", expected="a model file")
    known = list_models()
    hint = suggest(path.stem, known) or f"shipped models: {listing(known)}"
    raise ArgumentError("model", got=f"'{path}'", expected="a file, or a shipped model", hint=hint)
