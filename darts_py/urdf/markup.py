"""XML as elements with places, read by expat with everything that can be abused refused.

A document type declaration is refused outright: it is the only door to entities (billion laughs)
and to external files. Size, depth and number of elements are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from darts_py.errors import Fault
from darts_py.spec.document import printable

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 32
MAX_ELEMENTS = 200_000


@dataclass(slots=True)
class Element:
    """An element of the file; text between elements has no meaning in URDF and is dropped."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Return the children of this tag."""
        return [child for child in self.children if child.tag == tag]


class _Refusal(Exception):
    """The document is beyond reading."""

    def __init__(self, got: str, expected: str, hint: str = "") -> None:
        super().__init__(got)
        self.got, self.expected, self.hint = got, expected, hint


def read_markup(raw: bytes, file: str) -> tuple[Element | None, list[Fault]]:
    """Parse a document; its root is None where it was refused, and the fault says why."""
    if len(raw) > MAX_BYTES:
        got, expected = f"{len(raw)} bytes", f"at most {MAX_BYTES} bytes"
        return None, [Fault("document", got, expected, "", file, 1, 1)]
    reader = _Reader()
    try:
        reader.parser.Parse(raw, True)
    except _Refusal as refusal:
        fault = Fault(
            "document",
            printable(refusal.got),
            refusal.expected,
            refusal.hint,
            file,
            *reader.place(),
        )
        return None, [fault]
    except expat.ExpatError as error:
        got = printable(expat.ErrorString(error.code))
        fault = Fault("document", got, "well-formed XML", "", file, error.lineno, error.offset + 1)
        return None, [fault]
    except (LookupError, ValueError) as error:  # an encoding that Python does not know
        fault = Fault("document", printable(str(error)), "UTF-8 text", "", file, *reader.place())
        return None, [fault]
    return reader.root, []


class _Reader:
    """Builds elements from the parser's events."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._entity

    def place(self) -> tuple[int, int]:
        return self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1

    def _doctype(self, name: str, *_: object) -> None:
        raise _Refusal(
            f"a document type declaration <!DOCTYPE {name}>",
            "none: URDF needs no entities, and they can be abused",
            "delete it",
        )

    def _entity(self, name: str, *_: object) -> None:
        raise _Refusal(f"an entity '{name}'", "none")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise _Refusal("too many elements", f"at most {MAX_ELEMENTS}")
        if len(self._open) >= MAX_DEPTH:
            raise _Refusal(f"elements nested {MAX_DEPTH + 1} deep", f"at most {MAX_DEPTH}")
        element = Element(tag, attributes, *self.place())
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, tag: str) -> None:
        self._open.pop()
