"""Coordinates in which funnels are straight: a metric that depends on where a chain is.

The effects of a hierarchy are as wide as their scale lets them be, and where that is small no step size for
all of them enters. Given its driver, such a coordinate is taken for Gaussian, of a precision P + exp(q v + e)
as that of an effect is with its own data and with its prior, and a mean between those of both. The
coordinates of a chain are what is left of it: Parno and Marzouk (2018), "Transport map accelerated Markov
chain Monte Carlo", SIAM/ASA J. Uncertainty Quantification 6. `straightened` fits them. Whatever the fit,
moves leave the target exact.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.target import AtPoints, Forwarding, Target
from ppl.methods.numerics.quantiles import quantiles
from ppl.records import dataclass

STEEPEST = 60.0
"""The log of a precision is kept below it."""


class DrivenShape(NamedTuple):
    """Conditional Gaussians of driven coordinates, in units of their sds, given points (n, dim).

    `precision` (n, driven) is P + 1 / (exp(-(q x + e)) + V), `share` that of its second part, of whose log
    `growth` is the slope by q x + e; `narrow` and `wide` are the means where that is all of it, and none.
    `x` (n, k) is what they depend on.
    """

    precision: Floats
    share: Floats
    narrow: Floats
    wide: Floats
    growth: Floats
    x: Floats

    @property
    def mean(self) -> Floats:
        return self.share * self.narrow + (1 - self.share) * self.wide


@dataclass(frozen=True)
class Funnels:
    """Of points u = centre + sds x, the `driven` coordinates (driven,) of x depend on those `by` (k,).

    Rows of `slopes` (driven, k) are q, of `offsets` (driven,) e, of `own` (driven,) P, of `least` (driven,)
    V, 0 of necks; rows of `narrow` (driven, 1 + k) are the coefficients of 1 and x in one mean, of
    `wide` (driven, 1 + 2 k) those of 1, x and its squares in the other. None of `by` is driven.
    """

    centre: Floats
    sds: Floats
    driven: NDArray[np.intp]
    by: NDArray[np.intp]
    slopes: Floats
    offsets: Floats
    own: Floats
    narrow: Floats
    wide: Floats
    least: Floats

    def shape(self, u: Floats) -> DrivenShape:
        x = self.standard(u)
        index = np.clip(x @ self.slopes.T + self.offsets, -STEEPEST, STEEPEST)
        prior = 1 / (np.exp(-index) + self.least)
        precision = self.own + prior
        narrow = self.narrow[:, 0] + x @ self.narrow[:, 1:].T
        wide = self.wide[:, 0] + np.hstack([x, x**2]) @ self.wide[:, 1:].T
        return DrivenShape(precision, prior / precision, narrow, wide, 1 - self.least * prior, x)

    def standard(self, u: Floats) -> Floats:
        """What driven coordinates depend on (n, k), of points u (n, dim), or of these in the coordinates."""
        return np.asarray((u[:, self.by] - self.centre[self.by]) / self.sds[self.by])

    def narrowing(self, u: Floats) -> float:
        """How many times narrower a driven coordinate is at a twentieth of the points u (n, dim) than at half
        of them, at most."""
        half, most = quantiles(self.shape(u).precision, [0.5, 0.95])
        return float(np.sqrt((most / half).max()))

    def straight(self, u: Floats) -> Floats:
        """Points u (n, dim) with what is left of the driven coordinates given the others in their place."""
        z, shape, i = u.copy(), self.shape(u), self.driven
        z[:, i] = ((u[:, i] - self.centre[i]) / self.sds[i] - shape.mean) * np.sqrt(shape.precision)
        return z

    def back(self, z: Floats) -> tuple[Floats, Floats, DrivenShape]:
        """The points u (n, dim), the log-Jacobian (n,) of u by z, and the shape there."""
        u, shape, i = z.copy(), self.shape(z), self.driven
        u[:, i] = self.centre[i] + self.sds[i] * (shape.mean + z[:, i] / np.sqrt(shape.precision))
        change = np.log(self.sds[i]).sum() - 0.5 * np.log(shape.precision).sum(axis=1)
        return u, change, shape

    def pulled_back(self, slope: Floats, z: Floats, shape: DrivenShape) -> Floats:
        """The gradient (n, dim) by z of a log density and the log-Jacobian, from that by u, (n, dim)."""
        slope, k, i = slope.copy(), len(self.by), self.driven
        by, share, sd = slope[:, i] * self.sds[i], shape.share, 1 / np.sqrt(shape.precision)
        of_mean = (shape.narrow - shape.wide) * (1 - share)
        by_index = shape.growth * share * (by * (of_mean - 0.5 * z[:, i] * sd) - 0.5)
        by_wide = (by * (1 - share)) @ self.wide[:, 1:]
        through = by_index @ self.slopes + (by * share) @ self.narrow[:, 1:]
        through += by_wide[:, :k] + 2 * shape.x * by_wide[:, k:]
        slope[:, i] = by * sd
        slope[:, self.by] += through / self.sds[self.by]
        return slope


class Coordinates(Protocol):
    """Coordinates z (n, dim) of points u (n, dim), as those of funnels."""

    def straight(self, u: Floats) -> Floats:
        """The points in the coordinates."""
        ...

    def back(self, z: Floats) -> tuple[Floats, Floats, Any]:
        """The points u, the log-Jacobian (n,) of u by z, and what `pulled_back` needs to know there."""
        ...

    def pulled_back(self, slope: Floats, z: Floats, shape: Any) -> Floats:
        """The gradient (n, dim) by z of a log density and the log-Jacobian, from that by u, (n, dim)."""
        ...


@dataclass(frozen=True)
class InFunnels(Forwarding):
    """The target as a density over the coordinates z of funnels, which are over u also where it is scaled."""

    target: Target
    funnels: Coordinates
    views = (AtPoints,)

    @property
    def base(self) -> Target:
        return without_scale(self.target)

    def inside(self, v: Floats) -> Floats:
        """Points v (n, dim) of the target in coordinates z (n, dim)."""
        return self.funnels.straight(unscaled(self.target, v))

    def outside(self, z: Floats) -> tuple[Floats, Floats]:
        """The points v (n, dim) of the target, and by how much log densities over z are above those (n,)."""
        u, change, _ = self.funnels.back(z)
        if isinstance(self.target, Scaled):
            return self.target.to_v(u), change - self.target.log_jacobian
        return u, change

    def log_densities(self, z: Floats) -> Floats:
        u, change, _ = self.funnels.back(z)
        return self.base.log_densities(u) + change

    def log_density_gradients(self, z: Floats) -> tuple[Floats, Floats]:
        u, change, shape = self.funnels.back(z)
        values, slopes = self.base.log_density_gradients(u)
        return values + change, self.funnels.pulled_back(slopes, z, shape)

    def gradients_alone(self, z: Floats) -> Floats:
        u, _, shape = self.funnels.back(z)
        return self.funnels.pulled_back(self.base.gradients_alone(u), z, shape)


def without_scale(target: Target) -> Target:
    """The target over the coordinates of the program."""
    return target.target if isinstance(target, Scaled) else target


def unscaled(target: Target, v: Floats) -> Floats:
    """Points v (..., dim) of a target in the coordinates of the program."""
    if not isinstance(target, Scaled):
        return v
    return target.to_u(v.reshape(-1, v.shape[-1])).reshape(v.shape)
