"""A map of a repository: what it defines, the most used first, in a bounded text."""
