"""Modal data in an .npz file: nodes, lumped masses, mode shapes, stiffness and damping.

The file is untrusted; `structures.npz` reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic_core import PydanticCustomError

from darts_py.spec.fields import LARGEST, NAME_PATTERN, semidefinite, symmetric
from darts_py.spec.inertia import check_principal
from darts_py.structures.npz import Array, Note, read_arrays

MAX_BYTES = 256 * 2**20  # of all arrays, unpacked


@dataclass(frozen=True)
class ModalData:
    """A flexible body as arrays; n nodes, nm modes."""

    names: list[str]
    position_m: Array  # (n, 3)
    mass_kg: Array  # (n,)
    center_of_mass_offset_m: Array  # (n, 3)
    inertia_kg_m2: Array  # (n, 3, 3)
    modes: Array  # slope, displacement   (n, 6, nm)
    stiffness_n_m: Array  # (nm, nm)
    damping_n_m_s: Array | None  # (nm, nm)


REQUIRED = ("names", "position_m", "mass_kg", "inertia_kg_m2", "modes", "stiffness_n_m")
OPTIONAL = ("center_of_mass_offset_m", "damping_n_m_s")


def read_modes_file(file: Path, note: Note) -> ModalData | None:
    """Read and check a modes file; every fault is noted, None means there were some."""
    arrays = read_arrays(file, note, MAX_BYTES)
    if arrays is None:
        return None
    faults: list[str] = []

    def count(got: str, expected: str) -> None:
        faults.append(got)
        note(f"{got} in {file.name}", expected)

    for name in REQUIRED:
        if name not in arrays:
            count(f"no array '{name}'", f"arrays {', '.join(REQUIRED)}")
    for name in sorted(set(arrays) - {*REQUIRED, *OPTIONAL}):
        count(f"unknown array '{name}'", f"arrays {', '.join([*REQUIRED, *OPTIONAL])}")
    _check_shapes(arrays, count)
    _check_values(arrays, count)
    if faults:
        return None
    _check_physics(arrays, count)
    return None if faults else _modal_data(arrays)


def _check_shapes(arrays: dict[str, Array], note: Note) -> None:
    if not all(name in arrays for name in ("names", "modes")):
        return
    names, modes = arrays["names"], arrays["modes"]
    if names.dtype.kind != "U" or names.ndim != 1 or len(names) == 0:
        note(f"array 'names' of {_form(names)}", "one text per node")
        return
    n = len(names)
    if modes.ndim != 3 or modes.shape[:2] != (n, 6) or modes.shape[2] == 0:
        note(f"array 'modes' of {_form(modes)}", f"shape ({n}, 6, modes): nodes, slope and shift")
        return
    nm = modes.shape[2]
    shapes = {
        "position_m": [(n, 3)],
        "mass_kg": [(n,)],
        "center_of_mass_offset_m": [(n, 3)],
        "inertia_kg_m2": [(n, 3, 3), (n, 3)],
        "stiffness_n_m": [(nm, nm), (nm,)],
        "damping_n_m_s": [(nm, nm), (nm,)],
    }
    for name, allowed in shapes.items():
        if name in arrays and arrays[name].shape not in allowed:
            expected = " or ".join(f"shape {shape}" for shape in allowed)
            note(f"array '{name}' of {_form(arrays[name])}", expected)


def _form(array: Array) -> str:
    return f"shape {array.shape}, type {array.dtype}"


def _check_values(arrays: dict[str, Array], note: Note) -> None:
    for name, array in arrays.items():
        if name == "names":
            _check_names(array, note)
        elif name not in REQUIRED and name not in OPTIONAL:
            continue
        elif array.dtype.kind not in "fiu":
            note(f"array '{name}' of type {array.dtype}", "numbers")
        elif not np.all(np.isfinite(array)) or np.any(np.abs(array.astype(float)) > LARGEST):
            note(f"array '{name}' with a value that is not finite", "finite numbers")
    mass = arrays.get("mass_kg")
    if mass is not None and mass.dtype.kind == "f" and np.any(mass < 0.0):
        note(f"array 'mass_kg' with {mass.min():g}", "masses >= 0")


def _check_names(names: Array, note: Note) -> None:
    if names.dtype.kind != "U":
        return  # noted with the shapes
    words = [str(word) for word in names.ravel()]
    for word in words:
        if not re.fullmatch(NAME_PATTERN, word):
            note(f"array 'names' with {word[:40]!r}", "names of letters, digits and _")
    if len(set(words)) < len(words):
        note("array 'names' with a name twice", "each name once")


def _check_physics(arrays: dict[str, Array], note: Note) -> None:
    for name in ("stiffness_n_m", "damping_n_m_s"):
        if name in arrays:
            try:
                semidefinite(symmetric(_square(arrays[name]), "a matrix"), "a matrix")
            except PydanticCustomError as error:
                _note_refusal(error, f"array '{name}'", note)
    for name, J in zip(arrays["names"], _matrices(arrays["inertia_kg_m2"]), strict=True):
        try:
            check_principal(symmetric(J, "an inertia"))
        except PydanticCustomError as error:
            _note_refusal(error, f"array 'inertia_kg_m2' at node '{name}'", note)


def _note_refusal(error: PydanticCustomError, where: str, note: Note) -> None:
    context = error.context or {}
    note(f"{where}: {context['got']}", str(context["expected"]))


def _square(values: Array) -> Array:
    values = values.astype(float)
    return np.diag(values) if values.ndim == 1 else values


def _matrices(values: Array) -> Array:
    values = values.astype(float)
    return values if values.ndim == 3 else values[:, :, None] * np.eye(3)


def _modal_data(arrays: dict[str, Array]) -> ModalData:
    n = len(arrays["names"])
    damping = arrays.get("damping_n_m_s")
    offset = arrays.get("center_of_mass_offset_m", np.zeros((n, 3)))
    return ModalData(
        names=[str(name) for name in arrays["names"]],
        position_m=arrays["position_m"].astype(float),
        mass_kg=arrays["mass_kg"].astype(float),
        center_of_mass_offset_m=offset.astype(float),
        inertia_kg_m2=_matrices(arrays["inertia_kg_m2"]),
        modes=arrays["modes"].astype(float),
        stiffness_n_m=_square(arrays["stiffness_n_m"]),
        damping_n_m_s=None if damping is None else _square(damping),
    )
