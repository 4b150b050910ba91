"""Modes of one body as described and held at its hinge, and their effective masses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg, special

import darts_py
from darts_py.errors import ArgumentError
from darts_py.linear.body_modes import body_modes, described_modes
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Joint, Node, Tree
from darts_py.structures.modal_body import ModalBody
from tests.reference.joint_kinds import rotation
from tests.reference.kinematics import shift
from tests.structures.beams import LENGTH, MASS, POLAR, STIFFNESS, uniform
from tests.structures.beams import body as modal_beam

Array = np.ndarray


def complete_body(rng: np.random.Generator, n: int) -> tuple[Body, Array, Array]:
    """Return n point masses, every one free to move in x, y, z: a complete set of modes."""
    masses, places = rng.uniform(0.5, 2.0, n), rng.normal(size=(n, 3))
    half = rng.normal(size=(3 * n, 3 * n))
    K = half @ half.T + np.eye(3 * n)
    nodes = [Node("root", Pi=np.zeros((6, 3 * n)))]
    for i in range(n):
        Pi = np.zeros((6, 3 * n))
        Pi[3:, 3 * i : 3 * i + 3] = np.eye(3)
        nodes.append(Node(f"n{i}", r=places[i], m=float(masses[i]), Pi=Pi))
    body = Body("cloud", tuple(nodes), K=K, Dm=0.02 * K)
    return body, masses, places


def held(body: Body, rng: np.random.Generator | None = None) -> Spacecraft:
    """Return the body alone on a ball joint, in a turned hinge frame if `rng` is given."""
    R = np.eye(3) if rng is None else rotation(rng)
    joint = Joint("hinge", "spherical", jt.spherical(), R_iO=R)
    return Spacecraft(Tree("alone", (body,), (joint,)))


def test_complete_modes_carry_all_mass() -> None:
    """Frequencies of K against the masses; effective masses sum to mass and inertia."""
    rng = np.random.default_rng(7)
    body, masses, places = complete_body(rng, 4)
    modes = body_modes(held(body, rng), "cloud")
    w2, X = linalg.eigh(body.K, np.diag(np.repeat(masses, 3)))
    assert np.allclose(modes.frequency_rad_s, np.sqrt(w2), rtol=1e-12)
    assert np.allclose(modes.damping_ratio, 0.02 * np.sqrt(w2) / 2.0, rtol=1e-10)
    momentum = np.einsum("i,ick->kc", masses, X.reshape(4, 3, -1))
    assert np.allclose(modes.effective_mass_kg, momentum**2, rtol=1e-9, atol=1e-12)
    spin = np.einsum("i,icd->cd", masses, [np.eye(3) * (r @ r) - np.outer(r, r) for r in places])
    assert modes.mass_kg == pytest.approx(np.sum(masses), rel=1e-14)
    assert np.allclose(modes.inertia_kg_m2, np.diag(spin), rtol=1e-12)
    assert np.allclose(modes.residual_mass_kg, 0.0, atol=1e-12 * modes.mass_kg)
    assert np.allclose(modes.residual_inertia_kg_m2, 0.0, atol=1e-12 * np.max(spin))
    displaced = np.max(np.linalg.norm(X.reshape(4, 3, -1), axis=1), axis=0)
    assert np.allclose(modes.modal_mass_kg, 1.0 / displaced**2, rtol=1e-10)


def test_cantilever_and_free_shapes_of_one_structure_say_the_same() -> None:
    """Shapes that carry the whole body along (Pd != 0) leave everything held unchanged."""
    rng = np.random.default_rng(8)
    body, _, _ = complete_body(rng, 3)
    drift = 0.3 * rng.normal(size=(6, 9))
    nodes = tuple(replace(node, Pi=node.Pi + shift(node.r) @ drift) for node in body.nodes)
    ours, theirs = (body_modes(held(b), "cloud") for b in (body, replace(body, nodes=nodes)))
    for key in ("frequency_rad_s", "damping_ratio", "modal_mass_kg", "effective_mass_kg",
                "effective_inertia_kg_m2"):  # fmt: skip
        assert np.allclose(getattr(ours, key), getattr(theirs, key), rtol=1e-8, atol=1e-10), key


def test_complete_cantilever_beam_carries_all_mass() -> None:
    """A uniform beam in n slices, all of its n modes: masses sum to m L, inertias to sum m x^2.

    The stiffness is the inverse of the beam's flexibility under a load at x_j (Euler-Bernoulli):
    F_ij = x^2 (3 y - x) / 6 EI, x the lesser and y the greater of x_i, x_j.
    """
    n, EI, m = 12, 50.0, 1.7
    x = LENGTH * (np.arange(n) + 0.5) / n
    low, high = np.minimum.outer(x, x), np.maximum.outer(x, x)
    K = np.linalg.solve(low**2 * (3.0 * high - low) / (6.0 * EI), np.eye(n))
    nodes = [Node("root", Pi=np.zeros((6, n)))]
    for k in range(n):
        Pi = np.zeros((6, n))
        Pi[5, k] = 1.0
        nodes.append(Node(f"n{k}", r=np.array([x[k], 0.0, 0.0]), m=m * LENGTH / n, Pi=Pi))
    beam = Body("beam", tuple(nodes), K=0.5 * (K + K.T), Dm=np.zeros((n, n)))
    for find in (described_modes, body_modes):
        modes = find(held(beam), "beam")
        masses, inertias = modes.effective_mass_kg.sum(axis=0), modes.effective_inertia_kg_m2
        assert masses == pytest.approx([0.0, 0.0, m * LENGTH], rel=1e-9, abs=1e-12)
        expected = m * LENGTH / n * np.sum(x**2)
        assert inertias.sum(axis=0) == pytest.approx([0.0, expected, 0.0], rel=1e-9, abs=1e-12)
        assert not modes.moves_hinge
        assert modes.coordinates is None


def on_a_ball(modal: ModalBody) -> Spacecraft:
    none = np.zeros(modal.K.shape)
    return held(Body("beam", modal.nodes, K=modal.K, Dm=none, distributed=modal.distributed))


@pytest.mark.parametrize("count", [5, 20])
def test_cantilever_beam_has_the_effective_masses_of_the_closed_form(count: int) -> None:
    """Bending: masses 4 s^2 / l^2, inertias 12 / l^4; stretch, torsion: 2 / ((k - 1/2) pi)^2.

    cos l cosh l = -1 and s = (sinh l - sin l) / (cosh l + cos l); of their sums over all modes,
    which are 1, inertias of bending lack sum 12 / ((k - 1/2) pi)^4 over k > count (l to 1e-6).
    """
    beam = uniform(root=(0.0, 0.0, 0.0))
    families = dict.fromkeys(STIFFNESS, count)
    model = on_a_ball(modal_beam(beam, "cantilever", 0, method="analytic", families=families))
    modes, R = body_modes(model, "beam"), beam.R
    assert modes.mass_kg == pytest.approx(MASS * LENGTH, rel=1e-12)
    X = modes.shapes.T @ model.tree.bodies[0].distributed.Mfr  # type: ignore[union-attr]
    linear, angular = (X[:, 3:] @ R) ** 2, (X[:, :3] @ R) ** 2  # along beam axes
    assert np.sum(linear) == pytest.approx(np.sum(modes.effective_mass_kg), rel=1e-12)
    assert np.sum(angular) == pytest.approx(np.sum(modes.effective_inertia_kg_m2), rel=1e-12)
    k = np.arange(1, count + 1) - 0.5
    quarter = 2.0 / (k * np.pi) ** 2
    for found, whole in ((linear[:, 0], MASS * LENGTH), (angular[:, 0], POLAR * LENGTH)):
        assert np.sort(found)[: -count - 1 : -1] == pytest.approx(whole * quarter, rel=1e-9)
    inertia = MASS * LENGTH**3 / 3.0
    tail = 12.0 / np.pi**4 * float(special.zeta(4, count + 0.5))
    for c in (1, 2):
        assert 1.0 - np.sum(angular[:, c]) / inertia == pytest.approx(tail, rel=1e-5)
    first = 1.875104068711961
    s = (np.sinh(first) - np.sin(first)) / (np.cosh(first) + np.cos(first))
    assert np.max(linear[:, 2]) == pytest.approx(4 * (s / first) ** 2 * MASS * LENGTH, rel=1e-9)


def test_free_free_beam_as_described_carries_no_momentum() -> None:
    """Free-free modes: l = 4.730, 7.853, ..., and nothing that the frame would feel."""
    beam = uniform(root=(0.0, 0.0, 0.0))
    model = on_a_ball(modal_beam(beam, "free_free", 12, elements=48))
    modes = described_modes(model, "beam")
    assert modes.moves_hinge
    assert modes.coordinates is not None
    assert np.all(modes.effective_mass_kg < 1e-12 * modes.mass_kg)
    assert np.all(modes.effective_inertia_kg_m2 < 1e-12 * np.max(modes.inertia_kg_m2))
    for EI in (STIFFNESS["bending_about_y"], STIFFNESS["bending_about_z"]):
        w = 4.730040744862704**2 / LENGTH**2 * math.sqrt(EI / MASS)
        assert np.min(np.abs(modes.frequency_rad_s / w - 1.0)) < 1e-6
    assert body_modes(model, "beam").frequency_rad_s[0] < 0.5 * modes.frequency_rad_s[0]


def test_torsion_has_a_modal_inertia_and_no_modal_mass() -> None:
    """Twist sin(pi x / 2 L): it turns the tip by 1 rad at a modal inertia of half the beam's."""
    beam = uniform(root=(0.0, 0.0, 0.0))
    families = dict.fromkeys(STIFFNESS, 0) | {"torsion": 1}
    model = on_a_ball(modal_beam(beam, "cantilever", 0, method="analytic", families=families))
    modes = body_modes(model, "beam")
    assert np.isnan(modes.modal_mass_kg).all()
    assert modes.modal_inertia_kg_m2 == pytest.approx([POLAR * LENGTH / 2.0], rel=1e-9)


def test_point_mass_on_a_spring() -> None:
    """One mass, one mode: w = sqrt(k/m), and all of the mass in its direction."""
    m, k, c, arm = 2.5, 90.0, 3.0, 1.5
    Pi = np.zeros((6, 1))
    Pi[5] = 1.0
    tip = Node("tip", r=np.array([arm, 0.0, 0.0]), m=m, Pi=Pi)
    body = Body("stick", (Node("root", Pi=np.zeros((6, 1))), tip), K=np.array([[k]]),
                Dm=np.array([[c]]))  # fmt: skip
    modes = body_modes(held(body), "stick")
    assert modes.frequency_rad_s == pytest.approx([math.sqrt(k / m)], rel=1e-14)
    assert modes.damping_ratio == pytest.approx([c / (2.0 * math.sqrt(k * m))], rel=1e-14)
    assert modes.modal_mass_kg == pytest.approx([m], rel=1e-14)
    assert modes.effective_mass_kg == pytest.approx(np.array([[0.0, 0.0, m]]), abs=1e-14)
    assert modes.effective_inertia_kg_m2[0] == pytest.approx([0.0, m * arm**2, 0.0], abs=1e-13)
    assert modes.residual_mass_kg == pytest.approx([m, m, 0.0], abs=1e-13)


def test_residual_is_what_the_articulated_body_keeps() -> None:
    """Mrr - sum of effective masses is the diagonal of PR, computed by the kernels."""
    model = darts_py.load_model("flexible_satellite")
    modes = body_modes(model, "panel_right")
    b = int(model.kernel_body[[body.name for body in model.tree.bodies].index("panel_right")])
    R = model.arrays.body[b]["R_FC"].reshape(3, 3)
    PR = model.arrays.body[b]["PR"]
    assert np.allclose(modes.residual_mass_kg, np.diag(R @ PR[3:, 3:] @ R.T), atol=1e-11)
    assert np.allclose(modes.residual_inertia_kg_m2, np.diag(R @ PR[:3, :3] @ R.T), atol=1e-10)


def test_rigid_and_unknown_bodies_are_refused() -> None:
    model = darts_py.load_model("flexible_satellite")
    with pytest.raises(ArgumentError, match="body: got 'bus', expected the name of a flexible"):
        body_modes(model, "bus")
    with pytest.raises(ArgumentError, match="the model has none"):
        body_modes(darts_py.load_model("double_pendulum"), "upper")
