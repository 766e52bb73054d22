"""The making of a fit: targets, backends, starts, runs, checkpoints, and reasons not to begin."""
