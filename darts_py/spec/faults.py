"""The list of faults of one file, and how values and suggestions are worded in it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from darts_py.errors import Fault
from darts_py.spec.document import Path, Value, printable, show_path

MAX_SHOWN = 60  # characters of a value quoted in a message


class FaultLog:
    """Collects faults and gives each its place in the document."""

    def __init__(self, file: str, root: Value, faults: Iterable[Fault] = ()) -> None:
        self._file = file
        self._root = root
        self._faults = list(faults)

    def __len__(self) -> int:
        return len(self._faults)

    def add(
        self, path: Path, got: str, expected: str, hint: str = "", *, at_key: bool = False
    ) -> None:
        """Note a fault at the value of `path`, or at its key."""
        line, column = self.place(path, at_key=at_key)
        got, expected, hint = printable(got), printable(expected), printable(hint)
        fault = Fault(show_path(path), got, expected, hint, self._file, line, column)
        self._faults.append(fault)

    def place(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        """Return line and column of a path; of the nearest key above it where it is missing."""
        value, place = self._root, (self._root.line, self._root.column)
        for item in path:
            if item not in value.children:
                return place
            key_place = value.keys.get(str(item))
            value = value.children[item]
            place = key_place or (value.line, value.column)
        return place if at_key else (value.line, value.column)

    def sorted(self) -> list[Fault]:
        """Return the faults in file order, each once."""
        unique = dict.fromkeys(self._faults)
        return sorted(unique, key=lambda fault: (fault.line, fault.column, fault.path))


def show(value: object) -> str:
    """Quote a value from a file, short and on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        keys = ", ".join(str(key) for key in value)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        return _shorten(f"a mapping with keys {keys}" if value else "an empty mapping")
    if isinstance(value, bool):
        return "true" if value else "false"
    return _shorten(repr(value))  # pyright: ignore[reportUnknownArgumentType]


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


def suggest(word: str, known: Iterable[str]) -> str:
    """Return "did you mean 'x'?" if one of the known words is near, else an empty string."""
    near = difflib.get_close_matches(word[:100], list(known), n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else ""


def listing(words: Iterable[str]) -> str:
    """Join words for a message, the long lists cut."""
    words = list(words)
    if len(words) > 16:
        words = [*words[:15], f"... ({len(words)} in all)"]
    return ", ".join(words)
