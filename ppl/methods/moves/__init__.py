"""The ending of a fit: draws moved by Hamiltonian trajectories until they are stationary and mixed."""
