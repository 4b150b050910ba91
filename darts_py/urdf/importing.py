"""The door of URDF import: a file in, the text of a model file out, all faults at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from darts_py.errors import ArgumentError, ModelError
from darts_py.spec.document import printable
from darts_py.spec.load import load_document
from darts_py.urdf.fields import Log
from darts_py.urdf.inertias import judge_inertias
from darts_py.urdf.markup import MAX_BYTES, Element, read_markup
from darts_py.urdf.merging import merge_fixed
from darts_py.urdf.mesh_paths import moved_mesh
from darts_py.urdf.model_text import model_text
from darts_py.urdf.notes import Note
from darts_py.urdf.plan import Place, Plan, make_plan, total_mass, usual_base
from darts_py.urdf.read import read_robot
from darts_py.urdf.robot import Robot
from darts_py.urdf.topology import read_topology

BASES = ("fixed", "floating")


@dataclass(frozen=True)
class Options:
    """How a robot is imported."""

    base: str | None = None  # "fixed", "floating"; None: by the root link
    stops: tuple[float, float] | None = None  # stiffness, damping of soft stops at the limits
    merge: bool = False  # add links on fixed joints to the body that carries them
    repair: bool = False  # mend impossible inertias and idle joints, with a warning for each
    gravity_m_s2: tuple[float, float, float] = (0.0, 0.0, 0.0)
    output: Path | None = None  # where the model file will be: mesh paths are relative to it


@dataclass(frozen=True)
class Imported:
    """A model file and what became of the robot's parts."""

    text: str
    notes: tuple[Note, ...]
    name: str
    base: str
    places: dict[str, Place]  # link name -> body, node, pose in the body
    joint_names: dict[str, str]  # joint name -> name in the model, of joints that were kept
    n_bodies: int
    n_nodes: int
    n_shapes: int
    mass_kg: float
    joint_types: dict[str, int]  # URDF's words, counted


def import_urdf(file: str | Path, options: Options | None = None) -> Imported:
    """Turn a URDF file into a model file.

    Args:
        file: the URDF file; xacro macros must have been expanded.
        options: how to import it.

    Returns:
        The text of the model file, which `darts check` accepts, and notes on what was lost.

    Raises:
        ModelError: listing every fault with its line.
        ArgumentError: there is no such file, or an option is out of range.
    """
    file, options = Path(file), options or Options()
    _check_options(options)
    log = Log(str(file))
    root, faults = read_markup(_read(file), str(file))
    if root is None:
        raise ModelError(faults)
    robot = read_robot(root, log)
    plan = None if robot is None else _plan(robot, root, options, log)
    if robot is None or plan is None or log.faults:
        raise ModelError(log.sorted())
    head = [
        f'Imported from {printable(file.name)}, robot "{robot.name}", by `darts model import`.',
        "URDF has no gravity: it was chosen at the import.",
    ]

    def path(mesh: str) -> str:
        return moved_mesh(mesh, file, options.output)

    text = model_text(plan, head, options.gravity_m_s2, options.stops, path, log)
    _check_text(text, plan, log)
    return _imported(text, plan, log)


def _check_options(options: Options) -> None:
    if options.base not in (None, *BASES):
        raise ArgumentError("base", got=repr(options.base), expected=" or ".join(BASES))
    stiffness, damping = options.stops or (1.0, 0.0)
    if not (0.0 < stiffness <= 1e30 and 0.0 <= damping <= 1e30):
        raise ArgumentError("stops", got=options.stops, expected="stiffness > 0 and damping >= 0")
    if len(options.gravity_m_s2) != 3 or not all(abs(g) <= 1e30 for g in options.gravity_m_s2):
        raise ArgumentError("gravity", got=options.gravity_m_s2, expected="three finite numbers")


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        got = f"{file}: {error.strerror}"
        raise ArgumentError("urdf", got=got, expected="a readable file") from error


def _plan(robot: Robot, root: Element, options: Options, log: Log) -> Plan | None:
    """Judge the whole as far as its parts were read: only what a faulty part decides waits."""
    sound = not log.faults
    named = {element.attributes.get("name", "").strip() for element in root.all("link")}
    complete = named == set(robot.links) and len(robot.joints) == len(root.all("joint"))
    topology = read_topology(robot, complete, log)
    if options.merge and (topology is None or not sound):
        return None  # what is joined rigidly is not known, so its inertia is not either
    base = options.base or ("" if topology is None else usual_base(robot, topology, log))
    if topology is not None and options.merge:
        robot = merge_fixed(robot, topology)
    robot = Robot(robot.name, judge_inertias(robot.links, options.repair, log), robot.joints)
    if topology is None or not sound:
        return None
    return make_plan(robot, topology, base, options.repair, log)


def _check_text(text: str, plan: Plan, log: Log) -> None:
    """Check the model as any other; its faults are told at the lines of the robot's file."""
    _, faults = load_document(text.encode(), Path(log.file))
    lines = {("bodies", body.name): body.line for body in plan.bodies}
    for joint in plan.joints:
        held = lines["bodies", joint.child]  # the joint that holds the root is not in the file
        lines["joints", joint.name] = joint.source.line if joint.source else held
    for fault in faults:
        section, _, rest = fault.path.partition(".")
        line = lines.get((section, rest.partition(".")[0]), 1)
        log.at_line(line, fault.path, fault.got, fault.expected, fault.hint)
    if faults:
        raise ModelError(log.sorted())


def _imported(text: str, plan: Plan, log: Log) -> Imported:
    kinds = Counter(joint.kind for joint in plan.joints)
    return Imported(
        text=text,
        notes=tuple(log.notes.listed()),
        name=plan.name,
        base=plan.base,
        places=plan.places,
        joint_names=plan.joint_names,
        n_bodies=len(plan.bodies),
        n_nodes=sum(len(body.nodes) for body in plan.bodies),
        n_shapes=sum(len(body.shapes) for body in plan.bodies),
        mass_kg=total_mass(plan.bodies),
        joint_types=dict(sorted(kinds.items())),
    )
