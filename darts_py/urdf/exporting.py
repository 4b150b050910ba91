"""The door of URDF export: a rigid tree in, the text of a URDF file out.

A link of URDF has its frame at its joint, so the frame of link i is the hinge frame O of body i.
Joints of several freedoms become chains with massless links between; what URDF cannot say is
refused, or left out with a warning where it changes no rigid motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from darts_py.errors import Fault, ModelError
from darts_py.multibody.tree import GROUND, Array, Body, Joint, Node, Tree
from darts_py.urdf.export_joints import WrittenJoint, chain_of, refusal
from darts_py.urdf.mesh_paths import moved_mesh
from darts_py.urdf.naming import model_names
from darts_py.urdf.notes import Note, Notes
from darts_py.urdf.robot_text import Frame, PlacedShape, joint_text, link_text, robot_text

IDENTITY = Frame(np.eye(3), np.zeros(3))


@dataclass(frozen=True)
class Exported:
    """A URDF file and what was lost."""

    text: str
    notes: tuple[Note, ...]
    n_links: int
    n_joints: int


def export_urdf(tree: Tree, source: Path | None = None, output: Path | None = None) -> Exported:
    """Write a rigid tree as URDF.

    Args:
        tree: the model; flexible bodies and closures are refused.
        source: the model file, to which mesh paths are relative.
        output: where the URDF file will be; mesh paths are written relative to it.

    Raises:
        ModelError: listing everything that URDF cannot say.
    """
    faults = _refusals(tree)
    if faults:
        raise ModelError(faults)
    return _Exporter(tree, source, output).run()


def _refusals(tree: Tree) -> list[Fault]:
    faults: list[Fault] = []
    for body in tree.bodies:
        if body.n_modes or body.distributed is not None:
            hint = "URDF knows rigid links only"
            faults.append(Fault(f"bodies.{body.name}", "a flexible body", "rigid bodies", hint))
    for joint in tree.joints:
        why = refusal(joint)
        if why is not None:
            faults.append(Fault(f"joints.{joint.name}", *why))
    for closure in tree.closures:
        hint = "URDF knows trees only; without it the motion would differ"
        faults.append(Fault(f"closures.{closure.name}", "a closed loop", "a tree", hint))
    return faults


class _Exporter:
    """Names the links, then writes them with their joints in the order of the bodies."""

    def __init__(self, tree: Tree, source: Path | None, output: Path | None) -> None:
        self.tree, self.source, self.output = tree, source, output
        self.notes = Notes()
        self.parts: list[str] = []
        self.n_links = self.n_joints = 0
        self.taken = {body.name for body in tree.bodies}
        self.taken_joints = {joint.name for joint in tree.joints}
        self.world = self._fresh("world", self.taken)

    def run(self) -> Exported:
        tree = self.tree
        self._add_frame(self.world)
        for i, (body, joint) in enumerate(zip(tree.bodies, tree.joints, strict=True)):
            self._add_joint(i, body, joint)
        self._tell_gravity()
        comments = [f"Exported from the model {tree.name} of darts-py."]
        if np.any(tree.gravity):
            comments.append(f"gravity (not part of URDF), m/s2: {tree.gravity.tolist()}")
        text = robot_text(tree.name, comments, self.parts)
        return Exported(text, tuple(self.notes.listed()), self.n_links, self.n_joints)

    def _fresh(self, name: str, taken: set[str]) -> str:
        (fresh,) = model_names([name], taken).values()
        taken.add(fresh)
        return fresh

    def _tell_gravity(self) -> None:
        if np.any(self.tree.gravity):
            g = " ".join(f"{x:g}" for x in self.tree.gravity)
            self.notes.warn(f"gravity left out: URDF has none (--gravity {g} at an import)")

    def _link_frame(self, i: int) -> Frame:
        """Return O of body i in its frame F; the world's own for the ground."""
        if i == GROUND:
            return IDENTITY
        joint = self.tree.joints[i]
        node = self.tree.bodies[i].nodes[joint.child_node]
        return Frame(joint.R_iO, node.r + joint.o_d)

    def _add_joint(self, i: int, body: Body, joint: Joint) -> None:
        """Write the chain that carries a body, then the body and its nodes."""
        parent = self.world if joint.parent == GROUND else self.tree.bodies[joint.parent].name
        node = Node("") if joint.parent == GROUND else self._parent_node(joint)
        place = Frame(joint.R_pO, node.r + joint.o_t).seen_from(self._link_frame(joint.parent))
        chain = chain_of(joint, self.notes)
        for k, written in enumerate(chain):
            last = k == len(chain) - 1
            child = body.name if last else self._fresh(f"{body.name}_stage_{k + 1}", self.taken)
            if last:
                self._add_body(i)
            else:
                self._add_frame(child)
            name = written.name
            if len(chain) > 1:
                name = self._fresh(written.name, self.taken_joints)
            self._write_joint(written, name, parent, child, place)
            parent, place = child, IDENTITY
        if len(chain) > 1:
            text = "a joint of several freedoms became a chain with massless links"
            self.notes.tell(f"{text}: {joint.name} ({joint.kind})")
        self._add_nodes(i, body)

    def _parent_node(self, joint: Joint) -> Node:
        return self.tree.bodies[joint.parent].nodes[joint.parent_node]

    def _add_nodes(self, i: int, body: Body) -> None:
        """Write every named point as a massless link on a fixed joint."""
        frame = self._link_frame(i)
        for node in body.nodes:
            place = Frame(node.R, node.r).seen_from(frame)
            if node.name == "origin" and place.is_identity:
                continue
            taken = node.name in self.taken or node.name == "origin"
            wanted = f"{body.name}_{node.name}" if taken else node.name
            link = self._fresh(wanted, self.taken)
            self._add_frame(link)
            name = self._fresh(f"{link}_frame", self.taken_joints)
            self._write_joint(WrittenJoint(name, "fixed"), name, body.name, link, place)

    def _shapes(self, i: int) -> list[PlacedShape]:
        """Return the shapes of a body in its link's frame, mesh paths rewritten."""
        frame = self._link_frame(i)
        return [
            (
                replace(shape, mesh=moved_mesh(shape.mesh, self.source, self.output)),
                Frame(shape.R, shape.r).seen_from(frame),
            )
            for shape in self.tree.bodies[i].appearance
        ]

    def _add_frame(self, name: str) -> None:
        """Write a link without mass or shape."""
        self.parts.append(link_text(name, None, ()))
        self.n_links += 1

    def _add_body(self, i: int) -> None:
        body, frame = self.tree.bodies[i], self._link_frame(i)
        self.parts.append(link_text(body.name, mass_in_frame(body, frame), self._shapes(i)))
        self.n_links += 1

    def _write_joint(
        self, written: WrittenJoint, name: str, parent: str, child: str, place: Frame
    ) -> None:
        self.parts.append(joint_text(written, name, parent, child, place))
        self.n_joints += 1


def mass_in_frame(body: Body, frame: Frame) -> tuple[float, Array, Array] | None:
    """Return mass, mass centre and central inertia of a rigid body in a frame given in F."""
    heavy = [node for node in body.nodes if node.m]
    if not heavy:
        return None
    mass, centre, J = heavy[0].m, heavy[0].r + heavy[0].p, heavy[0].Jc
    if len(heavy) > 1:  # a single one keeps its numbers to the last digit
        mass = sum(node.m for node in heavy)
        centre = sum((node.m * (node.r + node.p) for node in heavy), np.zeros(3)) / mass
        arms = [(node, node.r + node.p - centre) for node in heavy]
        J = sum(
            (n.Jc + n.m * (d @ d * np.eye(3) - np.outer(d, d)) for n, d in arms), np.zeros((3, 3))
        )
    if not np.array_equal(frame.R, np.eye(3)):
        J = frame.R.T @ J @ frame.R
    return mass, frame.R.T @ (centre - frame.r), 0.5 * (J + J.T)
