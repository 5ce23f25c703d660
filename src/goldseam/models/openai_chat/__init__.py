"""OpenAI Chat Completions, written and read, for every host that speaks it.

How a host deviates is in its `Profile`, never in code. `dialect.ChatDialect` is the whole of it.
"""
