"""A rigid case in each peer's own conventions, and its answer back in ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from darts_py.bench.cases import FREE, Case, Link, rotation_matrix
from darts_py.multibody.tree import GROUND, Array

AXES = ("1 0 0", "0 1 0", "0 0 1")


def write_pinocchio(case: Case, path: Path) -> None:
    """Write links and state: a free base has position, quaternion (x, y, z, w), then [v; w]."""
    lines = [str(len(case.links))]
    for link in case.links:
        values = [*link.R.ravel(), *link.p, link.m, *link.c, *link.Jc.ravel()]
        lines.append(f"{link.parent} {link.joint} {_numbers(values)}")
    state = case.state
    q = state.q.copy()
    if _has_free_base(case):
        w, x, y, z = q[:4]
        q[:7] = [*q[4:7], x, y, z, w]
    lines += [_sized(q), _sized(_swap(case, state.u)), _sized(_swap(case, state.tau))]
    path.write_text("\n".join(lines) + "\n")


def from_pinocchio(case: Case, udot: Array) -> Array:
    """Return Pinocchio's acceleration in the order of darts_py."""
    return _swap(case, udot)


def write_mujoco(case: Case, model: Path, state: Path) -> None:
    """Write MJCF and state: a free base moves by world components of v, body ones of w."""
    model.write_text(_mjcf(case.links))
    q, u, tau = case.state.q.copy(), _swap(case, case.state.u), _swap(case, case.state.tau)
    if _has_free_base(case):
        R = rotation_matrix(q[:4])
        q[:7] = [*q[4:7], *q[:4]]
        u[:3], tau[:3] = R @ u[:3], R @ tau[:3]
    state.write_text("\n".join([_sized(q), _sized(u), _sized(tau)]) + "\n")


def from_mujoco(case: Case, udot: Array) -> Array:
    """Return MuJoCo's acceleration in the order and the axes of darts_py."""
    udot = udot.copy()
    if _has_free_base(case):
        R = rotation_matrix(case.state.q[:4])
        w, v = case.state.u[:3], case.state.u[3:6]
        udot[:3] = R.T @ udot[:3] - np.cross(w, v)
    return _swap(case, udot)


def _has_free_base(case: Case) -> bool:
    return case.links[0].joint == FREE


def _swap(case: Case, values: Array) -> Array:
    """Exchange rotation and translation of a free base."""
    values = values.copy()
    if _has_free_base(case):
        values[:6] = [*values[3:6], *values[:3]]
    return values


def _mjcf(links: tuple[Link, ...]) -> str:
    """Nest the links as MuJoCo's bodies; they are numbered depth first, as MuJoCo numbers them."""
    children: dict[int, list[int]] = {}
    for k, link in enumerate(links):
        children.setdefault(link.parent, []).append(k)

    def body(k: int) -> str:
        inner = "".join(body(child) for child in children.get(k, []))
        return f"{_mjcf_opening(links[k])}{inner}</body>"

    world = "".join(body(k) for k in children[GROUND])
    option = '<option gravity="0 0 0"><flag contact="disable"/></option>'
    return f'<mujoco><compiler angle="radian"/>{option}<worldbody>{world}</worldbody></mujoco>'


def _mjcf_opening(link: Link) -> str:
    """Write a body's tag, joint and inertia."""
    joint = "<freejoint/>"
    if link.joint != FREE:
        joint = f'<joint type="hinge" axis="{AXES[link.joint]}" pos="0 0 0"/>'
    x, y = _numbers(link.R[:, 0]), _numbers(link.R[:, 1])
    J = link.Jc
    moments = _numbers([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
    return (
        f'<body pos="{_numbers(link.p)}" xyaxes="{x} {y}">{joint}'
        f'<inertial pos="{_numbers(link.c)}" mass="{link.m:.17g}" fullinertia="{moments}"/>'
    )


def _numbers(values: Array | list[float]) -> str:
    return " ".join(f"{float(value):.17g}" for value in values)


def _sized(values: Array) -> str:
    return f"{len(values)} {_numbers(values)}"
