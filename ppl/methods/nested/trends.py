"""How what is known at a few outer points changes with them: polynomials, fitted by least squares."""

from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.records import dataclass


@dataclass(frozen=True)
class Trends:
    """Polynomials over outer points (n, d) that are spread as a Gaussian."""

    about: Gaussian
    degree: int
    radius: float
    """The distance from the centre, in sds, beyond which they are constant along a ray."""

    @property
    def count(self) -> int:
        """How many terms they have."""
        return comb(len(self.about.mean) + self.degree, self.degree)

    def in_sds(self, outer: Floats) -> Floats:
        """Outer points as standard normals (n, d)."""
        return np.asarray((outer - self.about.mean) @ self.about.whitening.T)

    def within(self, outer: Floats) -> NDArray[np.bool_]:
        """Which outer points (n, d) are not beyond the radius, (n,)."""
        return np.asarray(lengths(self.in_sds(outer))[:, 0] <= self.radius)

    def terms(self, outer: Floats) -> Floats:
        """The terms (n, t) at outer points (n, d): 1, coordinates in sds, and products of these."""
        z = self.in_sds(outer)
        z *= self.radius / np.maximum(lengths(z), self.radius)
        degrees = range(self.degree + 1)
        factors = [k for m in degrees for k in combinations_with_replacement(range(z.shape[1]), m)]
        return np.stack([z[:, k].prod(axis=1) for k in factors], axis=1)

    def solver(self, outer: Floats) -> Floats:
        """The matrix (t, n) that makes of values at outer points (n, d) the coefficients nearest to them."""
        return np.asarray(np.linalg.pinv(self.terms(outer), rcond=len(outer) * np.finfo(float).eps))

    def fitted(self, outer: Floats, values: Floats) -> Floats:
        """The coefficients (t, k) of those nearest to values (n, k)."""
        return np.asarray(self.solver(outer) @ values)


def lengths(z: Floats) -> Floats:
    """Of vectors z (n, d), (n, 1)."""
    return np.asarray(np.sqrt((z**2).sum(axis=1, keepdims=True)))
