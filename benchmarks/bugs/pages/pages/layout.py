"""How lines go onto pages."""


def page_count(lines, per_page):
    """Return how many pages `lines` lines need."""
    return (lines + per_page - 1) // per_page


def page_slice(page, per_page):
    """Return the slice of lines on `page`, counted from 1."""
    first = (page - 1) * per_page
    return slice(first, first + per_page)
