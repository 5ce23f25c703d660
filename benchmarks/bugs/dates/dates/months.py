"""Lengths of months, and counting days."""

from dates.leap import is_leap

LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def days_in_month(year, month):
    """Return how many days `month` (1 to 12) has in `year`."""
    if not 1 <= month <= 12:
        raise ValueError(f"there is no month {month}")
    if month == 2 and is_leap(year):
        return 29
    return LENGTHS[month - 1]


def day_of_year(year, month, day):
    """Return the number of a day within its year, from 1."""
    return sum(days_in_month(year, before) for before in range(1, month)) + day


def days_between(first, last):
    """Return how many days lie between two (year, month, day), which may be in different years."""
    days = 0
    for year in range(first[0], last[0]):
        days += 366 if is_leap(year) else 365
    return days + day_of_year(*last) - day_of_year(*first)
