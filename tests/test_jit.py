"""The kernel cache: keyed by what is in it, safe where it cannot be written, shared when cold."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import njit
from numba.core.errors import NumbaError

from darts_py._jit import JIT_IS_OFF, kernel

needs_jit = pytest.mark.skipif(JIT_IS_OFF, reason="nothing is compiled")

PACKAGE = Path(__file__).parents[1] / "darts_py"
KEY = "from darts_py._jit import source_key; print(source_key())"
USE = (
    "from darts_py import _jit; from darts_py.spatial import trigonometry as t;"
    "print(repr(_jit._CACHE), t._sincos_by_libm(1e22))"
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


HITS = (
    "from darts_py.spatial import trigonometry as t; k = t._sincos_by_libm; k(1.0);"
    "print(sum(k.stats.cache_hits.values()), sum(k.stats.cache_misses.values()))"
)
COMPILE = (
    "import darts_py; from darts_py.multibody.spacecraft import Spacecraft;"
    "from darts_py.multibody.tree import Tree; Spacecraft(Tree('t', (), ()));"
    "from darts_py.multibody.mass_properties import refresh_mass_properties as k;"
    "from darts_py.multibody.model import make_workspace;"
    "m = Spacecraft(Tree('t', (), ())).arrays;"
    "from darts_py.multibody.motion import sweep_motion as s; import numpy as np;"
    "s(m, make_workspace(m), np.zeros(0), np.zeros(0))"
)


@needs_jit
def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    assert _answer(_python(HITS, PACKAGE.parent, DARTS_CACHE_DIR=str(tmp_path))) == "0 1"
    assert _answer(_python(HITS, PACKAGE.parent, DARTS_CACHE_DIR=str(tmp_path))) == "1 0"


@needs_jit
def test_a_cold_compile_shows_progress_unless_told_to_be_quiet(tmp_path: Path) -> None:
    cold = _python(COMPILE, PACKAGE.parent, DARTS_CACHE_DIR=str(tmp_path / "a"))
    assert "compiling kernels (once for this machine)" in cold.communicate(timeout=300)[1]
    quiet = {"DARTS_CACHE_DIR": str(tmp_path / "b"), "DARTS_QUIET": "1"}
    assert not _python(COMPILE, PACKAGE.parent, **quiet).communicate(timeout=300)[1]


@needs_jit
def test_a_kernel_that_allocates_does_not_compile() -> None:
    def wasteful(n: int) -> float:
        return np.zeros(n)[0]

    wasteful.__module__ = "darts_py.spatial.wasteful"
    assert njit(wasteful)(3) == 0.0  # nothing else is wrong with it
    with pytest.raises(NumbaError):
        kernel(wasteful)(3)


def test_a_stale_cache_entry_that_vanishes_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "kernels-gone").symlink_to(tmp_path / "nowhere")
    assert _answer(_python(USE, PACKAGE.parent, DARTS_CACHE_DIR=str(tmp_path)))
