"""The map of a joint or closure: six rows, rotation first, one column per direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pydantic import AfterValidator

from darts_py.errors import ModelError
from darts_py.spec.fields import Rows, refuse


def admissible(build: Callable[[np.ndarray], object]) -> AfterValidator:
    """Return a check that refuses a map at its own place, whatever else is wrong beside it.

    Args:
        build: makes something of the map, or raises ModelError.
    """

    def check(rows: Rows) -> Rows:
        lengths = {len(row) for row in rows}
        if len(lengths) > 1 or max(lengths) > 6:
            refuse(f"rows of length {sorted(lengths)}", "six rows of one length, 1 to 6")
        try:
            build(np.array(rows))
        except ModelError as error:
            fault = error.faults[0]
            refuse(fault.got, fault.expected, fault.hint)
        return rows

    return AfterValidator(check)
