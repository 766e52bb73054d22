"""Images of a posterior: changes of sign and exchanges of parameters that its density does not depend on.

The discriminations and abilities of an item response model may all change their signs together, the factors
of a factor analysis their order, too. A q is about one image, and what is said of that holds for all: draws
are put into it, where the density counts once for each, and in the end into images at random.
"""

from collections.abc import Iterator
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.numerics.gaussian import Gaussian
from ppl.kernel.advi.numerics.triangular import dense
from ppl.kernel.advi.target import Array, Forwarding, Target
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

    most: int = 512
    """Images, at most: some changes of sign are left out where there are more."""

    most_exchanged: int = 4
    """Components that may be exchanged, at most."""


IMAGES = ImageLimits()


@dataclass(frozen=True)
class Images:
    """The images of points u (..., dim): signs[g] * u[..., order[g]], the first of which is u itself.

    `components` are the coordinates that change their signs together. An image is told from the others by
    its product with `toward` (dim,), which is the largest.
    """

    components: tuple[Indices, ...]
    order: Indices
    signs: Array
    toward: Array

    @property
    def count(self) -> int:
        return len(self.order)

    @property
    def log_count(self) -> float:
        return float(np.log(self.count))

    @property
    def mirrored(self) -> Indices:
        """All coordinates that have images."""
        return np.sort(np.concatenate(self.components))

    def nearest(self, u: Array) -> Indices:
        """The number (n,) of the image of u (n, dim) that lies where q does."""
        directions = np.zeros((len(self.toward), self.count))
        for g in range(self.count):
            directions[self.order[g], g] = self.toward * self.signs[g]
        return np.asarray((u @ directions).argmax(axis=1))

    def at(self, u: Array, which: Indices) -> Array:
        """Those images (n,) of u (n, dim)."""
        return np.asarray(self.signs[which] * np.take_along_axis(u, self.order[which], axis=1))

    def put_back(self, u: Array) -> Array:
        """The images of u (..., dim) that lie where q does."""
        flat = u.reshape(-1, u.shape[-1])
        which = self.nearest(flat)
        return self.at(flat, which).reshape(u.shape) if which.any() else u

    def at_random(self, u: Array, rng: np.random.Generator) -> Array:
        """An image of each of u (n, dim), as many of one as of another."""
        return self.at(u, rng.permutation(len(u)) % self.count)

    def counted(self, u: Array, log_p: Array) -> Array:
        """Log densities (n,) of the target at u (n, dim), as many times as there are images, or of none."""
        return np.where(self.nearest(u) == 0, log_p + self.log_count, -np.inf)


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
    sds = np.sqrt((dense(q.factor) ** 2).sum(axis=1))
    some = np.flatnonzero(with_either_sign(target, u, sds))
    if half_distance(q, sds, some) < IMAGES.distance:
        return None
    own = [c for c in components_of(target, u[0], sds, some) if half_distance(q, sds, c) >= IMAGES.distance]
    own = invariant(target, u, own)
    own = sorted(own, key=lambda c: -half_distance(q, sds, c))[: int(np.log2(IMAGES.most))]
    if not own:
        return None
    order, signs = zip(*all_images(target, u, own), strict=True)
    toward = np.zeros(target.dim)
    toward[np.concatenate(own)] = (q.mean / sds**2)[np.concatenate(own)]
    return Images(tuple(own), np.array(order), np.array(signs), toward)


def with_either_sign(target: Target, u: Array, sds: Array) -> NDArray[np.bool_]:
    """Coordinates (dim,) along which there is no slope where all of them are zero, wherever the others are.

    A density that a change of their signs leaves as it is has none; so a coordinate with a slope is struck
    out, and is then where it is in u (n, dim).
    """
    some = np.ones(target.dim, dtype=bool)
    for _ in range(IMAGES.rounds):
        slopes = target.gradients_alone(np.where(some, 0.0, u))
        flat = np.asarray((np.abs(slopes) * sds <= IMAGES.slope).all(axis=0))
        if not some.any() or flat[some].all():
            return some
        some &= flat
    return np.zeros_like(some)


def half_distance(q: Gaussian, sds: Array, some: Indices) -> float:
    """How far the mean of q lies from zero in some coordinates, in sds: half of the way to its image."""
    mean = q.mean[some]
    if q.factor.ndim == 1:
        return float(np.sqrt(((mean / sds[some]) ** 2).sum()))
    rows = q.factor[some]
    return float(np.linalg.norm(np.linalg.lstsq(rows, mean, rcond=None)[0]))


def components_of(target: Target, u: Array, sds: Array, some: Indices) -> list[Indices]:
    """Those coordinates in sets that change their signs together.

    Only in its own set does a coordinate that is not zero give another, which is, a slope.
    """
    centre = u.copy()
    centre[some] = 0.0
    points = np.tile(centre, (len(some), 1))
    points[np.arange(len(some)), some] = sds[some]
    tied = np.abs(target.gradients_alone(points)[:, some]) * sds[some] > IMAGES.slope
    tied, left, found = tied | tied.T, set(range(len(some))), list[Indices]()
    while left:
        own, new = set[int](), {min(left)}
        while new:
            own |= new
            new = set(np.flatnonzero(tied[sorted(new)].any(axis=0)).tolist()) - own
        left -= own
        found.append(some[sorted(own)])
    return found


def invariant(target: Target, u: Array, components: list[Indices]) -> list[Indices]:
    """Those whose signs may be changed; what may not is one, if all of it may."""
    at, order = target.log_densities(u), np.arange(target.dim)

    def may(component: Indices) -> bool:
        return equal(target, u, at, order, flipped(target.dim, [component]))

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


def equal(target: Target, u: Array, at: Array, order: Indices, signs: Array) -> bool:
    """Whether the images of u (n, dim) have the same log densities (n,)."""
    there = target.log_densities(signs * u[:, order])
    return bool((np.abs(there - at) <= IMAGES.rounding * (1 + np.abs(at))).all())


def all_images(target: Target, u: Array, components: list[Indices]) -> Iterator[tuple[Indices, Array]]:
    """Order and signs (dim,) of each: every change of signs, of every exchange of components."""
    dim, at = target.dim, target.log_densities(u)
    many = len(components) > IMAGES.most_exchanged
    places = [list(range(len(components)))] if many else map(list, permutations(range(len(components))))
    orders = list[Indices]()
    for place in places:
        order = np.arange(dim)
        if any(len(components[k]) != len(components[j]) for k, j in enumerate(place)):
            continue
        for k, j in enumerate(place):
            order[components[k]] = components[j]
        if equal(target, u, at, order, np.ones(dim)):
            orders.append(order)
    for order in orders:
        for changes in product([False, True], repeat=len(components)):
            changed = [component for component, change in zip(components, changes, strict=True) if change]
            yield order, flipped(dim, changed)
