"""One file a constraint: value and log-Jacobian from one call, and the inverse."""
