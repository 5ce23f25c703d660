"""JSON text: the dialect that makes an agent of any plain chat model.

A reply is one JSON action, or an array of calls; a history is written as chat messages of text.
Knows no vendor: what speaks to one is a `provider.TextProvider`. The contract that the model is
given is `contract.md`.
"""
