"""Passes over the IR that may be left out, the forms that they make, and gradients from traces."""
