"""`darts schema`: JSON Schemas of the file formats, for editors."""

from __future__ import annotations

import json

import typer

app = typer.Typer(
    help="Print the JSON Schema of a file format.", no_args_is_help=True, rich_markup_mode=None
)


@app.callback()
def schema() -> None:
    """Print the JSON Schema of a file format."""


@app.command("model")
def print_model_schema() -> None:
    """Print the JSON Schema of model files (draft 2020-12)."""
    from darts_py.spec import model_json_schema

    print(json.dumps(model_json_schema(), indent=2))
