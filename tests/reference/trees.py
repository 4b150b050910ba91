"""Random trees with healthy mass properties, random states, and a hypothesis strategy.

`DARTS_REDUCED=1` (set where the kernels run without JIT) caps every tree at 6 bodies and 3 modes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from darts_py.multibody.tree import GROUND, Body, Joint, Node, Tree
from tests.reference.joint_kinds import (
    ALL_KINDS,
    JOINTS,
    cross_matrix,
    friction_elements,
    passive_elements,
    quaternion_stage,
    rotation,
)

Array = np.ndarray
Rng = np.random.Generator

REDUCED = os.environ.get("DARTS_REDUCED") == "1"
REDUCED_BODIES, REDUCED_MODES = 6, 3


def reduced(full: int, small: int) -> int:
    """Return `full`, or `small` where the kernels run without JIT."""
    return min(full, small) if REDUCED else full


# -- bodies -----------------------------------------------------------------------------------


def inertia(rng: Rng, scale: float) -> Array:
    """Return a central inertia: from a positive second moment, so the triangle inequality holds."""
    half = rng.normal(size=(3, 3))
    moment = scale * (half @ half.T / 3.0 + 0.2 * np.eye(3))
    return np.trace(moment) * np.eye(3) - moment


def _spatial(node: Node) -> Array:
    mp = node.m * cross_matrix(node.p)
    J = node.Jc + mp @ cross_matrix(node.p).T
    return np.block([[J, mp], [-mp, node.m * np.eye(3)]])


def _shift(r: Array) -> Array:
    return np.block([[np.eye(3), np.zeros((3, 3))], [-cross_matrix(r), np.eye(3)]])


def free_free(nodes: Sequence[Node]) -> list[Array]:
    """Return the modes with all rigid momentum removed: Mfr = 0, and Pd != 0."""
    Mrr = sum(_shift(n.r).T @ _spatial(n) @ _shift(n.r) for n in nodes)
    Mfr = sum(n.Pi.T @ _spatial(n) @ _shift(n.r) for n in nodes)
    rigid = np.linalg.solve(Mrr, Mfr.T)
    return [n.Pi - _shift(n.r) @ rigid for n in nodes]


def random_body(rng: Rng, name: str, n_modes: int, modes: str, hinge_node: int = 0) -> Body:
    """Return a body whose mass sits on nodes; `modes` is cantilever, free-free or general."""
    n_nodes = 2 + -(-n_modes // 3)
    nodes = []
    for j in range(n_nodes):
        Pi = np.vstack([0.4 * rng.normal(size=(3, n_modes)), 0.3 * rng.normal(size=(3, n_modes))])
        if modes == "cantilever" and j == hinge_node:
            Pi[:] = 0.0
        m = rng.uniform(0.5, 2.0)
        nodes.append(
            Node(
                f"n{j}",
                r=0.5 * rng.normal(size=3),
                m=m,
                p=0.1 * rng.normal(size=3),
                Jc=inertia(rng, 0.1 * m),
                Pi=Pi,
            )
        )
    if modes == "free-free":
        nodes = [replace(n, Pi=Pi) for n, Pi in zip(nodes, free_free(nodes), strict=True)]
    half = rng.normal(size=(n_modes, n_modes))
    K = np.diag(rng.uniform(5, 40, n_modes)) + half @ half.T
    return Body(name, tuple(nodes), K=K, Dm=0.02 * K)


# -- trees ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Options:
    """What a random tree is made of."""

    kinds: Sequence[str] = ALL_KINDS
    max_modes: int = 3
    flexible: float = 0.6  # share of bodies with modes
    modes: str = "mixed"  # cantilever, free-free, general or mixed
    n_roots: int = 1
    root: str | None = None  # kind of the root joints, if not drawn like the others
    branching: float = 0.5  # 0: a chain; 1: parents drawn evenly
    shuffled: bool = True  # parents may come later in the file
    passive: float = 0.0  # share of joints with springs, dampers and stops
    friction: float = 0.0  # share of joints with dry friction
    locked: float = 0.0  # share of locked joints
    gravity: bool = True


def _parents(rng: Rng, n_bodies: int, options: Options) -> list[int]:
    n_roots = min(options.n_roots, n_bodies)
    parents = [GROUND] * n_roots
    for i in range(n_roots, n_bodies):
        draw = rng.random() < options.branching
        parents.append(int(rng.integers(0, i)) if draw else i - 1)
    return parents


def _flavour(rng: Rng, modes: str) -> str:
    return str(rng.choice(["cantilever", "free-free", "general"])) if modes == "mixed" else modes


def _kind(rng: Rng, parent: int, bodies: Sequence[Body], options: Options) -> str:
    kind = str(rng.choice(list(options.kinds)))
    if parent == GROUND and options.root:
        return options.root
    alone = len(bodies) == 1 and bodies[0].n_modes == 0
    return "revolute" if alone and kind == "fixed" else kind  # something must move


def _joint(rng: Rng, name: str, parent: int, bodies: Sequence[Body], options: Options) -> Joint:
    kind = _kind(rng, parent, bodies, options)
    stages = JOINTS[kind](rng)
    springs = passive_elements(stages, rng) if stages and rng.random() < options.passive else {}
    if stages and options.friction and rng.random() < options.friction:
        springs |= friction_elements(stages, rng)
    n_parent_nodes = 1 if parent == GROUND else len(bodies[parent].nodes)
    return Joint(
        name,
        kind,
        stages,
        parent=parent,
        parent_node=int(rng.integers(0, n_parent_nodes)),
        o_t=0.2 * rng.normal(size=3),
        R_pO=rotation(rng),
        child_node=0,
        o_d=0.2 * rng.normal(size=3),
        R_iO=rotation(rng),
        locked=bool(stages) and bool(rng.random() < options.locked),
        **springs,
    )


def random_tree(rng: Rng, n_bodies: int, options: Options | None = None) -> Tree:
    """Return a tree of n_bodies; the same generator state gives the same tree."""
    options = options or Options()
    if REDUCED:
        n_bodies = min(n_bodies, REDUCED_BODIES)
        options = replace(options, max_modes=min(options.max_modes, REDUCED_MODES))
    parents = _parents(rng, n_bodies, options)
    bodies: list[Body] = []
    joints: list[Joint] = []
    for i, parent in enumerate(parents):
        flexible = options.max_modes > 0 and rng.random() < options.flexible
        n_modes = int(rng.integers(1, options.max_modes + 1)) if flexible else 0
        bodies.append(random_body(rng, f"b{i}", n_modes, _flavour(rng, options.modes)))
        joints.append(_joint(rng, f"j{i}", parent, bodies, options))
    gravity = rng.normal(size=3) * 3.0 if options.gravity else np.zeros(3)
    tree = Tree("random", tuple(bodies), tuple(joints), gravity=gravity)
    return reordered(tree, rng.permutation(n_bodies)) if options.shuffled else tree


def reordered(tree: Tree, order: Sequence[int]) -> Tree:
    """Return the same tree with its bodies listed in another order."""
    place = {int(old): new for new, old in enumerate(order)} | {GROUND: GROUND}
    joints = [replace(tree.joints[k], parent=place[tree.joints[k].parent]) for k in order]
    return replace(tree, bodies=tuple(tree.bodies[k] for k in order), joints=tuple(joints))


# -- states -----------------------------------------------------------------------------------


def random_joint_coordinates(joint: Joint, rng: Rng) -> Array:
    """Return random coordinates, quaternions of unit length and either sign."""
    parts = []
    for stage in joint.stages:
        x = 0.8 * rng.normal(size=stage.n_coords)
        if quaternion_stage(stage):
            x[:4] = rng.normal(size=4)
            x[:4] /= np.linalg.norm(x[:4])
        parts.append(x)
    return np.concatenate(parts) if parts else np.zeros(0)


def random_state(tree: Tree, rng: Rng, bend: float = 0.05) -> tuple[Array, Array]:
    """Return random coordinates q and speeds u; speeds of locked joints are zero."""
    q, u = [], []
    for body, joint in zip(tree.bodies, tree.joints, strict=True):
        q += [bend * rng.normal(size=body.n_modes), random_joint_coordinates(joint, rng)]
        beta = rng.normal(size=joint.n_speeds) * (not joint.locked)
        u += [0.5 * rng.normal(size=body.n_modes), beta]
    return np.concatenate(q), np.concatenate(u)


def random_forces(tree: Tree, rng: Rng, n: int = 2) -> dict[str, Array]:
    """Return random external forces on some nodes."""
    names = [f"{body.name}.{node.name}" for body in tree.bodies for node in body.nodes]
    return {str(name): rng.normal(size=6) for name in rng.choice(names, size=n)}


@st.composite
def trees(
    draw: st.DrawFn,
    max_bodies: int = 12,
    max_modes: int = 5,
    kinds: Sequence[str] = ALL_KINDS,
    **fixed: object,
) -> Tree:
    """Draw a tree; shrinks towards one rigid body on the first of `kinds`."""
    n_bodies = draw(st.integers(1, reduced(max_bodies, REDUCED_BODIES)))
    chosen = draw(st.lists(st.sampled_from(list(kinds)), min_size=1, max_size=6, unique=True))
    options = Options(
        kinds=chosen,
        max_modes=draw(st.integers(0, reduced(max_modes, REDUCED_MODES))),
        flexible=draw(st.sampled_from([0.0, 0.5, 1.0])),
        modes=draw(st.sampled_from(["cantilever", "free-free", "mixed"])),
        n_roots=draw(st.integers(1, 3)),
        branching=draw(st.sampled_from([0.0, 0.5, 1.0])),
        shuffled=draw(st.booleans()),
        passive=draw(st.sampled_from([0.0, 0.5])),
    )
    rng = np.random.default_rng(draw(seeds()))
    return random_tree(rng, n_bodies, replace(options, **fixed))


def seeds() -> st.SearchStrategy[int]:
    """Draw the seed of a random generator."""
    return st.integers(0, 2**32 - 1)
