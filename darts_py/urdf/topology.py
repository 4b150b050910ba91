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


def read_topology(robot: Robot, log: Log) -> Topology | None:
    """Return the tree, or None with the faults noted."""
    n_faults = len(log.faults)
    inboard: dict[str, RobotJoint] = {}
    for joint in robot.joints.values():
        where = f'<joint name="{joint.name}">'
        for end in (joint.parent, joint.child):
            if end not in robot.links:
                hint = suggest(end, robot.links)
                expected = f"one of {listing(robot.links)}"
                log.at_line(joint.line, where, f"unknown link '{end}'", expected, hint)
        if joint.child in inboard:
            first = inboard[joint.child]
            got = f"'{joint.child}' a second time: joint '{first.name}' (line {first.line}) has it"
            log.at_line(joint.line, where, got, "each link the child of one joint")
        else:
            inboard[joint.child] = joint
    if not robot.links:
        log.at_line(1, "<robot>", "no links", "at least one <link>")
    _note_cycles(inboard, log)
    roots = [name for name in robot.links if name not in inboard]
    if len(log.faults) == n_faults and len(roots) != 1:
        for name in roots[1:]:
            where = f'<link name="{name}">'
            expected = f"one root; '{roots[0]}' is one already"
            hint = "join the parts, or split the file"
            log.at_line(robot.links[name].line, where, "a second root", expected, hint)
    return Topology(roots[0], inboard) if len(log.faults) == n_faults else None


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
