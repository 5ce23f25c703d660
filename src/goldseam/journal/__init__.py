"""The record of a run: every event on a line of its own, chained, and readable after any crash.

Imports the kernel. Start reading at `codec` (one event, one line), then `store` (the file of them).
"""
