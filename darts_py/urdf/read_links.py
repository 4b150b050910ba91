"""Links of a URDF file: mass properties, shapes, colours."""

from __future__ import annotations

import numpy as np

from darts_py.spec.faults import show
from darts_py.urdf.fields import Log, label, number, numbers, only, origin, word
from darts_py.urdf.markup import Element
from darts_py.urdf.robot import Geometry, Inertial, Link

Array = np.ndarray

ENTRIES = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
DIMENSIONS = {"cylinder": ("radius", "length"), "sphere": ("radius",)}
WHITE = np.ones(4)


class Materials:
    """Colours by material name: a shape may use a material that is defined elsewhere."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._colors: dict[str, Array] = {}

    def define(self, element: Element) -> Array | None:
        """Take a definition; return its colour, or that of the name where it has none."""
        log, where = self._log, label(element)
        name = element.attributes.get("name", "")
        for texture in element.all("texture"):
            log.notes.warn("<texture> left out: shapes have a colour only", texture.line)
        color = only(element, "color", log, where)
        if color is None:
            return self._colors.get(name)
        rgba = numbers(color, "rgba", log, where, 4, None)
        if rgba is None:
            return None
        if np.any(rgba < 0.0) or np.any(rgba > 1.0):
            log.notes.warn("a colour outside 0 to 1: clipped", color.line)
            rgba = np.clip(rgba, 0.0, 1.0)
        if name:
            self._colors[name] = rgba
        return rgba


def read_link(element: Element, materials: Materials, log: Log) -> Link | None:
    """Read a link; None where its name is missing, which hides nothing else."""
    where = label(element)
    name = word(element, "name", log)
    inertial = _inertial(only(element, "inertial", log, where), log, where)
    shapes: list[Geometry] = []
    for child in element.children:
        if child.tag in ("visual", "collision"):
            shape = _shape(child, materials, log, where)
            if shape is not None:
                shapes.append(shape)
        elif child.tag != "inertial":
            log.notes.warn(f"<{child.tag}> in <link> left out: unknown here", child.line)
    return None if name is None else Link(name, inertial, tuple(shapes), element.line)


def _inertial(element: Element | None, log: Log, where: str) -> Inertial | None:
    """Return mass properties as written; positivity is judged later, with all other links."""
    if element is None:
        return None
    where = f"{where}.inertial"
    mass_element, tensor_element = (only(element, tag, log, where) for tag in ("mass", "inertia"))
    for tag, found in (("mass", mass_element), ("inertia", tensor_element)):
        if found is None:
            hint = "leave <inertial> out for a massless link"
            log.add(element, where, "nothing", f"the element <{tag}>", hint)
    pose = origin(element, log, where)
    if mass_element is None or tensor_element is None:
        return None
    mass = number(mass_element, "value", log, f"{where}.mass", least=0.0)
    values = [number(tensor_element, key, log, f"{where}.inertia") for key in ENTRIES]
    if mass is None or None in values:
        return None
    xx, yy, zz, xy, xz, yz = (float(value or 0.0) for value in values)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if mass == 0.0 and not tensor.any():
        return None
    return Inertial(mass, tensor, pose, element.line)


def _shape(element: Element, materials: Materials, log: Log, where: str) -> Geometry | None:
    where = f"{where}.{element.tag}"
    color = None
    for material in element.all("material"):
        color = materials.define(material)
    geometry = only(element, "geometry", log, where)
    pose = origin(element, log, where)
    if geometry is None or not geometry.children:
        log.notes.warn(f"<{element.tag}> without a shape left out", element.line)
        return None
    form = geometry.children[0]
    sizes = _size(form, log, where)
    if sizes is None:
        return None
    mesh = (word(form, "filename", log, where) or "") if form.tag == "mesh" else ""
    name = element.attributes.get("name", "").strip()
    if name and not name.isprintable():
        log.add(element, where, f"name={show(name)}", "printable text")
    return Geometry(element.tag, form.tag, sizes, mesh, name, pose, color)


def _size(form: Element, log: Log, where: str) -> Array | None:
    """Return the numbers of a shape; None where it is unknown or faulty."""
    if form.tag == "mesh":
        scale = numbers(form, "scale", log, where, 3, np.ones(3))
        if scale is not None and 0.0 in scale:
            log.add(form, where, f"scale={show(form.attributes['scale'])}", "no zero in it")
            return None
        return scale
    if form.tag == "box":
        sizes = numbers(form, "size", log, where, 3, None)
    elif form.tag in DIMENSIONS:
        values = [number(form, key, log, where) for key in DIMENSIONS[form.tag]]
        sizes = None if None in values else np.array(values, float)
    else:
        log.notes.warn(f"shape <{form.tag}> left out: unknown here", form.line)
        return None
    if sizes is not None and np.any(sizes <= 0.0):
        log.notes.warn(f"a <{form.tag}> without extent left out", form.line)
        return None
    return sizes
