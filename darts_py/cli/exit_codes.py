"""Exit codes of every verb; scripts rely on them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What an exit code says."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    INVALID = 3  # invalid model or scenario
    PEER = 4  # peer or link failure
    DIFFERS = 5  # verification or check differs
    LATE = 6  # real-time verdict failed
    UNFIT = 7  # environment not fit
