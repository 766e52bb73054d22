"""Variational families."""
