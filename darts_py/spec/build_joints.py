"""Joint specifications into the numbers of `multibody.tree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from darts_py.errors import ModelError
from darts_py.multibody.joint_types import Stages
from darts_py.multibody.tree import GROUND, Joint
from darts_py.spec.bodies import ORIGIN
from darts_py.spec.build_limits import build_limits
from darts_py.spec.document import Path
from darts_py.spec.faults import FaultLog, listing, show, suggest
from darts_py.spec.freedom import redundancy
from darts_py.spec.joints import GROUND_NAME, Attachment, Compound
from darts_py.spec.motions import Map, Motion, Universal
from darts_py.spec.passive import Passive
from darts_py.spec.rotation import rotation_matrix


@dataclass(frozen=True)
class BodyNodes:
    """What a joint needs to know of a body: its number, and its nodes if they are known."""

    index: int
    rigid: bool
    names: Sequence[str] | None  # None: the body is too faulty to tell


def build_joint(
    name: str, spec: Attachment, bodies: Mapping[str, BodyNodes], log: FaultLog
) -> Joint | None:
    """Return the joint, or None with its faults noted."""
    path, n_faults = ("joints", name), len(log)
    stages = _stages(spec, path, log)
    parent_node = find_node(spec.parent, spec.parent_node, (*path, "parent_node"), bodies, log)
    child_node = find_node(spec.child, spec.child_node, (*path, "child_node"), bodies, log)
    if len(log) > n_faults or spec.child not in bodies:
        return None
    if spec.parent != GROUND_NAME and spec.parent not in bodies:
        return None
    return Joint(
        name,
        str(getattr(spec, "type", "")),
        stages,
        parent=GROUND if spec.parent == GROUND_NAME else bodies[spec.parent].index,
        parent_node=parent_node,
        o_t=np.array(spec.parent_offset_m),
        R_pO=rotation_matrix(spec.parent_rotation),
        child_node=child_node,
        o_d=np.array(spec.child_offset_m),
        R_iO=rotation_matrix(spec.child_rotation),
        locked=spec.locked,
        limits=build_limits(spec),
        **_passive_arrays(spec.as_passives()),
    )


def _stages(spec: Motion, path: Path, log: FaultLog) -> Stages:
    """Return the stages of a motion; what the joint catalogue refuses is noted in its place."""
    if isinstance(spec, Compound):
        n_faults = len(log)
        for k, stage in enumerate(spec.stages):
            _stages(stage, (*path, "stages", k), log)
        if len(log) > n_faults:
            return ()
        refusal = redundancy(spec.as_stages())
        if refusal:
            hint = "take out the stage that repeats a motion of the others"
            log.add((*path, "stages"), refusal, "independent motions", hint)
        return spec.as_stages()
    try:
        return spec.as_stages()
    except ModelError as error:
        at = (*path, "axes") if isinstance(spec, Universal) else path
        at = (*path, "map") if isinstance(spec, Map) else at
        for fault in error.faults:
            log.add(at, fault.got, fault.expected, fault.hint)
        return ()


def find_node(
    body: str, node: str | None, path: Path, bodies: Mapping[str, BodyNodes], log: FaultLog
) -> int:
    """Return a node's number in its body; ground has none and counts as 0.

    Args:
        body: name of a body, or ground.
        node: name of the node, if one is given.
        path: where in the file it is, or would be; ends in "..._node".
        bodies: by name.
        log: takes the faults.
    """
    if body == GROUND_NAME:
        if node is not None:
            instead = str(path[-1]).replace("_node", "_offset_m")
            log.add(path, show(node), "no node: ground has none", f"place the frame with {instead}")
        return 0
    known = bodies.get(body)
    if known is None or known.names is None:
        return 0  # the body has faults of its own
    if node is None:
        if not known.rigid:
            expected = f"a node of flexible body '{body}': {listing(known.names)}"
            log.add(path, "nothing", expected, at_key=True)
        return 0
    if node not in known.names:
        hint = suggest(node, known.names)
        expected = f"a node of '{body}': {listing(known.names)}"
        log.add(path, f"unknown node {show(node)}", expected, hint)
        return 0
    return list(known.names).index(node)


def rigid_node_names(declared: Sequence[str]) -> list[str]:
    """Return the node names of a rigid body: the origin comes first."""
    return [ORIGIN, *declared]


def _passive_arrays(passives: list[Passive]) -> dict[str, np.ndarray | None]:
    """Return the arrays of the tree's joint; None where nothing of a kind is there."""
    if not passives:
        return {}

    def gather(name: str) -> np.ndarray:
        return np.array([getattr(passive, name) for passive in passives], float)

    arrays: dict[str, np.ndarray | None] = {}
    if gather("stiffness").any():
        arrays |= {key: gather(key) for key in ("stiffness", "rest")}
    if gather("damping").any():
        arrays["damping"] = gather("damping")
    if np.isfinite(gather("lower")).any() or np.isfinite(gather("upper")).any():
        keys = ("lower", "upper", "stop_stiffness", "stop_damping")
        arrays |= {key: gather(key) for key in keys}
    if gather("breakaway").any():
        keys = ("coulomb", "breakaway", "stribeck_rate", "creep_rate")
        arrays |= {key: gather(key) for key in keys}
    return arrays
