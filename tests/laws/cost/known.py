"""Programs whose cost grows by more than their rows."""

from collections.abc import Mapping

from ppl.records import dataclass


@dataclass(frozen=True)
class Steeper:
    """A program whose cost grows by a power of its rows, and why that must be."""

    exponent: float
    reason: str


COVARIANCE = "a covariance of all rows"

STEEPER: Mapping[str, Steeper] = {
    "gp_logistic_matern": Steeper(2, COVARIANCE),
    "gp_regression": Steeper(2, COVARIANCE),
    "models/change_point": Steeper(
        2, "a discrete parameter with a value for each row, summed over all rows for each"
    ),
    "models/gp_regression": Steeper(2, COVARIANCE),
    "models/gp_poisson": Steeper(2, COVARIANCE),
    "spatial_gp_binomial_matern52": Steeper(2, COVARIANCE),
}
"""Those that must, with the power and the reason."""

DEARER_AT_ONCE: Mapping[str, str] = {
    "enzyme_implicit_newton_while": "points at once take as many steps as the slowest of them",
    "factor_analysis_marginal": "at one point rows with one covariance are summed up before the density",
}
"""Programs that make more numbers at several points at once than one by one, and why."""

TO_MEND: Mapping[str, set[str]] = {}
"""Faults that are known: the runs of programs that cost more than they must."""


def exponent_of(name: str) -> float:
    """The power of its rows that a program may cost."""
    return STEEPER[name].exponent if name in STEEPER else 1.0
