"""Images of a posterior: changes of sign and exchanges of parameters that its density does not depend on.

The discriminations and abilities of an item response model may all change their signs together, the factors
of a factor analysis their order, too, and so may the labels of a mixture (`labels`). A q is about one image,
and what is said of that holds for all: draws are put into it, where the density counts once for each, and in
the end into images at random.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats, Indices
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import AtPoints, Forwarding, Often, Target
from ppl.methods.moves.labels import EXCHANGES, Labels, coordinates_of, equal, half_way, labels_of
from ppl.methods.numerics.index_sets import distinct
from ppl.records import dataclass


class ImageLimits(NamedTuple):
    """Where images are looked for, and what is one."""

    most_dimensions: int = 4000
    """Dimensions above which none are looked for."""

    points: int = 3
    """Draws of q at which densities must be equal, and slopes vanish."""

    slope: float = 1e-6
    """A slope below this is none, in nats an sd."""

    rounds: int = 20
    """Rounds in which coordinates are struck out."""

    near_slope: float = 2.0
    """The slope, in nats, of a coordinate whose sign nearly may be changed."""

    near_tie: float = 0.03
    """The change of a slope, in nats, by which such coordinates are tied."""

    lower: float = 50.0
    """Where the density is so many nats lower than at the mean of q there is no mode: one nearby is a few sds
    off."""

    places_at_first: int = 5
    """Places on the way between both at which the log density may be seen to be concave."""

    places_between: int = 65
    """Places at which the way between both is looked at."""

    numbers: int = 2**20
    """Coordinates of places, of several images, whose densities are computed at once."""

    valley: float = 1.0
    """How far the log density falls on the way to what is not about the same mode."""


IMAGES = ImageLimits()


@dataclass(frozen=True)
class Images:
    """The images of points u (..., dim): components with either sign, labels in another order.

    `components` are the coordinates that change their signs together, `labels` of different coordinates. The
    image of q is told from the others by its products with `toward` (dim,), component by component: all
    positive, and the largest in sum, with that of the other coordinates.
    """

    components: tuple[Indices, ...]
    labels: tuple[Labels, ...]
    toward: Floats

    @property
    def log_count(self) -> float:
        return sum(each.log_count for each in self.labels) + len(self.components) * float(np.log(2))

    @property
    def mirrored(self) -> Indices:
        """All coordinates that change their signs."""
        return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *self.components]))

    @property
    def exchanged(self) -> Indices:
        """All coordinates that are exchanged."""
        return distinct(coordinates_of([axis for labels in self.labels for axis in labels.axes]))

    @property
    def labellings(self) -> int:
        """The orders of all labels."""
        return prod(factorial(each.size) for each in self.labels)

    @cached_property
    def members(self) -> Floats:
        """Whether each coordinate is of a component, (components, dim)."""
        flips = [flipped(len(self.toward), [own]) for own in self.components]
        return (1.0 - np.array(flips).reshape(-1, len(self.toward))) / 2

    @cached_property
    def of_several_labels(self) -> NDArray[np.bool_]:
        """Which components have coordinates of several labels (components,)."""
        several = np.zeros(len(self.components), dtype=bool)
        for labels in self.labels:
            of_label = [entries.any(axis=2) for entries in labels.entries(self.members)]
            several |= np.any(of_label, axis=0).sum(axis=1) > 1
        return several

    def image(self, u: Floats, orders: Sequence[Indices], changes: NDArray[np.bool_]) -> Floats:
        """Those of u (n, dim) with labels in these orders (n, members), and the signs of components
        (n, components) changed.
        """
        for labels, order in zip(self.labels, orders, strict=True):
            u = labels.ordered(u, order)
        return np.asarray((1.0 - 2.0 * (changes @ self.members)) * u)

    def own(self, u: Floats) -> tuple[list[Indices], NDArray[np.bool_]]:
        """The orders (n, members) and changes of signs (n, components) that bring u (n, dim) where q is."""
        signs = np.zeros(len(self.components), dtype=bool)
        orders, changes, largest = self.nearest(u, signs)
        for own in list(product([False, True], repeat=int(self.of_several_labels.sum())))[1:]:
            signs[self.of_several_labels] = own
            other_orders, other_changes, total = self.nearest(u, signs)
            better = (total > largest)[:, None]
            pairs = zip(other_orders, orders, strict=True)
            orders = [np.asarray(np.where(better, other, order)) for other, order in pairs]
            changes, largest = np.where(better, other_changes, changes), np.maximum(total, largest)
        return orders, changes

    def nearest(self, u: Floats, signs: NDArray[np.bool_]) -> tuple[list[Indices], NDArray[np.bool_], Floats]:
        """The orders and changes of signs that bring u (n, dim) nearest to q, and the sum of products (n,).

        Components of several labels change their signs as `signs` (components,) say, before all others.
        """
        u = (1.0 - 2.0 * (signs @ self.members)) * u
        of_one = self.members[~self.of_several_labels]
        orders = list[Indices]()
        for labels in self.labels:
            products = labels.products(u, self.toward * (1.0 - of_one.sum(axis=0)))
            for member in of_one:
                products += np.abs(labels.products(u, self.toward * member))
            orders.append(labels.nearest(products))
        parts = self.image(u, orders, np.zeros((len(u), len(signs)), dtype=bool)) * self.toward
        products = parts @ self.members.T
        changes = signs | ((products < 0) & ~self.of_several_labels)
        negative = np.where(changes & ~signs, products, 0.0)
        return orders, changes, parts.sum(axis=1) - 2 * negative.sum(axis=1)

    def put_back(self, u: Floats) -> Floats:
        """The images of u (..., dim) that lie where q does."""
        flat = u.reshape(-1, u.shape[-1])
        return self.image(flat, *self.own(flat)).reshape(u.shape)

    def are_own(self, u: Floats) -> NDArray[np.bool_]:
        """Which of u (n, dim) lie where q does."""
        orders, changes = self.own(u)
        same = [(order == np.arange(order.shape[1])).all(axis=1) for order in orders]
        return np.asarray(np.all(same, axis=0) & ~changes.any(axis=1))

    def at_random(self, u: Floats, rng: np.random.Generator) -> Floats:
        """An image of each of u (n, dim), as many of one as of another."""
        n = len(u)
        orders = [labels.at_random(n, rng) for labels in self.labels]
        changes = [rng.permutation(n) % 2 == 1 for _ in self.components]
        return self.image(u, orders, np.array(changes, dtype=bool).reshape(-1, n).T)

    def counted(self, u: Floats, log_p: Floats) -> Floats:
        """Log densities (n,) of the target at u (n, dim), as many times as there are images, or of none."""
        return np.where(self.are_own(u), log_p + self.log_count, -np.inf)


@dataclass(frozen=True)
class OneImage(Forwarding):
    """The target in the image of q, which has all of its mass.

    Slopes are those of the target everywhere: chains go through all images, and are put back.
    """

    target: Target
    images: Images
    views = (Often, AtPoints)

    def log_density(self, u: Floats) -> float:
        return float(self.log_densities(u[None])[0])

    def log_densities(self, us: Floats) -> Floats:
        return self.images.counted(us, self.target.log_densities(us))

    def log_density_gradient(self, u: Floats) -> tuple[float, Floats]:
        value, slope = self.target.log_density_gradient(u)
        return value + self.images.log_count, slope

    def log_density_gradients(self, us: Floats) -> tuple[Floats, Floats]:
        values, slopes = self.target.log_density_gradients(us)
        return values + self.images.log_count, slopes

    def gradients_alone(self, us: Floats) -> Floats:
        return self.target.gradients_alone(us)


def put_back(target: Target, u: Floats) -> Floats:
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
    if half_distance(q, sds, some) >= EXCHANGES.distance:
        own = invariant(target, u, apart(q, sds, components_of(target, u[0], sds, some, IMAGES.slope)))
    labels = tuple(labels_of(target, q, sds, u, own))
    if not own and not labels:
        return None
    images, variances = Images(tuple(own), labels, np.zeros(target.dim)), sds**2
    for axis in (axis for each in labels for axis in each.axes):
        variances[axis.at] = variances[axis.at].mean(axis=0)  # of the same size for all that are exchanged
    some = np.union1d(images.mirrored, images.exchanged)
    images.toward[some] = (q.mean / variances)[some]
    for each in labels:
        images.toward[:] = each.averaged(images.toward[None])[0]
    return images


def near_images(target: Target, q: Gaussian, images: Images | None, rng: np.random.Generator) -> list[Floats]:
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
    if half_distance(q, sds, some) >= EXCHANGES.distance:
        tied = apart(q, sds, components_of(target, u[0], units, some, IMAGES.near_tie))
    alone = flips(target.dim, np.flatnonzero(new & (np.abs(q.mean) >= EXCHANGES.distance * sds)))
    at, *heights = target.log_densities(np.concatenate([q.mean[None], alone * q.mean]))
    alone = alone[np.array(heights) > at - IMAGES.lower]
    each = np.array([*(changed(target, q.mean, component) for component in tied), *alone])
    size = max(1, IMAGES.numbers // (IMAGES.places_between * target.dim))
    return [
        signs
        for k in range(0, len(each), size)
        for signs in each[k : k + size][are_beyond_valleys(target, q.mean, each[k : k + size])]
    ]


def sds_of(q: Gaussian) -> Floats:
    """The standard deviation of each coordinate (dim,)."""
    factor = q.factor
    return np.abs(factor) if factor.ndim == 1 else np.sqrt(np.einsum("ij,ij->i", factor, factor))


def are_beyond_valleys(target: Target, mean: Floats, each: Floats) -> NDArray[np.bool_]:
    """Whether the log density falls and rises again on the ways to images of the mean by signs (images, dim).

    There may be mass; but an image on a slope is no mode, and the way up from there leads to q's own. Where
    the log density is concave at a few places, it does not rise again.
    """
    few, many = (np.linspace(0, 1, places) for places in (IMAGES.places_at_first, IMAGES.places_between))
    on_the_way = heights_on_ways(target, mean, each, few)
    high = on_the_way[:, -1] > on_the_way[:, 0] - IMAGES.lower
    bends = np.nan_to_num(np.diff(on_the_way, 2, axis=1), nan=np.inf)
    beyond: NDArray[np.bool_] = high & (bends > 0).any(axis=1)
    on_the_way = heights_on_ways(target, mean, each[beyond], many)
    ends = np.minimum(on_the_way[:, 0], on_the_way[:, -1])
    beyond[beyond] = np.nan_to_num(on_the_way, nan=-np.inf).min(axis=1) < ends - IMAGES.valley
    return beyond


def heights_on_ways(target: Target, mean: Floats, each: Floats, shares: Floats) -> Floats:
    """Log densities (images, shares) at shares of the ways from the mean to its images by signs."""
    ways = mean + shares[:, None] * (each[:, None] - 1) * mean
    return target.log_densities(np.concatenate(ways)).reshape(ways.shape[:2]) if len(ways) else ways[..., 0]


def flips(dim: int, some: Indices) -> Floats:
    """The signs (some, dim) of images in which that of one coordinate is changed."""
    signs = np.ones((len(some), dim))
    signs[np.arange(len(some)), some] = -1.0
    return signs


def changed(target: Target, mean: Floats, component: Indices) -> Floats:
    """The signs (dim,) of the image by a component, but for entries that are better as they are."""
    signs = flipped(len(mean), [component])
    each = np.tile(signs, (len(component), 1))
    each[np.arange(len(component)), component] = 1.0
    at, *without = target.log_densities(mean * np.concatenate([signs[None], each]))
    signs[component[np.array(without) > at + IMAGES.valley]] = 1.0
    return signs


def apart(q: Gaussian, sds: Floats, components: list[Indices]) -> list[Indices]:
    """Those in which q lies apart from its image."""
    return [each for each in components if half_distance(q, sds, each) >= EXCHANGES.distance]


def with_either_sign(target: Target, u: Floats, units: Floats, most: float) -> Indices:
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


def half_distance(q: Gaussian, sds: Floats, some: Indices) -> float:
    """How far the mean of q lies from zero in some coordinates, in sds: half of the way to its image."""
    return half_way(q, sds, [(some[None], np.ones(1))])


def components_of(target: Target, u: Floats, units: Floats, some: Indices, least: float) -> list[Indices]:
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


def invariant(target: Target, u: Floats, components: list[Indices]) -> list[Indices]:
    """Those whose signs may be changed; what may not is one, if all of it may."""
    at = target.log_densities(u)

    def may(component: Indices) -> bool:
        return equal(target, flipped(target.dim, [component]) * u, at)

    own = [component for component in components if may(component)]
    rest = [component for component in components if not any(component is each for each in own)]
    together = np.sort(np.concatenate(rest)) if len(rest) > 1 else None
    return [*own, together] if together is not None and may(together) else own


def flipped(dim: int, components: list[Indices]) -> Floats:
    """The signs (dim,) of an image in which those of some components are changed."""
    signs = np.ones(dim)
    for component in components:
        signs[component] = -1.0
    return signs
