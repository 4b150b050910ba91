"""Joints: pose, joint map and coordinate rates are one motion; bad joint maps are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import darts_py
from darts_py.errors import ModelError
from darts_py.multibody import joint_types
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference import joint_kinds
from tests.reference.compare import assert_close
from tests.reference.kinematics import STENCIL, STEP, rate_of
from tests.reference.poses import cross_matrix, joint_rates, vee
from tests.reference.trees import Options, random_state, random_tree, seeds
from tests.reference.twin import Twin

# Eighth-order differences of positions of about 1 m: rounding 1e-16 / 4e-3 s, and truncation
# below 1e-12 at these rates.
RTOL = 1e-10
MAPS = [kind for kind in joint_kinds.ALL_KINDS if kind.startswith("map-")]


def _rigid(kind: str, seed: int) -> tuple[Tree, np.random.Generator]:
    """Return a joint of this kind on the ground, and one on the body it moves."""
    rng = np.random.default_rng([joint_kinds.ALL_KINDS.index(kind), seed])
    return random_tree(rng, 2, Options(kinds=[kind], max_modes=0, branching=0.0)), rng


def _outer_node(tree: Tree) -> str:
    """Return a node of the body that is farthest out."""
    parents = [joint.parent for joint in tree.joints]
    outer = next(i for i in range(len(parents)) if i not in parents)
    return f"{tree.bodies[outer].name}.{tree.bodies[outer].nodes[-1].name}"


@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_node_jacobian_is_the_derivative_of_the_node_pose(kind: str, seed: int) -> None:
    tree, rng = _rigid(kind, seed)
    model, twin, name = Spacecraft(tree), Twin(tree), _outer_node(tree)
    q, u = random_state(tree, rng)
    qdot = twin.coordinate_rates(q) @ u
    samples = [darts_py.node_motion(model, q + k * STEP * qdot, u, node=name) for k in STENCIL]
    here = darts_py.node_motion(model, q, u, node=name)
    Rdot = rate_of(np.stack([s.R for s in samples]))
    velocity = rate_of(np.stack([s.r_N for s in samples]))
    expected = np.r_[vee(here.R.T @ Rdot), here.R.T @ velocity]
    assert_close(here.J @ u, expected, RTOL, "rate of the pose")
    assert_close(here.J @ u, here.V, 1e-13, "V = J u")


@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
def test_pose_is_the_product_of_exponentials(kind: str) -> None:
    tree, rng = _rigid(kind, 7)
    q, u = random_state(tree, rng)
    name = _outer_node(tree)
    got = darts_py.node_motion(Spacecraft(tree), q, u, node=name)
    expected = Twin(tree).node_motion(q, u, np.zeros_like(u), name)
    assert_close(got.r_N, expected.r_N, 1e-13)
    assert_close(got.R, expected.R, 1e-13)


@pytest.mark.parametrize("kind", [kind for kind in joint_kinds.ALL_KINDS if kind != "fixed"])
def test_coordinates_change_at_the_rate_the_speeds_say(kind: str) -> None:
    """qdot = Gamma u, seen from outside: one short step forward and one with speeds reversed.

    Rigid motion without damping is reversible, so the two make a central difference; its error
    is (1e-4 s)^2 times a third derivative, some 100 1/s^3.
    """
    tree, rng = _rigid(kind, 11)
    model, twin = Spacecraft(tree), Twin(tree)
    q, u = random_state(tree, rng)
    ends = []
    for sign in (1.0, -1.0):
        plant = darts_py.Plant(model, dt_ns=100_000, integrator="rk4")
        plant.q[:], plant.u[:] = q, sign * u
        plant.advance(1)
        ends.append(plant.q.copy())
    assert_close((ends[0] - ends[1]) / 2e-4, twin.coordinate_rates(q) @ u, 1e-5)


@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
def test_neutral_position_aligns_the_hinge_frames(kind: str) -> None:
    tree, _ = _rigid(kind, 3)
    q = Spacecraft(tree).neutral()
    twin = Twin(tree)
    for i, joint in enumerate(tree.joints):
        t = np.zeros(3)
        if joint.parent >= 0:
            t = tree.bodies[joint.parent].nodes[joint.parent_node].r
        d = tree.bodies[i].nodes[joint.child_node].r + joint.o_d
        link = twin.link(i, q)
        assert_close(link[:3, :3], joint.R_pO @ joint.R_iO.T, 1e-14)
        arm = t + joint.o_t - link[:3, :3] @ d
        np.testing.assert_allclose(link[:3, 3], arm, rtol=0, atol=1e-13)


def test_twin_reads_quaternion_rates_as_the_sheet_does() -> None:
    """The twin's least-squares Gamma of a ball joint is half the quaternion product."""
    rng = np.random.default_rng(0)
    tree = random_tree(rng, 1, Options(kinds=["spherical"], max_modes=0))
    w, x, y, z = q = random_state(tree, rng)[0]
    half = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
    assert_close(joint_rates(tree.joints[0], q), half, 1e-13)


# -- joint maps -------------------------------------------------------------------------------


@given(
    kind=st.sampled_from([k for k in joint_kinds.ALL_KINDS if k.startswith("map-")]), seed=seeds()
)
def test_closed_maps_are_accepted_from_any_frame(kind: str, seed: int) -> None:
    stages = joint_kinds.JOINTS[kind](np.random.default_rng(seed))
    assert sum(stage.n_speeds for stage in stages) >= 1


@given(seed=seeds(), n=st.integers(2, 5))
def test_generic_maps_are_refused_as_non_holonomic(seed: int, n: int) -> None:
    """Random columns never close under the bracket for 2 to 5 of them."""
    H = np.random.default_rng(seed).normal(size=(6, n))
    with pytest.raises(ModelError, match=r"(?s)outside their span.*non-holonomic"):
        joint_types.constant_map(H)


@given(seed=seeds())
def test_two_rotations_through_a_point_are_refused(seed: int) -> None:
    """The "simple universal" map of the literature is not a joint with two coordinates."""
    rng = np.random.default_rng(seed)
    c, axes = rng.normal(size=3), rng.normal(size=(3, 2))
    with pytest.raises(ModelError, match="non-holonomic"):
        joint_types.constant_map(np.vstack([axes, cross_matrix(c) @ axes]))


@pytest.mark.parametrize(
    ("H", "why"),
    [
        (np.zeros((6, 1)), "zero column"),
        (np.eye(6)[:, [0, 0]], "dependent"),
        (np.eye(5), "6 rows"),
        (np.ones((6, 7)), "1 to 6 columns"),
        (np.full((6, 1), np.nan), "finite"),
        (np.ones(6), "6 rows"),
    ],
)
def test_malformed_maps_are_refused_with_the_reason(H: np.ndarray, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        joint_types.constant_map(H)


@pytest.mark.parametrize("axis", [[0, 0, 0], [np.inf, 0, 0], [1, 0], "z"])
def test_axes_without_direction_are_refused(axis: object) -> None:
    with pytest.raises((ModelError, ValueError)):
        joint_types.revolute(axis)  # type: ignore[arg-type]


def test_universal_with_parallel_axes_is_refused() -> None:
    with pytest.raises(ModelError, match="parallel"):
        joint_types.universal([0, 0, 1], [0, 0, -2])
