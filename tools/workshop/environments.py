"""Virtual environments made from a lock, and left alone while nothing they depend on changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "tools" / "locks"
STAMP = "darts-stamp"


@dataclass(frozen=True)
class Environment:
    """A virtual environment and the lock that says what is in it."""

    folder: Path
    lock: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    def command(self, name: str) -> Path:
        """Return the path of a command installed in it."""
        return self.folder / "bin" / name


DEV = Environment(ROOT / ".venv", LOCKS / "dev.txt")
PEERS = Environment(ROOT / ".venv-peers", LOCKS / "peers.txt")
FE = Environment(ROOT / ".venv-fe", LOCKS / "fe.txt")


def stamp_of(environment: Environment) -> str:
    """Hash what the environment is made from: interpreter, lock, project metadata, place."""
    digest = hashlib.sha256(f"{sys.version}|{environment.folder}".encode())
    for path in (environment.lock, ROOT / "pyproject.toml"):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(environment: Environment) -> bool:
    """Tell whether the environment was finished from the present lock and metadata."""
    stamp = environment.folder / STAMP
    return (
        environment.python.exists()
        and stamp.exists()
        and stamp.read_text() == stamp_of(environment)
    )


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    """Run a command from the project's root; raise if it fails."""
    subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        check=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
    )


def ensure(environment: Environment) -> bool:
    """Bring the environment up to date; return False if nothing had to be done."""
    if is_current(environment):
        return False
    _say(f"setting up {environment.folder.name} from {environment.lock.relative_to(ROOT)}")
    if environment.folder.exists() and not _is_usable(environment):
        shutil.rmtree(environment.folder)
    if not environment.folder.exists():
        run(sys.executable, "-m", "venv", environment.folder)
    (environment.folder / STAMP).unlink(missing_ok=True)
    _install(environment)
    (environment.folder / STAMP).write_text(stamp_of(environment))
    return True


def _is_usable(environment: Environment) -> bool:
    """Tell whether the folder holds a working environment of this very Python version."""
    if not environment.python.exists():
        return False
    check = "import sys, pip; print(sys.version)"
    answer = subprocess.run(
        [environment.python, "-c", check], capture_output=True, text=True, check=False
    )
    return answer.returncode == 0 and answer.stdout.strip() == sys.version.strip()


def _install(environment: Environment) -> None:
    """Install the lock with its hashes checked, then the project itself, editable."""
    pip = [environment.python, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    run(*pip, "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", environment.lock)
    run(*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT)


def _say(text: str) -> None:
    print(f"tools: {text}", file=sys.stderr, flush=True)
