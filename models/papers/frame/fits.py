"""Settings that several experiments share."""

PAPERS_LOOP = {"start": "random", "average": False, "polish": False, "step_up": False}
"""Algorithm 1 of ADVI alone: none of this project's own start, averaging, polish or step to full rank."""

OF_Q = {"resample": False, "anneal": False, "step_up": False}
"""Draws of q itself, as in the papers; by default draws are made better than those of q."""
