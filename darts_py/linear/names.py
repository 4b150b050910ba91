"""Names of states, inputs and outputs of linear models, and how a user picks some of them."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Sequence

import numpy as np

from darts_py.errors import ArgumentError
from darts_py.multibody.spacecraft import Spacecraft

Names = str | Sequence[str] | None

WRENCH = ("mx", "my", "mz", "fx", "fy", "fz")
POSITION, ROTATION = ("px", "py", "pz"), ("rx", "ry", "rz")
VELOCITY = ("wx", "wy", "wz", "vx", "vy", "vz")
ACCELERATION = ("alx", "aly", "alz", "ax", "ay", "az")
NODE_OUTPUTS = (*POSITION, *ROTATION, *VELOCITY, *ACCELERATION)

_QUATERNION = re.compile(r"\.q([wxyz])(_\d+)?$")


def local_names(model: Spacecraft) -> tuple[str, ...]:
    """Return the name of every local coordinate (one per speed).

    They are the names of the coordinates; a quaternion has three small rotations instead,
    `base.rot_x`, `base.rot_y`, `base.rot_z`, about the axes of the joint's outboard side.
    """
    names = []
    for name in model.coord_names:
        match = _QUATERNION.search(name)
        if match is None:
            names.append(name)
        elif match[1] != "w":
            names.append(f"{name[: match.start()]}.rot_{match[1]}{match[2] or ''}")
    return tuple(names)


def held_speeds(model: Spacecraft) -> np.ndarray:
    """Return which speeds cannot deviate: of locked joints, or prescribed (n_speeds,)."""
    return _locked(model) | (model.arrays.speed["given"] == 1)


def held_displacements(model: Spacecraft) -> np.ndarray:
    """Return which local coordinates cannot deviate (n_speeds,).

    Those of locked joints and of prescribed coordinates. A quasi-speed (of a ball, free or planar
    joint) is the rate of no coordinate: unless all speeds of the joint are prescribed, holding it
    holds nothing else (who turns about y and z only, ends up turned about x, too).
    """
    given = model.arrays.speed["given"] == 1
    for stage in model.arrays.stage:
        own = range(int(stage["u"]), int(stage["u"] + stage["n"]))
        if not all(given[j] for j in own):
            for j in own:
                given[j] &= model.movables[model.speed_names[j]][1] >= 0
    return _locked(model) | given


def _locked(model: Spacecraft) -> np.ndarray:
    locked = np.zeros(model.n_speeds, bool)
    for row in model.arrays.body[model.arrays.body["locked"] == 1]:
        first = row["u_start"] + row["n_modes"]
        locked[first : first + row["n_hinge"]] = True
    return locked


def is_mode(model: Spacecraft) -> np.ndarray:
    """Return which speeds are modal (n_speeds,)."""
    modal = np.zeros(model.n_speeds, bool)
    for row in model.arrays.body:
        modal[row["u_start"] : row["u_start"] + row["n_modes"]] = True
    return modal


def choose(what: str, wanted: Names, default: Sequence[str], catalogue: Sequence[str]) -> list[str]:
    """Return the names that `wanted` (names or patterns with * ? [...]) picks, in its order.

    A pattern picks in the order of the catalogue; what was picked before is not repeated.
    """
    if wanted is None:
        return list(default)
    if isinstance(wanted, str):
        wanted = [wanted]
    if not isinstance(wanted, Sequence) or not all(isinstance(name, str) for name in wanted):
        raise ArgumentError(what, got=repr(wanted), expected="names, or patterns such as 'bus.*'")
    known, chosen = set(catalogue), dict[str, None]()
    for name in wanted:
        found = [name] if name in known else _matching(name, catalogue)
        if not found:
            _refuse(what, name, catalogue)
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def _matching(pattern: str, catalogue: Sequence[str]) -> list[str]:
    return [name for name in catalogue if fnmatch.fnmatchcase(name, pattern)]


def _refuse(what: str, name: str, catalogue: Sequence[str]) -> None:
    close = difflib.get_close_matches(name, catalogue, n=3)
    if close:
        hint = "did you mean " + ", ".join(close) + "?"
    else:
        first = name.partition(".")[0]  # of the body or joint that was meant, if there is one
        shown = [known for known in catalogue if fnmatch.fnmatchcase(known.split(".")[0], first)]
        shown = shown or list(catalogue)
        hint = f"there are: {', '.join(shown[:12])}{', ...' if len(shown) > 12 else ''}"
    raise ArgumentError(what, got=repr(name), expected=f"one of the model's {what}", hint=hint)
