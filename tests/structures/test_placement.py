"""Files in other units, meshes in other axes: the same structure is the same body."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from darts_py.multibody.tree import Body
from darts_py.spec import load_tree
from darts_py.structures.fe_files import write_elements
from darts_py.structures.fe_model import FiniteElements
from tests.spec.documents import faults_of
from tests.structures.beams import turned
from tests.structures.meshes import beam_mesh, face, solid_mesh

MODEL = """\
darts_model: 1
name: placed
bodies:
  bus: {mass_kg: 100, inertia_kg_m2: [10, 12, 14]}
  panel:
    flexible:
      finite_elements:
        file: mesh.npz
        KEYS
        modes: {boundary: BOUNDARY, count: 6HELD, include_node_masses: true}
      damping_ratio: 0.005
    nodes:
      root: {ROOT}
      tip:
        TIP
        mass_kg: 1.5
        center_of_mass_offset_m: [0.1, -0.2, 0.3]
        inertia_kg_m2: [[0.3, 0.02, 0], [0.02, 0.2, 0.01], [0, 0.01, 0.25]]
joints:
  base: {type: free, parent: ground, child: bus}
  hinge: {type: revolute, axis: [0, 0, 1], parent: bus, child: panel, child_node: root}
"""

INCH, POUND, POUND_FORCE = 0.0254, 0.45359237, 4.4482216152605
UNITS = {  # length in m, mass in kg, force in N as the file says it (None: not at all)
    "mm, t, N": (1e-3, 1e3, None),
    "mm, kg, N": (1e-3, 1.0, 1.0),
    "inch, pound, pound-force": (INCH, POUND, POUND_FORCE),
    "cm, g, dyn": (1e-2, 1e-3, None),
    "SI": (1.0, 1.0, None),
}
ORIGIN = np.array([0.7, -0.3, 1.1])


def in_file(model: FiniteElements, units: str, R: np.ndarray, origin: np.ndarray) -> FiniteElements:
    """The same structure in a mesh's own axes and units, entry by entry from what units mean."""
    length, mass, force = UNITS[units]
    force = mass * length if force is None else force
    turn = np.zeros((model.n, model.n))
    for i in range(model.n):  # component c of node k in mesh axes from those in body axes
        same = (model.node == model.node[i]) & (model.component // 3 == model.component[i] // 3)
        turn[i, same] = R[model.component[same] % 3, model.component[i] % 3]
    arm = np.where(model.component < 3, 0, 1)  # powers of length beside a translation's
    power = arm[:, None] + arm[None, :]
    K = turn @ model.K.toarray() @ turn.T / (force / length * length**power)
    M = turn @ model.M.toarray() @ turn.T / (mass * length**power)
    return FiniteElements(
        sp.csr_array(K),
        sp.csr_array(M),
        model.node_id,
        (model.position - origin) @ R / length,
        model.node,
        model.component,
    )


def keys(units: str, R: np.ndarray, origin: np.ndarray) -> str:
    length, mass, force = UNITS[units]
    lines = [f"length_unit_m: {length!r}", f"mass_unit_kg: {mass!r}"]
    lines += [] if force is None else [f"force_unit_n: {force!r}"]
    lines += [f"origin_m: {origin.tolist()}", f"rotation: {{matrix: {R.tolist()}}}"]
    return "\n        ".join(lines)


def load(folder: Path, model: FiniteElements, keys: str, boundary: str) -> Body:
    solid = model.n == 3 * len(model.node_id)
    root = f"fe_nodes: {list(face(solid_mesh(), 0.0))}" if solid else "fe_node: 10"
    tip = f"fe_nodes: {list(face(solid_mesh(), 3.0))}" if solid else "fe_node: 130"
    write_elements(folder / "mesh.npz", model)
    text = MODEL.replace("KEYS", keys).replace("BOUNDARY", boundary)
    held = "" if boundary == "free_free" else ", inboard: root"
    text = text.replace("HELD", held).replace("ROOT", root).replace("TIP", tip)
    assert faults_of(folder, text) == []
    (folder / "m.yaml").write_text(text)
    return load_tree(folder / "m.yaml").bodies[1]


@pytest.mark.parametrize("boundary", ["cantilever", "free_free", "craig_bampton"])
@pytest.mark.parametrize("make", [beam_mesh, solid_mesh])
@pytest.mark.parametrize("units", UNITS)
def test_units_and_axes_of_the_file_do_not_matter(
    tmp_path: Path, units: str, make, boundary: str
) -> None:
    """Frequencies, nodes, shapes and every integral, to the digits that reduction keeps."""
    model, R = make(), turned()
    plain = load(tmp_path, model, "", boundary)
    found = load(tmp_path, in_file(model, units, R, ORIGIN), keys(units, R, ORIGIN), boundary)
    sign = np.sign(np.sum(found.nodes[1].Pi * plain.nodes[1].Pi, axis=0))
    np.testing.assert_allclose(np.diag(found.K), np.diag(plain.K), rtol=1e-8)
    for one, other in zip(found.nodes, plain.nodes, strict=True):
        np.testing.assert_allclose(one.r, other.r, atol=1e-12)
        np.testing.assert_allclose(one.p, other.p, atol=1e-15)
        np.testing.assert_allclose(one.Jc, other.Jc, atol=1e-15)
        scale = np.abs(other.Pi).max() + 1.0
        np.testing.assert_allclose(one.Pi * sign, other.Pi, atol=1e-6 * scale)
    a, b = found.distributed, plain.distributed
    assert a is not None
    assert b is not None
    s = sign
    for name, factor in {
        "Mrr": np.array(1.0),
        "Mfr": s[:, None],
        "Mff": np.outer(s, s),
        "C": s[:, None, None],
        "G": np.outer(s, s)[:, :, None],
        "Jr": np.array(1.0),
        "Z": s[:, None, None],
        "y": s[:, None],
    }.items():
        one, other = getattr(a, name) * factor, getattr(b, name)
        np.testing.assert_allclose(
            one, other, atol=1e-6 * (np.abs(other).max() + 1e-9), err_msg=name
        )


def test_axes_of_a_lumped_mesh_do_not_matter(tmp_path: Path) -> None:
    """Jr, Z and y are not zero there; rotary inertia that is the same about all axes."""
    model = beam_mesh()
    diagonal = np.where(model.component < 3, 1.2, 0.05)
    model = FiniteElements(
        model.K,
        sp.csr_array(np.diag(diagonal)),
        model.node_id,
        model.position,
        model.node,
        model.component,
    )
    R = turned()
    plain = load(tmp_path, model, "", "cantilever").distributed
    turned_file = in_file(model, "mm, t, N", R, ORIGIN)
    found = load(tmp_path, turned_file, keys("mm, t, N", R, ORIGIN), "cantilever").distributed
    assert plain is not None
    assert found is not None
    assert np.abs(plain.y).max() > 1e-3
    np.testing.assert_allclose(found.Jr, plain.Jr, atol=1e-12)
    for name in ("Z", "y"):
        one, other = getattr(found, name), getattr(plain, name)
        axes = tuple(range(1, one.ndim))
        s = np.sign(np.sum(one * other, axis=axes)).reshape(-1, *[1] * (one.ndim - 1))
        np.testing.assert_allclose(one * s, other, atol=1e-6 * np.abs(other).max())
