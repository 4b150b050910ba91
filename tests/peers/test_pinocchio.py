"""Rigid trees against Pinocchio: accelerations, mass matrix and inverse dynamics to 1e-10.

Pinocchio's conventions: quaternions scalar last; planar joint as (x, y, cos, sin); free flyer
with position and linear speeds first; speeds of planar and free flyer in the moving frame, as
here. `crba` needs depth-first numbering.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import darts_py
from darts_py.multibody import joint_types as jt
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND, Joint, Stage, Tree
from tests.peers.frames import (
    IDENTITY,
    Pose,
    depth_first,
    inboard,
    mass_properties,
    outboard,
    slices,
)
from tests.reference import joint_kinds
from tests.reference.compare import assert_close
from tests.reference.trees import Options, random_state, random_tree

pytestmark = pytest.mark.peers

try:
    import pinocchio as pin

    pin.Model  # noqa: B018  (another package has the same name)
except (ImportError, AttributeError):
    pytest.skip(
        "Pinocchio is not installed: NOTHING here was compared with it; run tools/peers",
        allow_module_level=True,
    )

Array = np.ndarray
RTOL = 1e-10
METHODS = ("articulated", "composite")

# -- our joint -> theirs ----------------------------------------------------------------------


def _translation(rng: np.random.Generator) -> tuple[Stage, ...]:
    return jt.constant_map(np.eye(6)[:, 3:])


def _euler_zyx(rng: np.random.Generator) -> tuple[Stage, ...]:
    return jt.compound([jt.revolute([0, 0, 1]), jt.revolute([0, 1, 0]), jt.revolute([1, 0, 0])])


def _axis_joint(stage: Stage) -> pin.JointModel:
    turn, slide = stage.H[:3, 0], stage.H[3:, 0]
    if not np.any(turn):
        return pin.JointModelPrismaticUnaligned(slide)
    if not np.any(slide):
        return pin.JointModelRevoluteUnaligned(turn)
    return pin.JointModelHelicalUnaligned(turn, float(turn @ slide))


def _composite(joint: Joint) -> pin.JointModel:
    out = pin.JointModelComposite()
    for stage in joint.stages:
        out.addJoint(pin.JointModelSpherical() if stage.kind == "ball" else _axis_joint(stage))
    return out


def _aligned(kind: str) -> Callable[[Joint], pin.JointModel]:
    return lambda joint: getattr(pin, f"JointModel{kind}")()


MODELS: dict[str, Callable[[Joint], pin.JointModel]] = {
    "revolute": lambda joint: _axis_joint(joint.stages[0]),
    "prismatic": lambda joint: _axis_joint(joint.stages[0]),
    "screw": lambda joint: _axis_joint(joint.stages[0]),
    "cylindrical": _composite,
    "universal": lambda joint: pin.JointModelUniversal(
        joint.stages[0].H[:3, 0], joint.stages[1].H[:3, 0]
    ),
    "spherical": _aligned("Spherical"),
    "planar": _aligned("Planar"),
    "free": _aligned("FreeFlyer"),
    "translation": _aligned("Translation"),
    "euler-zyx": _aligned("SphericalZYX"),
    "compound": _composite,
    "revolute-x": _aligned("RX"),
    "unbounded-z": _aligned("RUBZ"),
    "prismatic-y": _aligned("PY"),
    "screw-x": lambda joint: pin.JointModelHX(float(joint.stages[0].H[3, 0])),
}
SHAPES = {
    "translation": _translation,
    "euler-zyx": _euler_zyx,
    "revolute-x": lambda rng: jt.revolute([1, 0, 0]),
    "unbounded-z": lambda rng: jt.revolute([0, 0, 1]),
    "prismatic-y": lambda rng: jt.prismatic([0, 1, 0]),
    "screw-x": lambda rng: jt.screw([1, 0, 0], rng.uniform(-0.5, 0.5)),
    "compound": lambda rng: jt.compound(
        [jt.revolute(rng.normal(size=3)), jt.prismatic(rng.normal(size=3)), jt.spherical()][
            : rng.integers(2, 4)
        ]
    ),
}
KINDS = ("fixed", *MODELS)


def _coordinates(joint: Joint, q: Array) -> Array:
    """Return our coordinates of one joint in Pinocchio's order."""
    if joint.kind == "free":
        return np.r_[q[4:], np.roll(q[:4], -1)]
    if joint.kind == "planar":
        return np.r_[q[:2], np.cos(q[2]), np.sin(q[2])]
    if joint.kind == "unbounded-z":
        return np.r_[np.cos(q), np.sin(q)]
    parts, first = [], 0
    for stage in joint.stages:
        x = q[first : first + stage.n_coords]
        parts.append(np.roll(x, -1) if stage.kind == "ball" else x)
        first += stage.n_coords
    return np.concatenate(parts)


class Peer:
    """The same tree in Pinocchio, and the way from its numbering to ours."""

    def __init__(self, tree: Tree) -> None:
        """Build joints depth first; bodies on fixed joints are added to what carries them."""
        self.tree = tree
        self.model = pin.Model()
        self.model.gravity.linear[:] = tree.gravity
        self.order: list[tuple[int, int]] = []  # body, joint id
        carrier: dict[int, tuple[int, Pose]] = {GROUND: (0, IDENTITY)}  # joint, O in its frame
        for i in depth_first(tree):
            joint = tree.joints[i]
            parent, O_p = carrier[joint.parent]
            placement = O_p @ inboard(tree, i)
            if joint.stages:
                here = self.model.addJoint(
                    parent, MODELS[joint.kind](joint), pin.SE3(placement.R, placement.r), joint.name
                )
                self.order.append((i, here))
                carrier[i] = (here, IDENTITY)
            else:
                carrier[i] = (parent, placement)
            here, O_i = carrier[i]
            m, c, inertia = mass_properties(tree.bodies[i], outboard(tree, i))
            self.model.appendBodyToJoint(here, pin.Inertia(m, c, inertia), pin.SE3(O_i.R, O_i.r))
        self.data = self.model.createData()
        self.take = self._speed_order()

    def _speed_order(self) -> Array:
        """Return take with v_theirs = v_ours[take]."""
        _, speeds = slices(self.tree)
        take = []
        for i, _ in self.order:
            part = np.arange(speeds[i].start, speeds[i].stop)
            take.append(np.roll(part, 3) if self.tree.joints[i].kind == "free" else part)
        return np.concatenate(take)

    def coordinates(self, q: Array) -> Array:
        """Return our q as theirs."""
        coords, _ = slices(self.tree)
        parts = [_coordinates(self.tree.joints[i], q[coords[i]]) for i, _ in self.order]
        return np.concatenate(parts)

    def ours(self, x: Array) -> Array:
        """Return their speed-like vector in our order."""
        out = np.empty_like(x)
        out[self.take] = x
        return out


@pytest.fixture(autouse=True)
def _more_joints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Teach the generator the joints only this peer has."""
    for kind, shape in SHAPES.items():
        monkeypatch.setitem(joint_kinds.JOINTS, kind, shape)


def _compare(tree: Tree, rng: np.random.Generator) -> None:
    model, peer = Spacecraft(tree), Peer(tree)
    q, u = random_state(tree, rng)
    tau, udot = rng.normal(size=(2, model.n_speeds))
    x, v = peer.coordinates(q), u[peer.take]
    M = pin.crba(peer.model, peer.data, x)
    M = np.triu(M) + np.triu(M, 1).T
    got = darts_py.mass_matrix(model, q)
    assert_close(got[np.ix_(peer.take, peer.take)], M, RTOL, "mass matrix")
    expected = peer.ours(pin.rnea(peer.model, peer.data, x, v, udot[peer.take]))
    assert_close(darts_py.inverse_dynamics(model, q, u, udot), expected, RTOL, "inverse dynamics")
    expected = peer.ours(pin.aba(peer.model, peer.data, x, v, tau[peer.take]))
    for method in METHODS:
        got = darts_py.forward_dynamics(model, q, u, tau, method=method)
        assert_close(got, expected, RTOL, method)
    energy = darts_py.energy(model, q, u)
    kinetic = pin.computeKineticEnergy(peer.model, peer.data, x, v)
    assert energy.kinetic == pytest.approx(kinetic, rel=RTOL)
    welded = peer.model.inertias[0]  # on the ground: Pinocchio leaves its potential out
    potential = pin.computePotentialEnergy(peer.model, peer.data, x)
    potential -= welded.mass * tree.gravity @ welded.lever
    assert energy.gravity == pytest.approx(potential, rel=RTOL, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_pinocchio_agrees_for_every_joint(kind: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng([KINDS.index(kind), seed])
        options = Options(kinds=[kind], max_modes=0, branching=0.7)
        _compare(random_tree(rng, 4, options), rng)


@pytest.mark.parametrize("seed", range(20))
def test_pinocchio_agrees_on_random_trees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    options = Options(kinds=KINDS, max_modes=0, n_roots=1 + seed % 3)
    _compare(random_tree(rng, int(rng.integers(2, 16)), options), rng)


@pytest.mark.parametrize("n", [1, 6, 20, 50])
def test_pinocchio_agrees_on_revolute_chains(n: int) -> None:
    """Long chains: the condition number grows, so accelerations are judged through M."""
    rng = np.random.default_rng(n)
    options = Options(kinds=["revolute"], max_modes=0, branching=0.0)
    tree = random_tree(rng, n, options)
    model, peer = Spacecraft(tree), Peer(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=model.n_speeds)
    udot = darts_py.forward_dynamics(model, q, u, tau)
    again = pin.rnea(peer.model, peer.data, peer.coordinates(q), u[peer.take], udot[peer.take])
    M = np.abs(darts_py.mass_matrix(model, q))
    scale = M @ np.abs(udot) + np.abs(darts_py.bias_force(model, q, u)) + np.abs(tau)
    assert np.all(np.abs(peer.ours(again) - tau) <= 1e-11 * scale)
