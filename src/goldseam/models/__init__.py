"""What speaks for a model: dialects between the kernel's conversation and a vendor's words.

Imports the kernel alone: a model sees the history and the tools on offer, never the workspace.
"""
