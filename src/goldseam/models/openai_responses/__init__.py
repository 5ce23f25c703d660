"""The OpenAI Responses protocol, spoken without anything being stored at the host.

`dialect` is what others use; `write` and `read_back` are the request, `read` (over `assembly` for
streams) and `failures` the reply. Rules RSP-* of the rulebook.
"""
