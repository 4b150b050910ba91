"""The plant: owns a spacecraft's state and inputs and advances them in compiled steps."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np

from darts_py.errors import ArgumentError
from darts_py.multibody import integrate, integrate_stiff
from darts_py.multibody.assemble import fastest_form
from darts_py.multibody.mass_properties import refresh_mass_properties
from darts_py.multibody.model import FORM_GENERAL, Array, Model, make_workspace
from darts_py.multibody.spacecraft import Spacecraft

INTEGRATORS = ("rk4", "rk4-lie", "semi-implicit-euler", "implicit-modes")
TERMS = ("rl", "crl")
EXPLICIT_LIMIT = {"rk4": 2.78, "rk4-lie": 2.78, "semi-implicit-euler": 2.0}  # omega dt


class Status(IntEnum):
    """Outcome of `Plant.advance`: in the loop, outcomes are codes, not exceptions."""

    OK = integrate.OK
    NON_FINITE = integrate.NON_FINITE


class Plant:
    """State, inputs and the compiled step of one spacecraft.

    Fields, all arrays written in place:
        q           coordinates                                       (n_coords,)
        u           speeds                                            (n_speeds,)
        tau         generalized forces, held over a step              (n_speeds,)
        node_force  [moment; force] at each node, body axes           (n_nodes, 6)
    Time is counted in whole steps: `t_ns = tick * dt_ns`, exactly.
    """

    def __init__(
        self,
        model: Spacecraft,
        *,
        dt_ns: int,
        integrator: str = "rk4-lie",
        terms: str = "rl",
    ) -> None:
        """Make a plant at rest in the neutral configuration.

        Args:
            model: what `load_model` returns; its mass properties are copied.
            dt_ns: step in integer nanoseconds.
            integrator: rk4 | rk4-lie | semi-implicit-euler | implicit-modes (modes too stiff
                for the step).
            terms: rl (strict ruthless linearisation) | crl (its energy-conserving variant).
        """
        _require(isinstance(model, Spacecraft), "model", type(model).__name__, "a loaded model")
        _require(type(dt_ns) is int and dt_ns > 0, "dt_ns", repr(dt_ns), "a positive int",
                 "nanoseconds: 1 ms is 1_000_000")  # fmt: skip
        _require(integrator in INTEGRATORS, "integrator", repr(integrator), " | ".join(INTEGRATORS))
        _require(terms in TERMS, "terms", repr(terms), " | ".join(TERMS))
        self.model, self.dt_ns, self.integrator, self.terms = model, dt_ns, integrator, terms
        self.tick = 0
        self.arrays: Model = _own_arrays(model.arrays)
        self.q, self.u = model.neutral(), np.zeros(model.n_speeds)
        self.tau = np.zeros(model.n_speeds)
        self.node_force = np.zeros((self.arrays.node.shape[0], 6))
        self._workspace = make_workspace(self.arrays, composite=False)
        self._stages = integrate.make_stages(model.n_coords, model.n_speeds)
        self._split = integrate_stiff.split_model(self.arrays)
        self._refresh_split()
        self._step = self._choose_step()
        self._warn_of_stiff_modes()

    @property
    def dt_s(self) -> float:
        """Length of a step in seconds."""
        return self.dt_ns * 1e-9

    @property
    def t_ns(self) -> int:
        """Simulated time."""
        return self.tick * self.dt_ns

    def advance(self, n_steps: int = 1) -> Status:
        """Advance q and u by n_steps; a status other than OK means they are no longer finite."""
        _require(type(n_steps) is int and n_steps >= 0, "n_steps", repr(n_steps), "an int >= 0")
        status = Status(self._step(n_steps))
        self.tick += n_steps
        return status

    def _choose_step(self) -> Callable[[int], int]:
        """Bind everything the compiled call needs, so that `advance` only passes a count."""
        m, w, s, dt = self.arrays, self._workspace, self._stages, self.dt_s
        crl, state = self.terms == "crl", (self.q, self.u, self.tau, self.node_force)
        if self.integrator in ("rk4", "rk4-lie"):
            lie = self.integrator == "rk4-lie"
            return lambda n: integrate.advance_rk4(m, w, s, *state, crl, dt, n, lie)
        if self.integrator == "semi-implicit-euler":
            return lambda n: integrate.advance_semi_implicit(m, w, s, *state, crl, dt, n)
        split = self._split
        stiff = integrate_stiff.make_stiff_stages(self.q.size, self.u.size, len(self.node_force))
        return lambda n: integrate_stiff.advance_stiff(m, split, w, stiff, *state, crl, dt, n)

    def lock(self, joint: str) -> None:
        """Hold a joint where it is: its speeds become and stay zero."""
        _, row = self._joint_row(joint)
        first = row["u_start"] + row["n_modes"]
        self.u[first : first + row["n_hinge"]] = 0.0
        row["locked"], row["form"] = 1, FORM_GENERAL
        self._refresh_split()

    def unlock(self, joint: str) -> None:
        """Let a locked joint move again."""
        i, row = self._joint_row(joint)
        form = fastest_form(self.model.tree.bodies[i], self.model.tree.joints[i])
        row["locked"], row["form"] = 0, form
        self._refresh_split()

    def _joint_row(self, name: str) -> tuple[int, Any]:
        names = [joint.name for joint in self.model.tree.joints]
        _require(name in names, "joint", repr(name), "one of " + ", ".join(names))
        i = names.index(name)
        return i, self.arrays.body[self.model.kernel_body[i]]

    def set_node_mass(
        self,
        node: str,
        mass_kg: float,
        center_of_mass_m: Array | None = None,
        inertia_kg_m2: Array | None = None,
    ) -> None:
        """Change the mass, and where given the mass centre and inertia, of "body.node".

        Args:
            node: "body.node".
            mass_kg: new mass, >= 0.
            center_of_mass_m: node to its mass centre, body axes (3,).
            inertia_kg_m2: about that mass centre, body axes (3, 3).
        """
        _require(np.isfinite(mass_kg) and mass_kg >= 0, "mass_kg", mass_kg, "a number >= 0")
        row = self.arrays.node[self.model.kernel_node[self.model.find_node(node)]]
        b = int(row["body"])
        R = self.arrays.body[b]["R_FC"].reshape(3, 3).T
        row["m"] = mass_kg
        if center_of_mass_m is not None:
            row["p"] = R @ _shaped("center_of_mass_m", center_of_mass_m, (3,))
        if inertia_kg_m2 is not None:
            J = R @ _shaped("inertia_kg_m2", inertia_kg_m2, (3, 3)) @ R.T
            row["Jc"] = J[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
        refresh_mass_properties(self.arrays, self._workspace, b)
        self._refresh_split()

    def _refresh_split(self) -> None:
        if self.integrator == "implicit-modes":
            elastic = self._split.elastic
            integrate_stiff.refresh_split(self.arrays, elastic, self._workspace, self.dt_s)

    def _warn_of_stiff_modes(self) -> None:
        """Say when the fastest mode of a body, held at its hinge, is too fast for the step."""
        limit = EXPLICIT_LIMIT.get(self.integrator, math.inf)
        m = self.arrays
        for b, i in enumerate(self.model.order):
            f, nm = m.body[b]["flex"], m.body[b]["n_modes"]
            if f < 0:
                continue
            squares = np.linalg.eigvals(m.Lam[f, :nm, :nm] @ m.K[f, :nm, :nm]).real
            omega_dt = math.sqrt(max(squares.max(), 0.0)) * self.dt_s
            if omega_dt > limit:
                warnings.warn(
                    f"body {self.model.tree.bodies[i].name!r}: fastest mode has omega * dt = "
                    f"{omega_dt:.3g}, {self.integrator} is stable to {limit:g}; shorten dt_ns or "
                    "use integrator='implicit-modes'",
                    RuntimeWarning,
                    stacklevel=3,
                )


def _own_arrays(m: Model) -> Model:
    """Copy everything that may change in flight, so that plants do not share it."""
    changing = ("body", "node", "mode", "hook", "Mff", "Df", "Lam", "Om", "E", "gravity")
    return m._replace(**{name: getattr(m, name).copy() for name in changing})


def _require(holds: Any, what: str, got: object, expected: str, hint: str = "") -> None:
    if not holds:
        raise ArgumentError(what, got=got, expected=expected, hint=hint)


def _shaped(what: str, value: Array, shape: tuple[int, ...]) -> Array:
    array = np.asarray(value, float)
    ok = array.shape == shape and bool(np.all(np.isfinite(array)))
    _require(ok, what, f"shape {array.shape}", f"finite numbers of shape {shape}")
    return array
