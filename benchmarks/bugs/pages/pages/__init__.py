"""Cut a text into numbered pages."""

from pages.book import book

__all__ = ["book"]
