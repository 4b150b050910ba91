"""An integrator for modes too stiff for the step: elastic forces implicit, the rest explicit.

ARK3(2)4L[2]SA of Kennedy & Carpenter (2003, Appl. Numer. Math. 44, p. 139): order 3 (2 for the
response of modes far too stiff for the step), implicit part L-stable and stiffly accurate. Only
K eta + Dm etad is implicit, and it is linear: with U* and eta* what earlier stages give, h the
step and g the diagonal coefficient,

    (M + g h Dm + (g h)^2 K) aI = -K (eta* + g h U*) - Dm U*,

which is forward dynamics of a model with another modal mass matrix: O(n), no iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from darts_py._jit import inlined, kernel
from darts_py.multibody.aba import forward_dynamics
from darts_py.multibody.integrate import finish_step, loops_are_open
from darts_py.multibody.joint_rates import local_rates, retract
from darts_py.multibody.mass_properties import prepare_modes
from darts_py.multibody.model import GOOD, LOOP_OPEN, MFF, Array, Model
from darts_py.multibody.prescribed import impose
from darts_py.multibody.redundancy import hold_rank, start_step
from darts_py.spatial.array import add_scaled, copy_into

G = 1767732205903 / 4055673282236
B = (
    1471266399579 / 7840856788654,
    -4482444167858 / 7529755066697,
    11266239266428 / 11593286722821,
    G,
)
EXPLICIT = (
    (0.0, 0.0, 0.0, 0.0),
    (1767732205903 / 2027836641118, 0.0, 0.0, 0.0),
    (5535828885825 / 10492691773637, 788022342437 / 10882634858940, 0.0, 0.0),
    (
        6485989280629 / 16251701735622,
        -4246266847089 / 9704473918619,
        10755448449292 / 10357097424841,
        0.0,
    ),
)
IMPLICIT = (
    (0.0, 0.0, 0.0, 0.0),
    (G, G, 0.0, 0.0),
    (2746238789719 / 10658868560708, -640167445237 / 6845629431997, G, 0.0),
    B,
)
N_STAGES = 4
C = tuple(sum(row) for row in EXPLICIT)  # when the stages are, in steps


class StiffStages(NamedTuple):
    """Scratch of the integrator."""

    q: Array  # coordinates at a stage                        (n_coords,)
    u: Array  # speeds at a stage                             (n_speeds,)
    zero: Array  # no speeds                                  (n_speeds,)
    delta: Array  # local coordinates at a stage              (n_speeds,)
    elastic: Array  # the implicit right-hand side            (n_speeds,)
    rate: Array  # rates of local coordinates, per stage      (4, n_speeds)
    aE: Array  # explicit accelerations, per stage            (4, n_speeds)
    aI: Array  # elastic accelerations, per stage             (4, n_speeds)
    no_force: Array  # no node forces                         (n_nodes, 6)


def make_stiff_stages(n_coords: int, n_speeds: int, n_nodes: int) -> StiffStages:
    """Allocate the scratch."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(StiffStages._fields, (n_speeds,))
    shapes |= {"q": (n_coords,), "no_force": (n_nodes, 6)}
    shapes |= dict.fromkeys(("rate", "aE", "aI"), (N_STAGES, n_speeds))
    return StiffStages(**{name: np.zeros(shape) for name, shape in shapes.items()})


class SplitModels(NamedTuple):
    """The model taken apart: one without elastic forces, one with nothing but them."""

    loose: Model  # K = Dm = 0
    elastic: Model  # Mff + g h Dm + (g h)^2 K; no gravity, springs, K or Dm


def split_model(m: Model) -> SplitModels:
    """Make the two models of `m`; `refresh_split` fills in what depends on masses and step."""
    own = ("body", "mode", "hook", "modal", "Om", "E")
    loose = m._replace(K=np.zeros_like(m.K), Dm=np.zeros_like(m.Dm))
    copies = {name: getattr(m, name).copy() for name in own}
    closure = m.closure.copy()
    closure["gain_velocity"] = closure["gain_position"] = 0.0
    bare = {"gravity": np.zeros(3), "passive": m.passive[:0].copy(), "closure": closure}
    elastic = loose._replace(**copies, **bare)
    return SplitModels(loose, elastic)


@kernel
def refresh_split(m, elastic, w, dt):
    """Bring the elastic model up to date with m's masses and locks, for the step dt."""
    gh = G * dt
    for b in range(m.body.shape[0]):
        elastic.body[b] = m.body[b]
    for k in range(m.mode.shape[0]):
        elastic.mode[k] = m.mode[k]
    for b in range(m.body.shape[0]):
        body = m.body[b]
        f = body.flex
        for k in range(body.n_modes):
            for j in range(body.n_modes):
                added = gh * m.Dm[f, k, j] + gh * gh * m.K[f, k, j]
                elastic.modal[MFF, f, k, j] = m.modal[MFF, f, k, j] + added
        if f >= 0:
            prepare_modes(elastic, w, b)


@kernel
def advance_stiff(m, split, rules, w, s, q, u, tau, node_force, conserving, dt, tick, n_steps):
    """Advance q and u by n_steps. Returns the number of good steps, and what stopped them."""
    for step in range(n_steps):
        start_step(w)
        for i in range(N_STAGES):
            t = (tick + step) * dt + C[i] * dt
            _start_stage(m, s, q, u, dt, i)
            if i > 0:
                _solve_elastic(m, split.elastic, rules, w, s, q, conserving, dt, t, i)
            retract(m, q, s.delta, s.q)
            impose(rules.motions, t, s.q, s.u, w.given)
            local_rates(m, s.q, s.u, s.delta, w.scratch[0].G, s.rate[i])
            forward_dynamics(split.loose, w, s.q, s.u, tau, node_force, conserving)
            copy_into(w.udot, s.aE[i])
            if i == 0:  # no implicit part yet: what the elastic forces add
                if loops_are_open(m, rules, w):
                    return step, LOOP_OPEN
                hold_rank(w)
                forward_dynamics(m, w, s.q, s.u, tau, node_force, conserving)
                copy_into(w.udot, s.aI[0])
                add_scaled(-1.0, s.aE[0], s.aI[0])
        s.delta[:] = 0.0
        copy_into(u, s.u)
        for i in range(N_STAGES):
            add_scaled(dt * B[i], s.rate[i], s.delta)
            add_scaled(dt * B[i], s.aE[i], s.u)
            add_scaled(dt * B[i], s.aI[i], s.u)
        retract(m, q, s.delta, s.q)
        outcome = finish_step(rules, w, (tick + step + 1) * dt, s.q, s.u, q, u)
        if outcome != GOOD:
            return step, outcome
    return n_steps, GOOD


@inlined
def _start_stage(m, s, q, u, dt, i):
    """Speeds and local coordinates of stage i from the stages before: U* and eta*, delta."""
    copy_into(u, s.u)
    s.delta[:] = 0.0
    for j in range(i):
        add_scaled(dt * EXPLICIT[i][j], s.aE[j], s.u)
        add_scaled(dt * IMPLICIT[i][j], s.aI[j], s.u)
        add_scaled(dt * EXPLICIT[i][j], s.rate[j], s.delta)
        difference = dt * (IMPLICIT[i][j] - EXPLICIT[i][j])
        for b in range(m.body.shape[0]):  # modal coordinates follow the implicit table
            for k in range(m.body[b].u_start, m.body[b].u_start + m.body[b].n_modes):
                s.delta[k] += difference * s.rate[j, k]


@inlined
def _solve_elastic(m, elastic, rules, w, s, q, conserving, dt, t, i):
    """Solve for aI of stage i; complete its speeds and modal coordinates."""
    gh = G * dt
    retract(m, q, s.delta, s.q)
    impose(rules.motions, t, s.q, s.u, w.given)
    w.given[:] = 0.0  # prescribed accelerations belong to the explicit part
    s.elastic[:] = 0.0
    for b in range(m.body.shape[0]):
        body = m.body[b]
        f, iq, iu = body.flex, body.q_start, body.u_start
        for j in range(body.n_modes):
            eta = s.q[iq + j]
            if not m.speed[iu + j].given:
                eta += gh * s.u[iu + j]
            for k in range(body.n_modes):
                s.elastic[iu + k] -= m.K[f, k, j] * eta + m.Dm[f, k, j] * s.u[iu + j]
    forward_dynamics(elastic, w, s.q, s.zero, s.elastic, s.no_force, conserving)
    copy_into(w.udot, s.aI[i])
    add_scaled(gh, s.aI[i], s.u)
    for b in range(m.body.shape[0]):
        for k in range(m.body[b].u_start, m.body[b].u_start + m.body[b].n_modes):
            s.delta[k] += gh * s.u[k]
