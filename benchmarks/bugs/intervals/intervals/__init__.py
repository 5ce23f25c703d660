"""Spans of time on one day, in minutes since midnight."""

from intervals.merge import free, merge

__all__ = ["free", "merge"]
