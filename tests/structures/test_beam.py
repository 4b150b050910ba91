"""Beams against closed form: frequencies, shapes, integrals, convergence."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import iv, jv, polygamma

from darts_py.structures.beam import Beam, BeamModes, beam_body, beam_grid
from darts_py.structures.beam_elements import BeamElements
from darts_py.structures.modal_body import LumpedMass
from darts_py.structures.reduction import Structure, Wanted, reduce
from darts_py.structures.refusal import StructureError
from darts_py.structures.samples import Samples, integrate, rigid_motion
from darts_py.structures.section import (
    Material,
    Profile,
    section_from_properties,
    section_from_shape,
)
from tests.structures.beams import (
    LENGTH,
    MASS,
    POLAR,
    STIFFNESS,
    body,
    constant_section,
    omega,
    places,
    uniform,
)


def roots(free: bool, n: int) -> np.ndarray:
    """Roots of cos b cosh b = 1 (free-free) or -1 (clamped-free), by their plain equation."""
    sign, start = (-1.0, 1) if free else (1.0, 0)
    return np.array(
        [
            brentq(lambda b: np.cos(b) * np.cosh(b) + sign, k * np.pi, (k + 1) * np.pi, xtol=1e-14)
            for k in range(start, start + n)
        ]
    )


CANTILEVER, FREE_FREE = roots(False, 5), roots(True, 5)


def test_roots_are_those_printed() -> None:
    """Timoshenko 1937, art. 53."""
    np.testing.assert_allclose(CANTILEVER[:3], [1.875, 4.694, 7.855], atol=5e-4)
    np.testing.assert_allclose(FREE_FREE[:3], [4.730, 7.853, 10.996], atol=5e-4)


def closed_form(family: str, boundary: str, n: int) -> np.ndarray:
    """Natural frequencies of the uniform beam, rad/s."""
    free = boundary == "free_free"
    if family in ("stretch", "torsion"):
        inertia = POLAR if family == "torsion" else MASS
        k = np.arange(1, n + 1) - (0.0 if free else 0.5)
        return k * np.pi / LENGTH * np.sqrt(STIFFNESS[family] / inertia)
    return ((FREE_FREE if free else CANTILEVER)[:n] / LENGTH) ** 2 * np.sqrt(
        STIFFNESS[family] / MASS
    )


@pytest.mark.parametrize("family", STIFFNESS)
@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
def test_analytic_frequencies_are_those_of_the_books(family: str, boundary: str) -> None:
    modal = body(uniform(), boundary, 0, method="analytic", families={family: 5})
    np.testing.assert_allclose(omega(modal), closed_form(family, boundary, 5), rtol=1e-12)


@pytest.mark.parametrize("family", STIFFNESS)
@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
def test_element_frequencies_converge_from_above_with_their_order(
    family: str, boundary: str
) -> None:
    """Order 4 in bending, 2 in stretch and torsion (Strang & Fix 1973, section 6.3)."""
    exact = closed_form(family, boundary, 3)
    errors = []
    for elements in (8, 16):
        modal = body(uniform(), boundary, 0, elements=elements, families={family: 3})
        errors.append(omega(modal) / exact - 1.0)
    assert np.all(errors[1] > 0.0)
    order = np.log2(errors[0] / errors[1])
    # the next term of the error is of relative size (b h)^2 / 10 at most
    np.testing.assert_allclose(order, 4.0 if "bending" in family else 2.0, atol=0.25)


def test_cantilever_error_is_the_leading_term_of_theory() -> None:
    """omega^2 of cubic elements is too high by (b h / L)^4 / 720 relative."""
    modal = body(uniform(), "cantilever", 0, elements=60, families={"bending_about_y": 1})
    exact = (CANTILEVER[0] / LENGTH) ** 4 * STIFFNESS["bending_about_y"] / MASS
    excess = modal.K[0, 0] / exact - 1.0
    assert excess == pytest.approx((CANTILEVER[0] / 60) ** 4 / 720.0, rel=0.01)


@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0])
def test_cantilever_with_tip_mass_has_the_roots_of_its_equation(ratio: float) -> None:
    """1 + cos cosh + r b (cos sinh - sin cosh) = 0, r = tip mass / beam mass (Blevins 8-1)."""

    def equation(b: float) -> float:
        c, s, ch, sh = np.cos(b), np.sin(b), np.cosh(b), np.sinh(b)
        return (1.0 + c * ch + ratio * b * (c * sh - s * ch)) / ch

    found = [brentq(equation, 1e-3, 1.9), brentq(equation, 3.8, 4.7), brentq(equation, 6.9, 7.9)]
    tip = LumpedMass(ratio * MASS * LENGTH)
    beam = uniform(constant_section(stiffness={"bending_about_y": 900.0}))
    options = {"nodes": places(beam, 0.0, 1.0, tip=tip), "with_node_masses": True}
    modal = body(beam, "cantilever", 3, elements=100, **options)
    exact = (np.array(found) / LENGTH) ** 2 * np.sqrt(900.0 / MASS)
    # (b h)^4 / 1440 of the third mode with 100 elements is 3e-8
    np.testing.assert_allclose(omega(modal), exact, rtol=5e-8)
    # the body's own integrals leave the tip's mass to its node
    assert modal.distributed.Mrr[3, 3] == pytest.approx(MASS * LENGTH)
    assert modal.nodes[1].m == tip.m
    total = modal.distributed.Mff + tip.m * modal.nodes[1].Pi[3:].T @ modal.nodes[1].Pi[3:]
    np.testing.assert_allclose(total, np.eye(3), atol=1e-10)


def test_modes_of_the_bare_beam_need_the_tip_mass_in_the_system_only() -> None:
    """Bare modes plus the tip's mass give the same frequencies as modes made with it.

    What n modes lack of the tip's flexibility is a sum of 1 / b^4 over the rest, that is 1 / n^3.
    """
    ratio, beam = 1.0, uniform(constant_section(stiffness={"bending_about_y": 900.0}))
    nodes = places(beam, 0.0, 1.0, tip=LumpedMass(ratio * MASS * LENGTH))
    errors = []
    exact = omega(body(beam, "cantilever", 1, elements=64, nodes=nodes, with_node_masses=True))[0]
    for count in (4, 8, 16, 32):
        bare = body(beam, "cantilever", count, elements=64, nodes=nodes)
        Pi = bare.nodes[1].Pi[3:]
        M = bare.distributed.Mff + nodes[1].mass.m * Pi.T @ Pi
        lowest = np.linalg.eigvals(np.linalg.solve(M, bare.K)).real.min()
        errors.append(np.sqrt(lowest) / exact - 1.0)
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 3.0, atol=0.05)


@pytest.mark.parametrize(("n", "first"), [(1, 5.315), (2, 8.719)], ids=["wedge", "cone"])
def test_beam_that_tapers_to_nothing_has_kirchhoffs_frequencies(n: int, first: float) -> None:
    """Kirchhoff 1879: J_n I_n+1 + I_n J_n+1 = 0 at z, omega = z^2 / 4L^2 sqrt(E I0 / rho A0)."""
    z = np.linspace(1.0, 20.0, 400)

    def equation(x: float) -> float:
        return (jv(n, x) * iv(n + 1, x) + iv(n, x) * jv(n + 1, x)) / iv(n, x)

    brackets = [(a, b) for a, b in pairwise(z) if equation(a) * equation(b) < 0.0]
    found = np.array([brentq(equation, a, b, xtol=1e-14) for a, b in brackets[:3]])
    assert found[0] ** 2 / 4.0 == pytest.approx(first, abs=5e-4)  # as printed in the books
    E, rho, h = 7e10, 2700.0, 0.1
    taper = Profile(np.array([0.0, LENGTH]), np.array([h, 0.0]))
    material = Material(E, E / 2.6, rho)
    if n == 1:
        sizes = {"width_y_m": Profile.constant(h), "height_z_m": taper}
        section = section_from_shape(material, "rectangle", sizes, rotary_inertia=False)
        radius2 = h**2 / 12.0
    else:
        section = section_from_shape(material, "circle", {"diameter_m": taper}, False)
        radius2 = h**2 / 16.0
    exact = found**2 / (4.0 * LENGTH**2) * np.sqrt(E * radius2 / rho)
    beam, errors = uniform(section), []
    for elements in (20, 40, 80):
        options = {"elements": elements, "families": {"bending_about_y": 3}}
        errors.append(omega(body(beam, "cantilever", 0, **options)) / exact - 1.0)
    order = np.log2(np.divide(errors[:-1], errors[1:]))  # 4 in spite of the sharp tip
    np.testing.assert_allclose(order, 4.0, atol=0.05)


def test_linear_taper_of_properties_is_met_exactly_by_stations() -> None:
    """A table with a station in the middle of its straight line changes nothing."""
    ends = Profile(np.array([0.0, LENGTH]), np.array([3.0, 1.0]))
    more = Profile(np.array([0.0, LENGTH / 2, LENGTH]), np.array([3.0, 2.0, 1.0]))
    results = []
    for profile in (ends, more):
        beam = uniform(section_from_profiles(profile, {"bending_about_y": scaled(profile, 300.0)}))
        results.append(body(beam, "cantilever", 4, elements=16))
    np.testing.assert_allclose(results[0].K, results[1].K, rtol=1e-11, atol=1e-9)
    assert results[0].distributed.Mrr[3, 3] == pytest.approx(2.0 * LENGTH, rel=1e-14)


def section_from_profiles(mass: Profile, stiffness: dict[str, Profile]):
    zero = Profile.constant(0.0)
    return section_from_properties(mass, (zero, zero, zero), stiffness)


def scaled(profile: Profile, factor: float) -> Profile:
    return Profile(profile.stations, factor * profile.values)


@pytest.mark.parametrize("boundary", ["cantilever", "free_free"])
def test_high_analytic_modes_are_finite_and_orthonormal(boundary: str) -> None:
    """cosh of the hundredth root is 1e136; the shapes never form it."""
    families = {"bending_about_y": 100}
    modal = body(uniform(), boundary, 0, method="analytic", families=families)
    # quadrature with 6 points per twenty-fifth of a wave, and rounding of 1e2 digits of phase
    np.testing.assert_allclose(modal.distributed.Mff, np.eye(100), atol=1e-11)
    tip = modal.nodes[1].Pi[3:]
    # every mode moves the free end by 2 / sqrt(mass) (Blevins)
    np.testing.assert_allclose(np.linalg.norm(tip, axis=0), 2.0 / np.sqrt(MASS * LENGTH), rtol=1e-9)


@pytest.mark.parametrize("method", ["analytic", "finite_elements"])
def test_modes_are_orthonormal_and_cantilever_ones_vanish_at_the_root(method: str) -> None:
    modal = body(uniform(), "cantilever", 12, method=method, elements=48)
    np.testing.assert_allclose(modal.distributed.Mff, np.eye(12), atol=1e-11)
    np.testing.assert_array_equal(modal.nodes[0].Pi, 0.0)


@pytest.mark.parametrize("method", ["analytic", "finite_elements"])
def test_free_free_modes_have_no_momentum(method: str) -> None:
    modal = body(uniform(), "free_free", 12, method=method, elements=48)
    np.testing.assert_allclose(modal.distributed.Mff, np.eye(12), atol=1e-11)
    np.testing.assert_allclose(modal.distributed.Mfr, 0.0, atol=1e-10)


def test_rigid_inertia_is_that_of_a_rod() -> None:
    beam = uniform()
    Mrr = body(beam, "cantilever", 4).distributed.Mrr
    m, c = MASS * LENGTH, beam.root + 0.5 * LENGTH * beam.R[:, 0]
    J = np.diag([POLAR * LENGTH, m * LENGTH**2 / 12.0, m * LENGTH**2 / 12.0])
    S = rigid_motion(c)
    about_center = np.block(
        [[beam.R @ J @ beam.R.T, np.zeros((3, 3))], [np.zeros((3, 3)), m * np.eye(3)]]
    )
    np.testing.assert_allclose(Mrr, S.T @ about_center @ S, rtol=1e-12, atol=1e-12)


def test_effective_masses_of_cantilever_modes_sum_to_the_mass() -> None:
    """Sum of P_k^2 over all modes is the mass; what is missing falls like 1 / count."""
    beam = uniform(root=(0.0, 0.0, 0.0))
    missing = []
    for count in (10, 20, 40):
        families = dict.fromkeys(STIFFNESS, count)
        modal = body(beam, "cantilever", 0, method="analytic", families=families)
        P = modal.distributed.Mfr[:, 3:] @ beam.R  # along beam axes
        missing.append(1.0 - (P**2).sum(axis=0) / (MASS * LENGTH))
        # the angular momentum about the root: all of the rod's inertia
        L = modal.distributed.Mfr[:, :3] @ beam.R
        share = (L**2).sum(axis=0) / np.diag(beam.R.T @ modal.distributed.Mrr[:3, :3] @ beam.R)
        assert np.all(share < 1.0 + 1e-12)
    for few, many in pairwise(missing):
        np.testing.assert_allclose(few / many, 2.0, rtol=0.05)
    # stretch: effective mass 2 / lambda^2, so 1 - sum = sum_{k > n} 2 / ((k - 1/2) pi)^2
    tail = 2.0 / np.pi**2 * float(polygamma(1, 40.5))
    assert missing[-1][0] == pytest.approx(tail, rel=1e-9)


def test_integrals_of_elements_are_those_of_many_lumped_slices() -> None:
    """Every integral against a sum over 4000 thin slices: second order in their thickness."""
    section = constant_section(inertia=(0.05, 0.02, 0.03))
    beam = uniform(section)
    modal = body(beam, "cantilever", 10, elements=24, nodes=places(beam, 0.0, 1.0))
    exact = modal.distributed
    errors = []
    for slices in (500, 1000):
        middles = (np.arange(slices) + 0.5) / slices
        nodes = places(beam, *middles.tolist())
        fine = shapes_at(beam, nodes)
        thin = LENGTH / slices
        J = thin * (beam.R @ np.diag([0.05, 0.02, 0.03]) @ beam.R.T)
        samples = Samples(
            np.array([node.r for node in nodes]),
            np.full(slices, thin * MASS),
            np.repeat(J[None], slices, axis=0),
            fine[:, 3:],
            fine[:, :3],
        )
        lumped = integrate(samples)
        errors.append(
            [
                np.abs(getattr(lumped, name) - getattr(exact, name)).max()
                / max(np.abs(getattr(exact, name)).max(), 1e-300)
                for name in ("Mrr", "Mfr", "Mff", "C", "G", "Jr", "Z", "y")
            ]
        )
    coarse, fine = np.array(errors)
    assert np.all(fine < 2e-5)
    assert np.all((fine < 1e-12) | (coarse / fine > 3.8))


def shapes_at(beam: Beam, nodes) -> np.ndarray:
    """Shapes of the same 24-element modes at many points, by their own interpolation."""
    mesh = BeamElements(beam_grid(beam, np.array([0.0, LENGTH]), 24), beam.section)
    wanted = Wanted("cantilever", 10)
    found = reduce(Structure(mesh.K, mesh.M, mesh.rigid), wanted, mesh.attachment(0.0))
    stations = np.array([beam.station(node) for node in nodes])
    Pi = mesh.shapes(stations, found.X)
    return np.concatenate([beam.R @ Pi[:, :3], beam.R @ Pi[:, 3:]], axis=1)


def test_rotary_inertia_lowers_bending_frequencies_as_rayleigh_found() -> None:
    """First order: omega^2 / (1 + J int psi^2 / modal mass), Rayleigh's quotient from above."""
    J = 1e-3
    thin = uniform(constant_section(stiffness={"bending_about_y": 900.0}))
    thick = uniform(constant_section(inertia=(POLAR, J, J), stiffness={"bending_about_y": 900.0}))
    before, after = (body(b, "cantilever", 1, elements=40) for b in (thin, thick))
    slope = body(thick, "cantilever", 1, method="analytic")  # E-B shape, rotary inertia in Mff
    gain = slope.distributed.Mff[0, 0] - 1.0
    assert gain > 0.0
    ratio = before.K[0, 0] / after.K[0, 0]
    assert ratio == pytest.approx(1.0 + gain, abs=5.0 * gain**2)


def test_craig_bampton_is_the_full_model_at_the_interface() -> None:
    """A unit load at the tip: constraint modes give the exact static answer, L^3 / 3 E I."""
    beam = uniform(constant_section(stiffness={"bending_about_y": 900.0}))
    nodes = places(beam, 0.0, 1.0)
    options = {"nodes": nodes, "elements": 20, "interfaces": ["n1"]}
    for count in (0, 3):
        modal = body(beam, "craig_bampton", count, **options)
        load = modal.nodes[1].Pi[3:].T @ beam.R[:, 2]
        tip = load @ np.linalg.solve(modal.K, load)
        assert tip == pytest.approx(LENGTH**3 / (3.0 * 900.0), rel=1e-9)
        np.testing.assert_array_equal(modal.nodes[0].Pi, 0.0)
    cantilever = body(beam, "cantilever", 3, elements=20)
    load = cantilever.nodes[1].Pi[3:].T @ beam.R[:, 2]
    short = load @ np.linalg.solve(cantilever.K, load) / (LENGTH**3 / (3.0 * 900.0))
    assert 0.98 < short < 0.9999  # natural modes alone leave some out


def test_craig_bampton_frequencies_converge_to_the_full_model() -> None:
    beam = uniform()
    nodes = places(beam, 0.0, 1.0)
    full = omega(body(beam, "cantilever", 6, elements=20))
    errors = []
    for count in (0, 6, 12, 24):
        options = {"nodes": nodes, "elements": 20, "interfaces": ["n1"]}
        errors.append(omega(body(beam, "craig_bampton", count, **options))[:6] / full - 1.0)
    assert np.all(np.array(errors) > -1e-9)  # upper bounds
    for few, many in pairwise(errors):
        assert np.all(many <= few + 1e-9)
    assert np.all(errors[-1] < 1e-3)


def test_loading_twice_gives_equal_bits() -> None:
    for boundary in ("cantilever", "free_free"):
        first, second = (body(uniform(), boundary, 8, elements=90) for _ in range(2))
        for a, b in zip(first.nodes, second.nodes, strict=True):
            np.testing.assert_array_equal(a.Pi, b.Pi)
        np.testing.assert_array_equal(first.K, second.K)
        np.testing.assert_array_equal(first.distributed.G, second.distributed.G)


def test_equal_planes_stay_apart() -> None:
    """Equal stiffness in both planes: double frequencies, yet every mode keeps to its plane."""
    beam = uniform(constant_section(stiffness={"bending_about_y": 900.0, "bending_about_z": 900.0}))
    modal = body(beam, "cantilever", 8)
    tip = np.abs(beam.R.T @ modal.nodes[1].Pi[3:])
    assert np.all(np.minimum(tip[1], tip[2]) < 1e-14)


def test_up_to_hz_takes_all_modes_below() -> None:
    beam = uniform()
    every = omega(body(beam, "cantilever", 12, method="analytic")) / (2.0 * np.pi)
    limit = 0.5 * (every[6] + every[7])
    for method in ("analytic", "finite_elements"):
        modes = BeamModes(Wanted("cantilever", None, limit), method=method, elements=64)
        modal = beam_body(beam, places(beam, 0.0, 1.0), modes)
        assert len(modal.K) == 7


REFUSED = {
    "tapered analytic": ({"method": "analytic", "beam": "taper"}, "a uniform beam"),
    "analytic Craig-Bampton": ({"method": "analytic", "boundary": "craig_bampton"}, "cantilever"),
    "analytic with masses": ({"method": "analytic", "with_node_masses": True}, "a bare beam"),
    "analytic held elsewhere": ({"method": "analytic", "inboard": "n1"}, "none with method"),
    "a family it lacks": ({"beam": "bending", "families": {"stretch": 1}}, "bending_about_y"),
    "more modes than elements": ({"elements": 2, "families": {"torsion": 3}}, "at most 2"),
    "families with masses": (
        {"families": {"torsion": 1}, "with_node_masses": True},
        "modes of the bare beam",
    ),
    "Craig-Bampton without interface": ({"boundary": "craig_bampton"}, "constraint modes"),
    "interface at the root": (
        {"boundary": "craig_bampton", "interfaces": ["n0"]},
        "share no freedom",
    ),
    "no mode that low": ({"up_to_hz": 1e-6}, "at least one"),
    "too many modes": ({"up_to_hz": 1e9, "elements": 300}, "at most 200"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_beam_refuses(case: str) -> None:
    options, expected = dict(REFUSED[case][0]), REFUSED[case][1]
    taper = Profile(np.array([0.0, LENGTH]), np.array([900.0, 100.0]))
    beams = {
        "taper": uniform(section_from_profiles(Profile.constant(1.0), {"bending_about_y": taper})),
        "bending": uniform(constant_section(stiffness={"bending_about_y": 900.0})),
    }
    beam = beams.get(options.pop("beam", ""), uniform())
    wanted = Wanted(options.pop("boundary", "cantilever"), 4)
    if "up_to_hz" in options:
        wanted = Wanted("cantilever", None, options.pop("up_to_hz"))
    with pytest.raises(StructureError, match=expected):
        beam_body(beam, places(beam, 0.0, 1.0), BeamModes(wanted, **options))


def test_node_beside_the_axis_is_refused() -> None:
    beam = uniform()
    (place,) = places(beam, 0.5)
    beside = replace(place, r=place.r + 0.01 * beam.R[:, 1])
    with pytest.raises(StructureError, match=r"nodes\.n0: got a point 0.01 m away"):
        body(beam, "cantilever", 2, nodes=[beside])
