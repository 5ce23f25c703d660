"""Outlines: nested lists of titles."""

from outline.tree import depth, numbered, titles

__all__ = ["depth", "numbered", "titles"]
