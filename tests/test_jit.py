"""The kernel cache: keyed by what is in it, safe where it cannot be written, shared when cold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "darts_py"
KEY = "from darts_py._jit import source_key; print(source_key())"
USE = (
    "from darts_py import _jit; from darts_py.spatial import trigonometry as t;"
    "print(repr(_jit._CACHE), t._sincos_of_large(1e22))"
)


def _python(code: str, root: Path, **environment: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(root), **environment}
    return subprocess.Popen([sys.executable, "-c", code], env=env, cwd=root, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip


def _answer(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip()


def _copied_package(folder: Path) -> Path:
    shutil.copytree(PACKAGE, folder / "darts_py", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _append(path: Path, line: str) -> None:
    path.write_text(f"{path.read_text()}\n{line}\n")


def test_the_cache_key_follows_kernel_sources_and_switches(tmp_path: Path) -> None:
    root = _copied_package(tmp_path)
    first = _answer(_python(KEY, root))
    assert _answer(_python(KEY, root)) == first
    assert _answer(_python(KEY, root, NUMBA_BOUNDSCHECK="1")) != first
    assert _answer(_python(KEY, root, NUMBA_LOOP_VECTORIZE="0")) != first
    _append(root / "darts_py" / "cli" / "app.py", "# not a kernel")
    assert _answer(_python(KEY, root)) == first
    _append(root / "darts_py" / "spatial" / "vector.py", "# a kernel's source")
    assert _answer(_python(KEY, root)) != first


def test_kernels_work_where_no_cache_can_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "a_file"
    blocked.write_text("not a folder")
    answer = _answer(_python(USE, PACKAGE.parent, DARTS_CACHE_DIR=str(blocked)))
    assert answer.startswith("''")


def test_two_cold_processes_share_one_cache(tmp_path: Path) -> None:
    both = [_python(USE, PACKAGE.parent, DARTS_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    first, second = (_answer(process) for process in both)
    assert first == second
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        assert list(tmp_path.rglob("*.nbi"))


def test_a_stale_cache_entry_that_vanishes_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "kernels-gone").symlink_to(tmp_path / "nowhere")
    assert _answer(_python(USE, PACKAGE.parent, DARTS_CACHE_DIR=str(tmp_path)))
