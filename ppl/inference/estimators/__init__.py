"""Gradient estimators of the ELBO."""
