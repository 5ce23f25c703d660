"""The generateContent protocol, streamed and whole, at Google's developer and cloud endpoints."""
