"""Lumped masses turned into the integrals of spread mass, term by term as `tree.Distributed` says.

The integrals run over mass elements: a node's mass sits at its mass centre, r + p, and moves there
by phi + psi x p; its inertia about that centre is rotary inertia.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from darts_py.multibody.tree import Body, Distributed, Tree
from tests.reference.poses import Array, cross_matrix


def spread_of(body: Body) -> Distributed:
    """Return the integrals over all of a body's lumped masses."""
    nm = body.n_modes
    Mrr, Mfr, Mff = np.zeros((6, 6)), np.zeros((nm, 6)), np.zeros((nm, nm))
    C, G = np.zeros((nm, 3, 3)), np.zeros((nm, nm, 3))
    Jr, Z, y = np.zeros((3, 3)), np.zeros((nm, 3, 3)), np.zeros((nm, 3))
    for node in body.nodes:
        r = node.r + node.p
        psi = node.Pi[:3]
        phi = node.Pi[3:] + np.cross(psi, node.p, axis=0)
        rigid = np.hstack([-cross_matrix(r), np.eye(3)])  # velocity of the element
        turn = np.hstack([np.eye(3), np.zeros((3, 3))])
        Mrr += node.m * rigid.T @ rigid + turn.T @ node.Jc @ turn
        Mfr += node.m * phi.T @ rigid + psi.T @ node.Jc @ turn
        Mff += node.m * phi.T @ phi + psi.T @ node.Jc @ psi
        Jr += node.Jc
        y += (node.Jc @ psi).T
        for k in range(nm):
            C[k] += node.m * np.outer(phi[:, k], r)
            Z[k] += cross_matrix(psi[:, k]) @ node.Jc
            for j in range(nm):
                G[k, j] += node.m * np.cross(phi[:, j], phi[:, k])
    return Distributed(Mrr, Mfr, Mff, C, G, Jr, Z, y)


def spread_out(tree: Tree, share: Array | float = 1.0) -> Tree:
    """Return the tree with this share of every flexible body's lumped mass made distributed."""
    bodies = []
    for body in tree.bodies:
        if not body.n_modes:
            bodies.append(body)
            continue
        part = [replace(n, m=share * n.m, Jc=share * n.Jc) for n in body.nodes]
        rest = [replace(n, m=(1 - share) * n.m, Jc=(1 - share) * n.Jc) for n in body.nodes]
        spread = spread_of(replace(body, nodes=tuple(part)))
        bodies.append(replace(body, nodes=tuple(rest), distributed=spread))
    return replace(tree, bodies=tuple(bodies))


def without_rotary(tree: Tree) -> Tree:
    """Return the tree with point masses on the nodes of its flexible bodies."""
    bodies = [
        replace(body, nodes=tuple(replace(n, Jc=np.zeros((3, 3))) for n in body.nodes))
        if body.n_modes
        else body
        for body in tree.bodies
    ]
    return replace(tree, bodies=tuple(bodies))
