"""The evidence: the log of the integral of the target, from draws and their densities.

Draws that were weighted give it by the mean of their weights, p/q, which have a variance if some are of wider
tails than q's; draws of p by a bridge to those of a q (Meng and Wong 1996, Statistica Sinica 6).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.inference.diagnose.psis import Psis
from ppl.inference.objective.target import Array
from ppl.late import special

BISECTIONS = 100
"""Halvings of the interval that has the log of the ratio of two integrals: to rounding."""
NO_CHANCE = 40.0
"""Log odds at which a chance is 0 or 1 to rounding."""


class Densities(NamedTuple):
    """Log densities at draws (n,): of the target, of q, and of a distribution with wider tails."""

    log_p: Array
    log_q: Array
    log_wide: Array


class Evidence(NamedTuple):
    """The log of the integral of the target, and its standard error, in nats."""

    value: float
    se: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.se:.3f}"


def of_weights(weights: Psis, dropped: int = 0) -> Evidence:
    """By the mean of the smoothed weights p/q of draws of q, whose error is that of a mean.

    `dropped` further draws, where p is zero, were left out of these.
    """
    n = len(weights.log_weights)
    inside = n / (n + dropped)
    variance = max(1 / weights.ess - 1 / n, 0.0) + (1 - inside) / n
    return Evidence(weights.log_mean + float(np.log(inside)), float(np.sqrt(variance)))


def defended(q: Densities, wide: Densities, dropped: int = 0) -> Evidence:
    """By draws of q and of a distribution with wider tails: the mean of p/g, g being the mixture of both.

    Where q has next to no draws g bounds p/g, so its variance is known (Hesterberg 1995, Technometrics 37).
    The integral of q/g under g is 1, which makes it a control variate (Owen and Zhou 2000, JASA 95): without
    an error where q is p. `dropped` further draws of q, where p is zero, were left out of these.
    """
    counts = np.array([len(q.log_p) + dropped, len(wide.log_p)])
    shares = np.log(counts / counts.sum())
    log_g = [np.logaddexp(shares[0] + each.log_q, shares[1] + each.log_wide) for each in (q, wide)]
    log_terms = [each.log_p - g for each, g in zip((q, wide), log_g, strict=True)]
    highest = max(float(each.max()) for each in log_terms)
    terms = [np.exp(each - highest) for each in log_terms]
    if dropped:  # q/g is unknown there
        terms[0] = np.append(terms[0], np.zeros(dropped))
    else:
        controls = [np.exp(each.log_q - g) for each, g in zip((q, wide), log_g, strict=True)]
        between = np.cov(np.concatenate(terms), np.concatenate(controls))
        slope = between[0, 1] / between[1, 1]
        terms = [term - slope * (control - 1) for term, control in zip(terms, controls, strict=True)]
    total = sum(float(each.sum()) for each in terms)
    variance = sum(len(each) * float(each.var()) for each in terms)
    return Evidence(float(highest + np.log(total / counts.sum())), float(np.sqrt(variance) / total))


def bridge(start: Array, end: Array, particles: NDArray[np.intp]) -> Evidence | None:
    """The log ratio of the integral of p to that of q, from log p/q at draws of q (n,) and of p (m,).

    Draws of p of the same particle count as one for the error, which is that of equation 9 of Gronau et al.
    (2017), "A tutorial on bridge sampling". None where the draws of p are not where q has its own.
    """
    _, own = np.unique(particles, return_inverse=True)
    count = int(own.max(initial=-1)) + 1
    shift = np.log(count / len(start))
    finite = np.concatenate([start[np.isfinite(start)], end])

    def chances(log_ratio: float) -> tuple[Array, Array]:
        """Those that a draw of q, and one of p, would be taken for one of the other."""
        return special.expit(start - log_ratio + shift), special.expit(log_ratio - end - shift)

    low, high = finite.min() + shift - NO_CHANCE, finite.max() + shift + NO_CHANCE
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        of_q, of_p = chances(middle)
        low, high = (middle, high) if of_q.sum() > count * of_p.mean() else (low, middle)
    of_q, of_p = chances(low)
    by_particle = np.bincount(own, of_p) / np.bincount(own)
    errors = [x.var() / x.mean() ** 2 / len(x) if x.mean() > 0 else np.inf for x in (of_q, by_particle)]
    return Evidence(float(low), float(np.sqrt(sum(errors))))
