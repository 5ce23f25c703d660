"""Walk outlines. An outline is a list of (title, outline) pairs."""


def depth(outline):
    """Return how many levels of titles there are."""
    return 1 + max(depth(inner) for _, inner in outline)


def titles(outline):
    """Return all titles, in reading order."""
    found = []
    for title, inner in outline:
        found.append(title)
        found.extend(titles(inner))
    return found


def numbered(outline, prefix=""):
    """Return lines such as `2.1 Title`."""
    lines = []
    for place, (title, inner) in enumerate(outline, 1):
        number = f"{prefix}{place}"
        lines.append(f"{number} {title}")
        lines.extend(numbered(inner, f"{number}."))
    return lines
