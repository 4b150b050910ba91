"""No description of a structure, however mangled, gives anything but faults, or hangs."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.test_fuzz import QUICK, mangle, survives
from tests.spec.test_structures import BEAM, HEAD, PLATE, TAIL, TUBE

SMALL = {
    "elements: 16": "elements: 3",
    "elements: [6, 4]": "elements: [2, 1]",
    "count: 6": "count: 4",
}


def small(body: str) -> str:
    for old, new in SMALL.items():
        body = body.replace(old, new)
    return HEAD + body + TAIL


@QUICK
@given(data=st.data(), body=st.sampled_from([BEAM, TUBE, PLATE]), count=st.integers(1, 3))
def test_mangled_structures_only_ever_give_faults(
    data: st.DataObject, body: str, count: int
) -> None:
    # YAML 1.1 of the test's own reader takes 7e10 for a word
    text = small(body).replace("7e10", "7.0e+10").replace("7e9", "7.0e+9").replace("1e6", "1.0e+6")
    document = yaml.safe_load(text)
    for _ in range(count):
        mangle(data, document["bodies"]["panel"])
    survives(yaml.safe_dump(document, sort_keys=False))
