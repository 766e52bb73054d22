"""Maximisation of a log density by L-BFGS, BFGS and Newton's method, with Stan's stopping rules."""
