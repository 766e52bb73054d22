"""How what is known at a few outer points changes with them: polynomials, fitted by least squares."""

from dataclasses import dataclass

import numpy as np

from ppl.inference.numerics.gaussian import Gaussian
from ppl.inference.objective.target import Array


@dataclass(frozen=True)
class TrendLimits:
    """Which polynomials are fitted."""

    most_quadratic: int = 4
    """Outer coordinates up to which they have squares and products; of more they are linear."""

    points: int = 4
    """Points for each term, at which what they are fitted to is computed."""

    radius: float = 3.0
    """The distance from the centre, in sds, beyond which they are constant along a ray."""


TREND = TrendLimits()


@dataclass(frozen=True)
class Trends:
    """Polynomials over outer points (n, d) that are spread as a Gaussian."""

    about: Gaussian

    @property
    def points(self) -> int:
        """How many points they are fitted to."""
        return TREND.points * int(self.terms(self.about.mean[None]).shape[1])

    def terms(self, outer: Array) -> Array:
        """The terms (n, t) at outer points (n, d): 1, coordinates in sds, products of two."""
        z = (outer - self.about.mean) @ self.about.whitening.T
        length = np.sqrt((z**2).sum(axis=1, keepdims=True))
        z *= TREND.radius / np.maximum(length, TREND.radius)
        d = z.shape[1]
        products = [z[:, i] * z[:, j] for i in range(d) for j in range(i + 1)]
        more = np.stack(products, axis=1) if d <= TREND.most_quadratic else z[:, :0]
        return np.hstack([np.ones((len(z), 1)), z, more])

    def fitted(self, outer: Array, values: Array) -> Array:
        """The coefficients (t, k) of those nearest to values (n, k)."""
        return np.asarray(np.linalg.lstsq(self.terms(outer), values, rcond=None)[0])
