"""Where commands run: the port, and the places that fit it."""
