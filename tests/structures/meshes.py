"""Finite-element models that several tests use: a beam with six freedoms a node, and a solid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from skfem import Basis, BilinearForm, ElementHex1, ElementVector, MeshHex, asm
from skfem.models.elasticity import lame_parameters, linear_elasticity

from darts_py.structures.beam_elements import BeamElements
from darts_py.structures.fe_model import FiniteElements, assemble_elements, dof_table
from darts_py.structures.section import Section
from tests.structures.beams import LENGTH, constant_section, turned

# our beam's freedoms are rotation, displacement; files have displacement first
TO_FILE = np.array([3, 4, 5, 0, 1, 2])


def beam_mesh(elements: int = 12, section: Section | None = None) -> FiniteElements:
    """A beam along a skew line, its matrices in body axes; nodes 10, 20, 30, ..."""
    grid = np.linspace(0.0, LENGTH, elements + 1)
    mesh, R = BeamElements(grid, section or constant_section()), turned()
    n = elements + 1
    order = (6 * np.arange(n)[:, None] + TO_FILE).ravel()
    turn = sp.csr_array(np.kron(np.eye(2 * n), R))
    K, M = (turn @ A[order][:, order] @ turn.T for A in (mesh.K, mesh.M))
    node_id = 10 * np.arange(1, n + 1)
    position = np.array([0.3, -0.2, 0.5]) + grid[:, None] * R[:, 0]
    return assemble_elements(
        sp.csr_array(K), sp.csr_array(M), node_id, position, dof_table(node_id, 6)
    )


@BilinearForm
def _mass(u, v, w):
    return w["rho"] * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])


def solid_mesh(cells: tuple[int, int, int] = (6, 2, 2)) -> FiniteElements:
    """A block of 3 x 0.4 x 0.6 m of trilinear bricks; nodes 1, 2, 3, ..."""
    sides = [np.linspace(0.0, size, n + 1) for size, n in zip((3.0, 0.4, 0.6), cells, strict=True)]
    mesh = MeshHex.init_tensor(*sides)
    basis = Basis(mesh, ElementVector(ElementHex1()), intorder=3)
    K = asm(linear_elasticity(*lame_parameters(7e10, 0.3)), basis)
    M = asm(_mass, basis, rho=2700.0)
    node_id = np.arange(1, mesh.p.shape[1] + 1)
    order = basis.nodal_dofs.T.ravel()  # node by node
    K, M = (sp.csr_array(A)[order][:, order] for A in (K, M))
    return assemble_elements(K, M, node_id, mesh.p.T.copy(), dof_table(node_id, 3))


def face(model: FiniteElements, x: float) -> tuple[int, ...]:
    """Node numbers of the block's face at x."""
    return tuple(int(i) for i in model.node_id[np.isclose(model.position[:, 0], x)])


def with_matrices(
    model: FiniteElements, K: np.ndarray | None = None, M: np.ndarray | None = None
) -> FiniteElements:
    """The same model with other matrices."""
    changes = {}
    if K is not None:
        changes["K"] = sp.csr_array(K)
    if M is not None:
        changes["M"] = sp.csr_array(M)
    return replace(model, **changes)
