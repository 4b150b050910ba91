"""Do the joints of a robot make a tree with one root? All faults at once, each at its line."""

from __future__ import annotations

from dataclasses import dataclass

from darts_py.spec.faults import listing, suggest
from darts_py.urdf.fields import Log
from darts_py.urdf.robot import Robot, RobotJoint

WORLD = "world"  # the name by which a root link says that it does not move


@dataclass(frozen=True)
class Topology:
    """The tree: the root link, and the joint that carries each other link."""

    root: str
    inboard: dict[str, RobotJoint]

    def outward(self, robot: Robot) -> list[str]:
        """Return all links, parents first, otherwise in the order of the file."""
        children: dict[str, list[str]] = {}
        for name in robot.links:
            if name in self.inboard:
                children.setdefault(self.inboard[name].parent, []).append(name)
        order, waiting = list[str](), [self.root]
        while waiting:
            link = waiting.pop()
            order.append(link)
            waiting += children.get(link, [])[::-1]
        return order


def read_topology(robot: Robot, complete: bool, log: Log) -> Topology | None:
    """Return the tree, or None with the faults noted.

    Args:
        robot: links and joints as far as they could be read.
        complete: whether that is all of them; if not, nobody knows what is missing.
        log: takes the faults.
    """
    n_faults = len(log.faults)
    inboard = _inboard_joints(robot, log)
    if complete:
        _note_unknown_links(robot, log)
        if not robot.links:
            log.at_line(1, "<robot>", "no links", "at least one <link>")
    _note_cycles(inboard, log)
    roots = [name for name in robot.links if name not in inboard]
    if complete and len(log.faults) == n_faults:
        _note_second_roots(robot, roots, log)
    return Topology(roots[0], inboard) if complete and len(log.faults) == n_faults else None


def _inboard_joints(robot: Robot, log: Log) -> dict[str, RobotJoint]:
    """Return the joint that carries each link; a second one is a fault."""
    inboard: dict[str, RobotJoint] = {}
    for joint in robot.joints.values():
        first = inboard.setdefault(joint.child, joint)
        if first is not joint:
            got = f"'{joint.child}' a second time: joint '{first.name}' (line {first.line}) has it"
            expected = "each link the child of one joint"
            log.at_line(joint.line, f'<joint name="{joint.name}">', got, expected)
    return inboard


def _note_unknown_links(robot: Robot, log: Log) -> None:
    for joint in robot.joints.values():
        for end in (joint.parent, joint.child):
            if end not in robot.links:
                where, hint = f'<joint name="{joint.name}">', suggest(end, robot.links)
                expected = f"one of {listing(robot.links)}"
                log.at_line(joint.line, where, f"unknown link '{end}'", expected, hint)


def _note_second_roots(robot: Robot, roots: list[str], log: Log) -> None:
    for name in roots[1:]:
        where, hint = f'<link name="{name}">', "join the parts, or split the file"
        expected = f"one root; '{roots[0]}' is one already"
        log.at_line(robot.links[name].line, where, "a second root", expected, hint)


def _note_cycles(inboard: dict[str, RobotJoint], log: Log) -> None:
    done: set[str] = set()
    for start in inboard:
        chain, link = list[str](), start
        while link in inboard and link not in done:
            done.add(link)
            chain.append(link)
            link = inboard[link].parent
        if link in chain:
            loop = chain[chain.index(link) :]
            joint = inboard[loop[0]]
            got = "a cycle: " + " -> ".join([*loop, loop[0]])
            log.at_line(joint.line, f'<joint name="{joint.name}">', got, "a tree")
