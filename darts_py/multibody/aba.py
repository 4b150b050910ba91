"""Forward dynamics of a flexible tree in O(n): the articulated-body algorithm.

Jain & Rodriguez 1992, Eqs. 63-64 (docs/equations.md section 9). Velocities are swept from the
base to the tips, articulated inertias gathered from the tips to the base, accelerations swept
back out.
"""

from __future__ import annotations

from darts_py._jit import inlined, kernel
from darts_py.multibody.closures import constrain
from darts_py.multibody.conserving import sweep_velocities_conserving
from darts_py.multibody.forces import add_joint_forces, load_nodes
from darts_py.multibody.general import general_inward, general_outward, general_velocity
from darts_py.multibody.handover import on_one_axis
from darts_py.multibody.model import FORM_CARRIED, FORM_REVOLUTE
from darts_py.multibody.revolute import (
    carried_inward,
    carried_outward,
    revolute_inward,
    revolute_outward,
    revolute_velocity,
)
from darts_py.spatial.array import copy_into


@kernel
def forward_dynamics(m, w, q, u, tau, node_force, conserving):
    """Solve M(q) udot + C(q, u) = tau into w.udot, with closed loops kept closed.

    `node_force` (n_nodes, 6) acts at the nodes, file axes; `conserving` picks CRL over RL.
    """
    copy_into(tau, w.tau)
    add_joint_forces(m, q, u, w.scratch[0].G, w.tau)
    if conserving:
        sweep_velocities_conserving(m, w, q, u)
    else:
        sweep_velocities(m, w, q, u)
    load_nodes(m, w, node_force)
    gather_inertias(m, w)
    if m.closure.shape[0] > 0:
        constrain(m, w, q, u, conserving)
    sweep_accelerations(m, w)


@inlined
def sweep_velocities(m, w, q, u):
    """Poses, angular velocities and velocity products (RL), base to tips."""
    for b in range(m.body.shape[0]):
        if on_one_axis(m.body[b]):
            revolute_velocity(m, w, b, q, u)
        else:
            general_velocity(m, w, b, q, u)


@inlined
def gather_inertias(m, w):
    """Articulated inertias and bias forces, tips to base."""
    for b in range(m.body.shape[0] - 1, -1, -1):
        if m.body[b].form == FORM_REVOLUTE:
            revolute_inward(m, w, b)
        elif m.body[b].form == FORM_CARRIED:
            carried_inward(m, w, b)
        else:
            general_inward(m, w, b)


@inlined
def sweep_accelerations(m, w):
    """Accelerations, base to tips; the ground accelerates upward against gravity."""
    ground = m.body.shape[0]
    for k in range(3):
        w.body[ground].al[3 + k] = -m.gravity[k]
    for b in range(ground):
        if m.body[b].form == FORM_REVOLUTE:
            revolute_outward(m, w, b)
        elif m.body[b].form == FORM_CARRIED:
            carried_outward(m, w, b)
        else:
            general_outward(m, w, b)
