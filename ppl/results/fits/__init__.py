"""Fits: settings, targets, draws, runs, and what is kept of them."""
