"""The objective: the target, its coordinates, the ELBO."""
