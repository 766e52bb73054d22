"""A fit as users run it: targets, backends, starts, runs, checkpoints, and reasons not to begin."""
