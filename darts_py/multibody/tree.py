"""A spacecraft as numbers: bodies, their nodes and modes, and the joints that make them a tree.

This is the plain description that YAML files and test generators produce and that
`assemble.assemble` turns into kernel arrays. Symbols are those of Jain & Rodriguez 1992:
body frame F, hinge frame O on the child, O+ on the parent. Nothing here is checked; the
checks live in `spec` and in `assemble`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

GROUND = -1  # parent index of a root body

Array = np.ndarray


def _zeros3() -> Array:
    return np.zeros(3)


@dataclass(frozen=True)
class Node:
    """A named point of a body; it may carry mass and it moves with the body's modes."""

    name: str
    r: Array = field(default_factory=_zeros3)  # rest position, F axes                     (3,)
    m: float = 0.0  # mass, kg
    p: Array = field(default_factory=_zeros3)  # node to its mass centre, F axes           (3,)
    Jc: Array = field(default_factory=lambda: np.zeros((3, 3)))  # about its mass centre   (3, 3)
    Pi: Array = field(default_factory=lambda: np.zeros((6, 0)))  # slope; displacement     (6, nm)
    R: Array = field(default_factory=lambda: np.eye(3))  # its axes to F axes; data only   (3, 3)


@dataclass(frozen=True)
class Distributed:
    """Mass spread over a flexible body, as the integrals that its motion needs.

    With r the rest position, phi_k the displacement and psi_k the slope of mode k, Jc the rotary
    inertia per mass (thin sections have some, solids none); F origin and axes. A consistent
    finite-element mass matrix gives Mff, Mfr and Mrr without any of these fields.
    """

    Mrr: Array  # rigid spatial inertia, [[J, ~mc], [-~mc, m 1]]                           (6, 6)
    Mfr: Array  # row k: angular, linear momentum of mode k                                (nm, 6)
    Mff: Array  # modal mass                                                               (nm, nm)
    C: Array  # int phi_k r^T dm                                                        (nm, 3, 3)
    G: Array  # int phi_l x phi_k dm, antisymmetric in k, l                            (nm, nm, 3)
    Jr: Array  # int Jc, the rotary part of J                                              (3, 3)
    Z: Array  # int ~psi_k Jc                                                           (nm, 3, 3)
    y: Array  # int Jc psi_k                                                               (nm, 3)


@dataclass(frozen=True)
class Shape:
    """What a body looks like (`visual`) or would hit (`collision`); the dynamics ignores it."""

    role: str  # "visual" or "collision"
    kind: str  # "mesh", "box", "cylinder" or "sphere"
    name: str = ""
    mesh: str = ""  # path or URI, as the model file has it
    size: Array = field(default_factory=_zeros3)  # scale | x, y, z | radius, length | radius
    r: Array = field(default_factory=_zeros3)  # its origin, F axes                        (3,)
    R: Array = field(default_factory=lambda: np.eye(3))  # its axes to F axes              (3, 3)
    color: Array | None = None  # red, green, blue, opacity                                (4,)


@dataclass(frozen=True)
class Body:
    """A rigid (`nm = 0`) or flexible body: its mass sits on its nodes, or is spread between them.

    Mass on nodes and distributed mass add up: a boom with a lumped mass at its tip has both.
    """

    name: str
    nodes: tuple[Node, ...]
    K: Array = field(default_factory=lambda: np.zeros((0, 0)))  # modal stiffness        (nm, nm)
    Dm: Array = field(default_factory=lambda: np.zeros((0, 0)))  # modal damping         (nm, nm)
    distributed: Distributed | None = None
    appearance: tuple[Shape, ...] = ()

    @property
    def n_modes(self) -> int:
        """Number of modes."""
        return self.K.shape[0]


@dataclass(frozen=True)
class Stage:
    """One simple joint: a constant joint map whose motions form a group.

    kind  `axis`    one column of H, coordinate e along exp(e H)
          `map`     r columns, product of exponentials (column 1 next to the child)
          `planar`  (x, y) in inboard axes, then the angle about z; speeds [v1, v2, w3]
          `ball`    unit quaternion (w, x, y, z); H is (6, 3) of rank 3 in rotation
          `free`    quaternion, then position in inboard axes; H is (6, 6), regular
    H is in the axes of the stage's outboard side.                                        (6, r)
    """

    kind: str
    H: Array

    @property
    def n_speeds(self) -> int:
        """Number of speeds."""
        return self.H.shape[1]

    @property
    def n_coords(self) -> int:
        """Number of coordinates: one more than speeds where a quaternion is used."""
        return self.H.shape[1] + (self.kind in ("ball", "free"))


@dataclass(frozen=True)
class Limits:
    """What a joint is built for, per speed; data only, infinite where nothing is declared."""

    lower: Array  # rad or m                                                               (nr,)
    upper: Array  #                                                                        (nr,)
    velocity: Array  # rad/s or m/s                                                        (nr,)
    effort: Array  # N m or N                                                              (nr,)


@dataclass(frozen=True)
class Joint:
    """Inboard joint of a body: O+ on the parent's node t, O on the body's node d.

    `stages` are listed from the parent outward, and so are coordinates and speeds.
    Spring, stop and damper values are per speed; a quaternion's three springs must be equal.
    A limited coordinate has finite `lower` or `upper`; quaternion entries are infinite.
    """

    name: str
    kind: str  # the word in the model file
    stages: tuple[Stage, ...]
    parent: int = GROUND
    parent_node: int = 0  # index of node t in the parent's nodes (unused for ground)
    o_t: Array = field(default_factory=_zeros3)  # node t to O+ origin, parent F axes      (3,)
    R_pO: Array = field(default_factory=lambda: np.eye(3))  # O+ axes to parent F axes     (3, 3)
    child_node: int = 0  # index of node d in the body's nodes
    o_d: Array = field(default_factory=_zeros3)  # node d to O origin, body F axes         (3,)
    R_iO: Array = field(default_factory=lambda: np.eye(3))  # O axes to body F axes        (3, 3)
    stiffness: Array | None = None  # spring, N m/rad or N/m                               (nr,)
    rest: Array | None = None  # spring's free coordinate (quaternion entries: 0)          (nr,)
    damping: Array | None = None  # N m s/rad or N s/m                                     (nr,)
    lower: Array | None = None  # soft stops                                               (nr,)
    upper: Array | None = None  #                                                          (nr,)
    stop_stiffness: Array | None = None  #                                                 (nr,)
    stop_damping: Array | None = None  #                                                   (nr,)
    coulomb: Array | None = None  # sliding friction, N m or N                             (nr,)
    breakaway: Array | None = None  # friction at the onset of sliding, >= coulomb         (nr,)
    stribeck_rate: Array | None = None  # speed at which half of the excess is gone        (nr,)
    creep_rate: Array | None = None  # speed below which friction is viscous               (nr,)
    locked: bool = False
    limits: Limits | None = None

    @property
    def n_speeds(self) -> int:
        """Number of speeds, beta."""
        return sum(stage.n_speeds for stage in self.stages)

    @property
    def n_coords(self) -> int:
        """Number of coordinates, q."""
        return sum(stage.n_coords for stage in self.stages)


@dataclass(frozen=True)
class Closure:
    """A constraint that closes a loop: frame A on a node of one body, frame B on another's.

    S^T [w; v] = 0, where w is the angular velocity of A relative to B and v the velocity of A's
    origin as seen from B, both in B axes; likewise S^T [rotation vector; position] = 0 of A in B.
    """

    name: str
    kind: str  # the word in the model file
    S: Array  # constrained directions, B axes, orthonormal columns                        (6, r)
    body_a: int
    body_b: int  # either may be GROUND
    node_a: int = 0  # index in the body's nodes (unused for ground)
    node_b: int = 0
    o_a: Array = field(default_factory=_zeros3)  # node to A's origin, body F axes         (3,)
    o_b: Array = field(default_factory=_zeros3)  #                                         (3,)
    R_a: Array = field(default_factory=lambda: np.eye(3))  # A axes to body F axes         (3, 3)
    R_b: Array = field(default_factory=lambda: np.eye(3))  #                               (3, 3)


@dataclass(frozen=True)
class Tree:
    """A spacecraft: `joints[i]` is the inboard joint of `bodies[i]`; any body order is allowed."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    gravity: Array = field(default_factory=_zeros3)  # uniform field, world axes, m/s^2    (3,)
    closures: tuple[Closure, ...] = ()
