"""A program's own simulations: prior predictive draws, and simulation-based calibration."""
