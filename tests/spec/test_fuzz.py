"""No document, however mangled, makes the loader raise anything but its own error, or hang."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from darts_py.errors import ModelError
from darts_py.spec import find_model, load_tree
from tests.spec.documents import LOOPED, SOUND

ZOO = find_model("joint_zoo").read_text(encoding="utf-8")
QUICK = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

ODD = st.sampled_from(
    [
        *(None, True, 0, -1, 1e-320, 1e308, -1e29, 1e30, float("nan"), float("inf"), 10**400),
        *("", "x", "ground", "bus", "origin", "\0", "..", "/dev/null"),
        *([], {}, [[]], [[1, 2], [3]], [1, 2, 3], [0, 0, 0], [[1, 0, 0]] * 3, [1e30, 1e-30, 1]),
        *({"xx": 1}, {"type": "map"}),
    ]
)

RENAMES = ["x", "mass_kg", "child", "ground", "a b", "[key]", "<rows>", "1"]


def survives(text: str) -> None:
    """Load a document; listing faults is fine, anything else is not."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.yaml"
        file.write_text(text, encoding="utf-8")
        faults = []
        try:
            load_tree(file)
        except ModelError as error:
            faults = error.faults or ["none listed"]
        assert all(fault.line > 0 and fault.path and fault.expected for fault in faults)


def paths(value: object, path: tuple = ()) -> list[tuple]:
    """Return the paths of every value inside a document."""
    found: list[tuple] = []
    items = value.items() if isinstance(value, dict) else []
    items = enumerate(value) if isinstance(value, list) else items
    for key, child in items:
        found += [(*path, key), *paths(child, (*path, key))]
    return found


def mangle(data: st.DataObject, document: dict) -> None:
    """Replace, remove, rename or copy one value, wherever it is."""
    places = paths(document)
    if not places:
        return
    *outer, key = data.draw(st.sampled_from(places))
    holder = document
    for step in outer:
        holder = holder[step]
    action = data.draw(st.sampled_from(["odd", "drop", "rename", "graft"]))
    if action == "odd":
        holder[key] = copy.deepcopy(data.draw(ODD))
    elif action == "drop":
        del holder[key]
    elif action == "rename" and isinstance(holder, dict):
        holder[data.draw(st.sampled_from(RENAMES))] = holder.pop(key)
    else:
        source = document
        for step in data.draw(st.sampled_from(places)):
            if not isinstance(source, dict | list) or source is holder:
                return
            source = source[step] if step in source or isinstance(step, int) else 0
        holder[key] = yaml.safe_load(yaml.safe_dump(source))


@QUICK
@given(data=st.data(), text=st.sampled_from([ZOO, SOUND, LOOPED]), count=st.integers(1, 4))
def test_mangled_values_only_ever_give_faults(data: st.DataObject, text: str, count: int) -> None:
    document = yaml.safe_load(yaml.safe_dump(yaml.safe_load(text)))
    for _ in range(count):
        mangle(data, document)
    survives(yaml.safe_dump(document, sort_keys=False))


@QUICK
@given(data=st.data(), count=st.integers(1, 6))
def test_mangled_text_only_ever_gives_faults(data: st.DataObject, count: int) -> None:
    text = SOUND
    for _ in range(count):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 8))
        piece = data.draw(st.text("{}[]:-&*!|>?,'\"# \n\tab01.e@%\\", max_size=4))
        text = text[:at] + piece + text[at + cut :]
    survives(text)


@settings(QUICK, max_examples=60)
@given(text=st.text(max_size=60))
def test_random_text_only_ever_gives_faults(text: str) -> None:
    survives(text.encode("utf-8", "ignore").decode("utf-8"))
