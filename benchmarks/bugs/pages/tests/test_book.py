from pages import book
from pages.layout import page_count, page_slice


def text_of(count):
    return "\n".join(f"line {n}" for n in range(1, count + 1))


def test_counts():
    assert [page_count(lines, 10) for lines in (0, 1, 10, 11, 20, 21)] == [0, 1, 1, 2, 2, 3]


def test_slices():
    assert page_slice(2, 10) == slice(10, 20)


def test_a_rest_gets_a_page_of_its_own():
    pages = book(text_of(21))
    assert len(pages) == 3
    assert pages[-1][0] == "line 21"


def test_every_page_has_its_foot():
    assert [page[-1].strip() for page in book(text_of(20))] == ["1/2", "2/2"]


def test_no_text_no_page():
    assert book("") == []
