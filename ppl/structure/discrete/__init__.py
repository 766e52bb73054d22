"""Discrete parameters: summed out by a rewrite of the program, drawn back in generated quantities."""
