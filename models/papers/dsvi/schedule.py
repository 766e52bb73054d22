"""DSVI as the paper runs it: its learning rates, its start, and none of this project's additions."""

from typing import Any

CHECKS = 100
"""Estimates of the bound on the way, from 100 draws each."""


def as_in_the_supplement(first_rate: float, iterations: int) -> dict[str, Any]:
    """rho_0 in twenty stages of factor 0.95, a tenth of it for C; the answer is the last iterate."""
    return {
        "eta": first_rate,
        "iter": iterations,
        "eval_elbo": max(1, iterations // CHECKS),
        "start": "random",
        "init": 0.0,
        "average": False,
        "stop": "fixed",
    }
