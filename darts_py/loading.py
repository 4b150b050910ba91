"""From a model file, or the name of a shipped model, to a spacecraft."""

from __future__ import annotations

import os

from darts_py.errors import ArgumentError
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.spec import find_model, load_tree


def load_model(name: str | os.PathLike[str]) -> Spacecraft:
    """Load a model file, or a shipped model by its name.

    Args:
        name: a path, or a name of `darts model list`; a file of that name comes first.

    Returns:
        The spacecraft; its state has `n_coords` coordinates and `n_speeds` speeds, named by
        `coord_names` and `speed_names`.

    Raises:
        ModelError: listing every fault of the file with its place.
    """
    if not isinstance(name, str | os.PathLike):
        expected = "a path or the name of a shipped model"
        raise ArgumentError("name", got=type(name).__name__, expected=expected)
    return Spacecraft(load_tree(find_model(os.fspath(name))))
