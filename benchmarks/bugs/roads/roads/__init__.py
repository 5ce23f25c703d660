"""Shortest ways on a map of roads."""
