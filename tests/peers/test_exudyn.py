"""Closed loops against Exudyn: the same mechanisms with absolute coordinates and multipliers.

Exudyn gives every body Euler parameters and position, and every joint, the closures among them,
Lagrange multipliers: nothing is shared with joint coordinates and articulated inertias. Its
trajectories come from the generalized-alpha method, of second order; extrapolated to step zero
they must agree to what the extrapolation leaves. Its accelerations at the start contain
constraint rates differentiated with a relative step of 1e-7 (its default): they must agree to
ten times that.
"""

from __future__ import annotations

import numpy as np
import pytest

import darts_py
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND
from tests.reference import mechanisms
from tests.reference.compare import assert_close

pytestmark = pytest.mark.peers

try:
    import exudyn
    from exudyn.utilities import RigidBodyInertia, SensorBody
except ImportError:
    pytest.skip(
        "Exudyn is not installed: NOTHING here was compared with it; run tools/peers",
        allow_module_level=True,
    )

Array = np.ndarray
STATES = {
    "four_bar": [np.array([0.3, -1.0, -1.7]), np.array([2.0, -0.6, -1.4])],
    "bricard": [mechanisms.bricard_angles(s) for s in (0.4, 1.3, 2.6)],
}


class Peer:
    """A mechanism of revolute joints and revolute closures in Exudyn, in a given state."""

    def __init__(self, model: Spacecraft, q: Array, u: Array) -> None:
        self.model = model
        self.container = exudyn.SystemContainer()
        self.system = self.container.AddSystem()
        self.ground = self.system.CreateGround()
        self.bodies = [self._body(i, q, u) for i in range(model.n_bodies)]
        self.accelerations = [self._sensor(b, "AngularAcceleration") for b in self.bodies]
        self.rates = [self._sensor(b, "AngularVelocity") for b in self.bodies]
        self.positions = [self._sensor(b, "Position") for b in self.bodies]
        self._join(q, u)
        self.system.Assemble()

    def _body(self, i: int, q: Array, u: Array) -> int:
        """Add a body at its mass centre."""
        node = self.model.tree.bodies[i].nodes[0]
        name = self.model.tree.bodies[i].name
        motion = darts_py.node_motion(self.model, q, u, node=f"{name}.origin")
        w, v = motion.R @ motion.V[:3], motion.R @ motion.V[3:]
        arm = motion.R @ node.p
        return self.system.CreateRigidBody(
            inertia=RigidBodyInertia(node.m, node.Jc, com=[0.0, 0.0, 0.0]),
            nodeType=exudyn.NodeType.RotationEulerParameters,
            referencePosition=motion.r_N + arm,
            referenceRotationMatrix=motion.R,
            initialVelocity=v + np.cross(w, arm),
            initialAngularVelocity=w,
            gravity=self.model.tree.gravity,
        )

    def _sensor(self, body: int, what: str) -> int:
        kind = getattr(exudyn.OutputVariableType, what)
        return self.system.AddSensor(
            SensorBody(bodyNumber=body, storeInternal=True, outputVariableType=kind)
        )

    def _join(self, q: Array, u: Array) -> None:
        tree = self.model.tree
        for i, joint in enumerate(tree.joints):
            motion = darts_py.node_motion(self.model, q, u, node=f"{tree.bodies[i].name}.origin")
            inboard = self.ground if joint.parent == GROUND else self.bodies[joint.parent]
            axis = motion.R @ joint.stages[0].H[:3, 0]
            self._pin(inboard, self.bodies[i], motion.r_N, axis)
        for closure in tree.closures:
            a = tree.bodies[closure.body_a]
            motion = darts_py.node_motion(
                self.model, q, u, node=f"{a.name}.{a.nodes[closure.node_a].name}"
            )
            axis = motion.R @ np.cross(*closure.S[:3, :2].T)
            other = self.ground if closure.body_b == GROUND else self.bodies[closure.body_b]
            self._pin(other, self.bodies[closure.body_a], motion.r_N, axis)

    def _pin(self, first: int, second: int, point: Array, axis: Array) -> None:
        """Add a revolute joint: all but the turn about z of its axes."""
        z = axis / np.linalg.norm(axis)
        x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
        x /= np.linalg.norm(x)
        self.system.CreateGenericJoint(
            itemNumbers=[first, second],
            position=point,
            rotationMatrixAxes=np.column_stack([x, np.cross(z, x), z]),
            constrainedAxes=[1, 1, 1, 1, 1, 0],
            useGlobalFrame=True,
        )

    def run(self, seconds: float, step: float) -> None:
        """Integrate; the sensors remember the start and every tenth of the way."""
        settings = exudyn.SimulationSettings()
        settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
        settings.linearSolver.ignoreSingularJacobian = True  # redundant joints
        settings.linearSolver.pivotThreshold = 1e-10
        time = settings.timeIntegration
        time.endTime, time.numberOfSteps, time.verboseMode = seconds, round(seconds / step), 0
        time.generalizedAlpha.spectralRadius = 0.9
        time.generalizedAlpha.computeInitialAccelerations = True
        time.newton.relativeTolerance = time.newton.absoluteTolerance = 1e-9
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = seconds / 10
        self.system.SolveDynamic(settings)

    def read(self, sensors: list[int], row: int) -> Array:
        """Return what the sensors of all bodies saw, (n, 3)."""
        return np.array([self.system.GetSensorStoredData(s)[row, 1:] for s in sensors])


def closed(name: str, q: Array, rng: np.random.Generator) -> tuple[Spacecraft, Array, Array]:
    """Return the mechanism in a closed state near q, in motion."""
    model = darts_py.load_model(name)
    q, u = darts_py.close_loops(model, q, 2.0 * rng.normal(size=model.n_speeds))
    return model, q, u


def angular_accelerations(model: Spacecraft, q: Array, u: Array) -> Array:
    """Return those of all bodies, world axes."""
    udot = darts_py.forward_dynamics(model, q, u)
    out = []
    for body in model.tree.bodies:
        motion = darts_py.node_motion(model, q, u, node=f"{body.name}.origin", udot=udot)
        out.append(motion.R @ motion.A[:3])
    return np.array(out)


@pytest.mark.parametrize(("name", "k"), [(n, k) for n, s in STATES.items() for k in range(len(s))])
def test_accelerations_agree(name: str, k: int) -> None:
    model, q, u = closed(name, STATES[name][k], np.random.default_rng(k))
    assert np.abs(u).max() > 0.3
    peer = Peer(model, q, u)
    peer.run(1e-5, 1e-6)
    expected = peer.read(peer.accelerations, 0)
    assert_close(angular_accelerations(model, q, u), expected, 1e-6)


@pytest.mark.parametrize("name", STATES)
def test_trajectories_agree(name: str) -> None:
    """After one second Exudyn's error at step h is c h^2; taking it out leaves less than 1e-6 m."""
    model, q, u = closed(name, STATES[name][0], np.random.default_rng(3))
    plant = darts_py.Plant(model, dt_ns=1_000_000, q=q, u=u)
    plant.advance(1000)
    ours = []
    for body in model.tree.bodies:
        motion = darts_py.node_motion(model, plant.q, plant.u, node=f"{body.name}.origin")
        ours.append(motion.r_N + motion.R @ body.nodes[0].p)
    theirs = []
    for step in (4e-3, 2e-3, 1e-3):
        peer = Peer(model, q, u)
        peer.run(1.0, step)
        theirs.append(peer.read(peer.positions, -1))
    errors = [np.abs(x - ours).max() for x in theirs]
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.02)
    coarse, fine = ((4 * theirs[k + 1] - theirs[k]) / 3 for k in range(2))
    assert np.abs(fine - ours).max() < np.abs(fine - coarse).max() < 1e-6
