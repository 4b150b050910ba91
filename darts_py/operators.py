"""The mass matrix as an operator: its factors, its inverse, and what a node feels of it.

    mass = MassOperator(model, q)
    udot = mass.solve(tau)                       # M^-1 tau, any number of columns
    mobility = mass.inverse_inertia(["arm.tip"])   # J M^-1 J^T

Jain & Rodriguez's M = (1 + H Phi K) D (1 + H Phi K)^*. Each product costs O(n) per column and never
forms M. Locked joints are left out of M: their entries of a product are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from darts_py import dynamics
from darts_py.errors import ArgumentError
from darts_py.multibody import operators
from darts_py.multibody.jacobian import node_jacobian
from darts_py.multibody.model import Array, make_workspace
from darts_py.multibody.spacecraft import Spacecraft


class MassOperator:
    """M(q) at one configuration; products take (n_speeds,) or (n_speeds, k)."""

    def __init__(self, model: Spacecraft, q: Array) -> None:
        """Factorise the mass matrix of `model` at coordinates q, O(n)."""
        q, still = dynamics.checked_state(
            model, q, np.zeros(dynamics.checked_model(model).n_speeds)
        )
        self._model, self._m = model, operators.general_model(model.arrays)
        self._w = make_workspace(self._m, composite=False)
        self.n_speeds = model.n_speeds
        operators.factorise_mass(self._m, self._w, q, still)

    # -- factors ------------------------------------------------------------------------------

    def factor(self, x: Array) -> Array:
        """Return (1 + H Phi K) x: from innovations to forces."""
        return self._columns(x, lambda c: operators.gather_forces(self._m, self._w, c, False))

    def factor_inv(self, x: Array) -> Array:
        """Return (1 - H Psi K) x, the inverse of `factor`: from forces to innovations."""
        return self._columns(x, lambda c: operators.gather_forces(self._m, self._w, c, True))

    def factor_t(self, x: Array) -> Array:
        """Return (1 + H Phi K)^* x: the transpose of `factor`."""
        sweep = operators.sweep_accelerations_of
        return self._columns(x, lambda c: sweep(self._m, self._w, c, False))

    def factor_inv_t(self, x: Array) -> Array:
        """Return (1 - H Psi K)^* x: the transpose of `factor_inv`."""
        sweep = operators.sweep_accelerations_of
        return self._columns(x, lambda c: sweep(self._m, self._w, c, True))

    def multiply_d(self, x: Array) -> Array:
        """Return D x, D the block-diagonal inertia of the innovations."""
        return self._columns(x, lambda c: (self._root(c, False, True), self._root(c, False, False)))

    def solve_d(self, x: Array) -> Array:
        """Return D^-1 x."""
        return self._columns(x, lambda c: (self._root(c, True, False), self._root(c, True, True)))

    @property
    def D(self) -> Array:
        """D as a dense matrix (n_speeds, n_speeds); locked joints have zeros."""
        return self.multiply_d(np.eye(self.n_speeds))

    # -- products -----------------------------------------------------------------------------

    def multiply(self, x: Array) -> Array:
        """Return M x."""
        return self.factor(self.multiply_d(self.factor_t(x)))

    def solve(self, x: Array) -> Array:
        """Return M^-1 x."""
        return self.factor_inv_t(self.solve_d(self.factor_inv(x)))

    def inverse_inertia(self, nodes: Sequence[str]) -> Array:
        """Return J M^-1 J^T (6k, 6k) over k nodes: how they accelerate under forces on them.

        Block (i, j) leads from [moment; force] at node j to [angular; linear] acceleration of
        node i, each in its body's axes.

        Args:
            nodes: names "body.node".
        """
        if isinstance(nodes, str) or not all(isinstance(name, str) for name in _listed(nodes)):
            raise ArgumentError("nodes", got=repr(nodes), expected="a list of node names")
        J = np.zeros((6 * len(nodes), self.n_speeds))
        for k, name in enumerate(nodes):
            row = int(self._model.kernel_node[self._model.find_node(name)])
            node_jacobian(self._m, self._w, row, J[6 * k : 6 * k + 6])
        root = self._columns(self.factor_inv(J.T), lambda c: self._root(c, True, False))
        return root.T @ root  # (1 - H Psi K) J^T whitened by D: symmetric and positive by form

    # -- columns ------------------------------------------------------------------------------

    def _root(self, x: Array, inverse: bool, transposed: bool) -> None:
        operators.scale_by_root(self._m, self._w, x, inverse, transposed)

    def _columns(self, x: Array, product: Callable[[Array], object]) -> Array:
        """Apply an operator that works in place to a copy of each column."""
        try:
            x = np.asarray(x)
        except (TypeError, ValueError):  # ragged
            x = np.empty(0)
        if x.ndim not in (1, 2) or x.shape[:1] != (self.n_speeds,) or x.dtype.kind not in "fiu":
            expected = f"numbers of shape ({self.n_speeds},) or ({self.n_speeds}, k)"
            raise ArgumentError("x", got=f"{x.dtype} of shape {x.shape}", expected=expected)
        if not np.all(np.isfinite(x)):
            raise ArgumentError("x", got="a number that is not finite", expected="finite numbers")
        rows = np.array(np.atleast_2d(x.T), float, order="C")
        for row in rows:
            operators.clear_locked(self._m, row)
            product(row)
        return rows[0] if x.ndim == 1 else np.ascontiguousarray(rows.T)


def _listed(nodes: object) -> Sequence[object]:
    return nodes if isinstance(nodes, Sequence) else (None,)
