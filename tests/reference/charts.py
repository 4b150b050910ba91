"""Local coordinates of a configuration by SciPy's rotations, from the tree alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from darts_py.multibody.tree import Tree

Array = np.ndarray


def _parts(tree: Tree) -> Iterator[tuple[str, int, int, int]]:
    """Yield kind (plain or turn), first coordinate, first local coordinate and their number."""
    iq = iu = 0
    for body, joint in zip(tree.bodies, tree.joints, strict=True):
        yield "plain", iq, iu, body.n_modes
        iq, iu = iq + body.n_modes, iu + body.n_modes
        for stage in joint.stages:
            n = stage.n_speeds
            if stage.kind in ("ball", "free"):
                yield "turn", iq, iu, 3
                iq, iu, n = iq + 4, iu + 3, n - 3
            yield "plain", iq, iu, n
            iq, iu = iq + n, iu + n


def _rotation(quaternion: Array) -> Rotation:
    return Rotation.from_quat(np.roll(quaternion, -1))


def moved(tree: Tree, q: Array, delta: Array) -> Array:
    """Return the coordinates reached from q by delta."""
    out = np.array(q, float)
    for kind, iq, iu, n in _parts(tree):
        step = delta[iu : iu + n]
        if kind == "plain":
            out[iq : iq + n] += step
        else:
            turned = _rotation(q[iq : iq + 4]) * Rotation.from_rotvec(step)
            out[iq : iq + 4] = np.roll(turned.as_quat(), 1)
    return out


def difference(tree: Tree, q_from: Array, q_to: Array) -> Array:
    """Return the delta that leads from one configuration to the other."""
    out = []
    for kind, iq, _, n in _parts(tree):
        if kind == "plain":
            out.append(q_to[iq : iq + n] - q_from[iq : iq + n])
        else:
            turn = _rotation(q_from[iq : iq + 4]).inv() * _rotation(q_to[iq : iq + 4])
            out.append(turn.as_rotvec())
    return np.concatenate(out)
