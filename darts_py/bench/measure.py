"""How everything is timed: the best chunk of a repeated call, on one core."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CHUNK_NS = 300_000  # both as in native/timing.h
MIN_CHUNKS = 3


def best_ns(repeat: Callable[[int], object], seconds: float) -> float:
    """Return nanoseconds per call: best chunk of `repeat(n)` within the seconds given."""
    count, best, chunks = 1, float("inf"), 0
    end = time.perf_counter_ns() + int(1e9 * seconds)
    while time.perf_counter_ns() < end or chunks < MIN_CHUNKS:
        start = time.perf_counter_ns()
        repeat(count)
        chunk = time.perf_counter_ns() - start
        if chunk < CHUNK_NS:
            count *= 2
            continue
        chunks += 1
        best = min(best, chunk / count)
    return best


@contextmanager
def one_core() -> Iterator[str]:
    """Stay on the last core that this process may use; yield what was done, for the record."""
    try:
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(before)})
    except (AttributeError, OSError) as error:
        yield f"not pinned ({error})"
        return
    try:
        yield f"pinned to core {max(before)}"
    finally:
        os.sched_setaffinity(0, before)


def median(values: list[float]) -> float:
    """Return the middle value."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else 0.5 * (ordered[half - 1] + ordered[half])
