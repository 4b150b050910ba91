"""From the description of a spacecraft (`tree.Tree`) to the arrays that kernels read.

Bodies are renumbered parents first, every body is moved to its hinge frame, single axes are
turned to z, and mass properties are gathered from the nodes by the kernels that also do so
when they change in flight.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from darts_py.errors import Fault, ModelError
from darts_py.multibody.assemble_closures import assemble_closures
from darts_py.multibody.forms import cheaper_form, fastest_form, hinge_turn
from darts_py.multibody.mass_properties import refresh_mass_properties
from darts_py.multibody.model import (
    AXIS,
    BALL,
    BODY,
    CLOSURE,
    FORM_GENERAL,
    FREE,
    HOOK,
    MAP,
    MODE,
    NODE,
    PLANAR,
    SPEED,
    SPREAD,
    SPREAD_MODE,
    STAGE,
    Model,
    make_workspace,
    records,
)
from darts_py.multibody.tree import GROUND, Array, Distributed, Joint, Tree

STAGE_KINDS = {"axis": AXIS, "map": MAP, "planar": PLANAR, "ball": BALL, "free": FREE}


def parents_first(tree: Tree) -> list[int]:
    """Return body indices such that every parent precedes its children, file order otherwise."""
    order: list[int] = []
    waiting = list(range(len(tree.bodies)))
    placed = {GROUND}
    while waiting:
        ready = [i for i in waiting if tree.joints[i].parent in placed]
        if not ready:
            names = ", ".join(tree.bodies[i].name for i in waiting)
            raise ModelError(
                [Fault("joints", f"a cycle or an unknown parent among {names}", "a tree")]
            )
        order.append(ready[0])
        placed.add(ready[0])
        waiting.remove(ready[0])
    return order


def _six(J: Array) -> Array:
    J = 0.5 * (J + J.T)
    return J[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]


def _shift(x: Array, Pi: Array) -> Array:
    """Return S(x) Pi: modes at a point x away from where Pi holds."""
    return np.vstack([Pi[:3], Pi[3:] + np.cross(Pi[:3], x, axisa=0, axisc=0)])


class _Frames:
    """Hinge frame of every body: file axes R_FC, file origin to hinge origin r_FC."""

    def __init__(self, tree: Tree) -> None:
        self.bodies = tree.bodies
        self.turn = [hinge_turn(joint) for joint in tree.joints]
        self.R_FC, self.r_FC = [], []
        for body, joint, turn in zip(tree.bodies, tree.joints, self.turn, strict=True):
            self.R_FC.append(joint.R_iO @ turn)
            self.r_FC.append(body.nodes[joint.child_node].r + joint.o_d)

    def point(self, i: int, node: int, offset: Array) -> tuple[Array, Array, Array]:
        """Return R_FC, position (hinge axes) and modes of a point beside a node, in file axes."""
        at, R = self.bodies[i].nodes[node], self.R_FC[i]
        modes = _shift(R.T @ offset, self.modes(i, at.Pi))
        return R, R.T @ (at.r + offset - self.r_FC[i]), modes

    def modes(self, i: int, Pi: Array) -> Array:
        """Return modes given in file axes, in hinge axes."""
        R = self.R_FC[i].T
        return np.vstack([R @ Pi[:3], R @ Pi[3:]])


def assemble(tree: Tree) -> Model:
    """Build the kernel arrays of `tree`; raises ModelError for what no kernel can integrate."""
    order = parents_first(tree)
    frames = _Frames(tree)
    m = _allocate(tree, order)
    _fill_topology(m, tree, order)
    node = 0
    for b, i in enumerate(order):
        _fill_frames(m, tree, frames, b, i)
        _fill_stages(m, tree.joints[i], frames.turn[i], b)
        node = _fill_nodes(m, tree, frames, b, i, node)
        if tree.bodies[i].n_modes:
            _fill_modes(m, tree, frames, b, i)
    m.gravity[:] = tree.gravity
    m = assemble_closures(m, tree, order, frames.point)
    w = make_workspace(m, composite=False)
    for b in range(len(order)):
        refresh_mass_properties(m, w, b)
    _require_modal_mass(m, tree, order)
    return m


def _starts(counts: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(counts, dtype=int).tolist()]


def _allocate(tree: Tree, order: list[int]) -> Model:
    n, modes = len(order), [body.n_modes for body in tree.bodies]
    flexible = [i for i in order if modes[i]]
    nf, nm = len(flexible), max(modes, default=0)
    c6 = 6 * max([sum(j.parent == i for j in tree.joints) for i in flexible], default=0)
    n_nodes = sum(len(body.nodes) for body in tree.bodies)
    n_stages = sum(len(joint.stages) for joint in tree.joints)
    n_hooks = sum(modes[j.parent] for j in tree.joints if j.parent != GROUND)
    return Model(
        body=records(n, BODY),
        child=np.zeros(sum(j.parent != GROUND for j in tree.joints), np.int64),
        stage=records(n_stages, STAGE),
        passive=np.array(_passive_stages(tree, order), np.int64),
        speed=records(sum(modes) + sum(j.n_speeds for j in tree.joints), SPEED),
        node=records(n_nodes, NODE),
        node_Pi=np.zeros((n_nodes, nm, 6)),
        mode=records(sum(modes), MODE),
        hook=records(n_hooks, HOOK),
        closure=records(0, CLOSURE),
        closure_Pi=np.zeros((0, nm, 6)),
        path=np.zeros(0, np.int64),
        loop_body=np.zeros(0, np.int64),
        spread=records(nf, SPREAD),
        spread_mode=records(sum(modes), SPREAD_MODE),
        spread_Mff=np.zeros((nf, nm, nm)),
        spread_G=np.zeros((nf, nm, nm, 3)),
        Mff=np.zeros((nf, nm, nm)),
        K=np.zeros((nf, nm, nm)),
        Dm=np.zeros((nf, nm, nm)),
        Df=np.zeros((nf, nm, nm)),
        Lam=np.zeros((nf, nm, nm)),
        Om=np.zeros((nf, c6, c6)),
        E=np.zeros((nf, c6, 6)),
        gravity=np.zeros(3),
    )


def _passive_stages(tree: Tree, order: list[int]) -> list[int]:
    """Return the stages that have a spring, damper or stop."""
    found, stage = [], 0
    for i in order:
        joint = tree.joints[i]
        laws = (joint.stiffness, joint.damping, joint.lower, joint.upper, joint.coulomb)
        has = any(values is not None for values in laws)
        found += list(range(stage, stage + len(joint.stages))) if has else []
        stage += len(joint.stages)
    return found


def _fill_topology(m: Model, tree: Tree, order: list[int]) -> None:
    """Number coordinates and speeds in file order, everything else parents first."""
    n, rank = len(order), {i: b for b, i in enumerate(order)}
    bodies, joints = tree.bodies, tree.joints
    q_start = _starts([b.n_modes + j.n_coords for b, j in zip(bodies, joints, strict=True)])
    u_start = _starts([b.n_modes + j.n_speeds for b, j in zip(bodies, joints, strict=True)])
    flex = mode = hook = 0
    for b, i in enumerate(order):
        row, joint, nm = m.body[b], joints[i], bodies[i].n_modes
        row["parent"] = n if joint.parent == GROUND else rank[joint.parent]
        row["q_start"], row["u_start"] = q_start[i], u_start[i]
        row["n_modes"], row["n_hinge"], row["locked"] = nm, joint.n_speeds, joint.locked
        row["flex"], row["mode_first"], row["hook_first"] = (flex if nm else -1), mode, hook
        flex, mode = flex + bool(nm), mode + nm
        hook += 0 if joint.parent == GROUND else bodies[joint.parent].n_modes
    children = [np.flatnonzero(m.body["parent"] == b) for b in range(n)]
    starts = _starts([len(of_b) for of_b in children])
    m.body["child_first"], m.body["child_last"] = starts[:-1], starts[1:]
    m.child[:] = np.concatenate([*children, []]).astype(np.int64)
    starts = _starts([len(joints[i].stages) for i in order])
    m.body["stage_first"], m.body["stage_last"] = starts[:-1], starts[1:]


def _fill_frames(m: Model, tree: Tree, frames: _Frames, b: int, i: int) -> None:
    """Place the joint on its parent; choose how the body goes through the sweeps."""
    joint, turn, row = tree.joints[i], frames.turn[i], m.body[b]
    origin, R_parent = joint.o_t, np.eye(3)
    if joint.parent != GROUND:
        node = tree.bodies[joint.parent].nodes[joint.parent_node]
        R_parent = frames.R_FC[joint.parent]
        origin = node.r + joint.o_t - frames.r_FC[joint.parent]
        Pi = _shift(R_parent.T @ joint.o_t, frames.modes(joint.parent, node.Pi))
        m.hook["Pi"][row["hook_first"] : row["hook_first"] + Pi.shape[1]] = Pi.T
    row["R_pO"] = (R_parent.T @ joint.R_pO @ turn).ravel()
    row["x_pO"] = R_parent.T @ origin
    row["R_FC"], row["r_FC"] = frames.R_FC[i].ravel(), frames.r_FC[i]
    row["form"] = FORM_GENERAL if joint.locked else fastest_form(tree.bodies[i], joint)


def _fill_stages(m: Model, joint: Joint, turn: Array, b: int) -> None:
    row = m.body[b]
    q, u = row["q_start"] + row["n_modes"], row["u_start"] + row["n_modes"]
    _fill_passive(m.speed[u : u + joint.n_speeds], joint)
    for s, stage in enumerate(joint.stages, start=row["stage_first"]):
        H = np.vstack([turn.T @ stage.H[:3], turn.T @ stage.H[3:]])
        here = m.stage[s]
        here["kind"], here["n"], here["q"], here["u"] = (
            STAGE_KINDS[stage.kind],
            stage.n_speeds,
            q,
            u,
        )
        here["H"][: stage.n_speeds] = H.T
        if stage.kind == "ball":  # V W^-1 = ~c
            C = np.linalg.solve(H[:3].T, H[3:].T).T
            here["c"] = 0.5 * np.array([C[2, 1] - C[1, 2], C[0, 2] - C[2, 0], C[1, 0] - C[0, 1]])
        q, u = q + stage.n_coords, u + stage.n_speeds


def _fill_passive(speed: Array, joint: Joint) -> None:
    for name in ("stiffness", "rest", "damping", "stop_stiffness", "stop_damping"):
        values = getattr(joint, name)
        speed[name] = 0.0 if values is None else values
    has_friction = joint.coulomb is not None
    speed["coulomb"] = joint.coulomb if has_friction else 0.0
    speed["breakaway"] = joint.breakaway if joint.breakaway is not None else speed["coulomb"]
    for name in ("stribeck_rate", "creep_rate"):
        values = getattr(joint, name)
        speed[name] = 1.0 if values is None else values
    speed["lower"] = -np.inf if joint.lower is None else joint.lower
    speed["upper"] = np.inf if joint.upper is None else joint.upper


def _fill_nodes(m: Model, tree: Tree, frames: _Frames, b: int, i: int, first: int) -> int:
    """Write body i's nodes from row `first` on; return the row after them."""
    R, nodes = frames.R_FC[i].T, tree.bodies[i].nodes
    file = sum(len(body.nodes) for body in tree.bodies[:i])
    for k, node in enumerate(nodes):
        row = m.node[first + k]
        row["body"], row["file"], row["m"] = b, file + k, node.m
        row["r"], row["p"] = R @ (node.r - frames.r_FC[i]), R @ node.p
        row["Jc"] = _six(R @ node.Jc @ R.T)
        m.node_Pi[first + k, : tree.bodies[i].n_modes] = frames.modes(i, node.Pi).T
    m.body[b]["node_first"], m.body[b]["node_last"] = first, first + len(nodes)
    return first + len(nodes)


def _fill_modes(m: Model, tree: Tree, frames: _Frames, b: int, i: int) -> None:
    body, joint, row = tree.bodies[i], tree.joints[i], m.body[b]
    f, nm = row["flex"], body.n_modes
    m.K[f, :nm, :nm], m.Dm[f, :nm, :nm] = body.K, body.Dm
    Pi = frames.modes(i, body.nodes[joint.child_node].Pi)
    first = row["mode_first"]
    m.mode["Pd"][first : first + nm] = _shift(frames.R_FC[i].T @ joint.o_d, Pi).T
    row["df_form"] = cheaper_form(nm, int(row["child_last"] - row["child_first"]))
    if body.distributed is not None:
        _fill_distributed(m, body.distributed, frames.R_FC[i], frames.r_FC[i], row)


def _fill_distributed(m: Model, spread: Distributed, R: Array, x: Array, row: Array) -> None:
    """Move the integrals of spread mass to the hinge frame: axes R, origin x in the file frame."""
    f, first, nm = row["flex"], row["mode_first"], row["n_modes"]
    X = np.block([[R, np.zeros((3, 3))], [_cross(x) @ R, R]])  # hinge velocity to file velocity
    Mrr, Jr = X.T @ spread.Mrr @ X, R.T @ spread.Jr @ R
    S = 0.5 * np.trace(Mrr[:3, :3] - Jr) * np.eye(3) - (Mrr[:3, :3] - Jr)  # int r r^T dm
    row["spread"] = 1
    m.spread[f]["Mrr"] = np.concatenate([_six(Mrr[:3, :3]), Mrr[:3, 3:].ravel(), _six(Mrr[3:, 3:])])
    m.spread[f]["rotary"] = np.concatenate([_six(Jr), _six(S)])
    m.spread_Mff[f, :nm, :nm], m.spread_G[f, :nm, :nm] = spread.Mff, spread.G @ R
    for k in range(nm):
        mode, P = m.spread_mode[first + k], spread.Mfr[k, 3:]
        C, Z = R.T @ (spread.C[k] - np.outer(P, x)) @ R, R.T @ spread.Z[k] @ R
        mode["Mfr"] = X.T @ spread.Mfr[k]
        mode["C"], mode["Z"], mode["y"] = C.ravel(), Z.ravel(), R.T @ spread.y[k]
        mode["W"] = _six(C - np.trace(C) * np.eye(3) - Z)


def _cross(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _require_modal_mass(m: Model, tree: Tree, order: list[int]) -> None:
    """Refuse modes that carry no mass of their own: Lam would not exist."""
    faults = []
    for b, i in enumerate(order):
        f = m.body[b]["flex"]
        if f >= 0 and not np.all(np.isfinite(m.Lam[f])):
            faults.append(
                Fault(
                    f"bodies.{tree.bodies[i].name}",
                    "modes that are dependent or move no mass",
                    "a positive definite modal mass matrix Hf Mm Hf^T",
                    "drop repeated modes and rigid-body modes",
                )
            )
    if faults:
        raise ModelError(faults)
