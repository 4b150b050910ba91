"""Are the inertias of a robot those of any mass distribution, and what is the nearest one?

Published robots often have tensors that are not. Here they are refused with their numbers, or
repaired on request: never silently either way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from darts_py.spec.inertia import TRIANGLE
from darts_py.urdf.fields import Log
from darts_py.urdf.robot import Inertial, Link

Array = np.ndarray

FLOOR = 1e-6  # of the largest second moment: what a repaired one is raised to
DEFINITE = 1e-12  # as the model format has it


def judge_inertias(links: dict[str, Link], repair: bool, log: Log) -> dict[str, Link]:
    """Note every link whose inertia is impossible; with `repair`, return the links mended."""
    return {name: _judged(link, repair, log) for name, link in links.items()}


def _judged(link: Link, repair: bool, log: Log) -> Link:
    inertial = link.inertial
    complaint = "" if inertial is None else _complaint(inertial)
    if inertial is None or not complaint:
        return link
    if not repair:
        where = f'<link name="{link.name}">.inertial'
        hint = (
            "correct it; --merge judges links joined rigidly as one; "
            "--repair puts the nearest possible inertia in its place"
        )
        expected = "mass and inertia of a real mass distribution"
        log.at_line(inertial.line, where, complaint, expected, hint)
        return link
    if inertial.mass == 0.0:
        text = f"link '{link.name}' has {complaint}: repaired, the inertia is dropped"
        log.notes.warn(text, inertial.line)
        return replace(link, inertial=None)
    mended = replace(inertial, tensor=nearest_inertia(inertial.tensor))
    text = f"link '{link.name}' has {complaint}: repaired, now {_moments(mended.tensor)}"
    log.notes.warn(text, inertial.line)
    return replace(link, inertial=mended)


def _complaint(inertial: Inertial) -> str:
    """Say what is wrong; empty if nothing is. A zero tensor is a point mass."""
    if inertial.mass == 0.0:
        return f"inertia without mass, {_moments(inertial.tensor)}"
    if not inertial.tensor.any():
        return ""
    low, middle, high = np.linalg.eigvalsh(inertial.tensor)
    if low <= DEFINITE * abs(high):
        return f"an inertia that is not positive definite, {_moments(inertial.tensor)}"
    if high > (low + middle) * (1.0 + TRIANGLE):
        return f"an inertia against the triangle inequality, {_moments(inertial.tensor)}"
    return ""


def _moments(J: Array) -> str:
    return "principal moments " + ", ".join(f"{x:g}" for x in np.linalg.eigvalsh(J))


def nearest_inertia(J: Array) -> Array:
    """Return the possible inertia with the same axes that is nearest in second moments.

    J = tr(S) 1 - S with S = int x x^T dm, hence S = tr(J)/2 1 - J: J is possible if and only if
    S has no negative eigenvalue. Negative ones are raised to next to nothing.
    """
    values, axes = np.linalg.eigh(0.5 * np.trace(J) * np.eye(3) - J)
    if values[2] <= 0.0:
        return np.zeros((3, 3))
    S = (axes * np.maximum(values, FLOOR * values[2])) @ axes.T
    S = 0.5 * (S + S.T)
    return np.trace(S) * np.eye(3) - S
