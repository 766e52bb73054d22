"""Latent variables that are independent given a few others: their marginal, and exact draws of both."""
