"""What prescribed motion, loads and closed loops cost, in units of the plain forward dynamics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from darts_py.bench import cases, flexible_cases
from darts_py.bench.cases import State
from darts_py.bench.engine import CONSERVING, repeat_articulated, repeat_loads, repeat_solve_mass
from darts_py.bench.measure import best_ns, median
from darts_py.dynamics import node_motion
from darts_py.multibody import operators
from darts_py.multibody.hybrid import mark_given
from darts_py.multibody.model import Array, Model, make_workspace
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import GROUND, Closure, Tree
from darts_py.plant import Plant

CLOSURES = {"ball": (3, 4, 5), "revolute": (0, 1, 3, 4, 5), "weld": (0, 1, 2, 3, 4, 5)}
STEP_NS = 100  # ns
GIVEN = 0.1  # rad/s^2 or m/s^2, for every prescribed joint


@dataclass(frozen=True)
class Constrained:
    """One system: plain forward dynamics, and ratios to it."""

    case: str
    n_dofs: int
    plain_ns: float
    hybrid: float  # every joint prescribed: required forces and the loads of all hinges
    hybrid_third: float  # the same, every third speed of joints prescribed
    loads: float  # nothing prescribed, the loads of all hinges
    ball: float  # the last body tied to the ground
    revolute: float
    weld: float
    redundant: float  # the ball written twice
    step: float  # a Runge-Kutta step with the ball, projected, over a step without


@dataclass(frozen=True)
class Operator:
    """M^-1 times a vector on one chain."""

    n_bodies: int
    factorise_ns: float
    solve_ns: float


class ConstrainedRace:
    """One system with and without prescribed motion, loads and closed loops, timed in turn."""

    def __init__(self, name: str, tree: Tree, state: State) -> None:
        self.name, self.n_dofs = name, state.u.size
        m = Spacecraft(tree).arrays
        self.state, self.node_force = state, np.zeros((m.node.shape[0], 6))
        joints = _joint_speeds(m)
        self.variants: dict[str, Callable[[float], float]] = {
            "plain": self._timer(m),
            "hybrid": self._loads_timer(_prescribed(m, joints)),
            "hybrid_third": self._loads_timer(_prescribed(m, joints[::3])),
            "loads": self._loads_timer(m),
        }
        place = _place_of_last_node(tree, state)
        for kind, rows in CLOSURES.items():
            self.variants[kind] = self._timer(Spacecraft(_tied(tree, place, rows)).arrays)
        ball = _tied(tree, place, CLOSURES["ball"])
        twice = replace(ball, closures=(*ball.closures, replace(ball.closures[0], name="again")))
        self.variants["redundant"] = self._timer(Spacecraft(twice).arrays)
        self.variants["plain_step"] = _step_timer(tree, state)
        self.variants["step"] = _step_timer(ball, state)
        self.samples: dict[str, list[float]] = {name: [] for name in self.variants}
        for variant in self.variants.values():
            variant(0.0)  # compiles

    def _arguments(self, m: Model) -> tuple[Any, ...]:
        w = make_workspace(m, composite=False)
        w.given[:] = GIVEN
        s = self.state
        return m, w, s.q, s.u, s.tau.copy(), self.node_force, CONSERVING

    def _timer(self, m: Model) -> Callable[[float], float]:
        arguments = self._arguments(m)
        return lambda seconds: best_ns(lambda n: repeat_articulated(n, *arguments), seconds)

    def _loads_timer(self, m: Model) -> Callable[[float], float]:
        arguments: tuple[Any, ...] = (*self._arguments(m), np.zeros(self.n_dofs))
        return lambda seconds: best_ns(lambda n: repeat_loads(n, *arguments), seconds)

    def sample(self, seconds: float) -> None:
        """Time every variant once."""
        for name, variant in self.variants.items():
            self.samples[name].append(variant(seconds))

    def figures(self) -> Constrained:
        """Sum the rounds up."""
        plain = self.samples["plain"]
        ratios = {
            name: _ratio(values, self.samples["plain_step"] if name == "step" else plain)
            for name, values in self.samples.items()
            if name not in ("plain", "plain_step")
        }
        return Constrained(self.name, self.n_dofs, median(plain), **ratios)


class OperatorRace:
    """The mass matrix of a chain as an operator."""

    def __init__(self, n_bodies: int) -> None:
        self.n_bodies = n_bodies
        case = next(c for c in cases.rigid_cases() if c.name == f"chain {n_bodies}")
        self.m = operators.general_model(Spacecraft(cases.make_tree(case.name, case.links)).arrays)
        self.w = make_workspace(self.m, composite=False)
        self.q, self.still = case.state.q, np.zeros_like(case.state.u)
        self.x = case.state.tau.copy()
        self.factorise_ns: list[float] = []
        self.solve_ns: list[float] = []
        self.sample(0.0)
        self.factorise_ns.clear()
        self.solve_ns.clear()

    def sample(self, seconds: float) -> None:
        """Time the factorisation and one solve."""
        factorise = repeat_solve_mass, (self.m, self.w, self.q, self.still, self.x)
        both = best_ns(lambda n: factorise[0](n, 1, *factorise[1]), seconds)
        solve = best_ns(lambda n: factorise[0](n, 0, *factorise[1]), seconds)
        self.factorise_ns.append(both - solve)
        self.solve_ns.append(solve)

    def figures(self) -> Operator:
        """Sum the rounds up."""
        return Operator(self.n_bodies, median(self.factorise_ns), median(self.solve_ns))


def make_races() -> list[ConstrainedRace]:
    """Return the systems that are timed: chains, the satellite, and both with modes."""
    rigid = {case.name: case for case in cases.rigid_cases()}
    races = [
        ConstrainedRace(name, cases.make_tree(name, rigid[name].links), rigid[name].state)
        for name in ("chain 6", "chain 10", "chain 100", "satellite 20")
    ]
    for name, tree in (
        ("satellite with modes", flexible_cases.flexible_satellite()),
        ("chain 10, 5 modes", flexible_cases.flexible_chain(5)),
    ):
        races.append(ConstrainedRace(name, tree, flexible_cases.draw_tree_state(tree)))
    return races


def _joint_speeds(m: Model) -> Array:
    first = m.body["u_start"] + m.body["n_modes"]
    ranges = [np.arange(a, a + n) for a, n in zip(first, m.body["n_hinge"], strict=True)]
    return np.concatenate(ranges)


def _prescribed(m: Model, speeds: Array) -> Model:
    given = m._replace(body=m.body.copy(), speed=m.speed.copy())
    mark_given(given, speeds)
    return given


def _place_of_last_node(tree: Tree, state: State) -> tuple[Array, Array]:
    """Return where the outermost node of the last body is in the world, undeformed: R, r."""
    body = tree.bodies[-1]
    name = f"{body.name}.{body.nodes[-1].name}"
    motion = node_motion(Spacecraft(tree), state.q, state.u, node=name)
    return motion.R, motion.r_N


def _tied(tree: Tree, place: tuple[Array, Array], rows: tuple[int, ...]) -> Tree:
    """Tie that node to the ground where it is."""
    last, node = len(tree.bodies) - 1, len(tree.bodies[-1].nodes) - 1
    S, (R, r) = np.eye(6)[:, rows], place
    closure = Closure("tie", "map", S, last, GROUND, node_a=node, R_b=R, o_b=r)
    return replace(tree, closures=(closure,))


def _step_timer(tree: Tree, state: State) -> Callable[[float], float]:
    """Time steps so short that the state hardly changes."""
    plant = Plant(Spacecraft(tree), dt_ns=STEP_NS, q=state.q, u=state.u)
    plant.tau = state.tau
    return lambda seconds: best_ns(plant.advance, seconds)


def _ratio(values: list[float], units: list[float]) -> float:
    return median([a / b for a, b in zip(values, units, strict=True)])
