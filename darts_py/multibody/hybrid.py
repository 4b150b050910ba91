"""Hybrid dynamics: some accelerations are given, the forces that this takes are wanted.

Banerjee & Lemak's prescribed motion in the articulated-body sweeps (docs/equations.md section 10).
A given acceleration s moves what it carries, so its inertia force joins the bias force; after that
the unknown is no unknown: its row of the elimination becomes x = s and couples to nothing. The
forces that the given motions need come from the loads (`loads.py`).
"""

from __future__ import annotations

import numpy as np

from darts_py._jit import inlined
from darts_py.multibody.model import (
    DIRECT,
    FORM_CARRIED,
    FORM_REVOLUTE,
    GIVEN_HINGE,
    GIVEN_MODES,
    Array,
    Model,
)


def mark_given(m: Model, speeds: Array) -> None:
    """Prescribe the accelerations of these speeds, in place."""
    m.speed["given"][speeds] = 1
    for row in m.body:
        modes = np.arange(row["u_start"], row["u_start"] + row["n_modes"])
        hinge = np.arange(modes.size, modes.size + row["n_hinge"]) + row["u_start"]
        if np.any(m.speed["given"][modes]):
            row["given"] |= GIVEN_MODES
            row["df_form"] = DIRECT
        if np.any(m.speed["given"][hinge]):
            row["given"] |= GIVEN_HINGE
            row["form"] = FORM_CARRIED if row["form"] == FORM_REVOLUTE else row["form"]


def without_given(m: Model) -> Model:
    """Return the model with nothing prescribed."""
    if not np.any(m.body["given"]):
        return m
    body, speed = m.body.copy(), m.speed.copy()
    body["form"][body["form"] == FORM_CARRIED] = FORM_REVOLUTE
    body["given"] = speed["given"] = 0
    return m._replace(body=body, speed=speed)


@inlined
def carry_given_hinge(m, w, b, P, z):
    """z += PR H_g s: body b's joint moves as given."""
    body, hinge = m.body[b], w.hinge[b]
    start = body.u_start + body.n_modes
    for j in range(body.n_hinge):
        if m.speed[start + j].given:
            s = w.given[start + j]
            for c in range(6):
                for d in range(6):
                    z[c] += P[c, d] * hinge.H[j, d] * s


@inlined
def carry_given_modes(m, w, b, L, Y, y, z):
    """ef -= Df_g s and z += mu_g s: body b's modes move as given; Df is the lower triangle of L."""
    start, nm = m.body[b].u_start, m.body[b].n_modes
    for k in range(nm):
        if m.speed[start + k].given:
            s = w.given[start + k]
            for j in range(nm):
                y[j] -= L[max(j, k), min(j, k)] * s
            for c in range(6):
                z[c] += Y[k, c] * s


@inlined
def fix_given(m, w, start, n, L, Y, y):
    """Turn the equations of given accelerations among n unknowns into x = s, on their own."""
    for k in range(n):
        if m.speed[start + k].given:
            for j in range(n):
                L[k, j] = L[j, k] = 0.0
            for c in range(6):
                Y[k, c] = 0.0
            L[k, k], y[k] = 1.0, w.given[start + k]
