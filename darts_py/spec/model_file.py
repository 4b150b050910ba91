"""The whole model file, and pydantic's findings turned into faults of this project's wording."""

from __future__ import annotations

from typing import Any, Literal, TypeVar, cast

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from darts_py.spec import fields
from darts_py.spec.bodies import ZERO, BodySpec
from darts_py.spec.closures import ClosureSpec
from darts_py.spec.document import Path
from darts_py.spec.faults import FaultLog, listing, show, suggest
from darts_py.spec.fields import Name, Spec, Vector3
from darts_py.spec.joints import JointSpec

T = TypeVar("T")

LATER = {
    "devices": "devices come in a later version of the format",
}
SECTIONS = ("bodies", "joints", "closures")  # mappings by name, each entry checked alone
NAME_RULE = "a letter, then letters, digits or _ (64 at most)"


class Header(Spec):
    """What a model file says besides bodies, joints and closures."""

    darts_model: Literal[1] = Field(description="version of the format")
    name: Name = Field(description="what logs and tables call the spacecraft")
    description: str = ""
    gravity_m_s2: Vector3 = Field(ZERO, description="uniform field, world axes")

    @classmethod
    def known_keys(cls) -> list[str]:
        """Return the keys of the top level; its sections are checked apart."""
        return [*Header.model_fields, *SECTIONS]


class ModelFile(Header):
    """A spacecraft model of darts-py, format version 1. SI units, named in the keys."""

    bodies: dict[Name, BodySpec] = Field(min_length=1, description="bodies by name")
    joints: dict[Name, JointSpec] = Field(
        min_length=1, description="joints by name; every body is the child of exactly one"
    )
    closures: dict[Name, ClosureSpec] = Field(
        default={}, description="closures by name; each ties two frames and so closes a loop"
    )


def validate(adapter: TypeAdapter[T], data: object, path: Path, log: FaultLog) -> T | None:
    """Check a part of the document; note its faults and return None if it has any."""
    keys_by_id: dict[int, list[str]] = {}
    try:
        return adapter.validate_python(data, context=keys_by_id)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            _note(detail, data, path, keys_by_id, log)
        return None


def _note(
    detail: ErrorDetails, data: object, base: Path, keys_by_id: dict[int, list[str]], log: FaultLog
) -> None:
    steps, at_key = _steps(detail["loc"], data)
    path, context = (*base, *steps), detail.get("ctx", {})
    match detail["type"]:
        case "too_short" if len(detail["input"]) >= context["min_length"]:
            pass  # long enough, but some of its values have faults of their own
        case "missing":
            log.add(path, "nothing", f"the key '{steps[-1]}'", at_key=True)
        case "extra_forbidden":
            holder = _inside(data, steps[:-1])
            known = keys_by_id.get(id(holder), [])
            note_unknown_key(path, known, log)
        case fields.NO_TYPE:
            _note_unknown_type(path, detail["input"], detail["msg"], log)
        case fields.NO_FORM:
            log.add(path, show(detail["input"]), detail["msg"])
        case fields.FAULT:
            got = context["got"] or show(detail["input"])
            log.add(path, got, context["expected"], context["hint"], at_key=at_key)
        case _:
            got = f"'{steps[-1]}'" if at_key else _shown(detail)
            expected = _expected(detail["type"], context)
            log.add(path, got, expected, _hint(detail["type"], steps), at_key=at_key)


def _steps(loc: tuple[str | int, ...], data: object) -> tuple[list[str | int], bool]:
    """Return the steps of pydantic's location without union tags, and if it means the key.

    A file may well use a tag's word as a key: a word that leads on in the data is no tag.
    """
    steps: list[str | int] = []
    for item in loc:
        holder = _inside(data, steps)
        is_key = isinstance(holder, dict) and item in holder
        if is_key or isinstance(item, int) or item[:1] not in ("<", "["):
            steps.append(item)
    return steps, loc[-1:] == ("[key]",) and steps[-1:] != ["[key]"]


def _inside(data: object, steps: list[str | int]) -> object:
    for step in steps:
        try:
            data = cast("Any", data)[step]
        except (KeyError, IndexError, TypeError):
            return None  # a missing key
    return data


def note_unknown_key(path: Path, known: list[str], log: FaultLog) -> None:
    """Note a key nobody asked for, with the nearest known one."""
    word = str(path[-1])
    hint = LATER.get(word, "") if len(path) == 1 else ""
    hint = hint or suggest(word, known)
    log.add(path, f"unknown key {show(word)}", f"one of {listing(known)}", hint, at_key=True)


def _note_unknown_type(path: Path, value: object, known: str, log: FaultLog) -> None:
    if not isinstance(value, dict):
        log.add(path, show(value), "a mapping")
        return
    word = cast("dict[str, object]", value).get("type")
    hint = suggest(word, known.split(", ")) if isinstance(word, str) else ""
    log.add((*path, "type"), show(word), f"one of {known}", hint)


def _shown(detail: ErrorDetails) -> str:
    if detail["type"] in ("too_short", "too_long"):
        n = len(cast("list[object]", detail["input"]))
        return f"{n} value{'s' if n != 1 else ''}"
    return show(detail["input"])


def _expected(kind: str, context: dict[str, Any]) -> str:
    """Word what pydantic wanted."""
    words = {
        "float_type": "a number",
        "float_parsing": "a number",
        "finite_number": "a finite number",
        "string_type": "text",
        "bool_type": "true or false",
        "tuple_type": "a list",
        "list_type": "a list",
        "dict_type": "a mapping",
        "model_type": "a mapping",
        "model_attributes_type": "a mapping",
        "string_pattern_mismatch": NAME_RULE,
        "int_from_float": "a whole number",
    }
    if kind in words:
        return words[kind]
    bounds = {
        "greater_than": ("gt", "a number > {:g}"),
        "greater_than_equal": ("ge", "a number >= {:g}"),
        "less_than_equal": ("le", "a number <= {:g}"),
        "too_short": ("min_length", "{} values"),
        "too_long": ("max_length", "{} values"),
        "literal_error": ("expected", "{}"),
    }
    if kind == "too_short" and context["min_length"] == 1:
        return "at least one value"
    if kind in bounds:
        key, text = bounds[kind]
        return text.format(context[key])
    return "another value"


def _hint(kind: str, steps: list[str | int]) -> str:
    if kind == "literal_error" and steps == ["darts_model"]:
        return "this version of darts-py reads format version 1"
    if kind == "float_type":
        return "write numbers plainly, without units or quotes: 1.5, 2e-3"
    return ""
