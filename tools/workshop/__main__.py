"""Entry of `tools/NAME`: `python -m tools.workshop NAME [ARGUMENT...]`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from tools.workshop import chores, everything, wheel

COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "setup": chores.setup,
    "peers": chores.peers,
    "fe": chores.fe,
    "demo": chores.demo,
    "lock": chores.lock,
    "test": everything.test,
    "wheel": wheel.wheel,
}


def main(arguments: list[str]) -> int:
    """Run one chore; return its exit code."""
    if not arguments or arguments[0] not in COMMANDS:
        print(f"usage: tools/with_python {'|'.join(COMMANDS)} [ARGUMENT...]", file=sys.stderr)
        return 2
    try:
        return COMMANDS[arguments[0]](arguments[1:])
    except subprocess.CalledProcessError as error:
        command = " ".join(str(word) for word in error.cmd)
        print(f"tools: failed with exit code {error.returncode}: {command}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
