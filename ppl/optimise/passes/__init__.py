"""Rewrites of the IR; each keeps the log density unchanged."""
