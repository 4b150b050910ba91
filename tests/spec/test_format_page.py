"""docs/model_format.md says what the loader does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from darts_py.spec import model_json_schema
from tests.spec.documents import faults_of

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "model_format.md").read_text("utf-8")


def keys(schema: object) -> Iterator[str]:
    """Yield every key a model file may use."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from keys(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from keys(part)


def test_page_names_every_key() -> None:
    numbered = {"c3", "c4", "c5", "c6"}  # "c1, c2, ..."
    missing = {key for key in keys(model_json_schema()) if not re.search(rf"\b{key}\b", PAGE)}
    assert missing <= numbered


def test_first_example_is_a_sound_model(tmp_path: Path) -> None:
    example = re.search(r"```yaml\n(darts_model.*?)```", PAGE, re.DOTALL)
    assert example is not None
    assert faults_of(tmp_path, example.group(1)) == []
