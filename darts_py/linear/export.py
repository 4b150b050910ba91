"""Linear models in files and in other tools: NumPy, MATLAB, JSON, python-control.

The same model gives the same bytes in every format.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from darts_py.errors import ArgumentError
from darts_py.linear.linear_model import LinearModel
from darts_py.linear.modes import Modes

FORMAT = 1  # of the files
MATRICES = ("A", "B", "C", "D", "mass", "shape_basis")
NAMES = ("state_names", "input_names", "output_names", "local_names", "body_names")
REFERENCE = ("q", "u", "tau", "udot", "y")

# MATLAB's header is 116 bytes of free text; SciPy writes the date there
MAT_HEADER = b"MATLAB 5.0 MAT-file, a linear model by darts-py".ljust(116)

IN_CONTROL = ":"  # stands for the dot, which python-control keeps for itself; no name has one


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


def mode_arrays(modes: Modes) -> dict[str, np.ndarray]:
    """Return the modes as arrays with one column, or one entry, per mode."""
    return {
        "mode_eigenvalues": modes.eigenvalues,
        "mode_frequencies_hz": modes.frequencies_hz,
        "mode_damping_ratios": modes.damping_ratios,
        "mode_shapes": _columns([mode.shape for mode in modes], len(modes.local_names)),
        "mode_output_shapes": _columns(
            [mode.output_shape for mode in modes], len(modes.output_names)
        ),
        "mode_participation": np.real(
            _columns([mode.participation for mode in modes], len(modes.body_names))
        ),
        "n_rigid": np.array(modes.n_rigid),
        "n_zero": np.array(modes.n_zero),
    }


def _columns(columns: list[np.ndarray], height: int) -> np.ndarray:
    return np.reshape(np.array(columns, complex), (len(columns), height)).T.copy()


def _arrays(model: LinearModel) -> dict[str, np.ndarray]:
    """Return every array of a model and of its modes."""
    return {key: getattr(model, key) for key in (*MATRICES, *REFERENCE)} | mode_arrays(
        model.modes()
    )


def to_npz(model: LinearModel) -> bytes:
    """Return a file for `numpy.load`; names are arrays of text, nothing is pickled."""
    arrays = _arrays(model)
    arrays |= {key: np.array(getattr(model, key), np.str_) for key in NAMES}
    arrays |= {key: np.array(value) for key, value in _facts(model).items()}
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return stream.getvalue()


def to_mat(model: LinearModel) -> bytes:
    """Return a MATLAB file, level 5; names are cell arrays of text, vectors are columns.

    In MATLAB: s = load('file.mat'); ss(s.A, s.B, s.C, s.D, 'StateName', s.state_names,
    'InputName', s.input_names, 'OutputName', s.output_names).
    """
    from scipy.io import savemat

    arrays = _arrays(model)
    data: dict[str, Any] = {
        key: array[:, None] if array.ndim == 1 else array for key, array in arrays.items()
    }
    data |= {key: _cells(getattr(model, key)) for key in NAMES}
    data |= _facts(model)
    stream = io.BytesIO()
    savemat(stream, data, do_compression=True)
    return MAT_HEADER + stream.getvalue()[len(MAT_HEADER) :]


def _cells(names: tuple[str, ...]) -> np.ndarray:
    """Return a column of objects, which MATLAB reads as a cell array of character vectors."""
    cells = np.empty((len(names), 1), object)
    cells[:, 0] = names
    return cells


def to_json(model: LinearModel) -> bytes:
    """Return JSON: matrices by rows."""
    return (json.dumps(as_dict(model), indent=1, allow_nan=False) + "\n").encode()


def as_dict(model: LinearModel) -> dict[str, Any]:
    """Return the model as plain lists, numbers and text; complex ones as two, real and imag."""
    out = _facts(model)
    out |= {key: list(getattr(model, key)) for key in NAMES}
    for key, array in _arrays(model).items():
        if np.iscomplexobj(array):
            out[f"{key}_real"] = np.real(array).tolist()
            out[f"{key}_imag"] = np.imag(array).tolist()
        else:
            out[key] = array.tolist()
    return out


WRITERS: dict[str, Callable[[LinearModel], bytes]] = {
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


def encoded(model: LinearModel, path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file in the format that the ending of `path` says."""
    return WRITERS[require_ending(path).suffix](model)


def save(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write the model in the format that the ending of `path` says, over what is there."""
    require_ending(path).write_bytes(encoded(model, path))


def control_name(name: str) -> str:
    """Return a name as python-control has it: `drive:angle` for `drive.angle`."""
    return name.replace(".", IN_CONTROL)


def name_of_control(label: str) -> str:
    """Return the name of a signal of `to_control`'s system: what `control_name` was given."""
    return label.replace(IN_CONTROL, ".")


def to_control(model: LinearModel) -> Any:
    """Return a `control.StateSpace`, its signals named by `control_name`.

    Its attribute `darts_modes` holds the modes as arrays, with the keys of the files: the library
    has no place for them, and systems made from this one do not inherit it.
    """
    try:
        import control
    except ImportError:
        raise ArgumentError(
            "to_control",
            got="no package 'control'",
            expected="python-control",
            hint="pip install darts-py[control]",
        ) from None
    states, inputs, outputs = (
        [control_name(name) for name in names]
        for names in (model.state_names, model.input_names, model.output_names)
    )
    system: Any = control.ss(
        model.A,
        model.B,
        model.C,
        model.D,
        states=states,
        inputs=inputs,
        outputs=outputs,
        name=model.name,
    )
    system.darts_modes = mode_arrays(model.modes())
    return system
