"""Plates against published tables, and their integrals."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from darts_py.structures.modal_body import LumpedMass, ModalBody, Place
from darts_py.structures.plate import Plate, PlateModes, plate_body
from darts_py.structures.reduction import Wanted
from darts_py.structures.refusal import StructureError
from darts_py.structures.samples import rigid_motion
from tests.structures.beams import omega, turned
from tests.structures.plate_ritz import beam_functions, frequencies, polynomials

UNIT = Plate(1.0, 1.0, np.zeros(3), np.eye(3), D=1.0, nu=0.3, mass=1.0, rotary=0.0)
SKEW = Plate(3.0, 1.2, np.array([0.2, 0.5, -0.1]), turned(), D=80.0, nu=0.3, mass=2.5, rotary=0.0)


def at(plate: Plate, name: str, x: float, y: float, mass: LumpedMass | None = None) -> Place:
    r = plate.root + plate.R @ np.array([x * plate.length, y * plate.width, 0.0])
    return Place(name, r, mass or LumpedMass())


def body(plate: Plate, boundary: str, count: int, elements=(8, 8), **options) -> ModalBody:
    nodes = options.pop("nodes", None) or [at(plate, "root", 0.0, 0.0), at(plate, "tip", 1.0, 0.5)]
    wanted = Wanted(boundary, count, accept_unresolved=options.pop("accept_unresolved", False))  # type: ignore[arg-type]
    modes = PlateModes(wanted, elements, **options)
    return plate_body(plate, nodes, modes)


# Leissa 1973, J. Sound Vib. 31, 257-293: omega a^2 sqrt(rho / D), square plates, nu = 0.3, by Ritz
# with 36 products of beam functions, hence upper bounds. The same to four digits: Barton 1951 in
# VPCS SDLS01/89 (code_aster V2.03.001)
LEISSA_CANTILEVER = [3.4917, 8.5246, 21.429, 27.331, 31.111, 54.443]
LEISSA_FREE = [13.489, 19.789, 24.432, 35.024, 35.024, 61.526]


@pytest.mark.parametrize(
    ("boundary", "table"), [("cantilever", LEISSA_CANTILEVER), ("free_free", LEISSA_FREE)]
)
def test_square_plate_has_the_frequencies_of_the_tables(boundary: str, table: list[float]) -> None:
    found = omega(body(UNIT, boundary, 6, (16, 16)))
    assert np.all(found < table)
    np.testing.assert_allclose(found, table, rtol=0.01)


@pytest.mark.parametrize(("clamped", "table"), [(True, LEISSA_CANTILEVER), (False, LEISSA_FREE)])
def test_tables_are_what_leissas_method_gives(clamped: bool, table: list[float]) -> None:
    """By the same 36 functions, to a unit of the last printed digit.

    All round to what is printed but the double 35.02347, which stands there as 35.024.
    """
    along, across = beam_functions(clamped, 6), beam_functions(False, 6)
    found = frequencies(along, across, 0.3)[:6]
    printed = [10.0 ** (np.floor(np.log10(value)) - 4) for value in table]
    assert np.all(np.abs(found - table) <= np.array(printed))


@pytest.mark.parametrize("clamped", [True, False])
def test_square_plate_converges_to_ritz_with_polynomials(clamped: bool) -> None:
    """Order 4 where the plate is smooth (Strang & Fix 1973); singular corners cost two orders.

    Ritz's own error, between 16 and 24 polynomials, is left far behind.
    """
    boundary = "cantilever" if clamped else "free_free"
    exact, coarse = (
        frequencies(polynomials(clamped, k), polynomials(False, k), 0.3)[:6] for k in (24, 16)
    )
    errors = [omega(body(UNIT, boundary, 6, (n, n))) / exact - 1.0 for n in (8, 16)]
    assert np.all(coarse / exact - 1.0 < 0.5 * errors[1])
    order = np.log2(errors[0] / errors[1])
    if clamped:
        assert np.all(order > 1.7)
        assert np.all(errors[0] < 1e-3)
    else:
        np.testing.assert_allclose(order, 4.0, atol=0.2)


@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
def test_frequencies_converge_from_above(boundary: str) -> None:
    """Conforming elements: every refinement of the mesh lowers every frequency, and by less.

    The free plate is smooth and converges fast; the cantilever has singular corners.
    """
    found = [omega(body(UNIT, boundary, 5, (n, n))) for n in (4, 8, 16)]
    steps = [coarse - fine for coarse, fine in pairwise(found)]
    assert all(np.all(step > 0.0) for step in steps)
    assert np.all(steps[0] / steps[1] > (6.0 if boundary == "free_free" else 2.0))
    assert np.all(steps[1] / found[-1] < 1e-3)


def test_strip_without_poissons_ratio_is_a_beam() -> None:
    """Width 1/20 of the length, nu = 0: bending frequencies are the beam's, E I = D b."""
    strip = replace(UNIT, width=0.05, nu=0.0)
    found = omega(body(strip, "cantilever", 4, (24, 1)))
    beam = np.array([1.87510407, 4.69409113, 7.85475744]) ** 2
    for value in beam:
        assert np.min(np.abs(found / value - 1.0)) < 1e-5


def test_scales_as_the_equation_does() -> None:
    """omega ~ sqrt(D / mass) / length^2, at any place and orientation."""
    small = omega(body(replace(UNIT, width=0.4), "cantilever", 4))
    big = replace(UNIT, length=3.0, width=1.2, D=80.0, mass=2.5, root=SKEW.root, R=SKEW.R)
    np.testing.assert_allclose(
        omega(body(big, "cantilever", 4)), small * np.sqrt(80.0 / 2.5) / 9.0, rtol=1e-8
    )


@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
def test_plate_modes_are_orthonormal(boundary: str) -> None:
    modal = body(SKEW, boundary, 8)
    # scikit-fem's shape functions have eleven digits on this mesh
    np.testing.assert_allclose(modal.distributed.Mff, np.eye(8), atol=1e-9)
    if boundary == "cantilever":
        np.testing.assert_array_equal(modal.nodes[0].Pi, 0.0)
    else:
        np.testing.assert_allclose(modal.distributed.Mfr, 0.0, atol=1e-8)


def test_rigid_inertia_is_that_of_a_thin_plate() -> None:
    plate = replace(SKEW, rotary=0.02)
    Mrr = body(plate, "cantilever", 3).distributed.Mrr
    a, b, m = plate.length, plate.width, plate.mass * plate.length * plate.width
    J = m / 12.0 * np.diag([b**2, a**2, a**2 + b**2]) + 0.02 * a * b * np.diag([1.0, 1.0, 2.0])
    S, about_center = rigid_motion(plate.root + 0.5 * a * plate.R[:, 0]), m * np.eye(6)
    about_center[:3, :3] = plate.R @ J @ plate.R.T
    np.testing.assert_allclose(Mrr, S.T @ about_center @ S, rtol=1e-12, atol=1e-12)


def test_slope_of_a_node_is_the_gradient_of_its_displacement() -> None:
    h = 1e-5
    nodes = [at(SKEW, "p", 0.37, 0.21)]
    for k, (dx, dy) in enumerate(((h, 0), (-h, 0), (0, h), (0, -h))):
        nodes.append(at(SKEW, f"q{k}", 0.37 + dx, 0.21 + dy))
    modal = body(SKEW, "cantilever", 5, nodes=nodes)
    w = [SKEW.R[:, 2] @ node.Pi[3:] for node in modal.nodes]
    slope = SKEW.R.T @ modal.nodes[0].Pi[:3]
    by_x, by_y = (w[1] - w[2]) / (2 * h * SKEW.length), (w[3] - w[4]) / (2 * h * SKEW.width)
    np.testing.assert_allclose(slope, [by_y, -by_x, 0 * by_x], atol=2e-5 * np.abs(slope).max())


def test_plate_integrals_are_sums_over_small_tiles() -> None:
    """Momentum, first moments and products of modes, by a midpoint rule on named nodes."""
    n = 24
    middles = (np.arange(n) + 0.5) / n
    nodes = [
        at(SKEW, f"t{i}_{j}", x, y - 0.5)
        for i, x in enumerate(middles)
        for j, y in enumerate(middles)
    ]
    modal = body(SKEW, "cantilever", 4, nodes=nodes)
    dm = SKEW.mass * SKEW.length * SKEW.width / n**2
    phi = np.array([node.Pi[3:] for node in modal.nodes])
    r = np.array([node.r for node in modal.nodes])
    P, C = dm * phi.sum(axis=0).T, dm * np.einsum("sak,sb->kab", phi, r)
    L = dm * np.cross(r[:, :, None], phi, axis=1).sum(axis=0).T
    spread = modal.distributed
    # the midpoint rule on 24 tiles: (k h)^2 / 24 with k up to 3 half waves
    np.testing.assert_allclose(spread.Mfr[:, 3:], P, atol=0.01 * np.abs(P).max())
    np.testing.assert_allclose(spread.Mfr[:, :3], L, atol=0.01 * np.abs(L).max())
    np.testing.assert_allclose(spread.C, C, atol=0.01 * np.abs(C).max())
    np.testing.assert_allclose(spread.G, 0.0, atol=1e-10)  # all modes move along one line


def test_effective_mass_of_a_cantilever_plate_grows_to_its_mass() -> None:
    total = SKEW.mass * SKEW.length * SKEW.width
    shares = [
        ((body(SKEW, "cantilever", n).distributed.Mfr[:, 3:] @ SKEW.R[:, 2]) ** 2).sum() / total
        for n in (2, 8, 24)
    ]
    assert shares[0] < shares[1] < shares[2] < 1.0
    assert shares[2] > 0.9


def test_rotary_inertia_lowers_frequencies() -> None:
    thin, thick = (omega(body(replace(UNIT, rotary=j), "cantilever", 4)) for j in (0.0, 1e-3))
    assert np.all(thick < thin)
    assert np.all(thick > 0.8 * thin)


def test_points_hold_less_than_the_edge() -> None:
    nodes = [at(UNIT, "a", 0.0, -0.3), at(UNIT, "b", 0.0, 0.3), at(UNIT, "tip", 1.0, 0.0)]
    edge = omega(body(UNIT, "cantilever", 4, nodes=nodes))
    held = body(UNIT, "cantilever", 4, nodes=nodes, points=["a", "b"])
    assert np.all(omega(held) < edge)
    for node in held.nodes[:2]:
        np.testing.assert_array_equal(node.Pi, 0.0)


def test_craig_bampton_plate_is_statically_exact_at_its_interface() -> None:
    """The tip's corner under a load: the same answer as with all natural modes of the mesh."""
    nodes = [at(SKEW, "root", 0.0, 0.0), at(SKEW, "tip", 1.0, 0.5)]
    full = body(SKEW, "cantilever", 80, (5, 3), nodes=nodes, accept_unresolved=True)
    few = body(SKEW, "craig_bampton", 2, (5, 3), nodes=nodes, interfaces=["tip"])
    normal = SKEW.R[:, 2]

    def sag(modal: ModalBody) -> float:
        load = modal.nodes[1].Pi[3:].T @ normal
        return float(load @ np.linalg.solve(modal.K, load))

    assert sag(few) == pytest.approx(sag(full), rel=1e-8)


def test_mass_on_a_node_takes_part_where_asked() -> None:
    mass = LumpedMass(2.0, (0.05, 0.0, -0.02), np.diag([0.1, 0.1, 0.15]))
    nodes = [at(SKEW, "root", 0.0, 0.0), at(SKEW, "tip", 0.8, 0.2, mass)]
    modal = body(SKEW, "cantilever", 5, nodes=nodes, with_node_masses=True)
    Pi = modal.nodes[1].Pi
    np.testing.assert_allclose(
        modal.distributed.Mff + Pi.T @ mass.spatial() @ Pi, np.eye(5), atol=1e-8
    )


def test_loading_a_plate_twice_gives_equal_bits() -> None:
    first, second = (body(SKEW, "free_free", 6) for _ in range(2))
    np.testing.assert_array_equal(first.K, second.K)
    np.testing.assert_array_equal(first.distributed.C, second.distributed.C)


def test_node_off_the_plate_is_refused() -> None:
    with pytest.raises(StructureError, match=r"nodes\.far: got a point 0.3 m away"):
        body(SKEW, "cantilever", 2, nodes=[at(SKEW, "far", 1.1, 0.0)])
