import pytest

from intervals import free, merge


def test_spans_apart_stay_apart():
    assert merge([(60, 90), (0, 30)]) == [(0, 30), (60, 90)]


def test_spans_that_overlap_become_one():
    assert merge([(0, 40), (30, 60), (50, 55)]) == [(0, 60)]


def test_spans_that_touch_become_one():
    assert merge([(540, 600), (600, 660)]) == [(540, 660)]


def test_no_gap_of_no_length_is_offered():
    assert free([(540, 600), (600, 660)], 540, 720) == [(660, 720)]


def test_the_day_before_the_first_span_is_free():
    assert free([(600, 660)], 540, 720) == [(540, 600), (660, 720)]


def test_backwards_is_refused():
    with pytest.raises(ValueError, match="cannot end"):
        merge([(10, 5)])
