"""How far out a statistic of the data lies in its distribution over replicated data.

Posterior predictive p-values: Gelman, Meng and Stern (1996), Statistica Sinica 6:733. They count the data
twice, which makes them larger than uniform ones: checks find less by them, and raise no more false alarms.
"""

import math
from collections.abc import Sequence
from typing import final

import numpy as np

from ppl.floats import Floats
from ppl.methods.diagnose.psis import fit_pareto
from ppl.records import dataclass
from ppl.results.doctor.change import Change
from ppl.results.doctor.evidence import ObservedOutcome
from ppl.results.doctor.finding import Finding, Reference
from ppl.results.doctor.residuals import Candidate
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


@final
@dataclass(frozen=True, eq=False)
class Farthest:
    """The candidate whose statistic lies farthest out, with the p-value for all that were tried."""

    code: str
    span: Span
    name: str
    p: float
    reference: Reference

    def finding(self, message: str, advice: str | Change) -> Finding:
        """The finding with its advice in words, or as a change of the program."""
        change = None if isinstance(advice, str) else advice
        hint = advice if isinstance(advice, str) else advice.hint
        return Finding(self.span, self.code, message, hint, p=self.p, reference=self.reference, change=change)


def farthest(
    code: str, o: ObservedOutcome, candidates: Sequence[Candidate], data: tuple[Floats, Floats], label: str
) -> Farthest | None:
    """The statistic of `data` (rows,) that is farthest out among those of its replications (draws, rows).

    The p-value is Bonferroni's for all candidates; None if there are none. The finding has the code `code`.
    """
    own, replicated = data
    distances = []
    for name, statistic in candidates:
        value = float(statistic(np.atleast_2d(own))[0])
        reference = Reference(label.format(name), value, statistic(replicated))
        p = min(1.0, upper_tail(value, reference.replicated) * len(candidates))
        distances.append(Farthest(code, o.statement.span, name, p, reference))
    return min(distances, key=lambda f: f.p, default=None)
