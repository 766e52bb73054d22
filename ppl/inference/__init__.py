"""Variational inference on R^dim: knows a dimension and a log density, nothing of the language."""
