"""A loaded spacecraft: its description, its kernel arrays, and the names of its parts."""

from __future__ import annotations

import difflib
from functools import cached_property

import numpy as np

from darts_py.errors import ArgumentError
from darts_py.multibody.assemble import assemble, parents_first
from darts_py.multibody.model import Array, Model, Workspace, make_workspace
from darts_py.multibody.tree import Stage, Tree

STAGE_COORDS = {
    "planar": ("x", "y", "angle"),
    "ball": ("qw", "qx", "qy", "qz"),
    "free": ("qw", "qx", "qy", "qz", "x", "y", "z"),
}
STAGE_SPEEDS = {
    "planar": ("vx", "vy", "w"),
    "ball": ("wx", "wy", "wz"),
    "free": ("wx", "wy", "wz", "vx", "vy", "vz"),
}


class Spacecraft:
    """What `load_model` returns; every function of the Python API takes one.

    State order: bodies in file order, for each its modes, then its joint. Coordinates `q` have
    `n_coords` entries (a quaternion has four, scalar first), speeds `u` have `n_speeds`.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.arrays: Model = assemble(tree)
        self.order = parents_first(tree)  # kernel index -> file index
        self.n_bodies = len(tree.bodies)
        self.n_speeds = self.arrays.speed.shape[0]
        self.n_coords = self.n_speeds + sum(
            stage.n_coords - stage.n_speeds for joint in tree.joints for stage in joint.stages
        )

    def __repr__(self) -> str:
        return f"<Spacecraft {self.name!r}: {self.n_bodies} bodies, {self.n_speeds} speeds>"

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.tree.name

    @cached_property
    def workspace(self) -> Workspace:
        """Scratch used by the functions of the API (a `Plant` has its own)."""
        return make_workspace(self.arrays)

    @cached_property
    def node_index(self) -> dict[str, int]:
        """Number of each node in file order, by "body.node"."""
        names = [f"{body.name}.{node.name}" for body in self.tree.bodies for node in body.nodes]
        return {name: i for i, name in enumerate(names)}

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Number of each body in file order, by name."""
        return {body.name: i for i, body in enumerate(self.tree.bodies)}

    @cached_property
    def kernel_node(self) -> Array:
        """Row of each file-order node in the kernel arrays."""
        return np.argsort(self.arrays.node["file"])

    @cached_property
    def kernel_body(self) -> Array:
        """Row of each file-order body in the kernel arrays."""
        return np.argsort(self.order)

    @cached_property
    def coord_names(self) -> tuple[str, ...]:
        """Name of every coordinate: body.mode1 ..., joint or joint.x ..."""
        return self._names(STAGE_COORDS)

    @cached_property
    def speed_names(self) -> tuple[str, ...]:
        """Name of every speed."""
        return self._names(STAGE_SPEEDS)

    def _names(self, words: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
        names: list[str] = []
        for body, joint in zip(self.tree.bodies, self.tree.joints, strict=True):
            names += [f"{body.name}.mode{k + 1}" for k in range(body.n_modes)]
            parts = [_stage_names(stage, words) for stage in joint.stages]
            flat = [f"{k + 1}.{x}" if len(parts) > 1 and x else (x or str(k + 1))
                    for k, part in enumerate(parts) for x in part]  # fmt: skip
            plain = len(flat) == 1
            names += [joint.name if plain else f"{joint.name}.{x}" for x in flat]
        return tuple(names)

    def neutral(self) -> Array:
        """Return coordinates with every joint at zero and every quaternion at identity."""
        q = np.zeros(self.n_coords)
        for stage, row in zip(self._stages(), self.arrays.stage, strict=True):
            if stage.kind in ("ball", "free"):
                q[row["q"]] = 1.0
        return q

    def _stages(self) -> list[Stage]:
        return [stage for i in self.order for stage in self.tree.joints[i].stages]

    def find_node(self, name: str) -> int:
        """Return the file-order number of node "body.node"; say what is meant if there is none."""
        return _find("node", name, self.node_index)

    def find_body(self, name: str) -> int:
        """Return the file-order number of a body."""
        return _find("body", name, self.body_index)


def _stage_names(stage: Stage, words: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    if stage.kind == "axis":
        return ("",)
    return words.get(stage.kind, tuple(str(k + 1) for k in range(stage.n_speeds)))


def _find(what: str, name: str, index: dict[str, int]) -> int:
    if name in index:
        return index[name]
    close = difflib.get_close_matches(str(name), index, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(list(index)[:8])}"
    raise ArgumentError(what, got=repr(name), expected=f"the name of a {what} of the model", hint=hint)
