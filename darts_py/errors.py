"""The error family: every message says what, where, got, expected and, where one helps, a hint."""

from __future__ import annotations

from dataclasses import dataclass


class DartsError(Exception):
    """Base of everything darts-py raises on purpose."""


class ArgumentError(DartsError, ValueError):
    """An argument of the Python API has the wrong type, shape or value."""

    def __init__(self, what: str, *, got: object, expected: str, hint: str = "") -> None:
        text = f"{what}: got {got}, expected {expected}"
        super().__init__(f"{text} ({hint})" if hint else text)


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a model or scenario file.

    `line` and `column` count from 1; 0 means the place is not known.
    """

    path: str  # where in the document, e.g. "bodies.panel.mass_kg"
    got: str
    expected: str
    hint: str = ""
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        hint = f" (hint: {self.hint})" if self.hint else ""
        return f"{place}{self.path}: got {self.got}, expected {self.expected}{hint}"


class ModelError(DartsError):
    """A spacecraft model that cannot be simulated; `faults` lists everything wrong with it."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__("\n".join(str(fault) for fault in faults))
