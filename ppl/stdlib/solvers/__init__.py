"""Solvers of differential and algebraic equations, and integrals, with their adjoints.

Numbers only: what they solve is a `Field` of many draws at once, and each draw is solved as if it were alone.
"""
