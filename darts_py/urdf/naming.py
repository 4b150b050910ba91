"""Names of the file into names of the model format: the same file gives the same names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from darts_py.spec.fields import NAME_PATTERN

_VALID = re.compile(NAME_PATTERN)
LONGEST = 64


def model_names(names: Iterable[str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """Return a distinct, admissible name for each name.

    What is admissible stays; in the others each character that is not allowed becomes `_`, and
    a number is added where that name is taken.
    """
    names = list(names)
    taken = set(reserved)
    kept = {name: name for name in names if _VALID.match(name) and name not in taken}
    taken |= set(kept)
    out: dict[str, str] = {}
    for name in names:
        out[name] = kept.get(name) or _free(_admissible(name), taken)
        taken.add(out[name])
    return out


def _admissible(name: str) -> str:
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not text[:1].isalpha() or not text[0].isascii():
        text = f"n_{text}".replace("n__", "n_", 1)
    return text[:LONGEST]


def _free(name: str, taken: set[str]) -> str:
    candidate, k = name, 1
    while candidate in taken:
        k += 1
        ending = f"_{k}"
        candidate = name[: LONGEST - len(ending)] + ending
    return candidate
