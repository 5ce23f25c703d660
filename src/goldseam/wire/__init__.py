"""HTTP and streams over it: bytes out, bytes in, and what can go wrong between. Knows no model.

Imports nothing of ours. Start reading at `message` (the values) and `transport` (the port); `sse`
and `json_array` cut a stream into events; `tape` stands in for the network.
"""
