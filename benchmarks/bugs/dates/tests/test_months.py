import pytest

from dates.months import day_of_year, days_between, days_in_month


@pytest.mark.parametrize(("year", "days"), [(2023, 28), (2024, 29), (1900, 28), (2000, 29)])
def test_february(year, days):
    assert days_in_month(year, 2) == days


def test_other_months():
    assert [days_in_month(2023, month) for month in (1, 4, 12)] == [31, 30, 31]


def test_no_thirteenth_month():
    with pytest.raises(ValueError, match="13"):
        days_in_month(2023, 13)


def test_day_of_year():
    assert day_of_year(2024, 3, 1) == 61
    assert day_of_year(1900, 12, 31) == 365


def test_days_over_centuries():
    assert days_between((1899, 12, 31), (1901, 1, 1)) == 366
    assert days_between((1999, 12, 31), (2000, 12, 31)) == 366
