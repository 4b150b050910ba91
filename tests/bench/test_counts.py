from __future__ import annotations

import pytest

from darts_py.bench.counts import articulated_count, composite_count, count_ratio

# equation sheet, section 13: modes -> composite over articulated for ten bodies
SHEET = {
    0: 1.41,
    1: 1.58,
    2: 1.99,
    3: 2.51,
    5: 3.68,
    7: 4.91,
    8: 5.56,
    10: 7.27,
    15: 11.96,
    20: 17.06,
}


@pytest.mark.parametrize(("n_modes", "ratio"), SHEET.items())
def test_count_ratio_is_that_of_the_sheet(n_modes, ratio):
    assert round(count_ratio(10, n_modes), 2) == ratio


def test_composite_is_cheaper_for_very_short_chains():
    assert count_ratio(2, 5) < 1.0 < count_ratio(3, 5)


def test_articulated_count_is_linear_in_bodies():
    assert articulated_count(100, 5) == pytest.approx(10 * articulated_count(10, 5))


def test_composite_count_grows_with_the_cube_of_bodies():
    assert composite_count(2000, 5) / composite_count(1000, 5) == pytest.approx(8.0, rel=0.05)
