"""Anthropic Messages, written and read. `dialect.AnthropicDialect` is the whole of it."""
