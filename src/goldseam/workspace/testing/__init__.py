"""The project's own tests: finding the command, running it, reading the outcomes."""
