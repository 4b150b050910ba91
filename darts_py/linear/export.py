"""Linear models in files and in other tools: NumPy, MATLAB, JSON, python-control."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from darts_py.errors import ArgumentError
from darts_py.linear.linear_model import LinearModel

FORMAT = 1  # of the files
MATRICES = ("A", "B", "C", "D")
NAMES = ("state_names", "input_names", "output_names")
REFERENCE = ("q", "u", "tau", "udot", "y")


def _facts(model: LinearModel) -> dict[str, Any]:
    """Return what is neither matrix nor name."""
    return {
        "format": FORMAT,
        "model": model.name,
        "terms": model.terms,
        "n_freedoms": model.n_freedoms,
        "n_closures": model.n_closures,
        "is_equilibrium": model.is_equilibrium,
        "equilibrium_defect": model.equilibrium_defect,
        "derivative_error": model.derivative_error,
    }


def to_npz(model: LinearModel, path: Path) -> None:
    """Write arrays for `numpy.load`; names are arrays of text, nothing is pickled."""
    arrays = {key: getattr(model, key) for key in (*MATRICES, *REFERENCE, "mass", "shape_basis")}
    arrays |= {key: np.array(getattr(model, key), np.str_) for key in (*NAMES, "local_names")}
    arrays |= {key: np.array(value) for key, value in _facts(model).items()}
    with path.open("wb") as file:  # numpy adds an ending of its own to a name
        np.savez(file, allow_pickle=False, **arrays)


def to_mat(model: LinearModel, path: Path) -> None:
    """Write a MATLAB file, level 5; names are cell arrays of text.

    In MATLAB: s = load('file.mat'); ss(s.A, s.B, s.C, s.D, 'StateName', s.state_names,
    'InputName', s.input_names, 'OutputName', s.output_names).
    """
    from scipy.io import savemat

    data: dict[str, Any] = {key: getattr(model, key) for key in (*MATRICES, "mass")}
    data |= {key: getattr(model, key)[:, None] for key in REFERENCE}
    data |= {key: _cells(getattr(model, key)) for key in NAMES}
    data |= _facts(model)
    savemat(path, data, appendmat=False, do_compression=True)


def _cells(names: tuple[str, ...]) -> np.ndarray:
    """Return a column of objects, which MATLAB reads as a cell array of character vectors."""
    cells = np.empty((len(names), 1), object)
    cells[:, 0] = names
    return cells


def to_json(model: LinearModel, path: Path) -> None:
    """Write JSON: matrices by rows."""
    path.write_text(json.dumps(as_dict(model), indent=1) + "\n", "utf-8")


def as_dict(model: LinearModel) -> dict[str, Any]:
    """Return the model as plain lists, numbers and text."""
    out = _facts(model)
    out |= {key: list(getattr(model, key)) for key in NAMES}
    out |= {key: getattr(model, key).tolist() for key in (*MATRICES, *REFERENCE)}
    return out


WRITERS: dict[str, Callable[[LinearModel, Path], None]] = {
    ".npz": to_npz,
    ".mat": to_mat,
    ".json": to_json,
}


def require_ending(path: str | os.PathLike[str]) -> Path:
    """Return the path; refuse one whose ending says no known format."""
    place = Path(path)
    if place.suffix not in WRITERS:
        expected = "a file name that ends in " + ", ".join(WRITERS)
        raise ArgumentError("file", got=repr(os.fspath(path)), expected=expected)
    return place


def save(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write the model in the format that the ending of `path` says."""
    place = require_ending(path)
    WRITERS[place.suffix](model, place)


def to_control(model: LinearModel) -> Any:
    """Return a `control.StateSpace`; dots in names become underscores, as that library asks."""
    try:
        import control
    except ImportError:
        raise ArgumentError(
            "to_control",
            got="no package 'control'",
            expected="python-control",
            hint="pip install darts-py[control]",
        ) from None
    names = (
        [name.replace(".", "_") for name in getattr(model, key)]
        for key in ("state_names", "input_names", "output_names")
    )
    states, inputs, outputs = names
    return control.ss(
        model.A,
        model.B,
        model.C,
        model.D,
        states=states,
        inputs=inputs,
        outputs=outputs,
        name=model.name,
    )
