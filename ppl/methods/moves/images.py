"""Images of a posterior: changes of sign and exchanges of parameters that its density does not depend on.

The discriminations and abilities of an item response model may all change their signs together, the factors
of a factor analysis their order, too, and so may the components of a mixture and the topics of a text. A q is
about one image, and what is said of that holds for all: draws are put into it, where the density counts once
for each, and in the end into images at random.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Array, Axis, Forwarding, Target
from ppl.methods.numerics.index_sets import distinct
from ppl.records import dataclass, replace

Indices = NDArray[np.intp]


class ImageLimits(NamedTuple):
    """Where images are looked for, and what is one."""

    most_dimensions: int = 4000
    """Dimensions above which none are looked for."""

    points: int = 3
    """Draws of q at which densities must be equal, and slopes vanish."""

    slope: float = 1e-6
    """A slope below this is none, in nats an sd."""

    rounding: float = 1e-10
    """The share of a log density by which those of two images may differ."""

    rounds: int = 20
    """Rounds in which coordinates are struck out."""

    distance: float = 1.5
    """Half of the distance from q to its image, in sds, below which both are one mode."""

    near_slope: float = 2.0
    """The slope, in nats, of a coordinate whose sign nearly may be changed."""

    near_tie: float = 0.03
    """The change of a slope, in nats, by which such coordinates are tied."""

    lower: float = 50.0
    """Where the density is so many nats lower than at the mean of q there is no mode: one nearby is a few sds
    off."""

    places_between: int = 65
    """Places at which the way between both is looked at."""

    numbers: int = 2**20
    """Coordinates of places, of several images, whose densities are computed at once."""

    valley: float = 1.0
    """How far the log density falls on the way to what is not about the same mode."""

    most_exchanged: int = 4
    """Components that may be exchanged, at most."""

    most_labels: int = 5
    """Labels that may be, at most: all 120 orders of five are gone through."""

    most_axes: int = 6
    """Axes of one size of which labels are looked for; beyond, only in all of them together."""


IMAGES = ImageLimits()


class Turn(NamedTuple):
    """The orthogonal matrix `by` (width, width), of each column of coordinates `at` (width, others)."""

    at: Indices
    by: Array

    def of(self, u: Array) -> Array:
        """Points u (..., dim) turned."""
        turned = u.copy()
        turned[..., self.at] = np.einsum("jk,...km->...jm", self.by, u[..., self.at])
        return turned


Exchange = tuple[Turn, ...]
"""Labels or components in another order: turns of coordinates, one after the other, which commute."""


def turned(u: Array, exchange: Exchange) -> Array:
    """Points u (..., dim) in another order."""
    for turn in exchange:
        u = turn.of(u)
    return u


@dataclass(frozen=True)
class Images:
    """The images of points u (..., dim): components, or labels, in another order, each with either sign.

    `components` are the coordinates that change their signs together; the first of the `exchanges` leaves all
    as it is. The image of q is told from the others by its products, component by component, with `toward`
    (dim,): all positive, and the largest in sum, with that of the other coordinates.
    """

    components: tuple[Indices, ...]
    exchanges: tuple[Exchange, ...]
    toward: Array

    @property
    def log_count(self) -> float:
        return float(np.log(len(self.exchanges)) + len(self.components) * np.log(2))

    @property
    def mirrored(self) -> Indices:
        """All coordinates that change their signs."""
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *self.components]))

    @property
    def exchanged(self) -> Indices:
        """All coordinates that are exchanged."""
        return exchanged(self.exchanges[-1])

    @cached_property
    def members(self) -> Array:
        """Whether each coordinate is of a component, (components, dim)."""
        flips = [flipped(len(self.toward), [own]) for own in self.components]
        return (1.0 - np.array(flips).reshape(-1, len(self.toward))) / 2

    @cached_property
    def directions(self) -> Array:
        """What products are with, (exchanges, components and the rest, dim)."""
        parts = self.toward * np.concatenate([self.members, 1.0 - self.members.sum(axis=0, keepdims=True)])
        return np.array([turned(parts, inverse_of(exchange)) for exchange in self.exchanges])

    def image(self, u: Array, order: Indices, changes: NDArray[np.bool_]) -> Array:
        """Those of u (n, dim) in these orders (n,), with the signs of components (n, components) changed."""
        there = np.empty_like(u)
        for number in distinct(order):
            there[order == number] = turned(u[order == number], self.exchanges[number])
        return np.asarray((1.0 - 2.0 * (changes @ self.members)) * there)

    def own(self, u: Array) -> tuple[Indices, NDArray[np.bool_]]:
        """The order (n,) and changes of signs (n, components) that bring u (n, dim) where q is."""
        products = u @ self.directions.transpose(0, 2, 1)
        *_, n, parts = products.shape
        signed = products[..., : parts - 1]
        order = (np.abs(signed).sum(axis=2) + products[..., -1]).argmax(axis=0)
        return order, signed[order, np.arange(n)] < 0

    def put_back(self, u: Array) -> Array:
        """The images of u (..., dim) that lie where q does."""
        flat = u.reshape(-1, u.shape[-1])
        return self.image(flat, *self.own(flat)).reshape(u.shape)

    def are_own(self, u: Array) -> NDArray[np.bool_]:
        """Which of u (n, dim) lie where q does."""
        order, changes = self.own(u)
        return np.asarray((order == 0) & ~changes.any(axis=1))

    def at_random(self, u: Array, rng: np.random.Generator) -> Array:
        """An image of each of u (n, dim), as many of one as of another."""
        n = len(u)
        order = rng.permutation(n) % len(self.exchanges)
        changes = [rng.permutation(n) % 2 == 1 for _ in self.components]
        return self.image(u, order, np.array(changes, dtype=bool).reshape(-1, n).T)

    def counted(self, u: Array, log_p: Array) -> Array:
        """Log densities (n,) of the target at u (n, dim), as many times as there are images, or of none."""
        return np.where(self.are_own(u), log_p + self.log_count, -np.inf)


@dataclass(frozen=True)
class OneImage(Forwarding):
    """The target in the image of q, which has all of its mass.

    Slopes are those of the target everywhere: chains go through all images, and are put back.
    """

    target: Target
    images: Images

    def log_density(self, u: Array) -> float:
        return float(self.log_densities(u[None])[0])

    def log_densities(self, us: Array) -> Array:
        return self.images.counted(us, self.target.log_densities(us))

    def log_density_gradient(self, u: Array) -> tuple[float, Array]:
        value, slope = self.target.log_density_gradient(u)
        return value + self.images.log_count, slope

    def log_density_gradients(self, us: Array) -> tuple[Array, Array]:
        values, slopes = self.target.log_density_gradients(us)
        return values + self.images.log_count, slopes

    def gradients_alone(self, us: Array) -> Array:
        return self.target.gradients_alone(us)

    def for_many_points(self, points: int) -> "OneImage":
        return replace(self, target=self.target.for_many_points(points))

    def of_points(self, places: Indices) -> "OneImage":
        return replace(self, target=self.target.of_points(places))


def put_back(target: Target, u: Array) -> Array:
    """Points u (..., dim) of a target, which may be scaled, in the image of q where it has images."""
    if isinstance(target, OneImage):
        return target.images.put_back(u)
    if not isinstance(target, Scaled) or not isinstance(target.target, OneImage):
        return u
    whole = target.to_u(u.reshape(-1, u.shape[-1]))
    return np.asarray(target.to_v(target.target.images.put_back(whole)).reshape(u.shape))


def images_of(target: Target, q: Gaussian, rng: np.random.Generator) -> Images | None:
    """The images that q lies apart from; None where there are none."""
    if target.dim > IMAGES.most_dimensions or not target.dim:
        return None
    u = q.draws(rng.standard_normal((IMAGES.points, target.dim)))
    sds = sds_of(q)
    some, own = with_either_sign(target, u, sds, IMAGES.slope), list[Indices]()
    if half_distance(q, sds, some) >= IMAGES.distance:
        own = invariant(target, u, apart(q, sds, components_of(target, u[0], sds, some, IMAGES.slope)))
    orders = labellings(target, q, sds, u, [*exchanges(target, u, own)] if len(own) > 1 else [()])
    if not own and len(orders) == 1:
        return None
    images, variances = Images(tuple(own), tuple(orders), np.zeros(target.dim)), sds**2
    for turn in orders[-1]:  # of the same size for all that are exchanged
        variances[turn.at] = variances[turn.at].mean(axis=0)
    some = np.union1d(images.mirrored, images.exchanged)
    images.toward[some] = (q.mean / variances)[some]
    return images


def near_images(target: Target, q: Gaussian, images: Images | None, rng: np.random.Generator) -> list[Array]:
    """Signs (dim,) with which the mean of q is near another mode, that is nearly, not exactly, its image.

    The density is about as high there, beyond a valley.
    """
    if target.dim > IMAGES.most_dimensions or not target.dim:
        return []
    u = q.draws(rng.standard_normal((IMAGES.points, target.dim)))
    sds = sds_of(q)
    units = np.maximum(np.abs(q.mean), sds)
    new = np.ones(target.dim, dtype=bool)
    new[images.mirrored if images else []] = False
    either = with_either_sign(target, u, units, IMAGES.near_slope)
    some = either[new[either]]
    tied = list[Indices]()
    if half_distance(q, sds, some) >= IMAGES.distance:
        tied = apart(q, sds, components_of(target, u[0], units, some, IMAGES.near_tie))
    alone = flips(target.dim, np.flatnonzero(new & (np.abs(q.mean) >= IMAGES.distance * sds)))
    at, *heights = target.log_densities(np.concatenate([q.mean[None], alone * q.mean]))
    alone = alone[np.array(heights) > at - IMAGES.lower]
    each = np.array([*(changed(target, q.mean, component) for component in tied), *alone])
    size = max(1, IMAGES.numbers // (IMAGES.places_between * target.dim))
    return [
        signs
        for k in range(0, len(each), size)
        for signs in each[k : k + size][are_beyond_valleys(target, q.mean, each[k : k + size])]
    ]


def sds_of(q: Gaussian) -> Array:
    """The standard deviation of each coordinate (dim,)."""
    factor = q.factor
    return np.abs(factor) if factor.ndim == 1 else np.sqrt(np.einsum("ij,ij->i", factor, factor))


def are_beyond_valleys(target: Target, mean: Array, each: Array) -> NDArray[np.bool_]:
    """Whether the log density falls and rises again on the ways to images of the mean by signs (images, dim).

    There may be mass; but an image on a slope is no mode, and the way up from there leads to q's own.
    """
    first, *last = target.log_densities(np.concatenate([mean[None], each * mean]))
    heights = np.array(last)
    high: NDArray[np.bool_] = heights > first - IMAGES.lower
    shares = np.linspace(0, 1, IMAGES.places_between)[:, None]
    ways = mean + shares * (each[high, None] - 1) * mean
    on_the_way = target.log_densities(ways.reshape(-1, len(mean))).reshape(ways.shape[:2])
    lowest = np.nan_to_num(on_the_way, nan=-np.inf).min(axis=1)
    high[high] = lowest < np.minimum(first, heights[high]) - IMAGES.valley
    return high


def flips(dim: int, some: Indices) -> Array:
    """The signs (some, dim) of images in which that of one coordinate is changed."""
    signs = np.ones((len(some), dim))
    signs[np.arange(len(some)), some] = -1.0
    return signs


def changed(target: Target, mean: Array, component: Indices) -> Array:
    """The signs (dim,) of the image by a component, but for entries that are better as they are."""
    signs = flipped(len(mean), [component])
    each = np.tile(signs, (len(component), 1))
    each[np.arange(len(component)), component] = 1.0
    at, *without = target.log_densities(mean * np.concatenate([signs[None], each]))
    signs[component[np.array(without) > at + IMAGES.valley]] = 1.0
    return signs


def apart(q: Gaussian, sds: Array, components: list[Indices]) -> list[Indices]:
    """Those in which q lies apart from its image."""
    return [each for each in components if half_distance(q, sds, each) >= IMAGES.distance]


def with_either_sign(target: Target, u: Array, units: Array, most: float) -> Indices:
    """Coordinates along which there is no slope above `most` where all of them are zero.

    A density that a change of their signs leaves as it is has none, wherever the others are. A coordinate
    with a slope is struck out, and is then where it is in u (n, dim).
    """
    some = np.ones(target.dim, dtype=bool)
    for _ in range(IMAGES.rounds):
        slopes = target.gradients_alone(np.where(some, 0.0, u))
        flat = np.asarray((np.abs(slopes) * units <= most).all(axis=0))
        if not some.any() or flat[some].all():
            return np.flatnonzero(some)
        some &= flat
    return np.zeros(0, dtype=np.intp)


def half_distance(q: Gaussian, sds: Array, some: Indices) -> float:
    """How far the mean of q lies from zero in some coordinates, in sds: half of the way to its image."""
    return half_way(q, sds, [(some[None], np.ones(1))])


def half_way(q: Gaussian, sds: Array, ways: Sequence[tuple[Indices, Array]]) -> float:
    """How far the mean of q lies from zero along ways: coordinates (width, others), their shares (width,)."""
    mean = np.concatenate([way @ q.mean[at] for at, way in ways])
    if q.factor.ndim == 1:
        variances = np.concatenate([way**2 @ sds[at] ** 2 for at, way in ways])
        return float(np.sqrt((mean**2 / variances).sum()))
    rows = np.concatenate([np.tensordot(way, q.factor[at], 1) for at, way in ways])
    return float(np.linalg.norm(np.linalg.lstsq(rows, mean, rcond=None)[0]))


def components_of(target: Target, u: Array, units: Array, some: Indices, least: float) -> list[Indices]:
    """Those coordinates in sets that change their signs together.

    Only in its own set does a coordinate that is not zero give another, which is, a slope.
    """
    centre = u.copy()
    centre[some] = 0.0
    points = np.tile(centre, (len(some) + 1, 1))
    points[np.arange(len(some)), some] = units[some]
    *slopes, at = target.gradients_alone(points)[:, some]
    tied = np.abs(np.array(slopes) - at) * units[some] > least
    tied, left, components = tied | tied.T, set(range(len(some))), list[Indices]()
    while left:
        own, new = set[int](), {min(left)}
        while new:
            own |= new
            new = set(np.flatnonzero(tied[sorted(new)].any(axis=0)).tolist()) - own
        left -= own
        components.append(some[sorted(own)])
    return components


def invariant(target: Target, u: Array, components: list[Indices]) -> list[Indices]:
    """Those whose signs may be changed; what may not is one, if all of it may."""
    at = target.log_densities(u)

    def may(component: Indices) -> bool:
        return equal(target, flipped(target.dim, [component]) * u, at)

    own = [component for component in components if may(component)]
    rest = [component for component in components if not any(component is each for each in own)]
    together = np.sort(np.concatenate(rest)) if len(rest) > 1 else None
    return [*own, together] if together is not None and may(together) else own


def flipped(dim: int, components: list[Indices]) -> Array:
    """The signs (dim,) of an image in which those of some components are changed."""
    signs = np.ones(dim)
    for component in components:
        signs[component] = -1.0
    return signs


def equal(target: Target, images: Array, at: Array) -> bool:
    """Whether images (n, dim) of points have the log densities (n,) of these."""
    there = target.log_densities(images)
    return bool((np.abs(there - at) <= IMAGES.rounding * (1 + np.abs(at))).all())


def exchanges(target: Target, u: Array, components: list[Indices]) -> Iterator[Exchange]:
    """The orders in which components of one length are exchanged, the first of which leaves all as it is."""
    at, places = target.log_densities(u), range(len(components))
    lengths = sorted({len(own) for own in components})
    groups = [[k for k in places if len(components[k]) == length] for length in lengths]
    coordinates = [np.array([components[k] for k in group]) for group in groups]
    for each in permutations(places) if len(components) <= IMAGES.most_exchanged else [tuple(places)]:
        if all(len(components[k]) == len(components[j]) for k, j in enumerate(each)):
            orders = [[group.index(each[k]) for k in group] for group in groups]
            turns = zip(coordinates, orders, strict=True)
            exchange = tuple(Turn(own, np.eye(len(own))[order]) for own, order in turns)
            if equal(target, turned(u, exchange), at):
                yield exchange


def inverse_of(exchange: Exchange) -> Exchange:
    return tuple(Turn(turn.at, turn.by.T) for turn in exchange)


def labellings(target: Target, q: Gaussian, sds: Array, u: Array, orders: list[Exchange]) -> list[Exchange]:
    """Orders, and in each those of labels, from which q lies apart; the first leaves all as it is.

    The weights of a mixture and what its components have of their own share the labels: axes of one size.
    """
    for size in range(2, IMAGES.most_labels + 1):
        pairs = [*combinations(range(size), 2)]
        for axes in sets_of(target.axes(size)):
            far = [half_way(q, sds, ways(axes, *pair)) >= IMAGES.distance for pair in pairs]
            if not any(far) or any(np.isin(axis.at, exchanged(orders[-1])).any() for axis in axes):
                continue
            at = target.log_densities(u)
            alike = [equal(target, turned(u, swapped(axes, *pair)), at) for pair in pairs]
            if any(np.logical_and(far, alike)):
                known = {pair for pair, each in zip(pairs, alike, strict=True) if each}
                each = (np.array(order) for order in permutations(range(size)))
                own = [relabelled(axes, order) for order in each if moved_within(order, known)]
                orders = [first + second for first in orders for second in own]
    return orders


def exchanged(exchange: Exchange) -> Indices:
    """The coordinates that an exchange moves, in order."""
    none = np.zeros(0, dtype=np.intp)
    return distinct(np.concatenate([none, *(turn.at.ravel() for turn in exchange)]))


def sets_of(axes: Sequence[Axis]) -> Iterator[tuple[Axis, ...]]:
    """Sets of axes, small ones first: those of other labels of the same number need not be exchanged too."""
    least = 1 if len(axes) <= IMAGES.most_axes else len(axes)
    for count in range(least, len(axes) + 1):
        yield from combinations(axes, count)


def ways(axes: Sequence[Axis], j: int, k: int) -> list[tuple[Indices, Array]]:
    """The coordinates of axes, and the shares by which two labels differ in them."""
    return [(axis.at, axis.basis[j] - axis.basis[k]) for axis in axes]


def swapped(axes: Sequence[Axis], j: int, k: int) -> Exchange:
    """Two labels in each other's place."""
    order = np.arange(len(axes[0].basis))
    order[[j, k]] = k, j
    return relabelled(axes, order)


def relabelled(axes: Sequence[Axis], order: Indices) -> Exchange:
    """Labels in another order."""
    return tuple(Turn(axis.at, axis.basis.T @ axis.basis[order]) for axis in axes)


def moved_within(order: Indices, alike: set[tuple[int, int]]) -> bool:
    """Whether labels come only where one is that may be exchanged with them."""
    return all(j == k or (min(j, k), max(j, k)) in alike for j, k in enumerate(order.tolist()))
