"""The run itself: what happened, what is so, what comes next.

Imports the standard library and msgspec, nothing else. Knows no vendor, no file, no socket and no
clock of its own: the world comes in through `ports`. Start reading at `loop`.
"""
