"""Effects that the data see only as products with their scales, as those of a non-centred hierarchy.

Where the scale is large the data tell the product, and the effect is the narrower, about a mean that moves
with other parameters. Over the products the posterior is that of the centred hierarchy (Papaspiliopoulos,
Roberts and Skold 2007, "A general framework for the parametrization of hierarchical models", Statistical
Science 22), of which a Gaussian given the scale is a good description.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.methods.moves.necks import Driven, Gradients, at_each
from ppl.records import dataclass


class ProductLimits(NamedTuple):
    """Where products are looked for, and what counts as one."""

    places: int = 2
    """Places of the other coordinates, beside all at 0, at which slopes must grow alike."""

    along: float = 0.5
    """How far apart slopes are compared along the log of a scale."""

    power: float = 0.25
    """Powers of a scale are multiples of it: of a variance it may be the half."""

    alike: float = 1e-3
    """How far powers may be apart, or changes as a share of them."""

    step: float = 1e-4
    """The step of differences of gradients."""

    least_change: float = 1e-4
    """The change of a slope, as a share of the largest, from which on it says something."""

    far: float = 15.0
    """How far down, in the log, scales are where the data say nothing of the effects."""


PRODUCTS = ProductLimits()


@dataclass(frozen=True)
class Products:
    """Coordinates in which each of the `effects` (e,) of points u (n, dim) is multiplied by its scale.

    That is exp(powers u), with a row of `powers` (e, s) for it, of the coordinates `scales` (s,); none of
    these is an effect. Priors of the effects are about 0, with `precisions` (e,).
    """

    effects: NDArray[np.intp]
    scales: NDArray[np.intp]
    powers: Floats
    precisions: Floats

    def logs(self, u: Floats) -> Floats:
        """Of the scale of each effect, (n, e)."""
        return np.asarray(u[:, self.scales] @ self.powers.T)

    def driven(self, x: Floats) -> dict[int, list[Driven]]:
        """The effects by each of their scales, at points x (n, dim) in these coordinates, as priors say."""
        here, none = np.log(self.precisions) - 2 * self.logs(x), np.zeros(x.shape[1])
        return {
            int(k): [
                Driven(int(k), int(j), -2 * float(power), own, 0.0, none)
                for j, power in zip(self.scales, powers, strict=True)
                if power
            ]
            for k, powers, own in zip(self.effects, self.powers, here.T, strict=True)
        }

    def straight(self, u: Floats) -> Floats:
        x = u.copy()
        x[:, self.effects] *= np.exp(self.logs(u))
        return x

    def back(self, z: Floats) -> tuple[Floats, Floats, Floats]:
        logs, u = self.logs(z), z.copy()
        inverse = np.exp(-logs)
        u[:, self.effects] *= inverse
        return u, -logs.sum(axis=1), inverse

    def pulled_back(self, slope: Floats, z: Floats, shape: Floats) -> Floats:
        slope, by = slope.copy(), slope[:, self.effects] * shape
        slope[:, self.effects] = by
        slope[:, self.scales] -= (by * z[:, self.effects] + 1) @ self.powers
        return slope


NO_PRODUCTS = Products(np.arange(0), np.arange(0), np.zeros((0, 0)), np.zeros(0))


def products_of(gradients: Gradients, u: Floats, rng: np.random.Generator) -> tuple[Products, int]:
    """Those of a log density with these `gradients`, seen from one of its draws u (dim,), and at how many
    points these were taken.

    With effects of 0 the slope by one, of which a prior about 0 has no part, is the data's by the product
    times the scale: it grows as the power of the scale.
    """
    dim = len(u)
    with np.errstate(all="ignore"):  # anywhere anything may overflow
        powers = powers_along(gradients, np.zeros((1, dim)))
        if not powers.any():
            return NO_PRODUCTS, 3 * dim
        places = rng.uniform(-1, 1, (PRODUCTS.places, dim))
        places[:, powers.any(axis=1)] = 0.0
        powers = powers_along(gradients, places)
        powers[powers.any(axis=0)] = 0.0
        scales = np.flatnonzero(powers.any(axis=0))
        powers[:, scales[~seen_alone(gradients, u, scales, powers[:, scales].T)]] = 0.0
        precisions = precisions_of_priors(gradients, u, powers)
        powers[~(precisions > 0)] = 0.0
    own, by = np.flatnonzero(powers.any(axis=1)), np.flatnonzero(powers.any(axis=0))
    products = Products(own, by, powers[np.ix_(own, by)], precisions[own])
    return products, 3 * (1 + PRODUCTS.places) * dim + 4 * len(scales) + 2


def powers_along(gradients: Gradients, places: Floats) -> Floats:
    """By which power of exp(u_j) the slope by u_k grows from each of the places (n, dim): (dim, dim), a row
    for each k; 0 where it does not, or as no power."""
    dim = places.shape[1]
    steps = PRODUCTS.along * np.array([-1.0, 0.0, 1.0])
    slopes = at_each(gradients, places[:, None, None] + steps[:, None, None] * np.eye(dim))
    powers = np.log(slopes[:, 1:] / slopes[:, :-1]) / PRODUCTS.along
    nearest = np.round(powers[0, 0] / PRODUCTS.power) * PRODUCTS.power
    alike = (np.abs(powers - nearest) < PRODUCTS.alike).all(axis=(0, 1))
    np.fill_diagonal(alike, False)
    return np.where(alike, nearest, 0.0).T


def seen_alone(
    gradients: Gradients, u: Floats, scales: NDArray[np.intp], powers: Floats
) -> NDArray[np.bool_]:
    """Whether the data see the effects of each of the `scales` (s,), by those `powers` (s, dim), as products
    alone: then a change of the log of the scale changes the slope by any other coordinate as a change of the
    logs of its effects does, at u (dim,).
    """
    others = powers == 0
    others[np.arange(len(scales)), scales] = False
    steps = PRODUCTS.step * np.stack([np.eye(len(u))[scales], powers * u])
    changes = np.abs(both := at_each(gradients, u + steps) - at_each(gradients, u - steps))
    telling = others & (changes.min(axis=0) > PRODUCTS.least_change * changes.max(axis=(0, 2))[:, None])
    apart = np.abs(both[0] - both[1]) > PRODUCTS.alike * changes.max(axis=0)
    return np.asarray(telling.any(axis=1) & ~(telling & apart).any(axis=1))


def precisions_of_priors(gradients: Gradients, u: Floats, powers: Floats) -> Floats:
    """The precisions (dim,) of effects at 0 where scales are so small that data say nothing; 1 of others."""
    effects = powers.any(axis=1)
    at = np.where(effects, 0.0, u - PRODUCTS.far * np.sign(powers.sum(axis=0)))
    below, above = at_each(gradients, at + PRODUCTS.step * np.outer([-1.0, 1.0], effects))
    return np.where(effects, (below - above) / (2 * PRODUCTS.step), 1.0)
