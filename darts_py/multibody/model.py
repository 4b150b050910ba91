"""What the kernels read and write: Model, Workspace, and the symbols used in them.

Bodies are numbered parents first; states keep the file's order. Each body has a *hinge frame*:
origin at its inboard hinge O, axes those of O turned so that a single rotation axis is z. All
that belongs to a body is about that origin in those axes, so the joint map H needs no transport
(equations: l_iO = 0, R_iO = 1). `r_FC`, `R_FC` lead back to the frame F of the model file. The
last row of `Workspace.body` is the ground.

    P, PR, PRp  articulated inertia: all of it, modes removed, hinge removed too
    z, zp       the matching bias forces           H     joint map, speeds to velocity of O
    a           velocity-product acceleration      Pd    modal matrix at the inboard hinge
    Gam, f      PRp and zp of a child, in parent axes at the child's O+
    Lam, Ups, Om, E   constants of the second form of D_f^-1 (see `flexible.py`)
    mu, g       stored with a row per mode: the transposes of equations.md's

Fixed-size data sit in record arrays: one array instead of twenty keeps a kernel call at a few
hundred machine words, and constant strides let LLVM keep a link in registers. Measured against
one array per quantity (chains of 6 and 100): 1.24x and 1.07x faster, compiled in under half the
time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from darts_py._jit import JIT_IS_OFF

Array = np.ndarray

# how a body goes through the sweeps
FORM_GENERAL = 0  # any joint, rigid or flexible
FORM_REVOLUTE = 1  # rigid body on one rotation axis: the fast path
FORM_FREE = 2  # any body that floats freely: general, with H = 1
FORM_CARRIED = 3  # as FORM_REVOLUTE, turned as prescribed

# what is prescribed of a body's accelerations, as bits
GIVEN_HINGE, GIVEN_MODES = 1, 2

# kinds of stage; the last two have quaternions
AXIS, MAP, PLANAR, BALL, FREE = range(5)

# rotations that a closure holds: none, all but those about one axis, all
TURN_FREE, TURN_AXIS, TURN_ALL = range(3)

# square matrices of a flexible body, in Model.modal: modal mass, Hf Mm Hf^T, its inverse, the
# share of spread mass in the first, and the three components of int phi_l x phi_k dm
MFF, DF, LAM, SPREAD_MFF, SPREAD_G = range(5)
N_MODAL = SPREAD_G + 3

# forms of D_f^-1
DIRECT, WOODBURY = range(2)

I, D = np.int64, np.float64

BODY = np.dtype(
    [
        ("parent", I),  # index, n_bodies for roots
        ("form", I),  # FORM_*
        ("q_start", I),  # first coordinate: modes, then joint
        ("u_start", I),  # first speed: modes, then joint
        ("n_modes", I),  # nm
        ("n_hinge", I),  # nr, speeds of the joint
        ("locked", I),  # 1: the joint does not move
        ("given", I),  # GIVEN_*: which accelerations are prescribed
        ("R_pO", D, 9),  # O+ axes to parent axes, row by row
        ("x_pO", D, 3),  # parent origin to O+
        ("Mrr", D, 21),  # spatial inertia: A (6), B (9), M (6)
        ("rotary", D, 12),  # sum of nodal Jc, and sum of m r r^T
        ("stage_first", I),
        ("stage_last", I),  # one past the last
        ("child_first", I),  # range in Model.child
        ("child_last", I),
        ("node_first", I),
        ("node_last", I),
        ("mode_first", I),  # in Model.mode
        ("hook_first", I),  # in Model.hook, one per mode of the parent
        ("flex", I),  # slot of a flexible body, or -1
        ("spread", I),  # 1: mass is also spread between the nodes
        ("df_form", I),  # DIRECT or WOODBURY
        ("PR", D, (6, 6)),  # Mrr - mu^T Lam mu
        ("R_FC", D, 9),  # hinge axes to file axes
        ("r_FC", D, 3),  # file origin to hinge origin, file axes
    ],
    align=True,
)
STAGE = np.dtype(
    [
        ("kind", I),  # AXIS ... FREE
        ("q", I),  # first coordinate
        ("u", I),  # first speed
        ("n", I),  # number of speeds
        ("H", D, (6, 6)),  # columns of the joint map, one per row
        ("c", D, 3),  # fixed point of a BALL
    ],
    align=True,
)
SPEED = np.dtype(
    [  # spring, damper, soft stops on each speed's coordinate; friction on the speed itself
        ("given", I),  # 1: its acceleration is prescribed
        ("stiffness", D),
        ("rest", D),
        ("damping", D),
        ("lower", D),
        ("upper", D),
        ("stop_stiffness", D),
        ("stop_damping", D),
        ("coulomb", D),
        ("breakaway", D),
        ("stribeck_rate", D),
        ("creep_rate", D),
    ],
    align=True,
)
NODE = np.dtype(
    [
        ("body", I),
        ("file", I),  # the node's number in file order
        ("m", D),  # mass
        ("r", D, 3),  # rest position
        ("p", D, 3),  # node to its mass centre
        ("Jc", D, 6),  # inertia about its mass centre
    ],
    align=True,
)
MODE = np.dtype(
    [
        ("Mfr", D, 6),  # row of the modal-rigid mass matrix
        ("W", D, 6),  # centrifugal integrals, symmetric 3x3
        ("Pd", D, 6),  # the mode at the inboard hinge
        ("mu", D, 6),  # row of Hf Mm [0; 1]
        ("g", D, 6),  # row of Lam mu
    ],
    align=True,
)
SPREAD = np.dtype(
    [  # mass between the nodes of a flexible body: its share of Mrr and rotary
        ("Mrr", D, 21),
        ("rotary", D, 12),
    ],
    align=True,
)
SPREAD_MODE = np.dtype(
    [  # the same mass in one mode (`tree.Distributed`)
        ("Mfr", D, 6),
        ("W", D, 6),
        ("C", D, 9),  # int phi r^T dm
        ("Z", D, 9),  # int ~psi Jc
        ("y", D, 3),  # int Jc psi
    ],
    align=True,
)
HOOK = np.dtype(
    [  # a mode of a body where a child hangs on it, or a frame of a closure (Pi only)
        ("Pi", D, 6),  # the mode at O+
        ("zeta", D, 6),  # row of Hf Q_t^T
        ("Ups", D, 6),  # row of Lam zeta
    ],
    align=True,
)

CLOSURE = np.dtype(
    [  # frame A on one body held to frame B on another (`tree.Closure`); S^T [w; v] = 0
        ("body_a", I),  # n_bodies for the ground
        ("body_b", I),
        ("row_first", I),  # its rows among all constraints
        ("n_rows", I),
        ("path_first", I),  # in Model.path: from A, from B to where they meet, then to the root
        ("path_b", I),
        ("path_trunk", I),
        ("path_last", I),
        ("all_first", I),  # bodies on any path, parents first (the same for all closures)
        ("all_last", I),
        ("hook_a", I),  # in Model.hook: modes at A
        ("hook_b", I),
        ("grounded", I),  # 1: loops pass through the ground (the same for all closures)
        ("turn", I),  # TURN_*: which rotations are held
        ("S", D, (6, 6)),  # constrained directions, B axes, one per row
        ("holds", I, 6),  # 1: the row holds positions too (0: it mixes rotation and translation)
        ("axis", D, 3),  # TURN_AXIS: the free axis, B axes
        ("x_a", D, 3),  # body origin to A
        ("R_a", D, 9),  # A axes to body axes
        ("x_b", D, 3),
        ("R_b", D, 9),
        ("shortest", D),  # m: shortest link of the loop
        ("longest", D),  # m: longest one; gaps and slides are judged in proportion to it
        ("gain_velocity", D),  # Baumgarte: 2 k
        ("gain_position", D),  # k^2
    ],
    align=True,
)


class Model(NamedTuple):
    """A spacecraft as kernels see it: structure is constant, mass properties may change."""

    body: Array  # BODY                                              (n_bodies,)
    child: Array  # children of each body in turn                     (n_bodies - n_roots,)
    stage: Array  # STAGE; a joint's stages from the parent outward   (n_stages,)
    passive: Array  # stages with spring, damper or stops             (n_passive,)
    speed: Array  # SPEED                                             (n_speeds,)
    node: Array  # NODE                                               (n_nodes,)
    node_Pi: Array  # modes at nodes: slope, displacement             (n_nodes, nm, 6)
    mode: Array  # MODE, flexible bodies in turn                      (n_modes,)
    hook: Array  # HOOK                                               (n_hooks,)
    closure: Array  # CLOSURE                                         (n_closures,)
    path: Array  # bodies of closures' paths, then all of them        (n_path,)
    spread: Array  # SPREAD                                           (n_flex,)
    spread_mode: Array  # SPREAD_MODE                                 (n_modes,)
    modal: Array  # MFF, DF, LAM, SPREAD_MFF, SPREAD_G                (7, n_flex, nm, nm)
    K: Array  # modal stiffness                                       (n_flex, nm, nm)
    Dm: Array  # modal damping                                        (n_flex, nm, nm)
    Om: Array  # zeta^T Lam zeta over all children                    (n_flex, 6c, 6c)
    E: Array  # S(x) - zeta^T g over all children                     (n_flex, 6c, 6)
    gravity: Array  # world axes                                      (3,)

    @property
    def Mff(self) -> Array:
        """Modal mass matrices (n_flex, nm, nm); not for kernels."""
        return self.modal[MFF]

    @property
    def Df(self) -> Array:
        """Hf Mm Hf^T of each flexible body (n_flex, nm, nm); not for kernels."""
        return self.modal[DF]

    @property
    def Lam(self) -> Array:
        """Df^-1 (n_flex, nm, nm); not for kernels."""
        return self.modal[LAM]


MOVING = np.dtype(
    [
        ("A", D, 9),  # rotation, body axes to parent axes
        ("w", D, 3),  # angular velocity
        ("a", D, 6),  # velocity-product acceleration
        ("P", D, 21),  # articulated inertia: own, and children's if the body is rigid
        ("z", D, 6),  # articulated bias force
        ("U", D, 6),  # fast path: P h
        ("d", D),  # fast path: 1 / (h . P h)
        ("e", D),  # fast path: force on the hinge
        ("al", D, 6),  # acceleration; the ground's is -gravity
        ("l", D, 3),  # parent origin to O, parent axes (fast path: not written)
        ("V", D, 6),  # spatial velocity (not kept by the RL sweep)
        ("wh", D, 3),  # CRL: pose rate
        ("fr", D, 6),  # load through the inboard hinge (inverse dynamics, `loads.py`)
        ("R", D, 21),  # composite inertia
        ("R_NB", D, 9),  # body axes to world axes
        ("r_BN", D, 3),  # position in the world
    ],
    align=True,
)
HINGE = np.dtype(
    [
        ("H", D, (6, 6)),  # columns of the joint map, one per row (fast path: not written)
        ("hb", D, 6),  # H beta
        ("cJ", D, 6),  # dH/dt beta
        ("L", D, (6, 6)),  # factor of DR
        ("Y", D, (6, 6)),  # L^-1 H^T PR
        ("y", D, 6),  # L^-1 eR
        ("Gam", D, 21),  # what a child hands to a flexible parent
        ("f", D, 6),  # and its force
    ],
    align=True,
)
SCRATCH = np.dtype(
    [
        ("P", D, (6, 6)),  # one body's inertia, square
        ("z", D, 6),  # one body's bias force
        ("Pc", D, (6, 6)),  # a child's inertia, square
        ("G", D, (12, 12)),  # a stage's rate matrix Gamma, and what it takes to find it
        ("Y", D, 6),  # a column on its way to the base
    ],
    align=True,
)

LOOP = np.dtype(
    [  # a closure's frames at this moment
        ("R_B", D, 9),  # B axes to reference axes
        ("C_a", D, 9),  # axes of A's body to B axes
        ("r_a", D, 3),  # reference origin to A, reference axes
        ("r_b", D, 3),
        ("p", D, 3),  # B to A, B axes
    ],
    align=True,
)
LINK = np.dtype(
    [  # a body on a loop in the axes and about the origin of the loop's reference frame
        ("R", D, 9),  # body axes to reference axes
        ("r", D, 3),  # reference origin to body origin
        ("V", D, 6),  # spatial velocity
        ("h", D, 6),  # fast path: hinge axis
        ("U", D, 6),  # fast path: P h
        ("a", D, 6),  # fast path: velocity-product acceleration
    ],
    align=True,
)


# rows of LoopScratch.row: acceleration of the gap without constraint forces, what stabilisation
# adds to it, errors of position and velocity, multipliers (the result), 1 where nothing can move,
# scratch
REST, EXTRA, GAP, RATE, FORCE, IDLE, SPARE = range(7)


# outcomes of a step
GOOD, NON_FINITE, LOOP_OPEN = range(3)


class LoopScratch(NamedTuple):
    """Scratch of `closures.py`; r counts the rows of all closures.

    `column` has blocks one below the other: force of each constraint on its way from A (6), from
    B (6), on modes (n_modes), innovations (n_speeds: raw in the fast path, else L^-1 e),
    J M^-1 J^T (r, lower triangle), normal matrix of a rank-deficient solution (r).
    """

    frame: Array  # LOOP                                              (n_closures,)
    link: Array  # LINK; the ground last                              (n_bodies + 1,)
    row: Array  # REST ... SPARE                                      (7, r)
    column: Array  # see above                        (12 + n_modes + n_speeds + 2 r, r)
    order: Array  # pivots, rank, how to decide (`redundancy.py`)     (r + 2,)


class Workspace(NamedTuple):
    """Scratch of one dynamics evaluation; valid only inside a step. `udot` is the result."""

    body: Array  # MOVING                                             (n_bodies + 1,)
    hinge: Array  # HINGE                                             (n_bodies,)
    cf: Array  # bias force on each mode                              (n_modes,)
    scratch: Array  # SCRATCH                                         (1,)
    Lf: Array  # DIRECT: factor of Df; crba: R^ff                                 (n_flex, nm, nm)
    Yf: Array  # DIRECT: Lf^-1 mu; crba: R^fr                                     (n_flex, nm, 6)
    yf: Array  # DIRECT: Lf^-1 ef; WOODBURY: D_f^-1 ef                (n_flex, nm)
    N: Array  # WOODBURY: (1 + Gd Om)^-1 Gd E                         (n_flex, 6c, 6)
    y6: Array  # WOODBURY: Ups^T ef of all children                   (6c,)
    T6: Array  # WOODBURY: [1 + Gd Om | Gd E | Gd y]                  (6c, 6c + 7)
    tau: Array  # generalized force with springs, dampers and stops   (n_speeds,)
    given: Array  # prescribed accelerations                          (n_speeds,)
    right: Array  # bias force of the composite path                  (n_speeds,)
    udot: Array  # generalized acceleration, result                   (n_speeds,)
    loop: LoopScratch
    M: Array  # mass matrix                                           (n_speeds, n_speeds)
    U: Array  # its factor, upper                                            (n_speeds, n_speeds)


def records(count: int, kind: np.dtype[Any]) -> Array:
    """Return a zeroed record array that works compiled and, for tests, un-jitted."""
    array = np.zeros(count, kind)
    return array.view(np.recarray) if JIT_IS_OFF else array


def make_workspace(m: Model, *, composite: bool = True) -> Workspace:
    """Allocate the scratch for `m`; without `composite` the mass matrix is left out."""
    n, n_speeds = m.body.shape[0], m.speed.shape[0]
    _, n_flex, nm, _ = m.modal.shape
    c6 = m.Om.shape[1]
    n_matrix = n_speeds if composite else 0
    return Workspace(
        body=records(n + 1, MOVING),
        hinge=records(n, HINGE),
        cf=np.zeros(m.mode.shape[0]),
        scratch=records(1, SCRATCH),
        Lf=np.zeros((n_flex, nm, nm)),
        Yf=np.zeros((n_flex, nm, 6)),
        yf=np.zeros((n_flex, nm)),
        N=np.zeros((n_flex, c6, 6)),
        y6=np.zeros(c6),
        T6=np.zeros((c6, c6 + 7)),
        tau=np.zeros(n_speeds),
        given=np.zeros(n_speeds),
        right=np.zeros(n_speeds),
        udot=np.zeros(n_speeds),
        loop=_make_loop_scratch(m),
        M=np.zeros((n_matrix, n_matrix)),
        U=np.zeros((n_matrix, n_matrix)),
    )


def _make_loop_scratch(m: Model) -> LoopScratch:
    r = int(m.closure["n_rows"].sum())
    return LoopScratch(
        frame=records(m.closure.shape[0], LOOP),
        link=records(m.body.shape[0] + 1, LINK),
        row=np.zeros((SPARE + 1, r)),
        column=np.zeros((12 + m.mode.shape[0] + m.speed.shape[0] + 2 * r, r)),
        order=np.zeros(r + 2, np.int64),
    )
