"""Flexible bodies: modal checks, damping, modes files."""

from __future__ import annotations

import io
import random
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from darts_py.spec import load_tree
from darts_py.spec.modes_file import read_modes_file
from darts_py.spec.spatial import modal_mass
from tests.spec.documents import SOUND, assert_only_fault, changed, faults_of, write

STIFFNESS = "stiffness_n_m: [100, 150]"
DAMPING = "damping_n_m_s: [0.5, 0.4]"
SECOND = "          - {slope_rad: [0, 0, -0.3], displacement_m: [0.25, 0, 0]}\n"
FLEXIBLE = "bodies.panel.flexible"

MODAL = {
    "stiffness not symmetric": (
        STIFFNESS,
        "stiffness_n_m: @@[[100, 1], [0, 150]]",
        FLEXIBLE + ".stiffness_n_m",
        "symmetric",
    ),
    "stiffness negative": (
        STIFFNESS,
        "stiffness_n_m: @@[100, -1]",
        FLEXIBLE + ".stiffness_n_m",
        "positive semidefinite",
    ),
    "stiffness ragged": (
        STIFFNESS,
        "stiffness_n_m: @@[[100, 1], [1]]",
        FLEXIBLE + ".stiffness_n_m",
        "square",
    ),
    "damping indefinite": (
        DAMPING,
        "damping_n_m_s: @@[[1, 2], [2, 1]]",
        FLEXIBLE + ".damping_n_m_s",
        "positive semidefinite",
    ),
    "damping of another size": (
        DAMPING,
        "damping_n_m_s: @@[1, 2, 3]",
        FLEXIBLE + ".damping_n_m_s",
        "3 modes",
    ),
    "ratio of another size": (
        DAMPING,
        "damping_ratio: @@[0.1, 0.1, 0.1]",
        FLEXIBLE + ".damping_ratio",
        "1 or 2",
    ),
    "shapes of another number": (
        "        modes:\n",
        "        modes:\n          @@- {}\n",
        "bodies.panel.nodes.tip.modes",
        "3 mode shapes",
    ),
    "negative node mass": (
        "        mass_kg: 1\n",
        "        mass_kg: @@-1\n",
        "bodies.panel.nodes.tip.mass_kg",
        ">= 0",
    ),
    "node inertia impossible": (
        "inertia_kg_m2: [0.05, 0.05, 0.05]",
        "inertia_kg_m2: @@[0.05, 0.05, 0.5]",
        "bodies.panel.nodes.tip.inertia_kg_m2",
        "triangle",
    ),
    "inertia without mass": (
        "        mass_kg: 2\n        inertia",
        "        @@mass_kg: 0\n        inertia",
        "bodies.panel.nodes.root",
        "inertia without mass",
    ),
}


@pytest.mark.parametrize("case", MODAL)
def test_modal_fault_is_placed_and_worded(tmp_path: Path, case: str) -> None:
    old, new, path, phrase = MODAL[case]
    text = changed(old, new)
    if case == "inertia without mass":  # the place of a mapping is its first key
        text = text.replace("@@", "")
        text = changed("      root:\n        position", "      root:\n        @@position", text)
    assert_only_fault(tmp_path, text, path, phrase)


WHOLE = {
    "no damping": ("      " + DAMPING + "\n", "", "one of damping_n_m_s and damping_ratio"),
    "both dampings": (DAMPING, DAMPING + "\n      damping_ratio: 0.1", "got both"),
    "mode without mass": (SECOND, "          - {}\n", "mode 2 without mass"),
    "dependent modes": (
        SECOND,
        "          - {slope_rad: [0.6, 0, 0], displacement_m: [0, 0, 0.4]}\n",
        "modes 1, 2 that are not independent",
    ),
}


@pytest.mark.parametrize("case", WHOLE)
def test_fault_of_the_whole_body_points_at_flexible(tmp_path: Path, case: str) -> None:
    old, new, phrase = WHOLE[case]
    text = changed("    flexible:", "    @@flexible:", changed(old, new))
    assert_only_fault(tmp_path, text, FLEXIBLE, phrase)


def test_missing_stiffness_is_noted(tmp_path: Path) -> None:
    text = changed("      " + STIFFNESS + "\n", "")
    text = changed("    flexible:", "    @@flexible:", text)
    assert_only_fault(tmp_path, text, FLEXIBLE + ".stiffness_n_m", "modes_file")


def test_rigid_motion_as_a_mode_is_refused(tmp_path: Path) -> None:
    text = changed(SECOND, "          - {displacement_m: [1, 0, 0]}\n")
    root = "        inertia_kg_m2: [0.1, 0.2, 0.25]\n"
    text = changed(root, root + "        modes: [{}, {displacement_m: [1, 0, 0]}]\n", text)
    text = changed("    flexible:", "    @@flexible:", text)
    assert_only_fault(tmp_path, text, FLEXIBLE, "modes 2", "rigid motion", "node 'root'")


def test_mode_that_repeats_the_joint_is_refused(tmp_path: Path) -> None:
    """A pendulum swing about the hinge axis, with the hinge node's own slope left out."""
    text = changed("        inertia_kg_m2: [0.1, 0.2, 0.25]\n", "")
    text = changed("        mass_kg: 2\n", "", text)
    text = changed("axis: [0, 1, 0]", "axis: [0, 0, 1]", text)
    text = changed(SECOND, "          - {slope_rad: [0, 0, 1], displacement_m: [-1, 0, 0]}\n", text)
    text = changed("  drive:\n", "  @@drive:\n", text)
    assert_only_fault(tmp_path, text, "joints.drive", "a mode of 'panel' as well")


def point_masses(text: str = SOUND) -> str:
    text = changed("        inertia_kg_m2: [0.1, 0.2, 0.25]\n", "", text)
    return changed("        inertia_kg_m2: [0.05, 0.05, 0.05]\n", "", text)


def test_massless_terminal_body_is_refused(tmp_path: Path) -> None:
    """Point masses on the hinge axis have no inertia about it."""
    text = changed("  drive:\n", "  @@drive:\n", point_masses())
    assert_only_fault(tmp_path, text, "joints.drive", "moves no mass", "massless terminal body")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("revolute\n    axis: [0, 1, 0]", "prismatic\n    axis: [0, 1, 0]"),
        ("    type: revolute\n    axis: [0, 1, 0]", "    type: fixed"),
        ("axis: [0, 1, 0]", "axis: [0, 1, 0]\n    locked: true"),
    ],
)
def test_massless_direction_is_fine_where_nothing_moves_along_it(
    tmp_path: Path, old: str, new: str
) -> None:
    assert faults_of(tmp_path, changed(old, new, point_masses())) == []


def test_massless_direction_is_fine_with_mass_outboard(tmp_path: Path) -> None:
    text = changed(
        "    parent: bus\n    parent_rotation",
        "    parent: panel\n    parent_node: tip\n    parent_rotation",
        point_masses(),
    )
    assert faults_of(tmp_path, text) == []


def test_massless_body_is_found_beside_other_faults(tmp_path: Path) -> None:
    text = changed("    mass_kg: 4\n", "    mass_kg: -4\n", point_masses())
    paths = [fault.path for fault in faults_of(tmp_path, text)]
    assert paths == ["bodies.wheel.mass_kg", "joints.drive"]


def test_nothing_is_judged_inboard_of_a_faulty_joint(tmp_path: Path) -> None:
    """The wheel would give the panel its inertia, were its joint not faulty."""
    text = changed("    child: wheel\n", "    child: wheel\n    colour: red\n", point_masses())
    inner, outer = "    parent: bus\n    parent_rotation", "    parent: panel\n    parent_rotation"
    paths = [fault.path for fault in faults_of(tmp_path, changed(inner, outer, text))]
    assert paths == ["joints.spin.colour"]


def test_body_without_any_mass_is_refused(tmp_path: Path) -> None:
    text = point_masses().replace("        mass_kg: 2\n", "").replace("        mass_kg: 1\n", "")
    text = changed("  panel:\n", "  @@panel:\n", text)
    assert_only_fault(tmp_path, text, "bodies.panel", "no mass on any node")


def test_damping_ratio_damps_each_natural_mode(tmp_path: Path) -> None:
    text = changed(STIFFNESS, "stiffness_n_m: [[100, 20], [20, 150]]")
    tree = load_tree(write(tmp_path, changed(DAMPING, "damping_ratio: 0.02", text)))
    panel = tree.bodies[1]
    M = modal_mass(panel.nodes)[:2, :2]
    squares, X = np.linalg.eig(np.linalg.solve(M, panel.K))
    for w2, x in zip(squares, X.T, strict=True):
        np.testing.assert_allclose(panel.Dm @ x, 2 * 0.02 * np.sqrt(w2) * (M @ x), rtol=1e-12)


def test_damping_ratio_per_mode_needs_natural_modes(tmp_path: Path) -> None:
    text = changed(STIFFNESS, "stiffness_n_m: [[100, 20], [20, 150]]")
    text = changed(DAMPING, "damping_ratio: @@[0.02, 0.01]", text)
    assert_only_fault(tmp_path, text, FLEXIBLE + ".damping_ratio", "not natural modes")


# ---- modes files

NODES_START = SOUND.index("    nodes:\n      root:")
NODES_END = SOUND.index("  wheel:")
FROM_FILE = changed(
    f"      {STIFFNESS}\n      {DAMPING}\n",
    "      modes_file: @@panel.npz\n      damping_ratio: 0.01\n",
    SOUND[:NODES_START] + SOUND[NODES_END:],
)
PATH = FLEXIBLE + ".modes_file"


def arrays() -> dict[str, np.ndarray]:
    modes = np.zeros((2, 6, 2))
    modes[1, :, 0] = [0.3, 0, 0, 0, 0, 0.2]
    modes[1, :, 1] = [0, 0, -0.3, 0.25, 0, 0]
    return {
        "names": np.array(["root", "tip"]),
        "position_m": np.array([[0.0, 0, 0], [0, 1, 0]]),
        "mass_kg": np.array([2.0, 1.0]),
        "inertia_kg_m2": np.array([[0.1, 0.2, 0.25], [0.05, 0.05, 0.05]]),
        "modes": modes,
        "stiffness_n_m": np.array([100.0, 150.0]),
    }


def test_modes_file_gives_the_same_body_as_writing_out(tmp_path: Path) -> None:
    np.savez(tmp_path / "panel.npz", **arrays(), damping_n_m_s=np.diag([0.5, 0.4]))
    text = changed("      damping_ratio: 0.01\n", "", FROM_FILE)
    from_file = load_tree(write(tmp_path, text)).bodies[1]
    written = load_tree(write(tmp_path, SOUND)).bodies[1]
    np.testing.assert_array_equal(from_file.K, written.K)
    np.testing.assert_array_equal(from_file.Dm, written.Dm)
    for a, b in zip(from_file.nodes, written.nodes, strict=True):
        assert (a.name, a.m) == (b.name, b.m)
        for field in ("r", "p", "Jc", "Pi"):
            np.testing.assert_array_equal(getattr(a, field), getattr(b, field))


BAD_ARRAYS = {
    "missing array": ("modes", None, "no array 'modes'"),
    "wrong shape": ("mass_kg", np.ones(3), "array 'mass_kg' of shape (3,)"),
    "wrong modes": ("modes", np.zeros((2, 5, 2)), "array 'modes' of shape (2, 5, 2)"),
    "wrong type": ("position_m", np.array([["a"] * 3] * 2), "array 'position_m' of type"),
    "not finite": ("position_m", np.full((2, 3), np.nan), "array 'position_m' with a value"),
    "negative mass": ("mass_kg", np.array([-1.0, 1.0]), "array 'mass_kg' with -1"),
    "names twice": ("names", np.array(["a", "a"]), "array 'names' with a name twice"),
    "names odd": ("names", np.array(["a b", "c"]), "array 'names' with 'a b'"),
    "names of bytes": ("names", np.array([b"a", b"c"]), "array 'names' of shape"),
    "unknown array": ("extra", np.ones(2), "unknown array 'extra'"),
    "stiffness": ("stiffness_n_m", np.array([[1.0, 2], [0, 1]]), "array 'stiffness_n_m': entries"),
    "inertia": ("inertia_kg_m2", np.array([[1.0, 1, 3], [1, 1, 1]]), "at node 'root'"),
    "objects": ("mass_kg", np.array([1.0, None]), "Python objects"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_bad_array_is_named_with_its_file(tmp_path: Path, case: str) -> None:
    key, array, phrase = BAD_ARRAYS[case]
    data = arrays() | {key: array}
    if array is None:
        del data[key]
    np.savez(tmp_path / "panel.npz", **data)
    assert_only_fault(tmp_path, FROM_FILE, PATH, phrase, "panel.npz")


def test_modes_file_that_is_missing(tmp_path: Path) -> None:
    assert_only_fault(tmp_path, FROM_FILE, PATH, "no file", "panel.npz")


@pytest.mark.parametrize("content", [b"", b"words", b"PK\x03\x04" + bytes(100)])
def test_modes_file_that_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "panel.npz").write_bytes(content)
    assert_only_fault(tmp_path, FROM_FILE, PATH, "cannot be read")


def test_header_that_claims_more_than_there_is(tmp_path: Path) -> None:
    """Memory is not given to an array on its header's word."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    np.savez(tmp_path / "panel.npz", **{k: v for k, v in arrays().items() if k != "mass_kg"})
    with zipfile.ZipFile(tmp_path / "panel.npz", "a") as archive:
        archive.writestr("mass_kg.npy", stream.getvalue())
    assert_only_fault(tmp_path, FROM_FILE, PATH, "'mass_kg'", "does not agree with its size")


@given(seed=st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_mangled_modes_file_only_ever_gives_faults(seed: random.Random) -> None:
    """Arrays are mangled inside the archive, so that its checksums do not catch it first."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays().items():
            member = io.BytesIO()
            np.save(member, array)
            raw = bytearray(member.getvalue())
            for _ in range(seed.randint(0, 3)):
                raw[seed.randrange(len(raw))] = seed.choice(b"0123456789()<>|fOUV,' {}\x00\xff")
            archive.writestr(f"{name}.npy", bytes(raw))
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "panel.npz"
        file.write_bytes(stream.getvalue())
        data = read_modes_file(file, lambda got, expected: notes.append(got + expected))
    assert (data is None) == bool(notes)


def test_two_sources_of_one_thing_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "panel.npz", **arrays(), damping_n_m_s=np.ones(2))
    text = changed(
        "      damping_ratio: 0.01\n", f"      damping_ratio: 0.01\n      {STIFFNESS}\n", FROM_FILE
    )
    listing = "\n".join(str(fault) for fault in faults_of(tmp_path, text))
    assert "damping in one place" in listing
    assert "modes_file has it" in listing
