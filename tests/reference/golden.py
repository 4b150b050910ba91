"""The golden case of equation sheet section 16: three bodies, one branch, free-free modes.

Numbers are as printed there. Vectors are ordered [body 1: two modes, q | body 2: q1, q2 |
body 3: mode, slide].
"""

from __future__ import annotations

import numpy as np

from darts_py.multibody import joint_types
from darts_py.multibody.tree import Body, Joint, Node, Tree

Array = np.ndarray


def _modes(*columns: tuple[float, ...]) -> Array:
    return np.array(columns, float).T


def _turn_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def tree() -> Tree:
    """Return the golden tree."""
    boom = Body(
        "boom",
        (
            Node(
                "root",
                m=2.0,
                Jc=np.diag([0.1, 0.2, 0.3]),
                Pi=_modes((0, 0, 0.1, 0, 0.05, 0), (0, 0.1, 0, 0, 0, 0.02)),
            ),
            Node(
                "tip",
                r=np.array([1.0, 0.0, 0.0]),
                m=1.0,
                Jc=0.05 * np.eye(3),
                Pi=_modes((0, 0, 0.3, 0, 0.2, 0), (0, -0.3, 0, 0, 0, 0.25)),
            ),
        ),
        K=np.diag([100.0, 150.0]),
        Dm=np.diag([0.5, 0.4]),
    )
    mast = Body(
        "mast",
        (
            Node("root"),
            Node(
                "tip",
                r=np.array([0.0, 0.0, 0.5]),
                m=1.5,
                p=np.array([0.0, 0.0, 0.1]),
                Jc=np.diag([0.2, 0.2, 0.1]),
            ),
        ),
    )
    slider = Body(
        "slider",
        (
            Node("root", m=0.5, Jc=0.01 * np.eye(3), Pi=np.zeros((6, 1))),
            Node(
                "tip",
                r=np.array([0.0, 0.4, 0.0]),
                m=0.8,
                Jc=0.02 * np.eye(3),
                Pi=_modes((0.5, 0, 0, 0, 0, 0.3)),
            ),
        ),
        K=np.array([[80.0]]),
        Dm=np.array([[0.1]]),
    )
    joints = (
        Joint("hinge", "revolute", joint_types.revolute([0, 0, 1])),
        Joint(
            "hooke",
            "universal",
            joint_types.universal([1, 0, 0], [0, 1, 0]),
            parent=0,
            parent_node=1,
            o_t=np.array([0.1, 0.0, 0.0]),
        ),
        Joint(
            "slide",
            "prismatic",
            joint_types.prismatic([0, 1, 0]),
            parent=0,
            parent_node=1,
            R_pO=_turn_z(np.pi / 6),
        ),
    )
    return Tree("golden", (boom, mast, slider), joints, gravity=np.array([0.0, 0.0, -9.81]))


FORCES = {"slider.tip": np.array([0.1, 0.0, 0.0, 0.0, 0.0, -1.0])}
Q = np.array([0.01, -0.02, 0.3, 0.4, -0.2, 0.03, 0.15])
U = np.array([0.1, -0.2, 0.5, 0.7, -0.4, 0.3, 0.6])
TAU = np.array([0.0, 0.0, 1.0, 0.2, -0.1, 0.0, 0.5])
MODES = [0, 1, 5]  # entries of U that are modal rates

_UPPER = {
    0: [0.0250128796, -0.0176394855, 0.2246190382, -0.0339147742, 0.0527598893, 0, 0.0562916512],
    1: [0.4613287806, -0.0881974275, -0.1076806448, -0.211699526, 0.0508, 0],
    2: [4.0583683926, -0.7788971109, 0.2115777467, 0, 1.1258330249],
    3: [0.7147395181, 0, 0, 0],
    4: [0.74, 0, 0],
    5: [0.077, 0],
    6: [1.3],
}


def mass_matrix() -> Array:
    """Return M as printed."""
    upper = np.zeros((7, 7))
    for row, values in _UPPER.items():
        upper[row, row:] = values
    return upper + np.triu(upper, 1).T


BIAS = np.array(
    [
        1.118761481776,
        8.124393086444,
        0.012102872554,
        -3.270168274373,
        1.762903540566,
        5.046593848888,
        0.022446,
    ]
)
UDOT = np.array(
    [
        -109.593346810532,
        -12.927311782056,
        7.628285968912,
        6.020323757925,
        -0.583043276017,
        -57.011511822856,
        -1.493409084457,
    ]
)
V_2 = np.array(
    [
        0.775010383048,
        -0.123817582479,
        0.299803566391,
        -0.056633579453,
        0.484214016329,
        -0.279382218599,
    ]
)
A_2 = np.array(
    [0.08151314331, 0.313458774648, -0.499478162979, -0.259276613168, 0.0, 0.052557971462]
)
F_1 = np.array(
    [-3.357514043642, -8.977845981746, 1.0, 5.149484072312, 5.282018945769, 26.92197703855]
)
F_2 = np.array(
    [-0.131842569506, -0.1, -1.657097724104, 0.151869806327, 1.218135298746, 5.91918911706]
)
KINETIC, STRAIN, GRAVITY = 1.02563212223, 0.071, 7.9699479799
MOMENTUM = np.array(
    [
        0.03093542274,
        0.391476907752,
        2.11492632431,
        -1.261379771831,
        1.603633125438,
        -0.462214192171,
    ]
)

# The same state with the modal rates at zero, where every reading of RL agrees.
U_STILL = np.where(np.isin(np.arange(7), MODES), 0.0, U)
BIAS_STILL = np.array(
    [
        1.070338131596,
        8.178274730612,
        0.011971988384,
        -3.24964086223,
        1.766976261377,
        5.0044,
        0.03375,
    ]
)
UDOT_STILL = np.array(
    [
        -104.763673601815,
        -13.189931036794,
        7.330500606199,
        5.85669308914,
        -0.922877546978,
        -56.290279264037,
        -1.453345764624,
    ]
)
