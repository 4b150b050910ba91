"""The peers as programs: where they are installed, how their harnesses are built and asked.

Each harness is a small C or C++ program in `native/`, compiled against the peer's own wheel into
the cache folder. A peer that is not to be had says why, and the report repeats it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from darts_py._jit import cache_root

NATIVE = Path(__file__).parent / "native"
EIGEN = Path("/usr/include/eigen3")
HINT = "run tools/peers, or name an environment that has it in DARTS_PEERS_VENV"
BUILD_LIMIT_S = 600.0
RUN_LIMIT_S = 120.0

OPTIMISE = ("-O3", "-march=native", "-DNDEBUG")
BOOST_FLAGS = (  # Pinocchio's joint variant has more types than boost allows by default
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)


@dataclass(frozen=True)
class Peer:
    """A harness ready to run, or the reason why there is none."""

    name: str
    version: str = ""
    program: Path | None = None
    missing: str = ""
    build: str = ""  # compiler and flags, for the record


class PeerMissing(Exception):
    """A peer cannot be had; the text says what is missing."""


def pinocchio() -> Peer:
    """Build Pinocchio's harness with clang++, its fastest compiler."""
    return _prepare("pinocchio", "libpinocchio", _pinocchio_command)


def mujoco() -> Peer:
    """Build MuJoCo's harness against the library in its wheel."""
    return _prepare("mujoco", "mujoco", _mujoco_command)


def ask(peer: Peer, *arguments: str | Path) -> dict[str, list[float]]:
    """Run a harness; return its lines as name -> numbers."""
    command = [str(peer.program), *(str(word) for word in arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=RUN_LIMIT_S,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0]: [float(word) for word in words[1:]] for words in lines}


def _prepare(name: str, distribution: str, make_command) -> Peer:
    """Find the peer and compile its harness unless that is done already."""
    try:
        site, version = _find(distribution)
        command = make_command(site)
        return Peer(name, version, _build(name, command, version), build=" ".join(command[:4]))
    except PeerMissing as error:
        return Peer(name, missing=str(error))


def _environments() -> list[Path]:
    """Return where peers may be: the named environment, the checkout's, this one."""
    named = os.environ.get("DARTS_PEERS_VENV")
    checkout = Path(__file__).parents[2] / ".venv-peers"
    return [Path(named)] if named else [checkout, Path(sys.prefix)]


def _find(distribution: str) -> tuple[Path, str]:
    """Return the site-packages folder that holds a distribution, and its version."""
    for environment in _environments():
        for info in environment.glob(f"lib/python*/site-packages/{distribution}-*.dist-info"):
            return info.parent, info.name.removesuffix(".dist-info").rsplit("-", 1)[1]
    raise PeerMissing(f"not installed: {HINT}")


def _pinocchio_command(site: Path) -> list[str]:
    compiler = shutil.which("clang++")
    if compiler is None:
        raise PeerMissing("no clang++ (Debian: apt-get install clang)")
    if not (EIGEN / "Eigen" / "Core").exists():
        raise PeerMissing("no Eigen headers (Debian: apt-get install libeigen3-dev)")
    include = site / "cmeel.prefix" / "include"
    flags = ["-std=c++17", *BOOST_FLAGS, "-isystem", str(EIGEN), "-isystem", str(include)]
    return [compiler, *OPTIMISE, *flags, str(NATIVE / "pin_aba.cpp")]


def _mujoco_command(site: Path) -> list[str]:
    compiler = shutil.which("clang") or shutil.which("cc")
    if compiler is None:
        raise PeerMissing("no C compiler (Debian: apt-get install clang)")
    package = site / "mujoco"
    libraries = sorted(package.glob("libmujoco.so*"))
    if not libraries:
        raise PeerMissing(f"no libmujoco in its wheel: {HINT}")
    flags = [f"-I{package / 'include'}", str(NATIVE / "mj_forward.c")]
    return [compiler, *OPTIMISE, *flags, str(libraries[0]), f"-Wl,-rpath,{package}"]


def _build(name: str, command: list[str], version: str) -> Path:
    """Compile into the cache, under a name that changes with sources, flags, version and CPU."""
    digest = hashlib.sha256("|".join([*command, version, _compiler_and_cpu(command[0])]).encode())
    for source in sorted(NATIVE.iterdir()):
        digest.update(source.read_bytes())
    program = cache_root() / "peers" / f"{name}-{digest.hexdigest()[:16]}"
    if program.exists():
        return program
    print(f"building the harness of {name} (about a minute, once) ...", file=sys.stderr, flush=True)
    program.parent.mkdir(parents=True, exist_ok=True)
    scratch = program.with_suffix(f".{os.getpid()}")
    done = subprocess.run(
        [*command, "-o", str(scratch)], capture_output=True, text=True, check=False,
        timeout=BUILD_LIMIT_S, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise PeerMissing(f"its harness does not compile: {done.stderr.strip()[-400:]}")
    scratch.replace(program)
    return program


def _compiler_and_cpu(compiler: str) -> str:
    """Identify what -march=native means here."""
    words = [compiler, "-march=native", "-E", "-v", "-x", "c", "/dev/null"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stderr
