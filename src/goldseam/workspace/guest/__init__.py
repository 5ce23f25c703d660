"""Scripts that the user's own Python runs inside the sandbox; never imported by us."""
