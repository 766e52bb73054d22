"""A generator whose numbers depend on its arguments alone, not on the order in which they are drawn.

Each method stands in for that of `np.random.Generator`; what it gives has the right shape, type and support.
"""

from typing import Any

import numpy as np

LEVEL = 0.37
"""Where uniform numbers lie."""


def _real(value: Any, size: Any = None) -> Any:
    value = np.array(value, dtype=float)
    value = value if size is None else np.broadcast_to(value, size).copy()
    return value if value.ndim else value[()]


def _count(value: Any, size: Any = None) -> Any:
    found = np.floor(_real(value, size))
    if not np.all(np.isfinite(found)):
        raise ValueError("the parameters of a discrete distribution must be finite")
    return found.astype(int) if np.ndim(found) else int(found)


def _require(valid: Any, what: str) -> None:
    if not np.all(valid):
        raise ValueError(f"{what} is out of range")


class Fixed(np.random.Generator):
    """The methods of a generator that programs call."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return _real(low + LEVEL * np.subtract(high, low), size)

    def random(self, size: Any = None) -> Any:
        return _real(LEVEL, size)

    standard_normal = standard_exponential = standard_cauchy = random

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        _require(~(np.asarray(scale) < 0), "scale")
        return _real(loc + LEVEL * np.asarray(scale), size)

    logistic = laplace = gumbel = normal

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        return np.exp(self.normal(mean, sigma, size))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self.normal(0.0, scale, size)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        _require(~(np.asarray(shape) < 0), "shape")
        return _real(np.multiply(shape, scale), size)

    standard_gamma = gamma

    def chisquare(self, df: Any, size: Any = None) -> Any:
        return self.gamma(df, 1.0, size)

    def standard_t(self, df: Any, size: Any = None) -> Any:
        return _real(LEVEL + 0.0 * np.asarray(df), size)

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        return _real(np.divide(a, np.add(a, b)), size)

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        return _real(mu + 0.0 * np.asarray(kappa), size)

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self.normal(0.0, scale, size)

    def weibull(self, a: Any, size: Any = None) -> Any:
        return _real(LEVEL ** (1.0 / np.asarray(a)), size)

    pareto = weibull

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        _require(np.asarray(lam) >= 0, "lam")
        return _count(lam, size)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        _require((np.asarray(p) >= 0) & (np.asarray(p) <= 1), "p")
        return _count(np.multiply(n, p), size)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return _count(np.multiply(n, np.divide(np.subtract(1.0, p), p)), size)

    def hypergeometric(self, good: Any, bad: Any, draws: Any, size: Any = None) -> Any:
        return _count(np.multiply(draws, np.divide(good, np.add(good, bad))), size)

    def integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        return _count(0 if high is None else low + 0 * np.asarray(high), size)

    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        """As `dirichlet.rng` makes many, of gamma and exponential variates."""
        weights = np.add(alpha, 1.0) * np.exp(-LEVEL / np.asarray(alpha))
        return _real(weights / np.sum(weights, axis=-1, keepdims=True))

    def multinomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return _count(np.asarray(n)[..., None] * np.asarray(p))
