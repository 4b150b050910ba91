"""A loaded spacecraft: its description, its kernel arrays, and the names of its parts."""

from __future__ import annotations

import copy
import difflib
from functools import cached_property
from itertools import chain

import numpy as np

from darts_py.errors import ArgumentError
from darts_py.multibody.assemble import assemble, parents_first
from darts_py.multibody.model import Array, Model, Workspace, make_workspace
from darts_py.multibody.motion import sweep_motion
from darts_py.multibody.names import coordinate_names, speed_names
from darts_py.multibody.tree import Stage, Tree

SINGULAR = 1e-9  # least singular value of a joint map, m or 1, below which it is singular


class Spacecraft:
    """What `load_model` returns; every function of the Python API takes one.

    State order: bodies in file order, for each its modes, then its joint. Coordinates `q` have
    `n_coords` entries (a quaternion has four, scalar first), speeds `u` have `n_speeds`.
    The functions of the API share its scratch: threads need a `copy` each.
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

    def copy(self) -> Spacecraft:
        """Return a spacecraft with its own masses, locks and scratch: one for each thread."""
        twin = copy.copy(self)
        changing = ("body", "speed", "node", "mode", "hook", "Mff", "Df", "Lam", "Om", "E")
        changing += ("gravity",)
        own = {name: getattr(self.arrays, name).copy() for name in changing}
        twin.arrays = self.arrays._replace(**own)
        twin.__dict__.pop("workspace", None)
        return twin

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
    def kernel_node(self) -> Array:
        """Row of each file-order node in the kernel arrays."""
        return np.argsort(self.arrays.node["file"])

    @cached_property
    def kernel_body(self) -> Array:
        """Row of each file-order body in the kernel arrays."""
        return np.argsort(self.order)

    @cached_property
    def coord_names(self) -> tuple[str, ...]:
        """Name of every coordinate: `panel.mode_1`, `drive.angle`, `base.qw`."""
        return tuple(chain.from_iterable(coordinate_names(self.tree)))

    @cached_property
    def speed_names(self) -> tuple[str, ...]:
        """Name of every speed: `panel.mode_1_rate`, `drive.angle_rate`, `base.wx`."""
        return tuple(chain.from_iterable(speed_names(self.tree)))

    @cached_property
    def speed_index(self) -> dict[str, int]:
        """Number of each speed, by its name."""
        return {name: i for i, name in enumerate(self.speed_names)}

    def neutral(self) -> Array:
        """Return coordinates with every joint at zero and every quaternion at identity."""
        q = np.zeros(self.n_coords)
        for stage, row in zip(self._stages(), self.arrays.stage, strict=True):
            if stage.kind in ("ball", "free"):
                q[row["q"]] = 1.0
        return q

    def _stages(self) -> list[Stage]:
        return [stage for i in self.order for stage in self.tree.joints[i].stages]

    def singular_joints(self, q: Array) -> list[str]:
        """Return the joints that have lost a direction of motion at coordinates q."""
        sweep_motion(self.arrays, self.workspace, q, np.zeros(self.n_speeds))
        names = []
        for b, i in enumerate(self.order):
            H = self.workspace.hinge[b]["H"][: self.tree.joints[i].n_speeds]
            if np.linalg.matrix_rank(H, tol=SINGULAR) < len(H):
                names.append(self.tree.joints[i].name)
        return names

    def find_speed(self, name: str) -> int:
        """Return the number of a speed; say what is meant if there is none of that name."""
        return _find("speed", name, self.speed_index)

    @cached_property
    def movables(self) -> dict[str, tuple[int, int]]:
        """Speed and coordinate (-1 where it has none of its own) by the names of either."""
        found = {name: (i, -1) for i, name in enumerate(self.speed_names)}
        pairs = []
        for i, (body, joint) in enumerate(zip(self.tree.bodies, self.tree.joints, strict=True)):
            row = self.arrays.body[self.kernel_body[i]]
            q, u = int(row["q_start"]), int(row["u_start"])
            pairs += [(u + k, q + k) for k in range(body.n_modes)]
            q, u = q + body.n_modes, u + body.n_modes
            for stage in joint.stages:
                pairs += [(u, q)] if stage.kind == "axis" else []
                q, u = q + stage.n_coords, u + stage.n_speeds
        for u, q in pairs:
            found[self.speed_names[u]] = found[self.coord_names[q]] = (u, q)
        return found

    def find_movable(self, name: str) -> tuple[int, int]:
        """Return speed and coordinate (or -1) by the name of either."""
        if isinstance(name, str) and name in self.movables:
            return self.movables[name]
        _find("speed", name, self.speed_index)  # says what is meant
        raise AssertionError

    def is_locked(self, speed: int) -> bool:
        """Tell whether a speed belongs to a locked joint."""
        row = self.arrays.body
        first = row["u_start"] + row["n_modes"]
        held = (row["locked"] == 1) & (first <= speed) & (speed < first + row["n_hinge"])
        return bool(np.any(held))

    def find_node(self, name: str) -> int:
        """Return the file-order number of node "body.node"; say what is meant if there is none."""
        return _find("node", name, self.node_index)


def _find(what: str, name: str, index: dict[str, int]) -> int:
    if isinstance(name, str) and name in index:
        return index[name]
    close = difflib.get_close_matches(str(name), index, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(list(index)[:8])}"
    raise ArgumentError(
        what, got=repr(name), expected=f"the name of a {what} of the model", hint=hint
    )
