"""The plant: locks, changing masses, outcomes, and the same bits in every process."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

import darts_py
from darts_py._jit import JIT_IS_OFF, kernels
from darts_py.errors import ArgumentError
from darts_py.multibody.spacecraft import Spacecraft
from darts_py.multibody.tree import Tree
from tests.reference import golden
from tests.reference.trees import Options, random_state, random_tree

INTEGRATORS = ("rk4", "rk4-lie", "semi-implicit-euler", "implicit-modes")


def _system(seed: int = 3) -> tuple[Tree, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5, Options(max_modes=2))
    q, u = random_state(tree, rng)
    return tree, q, u


def _plant(tree: Tree, q: np.ndarray, u: np.ndarray, **options: object) -> darts_py.Plant:
    options = {"dt_ns": 100_000, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # random modes may be fast; runs are short
        plant = darts_py.Plant(Spacecraft(tree), **options)  # type: ignore[arg-type]
    plant.q[:], plant.u[:] = q, u
    return plant


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_plant_with_a_changed_mass_moves_like_a_model_made_with_it(integrator: str) -> None:
    tree, q, u = _system()
    node = tree.bodies[-1].nodes[-1]
    heavier = replace(node, m=3.0 * node.m + 1.0, p=node.p + 0.1, Jc=2.0 * node.Jc + np.eye(3))
    body = replace(tree.bodies[-1], nodes=(*tree.bodies[-1].nodes[:-1], heavier))
    changed = _plant(tree, q, u, integrator=integrator)
    name = f"{body.name}.{node.name}"
    changed.set_node_mass(name, heavier.m, heavier.p, heavier.Jc)
    made = _plant(replace(tree, bodies=(*tree.bodies[:-1], body)), q, u, integrator=integrator)
    changed.advance(20)
    made.advance(20)
    assert np.allclose(changed.u, made.u, rtol=1e-12, atol=1e-12)
    assert np.allclose(changed.q, made.q, rtol=1e-12, atol=1e-12)


def test_changing_a_mass_in_flight_leaves_other_plants_alone() -> None:
    tree, q, _ = _system()
    model = Spacecraft(tree)
    before = darts_py.mass_matrix(model, q)
    plant = darts_py.Plant(model, dt_ns=1000)
    plant.set_node_mass(f"{tree.bodies[0].name}.{tree.bodies[0].nodes[0].name}", 1234.0)
    assert np.array_equal(darts_py.mass_matrix(model, q), before)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_locked_joint_stays_and_an_unlocked_one_moves_again(integrator: str) -> None:
    tree, q, u = _system()
    plant = _plant(tree, q, u, integrator=integrator)
    moving = [j for j in tree.joints if j.n_speeds]
    plant.lock(moving[-1].name)
    body = len(tree.joints) - 1 - [j is moving[-1] for j in tree.joints][::-1].index(True)
    row = plant.model.arrays.body[plant.model.kernel_body[body]]
    first = int(row["u_start"] + row["n_modes"])
    plant.advance(50)
    assert not np.any(plant.u[first : first + int(row["n_hinge"])])
    plant.unlock(moving[-1].name)
    plant.advance(50)
    assert np.any(plant.u[first : first + int(row["n_hinge"])])


def test_a_plant_locked_by_its_model_equals_one_locked_later() -> None:
    tree, q, u = _system()
    index = max(i for i, j in enumerate(tree.joints) if j.n_speeds)
    joints = list(tree.joints)
    joints[index] = replace(joints[index], locked=True)
    later = _plant(tree, q, u)
    later.lock(joints[index].name)
    at_once = _plant(replace(tree, joints=tuple(joints)), q, later.u)
    later.advance(20)
    at_once.advance(20)
    assert later.u.tobytes() == at_once.u.tobytes()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # un-jitted, numpy speaks up
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_state_that_blows_up_stays_at_its_last_good_step(integrator: str) -> None:
    tree, q, u = _system()
    plant = _plant(tree, q, u, integrator=integrator)
    assert plant.advance(3) == darts_py.Status.OK
    good = np.concatenate([plant.q, plant.u])
    plant.tau[0] = np.inf
    for _ in range(2):  # the second call fails the same way
        assert plant.advance(5) == darts_py.Status.NON_FINITE
        assert plant.tick == 3
        assert np.array_equal(np.concatenate([plant.q, plant.u]), good)
    plant.tau[0] = 0.0
    assert plant.advance(5) == darts_py.Status.OK
    assert plant.tick == 8


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_copied_plant_goes_its_own_way(integrator: str) -> None:
    tree, q, u = _system()
    plant = _plant(tree, q, u, integrator=integrator)
    twin = copy.deepcopy(plant)
    twin.advance(10)
    assert plant.tick == 0
    assert np.array_equal(plant.u, u)
    plant.advance(10)
    assert plant.u.tobytes() == twin.u.tobytes()


def test_assigning_an_array_copies_into_it() -> None:
    tree, q, u = _system()
    plant = _plant(tree, q, u)
    tau, plain = np.ones(plant.u.size), plant.tau
    plant.tau = tau
    assert plain is plant.tau
    assert np.array_equal(plain, tau)
    with pytest.raises(ArgumentError, match="u: got shape"):
        plant.u = np.zeros(3)
    with pytest.raises(AttributeError):
        plant.dt_ns = 5  # type: ignore[misc]


def test_books_are_kept_with_the_masses_of_the_moment() -> None:
    tree, q, u = _system()
    plant = _plant(tree, q, u)
    name = f"{tree.bodies[0].name}.{tree.bodies[0].nodes[0].name}"
    before = darts_py.energy(plant.model, q, u).kinetic
    plant.set_node_mass(name, 10.0 * tree.bodies[0].nodes[0].m + 1.0)
    assert darts_py.energy(plant.model, q, u).kinetic > before


def test_locking_is_an_internal_impulse() -> None:
    """A rigid free system: momentum is kept to rounding, energy goes down, others take over."""
    rng = np.random.default_rng(8)
    tree = random_tree(rng, 5, Options(max_modes=0, root="free", passive=0.0, n_roots=1))
    q, u = random_state(tree, rng)
    plant = _plant(tree, q, u)
    before = darts_py.momentum(plant.model, plant.q, plant.u)
    energy = darts_py.energy(plant.model, plant.q, plant.u).kinetic
    joint = next(j.name for j in tree.joints if j.n_speeds and j.parent >= 0)
    plant.lock(joint)
    after = darts_py.momentum(plant.model, plant.q, plant.u)
    assert np.abs(after - before).max() <= 1e-12 * np.abs(before).max()
    assert darts_py.energy(plant.model, plant.q, plant.u).kinetic < energy


def test_speeds_of_a_locked_joint_are_ignored() -> None:
    tree, q, u = _system()
    index = max(i for i, j in enumerate(tree.joints) if j.n_speeds)
    joints = list(tree.joints)
    joints[index] = replace(joints[index], locked=True)
    plant = _plant(replace(tree, joints=tuple(joints)), q, u)
    row = plant.model.arrays.body[plant.model.kernel_body[index]]
    held = slice(int(row["q_start"] + row["n_modes"]), int(row["q_start"] + row["n_modes"] + 1))
    plant.u[:] = 1.0
    plant.advance(20)
    assert np.array_equal(plant.q[held], q[held])


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        ((-1.0,), "mass_kg: got -1.0, expected a number >= 0"),
        (("a",), "mass_kg"),
        ((1.0, [0.0, 1.0]), "center_of_mass_m"),
        ((1.0, None, -np.eye(3)), "inertia_kg_m2.*triangle"),
        ((1.0, None, [[1, 1, 0], [0, 1, 0], [0, 0, 1]]), "inertia_kg_m2.*symmetric"),
    ],
)
def test_masses_that_cannot_be_are_refused(arguments: tuple, phrase: str) -> None:
    plant = _plant(golden.tree(), golden.Q, golden.U)
    with pytest.raises(ArgumentError, match=phrase):
        plant.set_node_mass("mast.tip", *arguments)
    assert plant.advance(2) == darts_py.Status.OK


@pytest.mark.skipif(JIT_IS_OFF, reason="Python raises where compiled division gives infinity")
def test_a_joint_keeps_something_to_move() -> None:
    plant = _plant(golden.tree(), golden.Q, golden.U)
    with pytest.raises(ArgumentError, match="mass left on every moving part"):
        plant.set_node_mass("mast.tip", 0.0, None, np.zeros((3, 3)))
    assert plant.advance(2) == darts_py.Status.OK


def test_time_is_whole_steps() -> None:
    plant = _plant(golden.tree(), golden.Q, golden.U, dt_ns=333_333)
    plant.advance(1000)
    plant.advance(0)
    assert (plant.tick, plant.t_ns) == (1000, 333_333_000)


def test_two_processes_give_the_same_bits() -> None:
    code = (
        "import darts_py, hashlib; from darts_py.multibody.spacecraft import Spacecraft;"
        "from tests.reference import golden;"
        "p = darts_py.Plant(Spacecraft(golden.tree()), dt_ns=100000);"
        "p.q[:] = golden.Q; p.u[:] = golden.U; p.advance(200);"
        "print(hashlib.sha256(p.q.tobytes() + p.u.tobytes()).hexdigest())"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            for _ in range(2)]  # fmt: skip
    assert runs[0].stdout == runs[1].stdout
    assert len(runs[0].stdout.strip()) == 64


def test_every_kernel_has_one_signature() -> None:
    """A second one would mean a compilation in mid-run."""
    for integrator in INTEGRATORS:
        for terms in ("rl", "crl"):
            _plant(golden.tree(), golden.Q, golden.U, integrator=integrator, terms=terms).advance(1)
    tree, q, u = _system()
    _plant(tree, q, u).advance(1)
    frozen = golden.Q.copy()
    frozen.flags.writeable = False  # as from a log or a ring: not another type to the kernels
    model = Spacecraft(golden.tree())
    for method in ("articulated", "composite"):
        darts_py.forward_dynamics(model, frozen, golden.U, method=method)
    for deformed in (True, False):
        darts_py.node_motion(model, frozen, golden.U, golden.U, node="mast.tip", deformed=deformed)
    darts_py.energy(model, frozen, golden.U)
    darts_py.momentum(model, frozen, golden.U)
    for kernel in kernels():
        assert len(getattr(kernel, "signatures", [])) <= 1, kernel


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"dt_ns": 0.001}, "dt_ns"),
        ({"dt_ns": 0}, "dt_ns"),
        ({"dt_ns": True}, "dt_ns"),
        ({"integrator": "euler"}, "integrator"),
        ({"terms": "exact"}, "terms"),
    ],
)
def test_a_plant_refuses_what_it_cannot_use(options: dict[str, object], word: str) -> None:
    with pytest.raises(ArgumentError, match=f"{word}: got .* expected"):
        _plant(golden.tree(), golden.Q, golden.U, **options)


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    plant = _plant(golden.tree(), golden.Q, golden.U)
    with pytest.raises(ArgumentError, match=r"did you mean 'mast.tip'"):
        plant.set_node_mass("mast.tpi", 1.0)
    with pytest.raises(ArgumentError, match="hinge"):
        plant.lock("hing")


def test_stiff_modes_are_announced() -> None:
    with pytest.warns(RuntimeWarning, match="implicit-modes"):
        darts_py.Plant(Spacecraft(golden.tree()), dt_ns=1_000_000_000, integrator="rk4")
