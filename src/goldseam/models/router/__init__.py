"""The chain of models: who is asked next, when again, and when the run must end."""
