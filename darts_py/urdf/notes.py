"""What a conversion leaves out or changes, gathered so that a hundred cases make one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from darts_py.spec.document import printable

MAX_PLACES = 8  # lines or names listed in one note


@dataclass(frozen=True)
class Note:
    """One kind of thing that was lost, changed or decided.

    `level` is `warning` for what changes the dynamics or drops information, `note` for decisions.
    """

    level: str
    text: str
    lines: tuple[int, ...] = ()  # of the URDF file, each occurrence

    def __str__(self) -> str:
        if not self.lines:
            return f"{self.level}: {self.text}"
        shown = ", ".join(str(line) for line in self.lines[:MAX_PLACES])
        more = ", ..." if len(self.lines) > MAX_PLACES else ""
        word = "line" if len(self.lines) == 1 else f"{len(self.lines)} times, lines"
        return f"{self.level}: {self.text} ({word} {shown}{more})"


@dataclass
class Notes:
    """Collects notes; equal texts become one with all their lines."""

    _lines: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def warn(self, text: str, line: int = 0) -> None:
        """Note something lost or changed."""
        self._add("warning", text, line)

    def tell(self, text: str, line: int = 0) -> None:
        """Note a decision."""
        self._add("note", text, line)

    def _add(self, level: str, text: str, line: int) -> None:
        places = self._lines.setdefault((level, printable(text)), [])
        places.extend([line] if line else [])

    def listed(self) -> Sequence[Note]:
        """Return warnings first, each kind in the order of its first occurrence."""
        notes = [Note(level, text, tuple(sorted(at))) for (level, text), at in self._lines.items()]
        return sorted(notes, key=lambda note: note.level != "warning")
