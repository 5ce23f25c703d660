"""The only room for files and processes; it knows nothing of models, tools or runs."""
