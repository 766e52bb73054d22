"""How far out a statistic of the data lies in its distribution over replicated data.

Posterior predictive p-values: Gelman, Meng and Stern (1996), Statistica Sinica 6:733. They count the data
twice, which makes them larger than uniform ones: checks find less by them, and raise no more false alarms.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ppl.inference.diagnose.psis import fit_pareto
from ppl.results.doctor.change import Change
from ppl.results.doctor.finding import Finding, Reference
from ppl.results.files.columns import Floats
from ppl.source import Span

FITTED_TAIL_SHARE = 0.1
"""The part of the replications that the generalised Pareto tail is fitted to."""
FEWEST_IN_TAIL = 20
"""Replications in the tail without which it is not fitted."""


def upper_tail(observed: float, replicated: Floats) -> float:
    """P(statistic >= observed) by replications (draws,), beyond the largest by their generalised Pareto tail
    (Vehtari et al. 2024, section 3), an exponential one where that ends; 1 if the statistic is not finite.
    """
    values = np.sort(replicated[np.isfinite(replicated)])
    n = len(values)
    if not math.isfinite(observed) or n == 0:
        return 1.0
    at_least = (1 + int((values >= observed).sum())) / (1 + n)
    cutoff = values[-int(FITTED_TAIL_SHARE * n) - 1]
    excess = values[values > cutoff] - cutoff
    if observed <= values[-1] or len(excess) < FEWEST_IN_TAIL:
        return at_least
    shape, scale = fit_pareto(excess)
    x = (observed - cutoff) / scale
    excess_share = math.exp(-x) if shape <= np.finfo(float).eps else (1 + shape * x) ** (-1 / shape)
    return len(excess) / n * excess_share


Candidate = tuple[str, Callable[[Floats], Floats]]
"""A name, and a statistic (n,) of residuals (n, rows)."""


@final
@dataclass(frozen=True, eq=False)
class Farthest:
    """The candidate whose statistic lies farthest out, with the p-value for all that were tried."""

    name: str
    p: float
    reference: Reference

    def finding(self, span: Span, code: str, message: str, advice: str | Change) -> Finding:
        """The finding with its advice in words, or as a change of the program."""
        change = None if isinstance(advice, str) else advice
        hint = advice if isinstance(advice, str) else advice.hint
        return Finding(span, code, message, hint, p=self.p, reference=self.reference, change=change)


def farthest(candidates: Sequence[Candidate], own: Floats, replicated: Floats, label: str) -> Farthest | None:
    """The statistic of the data (1, rows) that is farthest out among those of replications (draws, rows).

    The p-value is Bonferroni's for all candidates; None if there are none.
    """
    found = []
    for name, statistic in candidates:
        reference = Reference(label.format(name), float(statistic(own)[0]), statistic(replicated))
        p = upper_tail(reference.observed, reference.replicated)
        found.append(Farthest(name, min(1.0, p * len(candidates)), reference))
    return min(found, key=lambda f: f.p, default=None)
