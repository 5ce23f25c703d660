"""The tools that every model has. Each is a module and the Markdown file beside it."""

from goldseam.tools.builtin._all import builtin_tools

__all__ = ["builtin_tools"]
