from __future__ import annotations

import numpy as np
import pytest

from darts_py.bench import cases, flexible_cases
from darts_py.multibody.tree import Tree


def n_speeds(tree: Tree) -> int:
    modes = sum(body.n_modes for body in tree.bodies)
    return modes + sum(joint.n_speeds for joint in tree.joints)


def modal_mass_matrix(body) -> np.ndarray:
    """Sum over nodes of J^T M J, with J the motion of the node per mode and rigid coordinate."""
    n = 6 + body.n_modes
    total = np.zeros((n, n))
    for node in body.nodes:
        r, turn, shift = node.r + node.p, node.Pi[:3], node.Pi[3:]
        rotation = np.hstack([turn, np.eye(3), np.zeros((3, 3))])
        lever = np.cross(np.eye(3), r)  # rows: e_k x r
        move = shift + np.cross(turn.T, node.p).T
        translation = np.hstack([move, lever.T, np.eye(3)])
        total += node.m * translation.T @ translation + rotation.T @ node.Jc @ rotation
    return total


@pytest.mark.parametrize("case", cases.rigid_cases(), ids=lambda case: case.name)
def test_rigid_case_has_the_dofs_of_its_name(case):
    tree = cases.make_tree(case.name, case.links)
    assert n_speeds(tree) == case.n_dofs == int(case.name.split()[-1])
    assert case.state.u.shape == case.state.tau.shape == (case.n_dofs,)
    assert case.state.q.shape == (sum(joint.n_coords for joint in tree.joints),)


@pytest.mark.parametrize("n_modes", flexible_cases.CHAIN_MODES)
def test_flexible_chain_has_modes_and_one_hinge_per_body(n_modes):
    tree = flexible_cases.flexible_chain(n_modes)
    assert n_speeds(tree) == 10 * (n_modes + 1)
    assert flexible_cases.draw_tree_state(tree).u.shape == (10 * (n_modes + 1),)


def test_flexible_satellite_has_twelve_modes_more():
    tree = flexible_cases.flexible_satellite()
    assert n_speeds(tree) == 32
    rigid = cases.satellite()
    for k in flexible_cases.PANEL_LINKS:
        assert sum(node.m for node in tree.bodies[k].nodes) == pytest.approx(rigid[k].m)
        assert not np.any(tree.bodies[k].nodes[0].Pi)


@pytest.mark.parametrize(
    "tree",
    [flexible_cases.flexible_chain(20), flexible_cases.flexible_satellite()],
    ids=lambda tree: tree.name,
)
def test_flexible_bodies_have_positive_mass_matrices(tree):
    for body in tree.bodies:
        assert np.linalg.eigvalsh(modal_mass_matrix(body))[0] > 0.0


def test_cases_are_drawn_alike_every_time():
    first, second = cases.rigid_cases()[-1], cases.rigid_cases()[-1]
    assert np.array_equal(first.state.q, second.state.q)
    assert all(np.array_equal(a.Jc, b.Jc) for a, b in zip(first.links, second.links, strict=True))


def test_rotation_matrix_is_a_rotation_and_follows_hamilton():
    half = np.sqrt(0.5)
    R = cases.rotation_matrix(np.array([half, 0.0, 0.0, half]))  # 90 degrees about z
    assert R @ np.array([1.0, 0.0, 0.0]) == pytest.approx([0.0, 1.0, 0.0])
