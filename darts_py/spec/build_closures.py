"""Closure specifications into the numbers of `multibody.tree`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from darts_py.multibody.tree import GROUND, Closure
from darts_py.spec.build_joints import BodyNodes, find_node
from darts_py.spec.closures import Frames
from darts_py.spec.document import Path
from darts_py.spec.faults import FaultLog, listing, show, suggest
from darts_py.spec.joints import GROUND_NAME
from darts_py.spec.rotation import rotation_matrix


def check_references(
    name: str, raw: object, bodies: Mapping[str, Any], joints: Mapping[str, Any], log: FaultLog
) -> None:
    """Check the names in a closure; works on the raw mapping, whatever else is wrong with it."""
    path = ("closures", name)
    if name in joints:
        got = f"'{name}', the name of a joint"
        log.add(path, got, "a name that no joint has", at_key=True)
    entry = cast("dict[str, object]", raw) if isinstance(raw, dict) else {}
    known = [GROUND_NAME, *bodies]
    for side in ("a", "b"):
        word = entry.get(side)
        if isinstance(word, str) and word not in known:
            expected = f"one of {listing(known)}"
            log.add((*path, side), f"unknown body {show(word)}", expected, suggest(word, known))


def build_closure(
    name: str, spec: Frames, bodies: Mapping[str, BodyNodes], log: FaultLog
) -> Closure | None:
    """Return the closure, or None with its faults noted."""
    path, n_faults = ("closures", name), len(log)
    node_a = find_node(spec.a, spec.a_node, (*path, "a_node"), bodies, log)
    node_b = find_node(spec.b, spec.b_node, (*path, "b_node"), bodies, log)
    if not {spec.a, spec.b} <= {GROUND_NAME, *bodies}:
        return None
    if len(log) == n_faults:
        _require_two_sides(spec, node_a == node_b, path, bodies, log)
    if len(log) > n_faults:
        return None
    return Closure(
        name,
        str(getattr(spec, "type", "")),
        spec.directions(),
        body_a=_number(spec.a, bodies),
        body_b=_number(spec.b, bodies),
        node_a=node_a,
        node_b=node_b,
        o_a=np.array(spec.a_offset_m),
        o_b=np.array(spec.b_offset_m),
        R_a=rotation_matrix(spec.a_rotation),
        R_b=rotation_matrix(spec.b_rotation),
    )


def _number(body: str, bodies: Mapping[str, BodyNodes]) -> int:
    return GROUND if body == GROUND_NAME else bodies[body].index


def _require_two_sides(
    spec: Frames, same_node: bool, path: Path, bodies: Mapping[str, BodyNodes], log: FaultLog
) -> None:
    """Refuse a closure between things that cannot move relative to each other."""
    if spec.a != spec.b:
        return
    if spec.a == GROUND_NAME:
        log.add((*path, "b"), "ground on both sides", "a body on one side at least")
    elif same_node or bodies[spec.a].rigid:
        what = "one node" if same_node else "two nodes of one rigid body"
        got = f"{what} of body '{spec.a}' on both sides" if same_node else f"{what}, '{spec.a}'"
        expected = "two bodies, or two nodes of a flexible body"
        log.add((*path, "b"), got, expected, "they do not move relative to each other")
