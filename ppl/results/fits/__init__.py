"""Fits as results: their draws, variables, predictions and files."""
