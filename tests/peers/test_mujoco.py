"""Rigid trees against MuJoCo: accelerations, mass matrix and inverse dynamics to 1e-10.

MuJoCo's conventions: quaternions scalar first; a free joint has position first, linear velocity
in world axes and angular velocity in body axes; several joints of one body act in the order
listed, parent outward. It has no planar joint: two slides and a hinge, whose slide rates are
in the fixed axes.
"""

from __future__ import annotations

import numpy as np
import pytest

import darts_py
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND, Joint, Stage, Tree
from tests.peers.frames import (
    depth_first,
    inboard,
    mass_properties,
    outboard,
    plane_rotation,
    quaternion_rotation,
    slices,
)
from tests.reference import joint_kinds
from tests.reference.compare import assert_close
from tests.reference.trees import Options, random_state, random_tree

pytestmark = pytest.mark.peers

try:
    import mujoco
except ImportError:
    pytest.skip(
        "MuJoCo is not installed: NOTHING here was compared with it; run tools/peers",
        allow_module_level=True,
    )

Array = np.ndarray
RTOL = 1e-10
METHODS = ("articulated", "composite")
KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar")
COMPOUND = "several"


def _several(rng: np.random.Generator) -> tuple[Stage, ...]:
    """Return several joints on one body: slides and hinges, or slides and a ball."""
    turn, slide = jt.revolute(rng.normal(size=3)), jt.prismatic(rng.normal(size=3))
    choices = [
        (turn, slide, jt.revolute(rng.normal(size=3))),
        (slide, jt.spherical()),
        (slide, turn),
    ]
    return jt.compound(choices[rng.integers(len(choices))])


# -- our joint -> theirs ----------------------------------------------------------------------


def _text(values: Array) -> str:
    return " ".join(f"{x:.17g}" for x in np.ravel(values))


def _quaternion(R: Array) -> Array:
    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, np.ascontiguousarray(R).ravel())
    return out


def _joint_xml(joint: Joint) -> str:
    if joint.kind == "free":
        return "<freejoint/>"
    if joint.kind == "planar":
        axes = [("slide", "1 0 0"), ("slide", "0 1 0"), ("hinge", "0 0 1")]
        return "".join(f'<joint type="{kind}" axis="{axis}"/>' for kind, axis in axes)
    out = ""
    for stage in joint.stages:
        turn, slide = stage.H[:3, 0], stage.H[3:, 0]
        if stage.kind == "ball":
            out += '<joint type="ball"/>'
        elif np.any(turn):
            out += f'<joint type="hinge" axis="{_text(turn)}"/>'
        else:
            out += f'<joint type="slide" axis="{_text(slide)}"/>'
    return out


def _body_xml(tree: Tree, i: int) -> str:
    joint, placement = tree.joints[i], inboard(tree, i)
    m, c, J = mass_properties(tree.bodies[i], outboard(tree, i))
    full = _text(np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]))
    children = "".join(_body_xml(tree, k) for k, j in enumerate(tree.joints) if j.parent == i)
    return (
        f'<body name="{tree.bodies[i].name}" pos="{_text(placement.r)}"'
        f' quat="{_text(_quaternion(placement.R))}">{_joint_xml(joint)}'
        f'<inertial mass="{m:.17g}" pos="{_text(c)}" fullinertia="{full}"/>{children}</body>'
    )


def _xml(tree: Tree) -> str:
    roots = [i for i, joint in enumerate(tree.joints) if joint.parent == GROUND]
    bodies = "".join(_body_xml(tree, i) for i in roots)
    return (
        '<mujoco><compiler angle="radian"/>'
        f'<option gravity="{_text(tree.gravity)}"/>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )


class Peer:
    """The same tree in MuJoCo. Speeds: v_theirs = T u, accelerations: T udot + (dT/dt) u."""

    def __init__(self, tree: Tree) -> None:
        """Compile the model; nested XML numbers its bodies depth first."""
        self.tree = tree
        self.model = mujoco.MjModel.from_xml_string(_xml(tree))
        self.data = mujoco.MjData(self.model)
        self.order = depth_first(tree)

    def set_state(self, q: Array, u: Array) -> None:
        """Give MuJoCo our state; keep T and (dT/dt) u."""
        coords, speeds = slices(self.tree)
        position, n = [], len(u)
        self.T, self.rate = np.zeros((n, n)), np.zeros(n)
        row = 0
        for i in self.order:
            joint, x, v = self.tree.joints[i], q[coords[i]], u[speeds[i]]
            block, rate = np.eye(len(v)), np.zeros(len(v))
            if joint.kind == "free":
                x, block, rate = self._free(joint, x, v)
            elif joint.kind == "planar":
                R = plane_rotation(x[2])
                block[:2, :2] = R
                rate[:2] = v[2] * R @ np.array([-v[1], v[0]])
            position.append(x)
            rows = slice(row, row + len(v))
            self.T[rows, speeds[i]], self.rate[rows] = block, rate
            row = rows.stop
        self.data.qpos[:] = np.concatenate(position)
        self.data.qvel[:] = self.T @ u

    @staticmethod
    def _free(joint: Joint, x: Array, v: Array) -> tuple[Array, Array, Array]:
        R = joint.R_pO @ quaternion_rotation(x[:4])
        block, rate = np.zeros((6, 6)), np.zeros(6)
        block[:3, 3:], block[3:, :3] = R, np.eye(3)
        rate[:3] = R @ np.cross(v[:3], v[3:])
        return np.r_[joint.o_t + joint.R_pO @ x[4:], _quaternion(R)], block, rate

    def mass_matrix(self) -> Array:
        """Return M for our speeds, after `forward`."""
        n = len(self.rate)
        M = np.zeros((n, n))
        for k in range(n):
            column = np.zeros(n)
            mujoco.mj_mulM(self.model, self.data, column, np.eye(n)[k])
            M[:, k] = column
        return self.T.T @ M @ self.T

    def forward(self, tau: Array) -> Array:
        """Return udot."""
        self.data.qfrc_applied[:] = np.linalg.solve(self.T.T, tau)
        mujoco.mj_forward(self.model, self.data)
        return np.linalg.solve(self.T, self.data.qacc - self.rate)

    def inverse(self, udot: Array) -> Array:
        """Return tau."""
        self.data.qfrc_applied[:] = 0.0
        mujoco.mj_forward(self.model, self.data)
        self.data.qacc[:] = self.T @ udot + self.rate
        mujoco.mj_inverse(self.model, self.data)
        return self.T.T @ self.data.qfrc_inverse


@pytest.fixture(autouse=True)
def _more_joints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(joint_kinds.JOINTS, COMPOUND, _several)


def _compare(tree: Tree, rng: np.random.Generator) -> None:
    model, peer = Spacecraft(tree), Peer(tree)
    q, u = random_state(tree, rng)
    tau, udot = rng.normal(size=(2, model.n_speeds))
    peer.set_state(q, u)
    expected = peer.inverse(udot)
    assert_close(darts_py.mass_matrix(model, q), peer.mass_matrix(), RTOL, "mass matrix")
    assert_close(darts_py.inverse_dynamics(model, q, u, udot), expected, RTOL, "inverse dynamics")
    expected = peer.forward(tau)
    for method in METHODS:
        got = darts_py.forward_dynamics(model, q, u, tau, method=method)
        assert_close(got, expected, RTOL, method)


@pytest.mark.parametrize("kind", [*KINDS, COMPOUND])
@pytest.mark.parametrize("root", ["free", None], ids=["free-root", "fixed-root"])
def test_mujoco_agrees_for_every_joint(kind: str, root: str | None) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        options = Options(kinds=[kind], root=root, max_modes=0, branching=0.7)
        _compare(random_tree(rng, 4, options), rng)


@pytest.mark.parametrize("seed", range(20))
def test_mujoco_agrees_on_random_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    options = Options(
        kinds=(*KINDS, COMPOUND),
        root="free" if seed % 2 else None,
        max_modes=0,
        n_roots=1 + seed % 3,
    )
    _compare(random_tree(rng, int(rng.integers(2, 16)), options), rng)
