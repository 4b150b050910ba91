"""Modes that a mesh does not resolve are refused: the measure, and what it lets through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from darts_py.structures.beam_elements import BeamElements
from darts_py.structures.eigenmodes import Modes
from darts_py.structures.fe_body import FeModes, FeNode, finite_element_body
from darts_py.structures.fe_model import FiniteElements
from darts_py.structures.plate import PlateModes, plate_body
from darts_py.structures.reduction import Structure, Wanted, reduce
from darts_py.structures.refusal import StructureError
from darts_py.structures.resolution import coarseness
from tests.structures.beams import LENGTH, constant_section, omega
from tests.structures.meshes import beam_mesh, face, solid_mesh
from tests.structures.test_plate import UNIT, at


def rod(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stiffness, consistent and lumped mass of a clamped-free rod of unit elements."""
    mesh = BeamElements(np.arange(n + 1.0), constant_section(1.0, stiffness={"stretch": 1.0}))
    M = mesh.M.toarray()[1:, 1:]
    lumped = np.eye(n)
    lumped[-1, -1] = 0.5
    return mesh.K.toarray()[1:, 1:], M, lumped


@pytest.mark.parametrize("lumped", [False, True])
def test_coarseness_of_a_rod_is_its_closed_form(lumped: bool) -> None:
    """Nodal values of the modes are sin((k - 1/2) pi i / n), whatever the mass."""
    n = 9
    K, M, diagonal = rod(n)
    M = diagonal if lumped else M
    squares, X = scipy.linalg.eigh(K, M)
    c = np.cos((np.arange(n) + 0.5) * np.pi / n)
    expected = 1.0 - c if lumped else 2.0 * (1.0 - c) / (2.0 + c)
    found = coarseness(sp.csr_array(K), sp.csr_array(M), Modes(squares, X))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("elements", [6, 12, 24])
def test_beam_in_bending_gives_fewer_modes_than_elements(elements: int) -> None:
    """The rule by which beams are judged, here from the matrices alone, to within a mode."""
    section = constant_section(stiffness={"bending_about_y": 900.0})
    mesh = BeamElements(np.linspace(0.0, LENGTH, elements + 1), section)
    structure = Structure(mesh.K, mesh.M, mesh.rigid, np.repeat(np.arange(elements + 1), 2))
    root = mesh.attachment(0.0)
    assert reduce(structure, Wanted("cantilever", elements - 2), root).X.shape[1] == elements - 2
    with pytest.raises(StructureError, match=f"elements: got mode ({elements - 1}|{elements}) at"):
        reduce(structure, Wanted("cantilever", elements), root)
    accepted = Wanted("cantilever", elements, accept_unresolved=True)
    assert reduce(structure, accepted, root).X.shape[1] == elements


@pytest.mark.parametrize("n", [4, 8])
def test_plate_modes_are_given_as_far_as_they_are_right(n: int) -> None:
    """Every mode that passes is within a tenth of what a far finer mesh has; not all pass."""
    nodes = [at(UNIT, "root", 0.0, 0.0)]
    found = np.zeros(0)
    with pytest.raises(StructureError, match="elements: got mode"):  # noqa: PT012
        for count in range(n * n - 3, 4 * n * n, n):
            modes = PlateModes(Wanted("cantilever", count), (n, n))
            found = omega(plate_body(UNIT, nodes, modes))
    fine = PlateModes(Wanted("cantilever", len(found)), (20, 20))
    exact = omega(plate_body(UNIT, nodes, fine))
    assert len(found) >= n * n - 3  # about as many as elements
    assert np.all(found / exact - 1.0 < 0.1)


@pytest.mark.parametrize("boundary", ["cantilever", "free_free", "craig_bampton"])
def test_mesh_is_not_asked_for_more_than_it_resolves(boundary: str) -> None:
    model = solid_mesh()
    nodes = [FeNode("root", face(model, 0.0)), FeNode("tip", face(model, 3.0))]
    held = {"inboard": None if boundary == "free_free" else "root"}
    held["interfaces"] = ["tip"] if boundary == "craig_bampton" else ()

    def wanted(count: int, accept: bool = False) -> FeModes:
        return FeModes(Wanted(boundary, count, None, accept), **held)  # type: ignore[arg-type]

    finite_element_body(model, nodes, wanted(12))
    with pytest.raises(StructureError, match="neighbours move against each other"):
        finite_element_body(model, nodes, wanted(100))
    finite_element_body(model, nodes, wanted(100, accept=True))


def with_appendage(model: FiniteElements, stiffness: float, mass: float) -> FiniteElements:
    """A rigid piece of equipment at the tip, on a spring in each of its six freedoms."""
    n, tip = model.n, model.node == len(model.node_id) - 1
    k = stiffness * np.where(model.component[tip] < 3, 1.0, 0.01)
    m = mass * np.where(model.component[tip] < 3, 1.0, 0.01)
    T = np.zeros((6, n + 6))  # stretch of the springs
    T[:, n:] = np.eye(6)
    T[np.arange(6), np.flatnonzero(tip)] = -1.0
    K = np.zeros((n + 6, n + 6))
    K[:n, :n] = model.K.toarray()
    return replace(
        model,
        K=sp.csr_array(K + T.T @ np.diag(k) @ T),
        M=sp.csr_array(sp.block_diag([model.M, np.diag(m)])),
        node_id=np.append(model.node_id, 5000),
        position=np.vstack([model.position, model.position[-1]]),
        node=np.append(model.node, np.full(6, len(model.node_id))),
        component=np.append(model.component, np.arange(6)),
    )


def test_mass_on_a_spring_is_a_mode_of_its_own() -> None:
    """Twelve elements, and equipment at 30 rad/s: more than half of the energy is in one node."""
    model = with_appendage(beam_mesh(12), 900.0 * 0.5, 0.5)
    nodes = [FeNode("root", (10,)), FeNode("box", (5000,))]
    modes = FeModes(Wanted("cantilever", 8), inboard="root")
    assert finite_element_body(model, nodes, modes).K.shape == (8, 8)
