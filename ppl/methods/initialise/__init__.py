"""Where a run begins: modes, L-BFGS paths, Pathfinder."""
