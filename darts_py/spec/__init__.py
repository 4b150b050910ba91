"""Model files: YAML in, checked specification, numbers out.

Every fault of a file is listed at once, each with its place, what was found and what was
expected. `load_tree` is the door to the rest of the package; `check_file` lists faults only.
"""

from __future__ import annotations

from darts_py.spec.json_schema import model_json_schema
from darts_py.spec.load import check_file, load_tree
from darts_py.spec.shipped import find_model, list_models

__all__ = ["check_file", "find_model", "list_models", "load_tree", "model_json_schema"]
