"""Properties of a beam along its axis: given as such, or from a material and a section's shape.

Beam axes: x along the beam, y and z the principal axes of the section. Whatever varies does so
linearly between stations; a shape's dimensions vary linearly, its properties as they follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from darts_py.multibody.tree import Array
from darts_py.structures.refusal import Refusals

FAMILIES = ("stretch", "torsion", "bending_about_y", "bending_about_z")


@dataclass(frozen=True)
class Profile:
    """A positive quantity along the beam, linear between stations."""

    stations: Array  # m from the root, increasing   (k,)
    values: Array  # (k,)

    @staticmethod
    def constant(value: float) -> Profile:
        """Return a quantity that is the same everywhere."""
        return Profile(np.zeros(1), np.array([float(value)]))

    @property
    def is_constant(self) -> bool:
        """Whether it is the same everywhere."""
        return bool(np.all(self.values == self.values[0]))

    def at(self, s: Array) -> Array:
        """Return its values at stations."""
        return np.interp(s, self.stations, self.values)


@dataclass(frozen=True)
class SectionValues:
    """Properties at stations of the beam, one entry each; stiffness None: rigid that way."""

    mass: Array  # kg/m
    inertia: Array  # rotary inertia about x, y, z, kg m          (s, 3)
    stiffness: Mapping[str, Array]  # by family: EA in N, GJ and EI in N m^2


@dataclass(frozen=True)
class Section:
    """A beam's section: its properties at any station, and the stations where slopes change."""

    values: Callable[[Array], SectionValues]
    breaks: Array  # stations that element boundaries must meet
    families: tuple[str, ...]  # motions that it resists elastically
    is_uniform: bool


def section_from_properties(
    mass: Profile, inertia: tuple[Profile, Profile, Profile], stiffness: Mapping[str, Profile]
) -> Section:
    """Make a section from mass, rotary inertia about x, y, z and stiffness along the beam."""
    profiles = [mass, *inertia, *stiffness.values()]

    def values(s: Array) -> SectionValues:
        rotary = np.stack([profile.at(s) for profile in inertia], axis=-1)
        return SectionValues(
            mass.at(s), rotary, {key: value.at(s) for key, value in stiffness.items()}
        )

    families = tuple(name for name in FAMILIES if name in stiffness)
    return Section(values, _breaks(profiles), families, all(p.is_constant for p in profiles))


@dataclass(frozen=True)
class Material:
    """An isotropic material."""

    E: float  # Young's modulus, Pa
    G: float  # shear modulus, Pa
    rho: float  # density, kg/m^3


@dataclass(frozen=True)
class Area:
    """Geometry of a section at stations."""

    A: Array  # m^2
    Iy: Array  # int z^2 dA, m^4
    Iz: Array  # int y^2 dA, m^4
    Jt: Array  # torsion constant, m^4


SHAPES: dict[str, tuple[str, ...]] = {
    "rectangle": ("width_y_m", "height_z_m"),
    "box": ("width_y_m", "height_z_m", "wall_m"),
    "circle": ("diameter_m",),
    "tube": ("outer_diameter_m", "wall_m"),
}


def section_from_shape(
    material: Material, shape: str, sizes: Mapping[str, Profile], rotary_inertia: bool
) -> Section:
    """Make a section of one material.

    Args:
        material: what it is made of.
        shape: one of SHAPES.
        sizes: the dimensions that SHAPES lists for it.
        rotary_inertia: whether slopes in bending carry inertia; torsion always does.
    """

    def values(s: Array) -> SectionValues:
        area = _area(shape, {key: size.at(s) for key, size in sizes.items()})
        lateral = np.stack([area.Iy, area.Iz], axis=-1) if rotary_inertia else np.zeros((len(s), 2))
        polar = (area.Iy + area.Iz)[:, None]
        return SectionValues(
            material.rho * area.A,
            material.rho * np.hstack([polar, lateral]),
            {
                "stretch": material.E * area.A,
                "torsion": material.G * area.Jt,
                "bending_about_y": material.E * area.Iy,
                "bending_about_z": material.E * area.Iz,
            },
        )

    uniform = all(size.is_constant for size in sizes.values())
    return Section(values, _breaks(list(sizes.values())), FAMILIES, uniform)


def _breaks(profiles: list[Profile]) -> Array:
    return np.unique(np.concatenate([np.zeros(0), *(p.stations for p in profiles)]))


def _area(shape: str, size: Mapping[str, Array]) -> Area:
    if shape == "rectangle":
        b, h = size["width_y_m"], size["height_z_m"]
        return Area(b * h, b * h**3 / 12.0, h * b**3 / 12.0, _rectangle_torsion(b, h))
    if shape == "box":
        b, h, t = size["width_y_m"], size["height_z_m"], size["wall_m"]
        bi, hi = b - 2.0 * t, h - 2.0 * t
        Iy, Iz = (b * h**3 - bi * hi**3) / 12.0, (h * b**3 - hi * bi**3) / 12.0
        bm, hm = b - t, h - t  # of the wall's middle line: Bredt's formula for one closed cell
        return Area(b * h - bi * hi, Iy, Iz, 2.0 * t * bm**2 * hm**2 / (bm + hm))
    d = size["diameter_m"] if shape == "circle" else size["outer_diameter_m"]
    di = np.zeros_like(d) if shape == "circle" else d - 2.0 * size["wall_m"]
    I = np.pi / 64.0 * (d**4 - di**4)
    return Area(np.pi / 4.0 * (d**2 - di**2), I, I, 2.0 * I)


def _rectangle_torsion(b: Array, h: Array) -> Array:
    """Return Saint-Venant's torsion constant of a solid rectangle (Timoshenko & Goodier, art. 109).

    J = a c^3 (1/3 - 64/pi^5 c/a sum tanh(n pi a / 2c) / n^5), n odd, a >= c; nine terms leave 1e-8.
    """
    a, c = np.maximum(b, h), np.minimum(b, h)
    n = np.arange(1, 19, 2)[:, None]
    ratio = np.divide(c, a, out=np.zeros_like(a), where=a > 0.0)
    slender = np.divide(a, c, out=np.full_like(a, np.inf), where=c > 0.0)
    series = np.sum(np.tanh(0.5 * np.pi * n * slender) / n**5.0, axis=0)
    return a * c**3 * (1.0 / 3.0 - 64.0 / np.pi**5 * ratio * series)


def check_profile(key: str, profile: Profile, length: float, log: Refusals) -> None:
    """Refuse stations that do not run along the whole beam, and values that are not positive.

    A value may be zero at an end: a wedge runs out in an edge.
    """
    s, v = profile.stations, profile.values
    if len(s) > 1 and (
        np.any(np.diff(s) <= 0.0) or s[0] != 0.0 or abs(s[-1] - length) > 1e-9 * length
    ):
        got = f"stations from {s[0]:g} to {s[-1]:g} m"
        log.add(key, got, f"increasing stations from 0 to the length, {length:g} m")
    inside = v if len(v) == 1 else v[1:-1]
    if np.any(v < 0.0) or np.any(inside <= 0.0) or not np.any(v > 0.0):
        log.add(key, f"the value {v.min():g}", "values > 0; zero at an end of a taper only")


def check_walls(shape: str, sizes: Mapping[str, Profile], log: Refusals) -> None:
    """Refuse walls thicker than half of the section."""
    if shape not in ("box", "tube"):
        return
    outer = [name for name in sizes if name != "wall_m"]
    stations = _breaks(list(sizes.values()))
    wall = sizes["wall_m"].at(stations)
    for name in outer:
        if np.any(2.0 * wall > sizes[name].at(stations)):
            hint = f"a solid one is shape: {'rectangle' if shape == 'box' else 'circle'}"
            log.add("wall_m", f"a wall of {wall.max():g} m", f"at most half of {name}", hint)
