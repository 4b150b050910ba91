"""Random closures of every kind on a given tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from darts_py.multibody import closure_types as ct
from darts_py.multibody.tree import GROUND, Closure, Tree
from tests.reference.joint_kinds import rotation
from tests.reference.loops import LoopTwin
from tests.reference.poses import Array, inverse, twist_exponential
from tests.reference.trees import random_state

Rng = np.random.Generator


def _screw(rng: Rng) -> Array:
    h = ct.unit(rng.normal(size=3))
    tied = np.r_[-rng.uniform(-0.5, 0.5) * h, h]
    return ct.constrained_map(np.column_stack([ct.cylindrical(h), tied]))


def _slot(rng: Rng) -> Array:
    h = rng.normal(size=3)
    across = np.cross(h, rng.normal(size=3))
    return ct.constrained_map(np.column_stack([ct.planar(h), np.r_[0, 0, 0, across]]))


CLOSURES = {
    "ball": lambda rng: ct.ball(),
    "revolute": lambda rng: ct.revolute(rng.normal(size=3)),
    "weld": lambda rng: ct.weld(),
    "prismatic": lambda rng: ct.prismatic(rng.normal(size=3)),
    "cylindrical": lambda rng: ct.cylindrical(rng.normal(size=3)),
    "planar": lambda rng: ct.planar(rng.normal(size=3)),
    "point_on_plane": lambda rng: ct.point_on_plane(rng.normal(size=3)),
    "point_on_line": lambda rng: ct.point_on_line(rng.normal(size=3)),
    "map-screw": _screw,
    "map-slot": _slot,
    "map-orientation": lambda rng: ct.constrained_map(np.eye(6)[:, :3]),
}


def random_closure(
    rng: Rng, tree: Tree, name: str, kind: str, bodies: tuple[int, int] | None = None
) -> Closure:
    """Return a closure between random nodes of two bodies (or one and the ground)."""
    if bodies is None:
        a, b = rng.choice(np.arange(GROUND, len(tree.bodies)), size=2, replace=False)
        bodies = (int(a), int(b))
    nodes = [
        0 if body == GROUND else int(rng.integers(0, len(tree.bodies[body].nodes)))
        for body in bodies
    ]
    return Closure(
        name,
        kind.split("-")[0],
        CLOSURES[kind](rng),
        body_a=bodies[0],
        body_b=bodies[1],
        node_a=nodes[0],
        node_b=nodes[1],
        o_a=0.3 * rng.normal(size=3),
        o_b=0.3 * rng.normal(size=3),
        R_a=rotation(rng),
        R_b=rotation(rng),
    )


def with_closures(rng: Rng, tree: Tree, *kinds: str, ends: tuple[int, int] | None = None) -> Tree:
    """Return the tree with random closures of these kinds whose rows are independent."""
    q = random_state(tree, rng)[0]
    for k, kind in enumerate(kinds):
        for _ in range(200):
            closure = random_closure(rng, tree, f"c{k}", kind, ends)
            more = replace(tree, closures=(*tree.closures, closure))
            if independent(more, q):
                break
        else:
            raise AssertionError(f"no place for another {kind}")
        tree = more
    return tree


def independent(tree: Tree, q: Array, given: Sequence[int] = ()) -> bool:
    """Tell whether the closures' rows are far from dependent where `given` speeds are prescribed.

    Dependent rows have a solution only in closed states; random states are not closed.
    """
    twin = LoopTwin(tree)
    free = twin.free_speeds()
    free[list(given)] = False
    J = twin.closure_jacobian(q)[:, free]
    return min(J.shape) == J.shape[0] and bool(np.linalg.svd(J)[1][-1] > 0.05)


def closed_at(tree: Tree, q: Array, rng: Rng | None = None, free: float = 0.3) -> Tree:
    """Return the tree with frames A placed so that all closures hold at q, deformation included.

    A is moved along what its closure leaves free, up to `free` (rad and m).
    """
    twin = LoopTwin(tree)
    poses = twin.body_poses(q)
    closures = []
    for closure in tree.closures:
        B = twin.side_pose(closure, "b", q, poses)
        holder = twin.side_pose(replace(closure, R_a=np.eye(3), o_a=np.zeros(3)), "a", q, poses)
        A = inverse(holder) @ B @ _free_motion(closure.S, rng, free)
        closures.append(replace(closure, R_a=A[:3, :3], o_a=A[:3, 3]))
    return replace(tree, closures=tuple(closures))


def _free_motion(S: Array, rng: Rng | None, size: float) -> Array:
    """Return a pose with S^T [rotation vector; position] = 0."""
    x = size * rng.uniform(-1, 1, size=6) if rng is not None else np.zeros(6)
    x -= S @ (S.T @ x)
    G = twist_exponential(np.r_[x[:3], 0, 0, 0]).copy()
    G[:3, 3] = x[3:]
    return G


def closed_speeds(tree: Tree, q: Array, u: Array) -> Array:
    """Return the speeds nearest to u with Jc u = 0; those of locked joints stay zero."""
    twin = LoopTwin(tree)
    free = twin.free_speeds()
    J = twin.closure_jacobian(q)[:, free]
    out = np.where(free, u, 0.0)
    out[free] -= np.linalg.pinv(J, rcond=1e-10) @ (J @ out[free])
    return out
