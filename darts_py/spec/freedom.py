"""Does every freedom of the model move mass, and is none counted twice?

A terminal body without inertia along its joint, a mode without mass, a rigid motion sold as a
mode: each makes the mass matrix singular (equation sheet, section 9), so each is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from darts_py.multibody.tree import GROUND, Array, Body, Joint, Stage
from darts_py.spec.faults import FaultLog
from darts_py.spec.spatial import Pose, body_mass, cross, relative_pose, rotate, shift

SINGULAR = 1e-10  # smallest eigenvalue of a matrix scaled to unit diagonal
NO_INERTIA = 1e-13  # of a freedom, relative to the inertia outboard of it
RANK = 1e-9


def redundancy(stages: Sequence[Stage]) -> str:
    """Say what is wrong with a joint whose stages repeat a motion; empty if none does."""
    n = sum(stage.n_speeds for stage in stages)
    if n > 6:
        return f"{n} freedoms"
    if n == 0:
        return ""
    rank = int(np.linalg.matrix_rank(_unit_columns(generic_map(stages)), tol=RANK))
    return f"{n} freedoms that make {rank} independent motions" if rank < n else ""


def _unit_columns(columns: Array) -> Array:
    return columns / np.linalg.norm(columns, axis=0)


def generic_map(stages: Sequence[Stage]) -> Array:
    """Return the joint map H_O at coordinates without any symmetry, in O axes.

    Stages may line up in the neutral position (Euler angles z, y, z) and yet be independent.
    """
    return stages[0].H if len(stages) == 1 else generic_motion(stages)[1]


def generic_motion(stages: Sequence[Stage]) -> tuple[Pose, Array]:
    """Return the pose of O in O+ and the joint map there, at coordinates without symmetry."""
    pose = Pose(np.eye(3), np.zeros(3))  # of O, seen from the stage's outboard side
    blocks: list[Array] = []
    for k, stage in reversed(list(enumerate(stages))):
        blocks.insert(0, rotate(pose.R.T) @ shift(pose.o) @ stage.H)
        for j, h in enumerate(_unit_columns(stage.H).T):
            pose = _exponential(h, 0.3 + 0.2 * k + 0.13 * j).then(pose)
    return pose, np.hstack(blocks) if blocks else np.zeros((6, 0))


def _exponential(h: Array, e: float) -> Pose:
    """Return the pose exp(e h) of a column of length 1 (equation sheet, section 3)."""
    t = float(np.linalg.norm(h[:3]))
    if t < 1e-6:  # as good as a translation, and the closed form loses its digits
        return Pose(np.eye(3), e * h[3:])
    W = cross(h[:3])
    s, c = np.sin(t * e) / t, (1.0 - np.cos(t * e)) / t**2
    p = (e * np.eye(3) + c * W + (t * e - np.sin(t * e)) / t**3 * W @ W) @ h[3:]
    return Pose(np.eye(3) + s * W + c * W @ W, p)


def check_freedoms(
    bodies: Sequence[Body | None],
    joints: Sequence[Joint | None],
    parents: Sequence[int],
    log: FaultLog,
) -> None:
    """Note each mode and joint freedom that moves no mass.

    `None` stands for a body or joint with faults of its own: nothing inboard of it is judged.
    """
    composite: dict[int, Array | None] = {}
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(parents):
        children.setdefault(parent, []).append(i)
    for i in _tips_first(children):
        body, joint = bodies[i], joints[i]
        if body is None or joint is None:
            composite[i] = None
            continue
        R = _composite(body, children.get(i, []), bodies, joints, composite)
        sound = _check_modes(body, joint, log)
        if R is not None and sound:
            _check_hinge(body, joint, R, log)
        composite[i] = R


def _tips_first(children: dict[int, list[int]]) -> list[int]:
    """Order bodies children first."""
    order: list[int] = []
    waiting = list(children.get(GROUND, []))
    while waiting:
        i = waiting.pop()
        order.append(i)
        waiting += children.get(i, [])
    return order[::-1]


def _composite(
    body: Body,
    children: list[int],
    bodies: Sequence[Body | None],
    joints: Sequence[Joint | None],
    composite: dict[int, Array | None],
) -> Array | None:
    """Return the inertia of a body with all that hangs on it (section 8), modes first."""
    total = body_mass(body.nodes, body.distributed)
    for c in children:
        child, joint, outboard = bodies[c], joints[c], composite.get(c)
        if child is None or joint is None or outboard is None:
            return None
        node, pose = body.nodes[joint.parent_node], relative_pose(joint, body, child)
        Q = np.hstack([node.Pi, shift(node.r)])
        XQ = rotate(pose.R.T) @ shift(pose.o - node.r) @ Q
        total = total + XQ.T @ outboard[-6:, -6:] @ XQ
    return total


def _check_modes(body: Body, joint: Joint, log: FaultLog) -> bool:
    """Check that modes are independent of each other and of rigid motion."""
    nm = body.n_modes
    if nm == 0:
        return True
    Mm = body_mass(body.nodes, body.distributed)
    node, path = body.nodes[joint.child_node], ("bodies", body.name, "flexible")
    Mff, Hf = Mm[:nm, :nm], np.hstack([np.eye(nm), -(shift(-node.r) @ node.Pi).T])
    scale = float(np.abs(np.diag(Mff)).max())
    idle = [k + 1 for k in range(nm) if Mff[k, k] <= NO_INERTIA * scale]
    if idle:
        log.add(path, f"mode {idle[0]} without mass", "mode shapes that move mass", at_key=True)
        return False
    weak = weakest(Mff)
    if weak:
        got = f"modes {weak} that are not independent"
        log.add(path, got, "independent mode shapes", at_key=True)
        return False
    held = Hf @ Mm @ Hf.T
    weak = weakest(held, np.diag(Mff)) or weakest(held)
    if weak:
        got = f"modes {weak} that make a rigid motion of the body"
        hint = f"with node '{node.name}' held they move no mass; the joint has the rigid motions"
        log.add(path, got, "elastic mode shapes", hint, at_key=True)
    return not weak


def weakest(M: Array, diagonal: Array | None = None) -> str:
    """Name the entries of the eigenvector that makes M singular; empty if M is regular."""
    diagonal = np.diag(M) if diagonal is None else diagonal
    scale = np.sqrt(np.maximum(diagonal, np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    if values[0] > SINGULAR:
        return ""
    heavy = np.flatnonzero(np.abs(vectors[:, 0]) > 0.1 * np.abs(vectors[:, 0]).max())
    return ", ".join(str(k + 1) for k in heavy)


def _check_hinge(body: Body, joint: Joint, R: Array, log: FaultLog) -> None:
    """Check that the joint's freedoms move mass, and are not modes of the body already."""
    if joint.locked or joint.n_speeds == 0:
        return
    nm, node, path = body.n_modes, body.nodes[joint.child_node], ("joints", joint.name)
    to_hinge = shift(-(node.r + joint.o_d)) @ rotate(joint.R_iO)
    H_O = _unit_columns(generic_map(joint.stages))
    D = H_O.T @ (to_hinge.T @ R[-6:, -6:] @ to_hinge) @ H_O
    largest = float(np.linalg.eigvalsh(to_hinge.T @ R[-6:, -6:] @ to_hinge)[-1])
    if np.any(np.diag(D) <= NO_INERTIA * largest) or weakest(D):
        hint = f"a massless terminal body: give '{body.name}' inertia, or use type: fixed"
        got = "a freedom that moves no mass"
        log.add(path, got, "inertia outboard of every freedom", hint, at_key=True)
        return
    Pd = shift(-node.r) @ node.Pi
    maps = np.zeros((nm + 6, nm + H_O.shape[1]))
    maps[:nm, :nm], maps[nm:, :nm], maps[nm:, nm:] = np.eye(nm), -Pd, to_hinge @ H_O
    if nm and weakest(maps.T @ R @ maps):
        got = f"a motion of the joint that is a mode of '{body.name}' as well"
        hint = "take the rigid motion out of the mode shapes"
        log.add(path, got, "modes and joint motions that are independent", hint, at_key=True)
