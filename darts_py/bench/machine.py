"""What a figure depends on besides the code: machine, compiler, versions, commit."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("darts-py", "numpy", "numba", "llvmlite", "scipy")


def describe_machine() -> dict[str, object]:
    """Return the record that stands beside every table."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": commit(),
    }


def cpu_model() -> str:
    """Return the processor's name as the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    values = {key.strip(): value.strip() for key, value in fields.items()}
    family, model = values.get("cpu family", "?"), values.get("model", "?")
    return f"{values.get('model name', 'unknown')} (family {family}, model {model})"


def commit() -> str:
    """Return the checkout's commit, "+" if changed since; "" outside a checkout."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    return _git(root, "rev-parse", "--short=12", "HEAD") + (
        "+" if _git(root, "status", "--porcelain", "--untracked-files=no") else ""
    )


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
