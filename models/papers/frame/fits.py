"""Settings that several experiments share."""

PAPERS_LOOP = {"start": "random", "average": False, "polish": False, "step_up": False, "correct": False}
"""Algorithm 1 of ADVI alone: no start, averaging, polish, climb or correction of draws of ours."""

OF_Q = {"correct": False, "step_up": False}
"""Draws of q itself, as in the papers; by default draws are made better than those of q."""
