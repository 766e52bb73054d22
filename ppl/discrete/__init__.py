"""Discrete parameters: summed out of the target by a rewrite of the program, drawn back in generated quantities."""
