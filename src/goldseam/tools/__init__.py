"""What a model may do: typed tools, the policy over them, and the text that comes back.

Imports the kernel and the workspace. Knows no vendor and no screen. Start reading at `tool`.
"""
