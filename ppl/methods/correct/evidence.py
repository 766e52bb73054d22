"""The evidence: the log of the integral of the target, by weighted draws, and what two estimates tell.

The mean of weights p/q has a variance if some draws are of wider tails than q's. Draws of p tell the evidence
by a bridge (`bridge_sampling`), which has one whatever the tails.
"""

from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.methods.diagnose.psis import Psis

MOST_APART = 3.0
"""Standard errors of their difference that two estimates may be apart."""
MOST_UNCERTAIN = 1.0
"""The standard error, in nats, above which neither the evidence nor its error is known."""
KHAT_WITH_VARIANCE = 0.4
"""The k-hat above which weights may have no variance: they have none above 1/2, and it is off by 0.1."""
BETTER = "fit with move = True, with more draws, or reparameterise."
RELATIVE_ROUNDING = 1e-11
"""The error of a log density, as a share of it, that sums of many terms may have."""


class Densities(NamedTuple):
    """Log densities at draws (n,): of the target, of q, and of a distribution with wider tails."""

    log_p: Floats
    log_q: Floats
    log_wide: Floats


class Evidence(NamedTuple):
    """The log of the integral of the target, and its standard error, in nats."""

    value: float
    se: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.se:.3f}"


class Estimates(NamedTuple):
    """Two estimates by different draws, which must agree for the evidence to be told.

    `khat` is the shape of the tail of the weights that they rest on, `most` the standard error, in nats,
    above which it is not told.
    """

    one: Evidence
    other: Evidence
    khat: float = -np.inf
    most: float = MOST_UNCERTAIN

    @property
    def evidence(self) -> Evidence:
        """By both, each in proportion to its precision; the error is as if one followed the other."""
        errors = np.maximum(
            [each.se for each in (self.one, self.other)], RELATIVE_ROUNDING * max(1.0, abs(self.one.value))
        )
        shares = errors**-2 / (errors**-2).sum()
        apart = shares[1] * (self.other.value - self.one.value)  # of two numbers that constants are in
        return Evidence(float(self.one.value + apart), float(shares @ errors))

    @property
    def doubt(self) -> str:
        """Why the evidence is unknown, in a sentence; "" where it is told."""
        (one, se), (other, other_se) = self.one, self.other
        largest = max(se, other_se)
        if not (np.isfinite(one + other) and largest <= self.most):
            return f"Its standard error would be {largest:.2g} nats: {BETTER}"
        if self.khat > KHAT_WITH_VARIANCE:
            return f"Its standard error is unknown, for weights of k-hat {self.khat:.2f}: {BETTER}"
        if abs(one - other) > MOST_APART * np.hypot(se, other_se) + RELATIVE_ROUNDING * abs(one):
            return f"Two estimates disagree, {self.one} and {self.other} nats: {BETTER}"
        return ""


def of_weights(weights: Psis) -> Evidence:
    """By the mean of the smoothed weights p/q of draws of q, whose error is that of a mean."""
    variance = max(1 / weights.ess - 1 / len(weights.log_weights), 0.0)
    return Evidence(weights.log_mean, float(np.sqrt(variance)))


def defended(q: Densities, wide: Densities, dropped: int = 0) -> Evidence:
    """By draws of q and of a distribution with wider tails: the mean of p/g, g being the mixture of both.

    Where q has next to no draws g bounds p/g, so its variance is known (Hesterberg 1995, Technometrics 37).
    The integral of q/g under g is 1, which makes it a control variate (Owen and Zhou 2000, JASA 95): without
    an error where q is p. `dropped` further draws of q, where p is zero, were left out of these.
    """
    log_g = mixed(q, wide, dropped)
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
    total, count = sum(float(each.sum()) for each in terms), len(q.log_p) + dropped + len(wide.log_p)
    variance = sum(len(each) * float(each.var()) for each in terms)
    return Evidence(float(highest + np.log(total / count)), float(np.sqrt(variance) / total))


def mixed(q: Densities, wide: Densities, dropped: int = 0) -> list[Floats]:
    """Log densities, at draws of each (n,), of the mixture of both in proportion to their draws."""
    counts = np.array([len(q.log_p) + dropped, len(wide.log_p)])
    shares = np.log(counts / counts.sum())
    return [np.logaddexp(shares[0] + each.log_q, shares[1] + each.log_wide) for each in (q, wide)]
