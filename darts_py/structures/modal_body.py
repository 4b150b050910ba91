"""A flexible body in modal form: what every source of flexible bodies ends in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from darts_py.multibody.tree import Array, Distributed, Node
from darts_py.structures.samples import cross_matrix
from darts_py.structures.sparse import Sparse


@dataclass(frozen=True)
class LumpedMass:
    """Mass that the model file puts on a node, besides the structure's own."""

    m: float = 0.0
    p: tuple[float, ...] = (0.0, 0.0, 0.0)  # node to its mass centre, body axes
    Jc: Array | None = None  # about its mass centre   (3, 3)

    def spatial(self) -> Array:
        """Return the spatial inertia about the node.   (6, 6)."""
        P = cross_matrix(np.array(self.p))
        J = np.zeros((3, 3)) if self.Jc is None else self.Jc
        return np.block([[J - self.m * P @ P, self.m * P], [-self.m * P, self.m * np.eye(3)]])


NO_MASS = LumpedMass()


@dataclass(frozen=True)
class Place:
    """A named node: where it is, and the mass that hangs on it."""

    name: str
    r: Array  # body axes   (3,)
    mass: LumpedMass = NO_MASS

    def node(self, Pi: Array) -> Node:
        """Return the tree's node, which moves by Pi per unit of each mode."""
        Jc = np.zeros((3, 3)) if self.mass.Jc is None else self.mass.Jc
        return Node(self.name, np.array(self.r), self.mass.m, np.array(self.mass.p), Jc, Pi)


@dataclass(frozen=True)
class ModalBody:
    """Modal data of a body."""

    nodes: tuple[Node, ...]
    K: Array  # modal stiffness   (nm, nm)
    distributed: Distributed


def node_masses(places: Sequence[Place], maps: Sequence[Sparse], n: int) -> Sparse:
    """Return the mass matrix of what hangs on the nodes; maps[k] moves node k: (6, n)."""
    total = sp.csr_array((n, n))
    for place, T in zip(places, maps, strict=True):
        if place.mass.m > 0.0:
            total = total + T.T @ sp.csr_array(place.mass.spatial()) @ T
    return sp.csr_array(total)
