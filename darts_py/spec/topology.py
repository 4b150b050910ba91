"""Who hangs on whom: every body the child of exactly one joint, every chain ending at ground.

Works on the raw mappings, so that references are checked even where other keys are faulty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from darts_py.spec.faults import FaultLog, listing, show, suggest
from darts_py.spec.joints import GROUND_NAME

LOOPS = "close a loop with an entry under closures"


@dataclass
class Topology:
    """The tree by names, as far as it could be made out."""

    inboard: dict[str, str] = field(default_factory=dict[str, str])  # body -> its joint
    parents: dict[str, str] = field(default_factory=dict[str, str])  # joint -> parent body
    sound: bool = True


def read_topology(bodies: Mapping[str, Any], joints: Mapping[str, Any], log: FaultLog) -> Topology:
    """Check names, and that the joints make a tree; faults are noted."""
    topology, n_faults = Topology(), len(log)
    excused: set[str] = set()  # bodies a misspelt child probably meant
    for joint, raw in joints.items():
        entry = cast("dict[str, object]", raw) if isinstance(raw, dict) else {}
        excused.add(_take_child(joint, entry.get("child"), bodies, topology, log))
        _take_parent(joint, entry.get("parent"), bodies, topology, log)
    for body in bodies:
        if body not in topology.inboard and body not in excused:
            hint = "joint it to ground with type: free if it is a root"
            expected = "a joint that has it as child"
            log.add(("bodies", body), "a body without a joint", expected, hint, at_key=True)
    _check_cycles(topology, log)
    topology.sound = len(log) == n_faults and len(topology.parents) == len(joints)
    return topology


def _take_child(
    joint: str, child: object, bodies: Mapping[str, Any], topology: Topology, log: FaultLog
) -> str:
    """Enter a joint's child; return the body that a wrong name probably meant, if any."""
    path = ("joints", joint, "child")
    if not isinstance(child, str):
        return ""  # its type is checked elsewhere
    if child not in bodies:
        hint = suggest(child, bodies)
        log.add(path, f"unknown body {show(child)}", f"one of {listing(bodies)}", hint)
        return hint.removeprefix("did you mean '").removesuffix("'?")
    if child in topology.inboard:
        got = f"'{child}' a second time: it is the child of joint '{topology.inboard[child]}', too"
        log.add(path, got, "each body the child of one joint", LOOPS)
    else:
        topology.inboard[child] = joint
    return ""


def _take_parent(
    joint: str, parent: object, bodies: Mapping[str, Any], topology: Topology, log: FaultLog
) -> None:
    if not isinstance(parent, str):
        return
    if parent in bodies or parent == GROUND_NAME:
        topology.parents[joint] = parent
        return
    known = [GROUND_NAME, *bodies]
    hint = suggest(parent, known)
    expected = f"one of {listing(known)}"
    log.add(("joints", joint, "parent"), f"unknown body {show(parent)}", expected, hint)


def _check_cycles(topology: Topology, log: FaultLog) -> None:
    """Note each cycle once, at the joint where following the parents first enters it."""
    state: dict[str, int] = {}  # 1 on the present chain, 2 done
    for start in topology.inboard:
        chain: list[str] = []
        body: str | None = start
        while body is not None and body not in state:
            state[body] = 1
            chain.append(body)
            joint = topology.inboard.get(body)
            parent = topology.parents.get(joint) if joint is not None else None
            body = None if parent == GROUND_NAME else parent
        if body is not None and state.get(body) == 1:
            loop = chain[chain.index(body) :]
            path = ("joints", topology.inboard[loop[0]], "parent")
            got = "a cycle: " + " -> ".join([*loop, loop[0]])
            log.add(path, got, f"parents that lead to {GROUND_NAME}", LOOPS)
        for name in chain:
            state[name] = 2
