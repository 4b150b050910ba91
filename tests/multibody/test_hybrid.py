"""Prescribed accelerations against the twin's partitioned dense solve, to 1e-10.

Any subset of speeds, of joints and of modes, on every kind of joint; the forces they need, and
the loads of all hinges. The twin's bias force is differentiated numerically, good to 1e-13 of the
largest entry.
"""

from __future__ import annotations

import numpy as np
import pytest

import darts_py
from darts_py.errors import ArgumentError
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference import joint_kinds
from tests.reference.compare import assert_close
from tests.reference.distributed import spread_out, without_rotary
from tests.reference.loops import LoopTwin
from tests.reference.trees import Options, random_forces, random_state, random_tree

RTOL = 1e-10
TERMS = ("rl", "crl")
Array = np.ndarray

CASES = {
    "mixed": Options(),
    "rigid": Options(flexible=0.0),
    "cantilever": Options(modes="cantilever", flexible=1.0),
    "free-free": Options(modes="free-free", flexible=1.0),
    "chain": Options(branching=0.0),
    "several-roots": Options(n_roots=3),
    "springs-friction-locked": Options(passive=0.6, friction=0.6, locked=0.25),
    "many-modes": Options(max_modes=9, flexible=1.0, kinds=joint_kinds.PLAIN_KINDS),
}


def _case(name: str, seed: int) -> tuple[Tree, np.random.Generator]:
    rng = np.random.default_rng([31, list(CASES).index(name), seed])
    return random_tree(rng, 4 if name == "many-modes" else 7, CASES[name]), rng


def _prescribed(twin: LoopTwin, rng: np.random.Generator, share: float) -> dict[int, float]:
    """Return random accelerations of a random share of the speeds that are free to move."""
    free = np.flatnonzero(twin.free_speeds())
    return {int(k): float(rng.normal()) for k in free if rng.random() < share}


def _named(model: Spacecraft, prescribed: dict[int, float]) -> dict[str, float]:
    return {model.speed_names[k]: value for k, value in prescribed.items()}


def _compare(tree: Tree, rng: np.random.Generator, terms: str, share: float) -> None:
    model, twin = Spacecraft(tree), LoopTwin(tree)
    q, u = random_state(tree, rng)
    tau, forces = rng.normal(size=twin.n_speeds), random_forces(tree, rng)
    prescribed = _prescribed(twin, rng, share)
    expected = twin.solve(q, u, tau, prescribed, forces, terms)
    got = darts_py.hybrid_dynamics(
        model, q, u, tau, prescribed=_named(model, prescribed), forces=forces, terms=terms
    )
    assert_close(got.udot, expected.udot, RTOL, "accelerations")
    assert_close(got.tau, expected.tau, RTOL, "forces")
    given = sorted(prescribed)
    np.testing.assert_array_equal(got.udot[given], [prescribed[k] for k in given])
    rest = np.setdiff1d(np.arange(twin.n_speeds), given)
    np.testing.assert_array_equal(got.tau[rest], tau[rest])
    loads = twin.hinge_loads(q, u, expected.udot, forces, terms)
    assert_close(got.hinge_loads, loads, RTOL, "loads")


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("share", [0.15, 0.5])
@pytest.mark.parametrize("name", CASES)
def test_hybrid_dynamics_agree_on_random_trees(name: str, share: float, terms: str) -> None:
    tree, rng = _case(name, int(10 * share))
    _compare(tree, rng, terms, share)


@pytest.mark.slow
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", CASES)
def test_hybrid_dynamics_agree_at_length(name: str, seed: int, terms: str) -> None:
    tree, rng = _case(name, 100 + seed)
    _compare(tree, rng, terms, rng.uniform(0.05, 0.9))


@pytest.mark.parametrize("kind", joint_kinds.ALL_KINDS)
def test_hybrid_dynamics_agree_for_every_joint(kind: str) -> None:
    rng = np.random.default_rng([32, joint_kinds.ALL_KINDS.index(kind)])
    tree = random_tree(rng, 4, Options(kinds=[kind], flexible=0.7, branching=1.0))
    _compare(tree, rng, "rl", 0.4)


@pytest.mark.parametrize("terms", TERMS)
def test_all_prescribed_is_inverse_dynamics(terms: str) -> None:
    tree, rng = _case("mixed", 7)
    model, twin = Spacecraft(tree), LoopTwin(tree)
    q, u = random_state(tree, rng)
    forces, udot = random_forces(tree, rng), rng.normal(size=twin.n_speeds)
    prescribed = dict(zip(model.speed_names, udot, strict=True))
    got = darts_py.hybrid_dynamics(model, q, u, prescribed=prescribed, forces=forces, terms=terms)
    tau = darts_py.inverse_dynamics(model, q, u, udot, forces=forces, terms=terms)
    assert_close(got.tau, tau, 1e-12)
    assert_close(got.tau, twin.inverse_dynamics(q, u, udot, forces, terms), RTOL)


@pytest.mark.parametrize("terms", TERMS)
def test_none_prescribed_is_forward_dynamics(terms: str) -> None:
    tree, rng = _case("springs-friction-locked", 7)
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=model.n_speeds)
    got = darts_py.hybrid_dynamics(model, q, u, tau, prescribed={}, terms=terms)
    np.testing.assert_array_equal(
        got.udot, darts_py.forward_dynamics(model, q, u, tau, terms=terms)
    )
    np.testing.assert_array_equal(got.tau, tau)


def test_prescribing_what_would_happen_anyway_needs_the_force_already_there() -> None:
    tree, rng = _case("mixed", 8)
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    tau = rng.normal(size=model.n_speeds)
    udot = darts_py.forward_dynamics(model, q, u, tau)
    chosen = {model.speed_names[k]: float(udot[k]) for k in range(0, model.n_speeds, 2)}
    got = darts_py.hybrid_dynamics(model, q, u, 0 * tau + tau, prescribed=chosen)
    assert_close(got.udot, udot, RTOL)
    assert_close(got.tau, tau, RTOL)


def test_prescribing_leaves_no_trace_in_the_model() -> None:
    tree, rng = _case("mixed", 9)
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    before = darts_py.forward_dynamics(model, q, u)
    chosen = dict.fromkeys(model.speed_names[::3], 1.0)
    darts_py.hybrid_dynamics(model, q, u, prescribed=chosen)
    np.testing.assert_array_equal(darts_py.forward_dynamics(model, q, u), before)


@pytest.mark.parametrize("terms", TERMS)
def test_hybrid_dynamics_of_spread_mass(terms: str) -> None:
    rng = np.random.default_rng(33)
    tree = without_rotary(random_tree(rng, 5, Options(flexible=1.0)))
    twin, model = LoopTwin(tree), Spacecraft(spread_out(tree))
    q, u = random_state(tree, rng)
    tau, prescribed = rng.normal(size=twin.n_speeds), _prescribed(twin, rng, 0.4)
    expected = twin.solve(q, u, tau, prescribed, None, terms)
    got = darts_py.hybrid_dynamics(
        model, q, u, tau, prescribed=_named(model, prescribed), terms=terms
    )
    assert_close(got.udot, expected.udot, RTOL)
    assert_close(got.tau, expected.tau, RTOL)
    assert_close(got.hinge_loads, twin.hinge_loads(q, u, expected.udot, None, terms), RTOL)


def test_arguments_are_checked() -> None:
    rng = np.random.default_rng(34)
    tree = random_tree(rng, 6, Options(kinds=["revolute"], flexible=0.0, locked=0.5))
    model = Spacecraft(tree)
    q, u = random_state(tree, rng)
    locked = next(joint.name for joint in tree.joints if joint.locked)
    for prescribed, phrase in (
        ({"nothing": 1.0}, "speed"),
        ({f"{locked}.angle_rate": 1.0}, "locked"),
        ({model.speed_names[0]: np.nan}, "finite"),
        ([model.speed_names[0]], "speed name"),
    ):
        with pytest.raises(ArgumentError, match=phrase):
            darts_py.hybrid_dynamics(model, q, u, prescribed=prescribed)  # type: ignore[arg-type]
