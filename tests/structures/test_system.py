"""A structure on a hub: descriptions by different modes are the same system in the limit.

Everything here goes through a model file, the loader and the compiled mass matrix.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Joint, Node, Stage, Tree
from darts_py.spec import load_tree
from darts_py.structures.beam import Beam, BeamModes, _elements, _samples, beam_body
from darts_py.structures.beam_elements import BeamElements
from darts_py.structures.modal_body import ModalBody, Place
from darts_py.structures.reduction import Wanted
from darts_py.structures.samples import rigid_motion
from tests.structures.beams import constant_section, places, uniform

HUB = """\
darts_model: 1
name: hub_and_boom
bodies:
  hub: {mass_kg: 40, inertia_kg_m2: [6, 8, 9]}
  boom:
    flexible:
      %s
      damping_ratio: 0
    nodes:
      root: {position_m: [0, 0, 0]}
      tip: {position_m: %s, mass_kg: 3, inertia_kg_m2: [0.1, 0.2, 0.2]}
joints:
  base: {type: free, parent: ground, child: hub}
  mount: {type: fixed, parent: hub, parent_offset_m: [0.4, 0.3, 0.2], child: boom, child_node: root}
"""

BEAM = """\
beam:
        length_m: 6
        direction: [1, 0, 0]
        section_y_axis: [0, 1, 0]
        mass_kg_per_m: 2
        axial_stiffness_n: 1e6
        torsional_stiffness_n_m2: 500
        polar_inertia_kg_m: 0.03
        bending_stiffness_about_y_n_m2: 900
        bending_stiffness_about_z_n_m2: 400
        %s
"""

PLATE = """\
plate:
        length_m: 3
        width_m: 1.2
        direction: [1, 0, 0]
        normal: [0, 0, 1]
        bending_stiffness_n_m: 80
        areal_mass_kg_m2: 2.5
        poisson_ratio: 0.3
        elements: [4, 2]
        %s
"""


def frequencies(file: Path, n: int) -> np.ndarray:
    """Lowest elastic frequencies of the whole, Hz, by the compiled mass matrix."""
    tree, model = load_tree(file), darts_py.load_model(file)
    q = np.zeros(model.n_coords)
    for k, name in enumerate(model.coord_names):
        q[k] = 1.0 if name.endswith(".qw") else 0.0
    M = darts_py.mass_matrix(model, q)
    K = np.zeros_like(M)
    modes = [k for k, name in enumerate(model.speed_names) if ".mode_" in name]
    K[np.ix_(modes, modes)] = scipy.linalg.block_diag(*(body.K for body in tree.bodies[1:]))
    squares = scipy.linalg.eigh(K, M, eigvals_only=True)
    return np.sqrt(np.maximum(squares, 0.0))[6 : 6 + n] / (2.0 * np.pi)


def system(tmp_path: Path, source: str, tip: str, modes: str, n: int) -> np.ndarray:
    file = tmp_path / "hub_and_boom.yaml"
    file.write_text(HUB % (source % modes, tip))
    return frequencies(file, n)


def exact_beam(n: int) -> np.ndarray:
    """The same system as one finite-element model: 40 elements, hub and tip as lumped masses."""
    grid = np.linspace(0.0, 6.0, 41)
    mesh = BeamElements(grid, constant_section())
    M = mesh.M.toarray()
    hub = np.diag([6.0, 8.0, 9.0, 40.0, 40.0, 40.0])
    S = rigid_motion(np.array([-0.4, -0.3, -0.2]))
    M[:6, :6] += S.T @ hub @ S
    M[-6:, -6:] += np.diag([0.1, 0.2, 0.2, 3.0, 3.0, 3.0])
    squares = scipy.linalg.eigh(mesh.K.toarray(), M, eigvals_only=True)
    return np.sqrt(np.maximum(squares[6 : 6 + n], 0.0)) / (2.0 * np.pi)


@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
@pytest.mark.parametrize("method", ["analytic", "finite_elements"])
def test_beam_on_a_hub_converges_to_the_whole_finite_element_model(
    tmp_path: Path, boundary: str, method: str
) -> None:
    """Ritz: from above, and closer with every mode."""
    exact = exact_beam(5)
    errors = []
    for k in (2, 4, 8, 16):
        counts = f"bending_about_y: {k}, bending_about_z: {k}, stretch: {k}, torsion: {k}"
        modes = f"method: {method}\n        elements: 40\n        "
        modes += f"modes: {{boundary: {boundary}, {counts}}}"
        errors.append(system(tmp_path, BEAM, "[6, 0, 0]", modes, 5) / exact - 1.0)
    # analytic modes undercut the 40 elements by their own error, (b h)^4 / 1440 < 1e-6
    assert np.all(np.array(errors) > -1e-6)
    for few, many in pairwise(errors):
        assert np.all(many < few + 1e-9)
    if boundary == "cantilever":
        assert errors[-1].max() < 2e-3
    else:  # what slopes of the held end lack falls like sum 1 / b^2, that is like 1 / count
        np.testing.assert_allclose(errors[2][:2] / errors[3][:2], 2.0, rtol=0.1)


def test_both_descriptions_of_a_beam_meet(tmp_path: Path) -> None:
    """Free-free and cantilever modes: the gap between them closes as the sets grow."""
    found = []
    for k in (2, 4, 8, 16, 32):
        counts = f"bending_about_y: {k}, bending_about_z: {k}, stretch: {k}, torsion: {k}"
        pair = [
            system(
                tmp_path,
                BEAM,
                "[6, 0, 0]",
                f"method: analytic\n        modes: {{boundary: {boundary}, {counts}}}",
                4,
            )
            for boundary in ("cantilever", "free_free")
        ]
        found.append(pair)
    gaps = [np.abs(free / held - 1.0).max() for held, free in found]
    assert all(many < 0.7 * few for few, many in pairwise(gaps))
    # free-free errors fall like 1 / count: extrapolated so, they are gone but for a tenth
    limit = 2.0 * found[-1][1] - found[-2][1]
    assert np.abs(limit / found[-1][0] - 1.0).max() < 0.1 * gaps[-1]


def test_both_descriptions_of_a_plate_meet(tmp_path: Path) -> None:
    """Of a mesh with 60 freedoms each set has 57 modes: then both span the same motions."""
    gaps = []
    for count in (8, 20, 40, 57):
        pair = [
            system(
                tmp_path,
                PLATE,
                "[3, 0.6, 0]",
                f"modes: {{boundary: {boundary}, count: {count}, accept_unresolved: true}}",
                4,
            )
            for boundary in ("cantilever, inboard: root", "free_free")
        ]
        gaps.append(np.abs(pair[1] / pair[0] - 1.0).max())
    assert all(many < few for few, many in pairwise(gaps))
    assert gaps[-1] < 1e-8


def test_craig_bampton_beam_needs_few_modes(tmp_path: Path) -> None:
    """With constraint modes at the loaded tip six frequencies are right to 1e-3 at once."""
    exact = exact_beam(4)
    modes = "elements: 40\n        modes: {boundary: craig_bampton, count: 4}"
    found = system(tmp_path, BEAM, "[6, 0, 0]", modes, 4)
    np.testing.assert_allclose(found, exact, rtol=1e-3)
    modes = "elements: 40\n        modes: {boundary: cantilever, count: 10}"
    plain = system(tmp_path, BEAM, "[6, 0, 0]", modes, 4)
    assert np.all(found <= plain * (1.0 + 1e-9))


def test_modes_made_with_the_tip_mass_need_fewer(tmp_path: Path) -> None:
    exact = exact_beam(3)
    errors = []
    for flag in ("false", "true"):
        modes = "elements: 40\n        modes: {boundary: cantilever, count: 8, "
        modes += f"include_node_masses: {flag}}}"
        found = system(tmp_path, BEAM, "[6, 0, 0]", modes, 3)
        errors.append(np.abs(found / exact - 1.0).max())
    assert errors[1] < 0.3 * errors[0]


def as_lumped_nodes(beam: Beam, modal: ModalBody, modes: BeamModes) -> Body:
    """The same body with a node of its own at every Gauss point: the same sums, other kernels."""
    named = [Place(node.name, node.r) for node in modal.nodes]
    stations = np.array([beam.station(place) for place in named])
    _, shapes, panels = _elements(beam, named, stations, modes)
    s = _samples(beam, shapes, panels)
    points = [
        Node(f"g{k}", s.r[k], s.m[k], np.zeros(3), s.J[k], np.vstack([s.psi[k], s.phi[k]]))
        for k in range(len(s.m))
    ]
    return Body("boom", (*modal.nodes, *points), modal.K, 0.0 * modal.K)


def spread_and_lumped(boundary: str, inertia: tuple[float, float, float]) -> list[Spacecraft]:
    """A free beam by its integrals, and the same with a node at every Gauss point."""
    stiffness = {"bending_about_y": 900.0, "bending_about_z": 400.0, "stretch": 1e4}
    beam = uniform(constant_section(inertia=inertia, stiffness=stiffness))
    modes = BeamModes(Wanted(boundary, 5), elements=6)  # type: ignore[arg-type]
    modal = beam_body(beam, places(beam, 0.0, 1.0), modes)
    spread = Body("boom", modal.nodes, modal.K, 0.0 * modal.K, modal.distributed)
    hinge = Joint("hinge", "free", (Stage("free", np.eye(6)),))
    bodies = (spread, as_lumped_nodes(beam, modal, modes))
    return [Spacecraft(Tree("t", (body,), (hinge,))) for body in bodies]


def some_state(system: Spacecraft) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q, u = rng.normal(size=system.n_coords), rng.normal(size=system.n_speeds)
    q[:5] *= 0.01
    q[5:9] /= np.linalg.norm(q[5:9])
    return q, u


@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
@pytest.mark.parametrize(
    ("terms", "inertia"), [("rl", (0.05, 0.02, 0.03)), ("crl", (0.0, 0.0, 0.0))]
)
def test_distributed_mass_moves_like_the_sum_of_its_points(
    boundary: str, terms: str, inertia: tuple[float, float, float]
) -> None:
    """Mass matrix, velocity products, energy and momentum to rounding."""
    systems = spread_and_lumped(boundary, inertia)
    q, u = some_state(systems[0])
    M = [darts_py.mass_matrix(system, q) for system in systems]
    np.testing.assert_allclose(M[0], M[1], atol=1e-12 * np.abs(M[1]).max())
    bias = [darts_py.bias_force(system, q, u, terms=terms) for system in systems]
    np.testing.assert_allclose(bias[0], bias[1], atol=1e-11 * np.abs(bias[1]).max())
    total = [darts_py.energy(system, q, u).total for system in systems]
    assert total[0] == pytest.approx(total[1], rel=1e-12)
    h = [darts_py.momentum(system, q, u) for system in systems]
    np.testing.assert_allclose(h[0], h[1], atol=1e-11 * np.abs(h[1]).max())


@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
def test_rotary_inertia_in_crl_lacks_products_of_two_slopes_and_no_power(boundary: str) -> None:
    """What integrals of single slopes cannot hold: int psi_k . (w x Jc psi_l) u_l and the like.

    All of it goes with modal rates: forces of modes with the first power, moments on the body with
    the second; none at zero rates, none in forces on the body, and it does no work.
    """
    systems = spread_and_lumped(boundary, (0.05, 0.02, 0.03))
    q, u = some_state(systems[0])
    u_rest = np.where(np.arange(len(u)) < 5, 0.0, u)
    size = np.abs(darts_py.bias_force(systems[1], q, u, terms="crl")).max()

    def gap(rates: np.ndarray) -> np.ndarray:
        one, other = (darts_py.bias_force(s, q, rates, terms="crl") for s in systems)
        return one - other

    np.testing.assert_allclose(gap(u_rest), 0.0, atol=1e-11 * size)
    scales = np.array([0.4, 0.2, 0.1])
    gaps = [gap(u_rest + scale * (u - u_rest)) for scale in scales]
    modal = np.array([np.abs(g[:5]).max() for g in gaps])
    moment = np.array([np.abs(g[5:8]).max() for g in gaps])
    np.testing.assert_allclose(np.log2(modal[:-1] / modal[1:]), 1.0, atol=1e-6)
    np.testing.assert_allclose(np.log2(moment[:-1] / moment[1:]), 2.0, atol=1e-6)
    for scale, g in zip(scales, gaps, strict=True):
        np.testing.assert_allclose(g[8:], 0.0, atol=1e-11 * size)
        v = u_rest + scale * (u - u_rest)
        assert abs(v @ g) < 1e-11 * np.abs(v).max() * size
