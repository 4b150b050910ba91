"""NASTRAN matrices and grids through pyNastran, which is wanted only where such a file is named.

OP4 and OP2 matrices have no labels: their rows are the g-set, six per GRID, by grid number. DMIG
in a punch file, and OP2 matrices of the MATPOOL kind, bring grid and component of every row.
"""

from __future__ import annotations

import importlib
import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures.refusal import StructureError, refuse
from darts_py.structures.sparse import Sparse

INSTALL = "pip install darts-py[fe], in an environment with numpy < 2; or convert the files there: "
_BY_LINES = re.IGNORECASE | re.MULTILINE
CONVERT = "darts model convert-fe ... -o model.npz"


def read_nastran_matrix(file: Path, name: str, key: str) -> tuple[Sparse, Array | None]:
    """Read a matrix by its name; return it and its rows' labels (node, component) if it has any.

    Raises:
        StructureError: pyNastran is missing, or the file has no such real matrix.
    """
    readers: dict[str, Callable[[Path], dict[str, Any]]] = {
        ".op4": _read_op4,
        ".op2": _read_op2,
        ".pch": _read_punch,
    }
    matrices = _carefully(lambda: readers[file.suffix.lower()](file), file, key)
    found = {word.upper(): matrix for word, matrix in matrices.items()}
    if name.upper() not in found:
        hint = f"{key}_name says which"
        got = f"no matrix {name!r} in {file.name}"
        raise refuse(key, got, f"one of {', '.join(sorted(found)) or 'none at all'}", hint)
    A, dof = found[name.upper()]
    if np.iscomplexobj(A.data):
        raise refuse(key, f"a complex matrix {name!r} in {file.name}", "a real matrix")
    return A, dof


def read_grids(file: Path, key: str) -> tuple[Array, Array]:
    """Read numbers and positions of the GRIDs of a bulk data file, in the basic system."""
    return _carefully(lambda: _read_grids(file, key), file, key)


def _carefully(read: Callable[[], Any], file: Path, key: str) -> Any:
    """Run a reader of pyNastran's; whatever it raises becomes a refusal."""
    try:
        with _silence():
            return read()
    except StructureError:
        raise
    except ImportError as error:
        got = f"a NASTRAN file without pyNastran ({error})"
        raise refuse(key, got, "pyNastran, the extra 'fe'", INSTALL + CONVERT) from error
    except Exception as error:  # a reader of a binary format raises whatever it likes
        words = " ".join(str(error).split())
        got = f"{file.name} that pyNastran cannot read ({type(error).__name__}: {words[:200]})"
        raise refuse(key, got, "a sound NASTRAN file") from error


@contextmanager
def _silence() -> Iterator[None]:
    """Swallow what pyNastran prints and warns of: on its way to an error it prints the file."""
    nowhere = io.StringIO()
    with redirect_stdout(nowhere), redirect_stderr(nowhere), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _module(name: str) -> Any:
    """Import a module of pyNastran's; it may not write into our log."""
    logging.getLogger("pyNastran").setLevel(logging.CRITICAL)
    return importlib.import_module(name)


def _quiet() -> Any:
    """Return a log that keeps silent."""
    return _module("cpylog").SimpleLogger(level="critical")


def _read_op4(file: Path) -> dict[str, Any]:
    read = _module("pyNastran.op4.op4").read_op4
    found = read(str(file), debug=False, log=_quiet())
    return {name: (_full(matrix.data, matrix.form), None) for name, matrix in found.items()}


def _read_op2(file: Path) -> dict[str, Any]:
    model = _module("pyNastran.op2.op2").OP2(log=_quiet(), debug=False, mode="msc")
    model.read_op2(str(file), build_dataframe=False)
    found: dict[str, Any] = {}
    for name, matrix in model.matrices.items():
        dof = None
        if matrix.is_matpool:
            dof = np.stack([matrix.row_nid, matrix.row_dof], axis=1).astype(int)
        found[name] = (_full(matrix.data, matrix.form), dof)
    return found


def _full(data: Any, form: int) -> Sparse:
    """Return a matrix with both triangles; symmetric ones may be stored as one."""
    A = sp.csr_array(data)
    if form == 6:
        lower, upper = sp.tril(A, -1), sp.triu(A, 1)
        if (lower.nnz == 0) != (upper.nnz == 0):
            A = sp.csr_array(A + lower.T + upper.T)
    return A


def _read_punch(file: Path) -> dict[str, Any]:
    model = _module("pyNastran.bdf.bdf").BDF(log=_quiet(), debug=False)
    model.read_bdf(str(file), punch=True, xref=False, validate=False, read_includes=False)
    return {name: _from_dmig(card) for name, card in model.dmig.items()}


def _from_dmig(card: Any) -> tuple[Sparse, Array]:
    """Build a matrix from a DMIG's entries; of a symmetric one, only one triangle is written."""
    rows = np.array([(node, max(component, 1)) for node, component in card.GCi], int).reshape(-1, 2)
    columns = np.array([(node, max(c, 1)) for node, c in card.GCj], int).reshape(-1, 2)
    values = np.array(card.Real, float)
    if card.is_complex:
        values = values + 1j * np.array(card.Complex, float)
    dof, number = np.unique(np.vstack([rows, columns]), axis=0, return_inverse=True)
    i, j = np.split(number.ravel(), 2)
    A = sp.csr_array((values, (i, j)), shape=(len(dof), len(dof)))
    return _full(A, int(card.matrix_form)), dof


def _read_grids(file: Path, key: str) -> tuple[Array, Array]:
    text = file.read_text("ascii", errors="replace")
    model = _module("pyNastran.bdf.bdf").BDF(log=_quiet(), debug=False)
    if re.search(r"^\s*INCLUDE\b", text, re.IGNORECASE | re.MULTILINE):
        got = f"an INCLUDE in {file.name}"
        raise refuse(key, got, "a file with all its GRIDs", "put the included lines in its place")
    options = {"xref": False, "validate": False, "read_includes": False}
    model.read_bdf(io.StringIO(_bulk_data(text)), punch=True, **options)
    if not model.nodes:
        raise refuse(key, f"no GRID in {file.name}", "GRIDs with positions")
    _require_basic_freedoms(model, file, key)
    others = ("elements", "properties", "masses", "materials", "loads", "constraints", "aero")
    others += ("sets", "optimization")
    model.cross_reference(**{f"xref_{kind}": False for kind in others})
    numbers = np.array(sorted(model.nodes))
    position = [model.nodes[number].get_position() for number in numbers]
    return numbers, np.array(position, float)


def _bulk_data(text: str) -> str:
    """Return the bulk data of a file, whether or not the sections in front of it are there."""
    sections = re.split(r"^[ \t]*BEGIN(?:[ \t]+BULK)?[ \t]*$", text, flags=_BY_LINES)
    return re.split(r"^[ \t]*ENDDATA\b", sections[-1], flags=_BY_LINES)[0]


def _require_basic_freedoms(model: Any, file: Path, key: str) -> None:
    """Refuse GRIDs whose freedoms, or whose defaults, lie in another system than the basic one."""
    defaults = model.grdset
    if defaults is not None and (defaults.cp, defaults.cd) != (0, 0):
        # pyNastran reads a blank field and a 0 alike, and only a blank takes the default
        got = f"a GRDSET with coordinate systems {defaults.cp}, {defaults.cd} in {file.name}"
        hint = "write them into the GRIDs themselves"
        raise refuse(key, got, "a GRDSET without systems, or none", hint)
    for number, node in model.nodes.items():
        if node.cd not in (0, -1):
            got = f"GRID {number} with freedoms in coordinate system {node.cd}"
            hint = "leave field CD blank, so that all freedoms are along the basic system"
            raise refuse(key, got, "freedoms in the basic system", hint)
