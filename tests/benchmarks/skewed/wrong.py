"""What a fit says of a quantity beside its exact law, and when that is wrong."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ppl.results.fits.fit import Fit
from tests.benchmarks.skewed.exact import PROBABILITIES, Law

MOST = {"mean": 0.15, "5%": 0.25, "95%": 0.25}
"""Sds of the posterior that a mean and quantiles may be off."""
MOST_SDS = 0.1
"""The share that an sd may be off."""
MOST_BY_CHANCE = 4.0
"""The same in standard errors of as many independent draws, which of quantiles in long tails are not small:
three of draws of chains, that are themselves worth about as many.
"""
MOST_ERRORS = 4.0
"""Stated standard errors that means and quantiles may be off."""
BEYOND = 0.01
"""The probability beyond the last quantile."""


class Measured(NamedTuple):
    """Of a mean or quantile the error in sds; of an sd the ratio to the right one; of a tail its probability.

    `errors` is the distance from the right value in the standard errors that are stated, `by_chance` in those
    of as many independent draws; of an sd and a tail none are stated.
    """

    kind: str
    name: str
    off: float
    by_chance: float
    errors: float = 0.0

    def __str__(self) -> str:
        errors = f"{self.errors:+.1f} stated errors, {self.by_chance:+.1f} by chance"
        return f"{self.kind} of {self.name} {self.off:+.3f} ({errors})"


def measured(fit: Fit, name: str, law: Law) -> Iterator[Measured]:
    """The mean, the sd, two quantiles and the tail of a parameter, by its column."""
    (line,) = fit.summary([name]).only([name])
    draws = fit.draws()[:, fit.column_names.index(line.name)]
    (low, high, last), root = law.quantiles, float(np.sqrt(len(draws)))
    binomial = np.sqrt(np.multiply(PROBABILITIES, np.subtract(1, PROBABILITIES))) / root
    chance = law.sd / root, *(binomial * law.slopes)
    for kind, value, exact, se, own in (
        ("mean", line.mean, law.mean, line.se, chance[0]),
        ("5%", line.q5, low, line.se_q5, chance[1]),
        ("95%", line.q95, high, line.se_q95, chance[2]),
    ):
        off = value - exact
        yield Measured(kind, name, float(off / law.sd), float(off / own), float(off / se))
    ratio = float(draws.std() / law.sd)
    yield Measured("sd", name, ratio, (ratio - 1) * root / np.sqrt((law.kurtosis - 1) / 4))
    beyond = float((draws > last).mean())
    yield Measured("tail", name, beyond, float((beyond - BEYOND) / binomial[2]))


def wrong(one: Measured) -> bool:
    """Whether it is wrong by more than chance."""
    if one.kind == "tail":
        return abs(one.by_chance) > 1.5 * MOST_BY_CHANCE  # of ten draws no normal error is known
    far = abs(one.off - 1) > MOST_SDS if one.kind == "sd" else abs(one.off) > MOST[one.kind]
    return (far and abs(one.by_chance) > MOST_BY_CHANCE) or abs(one.errors) > MOST_ERRORS


def largest(some: list[Measured]) -> str:
    worst = max(some, key=lambda one: abs(one.off))
    return f"{worst.off:+.2f} ({max(abs(one.errors) for one in some):.1f})"
