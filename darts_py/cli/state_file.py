"""States for the command line: from a JSON file, or named values one by one."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from darts_py.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np

    from darts_py.multibody.spacecraft import Spacecraft

LAYOUT = '{"q": [...], "u": [...], "tau": [...]} or {"set": {name: value}, "tau": {speed: value}}'

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="a coordinate or speed; repeat"),
]
ForceOption = Annotated[
    list[str] | None,
    typer.Option("--force", metavar="SPEED=VALUE", help="generalized force, held; repeat"),
]

KEYS = {"q", "u", "tau", "set"}
MAX_BYTES = 64 * 2**20  # of a state file
SAME = 1e-6  # m or rad: a state that is closed by moving less was closed


class State:
    """Coordinates, speeds and generalized forces; at rest in the neutral position to begin with."""

    def __init__(self, model: Spacecraft) -> None:
        import numpy as np

        self.model = model
        self.q, self.u = model.neutral(), np.zeros(model.n_speeds)
        self.tau = np.zeros(model.n_speeds)

    def set(self, what: str, name: str, value: object) -> None:
        """Set a coordinate or a speed by its name."""
        number = _number(f"{what} {name}", value)
        if name in self.model.speed_names:
            self.u[self.model.speed_names.index(name)] = number
        else:
            names = self.model.coord_names + self.model.speed_names
            place = find_name(what, name, names)
            self.q[place] = number

    def close(self) -> str:
        """Move to the nearest state that closes the model's loops; say so if it is another."""
        import numpy as np

        from darts_py.loops import close_loops

        if not self.model.tree.closures:
            return ""
        q, u = close_loops(self.model, self.q, self.u)
        moved = float(np.max(np.abs(q - self.q), initial=0.0))
        self.q, self.u = q, u
        if moved < SAME:
            return ""
        return f"Loops were open: coordinates moved by up to {moved:.3g} to close them."

    def set_force(self, what: str, name: str, value: object) -> None:
        """Set the generalized force on a speed."""
        place = find_name(what, name, self.model.speed_names)
        self.tau[place] = _number(f"{what} {name}", value)


def _number(what: str, value: object) -> float:
    try:
        number = float(value) if not isinstance(value, bool) else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ArgumentError(what, got=repr(value), expected="a finite number")
    return number


def find_name(what: str, name: str, names: Sequence[str]) -> int:
    """Return the place of a name; say what was meant if there is none."""
    if name in names:
        return list(names).index(name)
    close = difflib.get_close_matches(name, names, n=3) or list(names[:6])
    raise ArgumentError(what, got=repr(name), expected="a name of the model's state",
                        hint="did you mean " + ", ".join(close) + "?")  # fmt: skip


def assigned(state: State, values: list[str] | None, forces: list[str] | None) -> State:
    """Carry out every NAME=VALUE of --set and of --force."""
    for text in values or []:
        state.set("--set", *_parted("--set", text))
    for text in forces or []:
        state.set_force("--force", *_parted("--force", text))
    return state


def named_numbers(option: str, texts: list[str] | None) -> dict[str, float]:
    """Return every NAME=VALUE of an option as a mapping."""
    pairs = [_parted(option, text) for text in texts or []]
    return {name: _number(f"{option} {name}", value) for name, value in pairs}


def _parted(option: str, text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        hint = "for example drive.angle=0.1"
        raise ArgumentError(option, got=repr(text), expected="NAME=NUMBER", hint=hint)
    return name.strip(), value


def read_state(state: State, file: str) -> None:
    """Read a state file into `state`: vectors, named values, or what `darts simulate --json` wrote.

    A history (lists of states) stands for its last one.
    """
    document = _read(file)
    _check_keys(state, file, document)
    for key in ("q", "u", "tau"):
        if key in document and not isinstance(document[key], dict):
            _fill(f"--state {file}: {key}", getattr(state, key), document[key])
    for name, value in _named(file, document, "set").items():
        state.set(f"--state {file}: set", name, value)
    for name, value in _named(file, document, "tau").items():
        state.set_force(f"--state {file}: tau", name, value)


def _read(file: str) -> dict[str, Any]:
    what = f"--state {file}"
    try:
        with Path(file).open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ArgumentError(what, got=error.strerror or "an error", expected="a file") from None
    if len(raw) > MAX_BYTES:
        raise ArgumentError(what, got="a larger file", expected=f"at most {MAX_BYTES} bytes")
    try:
        document = json.loads(raw.decode())
    except UnicodeDecodeError:
        raise ArgumentError(what, got="bytes that are not UTF-8", expected="JSON") from None
    except json.JSONDecodeError as error:
        raise ArgumentError(what, got=str(error), expected="JSON") from None
    except RecursionError:
        raise ArgumentError(what, got="lists in lists in lists", expected=LAYOUT) from None
    if not isinstance(document, dict) or not KEYS & set(document):
        raise ArgumentError(what, got="another layout", expected=LAYOUT)
    return document


def _check_keys(state: State, file: str, document: dict[str, Any]) -> None:
    """Refuse keys that nobody reads, and the history of another model."""
    if "coord_names" in document:  # what `darts simulate --json` wrote has many keys
        for key in ("coord_names", "speed_names"):
            if document.get(key) != list(getattr(state.model, key)):
                raise ArgumentError(
                    f"--state {file}: {key}",
                    got="other names",
                    expected=f"those of {state.model.name}",
                    hint="a history belongs to the model that made it",
                )
        return
    unknown = sorted(set(document) - KEYS)
    if unknown:
        close = difflib.get_close_matches(unknown[0], sorted(KEYS), n=1)
        hint = f"did you mean '{close[0]}'?" if close else ""
        got = f"the key {unknown[0]!r}"
        raise ArgumentError(f"--state {file}", got=got, expected=LAYOUT, hint=hint)


def _named(file: str, document: dict[str, Any], key: str) -> dict[str, Any]:
    values = document.get(key, {})
    if isinstance(values, dict):
        return values
    if key == "set":
        raise ArgumentError(f"--state {file}: set", got=repr(values), expected="{name: value}")
    return {}


def _fill(what: str, target: np.ndarray, value: object) -> None:
    import numpy as np

    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim == 2 and len(array):
        array = array[-1]
    if array.shape != target.shape:
        got = f"shape {array.shape}" if array.ndim else repr(value)
        raise ArgumentError(what, got=got, expected=f"{target.size} finite numbers")
    if not np.all(np.isfinite(array)):
        worst = int(np.argmin(np.isfinite(array)))
        raise ArgumentError(f"{what}[{worst}]", got=array[worst], expected="a finite number")
    target[:] = array
