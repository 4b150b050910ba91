"""A YAML document as data plus places: every key and value knows its line and column.

PyYAML's safe event stream is read (nothing is ever constructed from a tag) and composed here,
because its own composer forgets places, keeps the last of two equal keys, and follows aliases
without bound. Plain scalars follow the YAML 1.2 core schema: `1e-3` is a number, `yes` a string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import yaml

from darts_py.errors import Fault

MAX_BYTES = 4 * 2**20
MAX_VALUES = 100_000  # after expansion of aliases, so that alias bombs are caught
MAX_DEPTH = 32

_TAG = "tag:yaml.org,2002:"
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")  # longer ones become floats
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Value:
    """A value of the document: `data` is the plain Python object, `children` its parts' places."""

    line: int
    column: int
    data: Any
    children: dict[str | int, Value]
    keys: dict[str, tuple[int, int]]  # places of a mapping's keys
    size: int = 1  # values in it, aliases expanded


class _Refusal(Exception):
    """The document is beyond reading; carries the fault."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def read_document(raw: bytes, file: str) -> tuple[Value | None, list[Fault]]:
    """Read one YAML document; the value is None where nothing could be made of it."""
    composer = _Composer(file)
    try:
        return composer.compose(_decode(raw, file)), composer.faults
    except _Refusal as refusal:
        return None, [*composer.faults, refusal.fault]
    except yaml.YAMLError as error:
        return None, [*composer.faults, _syntax_fault(error, file)]


def _decode(raw: bytes, file: str) -> str:
    if len(raw) > MAX_BYTES:
        raise _Refusal(
            Fault(
                "document",
                f"{len(raw)} bytes",
                f"at most {MAX_BYTES} bytes",
                "put mode shapes into a modes_file",
                file,
                1,
                1,
            )
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8-sig", "replace")
        line, column = _place_after(before)
        got = f"byte 0x{raw[error.start]:02x} that is not UTF-8"
        raise _Refusal(Fault("document", got, "text in UTF-8", "", file, line, column)) from error
    unprintable = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if unprintable:
        line, column = _place_after(text[: unprintable.start()])
        got = f"character U+{ord(unprintable.group()):04X}"
        raise _Refusal(Fault("document", got, "printable text", "", file, line, column))
    return text


def _place_after(text: str) -> tuple[int, int]:
    return text.count("\n") + 1, len(text) - (text.rfind("\n") + 1) + 1


def _syntax_fault(error: yaml.YAMLError, file: str) -> Fault:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    problem = str(getattr(error, "problem", None) or error)
    problem = re.sub(r"'?<([a-z ]+)>'?", r"\1", problem)  # the parser's names of its tokens
    hint = "indent with spaces, not tabs" if "\\t" in problem else ""
    hint = hint or str(getattr(error, "context", None) or "")
    parts = re.fullmatch(r"expected (.+), but (?:got|found) (.+)", problem)
    expected, got = parts.groups() if parts else ("valid YAML", problem)
    return Fault("document", got, expected, hint, file, line, column)


class _Composer:
    """Builds values from events, without recursion, within the limits."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.faults: list[Fault] = []
        self._anchors: dict[str, Value] = {}
        self._open_anchors: set[str] = set()
        self._count = 0
        self._path: list[str | int] = []

    def compose(self, text: str) -> Value | None:
        parse = cast("Callable[..., Iterator[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
        events = parse(text, Loader=yaml.SafeLoader)
        root: Value | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    self._refuse(event, "a second document (---)", "one document per file")
                root = self._value(next(events), events)
        if root is None:
            fault = Fault("document", "an empty file", "a model", "", self.file, 1, 1)
            raise _Refusal(fault)
        return root

    def _value(self, event: yaml.Event, events: Iterator[yaml.Event]) -> Value:
        """Compose the value that `event` opens; depth is bounded, so recursion is safe."""
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if len(self._path) >= MAX_DEPTH:
            self._refuse(event, f"values nested {MAX_DEPTH + 1} deep", f"at most {MAX_DEPTH}")
        self._grow(event, 1)
        anchor = getattr(event, "anchor", None)
        if anchor:
            self._open_anchors.add(anchor)
        if isinstance(event, yaml.MappingStartEvent):
            value = self._mapping(event, events)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(event, events)
        else:
            value = self._scalar(cast("yaml.ScalarEvent", event))
        if anchor:
            self._open_anchors.discard(anchor)
            self._anchors[anchor] = value
        return value

    def _alias(self, event: yaml.AliasEvent) -> Value:
        name = str(event.anchor)
        if name in self._open_anchors:
            self._refuse(event, f"alias *{name} inside its own anchor", "a finite document")
        if name not in self._anchors:
            self._refuse(event, f"alias *{name}", "an alias of an earlier anchor")
        value = self._anchors[name]
        self._grow(event, value.size)
        return value

    def _mapping(self, event: yaml.Event, events: Iterator[yaml.Event]) -> Value:
        self._check_tag(event, "map")
        value = _start(event, {})
        for key_event in events:
            if isinstance(key_event, yaml.MappingEndEvent):
                break
            key = self._key(key_event)
            self._path.append(key)
            child = self._value(next(events), events)
            if key in value.children:
                first = value.keys[key][0]
                got = f"key '{key}' a second time (first on line {first})"
                self._note(key_event, got, "each key once")
            else:
                mark = key_event.start_mark
                value.keys[key] = (mark.line + 1, mark.column + 1)
                value.children[key] = child
                value.data[key] = child.data
            value.size += child.size
            self._path.pop()
        return value

    def _key(self, event: yaml.Event) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            what = "an alias" if isinstance(event, yaml.AliasEvent) else "a list or mapping"
            self._refuse(event, f"{what} as a key", "a plain word as a key")
        self._grow(event, 1)
        return str(event.value)

    def _sequence(self, event: yaml.Event, events: Iterator[yaml.Event]) -> Value:
        self._check_tag(event, "seq")
        value = _start(event, [])
        for item in events:
            if isinstance(item, yaml.SequenceEndEvent):
                break
            self._path.append(len(value.data))
            child = self._value(item, events)
            value.children[self._path.pop()] = child
            value.data.append(child.data)
            value.size += child.size
        return value

    def _scalar(self, event: yaml.ScalarEvent) -> Value:
        text, tag = str(event.value), cast("str | None", event.tag)
        if tag is None and event.style is None:  # plain, not quoted
            return _start(event, _resolve(text))
        if tag in (None, "!", _TAG + "str"):
            return _start(event, text)
        if tag in (_TAG + "int", _TAG + "float", _TAG + "bool", _TAG + "null"):
            return _start(event, _resolve(text))
        self._check_tag(event, "str")
        return _start(event, text)

    def _check_tag(self, event: yaml.Event, plain: str) -> None:
        tag = getattr(event, "tag", None)
        if tag not in (None, "!", _TAG + plain):
            shown = str(tag).replace(_TAG, "!!")
            self._note(event, f"tag {shown}", "plain values without tags")

    def _grow(self, event: yaml.Event, size: int) -> None:
        self._count += size
        if self._count > MAX_VALUES:
            self._refuse(event, "too many values (aliases expanded)", f"at most {MAX_VALUES}")

    def _fault(self, event: yaml.Event, got: str, expected: str) -> Fault:
        mark = event.start_mark
        path = show_path(tuple(self._path))
        return Fault(path, printable(got), expected, "", self.file, mark.line + 1, mark.column + 1)

    def _note(self, event: yaml.Event, got: str, expected: str) -> None:
        self.faults.append(self._fault(event, got, expected))

    def _refuse(self, event: yaml.Event, got: str, expected: str) -> NoReturn:
        raise _Refusal(self._fault(event, got, expected))


def _start(event: yaml.Event, data: Any) -> Value:
    mark = event.start_mark
    return Value(mark.line + 1, mark.column + 1, data, {}, {})


def _resolve(text: str) -> Any:
    """Give a plain scalar its type, after the YAML 1.2 core schema."""
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", "", 1))
    if _BOOL.fullmatch(text):
        return text.lower() == "true"
    return None if _NULL.fullmatch(text) else text


def show_path(path: Path) -> str:
    """Write a path as people do: `bodies.panel.nodes.tip.position_m[2]`."""
    text = ""
    for item in path:
        if isinstance(item, int):
            text += f"[{item}]"
        else:
            text += f".{item}" if text else item
    return printable(text) or "document"


def printable(text: str) -> str:
    """Escape what a terminal would obey: files are not trusted."""
    return text if text.isprintable() else text.encode("unicode_escape").decode("ascii")
