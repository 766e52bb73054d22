"""Importance sampling from several Gaussians at once, and how much of the target each of them accounts for.

Veach and Guibas (1995), "Optimally combining sampling techniques", section 3.3, the balance heuristic; as a
defence against thin tails: Hesterberg (1995), Technometrics 37.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ppl.inference.gaussian import Gaussian
from ppl.inference.target import Array, Target, log_densities


@dataclass(frozen=True)
class Batch:
    """Draws u (n, dim) of one distribution, the log densities (n,) of the target there, and its own density.

    `log_density` gives the log of the distribution's density at points (m, dim), (m,).
    """

    u: Array
    log_p: Array
    log_density: Callable[[Array], Array]

    @classmethod
    def of(cls, gaussian: Gaussian, target: Target, z: Array) -> "Batch":
        """Where standard noise z (n, dim) lands under a Gaussian."""
        u = gaussian.draws(z)
        log_p = log_densities(target, u)
        return cls(
            u, np.where(np.isfinite(log_p), log_p, -np.inf), lambda at: gaussian.log_density_gradients(at)[0]
        )


def log_weights(batches: Sequence[Batch]) -> list[Array]:
    """log p/g at the draws of each batch, (n,) each, where g is the mixture of all in proportion to their
    draws.

    The mean of p/g over all draws is the integral of the target.
    """
    counts = np.array([len(batch.u) for batch in batches])
    shares = np.log(counts / counts.sum())[:, None]
    return [
        each.log_p - logsumexp(shares + np.array([batch.log_density(each.u) for batch in batches]), axis=0)
        for each in batches
    ]


def log_integral(weights: Sequence[Array]) -> float:
    """The log of the integral of the target, by those weights."""
    together = np.concatenate(weights)
    return float(logsumexp(together) - np.log(len(together)))


def missed(q: Batch, *beside: Batch) -> float:
    """Which share of the target's integral the draws of q do not see, but those of other distributions do.

    Zero where both lie over the same mass, in whatever proportion.
    """
    alone, both = log_integral(log_weights([q])), log_integral(log_weights([q, *beside]))
    return float(-np.expm1(min(0.0, alone - both)))
