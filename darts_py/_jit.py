"""The house decorators for compiled kernels, and where their machine code is kept.

Numba's disk cache does not notice that an *imported* kernel or a compiler switch has changed, so
the cache folder is named after a hash of every kernel source, the numba version and the switches
that alter code. Kernels follow strict IEEE arithmetic (no fastmath, no contraction) with their
own sine and cosine: the same input gives the same bits on every x86-64 machine (attitude springs
alone call libm, for atan2), and NaN tests survive.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

from darts_py._progress import CompileProgress

F = TypeVar("F", bound=Callable[..., Any])

NO_SWITCH = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")  # numba settings that leave code alone
KERNEL_ROOMS = ("spatial", "multibody")  # rooms that hold compiled functions
KEEP_FOLDERS = 8  # caches of other versions kept for people who switch branches
KEEP_SECONDS = 7 * 24 * 3600

CONFIG: Any = numba.config  # numba ships no types for these two
NJIT: Any = numba.njit
JIT_IS_OFF = bool(CONFIG.DISABLE_JIT)

_REGISTRY: list[Any] = []  # every compiled kernel, for start-up progress and signature checks


def cache_root() -> Path:
    """Return the folder that holds the caches of all versions (`DARTS_CACHE_DIR` overrides)."""
    override = os.environ.get("DARTS_CACHE_DIR")
    if override:
        return Path(override)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "darts-py"


def source_key() -> str:
    """Hash the sources of the kernel rooms with the compiler's version and switches."""
    digest = hashlib.sha256(numba.__version__.encode())
    for name in sorted(os.environ):
        if name.startswith("NUMBA_") and name not in NO_SWITCH:
            digest.update(f"{name}={os.environ[name]};".encode())
    package = Path(__file__).parent
    sources = [
        package / "_jit.py",
        *(p for room in KERNEL_ROOMS for p in (package / room).rglob("*.py")),
    ]
    for path in sorted(sources):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _require_kernel_room(function: Callable[..., Any]) -> None:
    """A kernel outside the hashed rooms would be served stale machine code: refuse it."""
    room = function.__module__.partition("darts_py.")[2].partition(".")[0]
    if function.__module__.startswith("darts_py.") and room not in KERNEL_ROOMS:
        raise ImportError(f"{function.__module__}: add room {room!r} to KERNEL_ROOMS in _jit.py")


def _open_cache() -> str:
    """Make this version's cache folder; return "" where none can be written."""
    folder = cache_root() / f"kernels-{source_key()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.touch()  # in use: not to be dropped as old
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return ""
    _drop_old_caches(folder)
    return str(folder)


def _drop_old_caches(current: Path) -> None:
    """Delete caches of other versions that are both surplus and a week old."""
    ages = []
    for folder in current.parent.glob("kernels-*"):
        with contextlib.suppress(OSError):  # another process may be dropping it
            ages.append((folder.stat().st_mtime, folder))
    horizon = time.time_ns() * 1e-9 - KEEP_SECONDS
    for age, folder in sorted(ages, reverse=True)[KEEP_FOLDERS:]:
        if age < horizon and folder != current:
            shutil.rmtree(folder, ignore_errors=True)


_CACHE = _open_cache()


def kernel(function: F) -> F:
    """Compile `function` on first use: nopython, strict IEEE, cached on disk.

    Numba's run time is left out (`_nrt`): a kernel that would allocate does not compile, and
    no time goes into counting references to the arrays of Model and Workspace (measured: 4x).

    The cache folder is set only while numba binds this function to it, so that the caller's own
    numba functions keep their own cache.
    """
    _require_kernel_room(function)
    before = CONFIG.CACHE_DIR
    CONFIG.CACHE_DIR = _CACHE or before
    try:
        compiled = NJIT(cache=bool(_CACHE), error_model="numpy", _nrt=False)(function)
    finally:
        CONFIG.CACHE_DIR = before
    _REGISTRY.append(compiled)
    return compiled


def inlined(function: F) -> F:
    """Compile `function` into its callers: for the small fixed-size steps inside a sweep.

    Model and Workspace are passed as some hundred machine words; a call that is not inlined
    spends more time on passing them than a rigid link costs. Without wrappers for other callers
    a cold start compiles in less than half the time; so only kernels can call such a function.
    """
    _require_kernel_room(function)
    return NJIT(
        error_model="numpy",
        forceinline=True,
        _nrt=False,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
    )(function)


def kernels() -> list[Any]:
    """Return every kernel made so far."""
    return list(_REGISTRY)


event.register("numba:compile", CompileProgress(is_kept=bool(_CACHE)))
