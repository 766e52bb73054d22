"""Numerical methods of inference."""
