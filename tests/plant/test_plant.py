"""The plant: locks, changing masses, outcomes, and the same bits in every process."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

import darts_py
from darts_py._jit import kernels
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
    row = plant.arrays.body[plant.model.kernel_body[body]]
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


def test_non_finite_state_is_reported_as_a_status() -> None:
    tree, q, u = _system()
    plant = _plant(tree, q, u)
    plant.tau[0] = np.inf
    assert plant.advance(3) == darts_py.Status.NON_FINITE


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
    for kernel in kernels():
        assert len(getattr(kernel, "signatures", [])) <= 1, kernel


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"dt_ns": 0.001}, "dt_ns"),
        ({"dt_ns": 0}, "dt_ns"),
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
