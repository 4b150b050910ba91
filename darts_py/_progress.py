"""What a person sees while kernels compile on a cold start (`DARTS_QUIET` silences it)."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from numba.core import event


class CompileProgress(event.Listener):
    """Tells on stderr that a cold start is compiling: nobody should wonder for half a minute."""

    def __init__(self, is_kept: bool) -> None:
        self.why = "once for this machine" if is_kept else "no cache to write: set DARTS_CACHE_DIR"
        self.depth, self.count, self.started, self.shown = 0, 0, 0.0, False

    @staticmethod
    def _is_ours(event: Any) -> bool:
        return event.data["dispatcher"].py_func.__module__.startswith("darts_py.")

    def on_start(self, event: Any) -> None:
        """Note when the outermost kernel begins to compile."""
        if not self._is_ours(event):
            return
        if self.depth == 0:
            self.started, self.shown, self.count = time.perf_counter(), False, 0
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """Count a finished function; speak once it has taken a second."""
        if not self._is_ours(event):
            return
        self.depth, self.count = self.depth - 1, self.count + 1
        elapsed = time.perf_counter() - self.started
        if elapsed < 1.0 or "DARTS_QUIET" in os.environ:
            return
        text = f"darts-py: compiling kernels ({self.why}): {self.count} functions, {elapsed:.0f} s"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{text}" + ("" if self.depth else "\n"))
        elif not self.shown or not self.depth:
            sys.stderr.write(text + (" ...\n" if self.depth else " done\n"))
        sys.stderr.flush()
        self.shown = True
