"""Maps of skewed coordinates to about normal ones, by quantiles.

The sinh-arcsinh transformation of Jones and Pewsey (2009), Biometrika 96. It adds a skewness and a weight of
the tails to place and scale; five quantiles tell all four in closed form.
"""

import numpy as np

from ppl.floats import Floats
from ppl.late import special
from ppl.methods.numerics.quantiles import quantiles, weighted_quantiles
from ppl.records import dataclass

INNER = float(np.arcsinh(0.8))
"""The arcsinh of the normal score of the inner quantiles, at 21% and 79%; twice it is that of the outer ones,
at 2% and 98%."""
SCORES = np.sinh(INNER * np.arange(-2, 3))
"""The normal scores of all five."""
LIGHTEST, HEAVIEST = 1.02, 10.0
"""How many times the inner half-distance the outer distance may be; 1.28 is the normal's, 6 Cauchy's."""
MOST_SHIFTED = 0.97
"""The skewness of the outer quantiles, at most 1, that a map has."""


@dataclass(frozen=True)
class SinhArcsinh:
    """Scores sinh(tail arcsinh((u - place) / scale) - skew) of each coordinate; all (dim,)."""

    place: Floats
    scale: Floats
    skew: Floats
    tail: Floats

    @classmethod
    def of(cls, u: Floats) -> "SinhArcsinh":
        """Through quantiles of draws u (n, dim). Raises LinAlgError where these are the same."""
        return cls.through(quantiles(u, special.ndtr(SCORES)))

    @classmethod
    def of_weighted(cls, u: Floats, weights: Floats) -> "SinhArcsinh":
        """The same of draws with weights (n,)."""
        return cls.through(weighted_quantiles(u, weights, special.ndtr(SCORES)))

    @classmethod
    def through(cls, five: Floats) -> "SinhArcsinh":
        """Through the quantiles (5, dim) of the scores."""
        lowest, low, middle, high, highest = five
        inner, outer = high - low, highest - lowest
        if not (inner > 0).all():
            raise np.linalg.LinAlgError("quantiles are the same, or not finite")
        tail = INNER / np.arccosh(np.clip(outer / inner / 2, LIGHTEST, HEAVIEST))
        apart = (highest + lowest - 2 * middle) / outer / np.tanh(INNER / tail)
        shift = np.arctanh(np.clip(apart, -MOST_SHIFTED, MOST_SHIFTED))
        scale = inner / (2 * np.cosh(shift) * np.sinh(INNER / tail))
        return cls(middle - scale * np.sinh(shift), scale, tail * shift, tail)

    def normal(self, u: Floats) -> tuple[Floats, Floats]:
        """The scores (n, dim) of points u (n, dim), and the log-Jacobian (n,) of the map."""
        x = (u - self.place) / self.scale
        y = self.tail * np.arcsinh(x) - self.skew
        slopes = np.log(self.tail / self.scale) + np.log(np.cosh(y)) - 0.5 * np.log1p(x**2)
        return np.sinh(y), slopes.sum(axis=1)

    def back(self, scores: Floats) -> Floats:
        """The points u (n, dim) of scores (n, dim)."""
        y = (np.arcsinh(scores) + self.skew) / self.tail
        return np.asarray(self.place + self.scale * np.sinh(y))

    def pushed_forward(self, u: Floats, gradients: Floats) -> Floats:
        """Gradients (n, dim) of a log density of scores, from those of the log density of u (n, dim)."""
        x = (u - self.place) / self.scale
        y, root = self.tail * np.arcsinh(x) - self.skew, np.sqrt(1 + x**2)
        change = self.tail * np.tanh(y) / root - x / root**2
        return np.asarray((self.scale * gradients - change) * root / (self.tail * np.cosh(y)))
