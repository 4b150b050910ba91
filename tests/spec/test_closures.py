"""Closures in the model file: what reaches the tree, and every refusal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from darts_py.errors import ModelError
from darts_py.multibody import closure_types
from darts_py.multibody.tree import GROUND, Closure
from darts_py.spec import load_tree
from darts_py.spec.closures import CLOSURE_TYPES
from tests.spec.documents import LOOPED, assert_only_fault, changed, faults_of, write

RX, RY, RZ, TX, TY, TZ = np.eye(6)
EYE = "[[1, 0, 0], [0, 1, 0], [0, 0, 1], "
NONE = "[0, 0, 0]"


def closures_of(folder: Path, text: str = LOOPED) -> dict[str, Closure]:
    """Return the closures of a document by name."""
    return {closure.name: closure for closure in load_tree(write(folder, text)).closures}


def retyped(motion: str, mark: str = "") -> str:
    """Return the sound document with another motion of `strut`."""
    return changed("    type: revolute\n    axis: [0, 0, 2]\n", motion.replace("@@", mark), LOOPED)


def rows_of(*columns: np.ndarray) -> str:
    """Write a map."""
    return str(np.column_stack(columns).tolist())


def test_closures_reach_the_tree(tmp_path: Path) -> None:
    strut, tether = closures_of(tmp_path).values()
    assert (strut.body_a, strut.node_a, strut.body_b, strut.node_b) == (1, 1, 2, 0)
    assert (tether.body_a, tether.node_a, tether.body_b) == (0, 1, GROUND)
    np.testing.assert_array_equal(strut.o_a, [0, 0, 0.1])
    np.testing.assert_array_equal(tether.o_b, [0, 2, 0])
    np.testing.assert_allclose(strut.R_b, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_array_equal(strut.S, np.column_stack([RX, RY, TX, TY, TZ]))
    assert (strut.kind, tether.kind) == ("revolute", "ball")


FORBIDDEN = {
    "ball": [TX, TY, TZ],
    "revolute": [RX, RY, TX, TY, TZ],
    "weld": [RX, RY, RZ, TX, TY, TZ],
    "prismatic": [RX, RY, RZ, TX, TY],
    "cylindrical": [RX, RY, TX, TY],
    "planar": [RX, RY, TZ],
    "point_on_plane": [TZ],
    "point_on_line": [TX, TY],
    "map": [RX, RY, TX],  # a pin in a slot
}


@pytest.mark.parametrize("kind", CLOSURE_TYPES)
def test_each_type_forbids_what_the_page_says(tmp_path: Path, kind: str) -> None:
    expected = np.column_stack(FORBIDDEN[kind])
    keys = "    axis: [0, 0, -3]\n" if kind not in ("ball", "weld", "map") else ""
    keys = f"    map: {expected.tolist()}\n" if kind == "map" else keys
    S = closures_of(tmp_path, retyped(f"    type: {kind}\n{keys}"))["strut"].S
    np.testing.assert_allclose(S.T @ S, np.eye(S.shape[1]), atol=1e-15)
    np.testing.assert_allclose(S @ S.T, expected @ expected.T, atol=1e-15)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", [k for k in CLOSURE_TYPES if k not in ("ball", "weld", "map")])
def test_axes_in_any_direction_give_orthonormal_directions(kind: str, seed: int) -> None:
    """Turning the axis turns what is forbidden; nothing else changes."""
    rng = np.random.default_rng(seed)
    h = rng.normal(size=3)
    R = np.linalg.qr(np.column_stack([h, rng.normal(size=(3, 2))]))[0]
    R[:, 0] *= np.sign(R[:, 0] @ h)
    S = getattr(closure_types, kind)(h)
    plain = getattr(closure_types, kind)([1.0, 0.0, 0.0])
    turned = np.vstack([R @ plain[:3], R @ plain[3:]])
    np.testing.assert_allclose(S.T @ S, np.eye(S.shape[1]), atol=1e-14)
    np.testing.assert_allclose(S @ S.T, turned @ turned.T, atol=1e-14)
    pure = np.minimum(np.abs(S[:3]).max(0), np.abs(S[3:]).max(0))
    np.testing.assert_array_equal(pure, 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_map_is_orthonormalised_within_its_span(seed: int) -> None:
    """Whatever the columns: same span, pure rotations and translations kept apart."""
    rng = np.random.default_rng(seed)
    h = rng.normal(size=3)
    screw = np.r_[-rng.uniform(0.1, 2) * h / (h @ h), h / np.linalg.norm(h)]
    S = np.column_stack([closure_types.revolute(h)[:, :2], closure_types.point_on_line(h), screw])
    mixed = S @ (np.eye(5) + 0.3 * rng.uniform(-1, 1, size=(5, 5)))
    got = closure_types.constrained_map(10.0 ** rng.uniform(-3, 3) * mixed)
    basis = np.linalg.qr(S)[0]
    np.testing.assert_allclose(got.T @ got, np.eye(5), atol=1e-13)
    np.testing.assert_allclose(got @ got.T, basis @ basis.T, atol=1e-11)
    np.testing.assert_array_equal(got[3:, :2], 0.0)
    np.testing.assert_array_equal(got[:3, 3:], 0.0)


def test_map_typed_as_unit_columns_comes_back_as_typed() -> None:
    S = np.column_stack([RX, RY, TX, TZ])
    np.testing.assert_array_equal(closure_types.constrained_map(S), S)


def _random_subspace(rng: np.random.Generator, r: int) -> np.ndarray:
    """Return r random columns, often with pure ones among them."""
    columns = rng.normal(size=(6, r))
    for k in range(r):
        choice = rng.integers(3)
        columns[:3, k] *= choice != 0
        columns[3:, k] *= choice != 1
    return columns


@pytest.mark.parametrize("seed", range(200))
def test_map_is_admissible_where_the_free_motions_are_closed(seed: int) -> None:
    """Against the criterion itself: brackets (w1 x w2, 0) of free motions are free."""
    rng = np.random.default_rng(seed)
    S = _random_subspace(rng, int(rng.integers(1, 6)))
    U, s, _ = np.linalg.svd(S)
    free = U[:, int(np.sum(s > 1e-9)) :].T
    brackets = [np.r_[np.cross(a[:3], b[:3]), 0, 0, 0] for a in free for b in free]
    closed = all(np.abs(S.T @ bracket).max() < 1e-9 for bracket in brackets)
    independent = np.linalg.matrix_rank(S, tol=1e-9) == S.shape[1]
    if closed and independent:
        closure_types.constrained_map(S)
    else:
        with pytest.raises(ModelError):
            closure_types.constrained_map(S)


REFUSED = {
    "single rotation": (rows_of(RZ), ["one rotation", "non-holonomic", "universal"]),
    "single rotation with slides": (rows_of(TX, RZ, TY), ["one rotation", "non-holonomic"]),
    "one tied rotation alone": (rows_of(RZ + TZ), ["no rotation and ties 1"]),
    "two rotations, one tied": (rows_of(RX, RY + TY), ["one rotation and ties 1"]),
    "dependent": (rows_of(TX, TX), ["dependent"]),
    "zero": (rows_of(TX, 0 * TX), ["zero column"]),
    "ragged": ("[[1], [0, 1], [0], [0], [0], [0]]", ["six rows of one length"]),
    "too few rows": ("[[1], [0]]", ["2 values", "6 values"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_map_is_refused_with_the_reason(tmp_path: Path, case: str) -> None:
    rows, phrases = REFUSED[case]
    text = retyped(f"    type: map\n    map: @@{rows}\n", mark="@@")
    assert_only_fault(tmp_path, text, "closures.strut.map", *phrases)


def test_screw_and_slot_are_admissible(tmp_path: Path) -> None:
    screw = rows_of(RX, RY, TX, TY, 0.1 * RZ - TZ)
    for rows, rank in ((screw, 5), (rows_of(RX, RY, TX), 3), (rows_of(TX, TZ), 2)):
        closure = closures_of(tmp_path, retyped(f"    type: map\n    map: {rows}\n"))["strut"]
        assert closure.S.shape == (6, rank)


# old text, new text with the mark, path, phrases
FAULTS = {
    "unknown type": ("type: ball", "type: @@bal", "tether.type", ["did you mean 'ball'?", "weld"]),
    "no axis": ("  strut:\n", "  @@strut:\n", "strut.axis", ["the key 'axis'"]),
    "axis of a ball": (
        "type: ball",
        "type: ball\n    @@axis: [1, 0, 0]",
        "tether.axis",
        ["unknown key"],
    ),
    "unknown body": ("a: panel", "a: @@panl", "strut.a", ["unknown body", "'panel'?", "ground"]),
    "unknown node": ("a_node: tip", "a_node: @@tipp", "strut.a_node", ["did you mean 'tip'?"]),
    "no node on a flexible body": ("  strut:\n", "  @@strut:\n", "strut.a_node", ["root, tip"]),
    "node of ground": (
        "    b_offset_m: [0, 2, 0]",
        "    b_node: @@port",
        "tether.b_node",
        ["ground has none", "b_offset_m"],
    ),
    "ground to ground": (
        "    a: bus\n    a_node: port\n    b: ground",
        "    a: ground\n    b: @@ground",
        "tether.b",
        ["ground on both sides"],
    ),
    "rigid body to itself": (
        "    a_node: port\n    b: ground",
        "    a_node: port\n    b: @@bus",
        "tether.b",
        ["two nodes of one rigid body", "do not move relative"],
    ),
    "node to itself": (
        "    b: wheel",
        "    b: @@panel\n    b_node: tip",
        "strut.b",
        ["one node of body 'panel'"],
    ),
    "name of a joint": ("  tether:\n", "  @@drive:\n", "drive", ["the name of a joint"]),
    "bad name": ("  tether:\n", "  @@1st:\n", "1st", ["letters, digits"]),
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault_is_placed_and_worded(tmp_path: Path, case: str) -> None:
    old, new, path, phrases = FAULTS[case]
    text = changed(old, new, LOOPED)
    if case == "no axis":
        text = changed("    axis: [0, 0, 2]\n", "", text)
    if case == "no node on a flexible body":
        text = changed("    a_node: tip\n", "", text)
    assert_only_fault(tmp_path, text, f"closures.{path}", *phrases)


def test_two_nodes_of_a_flexible_body_may_be_tied(tmp_path: Path) -> None:
    text = changed("    b: wheel", "    b: panel\n    b_node: root", LOOPED)
    strut = closures_of(tmp_path, text)["strut"]
    assert (strut.body_a, strut.body_b, strut.node_a, strut.node_b) == (1, 1, 1, 0)


def test_closures_are_a_mapping(tmp_path: Path) -> None:
    head = LOOPED[: LOOPED.index("closures:")]
    assert_only_fault(tmp_path, head + "@@closures: [1]\n", "closures", "a mapping of closures")
    for empty in ("closures: {}\n", "closures: null\n", "closures:\n", ""):
        assert load_tree(write(tmp_path, head + empty)).closures == ()


def test_reference_faults_are_listed_beside_others(tmp_path: Path) -> None:
    text = changed("    a: panel", "    a: panl", LOOPED)
    text = changed("axis: [0, 0, 2]", "axis: [0, 0, 0]", text)
    text = changed("b: ground", "b: groun", text)
    paths = [fault.path for fault in faults_of(tmp_path, text)]
    assert paths == ["closures.strut.axis", "closures.strut.a", "closures.tether.b"]
