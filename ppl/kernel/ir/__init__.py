"""The typed, resolved program, and the passes that rewrite it."""
