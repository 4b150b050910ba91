"""Finite-element matrices and meshes from files: .npz, Matrix Market, NASTRAN.

One file may hold everything (`panel.npz`), or mass, stiffness and nodes each have their own.
Files are untrusted: sizes are looked at before memory is given, nothing is unpickled.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array
from darts_py.structures import matrix_files
from darts_py.structures.fe_model import FiniteElements, assemble_elements, dof_table
from darts_py.structures.matrix_files import (
    LabelledMatrix,
    MatrixSource,
    array_form,
    check_file,
    read_matrix,
)
from darts_py.structures.npz import read_arrays
from darts_py.structures.refusal import Refusals, StructureError
from darts_py.structures.sparse import Sparse

BULK_SUFFIXES = (".bdf", ".dat", ".nas")
NODE_SUFFIXES = (".npz", *BULK_SUFFIXES)


@dataclass(frozen=True)
class Mesh:
    """Nodes, and what each row of the matrices moves (None: not said in this file)."""

    node_id: Array  # (k,)
    position: Array  # (k, 3)
    dof: Array | None  # node number, component 1 to 6   (n, 2)


def read_elements(stiffness: MatrixSource, mass: MatrixSource, nodes: Path) -> FiniteElements:
    """Read a model from its files; everything wrong with them is listed at once.

    Raises:
        StructureError: with keys `stiffness`, `mass`, `nodes`.
    """
    log = Refusals()
    mesh: Any = _attempt(lambda: read_mesh(nodes, "nodes"), log)
    K: Any = _attempt(lambda: read_matrix(stiffness, "stiffness"), log)
    M: Any = _attempt(lambda: read_matrix(mass, "mass"), log)
    log.settle()
    dof = _row_labels(mesh, K, M, log)
    log.settle()
    K, M = _in_order(K, dof), _in_order(M, dof)
    return assemble_elements(K, M, mesh.node_id, mesh.position, dof)


def _attempt(read: Callable[[], object], log: Refusals) -> object:
    """Return what is read, or None with its refusals noted."""
    try:
        return read()
    except StructureError as error:
        for refusal in error.refusals:
            log.add(refusal.key, refusal.got, refusal.expected, refusal.hint)
    return None


def _row_labels(mesh: Mesh, K: LabelledMatrix, M: LabelledMatrix, log: Refusals) -> Array:
    """Return the rows' labels: the matrices' own, those of the mesh, or six for every node."""
    labelled = [matrix.dof for matrix in (K, M) if matrix.dof is not None]
    if len(labelled) == 2:
        return np.unique(np.vstack(labelled), axis=0)
    if labelled:
        log.add("mass", "one matrix with labels of its rows, one without", "both or none")
    if mesh.dof is not None:
        return mesh.dof
    k, n = len(mesh.node_id), K.A.shape[0]
    if n not in (3 * k, 6 * k):
        got = f"{n} rows for {k} nodes, and no table 'dof'"
        hint = "dof: one row [node number, component 1 to 6] per freedom"
        log.add("nodes", got, "3 or 6 rows for every node", hint)
        return np.zeros((0, 2), int)
    return dof_table(np.sort(mesh.node_id), n // k)  # NASTRAN's order: by number


def _in_order(matrix: LabelledMatrix, dof: Array) -> Sparse:
    """Return a matrix with its rows in the order of `dof`; rows it does not have are empty."""
    if matrix.dof is None:
        return matrix.A
    key = {(int(node), int(component)): row for row, (node, component) in enumerate(dof)}
    to = np.array([key[int(node), int(component)] for node, component in matrix.dof])
    coo = sp.coo_array(matrix.A)
    entries = (coo.data, (to[coo.row], to[coo.col]))
    return sp.csr_array(entries, shape=(len(dof), len(dof)))


def read_mesh(file: Path, key: str) -> Mesh:
    """Read nodes; raises StructureError."""
    log = Refusals()
    check_file(file, key, NODE_SUFFIXES, log)
    if file.suffix.lower() in BULK_SUFFIXES:
        from darts_py.structures.nastran import read_grids

        node_id, position = read_grids(file, key)
        return Mesh(node_id, position, None)
    arrays = read_arrays(file, log.note(key), matrix_files.MAX_BYTES)
    log.settle()
    assert arrays is not None
    mesh = _mesh_from_arrays(arrays, log, key, file.name)
    log.settle()
    assert mesh is not None
    return mesh


def _mesh_from_arrays(arrays: dict[str, Array], log: Refusals, key: str, file: str) -> Mesh | None:
    for name in ("node_id", "position_m"):
        if name not in arrays:
            log.add(key, f"no array '{name}' in {file}", "arrays node_id, position_m")
    if len(log):
        return None
    node_id, position = arrays["node_id"], arrays["position_m"]
    if node_id.dtype.kind not in "iu" or node_id.ndim != 1 or len(node_id) == 0:
        log.add(key, f"'node_id' of {array_form(node_id)} in {file}", "one whole number per node")
        return None
    if position.dtype.kind not in "fiu" or position.shape != (len(node_id), 3):
        expected = f"numbers of shape ({len(node_id)}, 3)"
        log.add(key, f"'position_m' of {array_form(position)} in {file}", expected)
    if "dof" in arrays and "dofs_per_node" in arrays:
        log.add(key, f"both 'dof' and 'dofs_per_node' in {file}", "one of them")
    dof = None
    if "dof" in arrays:
        dof = arrays["dof"]
        if dof.dtype.kind not in "iu" or dof.ndim != 2 or dof.shape[1:] != (2,):
            log.add(
                key, f"'dof' of {array_form(dof)} in {file}", "whole numbers of shape (rows, 2)"
            )
    elif "dofs_per_node" in arrays:
        value = arrays["dofs_per_node"]
        if value.shape != () or value.dtype.kind not in "iu" or int(value) not in (3, 6):
            log.add(key, f"'dofs_per_node' of {array_form(value)} in {file}", "the number 3 or 6")
        else:
            dof = dof_table(node_id, int(value))
    else:
        hint = "dofs_per_node: 3 or 6, or dof: rows [node number, component 1 to 6]"
        log.add(key, f"neither 'dof' nor 'dofs_per_node' in {file}", "one of them", hint)
    return None if len(log) else Mesh(node_id.astype(int), position.astype(float), dof)


def write_elements(file: Path, model: FiniteElements) -> None:
    """Write a model as one .npz file that `read_elements` takes."""
    file.write_bytes(elements_as_bytes(model))


def elements_as_bytes(model: FiniteElements) -> bytes:
    """Return the contents of such a file; the same model gives the same bytes."""
    arrays: dict[str, Any] = {
        "node_id": model.node_id,
        "position_m": model.position,
        "dof": np.stack([model.node_id[model.node], model.component + 1], axis=1),
    }
    for name, A in (("stiffness", sp.coo_array(model.K)), ("mass", sp.coo_array(model.M))):
        arrays |= {
            f"{name}_entries": A.data,
            f"{name}_rows": A.row,
            f"{name}_columns": A.col,
            f"{name}_size": np.array(model.n),
        }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()
