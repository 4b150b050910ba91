"""Prove that an installed wheel works away from the checkout, shipped models included."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.workshop.environments import DEV, ROOT


def wheel(arguments: list[str]) -> int:
    """Build the wheel, install it in a scratch environment and list its models from elsewhere."""
    del arguments
    with tempfile.TemporaryDirectory(prefix="darts-wheel-") as scratch:
        folder = Path(scratch)
        built = _build(folder)
        darts = _install(built, folder / "venv")
        _list_models(darts, folder)
    return 0


def _build(folder: Path) -> Path:
    """Build the wheel with the backend of the development environment."""
    pip = [DEV.python, "-m", "pip", "--disable-pip-version-check", "wheel", "-qq"]
    _run([*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT], ROOT)
    (built,) = folder.glob("darts_py-*.whl")
    print(f"built {built.name}, {built.stat().st_size} bytes", flush=True)
    return built


def _install(built: Path, venv: Path) -> Path:
    """Install the wheel beside the locked dependencies, which are borrowed from .venv."""
    _run([sys.executable, "-m", "venv", venv], ROOT)
    python = venv / "bin" / "python"
    _run([python, "-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-deps", built])
    (site,) = venv.glob("lib/python*/site-packages")
    (borrowed,) = DEV.folder.glob("lib/python*/site-packages")
    # a plain path line: .pth files inside the borrowed folder, our editable one, stay unread
    (site / "borrowed.pth").write_text(f"{borrowed}\n")
    return venv / "bin" / "darts"


def _list_models(darts: Path, folder: Path) -> None:
    """Ask the installed command for its models; none is a failure."""
    where = _run(
        [darts.parent / "python", "-c", "import darts_py.errors as e; print(e.__file__)"], folder
    )
    if str(ROOT) in where:
        raise SystemExit(f"wheel: imported from the checkout ({where.strip()})")
    models = _run([darts, "model", "list"], folder)
    print(models, flush=True)
    shipped = [path.stem for path in (ROOT / "models").glob("*.yaml")]
    missing = [name for name in shipped if name not in models]
    if missing or not shipped:
        raise SystemExit(f"wheel: shipped models not found: {missing or 'there are none'}")
    _run([darts, "model", "show", "flexible_satellite"], folder)  # reads its modes file, too


def _run(command: list[str | Path], folder: Path = ROOT) -> str:
    """Run a command without the caller's Python path; return what it printed."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout
