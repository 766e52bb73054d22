"""What is maximised: the target, its coordinates, the ELBO."""
