"""Robots written out by hand, each with something that is easily got wrong, and random ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

Array = np.ndarray

INERTIAL = """<inertial>
      <origin xyz="0.1 -0.2 0.3" rpy="0.4 -1.2 2.5"/>
      <mass value="2.5"/>
      <inertia ixx="0.4" ixy="0.02" ixz="-0.03" iyy="0.5" iyz="0.01" izz="0.6"/>
    </inertial>"""


def link(name: str, inertial: str = INERTIAL, more: str = "") -> str:
    return f'  <link name="{name}">\n    {inertial}{more}\n  </link>\n'


def joint(name: str, kind: str, parent: str, child: str, more: str = "") -> str:
    return (
        f'  <joint name="{name}" type="{kind}">\n    <parent link="{parent}"/>\n'
        f'    <child link="{child}"/>\n    {more}\n  </joint>\n'
    )


def robot(*parts: str, name: str = "robot") -> str:
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n' + "".join(parts) + "</robot>\n"


LIMIT = '<limit lower="-1" upper="2" effort="30" velocity="1.5"/>'
PLACE = '<origin xyz="0.3 -0.1 0.7" rpy="0.5 -0.7 1.9"/>'

# a fixed link in the middle of the arm, tilted inertials, axes that are not of length 1
ARM = robot(
    link("world", ""),
    link("shoulder"),
    link("bracket"),
    link("forearm"),
    link("slider"),
    link("wheel"),
    link("tool", ""),
    joint("pan", "revolute", "world", "shoulder", PLACE + '<axis xyz="0 0 1"/>' + LIMIT),
    joint("bolt", "fixed", "shoulder", "bracket", '<origin xyz="0 0.2 0" rpy="0 1.5707963 0.3"/>'),
    joint("elbow", "revolute", "bracket", "forearm", PLACE + '<axis xyz="1 -2 0.5"/>' + LIMIT),
    joint("reach", "prismatic", "forearm", "slider", PLACE + '<axis xyz="0 3 4"/>' + LIMIT),
    joint(
        "spin",
        "continuous",
        "slider",
        "wheel",
        PLACE + '<axis xyz="0 -1 0"/><dynamics damping="0.7"/>',
    ),
    joint("flange", "fixed", "wheel", "tool", PLACE),
    name="arm",
)

# a massive root that floats, branches, all aligned axes, rpy at the gimbal lock
TREE = robot(
    link("trunk"),
    *(
        part
        for side, axis, rpy in (
            ("left", "1 0 0", "0 1.5707963267948966 0"),
            ("right", "0 1 0", "3.141592653589793 0 0"),
            ("tail", "-1 0 0", "1 -1.5707963267948966 2"),
        )
        for part in (
            link(f"{side}_upper"),
            link(f"{side}_lower"),
            joint(f"{side}_hip", "revolute", "trunk", f"{side}_upper",
                  f'<origin xyz="0.1 0.2 -0.3" rpy="{rpy}"/><axis xyz="{axis}"/>' + LIMIT),
            joint(f"{side}_knee", "continuous", f"{side}_upper", f"{side}_lower",
                  f'<origin xyz="0 0 -0.5"/><axis xyz="{axis}"/>'),
        )
    ),
    name="tree",
)  # fmt: skip

PLANAR = robot(
    link("world", ""),
    link("puck"),
    link("arm"),
    joint("table", "planar", "world", "puck", PLACE + '<axis xyz="0 0 1"/>'),
    joint("turn", "revolute", "puck", "arm", PLACE + '<axis xyz="0 1 0"/>' + LIMIT),
    name="planar",
)

FLOATING = robot(
    link("base"),
    link("ship"),
    link("boom"),
    joint("cut_loose", "floating", "base", "ship", PLACE),
    joint("hinge", "continuous", "ship", "boom", PLACE + '<axis xyz="0.1 0.2 0.3"/>'),
    name="floating",
)

# empty links: at the root, on fixed joints with joints behind them, between moving joints
MASSLESS = robot(
    link("base", ""),
    link("foot", ""),
    link("mount", ""),
    link("ring", ""),
    link("platform"),
    link("frame", ""),
    link("frame_of_frame", ""),
    link("hand"),
    joint("j_foot", "fixed", "base", "foot", PLACE),
    joint("j_mount", "fixed", "foot", "mount", PLACE),
    joint("outer", "revolute", "mount", "ring", PLACE + '<axis xyz="0 0 1"/>' + LIMIT),
    joint("inner", "revolute", "ring", "platform", PLACE + '<axis xyz="1 0 0"/>' + LIMIT),
    joint("j_frame", "fixed", "platform", "frame", PLACE),
    joint("j_frame_2", "fixed", "frame", "frame_of_frame", PLACE),
    joint("wrist", "revolute", "frame_of_frame", "hand", PLACE + '<axis xyz="0 1 1"/>' + LIMIT),
    name="massless",
)

# an empty link on a moving joint whose mass sits on a link fixed to it
HOLLOW = robot(
    link("world", ""),
    link("shell", ""),
    link("filling"),
    link("rod"),
    joint("pan", "continuous", "world", "shell", PLACE + '<axis xyz="0 0 1"/>'),
    joint("weld", "fixed", "shell", "filling", PLACE),
    joint("tilt", "continuous", "shell", "rod", PLACE + '<axis xyz="0 1 0"/>'),
    name="hollow",
)

POINT_MASS = robot(
    link("world", ""),
    link("bob", '<inertial><origin xyz="0 0 -2"/><mass value="3"/>'
         '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'),
    joint("hinge", "continuous", "world", "bob", '<axis xyz="0 1 0"/>'),
    name="point_mass",
)  # fmt: skip

ALL = {
    "arm": ARM,
    "tree": TREE,
    "planar": PLANAR,
    "floating": FLOATING,
    "massless": MASSLESS,
    "hollow": HOLLOW,
    "point_mass": POINT_MASS,
}


def write(folder: Path, text: str, name: str = "robot.urdf") -> Path:
    """Write a robot's file."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def _row(values: Array) -> str:
    return " ".join(repr(float(x)) for x in values)


def _random_inertial(rng: np.random.Generator) -> str:
    """Return mass properties of random second moments, hence possible ones."""
    a, b, c = rng.uniform(0.1, 1.0, size=3).tolist()  # second moments along the axes of the origin
    moments = (b + c, c + a, a + b)
    entries = dict(zip(("ixx", "iyy", "izz"), moments, strict=True))
    entries |= dict.fromkeys(("ixy", "ixz", "iyz"), 0.0)
    tensor = " ".join(f'{key}="{value!r}"' for key, value in entries.items())
    xyz, rpy = rng.normal(size=3), rng.uniform(-np.pi, np.pi, size=3)
    return (
        f'<inertial><origin xyz="{_row(xyz)}" rpy="{_row(rpy)}"/>'
        f'<mass value="{float(rng.uniform(0.5, 3.0))!r}"/><inertia {tensor}/></inertial>'
    )


def random_robot(
    rng: np.random.Generator, n_links: int, kinds: Sequence[str], *, base_mass: bool
) -> str:
    """Return a random tree; every fourth link on a fixed joint is massless."""
    parts = [link("link0", _random_inertial(rng) if base_mass else "")]
    joints = []
    for k in range(1, n_links):
        kind = str(rng.choice(list(kinds)))
        axis = np.eye(3)[rng.integers(3)] * rng.choice([-1, 1])
        axis = axis if rng.random() < 0.5 else rng.normal(size=3)
        axis = np.array([0.0, 0.0, 1.0]) if kind == "planar" else axis  # as Pinocchio wants it
        massless = kind == "fixed" and rng.random() < 0.25
        parts.append(link(f"link{k}", "" if massless else _random_inertial(rng)))
        xyz, rpy = rng.normal(size=3), rng.uniform(-np.pi, np.pi, size=3)
        more = f'<origin xyz="{_row(xyz)}" rpy="{_row(rpy)}"/><axis xyz="{_row(axis)}"/>'
        more += LIMIT + f'<dynamics damping="{float(rng.uniform(0, 1))!r}"/>'
        joints.append(joint(f"joint{k}", kind, f"link{rng.integers(k)}", f"link{k}", more))
    return robot(*parts, *joints, name="random")
