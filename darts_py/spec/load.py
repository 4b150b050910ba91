"""From a file to a tree: read, check every part, build, check the whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from pydantic import TypeAdapter

from darts_py.errors import ArgumentError, Fault, ModelError
from darts_py.multibody.tree import GROUND, Body, Closure, Joint, Tree
from darts_py.spec.bodies import AnyBody, BodySpec
from darts_py.spec.build_bodies import build_body
from darts_py.spec.build_closures import build_closure, check_references
from darts_py.spec.build_joints import BodyNodes, build_joint, rigid_node_names
from darts_py.spec.closures import ClosureSpec, Frames
from darts_py.spec.document import MAX_BYTES, read_document
from darts_py.spec.faults import FaultLog, show
from darts_py.spec.fields import NAME_PATTERN
from darts_py.spec.freedom import check_freedoms
from darts_py.spec.joints import GROUND_NAME, Attachment, JointSpec
from darts_py.spec.light_bodies import check_light_bodies
from darts_py.spec.model_file import NAME_RULE, SECTIONS, Header, validate
from darts_py.spec.shipped import find_model
from darts_py.spec.topology import read_topology

_HEADER: TypeAdapter[Header] = TypeAdapter(Header)
_BODY: TypeAdapter[AnyBody] = TypeAdapter(BodySpec)
_JOINT: TypeAdapter[Attachment] = TypeAdapter(JointSpec)
_CLOSURE: TypeAdapter[Frames] = TypeAdapter(ClosureSpec)


def load_tree(path: str | Path) -> Tree:
    """Load a model file (or a shipped model by its name).

    Raises:
        ModelError: the file has faults; all of them are listed.
        ArgumentError: there is no such file.
    """
    tree, faults = _load(path)
    if tree is None or faults:
        raise ModelError(faults)
    return tree


def check_file(path: str | Path) -> list[Fault]:
    """Return all faults of a model file, in file order; an empty list for a sound one."""
    return _load(path)[1]


def _load(path: str | Path) -> tuple[Tree | None, list[Fault]]:
    file = find_model(path)
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise ArgumentError(
            "model", got=f"{file}: {error.strerror}", expected="a readable file"
        ) from error
    return load_document(raw, file)


def load_document(raw: bytes, file: Path) -> tuple[Tree | None, list[Fault]]:
    """Load the text of a model file; `file` is where it is, or is about to be."""
    root, faults = read_document(raw, str(file))
    if root is None:
        return None, faults
    log = FaultLog(str(file), root, faults)
    if not isinstance(root.data, dict):
        log.add((), show(root.data), "a mapping with darts_model, name, bodies, joints")
        return None, log.sorted()
    tree = _Loader(cast("Any", root).data, file.parent, log).load()
    return tree, log.sorted()


class _Loader:
    """Checks the parts of one document and puts the sound ones together."""

    def __init__(self, data: dict[str, Any], folder: Path, log: FaultLog) -> None:
        self.data = data
        self.folder = folder
        self.log = log

    def load(self) -> Tree | None:
        header = self._header()
        raw_bodies, raw_joints = self._section("bodies"), self._section("joints")
        topology = read_topology(raw_bodies, raw_joints, self.log)
        specs = {name: self._body_spec(name, raw) for name, raw in raw_bodies.items()}
        bodies = {
            name: build_body(name, spec, self.folder, self.log) if spec else None
            for name, spec in specs.items()
        }
        known = self._nodes(raw_bodies, bodies)
        joints: dict[str, Joint | None] = {}
        for name, raw in raw_joints.items():
            spec = validate(_JOINT, raw, ("joints", name), self.log)
            joints[name] = build_joint(name, spec, known, self.log) if spec else None
        closures = self._closures(raw_bodies, raw_joints, known)
        if not topology.sound:
            return None
        inboard = [joints[topology.inboard[name]] for name in bodies]
        parents = [topology.parents[topology.inboard[name]] for name in bodies]
        numbers = [known[name].index if name != GROUND_NAME else GROUND for name in parents]
        check_freedoms(list(bodies.values()), inboard, numbers, self.log)
        check_light_bodies(list(bodies.values()), inboard, numbers, self.log)
        return self._tree(header, list(bodies.values()), inboard, closures)

    def _header(self) -> Header | None:
        """Check the top level; the entries of its sections are checked one by one."""
        rest = {key: v for key, v in self.data.items() if key not in SECTIONS}
        return validate(_HEADER, rest, (), self.log)

    def _section(self, key: str) -> dict[str, Any]:
        """Return a section, whose names are checked; empty if it is no mapping."""
        value: object = self.data.get(key)
        if key == "closures" and value in (None, {}):
            return {}
        if not isinstance(value, dict) or not value:
            expected = f"a mapping of {key} by name"
            self.log.add((key,), show(cast("object", value)), expected, at_key=True)
            return {}
        section = cast("dict[str, Any]", value)
        for name in section:
            if not re.fullmatch(NAME_PATTERN, name):
                self.log.add((key, name), show(name), NAME_RULE, at_key=True)
        if key == "bodies" and GROUND_NAME in section:
            hint = "ground is the world itself"
            self.log.add((key, GROUND_NAME), GROUND_NAME, "another name", hint, at_key=True)
        return section

    def _body_spec(self, name: str, raw: object) -> AnyBody | None:
        return validate(_BODY, raw, ("bodies", name), self.log)

    def _nodes(
        self, raw_bodies: Mapping[str, Any], bodies: Mapping[str, Body | None]
    ) -> dict[str, BodyNodes]:
        """Return the node names of each body, from its mapping where it could not be built."""
        known: dict[str, BodyNodes] = {}
        for index, (name, body) in enumerate(bodies.items()):
            if body is not None:
                names = [node.name for node in body.nodes]
                known[name] = BodyNodes(index, body.n_modes == 0, names)
            else:
                known[name] = BodyNodes(index, True, _raw_nodes(raw_bodies[name]))
        return known

    def _closures(
        self,
        raw_bodies: Mapping[str, Any],
        raw_joints: Mapping[str, Any],
        known: Mapping[str, BodyNodes],
    ) -> list[Closure | None]:
        closures: list[Closure | None] = []
        for name, raw in self._section("closures").items():
            check_references(name, raw, raw_bodies, raw_joints, self.log)
            spec = validate(_CLOSURE, raw, ("closures", name), self.log)
            closures.append(build_closure(name, spec, known, self.log) if spec else None)
        return closures

    def _tree(
        self,
        header: Header | None,
        bodies: list[Body | None],
        joints: list[Joint | None],
        closures: list[Closure | None],
    ) -> Tree | None:
        if header is None or None in bodies or None in joints or None in closures:
            return None
        return Tree(
            header.name,
            tuple(body for body in bodies if body is not None),
            tuple(joint for joint in joints if joint is not None),
            np.array(header.gravity_m_s2),
            tuple(closure for closure in closures if closure is not None),
        )


def _raw_nodes(raw: object) -> list[str] | None:
    """Return the node names of a faulty rigid body; None where they cannot be told."""
    if not isinstance(raw, dict) or "flexible" in raw:
        return None
    nodes = cast("dict[str, object]", raw).get("nodes", {})
    return (
        rigid_node_names(list(cast("dict[str, object]", nodes)))
        if isinstance(nodes, dict)
        else None
    )
