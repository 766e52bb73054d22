"""Settings that several experiments share."""

PAPERS_LOOP = {"start": "random", "average": False, "refine": False, "upgrade": False, "correct": False}
"""Algorithm 1 of ADVI alone: no start, averaging, refinement, upgrade or correction of draws of ours."""

OF_Q = {"correct": False, "upgrade": False}
"""Draws of q itself, as in the papers; by default draws are made better than those of q."""
