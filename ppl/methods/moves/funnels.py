"""Coordinates in which funnels are straight: a metric that depends on where a chain is.

The effects of a hierarchy are as wide as their scale lets them be, and where that is small no step size for
all of them enters. Given its driver, such a coordinate is taken for Gaussian, of a precision P + exp(q v + e)
as that of an effect is with its own data and with its prior, and a mean between those of both. The
coordinates of a chain are what is left of it: Parno and Marzouk (2018), "Transport map accelerated Markov
chain Monte Carlo", SIAM/ASA J. Uncertainty Quantification 6. Whatever the fit, moves leave the target exact.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.target import AtPoints, Forwarding, Target
from ppl.records import dataclass


class FunnelLimits(NamedTuple):
    """What counts as a funnel, and how it is fitted."""

    end: float = 0.1
    """The share of the positions at either end of a driver that are looked at."""

    narrowing: float = 1.1
    """How many times narrower than elsewhere a coordinate must be there, in sds, given all others, beyond
    what is chance."""

    errors: float = 5.0
    """Standard errors of the log of an sd that are chance."""

    most_fits: int = 64
    """Coordinates that are fitted, at most."""

    gain: float = 0.02
    """The nats a position by which the fit must describe those of other chains better than a Gaussian
    that is fitted to these, or one with another driver better than that without."""

    sure: float = 3.0
    """The standard errors of that gain that are taken from it."""

    most_dimensions: int = 200
    """Dimensions in which funnels are looked for."""

    most_drivers: int = 24
    """Drivers that are looked at."""

    drivers_of_one: int = 3
    """Drivers of a coordinate, at most."""

    features: int = 4
    """Coordinates beside them that its mean may depend on, at most."""

    fewest_positions: int = 500
    """Positions that a fit is of, at least."""

    positions: int = 2048
    """Positions that a fit is of, at most."""

    steps: int = 40
    """Steps of a fit, at most."""

    last_gain: float = 1e-4
    """The nats a position that the last step gains."""

    score: float = 5.0
    """The standard errors by which the likelihood rises along another driver, to try it."""

    least_step: float = 0.1
    """The share of a step of Fisher scoring, which is a quarter where the last did not gain, to end at."""


FUNNELS = FunnelLimits()
STEEPEST = 60.0
"""The log of a precision is kept below it."""


class DrivenShape(NamedTuple):
    """Of driven coordinates, given standardised points x (n, dim): what their conditional Gaussians are of.

    `prior` (n, driven) is exp(q x + e), `precision` that and P, `share` what is the prior's of it, and
    `narrow` and `wide` the means where it is all of it, and none; `product` is the part of `narrow` that is
    one over the root of the prior's, as of a factor of a product that the data tell.
    """

    precision: Floats
    share: Floats
    narrow: Floats
    wide: Floats
    product: Floats

    @property
    def mean(self) -> Floats:
        return self.share * self.narrow + (1 - self.share) * self.wide


@dataclass(frozen=True)
class Funnels:
    """Points u = centre + sds x, of which the `driven` coordinates (driven,) of x depend on the others.

    Rows of `slopes` (driven, dim) are q, of `offsets` (driven,) e, of `own` (driven,) P; rows of `narrow`
    (driven, 2 + dim) the coefficients of 1, x and exp(-(q x + e) / 2) in one mean, of `wide`
    (driven, 1 + 2 dim) those of 1, x and its squares in the other.
    """

    centre: Floats
    sds: Floats
    driven: NDArray[np.intp]
    slopes: Floats
    offsets: Floats
    own: Floats
    narrow: Floats
    wide: Floats

    def shape(self, x: Floats) -> DrivenShape:
        prior = np.exp(np.clip(x @ self.slopes.T + self.offsets, -STEEPEST, STEEPEST))
        precision = self.own + prior
        dim = x.shape[1]
        narrow = self.narrow[:, 0] + x @ self.narrow[:, 1 : 1 + dim].T + self.narrow[:, -1] / np.sqrt(prior)
        wide = self.wide[:, 0] + x @ self.wide[:, 1 : 1 + dim].T + x**2 @ self.wide[:, 1 + dim :].T
        return DrivenShape(precision, prior / precision, narrow, wide, self.narrow[:, -1] / np.sqrt(prior))

    def straight(self, u: Floats) -> Floats:
        """Points u (n, dim) in the coordinates z (n, dim)."""
        z = (u - self.centre) / self.sds
        shape = self.shape(z)
        z[:, self.driven] = (z[:, self.driven] - shape.mean) * np.sqrt(shape.precision)
        return z

    def back(self, z: Floats) -> tuple[Floats, Floats, DrivenShape]:
        """The points u (n, dim), the log-Jacobian (n,) of u by z, and the shape there."""
        shape, x = self.shape(z), z.copy()
        x[:, self.driven] = shape.mean + z[:, self.driven] / np.sqrt(shape.precision)
        change = np.log(self.sds).sum() - 0.5 * np.log(shape.precision).sum(axis=1)
        return self.centre + self.sds * x, change, shape

    def pulled_back(self, slope: Floats, z: Floats, shape: DrivenShape) -> Floats:
        """The gradient (n, dim) by z of a log density and the log-Jacobian, from that by u, (n, dim)."""
        slope, dim = slope * self.sds, z.shape[1]
        by, share, sd = slope[:, self.driven], shape.share, 1 / np.sqrt(shape.precision)
        of_mean = (shape.narrow - shape.wide) * (1 - share)
        by_index = share * (by * (of_mean - 0.5 * (z[:, self.driven] * sd + shape.product)) - 0.5)
        through = by_index @ self.slopes
        by_wide = (by * (1 - share)) @ self.wide[:, 1:]
        through += (by * share) @ self.narrow[:, 1:-1] + by_wide[:, :dim] + 2 * z * by_wide[:, dim:]
        slope[:, self.driven] = by * sd
        return slope + through


@dataclass(frozen=True)
class InFunnels(Forwarding):
    """The target as a density over the coordinates z of funnels, which are over u also where it is scaled."""

    target: Target
    funnels: Funnels
    views = (AtPoints,)

    @property
    def base(self) -> Target:
        return self.target.target if isinstance(self.target, Scaled) else self.target

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


def unscaled(target: Target, v: Floats) -> Floats:
    """Points v (..., dim) of a target in the coordinates of the program."""
    if not isinstance(target, Scaled):
        return v
    return target.to_u(v.reshape(-1, v.shape[-1])).reshape(v.shape)


class Fit(NamedTuple):
    """Of one driven coordinate, a row of `Funnels`, and the nats that it gains a position of other chains."""

    driven: int
    slopes: Floats
    offset: float
    own: float
    narrow: Floats
    wide: Floats
    gain: float


def funnels_of(u: Floats) -> Funnels | None:
    """Fitted to positions u (moves, chains, dim); None where there is no funnel.

    Fitted to those of every other chain, and judged by the others. Either coordinate of a banana is narrow at
    an end of the other, so what does without the first drivers is tried too.
    """
    dim = u.shape[-1]
    flat = u.reshape(-1, dim)
    centre, sds = flat.mean(axis=0), flat.std(axis=0)
    if dim < 2 or dim > FUNNELS.most_dimensions or not (np.isfinite(sds).all() and (sds > 0).all()):
        return None
    x = (u - centre) / sds
    own, other = (thinned(x[:, k::2].reshape(-1, dim)) for k in range(2))
    ends = Ends.of(np.concatenate([own, other]))
    first = drivers_of(ends, set())
    both = first, drivers_of(ends, {driver.place for driver in first.values()})
    some = max(
        (fits_of(own, other, drivers) for drivers in both), key=lambda fits: sum(fit.gain for fit in fits)
    )
    if not some:
        return None
    driven, slopes, offsets, data, narrow, wide, _ = map(np.array, zip(*some, strict=True))
    return Funnels(centre, sds, driven, slopes, offsets, data, narrow, wide)


def fits_of(x: Floats, judged: Floats, drivers: Mapping[int, "Driver"]) -> list[Fit]:
    """Of coordinates by their drivers, those that gain."""
    others = [k for k in range(x.shape[1]) if k not in drivers]
    sizes = {place: correlations_at_ends(x, place) for place in {each.place for each in drivers.values()}}
    fits = [fitted(x, judged, i, driver, others, sizes[driver.place][i]) for i, driver in drivers.items()]
    return [fit for fit in fits if fit.gain > FUNNELS.gain]


def thinned(x: Floats) -> Floats:
    return x[:: -(-len(x) // FUNNELS.positions)]


class Ends(NamedTuple):
    """Standardised points x (n, dim), those at the low and at the high end of each coordinate
    (2, count, dim), and how many times narrower each coordinate is there, given all others, than elsewhere,
    (2, dim, dim): by end, by coordinate, by that whose end it is.
    """

    x: Floats
    places: NDArray[np.intp]
    narrowing: Floats
    whole: Floats

    @classmethod
    def of(cls, x: Floats) -> "Ends":
        n, dim = x.shape
        count, whole, order = max(int(FUNNELS.end * n), 1), precisions(x), np.argsort(x, axis=0)
        places, narrowing = np.array([order[:count], order[-count:]]), np.zeros((2, dim, dim))
        for j in likely_drivers(x, places):
            narrowing[:, :, j] = np.sqrt(precisions(x[places[:, :, j]]) / whole)
            narrowing[:, j, j] = 0.0
        return cls(x, places, narrowing, whole)

    @property
    def least(self) -> float:
        """The narrowing that is not chance."""
        return FUNNELS.narrowing * float(np.exp(FUNNELS.errors / np.sqrt(2 * self.places.shape[1])))


class Driver(NamedTuple):
    """The place of a coordinate that drives another, and the sign of the slope of its log precision."""

    place: int
    sign: float


def drivers_of(ends: Ends, never: set[int]) -> dict[int, Driver]:
    """The driver of each coordinate that is driven; some are `never` drivers, and no driver is driven."""
    most = ends.narrowing.max(axis=0)
    strong = most > ends.least
    strong[:, list(never)] = False
    total = np.where(strong, np.log(np.maximum(most, 1.0)), 0.0)
    drivers, driven = list[int](), set[int]()
    for j in np.argsort(-total.sum(axis=0), kind="stable").tolist():
        narrow = [i for i in np.flatnonzero(strong[:, j]).tolist() if i not in drivers]
        if narrow and j not in driven:
            low, high = ends.narrowing[:, narrow, j].sum(axis=1)
            at = ends.x[ends.places[int(high > low), :, j]]
            drivers.append(j)
            driven |= set(narrow) - set(what_the_others_follow(at, narrow, ends))
    some = sorted(driven - set(drivers), key=lambda i: -total[i].max())[: FUNNELS.most_fits]
    by = {i: max((j for j in drivers if strong[i, j]), key=lambda j: total[i, j]) for i in some}
    low, high = ends.narrowing
    return {i: Driver(j, 1.0 if high[i, j] > low[i, j] else -1.0) for i, j in by.items()}


def likely_drivers(x: Floats, places: NDArray[np.intp]) -> list[int]:
    """The coordinates at whose ends others are narrow, or the log of their distance from their mean small."""
    dim = x.shape[1]
    if dim <= FUNNELS.most_drivers:
        return list(range(dim))
    distance = np.log(np.abs(x) + 0.01)
    by = np.abs((distance - distance.mean(axis=0)).T @ x) / len(x)
    for end in places:
        inside = np.zeros((dim, len(x)))
        np.put_along_axis(inside, end.T, 1 / len(end), axis=1)
        variances = inside @ x**2 - (inside @ x) ** 2  # by driver, of each other
        by = np.maximum(by, -np.log(np.maximum(variances, 1e-12)).T)
    np.fill_diagonal(by, 0.0)
    order = np.argsort(-(by**2).sum(axis=0), kind="stable")
    return [int(k) for k in order[: FUNNELS.most_drivers]]


def precisions(x: Floats) -> Floats:
    """One over the variance of each coordinate (..., dim) of points x (..., n, dim) given all others,
    correlations shrunk.
    """
    n, dim = x.shape[-2:]
    off, shrink = x - x.mean(axis=-2, keepdims=True), dim / (dim + n)
    covariance, own = off.mT @ off / (n - 1), range(dim)
    diagonal = covariance[..., own, own] + 1e-12
    covariance *= 1 - shrink
    covariance[..., own, own] = diagonal
    return np.asarray(np.linalg.inv(covariance)[..., own, own])


def what_the_others_follow(x: Floats, narrow: Sequence[int], ends: Ends) -> list[int]:
    """Of coordinates that are narrow given all others: those that stay, as the mean of a hierarchy's effects.

    One after the other, the one that leaves least of the others, until these are narrow given those.
    """
    n, dim = x.shape
    outside = [k for k in range(dim) if k not in narrow]
    shrink = dim / (dim + n)
    left = np.cov(x.T) * (1 - shrink) + shrink * np.diag(x.var(axis=0)) + 1e-12 * np.eye(dim)
    for k in outside:
        left = without(left, k)
    stay, rest = list[int](), list(narrow)
    while rest and len(stay) < FUNNELS.features:
        narrowed = [ends.whole[i] * max(left[i, i], 1e-12) < ends.least**-2 for i in rest]
        if all(narrowed):
            break
        own = left[np.ix_(rest, rest)]
        given_each = np.diag(own) - own**2 / np.maximum(np.diag(own), 1e-12)[:, None]
        logs = np.log(np.maximum(given_each, 1e-12))
        np.fill_diagonal(logs, 0.0)
        best = rest[int(np.argmin(logs.sum(axis=1)))]
        left = without(left, best)
        stay.append(best)
        rest.remove(best)
    return stay


def without(covariance: Floats, k: int) -> Floats:
    """The covariance given coordinate k."""
    column = covariance[:, k]
    return np.asarray(covariance - np.outer(column, column) / max(covariance[k, k], 1e-12))


def fitted(
    x: Floats, judged: Floats, i: int, driver: Driver, others: Sequence[int], correlated: Floats
) -> Fit:
    """Coordinate i of x (n, dim) given its driver, by Fisher scoring, and judged by other positions.

    One driver after the other is added while the other positions gain. The mean is one of the others that are
    most `correlated` (dim,) with it. One precision for all positions will do where two gain nothing: what a
    second seems to say beyond the positions keeps chains from there.
    """
    rest, drivers = [k for k in others if k not in (driver.place, i)], [driver.place]
    features = [rest[k] for k in np.argsort(-correlated[rest], kind="stable")[: FUNNELS.features]]
    own, other = (DrivenCoordinate.of(each, i, drivers, features) for each in (x, judged))
    (_, variance), (off, judged_variance) = gaussian_of(own), gaussian_of(other)
    best = scored(own, np.array([-np.log(variance) - 1, -np.log(variance) - 2, 3 * driver.sign]))
    gaussian = -0.5 * (off**2 / judged_variance + np.log(judged_variance))
    gain = sure(other.log_likelihoods(best) - gaussian)
    bent = scored(own, np.array([-np.log(variance), -STEEPEST, 0.0]))
    bent_gain = sure(other.log_likelihoods(bent) - gaussian)
    if gain < bent_gain + FUNNELS.gain:
        return fit_of(i, x.shape[1], drivers, features, bent, bent_gain)
    while len(drivers) < FUNNELS.drivers_of_one and gain > 0:
        rest = [k for k in others if k not in drivers]
        slopes = own.by_index(best)[:, None] * x[:, rest]
        sizes = np.abs(slopes.sum(axis=0)) / np.sqrt((slopes**2).sum(axis=0))
        if not rest or sizes.max() < FUNNELS.score:
            break
        more = [*drivers, rest[int(np.argmax(sizes))]]
        wider, judged_wider = (DrivenCoordinate.of(each, i, more, features) for each in (x, judged))
        next_best = scored(wider, np.append(best.theta, 0.0))
        more_gain = sure(judged_wider.log_likelihoods(next_best) - gaussian)
        if more_gain < gain + FUNNELS.gain:
            break
        drivers, own, best, gain = more, wider, next_best, more_gain
    return fit_of(i, x.shape[1], drivers, features, best, gain)


def gaussian_of(given: "DrivenCoordinate") -> tuple[Floats, float]:
    """What a mean without squares leaves (n,), and its variance."""
    linear = given.wide[:, : -given.v.shape[1]]
    off = given.y - linear @ least_squares(linear, given.y, np.ones(len(given.y)))
    return off, float((off**2).mean())


def sure(gains: Floats) -> float:
    """The mean gain less its error: where tails are heavy, a few positions gain or lose by chance."""
    return float(gains.mean() - FUNNELS.sure * gains.std() / np.sqrt(len(gains)))


def fit_of(
    i: int, dim: int, drivers: Sequence[int], features: Sequence[int], best: "Scored", gain: float
) -> Fit:
    slopes, narrow, wide = np.zeros(dim), np.zeros(2 + dim), np.zeros(1 + 2 * dim)
    half, at, by = 2 + len(features), [0, *(1 + k for k in features)], [1 + k for k in drivers]
    own, offset, *slopes[list(drivers)] = best.theta.tolist()
    narrow[[*at, 1 + dim]], rest = best.coefficients[:half], best.coefficients[half:]
    wide[[*at, *by, *(dim + k for k in by)]] = rest
    return Fit(i, slopes, offset, float(np.exp(own)), narrow, wide, gain)


def correlations_at_ends(x: Floats, driver: int) -> Floats:
    """The largest correlations in size (dim, dim) of points x (n, dim) at an end of a driver, or of all."""
    order, count = np.argsort(x[:, driver]), max(int(FUNNELS.end * len(x)), 2)
    ends = (x[order[:count]], x[order[-count:]], x)
    return np.asarray(np.max([np.abs(correlations(part)) for part in ends], axis=0))


def correlations(x: Floats) -> Floats:
    """Those of the coordinates of x (n, dim); 0 with one that is constant."""
    off = x - x.mean(axis=0)
    sizes = np.sqrt((off**2).sum(axis=0))
    return np.asarray(off.T @ off / np.maximum(np.outer(sizes, sizes), 1e-300))


class DrivenCoordinate(NamedTuple):
    """A coordinate y (n,), its drivers v (n, drivers), and what its means where all and nothing of its
    precision is the prior's are linear in: in the neck no driver moves it, else as in a banana.
    """

    y: Floats
    v: Floats
    narrow: Floats
    wide: Floats

    @classmethod
    def of(cls, x: Floats, i: int, drivers: Sequence[int], features: Sequence[int]) -> "DrivenCoordinate":
        narrow = np.concatenate([np.ones((len(x), 1)), x[:, features]], axis=1)
        v = x[:, drivers]
        return cls(x[:, i], v, narrow, np.concatenate([narrow, v, v**2], axis=1))

    def terms(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """The precision (n,), the share of the prior in it, and the design (n, columns) of the mean."""
        prior = np.exp(np.clip(self.v @ theta[2:] + theta[1], -STEEPEST, STEEPEST))
        precision = np.exp(theta[0]) + prior
        share, product = (prior / precision)[:, None], (np.sqrt(prior) / precision)[:, None]
        design = [self.narrow * share, product, self.wide * (1 - share)]
        return precision, share[:, 0], np.concatenate(design, axis=1)

    def log_likelihoods(self, at: "Scored") -> Floats:
        precision, _, design = self.terms(at.theta)
        return np.asarray(0.5 * (np.log(precision) - precision * (self.y - design @ at.coefficients) ** 2))

    def by_index(self, at: "Scored") -> Floats:
        """The slope (n,) of the log likelihood of each by q v + e."""
        precision, share, design = self.terms(at.theta)
        narrow = self.narrow.shape[1]
        of_narrow = design[:, : narrow + 1] @ at.coefficients[: narrow + 1]
        of_wide = design[:, narrow + 1 :] @ at.coefficients[narrow + 1 :]
        product = design[:, narrow] * at.coefficients[narrow]
        off = self.y - of_narrow - of_wide
        of_mean = (1 - share) * of_narrow - share * of_wide - 0.5 * product
        return np.asarray(precision * off * of_mean + 0.5 * share * (1 - precision * off**2))


class Scored(NamedTuple):
    """The log likelihood a position, at logs of P, e and slopes, `theta`, and coefficients of the mean."""

    value: float
    theta: Floats
    coefficients: Floats


def least_squares(design: Floats, y: Floats, weights: Floats) -> Floats:
    weighted = design * weights[:, None]
    square = weighted.T @ design
    square.flat[:: len(square) + 1] += 1e-6 * square.trace() / len(square)
    return np.asarray(np.linalg.solve(square, weighted.T @ y))


def scored(given: DrivenCoordinate, theta: Floats) -> Scored:
    """The maximum of the likelihood from theta, by Fisher scoring."""
    best, step = Scored(-np.inf, theta, np.zeros(0)), 1.0
    for _ in range(FUNNELS.steps):
        precision, share, design = given.terms(theta)
        coefficients = least_squares(design, given.y, precision)
        off = 1 - precision * (given.y - design @ coefficients) ** 2
        value = float(0.5 * (np.log(precision) + off).mean())
        if value > best.value:
            gained, best = value - best.value, Scored(value, theta, coefficients)
            if gained < FUNNELS.last_gain:
                break
            slopes = np.column_stack([1 - share, share, given.v * share[:, None]])
            information = slopes.T @ slopes / 2 + 1e-3 * len(off) * np.eye(len(theta))
            change = np.linalg.solve(information, slopes.T @ off / 2)
            change /= max(1.0, float(np.abs(change).max()) / 2)
        elif step < FUNNELS.least_step:
            break
        else:
            step /= 4
        theta = best.theta + step * change
        theta[0] = np.clip(theta[0], -STEEPEST / 4, STEEPEST)
    return best._replace(value=best.value - 0.5)
