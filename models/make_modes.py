"""Make the modal data of the shipped models: `python models/make_modes.py`.

panel.npz  a solar panel, 4 m x 1.5 m, 20 kg, clamped at its root. The span is along +y, the
           normal along z. Eight stations along the span carry two lumped masses each, a quarter
           of the chord to either side, so that bending, twisting and in-plane motion all move mass.
boom.npz   a boom, 6 m, 12 kg, along x, with the bending modes of the *free* beam: its root
           moves with the modes, as free-free modes do.

Both are Euler-Bernoulli beams with lumped masses; shapes are scaled to unit modal mass.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.linalg import eigh

FOLDER = Path(__file__).parent


def bending_stiffness(EI: float, length: float) -> np.ndarray:
    """Stiffness of a beam element for (deflection, slope) at either end."""
    L = length
    rows = [
        [12, 6 * L, -12, 6 * L],
        [6 * L, 4 * L**2, -6 * L, 2 * L**2],
        [-12, -6 * L, 12, -6 * L],
        [6 * L, 2 * L**2, -6 * L, 4 * L**2],
    ]
    return EI / L**3 * np.array(rows)


def plate_inertia(mass: float, x: float, y: float) -> np.ndarray:
    """Inertia of a thin rectangle of sides x and y about its centre."""
    return mass / 12.0 * np.diag([y**2, x**2, x**2 + y**2])


def rod_inertia(mass: float, x: float) -> np.ndarray:
    """Inertia of a thin tube of length x and 5 cm radius about its centre."""
    return mass * np.diag([0.05**2, x**2 / 12 + 0.05**2 / 2, x**2 / 12 + 0.05**2 / 2])


def lumped_mass(mass: float, offset: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Mass matrix (rotation first) of a lump whose centre is `offset` away from the node."""
    a, b, c = offset
    cross = np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    M = np.zeros((6, 6))
    M[:3, :3] = inertia - mass * cross @ cross
    M[:3, 3:], M[3:, :3], M[3:, 3:] = mass * cross, -mass * cross, mass * np.eye(3)
    return M


def carry(offset: np.ndarray) -> np.ndarray:
    """Motion (rotation first) of a point that is `offset` away from a rigid station."""
    a, b, c = offset
    S = np.eye(6)
    S[3:, :3] = -np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    return S


def natural_modes(K: np.ndarray, M: np.ndarray, first: int, count: int) -> tuple:
    """Return squared frequencies and shapes of unit modal mass, largest entry positive."""
    squares, shapes = eigh(K, M)
    shapes = shapes[:, first : first + count]
    largest = shapes[np.abs(shapes).argmax(axis=0), np.arange(count)]
    return squares[first : first + count], shapes * np.sign(largest)


def panel_stiffness(n: int, step: float) -> np.ndarray:
    """Stiffness of stations 0 to n for six motions each (rotation first), span along y."""
    EI_out, EI_in, GJ, EA = 1020.0, 6.0e4, 620.0, 1.0e7
    K = np.zeros((6 * (n + 1), 6 * (n + 1)))
    flip = np.diag([1.0, -1.0, 1.0, -1.0])  # in-plane, the slope is -rotation about z
    for e in range(n):
        a, b = 6 * e, 6 * e + 6
        out = [a + 5, a + 0, b + 5, b + 0]  # dz/dy = rotation about x
        K[np.ix_(out, out)] += bending_stiffness(EI_out, step)
        inside = [a + 3, a + 2, b + 3, b + 2]
        K[np.ix_(inside, inside)] += flip @ bending_stiffness(EI_in, step) @ flip
        for ends, k in (([a + 1, b + 1], GJ / step), ([a + 4, b + 4], EA / step)):
            K[np.ix_(ends, ends)] += k * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return K


def panel(n_modes: int = 6) -> dict[str, np.ndarray]:
    """Return the arrays of panel.npz."""
    span, chord, mass, n = 4.0, 1.5, 20.0, 8
    step = span / n
    names, position, masses, offsets, inertias, stations = ["root"], [np.zeros(3)], [], [], [], [0]
    masses.append(mass / (2 * n))
    offsets.append(np.array([0.0, step / 4, 0.0]))
    inertias.append(plate_inertia(masses[0], chord, step / 2))
    for s in range(1, n + 1):
        share, length, shift = (0.5, step / 2, -step / 4) if s == n else (1.0, step, 0.0)
        for letter, x in (("a", -chord / 4), ("b", chord / 4)):
            names.append(f"s{s}{letter}")
            position.append(np.array([x, s * step, 0.0]))
            masses.append(share * mass / (2 * n))
            offsets.append(np.array([0.0, shift, 0.0]))
            inertias.append(plate_inertia(masses[-1], chord / 2, length))
            stations.append(s)
    size = 6 * (n + 1)
    maps = np.zeros((len(names), 6, size))
    M = np.zeros((size, size))
    for j, s in enumerate(stations):
        offset = position[j] - np.array([0.0, s * step, 0.0])
        maps[j][:, 6 * s : 6 * s + 6] = carry(offset)
        M += maps[j].T @ lumped_mass(masses[j], offsets[j], inertias[j]) @ maps[j]
    K = panel_stiffness(n, step)
    squares, shapes = natural_modes(K[6:, 6:], M[6:, 6:], 0, n_modes)  # station 0 is clamped
    return {
        "names": np.array(names),
        "position_m": np.array(position),
        "mass_kg": np.array(masses),
        "center_of_mass_offset_m": np.array(offsets),
        "inertia_kg_m2": np.array(inertias),
        "modes": maps[:, :, 6:] @ shapes,
        "stiffness_n_m": np.diag(squares),
    }


def boom(n_modes: int = 3) -> dict[str, np.ndarray]:
    """Return the arrays of boom.npz: bending in the xz plane of a beam that nothing holds."""
    length, mass, n, EI = 6.0, 12.0, 6, 900.0
    step = length / n
    names = ["root", *(f"s{s}" for s in range(1, n)), "tip"]
    masses, lengths, offsets = np.full(n + 1, mass / n), np.full(n + 1, step), np.zeros((n + 1, 3))
    masses[[0, n]] /= 2.0  # the end nodes carry half an element each, beside them
    lengths[[0, n]] /= 2.0
    offsets[0, 0], offsets[n, 0] = step / 4, -step / 4
    J = np.array([rod_inertia(m, x) for m, x in zip(masses, lengths, strict=True)])
    size = 2 * (n + 1)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    maps = np.zeros((n + 1, 6, size))
    for s in range(n + 1):
        maps[s][5, 2 * s] = 1.0  # deflection along z
        maps[s][1, 2 * s + 1] = -1.0  # dz/dx = -rotation about y
        M += maps[s].T @ lumped_mass(masses[s], offsets[s], J[s]) @ maps[s]
    for e in range(n):
        ends = slice(2 * e, 2 * e + 4)
        K[ends, ends] += bending_stiffness(EI, step)
    squares, shapes = natural_modes(K, M, 2, n_modes)  # the first two are rigid motions
    return {
        "names": np.array(names),
        "position_m": np.array([[s * step, 0.0, 0.0] for s in range(n + 1)]),
        "mass_kg": masses,
        "center_of_mass_offset_m": offsets,
        "inertia_kg_m2": J,
        "modes": maps @ shapes,
        "stiffness_n_m": np.diag(squares),
    }


def main() -> None:
    """Write both files beside this one."""
    np.savez(FOLDER / "panel.npz", **panel())
    np.savez(FOLDER / "boom.npz", **boom())


if __name__ == "__main__":
    main()
