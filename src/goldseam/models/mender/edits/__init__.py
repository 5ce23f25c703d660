"""Families of small edits, each a generator of changes; none knows another."""
