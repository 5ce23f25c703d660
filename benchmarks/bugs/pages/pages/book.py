"""A book is a list of pages; a page is its lines and a foot."""

from pages.layout import page_count, page_slice


def foot(page, count, width=20):
    """Return the line at the foot of a page."""
    return f"{page}/{count}".rjust(width)


def book(text, per_page=10):
    """Return the pages of `text`."""
    lines = text.splitlines()
    count = page_count(len(lines), per_page)
    pages = []
    for page in range(1, count):
        pages.append([*lines[page_slice(page, per_page)], foot(page, count)])
    return pages
