"""Body specifications into the numbers of `multibody.tree`, with the checks across their keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from darts_py.multibody.tree import Array, Body, Distributed, Node
from darts_py.spec.bodies import (
    ORIGIN,
    AnyBody,
    BeamBody,
    Damping,
    FlexibleBody,
    MeshBody,
    PlateBody,
    RigidBody,
)
from darts_py.spec.document import Path as DocumentPath
from darts_py.spec.faults import FaultLog
from darts_py.spec.inertia import inertia_matrix
from darts_py.spec.modes_file import ModalData, read_modes_file
from darts_py.spec.rotation import rotation_matrix
from darts_py.spec.spatial import body_mass

DIAGONAL = 1e-6  # relative; a modal mass or stiffness this near to diagonal counts as diagonal


def build_body(name: str, spec: AnyBody, folder: Path, log: FaultLog) -> Body | None:
    """Return the body, or None with its faults noted."""
    body = _build(name, spec, folder, log)
    return None if body is None else replace(body, appearance=spec.as_appearance())


def _build(name: str, spec: AnyBody, folder: Path, log: FaultLog) -> Body | None:
    if isinstance(spec, RigidBody):
        return _rigid(name, spec, log)
    if isinstance(spec, FlexibleBody):
        return _FlexibleBuilder(name, spec, folder, log).build()
    return _structural(name, spec, folder, log)


def _rigid(name: str, spec: RigidBody, log: FaultLog) -> Body | None:
    """Put all mass on the node at the origin; declared nodes are massless."""
    if spec.mass_kg == 0.0 and np.any(inertia_matrix(spec.inertia_kg_m2)):
        expected = "a number > 0 where there is inertia"
        hint = "a massless frame has no inertia; it is a node, or a stage of a compound joint"
        log.add(("bodies", name, "mass_kg"), "0 and an inertia", expected, hint)
        return None
    carrier = Node(
        ORIGIN,
        m=spec.mass_kg,
        p=np.array(spec.center_of_mass_m),
        Jc=inertia_matrix(spec.inertia_kg_m2),
    )
    points = [
        Node(key, r=np.array(node.position_m), R=rotation_matrix(node.rotation))
        for key, node in spec.nodes.items()
    ]
    return Body(name, (carrier, *points))


def _structural(
    name: str, spec: BeamBody | PlateBody | MeshBody, folder: Path, log: FaultLog
) -> Body | None:
    """Build a body whose modes are computed from a structure."""
    # here, for SciPy's solvers and scikit-fem take most of a second to import
    from darts_py.spec.build_structures import build_structure

    path: DocumentPath = ("bodies", name)
    n_faults = len(log)
    _check_lumps(path, {key: (n.mass_kg, n.inertia_kg_m2) for key, n in spec.nodes.items()}, log)
    modal = build_structure(path, spec, folder, log)
    if modal is None or len(log) > n_faults:
        return None
    damper = _Damper((*path, "flexible"), spec.flexible, log)
    damping = damper.damping(modal.K, modal.nodes, modal.distributed)
    if damping is None or len(log) > n_faults:
        return None
    return Body(name, modal.nodes, modal.K, damping, modal.distributed)


def _check_lumps(
    path: DocumentPath, lumps: Mapping[str, tuple[float, object]], log: FaultLog
) -> None:
    for name, (mass, inertia) in lumps.items():
        if mass == 0.0 and np.any(np.array(inertia)):
            got = f"inertia without mass at node '{name}'"
            log.add((*path, "nodes", name), got, "mass where there is inertia")


class _FlexibleBuilder:
    """Brings nodes, stiffness and damping together from the model file and the modes file."""

    def __init__(self, name: str, spec: FlexibleBody, folder: Path, log: FaultLog) -> None:
        self.name = name
        self.spec = spec
        self.folder = folder
        self.log = log
        self.path: DocumentPath = ("bodies", name)
        self.flexible: DocumentPath = (*self.path, "flexible")

    def build(self) -> Body | None:
        n_faults = len(self.log)
        data = self._from_file() if self.spec.flexible.modes_file else self._written_out()
        if data is None or len(self.log) > n_faults:
            return None
        self._check_masses(data)
        nodes = tuple(_nodes(data))
        damping = data.damping_n_m_s
        if damping is None:
            damper = _Damper(self.flexible, self.spec.flexible, self.log)
            damping = damper.damping(data.stiffness_n_m, nodes, None)
        if damping is None or len(self.log) > n_faults:
            return None
        return Body(self.name, nodes, data.stiffness_n_m, damping)

    def _from_file(self) -> ModalData | None:
        flexible, path = self.spec.flexible, (*self.flexible, "modes_file")
        file = self.folder / str(flexible.modes_file)
        if self.spec.nodes:
            hint = "leave out nodes or modes_file"
            self.log.add((*self.path, "nodes"), "nodes", "none: modes_file has them", hint)
        if flexible.stiffness_n_m is not None:
            at = (*self.flexible, "stiffness_n_m")
            self.log.add(at, "a stiffness", "none: modes_file has it")
        data = read_modes_file(file, lambda got, expected: self.log.add(path, got, expected))
        given = flexible.damping_n_m_s is not None or flexible.damping_ratio is not None
        if data and data.damping_n_m_s is not None and given:
            got = f"damping here and in {file.name}"
            self.log.add(self.flexible, got, "damping in one place", at_key=True)
        return data

    def _written_out(self) -> ModalData | None:
        flexible, nodes = self.spec.flexible, self.spec.nodes
        if flexible.stiffness_n_m is None:
            at = (*self.flexible, "stiffness_n_m")
            hint = "or a modes_file that has it"
            self.log.add(at, "nothing", "the key 'stiffness_n_m'", hint, at_key=True)
            return None
        if not nodes:
            at = (*self.path, "nodes")
            self.log.add(at, "no nodes", "nodes with masses and mode shapes", at_key=True)
            return None
        stiffness = np.array(flexible.stiffness_n_m)
        n_modes = len(stiffness)
        return ModalData(
            names=list(nodes),
            position_m=np.array([node.position_m for node in nodes.values()]),
            mass_kg=np.array([node.mass_kg for node in nodes.values()]),
            center_of_mass_offset_m=np.array(
                [node.center_of_mass_offset_m for node in nodes.values()]
            ),
            inertia_kg_m2=np.array([inertia_matrix(n.inertia_kg_m2) for n in nodes.values()]),
            modes=np.array([self._shapes(key, n_modes) for key in nodes]),
            stiffness_n_m=stiffness,
            damping_n_m_s=None,
        )

    def _shapes(self, node: str, n_modes: int) -> Array:
        Pi = np.zeros((6, n_modes))
        modes = self.spec.nodes[node].modes
        if modes and len(modes) != n_modes:
            at = (*self.path, "nodes", node, "modes")
            expected = f"{n_modes}, as stiffness_n_m has"
            hint = "leave modes out for a node that does not move with them"
            self.log.add(at, f"{len(modes)} mode shapes", expected, hint)
            return Pi
        for k, mode in enumerate(modes):
            Pi[:3, k], Pi[3:, k] = mode.slope_rad, mode.displacement_m
        return Pi

    def _check_masses(self, data: ModalData) -> None:
        if float(data.mass_kg.sum()) <= 0.0:
            self.log.add(self.path, "no mass on any node", "a body with mass", at_key=True)
        lumps = zip(data.names, data.mass_kg.tolist(), data.inertia_kg_m2, strict=True)
        _check_lumps(self.path, {name: (mass, J) for name, mass, J in lumps}, self.log)


class _Damper:
    """Modal damping of a flexible body, as its file gives it."""

    def __init__(self, path: DocumentPath, spec: Damping, log: FaultLog) -> None:
        self.path = path
        self.spec = spec
        self.log = log

    def damping(
        self, K: Array, nodes: tuple[Node, ...], spread: Distributed | None
    ) -> Array | None:
        """Return the damping matrix, or None with its faults noted."""
        flexible, n_modes = self.spec, len(K)
        if (flexible.damping_n_m_s is None) == (flexible.damping_ratio is None):
            got = "both" if flexible.damping_ratio is not None else "nothing"
            expected = "one of damping_n_m_s and damping_ratio"
            self.log.add(self.path, got, expected, "damping_ratio: 0 for none", at_key=True)
            return None
        if flexible.damping_n_m_s is not None:
            damping = np.array(flexible.damping_n_m_s)
            if len(damping) != n_modes:
                at, got = (*self.path, "damping_n_m_s"), f"{len(damping)} modes"
                self.log.add(at, got, f"{n_modes}, as the stiffness has")
            return damping
        ratio = np.atleast_1d(np.array(flexible.damping_ratio, float))
        return self._proportional(ratio, K, body_mass(nodes, spread)[:n_modes, :n_modes])

    def _proportional(self, ratio: Array, K: Array, Mff: Array) -> Array | None:
        """Return the damping that gives each natural mode its fraction of critical damping.

        The natural modes are those of K and the modal mass of the shapes as written.
        """
        at = (*self.path, "damping_ratio")
        if ratio.size not in (1, len(K)):
            self.log.add(at, f"{ratio.size} values", f"1 or {len(K)}, as the stiffness has modes")
            return None
        scale = np.sqrt(np.diag(Mff))
        if np.any(scale <= 0.0) or np.linalg.eigvalsh(Mff / np.outer(scale, scale))[0] < 1e-10:
            expected = "damping_n_m_s: the modal mass matrix is singular"
            self.log.add(at, "a damping ratio", expected)
            return None
        if _is_diagonal(K) and _is_diagonal(Mff):
            return np.diag(2.0 * ratio * np.sqrt(np.diag(K) * np.diag(Mff)))
        if ratio.size > 1:
            hint = "a single ratio for all modes is fine, and so is damping_n_m_s"
            expected = "one ratio: these shapes are not natural modes of the body"
            self.log.add(at, f"{ratio.size} values", expected, hint)
            return None
        L = np.linalg.cholesky(Mff)
        B = np.linalg.solve(L, np.linalg.solve(L, K).T)
        squares, X = np.linalg.eigh(0.5 * (B + B.T))
        D = (X * (2.0 * ratio[0] * np.sqrt(np.maximum(squares, 0.0)))) @ X.T
        return L @ D @ L.T


def _is_diagonal(A: Array) -> bool:
    off = A - np.diag(np.diag(A))
    scale = np.sqrt(np.abs(np.outer(np.diag(A), np.diag(A))))
    return bool(np.all(np.abs(off) <= DIAGONAL * scale))


def _nodes(data: ModalData) -> list[Node]:
    return [
        Node(
            name,
            r=data.position_m[k],
            m=float(data.mass_kg[k]),
            p=data.center_of_mass_offset_m[k],
            Jc=data.inertia_kg_m2[k],
            Pi=data.modes[k],
        )
        for k, name in enumerate(data.names)
    ]
