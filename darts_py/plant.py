"""The plant: owns a spacecraft's state and inputs and advances them in compiled steps."""

from __future__ import annotations

import math
import warnings
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from darts_py.arguments import count, one_of, require, shaped, vector
from darts_py.dynamics import SPEED_HINT
from darts_py.errors import ArgumentError
from darts_py.hybrid import loads_of_workspace
from darts_py.impulses import speeds_after_impulse
from darts_py.loops import close_loops, loads_of_multipliers
from darts_py.motions import Motion
from darts_py.multibody import hybrid, integrate, integrate_stiff, loads, prescribed
from darts_py.multibody.aba import forward_dynamics
from darts_py.multibody.forms import cheaper_form, fastest_form
from darts_py.multibody.loop_projection import judge_loops
from darts_py.multibody.mass_properties import refresh_mass_properties
from darts_py.multibody.model import (
    DIRECT,
    FORCE,
    FORM_GENERAL,
    GOOD,
    LOOP_OPEN,
    NON_FINITE,
    Array,
    make_workspace,
)
from darts_py.multibody.spacecraft import Spacecraft

INTEGRATORS = ("rk4", "rk4-lie", "semi-implicit-euler", "implicit-modes")
TERMS = ("rl", "crl")
STABILISATIONS = ("project", "baumgarte")
BAUMGARTE_STEPS = 10.0  # steps in which an error of closed loops decays by e
# gaps in radians or parts of the longest link of a loop: at the end of a step, and before the first
LOOP_TOLERANCE = {"project": 1e-9, "baumgarte": 1e-2}
OPEN = 1e-6
MISMATCH = 1e-9  # m, rad or 1: how far a coordinate may be from a motion prescribed to it
EXPLICIT_LIMIT = {"rk4": 2.82, "rk4-lie": 2.82, "semi-implicit-euler": 2.0}  # omega dt
INERTIA_TOLERANCE = 1e-6  # relative, as for model files: moments are typed to six digits


class Status(IntEnum):
    """Outcome of `Plant.advance`: in the loop, outcomes are codes, not exceptions."""

    OK = GOOD
    NON_FINITE = NON_FINITE
    LOOP_OPEN = LOOP_OPEN


class Loads(NamedTuple):
    """What the parts of a spacecraft exert on each other at one instant."""

    udot: Array  # accelerations                                            (n_speeds,)
    tau: Array  # generalized forces, those that prescribed motions need    (n_speeds,)
    hinges: Array  # on each body through its inboard hinge                 (n_bodies, 6)
    closures: dict[str, Array]  # on A of each closure, about A, B axes     (6,)


class Plant:
    """State, inputs and the compiled step of one spacecraft.

    Arrays to read and to write in place; assigning to one copies into it:
        q           coordinates                                       (n_coords,)
        u           speeds                                            (n_speeds,)
        tau         generalized forces, held over a step              (n_speeds,)
        node_force  [moment; force] at each node, body axes           (n_nodes, 6)
    `model` is the plant's own copy of the spacecraft, with the masses and locks of this moment:
    `darts_py.energy(plant.model, plant.q, plant.u)`. Time is counted in whole steps:
    `t_ns = tick * dt_ns`, exactly. A plant belongs to one thread.
    """

    def __init__(
        self,
        model: Spacecraft,
        *,
        dt_ns: int,
        integrator: str = "rk4-lie",
        terms: str = "rl",
        closures: str = "project",
        loop_tolerance: float | None = None,
        q: Array | None = None,
        u: Array | None = None,
    ) -> None:
        """Make a plant in the given state, or at rest in the neutral configuration.

        Where the model has closed loops, the nearest state that closes them is taken.

        Args:
            model: what `load_model` returns; it is copied.
            dt_ns: step in integer nanoseconds.
            integrator: rk4 | rk4-lie | semi-implicit-euler | implicit-modes (modes too stiff
                for the step).
            terms: rl (strict ruthless linearisation) | crl (its energy-conserving variant).
            closures: how closed loops stay closed: project (position and speed are corrected
                after each step) | baumgarte (errors decay within some steps; cheaper).
            loop_tolerance: greatest gap that a step may leave, in radians or in parts of the
                longest link of its loop; by default 1e-9 with project, 1e-2 with baumgarte. A
                step that leaves more is not taken (LOOP_OPEN).
            q: coordinates (n_coords,) to start from; neutral if left out.
            u: speeds (n_speeds,) to start with; zero if left out.
        """
        require(isinstance(model, Spacecraft), "model", type(model).__name__, "a loaded model")
        one_of("integrator", integrator, INTEGRATORS)
        one_of("terms", terms, TERMS)
        one_of("closures", closures, STABILISATIONS)
        hint = "nanoseconds: 1 ms is 1_000_000"
        self._dt_ns, self._integrator, self._terms = (
            count("dt_ns", dt_ns, 1, hint),
            integrator,
            terms,
        )
        self.tick = 0
        self.model = model.copy()
        m = self.model.arrays
        self._q, self._u = close_loops(self.model, model.neutral() if q is None else q, u)
        self._stepped = m  # what the step integrates: m and its gains
        if closures == "baumgarte":
            k, stabilised = 1.0 / (BAUMGARTE_STEPS * self.dt_s), m.closure.copy()
            stabilised["gain_velocity"], stabilised["gain_position"] = 2.0 * k, k * k
            self._stepped = m._replace(closure=stabilised)
        self._motions: dict[int, Motion] = {}
        table, tolerance = prescribed.no_motions(), LOOP_TOLERANCE[closures]
        if loop_tolerance is not None:
            tolerance = float(shaped("loop_tolerance", loop_tolerance, ()))
            require(tolerance > 0.0, "loop_tolerance", tolerance, "a number > 0")
        project = closures == "project"
        self._rules = integrate.make_rules(m, table, project=project, tolerance=tolerance)
        self._tau, self._node_force = np.zeros(model.n_speeds), np.zeros((m.node.shape[0], 6))
        self._workspace = make_workspace(m, composite=False)
        self._stages = integrate.make_stages(model.n_coords, model.n_speeds)
        self._split = integrate_stiff.split_model(self._stepped)
        sizes = (model.n_coords, model.n_speeds, m.node.shape[0])
        self._stiff_stages = integrate_stiff.make_stiff_stages(*sizes)
        self._locked = self._locked_speeds()
        self._refresh_split()
        self._warn_of_stiff_modes()

    # -- what it is made of ---------------------------------------------------------------

    dt_ns = property(lambda self: self._dt_ns, doc="Step in nanoseconds.")
    integrator = property(lambda self: self._integrator, doc="Name of the integrator.")
    terms = property(lambda self: self._terms, doc="Velocity products: rl or crl.")
    dt_s = property(lambda self: self._dt_ns * 1e-9, doc="Step in seconds.")
    t_ns = property(lambda self: self.tick * self._dt_ns, doc="Simulated time in nanoseconds.")

    @property
    def q(self) -> Array:
        """Coordinates (n_coords,)."""
        return self._q

    @q.setter
    def q(self, value: Array) -> None:
        self._q[:] = vector("q", value, self._q.size, "see model.coord_names")

    @property
    def u(self) -> Array:
        """Speeds (n_speeds,)."""
        return self._u

    @u.setter
    def u(self, value: Array) -> None:
        self._u[:] = vector("u", value, self._u.size, SPEED_HINT)

    @property
    def tau(self) -> Array:
        """Generalized forces (n_speeds,)."""
        return self._tau

    @tau.setter
    def tau(self, value: Array) -> None:
        self._tau[:] = vector("tau", value, self._tau.size, SPEED_HINT)

    @property
    def node_force(self) -> Array:
        """Node forces (n_nodes, 6), rows by `model.node_index`."""
        return self._node_force

    @node_force.setter
    def node_force(self, value: Array) -> None:
        self._node_force[:] = shaped("node_force", value, self._node_force.shape)

    # -- the step -------------------------------------------------------------------------

    def advance(self, n_steps: int = 1) -> Status:
        """Advance by n_steps.

        Otherwise than OK, state and tick stay at the last good step. NON_FINITE means that the next
        step would leave the finite numbers; LOOP_OPEN that it would leave loops open (a prescribed
        motion beyond their reach, a step too long), or that the state was set so that they are:
        see `close_loops`.
        """
        n_steps = count("n_steps", n_steps, 0)
        for first, last in self._locked:
            self._u[first:last] = 0.0
        if self._loops_are_open():
            return Status.LOOP_OPEN
        done, outcome = self._run(n_steps)
        self.tick += done
        return Status(outcome)

    def _run(self, n: int) -> tuple[int, int]:
        """Make the one compiled call; return how many steps were good, and what stopped them."""
        m, rules, w, s = self._stepped, self._rules, self._workspace, self._stages
        state = (self._q, self._u, self._tau, self._node_force, self._crl)
        time = (self.dt_s, self.tick, n)
        if self._integrator == "implicit-modes":
            split, stages = self._split, self._stiff_stages
            return integrate_stiff.advance_stiff(m, split, rules, w, stages, *state, *time)
        if self._integrator == "semi-implicit-euler":
            return integrate.advance_semi_implicit(m, rules, w, s, *state, *time)
        lie = self._integrator == "rk4-lie"
        return integrate.advance_rk4(m, rules, w, s, *state, *time, lie)

    @property
    def _crl(self) -> bool:
        return self._terms == "crl"

    # -- closed loops -------------------------------------------------------------------

    def close_loops(self) -> None:
        """Move the state to the nearest one with closed loops; needed after setting q or u."""
        self._q[:], self._u[:] = close_loops(self.model, self._q, self._u)

    def _loops_are_open(self) -> bool:
        m, w = self.model.arrays, self._workspace
        if m.closure.shape[0] == 0:
            return False
        limit = max(OPEN, self._rules.tolerance)
        gap, opening = judge_loops(m, w, self._q, self._u, limit)
        return not (gap <= 1.0 and opening <= self._rules.opening)

    # -- prescribed motion and loads ------------------------------------------------------

    def prescribe(self, name: str, motion: Motion) -> None:
        """Let a joint or mode move as told, from now on.

        A speed that differs from the motion's is brought to it by an impulse, as a drive would
        that grips at once: the other speeds take it up. The position must be the motion's.

        Args:
            name: a coordinate ("drive.angle", "panel.mode_1") or a speed ("base.wx").
            motion: see `Motion`.
        """
        require(isinstance(motion, Motion), "motion", type(motion).__name__, "a Motion")
        speed, coord = self._movable(name)
        t = self.tick * self.dt_s
        motion = motion.started(t, 0.0 if coord < 0 else self._q[coord], self._u[speed])
        position = motion(t)[0]
        if coord >= 0 and abs(position - self._q[coord]) > MISMATCH:
            raise ArgumentError(
                f"motion of {name!r}", got=f"{position:.9g} at t = {t:g} s",
                expected=f"{self._q[coord]:.9g}, where it is", hint="set plant.q first",
            )  # fmt: skip
        before = dict(self._motions)
        self._motions[speed] = motion
        try:
            self._jump()
        except ArgumentError:
            self._motions = before
            raise
        self._apply_motions()

    def release(self, name: str) -> None:
        """Let a prescribed joint or mode move freely again."""
        speed, _ = self._movable(name)
        require(speed in self._motions, "name", repr(name), self._known_motions())
        del self._motions[speed]
        self._apply_motions()

    def loads(self, at: str = "body") -> Loads:
        """Return accelerations, forces and loads of this instant.

        Args:
            at: where hinge loads are given, as for `hinge_loads`.
        """
        m, w, u = self.model.arrays, self._workspace, self._u
        prescribed.impose_now(self._rules.motions, self.tick * self.dt_s, self._q, u, w.given)
        forward_dynamics(m, w, self._q, u, self._tau, self._node_force, self._crl)
        loads.sweep_loads(m, w)
        tau = np.zeros_like(u)
        loads.required_forces(m, w, self._tau, tau)
        closures = loads_of_multipliers(self.model, w.loop.row[FORCE])
        return Loads(w.udot.copy(), tau, loads_of_workspace(self.model, w, at), closures)

    def required_force(self, name: str) -> float:
        """Return the generalized force that a prescribed motion needs now."""
        speed, _ = self._movable(name)
        require(speed in self._motions, "name", repr(name), self._known_motions())
        return float(self.loads().tau[speed])

    def _known_motions(self) -> str:
        known = ", ".join(self.model.speed_names[k] for k in self._motions) or "none"
        return f"a prescribed motion: {known}"

    def _movable(self, name: str) -> tuple[int, int]:
        """Return the speed meant by a coordinate's or speed's name, and its coordinate or -1."""
        speed, coord = self.model.find_movable(name)
        held = self.model.is_locked(speed)
        require(not held, "name", repr(name), "a joint that is not locked", "unlock it first")
        return speed, coord

    def _apply_motions(self) -> None:
        """Write the prescribed motions into the kernel arrays."""
        m, tree = self.model.arrays, self.model.tree
        m.speed["given"] = m.body["given"] = 0
        for b, i in enumerate(self.model.order):
            row, n_modes = m.body[b], tree.bodies[i].n_modes
            n_children = int(row["child_last"] - row["child_first"])
            row["form"] = (
                FORM_GENERAL if row["locked"] else fastest_form(tree.bodies[i], tree.joints[i])
            )
            row["df_form"] = cheaper_form(n_modes, n_children)
        m.body["df_form"][m.path] = DIRECT
        hybrid.mark_given(m, np.array(list(self._motions), np.int64))
        coords = dict(self.model.movables.values())
        table = [(k, coords[k], motion.pieces) for k, motion in self._motions.items()]
        self._rules = self._rules._replace(motions=prescribed.motion_table(table))
        self._refresh_split()

    # -- locks ----------------------------------------------------------------------------

    def lock(self, joint: str) -> None:
        """Stop a joint where it is, as a brake between the two bodies would that grips at once.

        Momentum is kept, energy is not: the other speeds take the impulse.
        """
        _, row = self._joint_row(joint)
        first = int(row["u_start"] + row["n_modes"])
        speeds = np.arange(first, first + int(row["n_hinge"]))
        moved = [self.model.speed_names[k] for k in speeds if k in self._motions]
        require(not moved, "joint", repr(joint), "a joint without prescribed motion", "release it")
        if row["locked"]:
            return
        row["locked"], row["form"] = 1, FORM_GENERAL
        self._locked = self._locked_speeds()
        try:
            self._jump()
        except ArgumentError:
            self.unlock(joint)
            raise
        self._refresh_split()

    def unlock(self, joint: str) -> None:
        """Let a locked joint move again."""
        i, row = self._joint_row(joint)
        form = fastest_form(self.model.tree.bodies[i], self.model.tree.joints[i])
        row["locked"], row["form"] = 0, form
        self._locked = self._locked_speeds()
        self._refresh_split()

    def _jump(self) -> None:
        """Bring locked joints and prescribed motions to their speeds by impulses."""
        wanted = {int(k): 0.0 for first, last in self._locked for k in range(first, last)}
        wanted |= {k: motion(self.tick * self.dt_s)[1] for k, motion in self._motions.items()}
        self._u[:] = speeds_after_impulse(self.model, self._q, self._u, wanted)

    def _joint_row(self, name: str) -> tuple[int, Any]:
        names = [joint.name for joint in self.model.tree.joints if joint.n_speeds]
        known = isinstance(name, str) and name in names
        require(known, "joint", repr(name), "a joint that moves: " + ", ".join(names))
        i = [joint.name for joint in self.model.tree.joints].index(name)
        return i, self.model.arrays.body[self.model.kernel_body[i]]

    def _locked_speeds(self) -> list[tuple[int, int]]:
        first = self.model.arrays.body["u_start"] + self.model.arrays.body["n_modes"]
        last = first + self.model.arrays.body["n_hinge"]
        locked = self.model.arrays.body["locked"]
        return [(int(a), int(b)) for a, b, held in zip(first, last, locked, strict=True) if held]

    # -- masses ---------------------------------------------------------------------------

    def set_node_mass(
        self,
        node: str,
        mass_kg: float,
        center_of_mass_m: Array | None = None,
        inertia_kg_m2: Array | None = None,
    ) -> None:
        """Change the mass, and where given the mass centre and inertia, of "body.node".

        Speeds stay as they are: whatever left or came did so with the node's own velocity.

        Args:
            node: "body.node"; the mass of a rigid body sits on its node `origin`.
            mass_kg: new mass, >= 0.
            center_of_mass_m: node to its mass centre, body axes (3,).
            inertia_kg_m2: about that mass centre, body axes (3, 3).
        """
        mass = float(shaped("mass_kg", mass_kg, ()))
        require(mass >= 0.0, "mass_kg", mass, "a number >= 0")
        row = self.model.arrays.node[self.model.kernel_node[self.model.find_node(node)]]
        before, b = row.copy(), int(row["body"])
        R = self.model.arrays.body[b]["R_FC"].reshape(3, 3).T
        row["m"] = mass
        if center_of_mass_m is not None:
            row["p"] = R @ shaped("center_of_mass_m", center_of_mass_m, (3,))
        if inertia_kg_m2 is not None:
            J = R @ _checked_inertia(shaped("inertia_kg_m2", inertia_kg_m2, (3, 3))) @ R.T
            row["Jc"] = J[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
        self._refresh_masses(b)
        if not self._can_accelerate():
            for name in ("m", "p", "Jc"):
                row[name] = before[name]
            self._refresh_masses(b)
            raise ArgumentError(
                f"mass of {node!r}", got=f"{mass} kg", expected="mass left on every moving part",
                hint="nothing resists some joint or mode now; the old mass stays",
            )  # fmt: skip

    def _refresh_masses(self, b: int) -> None:
        refresh_mass_properties(self.model.arrays, self._workspace, b)
        self._refresh_split()

    def _can_accelerate(self) -> bool:
        """Tell whether forward dynamics is regular in the present position."""
        m, w = self.model.arrays, self._workspace
        still, no_force = np.zeros_like(self._u), np.zeros_like(self._node_force)
        forward_dynamics(m, w, self._q, still, still, no_force, self._crl)
        return bool(np.all(np.isfinite(w.udot)))

    # -- stiff modes ----------------------------------------------------------------------

    def _refresh_split(self) -> None:
        m, w, elastic = self.model.arrays, self._workspace, self._split.elastic
        if self._integrator == "implicit-modes":
            integrate_stiff.refresh_split(m, elastic, w, self.dt_s)

    def _warn_of_stiff_modes(self) -> None:
        """Say when the fastest mode of a body, held at its hinge, is too fast for the step."""
        limit = EXPLICIT_LIMIT.get(self._integrator, math.inf)
        m = self.model.arrays
        for b, i in enumerate(self.model.order):
            f, nm = m.body[b]["flex"], m.body[b]["n_modes"]
            if f < 0:
                continue
            squares = np.linalg.eigvals(m.Lam[f, :nm, :nm] @ m.K[f, :nm, :nm]).real
            omega_dt = math.sqrt(max(squares.max(), 0.0)) * self.dt_s
            if omega_dt > limit:
                warnings.warn(
                    f"body {self.model.tree.bodies[i].name!r}: fastest mode has omega * dt = "
                    f"{omega_dt:.3g}, {self._integrator} is stable to {limit:g}; shorten dt_ns or "
                    "use integrator='implicit-modes'",
                    RuntimeWarning,
                    stacklevel=3,
                )


def _checked_inertia(J: Array) -> Array:
    """Return J if some distribution of mass has it: symmetric, positive, triangle inequality."""
    slack = INERTIA_TOLERANCE * float(np.abs(J).max(initial=0.0))
    a, b, c = np.linalg.eigvalsh(0.5 * (J + J.T))
    real = np.abs(J - J.T).max() <= slack and a >= -slack and a + b >= c - slack
    expected = "symmetric, positive, principal moments that obey the triangle inequality"
    require(real, "inertia_kg_m2", J.tolist(), expected)
    return J
