"""Hypothesis profiles: `ci` (default) repeats itself exactly, `wide` searches on.

Choose with HYPOTHESIS_PROFILE=wide.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: see tools/workshop/everything.py

from hypothesis import HealthCheck, settings

REDUCED = os.environ.get("DARTS_REDUCED") == "1"
_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=8 if REDUCED else 40,
    suppress_health_check=_SLOW,
)
settings.register_profile("wide", deadline=None, max_examples=1000, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
