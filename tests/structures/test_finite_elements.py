"""Finite-element matrices: reduction against the full model, integrals, lumping, refusals."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from skfem import Basis, ElementHex1, ElementVector, MeshHex

from darts_py.structures.beam_elements import BeamElements
from darts_py.structures.definite import count_negative
from darts_py.structures.eigenmodes import natural_modes
from darts_py.structures.fe_body import (
    FeModes,
    FeNode,
    _motion_map,
    _place,
    finite_element_body,
)
from darts_py.structures.fe_checks import check_structure
from darts_py.structures.fe_mass import lump
from darts_py.structures.fe_model import FiniteElements, assemble_elements, dof_table
from darts_py.structures.modal_body import LumpedMass, ModalBody
from darts_py.structures.reduction import Wanted
from darts_py.structures.refusal import Refusals, StructureError
from darts_py.structures.samples import rigid_motion
from darts_py.structures.section import Section
from tests.structures.beams import LENGTH, body, constant_section, omega, turned, uniform
from tests.structures.meshes import TO_FILE, beam_mesh, face, solid_mesh, with_matrices

INTEGRALS = ("Mrr", "Mfr", "Mff", "C", "G", "Jr", "Z", "y")


def ends(model: FiniteElements, tip: LumpedMass | None = None) -> list[FeNode]:
    first, last = int(model.node_id[0]), int(model.node_id[-1])
    return [FeNode("root", (first,)), FeNode("tip", (last,), tip or LumpedMass())]


def faces(model: FiniteElements) -> list[FeNode]:
    return [FeNode("root", face(model, 0.0)), FeNode("tip", face(model, 3.0))]


def modal_body(model: FiniteElements, nodes, boundary: str, count: int, **options) -> ModalBody:
    inboard = None if boundary == "free_free" else "root"
    if boundary == "craig_bampton":
        options.setdefault("interfaces", ["tip"])
    return finite_element_body(
        model,
        nodes,
        FeModes(Wanted(boundary, count), inboard=inboard, **options),  # type: ignore[arg-type]
    )


def full_frequencies(model: FiniteElements, held: np.ndarray | None = None) -> np.ndarray:
    """All frequencies by LAPACK's dense solver, without any of the product's own algebra."""
    free = np.setdiff1d(np.arange(model.n), [] if held is None else held)
    K, M = (A.toarray()[np.ix_(free, free)] for A in (model.K, model.M))
    squares = scipy.linalg.eigh(0.5 * (K + K.T), 0.5 * (M + M.T), eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0.0))


def held_by(model: FiniteElements, node: FeNode) -> np.ndarray:
    return np.flatnonzero(np.isin(model.node_id[model.node], node.ids))


@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
def test_beam_matrices_give_the_beam(boundary: str) -> None:
    """Matrices in skew axes reduce to what the beam itself gives, shapes at the tip included."""
    section = constant_section()
    modal = modal_body(beam_mesh(12, section), ends(beam_mesh(12)), boundary, 8)
    own = body(uniform(section), boundary, 8, elements=12)
    np.testing.assert_allclose(omega(modal), omega(own), rtol=1e-9)
    sign = np.sign(np.sum(modal.nodes[1].Pi * own.nodes[1].Pi, axis=0))
    np.testing.assert_allclose(modal.nodes[1].Pi * sign, own.nodes[1].Pi, atol=1e-7)
    spread = modal.distributed
    np.testing.assert_allclose(spread.Mrr, own.distributed.Mrr, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(spread.Mff, np.eye(8), atol=1e-10)
    np.testing.assert_allclose(sign[:, None] * spread.Mfr, own.distributed.Mfr, atol=1e-6)


@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
@pytest.mark.parametrize("cells", [(6, 2, 2), (12, 3, 4)])  # below and above the dense limit
def test_solid_frequencies_are_those_of_the_full_model(boundary: str, cells) -> None:
    model = solid_mesh(cells)
    nodes = faces(model)
    modal = modal_body(model, nodes, boundary, 10)
    if boundary == "free_free":
        exact = full_frequencies(model)[6:16]
    else:
        exact = full_frequencies(model, held_by(model, nodes[0]))[:10]
    np.testing.assert_allclose(omega(modal), exact, rtol=1e-9)
    spread = modal.distributed
    np.testing.assert_allclose(spread.Mff, np.eye(10), atol=1e-10)
    if boundary == "free_free":
        np.testing.assert_allclose(spread.Mfr, 0.0, atol=1e-8)
    else:
        np.testing.assert_allclose(modal.nodes[0].Pi, 0.0, atol=0.0)


def test_integrals_of_a_solid_are_those_of_its_own_fields() -> None:
    """C and G of bricks against quadrature of the trilinear fields: exact, not convergent."""
    cells = (4, 2, 2)
    model = solid_mesh(cells)
    modal = modal_body(model, faces(model), "cantilever", 5)
    sides = [np.linspace(0.0, s, n + 1) for s, n in zip((3.0, 0.4, 0.6), cells, strict=True)]
    basis = Basis(MeshHex.init_tensor(*sides), ElementVector(ElementHex1()), intorder=4)
    held = held_by(model, faces(model)[0])
    free = np.setdiff1d(np.arange(model.n), held)
    K, M = (A.toarray()[np.ix_(free, free)] for A in (model.K, model.M))
    _, vectors = scipy.linalg.eigh(K, M)
    X = np.zeros((model.n, 5))
    X[free] = vectors[:, :5]
    order = basis.nodal_dofs.T.ravel()
    fields = []
    for x in X.T:
        y = np.zeros(model.n)
        y[order] = x
        fields.append(np.asarray(basis.interpolate(y)))
    r, dm = np.asarray(basis.global_coordinates()), 2700.0 * basis.dx
    C = np.array([np.einsum("aeq,beq,eq->ab", f, r, dm) for f in fields])
    G = np.array(
        [[np.sum(np.cross(l, k, axis=0) * dm, axis=(1, 2)) for l in fields] for k in fields]
    )
    s = np.sign(np.einsum("kab,kab->k", C, modal.distributed.C))
    np.testing.assert_allclose(
        modal.distributed.C * s[:, None, None], C, atol=1e-8 * np.abs(C).max()
    )
    np.testing.assert_allclose(
        modal.distributed.G * np.outer(s, s)[:, :, None], G, atol=1e-8 * np.abs(G).max()
    )
    for name in ("Jr", "Z", "y"):
        np.testing.assert_array_equal(getattr(modal.distributed, name), 0.0)


def test_integrals_of_a_beam_converge_with_its_mesh() -> None:
    """C and G of a consistent mass: order 2, for the matrix hides the field between nodes."""
    section = constant_section(inertia=(1e-9, 0.0, 0.0))  # no rotary inertia to speak of
    exact = body(uniform(section), "cantilever", 6, method="analytic").distributed
    errors = []
    for elements in (8, 16, 32, 64):
        model = beam_mesh(elements, section)
        spread = modal_body(model, ends(model), "cantilever", 6).distributed
        s = np.sign(np.einsum("kab,kab->k", spread.C, exact.C))
        C, G = spread.C * s[:, None, None], spread.G * np.outer(s, s)[:, :, None]
        errors.append([np.abs(C - exact.C).max(), np.abs(G - exact.G).max()])
    # the next term of the error is of relative size (b h)^2, of the sixth mode 1/5 on 16 elements
    np.testing.assert_allclose(order_of(errors[1:]), 2.0, atol=0.1)


def order_of(errors) -> np.ndarray:
    """Powers of the mesh size between refinements by two."""
    errors = np.array(errors)
    return np.log2(errors[:-1] / errors[1:])


@pytest.mark.parametrize("boundary", ["cantilever", "free_free", "craig_bampton"])
def test_every_mode_is_free_of_rigid_motion(boundary: str) -> None:
    """With the six rigid motions of the frame the modal mass matrix is regular.

    What modes cannot take from a rigid motion r is least |r - x|^2 in the mass matrix. Free-free
    modes take nothing. Others vanish at the root, where r is left whole: whatever the rest does,
    the root's condensed mass, M_hh - M_hi M_ii^-1 M_ih, bounds it from below.
    """
    model = solid_mesh()
    nodes = faces(model)
    s = modal_body(model, nodes, boundary, 8).distributed
    residual = s.Mrr - s.Mfr.T @ np.linalg.solve(s.Mff, s.Mfr)
    if boundary == "free_free":
        bound = s.Mrr
    else:
        held = held_by(model, nodes[0])
        inside = np.setdiff1d(np.arange(model.n), held)
        M = model.M.toarray()
        condensed = M[np.ix_(held, held)] - M[np.ix_(held, inside)] @ np.linalg.solve(
            M[np.ix_(inside, inside)], M[np.ix_(inside, held)]
        )
        bound = model.rigid[held].T @ condensed @ model.rigid[held]
    scale = 1.0 / np.sqrt(np.diag(s.Mrr))
    unit = np.outer(scale, scale)
    assert np.linalg.eigvalsh(bound * unit)[0] > 1e-10  # what the loader asks for
    assert np.linalg.eigvalsh((residual - bound) * unit)[0] > -1e-13  # rounding of the unit matrix


def test_craig_bampton_of_a_solid_is_statically_exact() -> None:
    """The tip face loaded as one piece: same answer as the full model with that face rigid."""
    model = solid_mesh()
    nodes = faces(model)
    modal = modal_body(model, nodes, "craig_bampton", 0)
    assert modal.K.shape == (6, 6)
    root, tip = (held_by(model, node) for node in nodes)
    center = model.position[np.unique(model.node[tip])].mean(axis=0)
    spatial = np.array([3, 4, 5])[model.component[tip]]
    T = rigid_motion(model.position[model.node[tip]] - center)[np.arange(len(tip)), spatial]
    inside = np.setdiff1d(np.arange(model.n), np.concatenate([root, tip]))
    K = model.K.toarray()
    ii, it = K[np.ix_(inside, inside)], K[np.ix_(inside, tip)]
    condensed = T.T @ (K[np.ix_(tip, tip)] - it.T @ np.linalg.solve(ii, it)) @ T
    Pi = modal.nodes[1].Pi
    flexibility = Pi @ np.linalg.solve(modal.K, Pi.T)
    np.testing.assert_allclose(flexibility @ condensed, np.eye(6), atol=1e-8)


def test_craig_bampton_converges_to_the_full_model() -> None:
    """Frequencies with the tip's face rigid, from above, as fixed-interface modes are added."""
    model = solid_mesh()
    nodes = faces(model)
    root, tip = (held_by(model, node) for node in nodes)
    spatial = np.array([3, 4, 5])[model.component[tip]]
    T = rigid_motion(model.position[model.node[tip]])[np.arange(len(tip)), spatial]
    inside = np.setdiff1d(np.arange(model.n), np.concatenate([root, tip]))
    B = np.zeros((model.n, len(inside) + 6))
    B[inside, np.arange(len(inside))] = 1.0
    B[tip, -6:] = T
    K, M = (B.T @ A.toarray() @ B for A in (model.K, model.M))
    exact = np.sqrt(scipy.linalg.eigh(K, M, eigvals_only=True)[:6])
    errors = [
        omega(modal_body(model, nodes, "craig_bampton", count))[:6] / exact - 1.0
        for count in (2, 8, 24)
    ]
    assert np.all(np.array(errors) > -1e-9)
    for few, many in pairwise(errors):
        assert np.all(many <= few + 1e-9)
    assert np.all(errors[-1] < 2e-3)


def test_node_of_several_moves_as_their_best_rigid_motion() -> None:
    """A rigid motion of the mesh is told exactly by any patch of nodes."""
    model = solid_mesh()
    patch = FeNode("p", face(model, 1.5))
    mesh = np.flatnonzero(np.isin(model.node_id, patch.ids))
    place = _place(model, patch, mesh)
    T = _motion_map(model, mesh, place, Refusals())
    np.testing.assert_allclose(T @ model.rigid, rigid_motion(place.r), atol=1e-12)


def test_lumping_keeps_the_mass_and_positive_entries() -> None:
    for model in (solid_mesh(), beam_mesh()):
        masses = lump(model)
        total = model.rigid[:, 3] @ (model.M @ model.rigid[:, 3])
        assert masses.m.sum() == pytest.approx(total, rel=1e-12)
        assert np.all(masses.m > 0.0)
        assert np.linalg.eigvalsh(masses.J).min() >= -1e-15


def test_lumped_mass_converges_to_consistent_mass() -> None:
    errors = []
    for elements in (8, 16, 32):
        model = beam_mesh(elements)
        both = [
            omega(modal_body(model, ends(model), "cantilever", 3, lumped=lumped))
            for lumped in (False, True)
        ]
        errors.append(np.abs(both[1] / both[0] - 1.0))
    np.testing.assert_allclose(order_of(errors), 2.0, atol=0.05)


def test_diagonal_mass_matrix_keeps_its_rotary_inertia() -> None:
    """A matrix that is lumped already is a sum over its nodes, Jr, Z and y included."""
    model = beam_mesh(6)
    masses, J = np.linspace(1.0, 2.0, 7), np.outer(np.linspace(0.1, 0.3, 7), [1.0, 1.2, 1.1])
    diagonal = np.hstack([np.repeat(masses[:, None], 3, axis=1), J]).ravel()
    model = with_matrices(model, M=np.diag(diagonal))
    modal = modal_body(model, ends(model), "cantilever", 5)
    np.testing.assert_allclose(np.diag(modal.distributed.Jr), J.sum(axis=0), rtol=1e-12)
    L = modal.distributed.Mfr[:, :3]
    C = modal.distributed.C
    of_points = np.stack([C[:, b, a] - C[:, a, b] for a, b in ((1, 2), (2, 0), (0, 1))], axis=1)
    np.testing.assert_allclose(L, of_points + modal.distributed.y, atol=1e-12)


@pytest.mark.parametrize(("elements", "count"), [(10, 6), (150, 190)])  # dense, Lanczos
def test_massless_rotations_are_condensed(elements: int, count: int) -> None:
    """Lumped masses without inertia: the mass matrix is singular, the modes are not."""
    model = beam_mesh(elements)
    diagonal = np.where(model.component < 3, 1.2, 0.0)
    model = with_matrices(model, M=np.diag(diagonal))
    wanted = Wanted("cantilever", count, accept_unresolved=True)
    modal = finite_element_body(model, ends(model), FeModes(wanted, inboard="root"))
    K, M = model.K.toarray(), model.M.toarray()
    root = held_by(model, ends(model)[0])
    t = np.setdiff1d(np.flatnonzero(model.component < 3), root)
    w = np.setdiff1d(np.flatnonzero(model.component >= 3), root)
    condensed = K[np.ix_(t, t)] - K[np.ix_(t, w)] @ np.linalg.solve(
        K[np.ix_(w, w)], K[np.ix_(w, t)]
    )
    exact = np.sqrt(scipy.linalg.eigh(condensed, M[np.ix_(t, t)], eigvals_only=True)[:count])
    # the lowest stiffness is 1e-8 of the entries on 150 elements, 1e-4 on ten
    np.testing.assert_allclose(omega(modal), exact, rtol=1e-6 if elements > 10 else 1e-8)


def test_masses_on_nodes_take_part_where_asked() -> None:
    model = beam_mesh()
    tip = LumpedMass(3.0, (0.1, -0.2, 0.05), np.diag([0.2, 0.3, 0.4]))
    modal = modal_body(model, ends(model, tip), "cantilever", 6, with_node_masses=True)
    node = modal.nodes[1]
    total = modal.distributed.Mff + node.Pi.T @ tip.spatial() @ node.Pi
    np.testing.assert_allclose(total, np.eye(6), atol=1e-9)


def test_lanczos_finds_what_lapack_finds() -> None:
    model = solid_mesh((12, 3, 4))
    K, M = 0.5 * (model.K + model.K.T), 0.5 * (model.M + model.M.T)
    lanczos = natural_modes(sp.csr_array(K), sp.csr_array(M), 8, model.rigid)
    exact = full_frequencies(model)[6:14]
    np.testing.assert_allclose(np.sqrt(lanczos.omega2), exact, rtol=1e-9)


def test_reduction_twice_gives_equal_bits() -> None:
    model = solid_mesh((12, 3, 4))
    for boundary in ("cantilever", "free_free", "craig_bampton"):
        first, second = (modal_body(model, faces(model), boundary, 6) for _ in range(2))
        np.testing.assert_array_equal(first.K, second.K)
        for name in INTEGRALS:
            a, b = getattr(first.distributed, name), getattr(second.distributed, name)
            np.testing.assert_array_equal(a, b)


def test_freedoms_without_anything_are_dropped() -> None:
    """Six freedoms a node around a solid, as NASTRAN's g-set has them."""
    model = solid_mesh()
    rows = (6 * model.node + model.component).astype(int)
    n = 6 * len(model.node_id)
    K, M = (
        sp.csr_array((A.tocoo().data, (rows[A.tocoo().row], rows[A.tocoo().col])), shape=(n, n))
        for A in (model.K, model.M)
    )
    six = assemble_elements(K, M, model.node_id, model.position, dof_table(model.node_id, 6))
    assert six.n == model.n
    np.testing.assert_array_equal(
        omega(modal_body(six, faces(six), "cantilever", 4)),
        omega(modal_body(model, faces(model), "cantilever", 4)),
    )


def test_counting_negative_eigenvalues_is_sylvesters() -> None:
    rng = np.random.default_rng(3)
    Q, _ = np.linalg.qr(rng.normal(size=(12, 12)))
    for negative in range(4):
        values = np.concatenate(
            [-np.linspace(0.1, 1.0, negative), np.linspace(5, 9, 12 - negative)]
        )
        assert count_negative(sp.csr_array(Q @ np.diag(values) @ Q.T)) == negative


def grounded(model: FiniteElements) -> FiniteElements:
    K = model.K.toarray()
    row = int(np.flatnonzero(model.component == 1)[4])
    K[row, row] *= 1.01
    return with_matrices(model, K)


def unsymmetric(model: FiniteElements, key: str) -> FiniteElements:
    A = (model.K if key == "K" else model.M).toarray()
    A[0, 7] += 1e-3 * np.abs(A).max()
    return with_matrices(model, **{key: A})


def negative(model: FiniteElements, key: str) -> FiniteElements:
    """Minus a stiffness between two freedoms: the diagonal stays positive."""
    A = (model.K if key == "K" else model.M).toarray()
    v = np.zeros(model.n)
    v[0], v[6] = 1.0, -1.0
    return with_matrices(model, **{key: A - 1.2 * A[0, 0] * np.outer(v, v) / 2.0})


def negative_diagonal(model: FiniteElements, key: str) -> FiniteElements:
    A = (model.K if key == "K" else model.M).toarray()
    A[5, 5] = -1.0
    return with_matrices(model, **{key: A})


def in_two_parts(model: FiniteElements) -> FiniteElements:
    """Two blocks side by side."""
    K, M = (sp.block_diag([A, A]).toarray() for A in (model.K, model.M))
    return FiniteElements(
        sp.csr_array(K),
        sp.csr_array(M),
        np.concatenate([model.node_id, 1000 + model.node_id]),
        np.vstack([model.position, model.position + np.array([5.0, 0.0, 0.0])]),
        np.concatenate([model.node, len(model.node_id) + model.node]),
        np.tile(model.component, 2),
    )


def uneven_mass(model: FiniteElements) -> FiniteElements:
    scale = np.where(model.component == 2, 1.1, 1.0)
    return with_matrices(model, M=np.sqrt(np.outer(scale, scale)) * model.M.toarray())


def wrong_places(model: FiniteElements) -> FiniteElements:
    position = model.position.copy()
    position[3] += [0.5, 0.0, 0.0]
    return replace(model, position=position)


def point_rotor(model: FiniteElements) -> FiniteElements:
    M = model.M.toarray()
    row = int(np.flatnonzero(model.component == 3)[0])
    M[row, row] += 1e4  # about x alone
    return with_matrices(model, M=M)


REFUSED = {
    "grounded": (grounded, "stiffness: got stiffness against (rotation|translation)"),
    "stiffness not symmetric": (lambda m: unsymmetric(m, "K"), "stiffness: .*symmetric matrix"),
    "mass not symmetric": (lambda m: unsymmetric(m, "M"), "mass: .*symmetric matrix"),
    "negative stiffness": (lambda m: negative(m, "K"), "stiffness: got 1 negative eigenvalue"),
    "negative mass": (lambda m: negative(m, "M"), "mass: got 1 negative eigenvalue"),
    "negative diagonal": (
        lambda m: negative_diagonal(m, "K"),
        "the diagonal entry -1 at node 10 rz",
    ),
    "negative mass on the diagonal": (
        lambda m: negative_diagonal(m, "M"),
        "the diagonal entry -1 at node 10 rz",
    ),
    "two parts": (in_two_parts, "2 parts that no stiffness connects .apart: node 10, 20"),
    "uneven mass": (uneven_mass, "the same mass in all directions"),
    "places that do not fit": (wrong_places, "stiffness against rotation"),
    "impossible inertia": (point_rotor, "moments that some mass distribution has"),
    "no stiffness at all": (
        lambda m: with_matrices(m, K=np.zeros((m.n, m.n))),
        "without any entry",
    ),
    "no mass at all": (lambda m: with_matrices(m, M=np.zeros((m.n, m.n))), "without any entry"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_structure_is_refused(case: str) -> None:
    change, expected = REFUSED[case]
    with pytest.raises(StructureError, match=expected):
        check_structure(change(beam_mesh(6)))


def test_all_refusals_come_at_once() -> None:
    model = uneven_mass(grounded(beam_mesh(6)))
    with pytest.raises(StructureError) as caught:
        check_structure(model)
    assert {refusal.key for refusal in caught.value.refusals} == {"stiffness", "mass"}


def test_leakage_names_the_direction_and_its_size() -> None:
    model = beam_mesh(6)
    K = model.K.toarray()
    x = np.flatnonzero(model.component == 0)
    K[x[2], x[2]] += 1e-4 * np.abs(K).max()  # a spring to ground along x
    with pytest.raises(StructureError) as caught:
        check_structure(with_matrices(model, K))
    text = str(caught.value)
    assert "translation along x" in text
    assert "node 30 x" in text
    assert "translation along y" not in text


def test_leakage_of_a_soft_row_is_judged_by_that_row() -> None:
    """A spring to ground on a soft freedom, five orders below what the stiffest rows allow."""
    stiffness = {"stretch": 1e10, "torsion": 500.0, "bending_about_y": 900.0}
    model = aligned_beam(8, constant_section(stiffness=stiffness | {"bending_about_z": 40.0}))
    K = model.K.toarray()
    row = int(np.flatnonzero(model.component == 1)[4])
    K[row, row] *= 1.0 + 1e-5
    assert 1e-5 * K[row, row] < 1e-5 * (1e-6 * np.abs(K).max())
    with pytest.raises(StructureError, match=r"against translation along y: .*node 50 y"):
        check_structure(with_matrices(model, K))


def test_stiff_parts_in_turned_axes_leave_no_leakage_in_soft_rows() -> None:
    """Turned and turned back, soft rows hold rounding of the stiff ones: not a spring to ground."""
    stiffness = {"stretch": 1e10, "torsion": 500.0, "bending_about_y": 900.0}
    model = aligned_beam(8, constant_section(stiffness=stiffness | {"bending_about_z": 40.0}))
    T = np.kron(np.eye(2 * len(model.node_id)), turned())
    there_and_back = T.T @ (T @ model.K.toarray() @ T.T) @ T
    assert np.count_nonzero(there_and_back) > 2 * model.K.count_nonzero()
    check_structure(with_matrices(model, there_and_back))


def aligned_beam(elements: int, section: Section) -> FiniteElements:
    """A beam along x, so that its families of motion have rows of their own."""
    grid = np.linspace(0.0, LENGTH, elements + 1)
    mesh, n = BeamElements(grid, section), elements + 1
    order = (6 * np.arange(n)[:, None] + TO_FILE).ravel()
    K, M = (sp.csr_array(A[order][:, order]) for A in (mesh.K, mesh.M))
    node_id = 10 * np.arange(1, n + 1)
    position = np.stack([grid, 0.0 * grid, 0.0 * grid], axis=1)
    return assemble_elements(K, M, node_id, position, dof_table(node_id, 6))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_stiffness_of_a_rigid_motion_is_judged_by_the_first_mode(sign: float) -> None:
    """Springs of 1e-7 of a row pass row by row, and would hold the structure all the same.

    A spring k on each of n nodes makes rigid translation oscillate with n k / m.
    """
    model = beam_mesh(100)
    first = omega(modal_body(model, ends(model), "cantilever", 2))[0] ** 2
    x = np.flatnonzero(model.component == 0)
    mass = model.rigid[:, 3] @ (model.M @ model.rigid[:, 3])
    for part, sound in ((1e-4, True), (1e-2, False)):
        K = model.K.tolil()
        k = sign * part * first * mass / len(x)
        K[x, x] = K[x, x].toarray().ravel() + k
        assert k < 1e-7 * model.K[x[5], x[5]]
        spoiled = with_matrices(model, K.tocsr())
        if sound:
            modal_body(spoiled, ends(model), "cantilever", 2)
            continue
        with pytest.raises(StructureError, match=r"rigid motion|negative"):
            modal_body(spoiled, ends(model), "cantilever", 2)


@pytest.mark.parametrize(
    ("elements", "boundary"),
    [
        (12, "cantilever"),
        (12, "free_free"),
        (12, "craig_bampton"),
        (60, "cantilever"),
        (60, "free_free"),
        (60, "craig_bampton"),
        (200, "free_free"),
    ],
)
def test_negative_stiffness_of_one_mode_is_refused_on_any_mesh(
    elements: int, boundary: str
) -> None:
    """K - a omega^2 (M x)(M x)^T makes the first mode's stiffness 1 - a of what it was.

    On 200 elements the mode's stiffness is 1e-8 of the entries that make it.
    """
    model = beam_mesh(elements)
    K, M = (0.5 * (A + A.T) for A in (model.K, model.M))
    first = natural_modes(sp.csr_array(K), sp.csr_array(M), 1, model.rigid)
    y = M @ first.X[:, 0]
    for a, sound in ((0.9, True), (1.1, False), (30.0, False)):
        changed = with_matrices(model, (K - a * first.omega2[0] * np.outer(y, y)))
        if sound:
            modal_body(changed, ends(model), boundary, 2)
            continue
        with pytest.raises(StructureError, match="negative"):
            modal_body(changed, ends(model), boundary, 2)


def test_counting_is_not_deceived_by_rounding() -> None:
    """Semidefinite by construction, B^T B of low rank, stiff and soft: nothing is negative."""
    rng = np.random.default_rng(8)
    for n in (10, 60, 200):
        B = rng.normal(size=(n // 2, n)) * 10.0 ** rng.uniform(-6, 6, n)
        assert count_negative(sp.csr_array(B.T @ B), n * np.finfo(float).eps) == 0


def in_single_precision(model: FiniteElements) -> FiniteElements:
    K, M = (A.toarray().astype(np.float32).astype(float) for A in (model.K, model.M))
    return with_matrices(model, K, M)


def test_sound_structures_pass() -> None:
    for model in (beam_mesh(), solid_mesh(), beam_mesh(200)):
        check_structure(model)
        check_structure(in_single_precision(model))


def test_single_precision_serves_as_far_as_its_digits_go() -> None:
    """An error u in entries is u omega_max^2 / omega_1^2 in the first mode's: too much on 60."""
    for elements in (6, 12):
        model = beam_mesh(elements)
        exact = omega(modal_body(model, ends(model), "cantilever", 4))
        single = omega(modal_body(in_single_precision(model), ends(model), "cantilever", 4))
        # rigid motions may meet 1e-3 of omega^2, and so may the first mode; higher ones less
        np.testing.assert_allclose(single, exact, rtol=5e-4)
    model = beam_mesh(60)
    with pytest.raises(StructureError, match="of a rigid motion"):
        modal_body(in_single_precision(model), ends(model), "cantilever", 4)


def hinged() -> FiniteElements:
    """A ball joint in the middle: connected by stiffness, yet free to fold."""
    a, b = beam_mesh(4), beam_mesh(4)
    K, M = (sp.block_diag([x, y]).toarray() for x, y in ((a.K, b.K), (a.M, b.M)))
    end, start = held_by(a, ends(a)[1])[:3], a.n + held_by(b, ends(b)[0])[:3]
    T = np.eye(2 * a.n)
    T[start, end] = 1.0  # the second begins where the first ends
    T = np.delete(T, start, axis=1)
    position = np.vstack([a.position, b.position + (a.position[-1] - a.position[0])])
    node = np.concatenate([a.node, len(a.node_id) + b.node])
    keep = np.delete(np.arange(2 * a.n), start)
    return FiniteElements(
        sp.csr_array(T.T @ K @ T),
        sp.csr_array(T.T @ M @ T),
        np.concatenate([a.node_id, 1000 + b.node_id]),
        position,
        node[keep],
        np.concatenate([a.component, b.component])[keep],
    )


@pytest.mark.parametrize("boundary", ["cantilever", "free_free", "craig_bampton"])
@pytest.mark.parametrize("tip", [1050, 1030, 30])  # beyond the hinge, and before it: K_ii singular
@pytest.mark.parametrize("make", [lambda model: model, in_single_precision])
def test_hinge_inside_the_mesh_is_a_mechanism(boundary: str, tip: int, make) -> None:
    nodes = [FeNode("root", (10,)), FeNode("tip", (tip,))]
    with pytest.raises(StructureError, match="stiffness: got"):
        modal_body(make(hinged()), nodes, boundary, 4)


def test_interface_of_collinear_nodes_adds_what_it_can_move() -> None:
    """A row of nodes has no motion about its own line: five constraint modes, not six."""
    model = solid_mesh()
    edge = np.isclose(model.position[:, 0], 3.0) & np.isclose(model.position[:, 1], 0.0)
    nodes = [faces(model)[0], FeNode("face", face(model, 1.5))]
    nodes.append(FeNode("tip", tuple(int(i) for i in model.node_id[edge])))
    with pytest.raises(StructureError, match=r"nodes\.tip: .*nodes that tell six motions"):
        modal_body(model, nodes, "craig_bampton", 0)


def test_massless_rotations_and_constraint_modes() -> None:
    """Torsion of point masses on a line moves no mass: said so; with inertia there it is exact."""
    model = beam_mesh(10)
    model = with_matrices(model, M=np.diag(np.where(model.component < 3, 1.2, 0.0)))
    with pytest.raises(StructureError, match="interfaces: got a constraint mode that moves no"):
        modal_body(model, ends(model), "craig_bampton", 2)
    with pytest.raises(StructureError, match="mass: got a rigid motion that moves no mass"):
        modal_body(model, ends(model), "free_free", 2)
    tip = LumpedMass(1.0, (0.0, 0.0, 0.0), np.diag([0.2, 0.2, 0.3]))
    modal = modal_body(model, ends(model, tip), "craig_bampton", 2, with_node_masses=True)
    Pi = modal.nodes[1].Pi
    held, last = held_by(model, ends(model)[0]), held_by(model, ends(model)[1])
    free = np.setdiff1d(np.arange(model.n), held)
    inverse = np.linalg.solve(model.K.toarray()[np.ix_(free, free)], np.eye(len(free)))
    at = np.searchsorted(free, last)[[3, 4, 5, 0, 1, 2]]
    flexibility = Pi @ np.linalg.solve(modal.K, Pi.T)
    exact = inverse[np.ix_(at, at)]
    np.testing.assert_allclose(flexibility, exact, atol=1e-8 * np.abs(exact).max())


def test_inboard_node_must_hold_the_structure() -> None:
    model = solid_mesh()
    three = face(model, 0.0)[:3]
    edge = [FeNode("root", three), FeNode("tip", face(model, 3.0))]
    ids = np.flatnonzero(np.isin(model.node_id, three))
    line = np.linalg.matrix_rank(model.position[ids] - model.position[ids[0]]) < 2
    if not line:
        edge[0] = FeNode("root", three[:2])
    with pytest.raises(StructureError, match="nodes that tell six motions"):
        modal_body(model, edge, "cantilever", 4)


def test_single_node_of_a_solid_tells_no_slope() -> None:
    model = solid_mesh()
    nodes = [faces(model)[0], FeNode("tip", (1,))]
    with pytest.raises(StructureError, match=r"nodes\.tip: got 1 node with freedoms x, y, z"):
        modal_body(model, nodes, "cantilever", 4)


def test_unknown_node_is_named() -> None:
    model = beam_mesh()
    with pytest.raises(StructureError, match=r"nodes\.tip: got node 77"):
        modal_body(model, [ends(model)[0], FeNode("tip", (77,))], "cantilever", 4)


def test_more_modes_than_there_are() -> None:
    model = beam_mesh(1)
    with pytest.raises(StructureError, match="at most 6, all that there are"):
        modal_body(model, ends(model), "cantilever", 7)


LABELS = {
    "node twice": (lambda i, p, d: (np.array([10, 10]), p, d), "node 10 twice"),
    "unknown node": (lambda i, p, d: (np.array([10, 30]), p, d), "freedoms of node 20"),
    "component": (lambda i, p, d: (i, p, np.where(d == 6, 7, d)), "component 7"),
    "freedom twice": (lambda i, p, d: (i, p, np.vstack([d[:11], d[:1]])), "component 1 twice"),
    "sizes": (lambda i, p, d: (i, p, d[:11]), "a matrix of 12 rows"),
    "place": (lambda i, p, d: (i, p * np.nan, d), "a position that is not finite"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_are_checked(case: str) -> None:
    model = beam_mesh(1)
    change, expected = LABELS[case]
    labels = change(model.node_id, model.position, dof_table(model.node_id, 6))
    with pytest.raises(StructureError, match=expected):
        assemble_elements(model.K, model.M, *labels)
