"""One line of the table of figures."""

from msgspec import Struct


class Row(Struct, frozen=True, kw_only=True):
    """A figure, the limit it must keep, and whether it does. No limit: shown, not judged."""

    what: str
    figure: str
    limit: str = ""
    holds: bool = True


def at_most(what: str, figure: float, *, limit: float, unit: str) -> Row:
    """Return the row of a figure that must not pass `limit`."""
    return Row(
        what=what,
        figure=f"{figure:.3g} {unit}",
        limit=f"<= {limit:g} {unit}",
        holds=figure <= limit,
    )
