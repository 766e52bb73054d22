"""From the end of the loop to the maximum of the ELBO on fixed draws, and to a larger family."""
