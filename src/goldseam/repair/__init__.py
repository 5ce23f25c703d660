"""From an issue to a patch that was proved: what to ask, how to prove it, how to report it."""
