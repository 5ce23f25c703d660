"""The web as a tool may see it: public addresses alone, within limits, as text that is data."""
