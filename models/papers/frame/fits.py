"""Settings that several experiments share."""

PAPERS_LOOP = {"start": "random", "average": False, "polish": False, "step_up": False}
"""Algorithm 1 of ADVI alone: none of this project's own start, averaging, polish or step to full rank."""
