"""Step rules."""
