"""Margins of draws: a map of each coordinate to one that is about normal, by quantiles.

A Gaussian with the margins of draws (Nelsen 2006, "An introduction to copulas") is nearer to a skewed
posterior of many dimensions than a Gaussian alone, each of whose coordinates adds to what they differ by.
"""

import numpy as np

from ppl.floats import Floats
from ppl.late import special
from ppl.methods.diagnose.diagnostics import tail_shapes
from ppl.methods.numerics.quantiles import quantiles
from ppl.records import dataclass

MOST_KNOTS = 17
"""Quantiles that a map goes through, at most."""
FEWEST_BEYOND = 20
"""Draws beyond the outermost quantile, at least."""
OUTERMOST = 2.7
"""The normal score of the outermost quantiles, at most."""

HEAVIEST = 0.4
"""The shape of a tail, of which 0 is exponential, above which draws know little of its end."""


@dataclass(frozen=True)
class Margins:
    """Piecewise linear maps through normal `scores` (knots,) at quantiles `at` (knots, dim), rising."""

    scores: Floats
    at: Floats

    @classmethod
    def of(cls, u: Floats) -> "Margins | None":
        """Through quantiles of draws u (n, dim); None where a coordinate has ties or heavy tails."""
        outermost = min(OUTERMOST, -float(special.ndtri(FEWEST_BEYOND / len(u)))) if len(u) > 100 else 0.0
        if outermost <= 0:
            return None
        if tail_shapes(u).max() > HEAVIEST:  # draws of chains seldom go as far as these, nor do a normal's
            return None
        scores = np.linspace(-outermost, outermost, MOST_KNOTS)
        at = quantiles(u, special.ndtr(scores))
        return cls(scores, at) if (np.diff(at, axis=0) > 0).all() else None

    def normal(self, u: Floats) -> tuple[Floats, Floats]:
        """Points u (n, dim) as scores (n, dim), and the log-Jacobian (n,) of these by u."""
        scores, change = np.empty_like(u), np.zeros(len(u))
        slopes = np.diff(self.scores)[:, None] / np.diff(self.at, axis=0)
        for k, column in enumerate(u.T):
            place = np.clip(np.searchsorted(self.at[:, k], column) - 1, 0, len(slopes) - 1)
            scores[:, k] = self.scores[place] + slopes[place, k] * (column - self.at[place, k])
            change += np.log(slopes[place, k])
        return scores, change

    def back(self, scores: Floats) -> Floats:
        """The points u (n, dim) of scores (n, dim)."""
        slopes = np.diff(self.at, axis=0) / np.diff(self.scores)[:, None]
        place = np.clip(np.searchsorted(self.scores, scores) - 1, 0, len(slopes) - 1)
        columns = np.arange(scores.shape[1])
        return np.asarray(self.at[place, columns] + slopes[place, columns] * (scores - self.scores[place]))
