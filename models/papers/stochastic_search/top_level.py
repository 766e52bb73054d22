"""A Dirichlet q of the top level of an HDP, by stochastic search (Paisley section 5.2)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaln, logsumexp, polygamma, psi

Array = NDArray[np.float64]
LOW, HIGH = 1.0, 2.0
"""The paper's switch points: below and above them f has a control variate, between them it is nearly 0."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


class Terms(NamedTuple):
    """What the top level sees: prior a, concentration b, documents n, sums s (K,) of expected log shares."""

    a: float
    b: float
    n: int
    s: Array


def log_draws(c: Array, draws: int, rng: np.random.Generator) -> Array:
    """log p of draws of Dirichlet(c), (draws, K), in log space since small c leave doubles behind.

    A gamma of shape c is one of shape c + 1 times U^(1/c).
    """
    shape = (draws, len(c))
    log_gamma = np.log(rng.gamma(c + 1, size=shape)) + np.log(rng.random(shape)) / c
    whole: Array = log_gamma - logsumexp(log_gamma, axis=1, keepdims=True)
    return whole


@dataclass(frozen=True)
class Noise:
    """A Monte Carlo gradient in c, one row a draw (draws, K); the gradient is their mean."""

    rows: Array

    @property
    def gradient(self) -> Array:
        mean: Array = self.rows.mean(axis=0)
        return mean

    @property
    def variance(self) -> float:
        """Of one draw, averaged over c."""
        return float(self.rows.var(axis=0, ddof=1).mean())


def noisy(terms: Terms, c: Array, log_p: Array, marginal: bool = True, controlled: bool = True) -> Noise:
    """The gradient of n sum_k E[f_k - g_k] by eq. 6, f = -log Gamma(b p), from draws (draws, K) of q.

    `marginal` takes each f_k under the beta marginal q' of p_k (end of section 5.2), else under q itself;
    without `controlled` the g_k are 0.
    """
    total = c.sum()
    h = terms.n * remainder(terms, c, log_p, controlled)
    own = log_p - psi(c) + psi(total)
    if not marginal:
        return Noise(h.sum(axis=1, keepdims=True) * own)
    others = np.log(-np.expm1(np.minimum(log_p, -1e-16))) - psi(total - c) + psi(total)
    return Noise(h * own + (h * others).sum(axis=1, keepdims=True) - h * others)


def remainder(terms: Terms, c: Array, log_p: Array, controlled: bool = True) -> Array:
    """f_k - g_k at each draw (eq. 20 to 22); log Gamma(x) = log Gamma(1 + x) - log x near zero."""
    x, mean = terms.b * np.exp(log_p), terms.b * c / c.sum()
    log_x = np.log(terms.b) + log_p
    f = log_x - gammaln(1 + x)
    if not controlled:
        return f
    low, high = log_x, -gammaln(mean) - (x - mean) * psi(mean)
    left: Array = f - np.where(mean < LOW, low, np.where(mean > HIGH, high, 0.0))
    return left


def exact(terms: Terms, c: Array) -> Array:
    """The gradient of all that has a closed form: prior, s, entropy, and n sum_k E g_k, (K,)."""
    total, k = c.sum(), len(c)
    trigamma, trigamma_total = polygamma(1, c), polygamma(1, total)
    mean = terms.b * c / total
    in_mean = terms.b * terms.s - terms.n * np.where(mean > HIGH, terms.b * psi(mean), 0.0)
    in_log = terms.a / k - 1 + terms.n * (mean < LOW)
    gradient: Array = (in_mean - in_mean @ c / total) / total
    gradient = gradient + in_log * trigamma - in_log.sum() * trigamma_total
    return gradient + (total - k) * trigamma_total - (c - 1) * trigamma


def natural(c: Array, gradient: Array) -> Array:
    """The inverse Fisher information of Dirichlet(c), diag(psi'(c)) - psi'(sum c), times a gradient."""
    trigamma, trigamma_total = polygamma(1, c), polygamma(1, c.sum())
    ones, scaled = 1 / trigamma, gradient / trigamma
    step: Array = scaled + ones * scaled.sum() / (1 / trigamma_total - ones.sum())
    return step


def bound(terms: Terms, c: Array) -> float:
    """The top level's part of the bound in nats, without noise: E log Gamma(1 + b p_k) by quadrature."""
    total, k = c.sum(), len(c)
    log_p = psi(c) - psi(total)
    p = betaincinv(c[:, None], (total - c)[:, None], 0.5 * (NODES + 1))
    expected = gammaln(1 + terms.b * p) @ WEIGHTS / 2 - np.log(terms.b) - log_p
    prior = gammaln(terms.a) - k * gammaln(terms.a / k) + (terms.a / k - 1) * log_p.sum()
    documents = terms.b * terms.s @ c / total + terms.n * (gammaln(terms.b) - expected.sum())
    entropy = gammaln(c).sum() - gammaln(total) - (c - 1) @ log_p
    return float(prior + documents + entropy)


def at_point(terms: Terms, p: Array) -> float:
    """The same for all of q at one p, without its entropy, which is minus infinity."""
    k = len(p)
    prior = gammaln(terms.a) - k * gammaln(terms.a / k) + (terms.a / k - 1) * np.log(p).sum()
    return float(prior) + given_point(terms, p)


def given_point(terms: Terms, p: Array) -> float:
    """The documents' part alone, for a p that is fixed beforehand."""
    return float(terms.b * terms.s @ p + terms.n * (gammaln(terms.b) - gammaln(terms.b * p).sum()))


def climb(terms: Terms, c: Array, steps: int, draws: int, rng: np.random.Generator, first: int = 0) -> Array:
    """Algorithm 1: natural-gradient steps with Robbins-Monro rates, `first` of them taken before."""
    for t in range(first, first + steps):
        gradient = exact(terms, c) + noisy(terms, c, log_draws(c, draws, rng)).gradient
        step = natural(c, gradient) * (10.0 + t) ** -0.6
        c = np.maximum(c + np.minimum(step, c), 0.5 * c)
    return c
