"""Student's t of skewed coordinates: where a scale is near 0 its log has one long tail."""

import numpy as np

from ppl.floats import Floats
from ppl.late import special
from ppl.methods.nested.student_ts import StudentTs
from ppl.records import dataclass

TAIL_SHARE = 0.05
"""The share of the draws beyond the quantiles that a skewness is told by."""
NORMAL_QUANTILE = 1.6448536269514722
"""That of the standard normal at 1 - TAIL_SHARE."""
MOST_SKEWED = 1.5
"""The largest skewness: one tail is exp(3) times as long as the other."""


@dataclass(frozen=True)
class SinhArcsinh:
    """Coordinates u = centre + scale sinh(arcsinh(z) + skewness), all (d,).

    As Jones and Pewsey 2009, section 2, with the tails of z.
    """

    centre: Floats
    scale: Floats
    skewness: Floats

    @staticmethod
    def of_draws(u: Floats, weights: Floats) -> "SinhArcsinh":
        """The map by which weighted draws u (n, d) have a median of 0, and tails (5%) alike on both sides."""
        shares = (TAIL_SHARE, 0.5, 1 - TAIL_SHARE)
        quantiles = np.quantile(u, shares, axis=0, weights=weights, method="inverted_cdf")
        return SinhArcsinh.of_quantiles(*quantiles)

    @staticmethod
    def of_halves(mode: Floats, below: Floats, above: Floats) -> "SinhArcsinh":
        """The same for coordinates with normal halves of these sds, all (d,), on the sides of a mode."""
        first = below / (below + above)  # the share of the half below

        def quantile(share: float) -> Floats:
            lower = below * special.ndtri(np.minimum(0.5 * share / first, 0.5))
            upper = above * special.ndtri(np.maximum(1 - 0.5 * (1 - share) / (1 - first), 0.5))
            return np.asarray(mode + lower + upper)

        return SinhArcsinh.of_quantiles(*map(quantile, (TAIL_SHARE, 0.5, 1 - TAIL_SHARE)))

    @staticmethod
    def of_quantiles(low: Floats, middle: Floats, high: Floats) -> "SinhArcsinh":
        """The same by the median and tails (d,)."""
        half = 0.5 * np.arcsinh(NORMAL_QUANTILE)
        odds = (high + low - 2 * middle) / np.maximum(high - low, np.finfo(float).tiny)
        most = np.tanh(MOST_SKEWED)
        skewness = np.arctanh(np.clip(odds / np.tanh(half), -most, most))
        scale = (high - low) / (4 * np.sinh(half) * np.cosh(half) * np.cosh(skewness))
        scale = np.maximum(scale, np.finfo(float).tiny)
        return SinhArcsinh(middle - scale * np.sinh(skewness), scale, skewness)

    def symmetric(self, u: Floats) -> Floats:
        """z (n, d) of u (n, d)."""
        return np.asarray(np.sinh(np.arcsinh((u - self.centre) / self.scale) - self.skewness))

    def skewed(self, z: Floats) -> Floats:
        """u (n, d) of z (n, d)."""
        return np.asarray(self.centre + self.scale * np.sinh(np.arcsinh(z) + self.skewness))

    def log_slopes(self, u: Floats) -> Floats:
        """The log determinant (n,) of the derivative of z in u (n, d)."""
        x = (u - self.centre) / self.scale
        slopes = np.cosh(np.arcsinh(x) - self.skewness) / (np.sqrt(1 + x**2) * self.scale)
        return np.asarray(np.log(slopes).sum(axis=1))


@dataclass(frozen=True)
class SkewedTs:
    """A mixture of Student's t, and one of coordinates that are symmetric by a map, in equal shares."""

    plain: StudentTs
    symmetric: StudentTs
    by: SinhArcsinh

    @property
    def dim(self) -> int:
        return self.plain.dim

    @property
    def undefended(self) -> "SkewedTs":
        """Without the last components, which are wide as a defence."""
        return SkewedTs(self.plain.undefended, self.symmetric.undefended, self.by)

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """n points (n, dim)."""
        skewed = self.by.skewed(self.symmetric.draws(n // 2, rng))
        return rng.permutation(np.concatenate([self.plain.draws(n - n // 2, rng), skewed]))

    def log_density(self, u: Floats) -> Floats:
        """(n,) at u (n, dim)."""
        skewed = self.symmetric.log_density(self.by.symmetric(u)) + self.by.log_slopes(u)
        return np.asarray(np.logaddexp(self.plain.log_density(u), skewed) - np.log(2))
