"""The small commands: setup, peers, fe, demo, lock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.workshop import environments
from tools.workshop.environments import DEV, FE, LOCKS, PEERS, ROOT, Environment

DEMO = (
    *("simulate", "flexible_satellite", "--duration-s", "60"),
    *("--set", "base.wz=0.02", "--force", "spin_1.angle_rate=0.02"),
)

COMPILER = "clang++"
EIGEN = Path("/usr/include/eigen3/Eigen/Core")
APT_PACKAGES = ("clang", "libeigen3-dev")

LOCK_HEADER = "# Written by tools/lock: versions and hashes of {what}.\n"
RESOLVER = Environment(ROOT / ".venv-lock", LOCKS / "resolver.in")


def setup(arguments: list[str]) -> int:
    """Make or refresh .venv."""
    _refuse(arguments, "setup")
    changed = environments.ensure(DEV)
    _say("ready: .venv/bin/darts" + ("" if changed else " (nothing to do)"))
    return 0


def peers(arguments: list[str]) -> int:
    """Make or refresh .venv-peers and see to the compiler; 7 if that one is missing."""
    _refuse(arguments, "peers")
    environments.ensure(PEERS)
    missing = install_compiler()
    if missing:
        _say(missing)
        return 7
    _say("ready: .venv-peers, clang++ and Eigen")
    return 0


def fe(arguments: list[str]) -> int:
    """Make or refresh .venv-fe, where NASTRAN files can be read: pyNastran wants NumPy 1."""
    _refuse(arguments, "fe")
    changed = environments.ensure(FE)
    _say("ready: .venv-fe/bin/darts" + ("" if changed else " (nothing to do)"))
    return 0


def demo(arguments: list[str]) -> int:
    """Set up, then run the main job on a shipped spacecraft."""
    _refuse(arguments, "demo")
    environments.ensure(DEV)
    command = [DEV.command("darts"), *DEMO]
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode


def lock(arguments: list[str]) -> int:
    """Resolve anew and rewrite the locks: newest versions, every file's hash, no addresses."""
    _refuse(arguments, "lock")
    if not RESOLVER.folder.exists():
        environments.run(sys.executable, "-m", "venv", RESOLVER.folder)
    pip = [RESOLVER.python, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    environments.run(*pip, "--upgrade", "-r", RESOLVER.lock)
    _resolve(DEV.lock, "the product and its development tools", ["dev"])
    _resolve(PEERS.lock, "the product, its test tools and the peers", ["test", "peers"])
    _resolve(FE.lock, "the product, its test tools and pyNastran", ["test", "fe"])
    return 0


def _resolve(target: Path, what: str, extras: list[str]) -> None:
    """Write one lock for every platform and Python that the project supports."""
    command = [RESOLVER.command("uv"), "pip", "compile", "pyproject.toml", LOCKS / "build.in"]
    command += [f"--extra={extra}" for extra in extras]
    command += ["--universal", "--python-version=3.11", "--fork-strategy=fewest", "--upgrade"]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--no-config", "--quiet"]
    command += ["--no-emit-package=darts-py", f"--output-file={target}"]
    target.unlink(missing_ok=True)
    environments.run(*command)
    target.write_text(LOCK_HEADER.format(what=what) + target.read_text())
    _say(f"wrote {target.relative_to(ROOT)}")


def install_compiler() -> str:
    """Install clang and Eigen where that is possible; return what is missing, or ""."""
    if _has_compiler():
        return ""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _say("installing " + " ".join(APT_PACKAGES))
        _apt("update")
        _apt("install", "--yes", "--no-install-recommends", *APT_PACKAGES)
    if _has_compiler():
        return ""
    return (
        "MISSING for the comparison with Pinocchio: clang++ and Eigen 3 headers "
        f"(Debian: apt-get install {' '.join(APT_PACKAGES)})"
    )


def _has_compiler() -> bool:
    return shutil.which(COMPILER) is not None and EIGEN.exists()


def _apt(*arguments: str) -> None:
    """Call apt-get without questions; a failure shows in what is missing afterwards."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "-qq", *arguments]
    subprocess.run(command, env=quiet, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)


def _refuse(arguments: list[str], name: str) -> None:
    if arguments:
        _say(f"{name} takes no arguments, got {' '.join(arguments)}")
        raise SystemExit(2)


def _say(text: str) -> None:
    print(f"tools: {text}", file=sys.stderr, flush=True)
