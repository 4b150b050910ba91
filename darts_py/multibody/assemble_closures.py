"""Closures into kernel arrays: frames moved to hinge frames, paths to the root, held directions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from darts_py.multibody.model import (
    CLOSURE,
    DIRECT,
    HOOK,
    TURN_ALL,
    TURN_AXIS,
    TURN_FREE,
    Array,
    Model,
    records,
)
from darts_py.multibody.tree import GROUND, Closure, Tree

COINCIDENT = 1e-3  # of the longest link: shorter ones are hinges in one place
PURE = 1e-12  # a direction whose other half is below this is a pure rotation or translation

# (body, node, offset) -> its hinge axes R_FC; position (hinge axes) and modes (6, nm) of the point
Point = Callable[[int, int, Array], tuple[Array, Array, Array]]


def assemble_closures(m: Model, tree: Tree, order: list[int], point: Point) -> Model:
    """Return the model with its closures; bodies on their paths use the direct form of D_f^-1."""
    rank = {i: b for b, i in enumerate(order)} | {GROUND: len(order)}
    rows = records(len(tree.closures), CLOSURE)
    hooks = [m.hook]
    path: list[int] = []
    first = 0
    for c, closure in enumerate(tree.closures):
        row, n_rows = rows[c], closure.S.shape[1]
        row["row_first"], row["n_rows"] = first, n_rows
        row["body_a"], row["body_b"] = rank[closure.body_a], rank[closure.body_b]
        chain_a, chain_b, trunk = _path(m, int(row["body_a"]), int(row["body_b"]))
        row["path_first"] = len(path)
        row["path_b"] = row["path_first"] + len(chain_a)
        row["path_trunk"] = row["path_b"] + len(chain_b)
        path += [*chain_a, *chain_b, *trunk]
        row["path_last"] = len(path)
        row["grounded"] = not trunk
        _fill_directions(row, closure.S)
        first += n_rows
        for side, (body, node, offset, R) in zip("ab", _sides(closure), strict=True):
            on_ground = np.eye(3), offset, np.zeros((6, 0))
            R_FC, x, modes = on_ground if body == GROUND else point(body, node, offset)
            row[f"x_{side}"], row[f"R_{side}"] = x, (R_FC.T @ R).ravel()
            row[f"hook_{side}"] = sum(len(hook) for hook in hooks)
            hooks.append(records(modes.shape[1], HOOK))
            hooks[-1]["Pi"] = modes.T
        row["shortest"], row["longest"] = _link_lengths(m, row, chain_a, chain_b)
    on_loops = np.array(sorted(set(path)), np.int64)
    m.body["df_form"][on_loops] = DIRECT
    n_roots = int(np.sum(m.body["parent"][on_loops] == m.body.shape[0]))
    rows["grounded"] = n_roots > 1 or bool(np.any(rows["grounded"]))
    rows["all_first"], rows["all_last"] = len(path), len(path) + on_loops.size
    hook = records(sum(len(part) for part in hooks), HOOK)
    hook[:] = np.concatenate(hooks)
    return m._replace(closure=rows, hook=hook, path=np.array([*path, *on_loops], np.int64))


def _link_lengths(
    m: Model, row: Array, chain_a: list[int], chain_b: list[int]
) -> tuple[float, float]:
    """Return the least and greatest distance of neighbours on a loop; 1 m where all coincide."""
    sides = {"a": chain_a, "b": chain_b}
    links = [np.linalg.norm(m.body[b]["x_pO"]) for chain in sides.values() for b in chain[:-1]]
    ends = [
        m.body[chain[-1]]["x_pO"] if chain else row[f"x_{side}"] for side, chain in sides.items()
    ]
    links.append(np.linalg.norm(ends[0] - ends[1]))
    links += [np.linalg.norm(row[f"x_{side}"]) for side, chain in sides.items() if chain]
    longest = float(max(links))
    if longest == 0.0:
        return 1.0, 1.0
    return min(float(link) for link in links if link > COINCIDENT * longest), longest


def _sides(closure: Closure) -> list[tuple[int, int, Array, Array]]:
    return [
        (closure.body_a, closure.node_a, closure.o_a, closure.R_a),
        (closure.body_b, closure.node_b, closure.o_b, closure.R_b),
    ]


def _path(m: Model, a: int, b: int) -> tuple[list[int], list[int], list[int]]:
    """Return the bodies from a and from b to where their ways meet, and from there to the root."""
    way_a, way_b = _way_to_root(m, a), _way_to_root(m, b)
    trunk = [i for i in way_a if i in way_b]
    return [i for i in way_a if i not in trunk], [i for i in way_b if i not in trunk], trunk


def _way_to_root(m: Model, i: int) -> list[int]:
    way = []
    while i < m.body.shape[0]:
        way.append(i)
        i = int(m.body[i]["parent"])
    return way


def _fill_directions(row: Array, S: Array) -> None:
    n = S.shape[1]
    turns = np.linalg.norm(S[3:], axis=0) < PURE
    slides = np.linalg.norm(S[:3], axis=0) < PURE
    n_turns = int(turns.sum())
    row["S"][:n] = S.T
    row["turn"] = {2: TURN_AXIS, 3: TURN_ALL}.get(n_turns, TURN_FREE)
    row["holds"][:n] = slides | (turns & (n_turns > 1))
    if n_turns == 2:
        axis = np.cross(*S[:3, turns].T)
        row["axis"] = axis / np.linalg.norm(axis)
