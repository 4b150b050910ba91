"""Which link becomes what: a body, a node of another body, or the ground; and the joints between.

Massless links on fixed joints become nodes, with their shapes moved to the body that carries
them; massless links on moving joints stay as bodies without mass. Everything else keeps its name
and its frame: the frame of a body is the frame of its link.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from darts_py.spec.bodies import ORIGIN
from darts_py.spec.joints import GROUND_NAME
from darts_py.urdf.fields import Log
from darts_py.urdf.naming import model_names
from darts_py.urdf.robot import Geometry, Inertial, Link, Origin, Robot, RobotJoint
from darts_py.urdf.topology import WORLD, Topology

Array = np.ndarray

SHOWN = 4  # changed names in one note; the model file has them all as comments


@dataclass(frozen=True)
class Turn:
    """A rotation and, where it comes straight from the file, its roll, pitch and yaw."""

    R: Array
    rpy: Array | None = None

    @classmethod
    def of(cls, origin: Origin) -> Turn:
        """Take the rotation of an origin."""
        return cls(origin.R, origin.rpy)

    @property
    def none(self) -> bool:
        """Tell whether there is no rotation at all."""
        return np.array_equal(self.R, np.eye(3))

    def then(self, inner: Turn) -> Turn:
        """Return the rotation of a frame turned by `inner` inside this one."""
        return inner if self.none else self if inner.none else Turn(self.R @ inner.R)


@dataclass(frozen=True)
class Place:
    """Where a link is: in which body, at which node of it, and how placed there."""

    body: str  # "" is the ground
    node: str = ""  # "" is the body frame itself
    r: Array = field(default_factory=lambda: np.zeros(3))
    turn: Turn = field(default_factory=lambda: Turn(np.eye(3)))


@dataclass(frozen=True)
class PlacedShape:
    """A shape in the frame of a body."""

    shape: Geometry
    r: Array
    turn: Turn


@dataclass
class PlannedBody:
    """A body of the model."""

    name: str
    link: str
    inertial: Inertial | None
    line: int
    nodes: list[tuple[str, Place]] = field(default_factory=list)  # link, where it is
    shapes: list[PlacedShape] = field(default_factory=list)


@dataclass(frozen=True)
class PlannedJoint:
    """A joint of the model; `source` is None for the one that holds the root."""

    name: str
    kind: str  # word of URDF
    parent: Place
    offset: Array  # from the parent's node, body axes
    turn: Turn  # hinge axes in body axes
    child: str
    source: RobotJoint | None


@dataclass
class Plan:
    """The model to be written."""

    name: str
    bodies: list[PlannedBody] = field(default_factory=list)
    joints: list[PlannedJoint] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)  # of every link
    joint_names: dict[str, str] = field(default_factory=dict)  # of every joint that moves
    base: str = "fixed"


def make_plan(robot: Robot, topology: Topology, base: str, repair: bool, log: Log) -> Plan | None:
    """Decide for every link and joint; None with the faults noted."""
    n_faults = len(log.faults)
    robot = _without_idle_joints(robot, topology, repair, log)
    if len(log.faults) > n_faults:
        return None
    topology = replace(topology, inboard={j.child: j for j in robot.joints.values()})
    plan = _Planner(robot, topology, base, log).run()
    if not plan.bodies:
        expected = "at least one link with mass, or something to hold"
        log.at_line(robot.links[topology.root].line, "<robot>", "nothing but the ground", expected)
    return plan


def usual_base(robot: Robot, topology: Topology, log: Log) -> str:
    """Hold the root if it is the world or has no mass, let it float otherwise; say which."""
    root = robot.links[topology.root]
    if root.name == WORLD or root.inertial is None:
        base, why = "fixed", f"its name is '{WORLD}'" if root.name == WORLD else "it has no mass"
        said, other = "is held by the ground", "floating"
    else:
        base, why = "floating", "it has mass and nothing holds it"
        said, other = "floats freely", "fixed"
    log.notes.tell(f"root link '{root.name}' {said}: {why} (--base {other} for the other choice)")
    return base


def _without_idle_joints(robot: Robot, topology: Topology, repair: bool, log: Log) -> Robot:
    """Refuse joints with nothing but massless links outboard; with `repair`, fix them."""
    carries: set[str] = set()
    for name in reversed(topology.outward(robot)):
        if robot.links[name].inertial is not None or name in carries:
            carries.add(name)
            if name in topology.inboard:
                carries.add(topology.inboard[name].parent)
    joints = dict(robot.joints)
    for joint in robot.joints.values():
        if joint.kind == "fixed" or joint.child in carries:
            continue
        where, got = f'<joint name="{joint.name}">', "a freedom that moves no mass"
        if repair:
            text = f"{joint.kind} joint '{joint.name}' moves no mass: repaired, now fixed"
            log.notes.warn(text, joint.line)
            joints[joint.name] = replace(joint, kind="fixed")
        else:
            hint = f"give link '{joint.child}' an <inertial>, or let --repair fix the joint"
            log.at_line(joint.line, where, got, "mass outboard of every freedom", hint)
    return replace(robot, joints=joints)


class _Planner:
    """Walks from the root outward and places every link."""

    def __init__(self, robot: Robot, topology: Topology, base: str, log: Log) -> None:
        self.robot, self.topology, self.log = robot, topology, log
        self.bodies: dict[str, PlannedBody] = {}
        self.joints: dict[str, PlannedJoint] = {}  # by child link
        (name,) = model_names([robot.name]).values()
        self.link_names = model_names(robot.links, [GROUND_NAME, ORIGIN])
        self.joint_names = model_names(robot.joints)
        self.plan = Plan(name, base=base)
        self._tell_renamed("robot", {robot.name: name})
        self._tell_renamed("link", self.link_names)
        self._tell_renamed("joint", self.joint_names)

    def run(self) -> Plan:
        for name in self.topology.outward(self.robot):
            if name == self.topology.root:
                self._place_root(self.robot.links[name])
            else:
                self._place(self.robot.links[name], self.topology.inboard[name])
        order = [name for name in self.robot.links if name in self.bodies]  # of the file
        self.plan.bodies = [self.bodies[name] for name in order]
        self.plan.joints = [self.joints[name] for name in order]
        moving = {j.source.name: j.name for j in self.plan.joints if j.source is not None}
        self.plan.joint_names = moving
        return self.plan

    def _tell_renamed(self, what: str, names: dict[str, str]) -> None:
        changed = [f"'{old}' is called {new}" for old, new in names.items() if old != new]
        if changed:
            more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
            self.log.notes.tell(f"{what} {', '.join(changed[:SHOWN])}{more} in the model")

    def _place_root(self, root: Link) -> None:
        places = self.plan.places
        if self.plan.base == "fixed" and self._nothing_to_keep(root):
            places[root.name] = Place("")
            self.log.notes.tell(f"root link '{root.name}' is the ground itself")
            return
        kind = "fixed" if self.plan.base == "fixed" else "floating"
        taken = [*self.joint_names.values()]
        (name,) = model_names([f"{self.link_names[root.name]}_base"], taken).values()
        self._make_body(root)
        ground, turn = Place(""), Turn(np.eye(3))
        child = self.link_names[root.name]
        joint = PlannedJoint(name, kind, ground, np.zeros(3), turn, child, None)
        self.joints[root.name] = joint

    def _nothing_to_keep(self, root: Link) -> bool:
        """Tell whether the root can be the ground: ground has no mass, shapes or nodes."""
        return root.inertial is None and not root.shapes and not self._frames_on(root.name)

    def _frames_on(self, name: str) -> bool:
        carried = (j for j in self.topology.inboard.values() if j.parent == name)
        return any(_is_frame(self.robot.links[j.child], j) for j in carried)

    def _place(self, link: Link, joint: RobotJoint) -> None:
        parent = self.plan.places[joint.parent]
        offset = parent.turn.R @ joint.origin.xyz
        turn = parent.turn.then(Turn.of(joint.origin))
        if _is_frame(link, joint):
            host = self.bodies[self._host_link(joint.parent)]
            node = self.link_names[link.name]
            place = Place(host.name, node, parent.r + offset, turn)
            host.nodes.append((link.name, place))
            self.plan.places[link.name] = place
            self._keep_shapes(host, link, place)
            return
        self._make_body(link)
        name, child = self.joint_names[joint.name], self.link_names[link.name]
        self.joints[link.name] = PlannedJoint(name, joint.kind, parent, offset, turn, child, joint)

    def _host_link(self, name: str) -> str:
        while name not in self.bodies:
            name = self.topology.inboard[name].parent
        return name

    def _make_body(self, link: Link) -> None:
        body = PlannedBody(self.link_names[link.name], link.name, link.inertial, link.line)
        self.bodies[link.name] = body
        self.plan.places[link.name] = Place(body.name)
        self._keep_shapes(body, link, self.plan.places[link.name])

    def _keep_shapes(self, host: PlannedBody, link: Link, place: Place) -> None:
        for shape in link.shapes:
            r = place.r + place.turn.R @ shape.origin.xyz
            host.shapes.append(PlacedShape(shape, r, place.turn.then(Turn.of(shape.origin))))


def _is_frame(link: Link, joint: RobotJoint) -> bool:
    return link.inertial is None and joint.kind == "fixed"


def total_mass(bodies: Iterable[PlannedBody]) -> float:
    """Return the mass of all bodies."""
    return sum(body.inertial.mass for body in bodies if body.inertial is not None)
