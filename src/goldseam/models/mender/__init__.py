"""`builtin:mender`: a text model without weights that mends small bugs in Python programs."""
