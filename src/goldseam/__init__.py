"""Goldseam: an issue goes in, a verified patch comes out, every step on record."""

from goldseam._version import __version__

__all__ = ["__version__"]
