"""Interpolation between a few outer points, by radial basis functions.

They are cubes of distances, and a linear map beside them (Buhmann 2003, "Radial Basis Functions", section 2).
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.gaussian import Gaussian
from ppl.records import dataclass


@dataclass(frozen=True)
class Interpolation:
    """Outer points v are (v - mean) whitening' in sds, and no farther from 0 than `radius`: beyond it all is
    constant along a ray. `centres` (m, d) are those that are interpolated between.
    """

    mean: Floats
    whitening: Floats
    radius: float
    centres: Floats

    @classmethod
    def between(cls, outer: Floats, about: Gaussian, radius: float) -> "Interpolation":
        """Between outer points (m, d), in sds of a Gaussian."""
        empty = cls(about.mean, about.whitening, radius, outer[:0])
        return cls(about.mean, about.whitening, radius, empty.in_sds(outer)[0])

    def in_sds(self, outer: Floats) -> tuple[Floats, Floats]:
        """Outer points (n, d) in sds, and how much nearer to 0 they are taken, (n, 1)."""
        z = standardised(self.mean, self.whitening, outer)
        nearer = np.minimum(1.0, self.radius / np.maximum(lengths(z), self.radius))
        return z * nearer, nearer

    def is_near(self, outer: Floats) -> NDArray[np.bool_]:
        """Which outer points (n, d) are within the radius, (n,)."""
        return np.asarray(lengths(standardised(self.mean, self.whitening, outer))[:, 0] <= self.radius)

    def functions(self, z: Floats) -> Floats:
        """Cubes of distances from the centres, 1, and coordinates of points in sds (n, d); (n, m + 1 + d)."""
        squares = (z**2).sum(axis=1)[:, None] + (self.centres**2).sum(axis=1) - 2 * z @ self.centres.T
        return np.concatenate([np.maximum(squares, 0.0) ** 1.5, np.ones((len(z), 1)), z], axis=1)

    @cached_property
    def solver(self) -> Floats:
        """The matrix (m + 1 + d, m) from values at the centres to coefficients of the functions."""
        functions, m = self.functions(self.centres), len(self.centres)
        system = np.zeros((functions.shape[1],) * 2)
        system[:m], system[m:, :m] = functions, functions[:, m:].T
        return np.asarray(np.linalg.pinv(system)[:, :m])

    def weights(self, outer: Floats) -> Floats:
        """Those (n, m) of the values at the centres for outer points (n, d)."""
        return self.functions(self.in_sds(outer)[0]) @ self.solver


def standardised(mean: Floats, whitening: Floats, outer: Floats) -> Floats:
    """Outer points (n, d) as standard normals."""
    return np.asarray((outer - mean) @ whitening.T)


def lengths(z: Floats) -> Floats:
    """Of vectors z (n, d), (n, 1)."""
    return np.asarray(np.sqrt((z**2).sum(axis=1, keepdims=True)))
