"""Building blocks of the specification: numbers, vectors, names, matrices, and their checks.

Pydantic does the checking field by field, so that one bad value does not hide another. Unions
are told apart by a tag that begins with "<"; such tags never show in a message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NoReturn, cast

import numpy as np
from annotated_types import Len
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Strict,
    Tag,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError

LARGEST = 1e30  # beyond it squares and products leave the range of a double in practice
SYMMETRY = 1e-9  # relative; matrices are typed by hand or printed to fewer digits than stored

FAULT = "darts_fault"  # error type of the checks below; context: got, expected, hint
NO_FORM = "darts_no_form"  # no member of a union fits; the message is what was expected
NO_TYPE = "darts_no_type"  # no type of joint or closure fits; the message lists the types
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_]{0,63}$"


def refuse(got: str, expected: str, hint: str = "") -> NoReturn:
    """Raise a fault from inside a pydantic validator; an empty `got` quotes the value itself."""
    raise PydanticCustomError(FAULT, "refused", {"got": got, "expected": expected, "hint": hint})


def choice(form: Callable[[object], str | None], expected: str) -> Discriminator:
    """Tell the members of a union apart by `form`; what fits none is a fault."""
    return Discriminator(form, custom_error_type=NO_FORM, custom_error_message=expected)


def by_type(known: tuple[str, ...]) -> Discriminator:
    """Tell the members of a union apart by their key `type`."""

    def form(value: object) -> str | None:
        if isinstance(value, Spec):
            return f"<{getattr(value, 'type', '')}>"
        if not isinstance(value, dict):
            return None
        word = cast("dict[str, object]", value).get("type")
        return f"<{word}>" if isinstance(word, str) and word in known else None

    return Discriminator(form, custom_error_type=NO_TYPE, custom_error_message=", ".join(known))


class Spec(BaseModel):
    """A frozen, strict mapping of a model file; unknown keys are faults."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)

    @classmethod
    def known_keys(cls) -> list[str]:
        """Return the keys a file may use."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    @model_validator(mode="before")
    @classmethod
    def _remember_keys(cls, data: Any, info: ValidationInfo) -> Any:
        # pydantic does not say which class an unknown key met; the context remembers it
        keys_by_id = cast("dict[int, list[str]] | None", info.context)
        if keys_by_id is not None:
            keys_by_id[id(data)] = cls.known_keys()
        return data


def _in_range(x: float) -> float:
    if abs(x) > LARGEST:
        refuse("", f"a number of at most {LARGEST:g} in size")
    return x


Number = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_in_range)]
Positive = Annotated[Number, Field(gt=0.0)]
NonNegative = Annotated[Number, Field(ge=0.0)]
Name = Annotated[str, Field(pattern=NAME_PATTERN)]

# YAML gives lists: the tuple itself is taken loosely, what is in it strictly
Vector = Annotated[tuple[Number, ...], Strict(False), Len(1)]
Vector3 = Annotated[tuple[Number, ...], Strict(False), Len(3, 3)]
Matrix3 = Annotated[tuple[Vector3, ...], Strict(False), Len(3, 3)]
Matrix = Annotated[tuple[Vector, ...], Strict(False), Len(1)]
Rows = tuple[tuple[float, ...], ...]


def _nonzero(axis: tuple[float, ...]) -> tuple[float, ...]:
    if float(np.linalg.norm(axis)) < 1e-12:
        refuse("", "a direction: three numbers, not all zero")
    return axis


Axis = Annotated[Vector3, AfterValidator(_nonzero)]


def as_rows(matrix: np.ndarray) -> Rows:
    """Freeze a matrix."""
    return tuple(tuple(float(x) for x in row) for row in matrix)


def symmetric(matrix: np.ndarray, what: str) -> np.ndarray:
    """Refuse a matrix that is not symmetric; return the exactly symmetric one."""
    defect = np.abs(matrix - matrix.T)
    if float(defect.max()) > SYMMETRY * float(np.abs(matrix).max()):
        j, k = np.unravel_index(int(defect.argmax()), defect.shape)
        got = f"entries {matrix[j, k]:g} in row {j + 1} and {matrix[k, j]:g} in row {k + 1}"
        refuse(got, f"{what} that is symmetric")
    return 0.5 * (matrix + matrix.T)


def semidefinite(matrix: np.ndarray, what: str) -> np.ndarray:
    """Refuse a symmetric matrix with a negative eigenvalue."""
    lowest = float(np.linalg.eigvalsh(matrix)[0])
    if lowest < -SYMMETRY * float(np.abs(matrix).max()):
        refuse(f"eigenvalue {lowest:g}", f"{what} that is positive semidefinite")
    return matrix


def list_form(value: object) -> str | None:
    """Tell a list of numbers from a list of rows."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    return "<rows>" if any(isinstance(item, list) for item in items) else "<diagonal>"


def _from_diagonal(diagonal: tuple[float, ...]) -> Rows:
    return as_rows(semidefinite(np.diag(diagonal), "a matrix"))


def _from_rows(rows: Rows) -> Rows:
    n = len(rows)
    for row in rows:
        if len(row) != n:
            refuse(f"{n} rows, one of them of length {len(row)}", "a square matrix")
    return as_rows(semidefinite(symmetric(np.array(rows), "a matrix"), "a matrix"))


# modal stiffness or damping: the diagonal, or all rows
ModalMatrix = Annotated[
    Annotated[Vector, AfterValidator(_from_diagonal), Tag("<diagonal>")]
    | Annotated[Matrix, AfterValidator(_from_rows), Tag("<rows>")],
    choice(list_form, "a list of numbers (the diagonal) or a list of rows"),
]
