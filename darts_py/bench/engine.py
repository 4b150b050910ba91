"""darts_py as it is timed: the kernels that `Plant` runs, repeated in a compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from darts_py.bench.cases import State
from darts_py.bench.lapack import LapackSolve
from darts_py.bench.measure import best_ns
from darts_py.multibody.aba import forward_dynamics
from darts_py.multibody.cholesky import factor_symmetric, solve_factored
from darts_py.multibody.crba import forward_dynamics_composite
from darts_py.multibody.loads import required_forces, sweep_loads
from darts_py.multibody.model import make_workspace
from darts_py.multibody.operators import (
    factorise_mass,
    gather_forces,
    scale_by_root,
    sweep_accelerations_of,
)
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Array, Tree

CONSERVING = False  # RL: Plant's default, and what the operation counts are for

# the loops around the kernels are compiled anew each time: only kernel rooms have a cache
_loop: Any = njit(error_model="numpy", _nrt=False)  # pyright: ignore[reportCallIssue]


@_loop
def repeat_articulated(n, m, w, q, u, tau, node_force, conserving):
    """Evaluate n times; the force changes, so that nothing can be taken out of the loop."""
    tau0 = tau[0]
    total = 0.0
    for i in range(n):
        tau[0] = tau0 + 1e-6 * i
        forward_dynamics(m, w, q, u, tau, node_force, conserving)
        total += w.udot[0]
    tau[0] = tau0
    return total


@_loop
def repeat_loads(n, m, w, q, u, tau, node_force, conserving, out):
    """Do the same, and find the loads of all hinges and the forces of prescribed motions."""
    tau0 = tau[0]
    for i in range(n):
        tau[0] = tau0 + 1e-6 * i
        forward_dynamics(m, w, q, u, tau, node_force, conserving)
        sweep_loads(m, w)
        required_forces(m, w, tau, out)
    tau[0] = tau0


@_loop
def repeat_solve_mass(n, factorise, m, w, q, still, x):
    """Solve M x = b n times by operators, with the factorisation each time if asked to."""
    no = n < 0  # variables: literals would be other signatures of the kernels
    yes = not no
    for i in range(n):
        if factorise or i == 0:
            factorise_mass(m, w, q, still)
        x[0] = 1.0 + 1e-6 * i
        gather_forces(m, w, x, yes)
        scale_by_root(m, w, x, yes, no)
        scale_by_root(m, w, x, yes, yes)
        sweep_accelerations_of(m, w, x, yes)


@_loop
def repeat_composite(n, m, w, q, u, tau, node_force, conserving):
    """Do the same by mass matrix and Cholesky solve."""
    tau0 = tau[0]
    total = 0.0
    for i in range(n):
        tau[0] = tau0 + 1e-6 * i
        forward_dynamics_composite(m, w, q, u, tau, node_force, conserving)
        total += w.udot[0]
    tau[0] = tau0
    return total


@_loop
def repeat_solve(n, M, b, A, x):
    """Solve M x = b n times as the composite path does, copies included."""
    size = b.shape[0]
    for i in range(n):
        for j in range(size):
            x[j] = b[j]
            for k in range(size):
                A[j, k] = M[j, k]
        x[0] += 1e-6 * i
        factor_symmetric(A, size)
        solve_factored(A, size, x)


class Engine:
    """One system at one state, ready to be timed."""

    COMPOSITE = False  # whether there is room for a mass matrix; Plant has none

    def __init__(self, tree: Tree, state: State) -> None:
        m = Spacecraft(tree).arrays
        self.w = make_workspace(m, composite=self.COMPOSITE)
        self.n_dofs = state.u.shape[0]
        n_nodes = sum(len(body.nodes) for body in tree.bodies)
        node_force = np.zeros((n_nodes, 6))
        self._arguments = (m, self.w, state.q, state.u, state.tau, node_force, CONSERVING)
        self.udot()

    def udot(self) -> Array:
        """Return the acceleration by articulated body."""
        repeat_articulated(1, *self._arguments)
        return self.w.udot.copy()

    def articulated_ns(self, seconds: float) -> float:
        """Time the articulated-body algorithm."""
        return best_ns(lambda n: repeat_articulated(n, *self._arguments), seconds)


class CompositeEngine(Engine):
    """The same with the composite-body path, its solve, and LAPACK's on the same equations."""

    COMPOSITE = True

    def __init__(self, tree: Tree, state: State) -> None:
        super().__init__(tree, state)
        right = self.w.M @ self.composite_udot()
        self._solve = (self.w.M.copy(), right, np.zeros_like(self.w.M), np.zeros(self.n_dofs))
        repeat_solve(1, *self._solve)
        self._lapack = LapackSolve(*self._solve[:2])
        self._lapack(1)

    def composite_udot(self) -> Array:
        """Return the acceleration by composite body."""
        repeat_composite(1, *self._arguments)
        return self.w.udot.copy()

    def composite_ns(self, seconds: float) -> float:
        """Time the whole composite path with its own solve."""
        return best_ns(lambda n: repeat_composite(n, *self._arguments), seconds)

    def solve_ns(self, seconds: float) -> float:
        """Time its solve alone."""
        return best_ns(lambda n: repeat_solve(n, *self._solve), seconds)

    def lapack_ns(self, seconds: float) -> float:
        """Time LAPACK's solve."""
        return best_ns(self._lapack, seconds)
