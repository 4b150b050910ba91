"""Modes of one body held at its hinge, and their effective masses."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg

import darts_py
from darts_py.errors import ArgumentError
from darts_py.linear.body_modes import body_modes
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Body, Joint, Node, Tree
from tests.reference.joint_kinds import rotation
from tests.reference.kinematics import shift

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
