"""The sensitivity of the posterior to powers of the prior or of the likelihood.

Kallioinen, Paananen, Bürkner and Vehtari (2024), Statistics and Computing 34:57: draws are weighted by the
component to the power alpha - 1; the distance is the cumulative Jensen-Shannon distance (Nguyen and Vreeken
2015) over log2(alpha).
"""

import numpy as np

from ppl.kernel.draws.columns import Floats
from ppl.methods.diagnose.psis import psis

ALPHA_STEP = 0.01
"""alpha is 1 plus and 1 minus this."""


def sensitivity(draws: Floats, log_component: Floats, log_ratios: Floats) -> float:
    """The sensitivity of a marginal (draws,) to powers of a component of the target (draws,); above 0.05 it
    matters (their section 3.3).
    """
    order = np.argsort(draws)
    base = weights(log_ratios)
    found = []
    for step in (-ALPHA_STEP, ALPHA_STEP):
        other = weights(log_ratios + step * log_component)
        distance = cjs(draws[order], base[order], other[order])
        found.append(distance / abs(np.log2(1 + step)))
    return float(np.mean(found))


def weights(log_ratios: Floats) -> Floats:
    return np.asarray(np.exp(psis(log_ratios).log_weights))


def cjs(x: Floats, p: Floats, q: Floats) -> float:
    """The cumulative Jensen-Shannon distance of weights p and q at sorted draws x, from the worse side."""
    return max(one_sided(x, p, q), one_sided(-x[::-1], p[::-1], q[::-1]))


def one_sided(x: Floats, p: Floats, q: Floats) -> float:
    width = np.diff(x)
    below_p, below_q = np.cumsum(p)[:-1], np.cumsum(q)[:-1]
    middle = np.maximum((below_p + below_q) / 2, np.finfo(float).tiny)

    def divergence(a: Floats, b: Floats) -> float:
        logs = np.log2(np.maximum(a, np.finfo(float).tiny) / middle)
        return float(width @ (a * logs) + 0.5 / np.log(2) * (width @ (b - a)))

    both = divergence(below_p, below_q) + divergence(below_q, below_p)
    most = float(width @ (below_p + below_q))
    return float(np.sqrt(max(both, 0.0) / most)) if most > 0 else 0.0
