"""The commands. Their bodies import late, so that `--version` and `--help` cost nothing."""
