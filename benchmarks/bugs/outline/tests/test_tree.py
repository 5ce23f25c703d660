from outline import depth, numbered, titles

BOOK = [("Wood", [("Oak", []), ("Ash", [("Tools", [])])]), ("Gold", [])]


def test_nothing_has_no_depth():
    assert depth([]) == 0


def test_depth_is_that_of_the_deepest():
    assert depth(BOOK) == 3


def test_titles_come_in_reading_order():
    assert titles(BOOK) == ["Wood", "Oak", "Ash", "Tools", "Gold"]


def test_numbers_go_down_the_levels():
    assert numbered(BOOK) == ["1 Wood", "1.1 Oak", "1.2 Ash", "1.2.1 Tools", "2 Gold"]
