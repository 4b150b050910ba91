"""JSON Schema of the model format, for editors."""

from __future__ import annotations

from typing import Any

from darts_py.spec.model_file import ModelFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def model_json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a model file, with descriptions.

    It covers keys, types and ranges; references and physics are `check_file`'s.
    """
    schema = ModelFile.model_json_schema()
    return {"$schema": DIALECT, **schema, "title": "darts-py model, format version 1"}
