"""Pinocchio's own import of a URDF file beside ours, and the way between their numberings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from darts_py.spec.load import load_document
from darts_py.urdf import Imported, Options, import_urdf
from tests.peers.frames import slices
from tests.reference.compare import relative_error
from tests.reference.trees import random_state

Array = np.ndarray
GRAVITY = (0.3, -0.2, -9.81)


def loaded(imported: Imported) -> Tree:
    """Return the tree of an imported robot."""
    tree, faults = load_document(imported.text.encode(), Path("robot.yaml"))
    assert not faults, "\n".join(map(str, faults))
    assert tree is not None
    return tree


def without_friction(tree: Tree) -> Tree:
    """Return the tree without dry friction, which Pinocchio's dynamics does not have."""
    none = dict.fromkeys(("coulomb", "breakaway", "stribeck_rate", "creep_rate"))
    joints = tuple(replace(joint, **none) for joint in tree.joints)
    return replace(tree, joints=joints)


class Pair:
    """One file, imported by both."""

    def __init__(self, file: Path, base: str, *, merge: bool = False, repair: bool = False) -> None:
        options = Options(base=base, gravity_m_s2=GRAVITY, merge=merge, repair=repair)
        self.imported = import_urdf(file, options)
        self.tree = without_friction(loaded(self.imported))
        self.model = Spacecraft(self.tree)
        free = [pin.JointModelFreeFlyer()] if base == "floating" else []
        self.peer = pin.buildModelFromUrdf(str(file), *free)
        self.peer.gravity.linear[:] = GRAVITY
        self.data = self.peer.createData()
        names = {ours: theirs for theirs, ours in self.imported.joint_names.items()}
        coords, speeds = slices(self.tree)
        self.q, self.v = {}, {}  # pinocchio's joint: our coordinates, our speeds
        for i, joint in enumerate(self.tree.joints):
            if joint.n_speeds:
                theirs = self.peer.getJointId(names.get(joint.name, "root_joint"))
                assert theirs < self.peer.njoints, joint.name
                self.q[theirs], self.v[theirs] = coords[i], speeds[i]
        assert sorted(self.q) == list(range(1, self.peer.njoints))

    def coordinates(self, q: Array) -> Array:
        """Return our q as theirs."""
        return np.concatenate(
            [_coordinates(self.peer.joints[k].shortname(), q[self.q[k]]) for k in sorted(self.q)]
            or [np.zeros(0)]
        )

    @property
    def take(self) -> Array:
        """Return take with v_theirs = v_ours[take]."""
        parts = []
        for k in sorted(self.v):
            part = np.arange(self.v[k].start, self.v[k].stop)
            free = self.peer.joints[k].shortname() == "JointModelFreeFlyer"
            parts.append(np.roll(part, 3) if free else part)
        return np.concatenate(parts or [np.zeros(0, int)])

    def errors(self, rng: np.random.Generator) -> dict[str, float]:
        """Return the relative differences at a random state."""
        model, take = self.model, self.take
        q, u = random_state(self.tree, rng)
        tau, udot = rng.normal(size=(2, model.n_speeds))
        x, v = self.coordinates(q), u[take]
        out = self._frame_errors(q, u, x)
        M = pin.crba(self.peer, self.data, x)
        M = np.triu(M) + np.triu(M, 1).T
        got = darts_py.mass_matrix(model, q)[np.ix_(take, take)]
        out["mass matrix"] = relative_error(got, M)
        damping = self.peer.damping * v  # Pinocchio reads it, but its dynamics leaves it out
        expected = pin.rnea(self.peer, self.data, x, v, udot[take]) + damping
        got = darts_py.inverse_dynamics(model, q, u, udot)[take]
        out["inverse dynamics"] = relative_error(got, expected)
        expected = pin.aba(self.peer, self.data, x, v, tau[take] - damping)
        for method in ("articulated", "composite"):
            got = darts_py.forward_dynamics(model, q, u, tau, method=method)[take]
            out[method] = relative_error(got, expected)
            residual = pin.rnea(self.peer, self.data, x, v, got) + damping - tau[take]
            scale = np.abs(M) @ np.abs(got) + np.abs(pin.nle(self.peer, self.data, x, v)) + 1.0
            out[f"{method} residual"] = float(np.max(np.abs(residual) / scale, initial=0.0))
        return out

    def _frame_errors(self, q: Array, u: Array, x: Array) -> dict[str, float]:
        pin.framesForwardKinematics(self.peer, self.data, x)
        place = turn = 0.0
        for link, at in self.imported.places.items():
            if not at.body:
                continue
            k = self.peer.getFrameId(link, pin.FrameType.BODY)
            node = darts_py.node_motion(self.model, q, u, node=f"{at.body}.{at.node or 'origin'}")
            pose = self.data.oMf[k]
            place = max(place, relative_error(node.r_N, pose.translation))
            turn = max(turn, relative_error(node.R @ at.turn.R, pose.rotation))
        return {"frame positions": place, "frame axes": turn}


def _coordinates(kind: str, q: Array) -> Array:
    """Return the coordinates of one joint in Pinocchio's order."""
    if kind == "JointModelFreeFlyer":
        return np.r_[q[4:], np.roll(q[:4], -1)]
    if kind == "JointModelPlanar":
        return np.r_[q[:2], np.cos(q[2]), np.sin(q[2])]
    if kind.startswith("JointModelRUB") or kind == "JointModelRevoluteUnboundedUnaligned":
        return np.r_[np.cos(q), np.sin(q)]
    return q
