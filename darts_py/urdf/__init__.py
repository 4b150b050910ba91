"""URDF robots: into model files of this project, and rigid models out again.

`import_urdf` reads a file and returns the text of a model file; `export_urdf` writes a tree as
URDF. Both list what is lost on the way, and refuse with every fault at once.
"""

from __future__ import annotations

from darts_py.urdf.exporting import Exported, export_urdf
from darts_py.urdf.importing import Imported, Options, import_urdf
from darts_py.urdf.notes import Note

__all__ = ["Exported", "Imported", "Note", "Options", "export_urdf", "import_urdf"]
