"""What a structure is refused for; the model file's loader gives each its place in the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from darts_py.errors import DartsError


@dataclass(frozen=True)
class Refusal:
    """One thing wrong with a structure; `key` names the property or file it is about."""

    key: str  # "" for the structure as a whole
    got: str
    expected: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" (hint: {self.hint})" if self.hint else ""
        return f"{self.key or 'structure'}: got {self.got}, expected {self.expected}{hint}"


class StructureError(DartsError):
    """A structure that has no modal description; `refusals` lists all that is wrong with it."""

    def __init__(self, refusals: list[Refusal]) -> None:
        self.refusals = refusals
        super().__init__("\n".join(str(refusal) for refusal in refusals))


def refuse(key: str, got: str, expected: str, hint: str = "") -> StructureError:
    """Return the error for a single refusal, to be raised."""
    return StructureError([Refusal(key, got, expected, hint)])


class Refusals:
    """Collects refusals, so that one does not hide another."""

    def __init__(self) -> None:
        self._found: list[Refusal] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, key: str, got: str, expected: str, hint: str = "") -> None:
        """Note one."""
        self._found.append(Refusal(key, got, expected, hint))

    def note(self, key: str) -> Callable[[str, str], None]:
        """Return a function of (got, expected) that notes a refusal of `key`."""
        return lambda got, expected: self.add(key, got, expected)

    def settle(self) -> None:
        """Raise if there are any."""
        if self._found:
            raise StructureError(self._found)
