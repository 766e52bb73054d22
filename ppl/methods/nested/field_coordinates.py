"""Coordinates in which a field is about standard normal, whatever the outer ones are.

Given the outer coordinates, a latent Gaussian process or the coefficients of splines are nearly Gaussian, of
a mode and a covariance that the outer ones change altogether. So where chains would have to make the short
steps that suit the narrowest place, they move in what is left of the field: z = C^-1 (x - m), with mode m
and upper triangular C, of which C C' is the inverse of the precision, interpolated over outer points. Parno
and Marzouk (2018), "Transport map accelerated Markov chain Monte Carlo", SIAM/ASA J. Uncertainty
Quantification 6. Moves leave the target exact, whatever was interpolated.
"""

from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats, Indices
from ppl.kernel.advi.triangular import inverse_of
from ppl.late import blas
from ppl.methods.nested.interpolated import Interpolated
from ppl.methods.nested.interpolation import Interpolation
from ppl.records import dataclass

FACTORS_AT_ONCE = 128
"""Points whose factors are in memory at once, where their gradients are not."""
MOST_LATENT = 200
"""Latent coordinates: a factor has half of their square."""


class AtOuter(NamedTuple):
    """Modes and factors at outer points (n, d): these in sds, the share by which they were too far to be told
    apart (n, 1), distances from those interpolated between (n, m), and packed upper triangles C
    (n, k (k + 1) / 2)."""

    z: Floats
    shrunk: Floats
    distances: Floats
    modes: Floats
    factors: Floats


class Place(NamedTuple):
    """A point by its outer coordinates and its z (n, k)."""

    at: AtOuter
    inner: Floats


@dataclass(frozen=True)
class FieldCoordinates:
    """Points x = m + C z of the `latent` coordinates (k,) where those that are `outer` (d,) are as they are.

    Modes and upper triangles by columns, diagonals in logarithms, are functions of the interpolation times
    coefficients (m + 1 + d, k) and (m + 1 + d, k (k + 1) / 2).
    """

    outer: Indices
    latent: Indices
    between: Interpolation
    modes: Floats
    factors: Floats

    @property
    def diagonal(self) -> NDArray[np.intp]:
        """The places of the diagonal in packed triangles."""
        k = np.arange(len(self.latent))
        return np.asarray(k * (k + 3) // 2)

    def at(self, v: Floats) -> AtOuter:
        """Of outer points v (n, d)."""
        z, shrunk = self.between.in_sds(v)
        functions = self.between.functions(z)
        factors, diagonal = functions @ self.factors, self.diagonal
        factors[:, diagonal] = np.exp(factors[:, diagonal])
        distances = np.cbrt(functions[:, : len(self.between.centres)])
        return AtOuter(z, shrunk, distances, functions @ self.modes, factors)

    def straight(self, u: Floats) -> Floats:
        """Points u (n, dim) in these coordinates."""
        z, k = u.copy(), len(self.latent)
        for first in range(0, len(u), FACTORS_AT_ONCE):
            some = u[first : first + FACTORS_AT_ONCE]
            at = self.at(some[:, self.outer])
            off = some[:, self.latent] - at.modes
            own = [blas.dtpsv(k, c, x) for c, x in zip(at.factors, off, strict=True)]
            z[first : first + FACTORS_AT_ONCE, self.latent] = own
        return z

    def back(self, z: Floats) -> tuple[Floats, Floats, Place]:
        """The points u (n, dim), the log-Jacobian (n,) of u by z, and what `pulled_back` needs of them."""
        at, inner, u, k = self.at(z[:, self.outer]), z[:, self.latent], z.copy(), len(self.latent)
        off = np.array([blas.dtpmv(k, c, x) for c, x in zip(at.factors, inner, strict=True)])
        u[:, self.latent] = at.modes + off.reshape(inner.shape)
        return u, np.log(at.factors[:, self.diagonal]).sum(axis=1), Place(at, inner)

    def pulled_back(self, slope: Floats, z: Floats, place: Place) -> Floats:
        """The gradient (n, dim) by z of a log density and the log-Jacobian, from that by u, (n, dim)."""
        at, inner, k, m = place.at, place.inner, len(self.latent), len(self.between.centres)
        by, pulled = slope[:, self.latent], slope.copy()
        own = [blas.dtpmv(k, c, x, trans=1) for c, x in zip(at.factors, by, strict=True)]
        pulled[:, self.latent] = np.array(own).reshape(by.shape)
        rows, columns = self.places
        by_factors = by[:, rows] * inner[:, columns]
        by_factors[:, self.diagonal] = by_factors[:, self.diagonal] * at.factors[:, self.diagonal] + 1
        by_functions = by @ self.modes.T + by_factors @ self.factors.T
        cubes = 3 * by_functions[:, :m] * at.distances
        through = (
            cubes.sum(axis=1, keepdims=True) * at.z - cubes @ self.between.centres + by_functions[:, m + 1 :]
        )
        far = (at.shrunk < 1)[:, 0]
        along = (at.z * through).sum(axis=1, keepdims=True) / self.between.radius**2
        through = at.shrunk * np.where(far[:, None], through - along * at.z, through)
        pulled[:, self.outer] += through @ self.between.whitening
        return pulled

    @property
    def places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows and columns of packed upper triangles, by columns."""
        columns, rows = np.tril_indices(len(self.latent))
        return rows, columns


def has_coordinates(inner: object) -> TypeGuard[Interpolated]:
    """Whether it is a field that is interpolated, in which all coordinates meet, and are not too many."""
    if not isinstance(inner, Interpolated):
        return False
    field = inner.structure
    return field.is_complete and not field.couplings and len(field.latent) <= MOST_LATENT


def coordinates_of(inner: Interpolated) -> FieldCoordinates:
    """Those of a field that has them."""
    field, k = inner.structure, len(inner.structure.latent)
    logs = inner.factor.reshape(-1, k, k)
    factors = np.empty((len(logs), k * (k + 1) // 2))
    columns, rows = np.tril_indices(k)
    lower = np.zeros((k, k))
    for bands, factor in zip(logs, factors, strict=True):
        lower[columns, rows] = bands[columns - rows, rows]
        np.fill_diagonal(lower, np.exp(bands[0]))
        upper = inverse_of(lower).T
        factor[:] = upper[rows, columns]
        factor[rows == columns] = -bands[0]
    return FieldCoordinates(
        outer=field.outer,
        latent=field.latent,
        between=inner.between,
        modes=inner.between.solver @ inner.at,
        factors=inner.between.solver @ factors,
    )
