"""A Stan-like language compiled to automatic differentiation variational inference."""
