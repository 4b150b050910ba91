"""From a model file, or the name of a shipped model, to a spacecraft."""

from __future__ import annotations

import os

from darts_py.multibody.spacecraft import Spacecraft
from darts_py.spec import find_model, load_tree


def load_model(name: str | os.PathLike[str]) -> Spacecraft:
    """Load a model file, or a shipped model by its name; raise ModelError listing all faults."""
    return Spacecraft(load_tree(find_model(os.fspath(name))))
