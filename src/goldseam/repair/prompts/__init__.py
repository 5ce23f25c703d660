"""The texts that the model is told, as Markdown; read by `repair.prompting`."""
