"""A robot as its URDF file says it, in the file's own terms; every part knows its line.

URDF: the frame of a link is the frame of the joint that carries it; `origin` is a pose in the
parent's frame; an axis is in the frame of the joint. [wiki.ros.org/urdf/XML]
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray


def rotation_of_rpy(rpy: Array) -> Array:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll): turns about fixed axes x, y, z, in this order."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_of_rotation(R: Array) -> Array:
    """Return roll, pitch, yaw of a rotation, to full accuracy near pitch = 90 degrees, too.

    Yaw first, then the other two from R with the yaw taken out: where yaw is badly determined
    its error is made good by the roll.
    """
    yaw = float(np.arctan2(R[1, 0], R[0, 0]))
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = c * R[0] + s * R[1], c * R[1] - s * R[0]  # rows of Rz(-yaw) R = Ry(pitch) Rx(roll)
    return np.array([np.arctan2(-y[2], y[1]), np.arctan2(-R[2, 0], x[0]), yaw])


@dataclass(frozen=True)
class Origin:
    """A pose: translation, then roll, pitch, yaw about fixed axes."""

    xyz: Array = field(default_factory=lambda: np.zeros(3))
    rpy: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def R(self) -> Array:
        """Rotation from this frame's axes to the parent's."""
        return rotation_of_rpy(self.rpy)


@dataclass(frozen=True)
class Inertial:
    """Mass properties; the tensor is about the mass centre in the axes of `origin`."""

    mass: float
    tensor: Array  # (3, 3)
    origin: Origin
    line: int

    @property
    def tensor_in_link(self) -> Array:
        """The tensor in link axes."""
        R = self.origin.R
        J = R @ self.tensor @ R.T if np.any(self.origin.rpy) else self.tensor
        return 0.5 * (J + J.T)


@dataclass(frozen=True)
class Geometry:
    """A visual or collision shape."""

    role: str  # "visual" or "collision"
    kind: str  # "mesh", "box", "cylinder" or "sphere"
    size: Array  # scale | x, y, z | radius, length | radius
    mesh: str
    name: str
    origin: Origin
    color: Array | None  # (4,)


@dataclass(frozen=True)
class Link:
    """A link; `inertial` is None where the file has none or says it is massless."""

    name: str
    inertial: Inertial | None
    shapes: tuple[Geometry, ...]
    line: int


@dataclass(frozen=True)
class Limit:
    """Limits as written; None where nothing is said or the number is as good as infinite."""

    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None
    line: int


@dataclass(frozen=True)
class RobotJoint:
    """A joint: parent and child by name."""

    name: str
    kind: str
    parent: str
    child: str
    origin: Origin
    axis: Array
    limit: Limit | None
    damping: float
    friction: float
    line: int


@dataclass(frozen=True)
class Robot:
    """The whole file."""

    name: str
    links: dict[str, Link]
    joints: dict[str, RobotJoint]
