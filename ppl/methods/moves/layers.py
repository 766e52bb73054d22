"""Coordinates of coordinates, in which funnels are straight: what chains look for as they move."""

from typing import Any

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.methods.moves.funnels import Coordinates, InFunnels
from ppl.methods.moves.necks import Necks, necks_of
from ppl.methods.moves.products import Products, products_of
from ppl.methods.moves.spreads import spreads
from ppl.methods.moves.straightening import straightened
from ppl.records import dataclass


@dataclass(frozen=True)
class Layers:
    """Coordinates of coordinates, each `of` them in those before."""

    of: tuple[Coordinates, ...]

    def straight(self, u: Floats) -> Floats:
        for each in self.of:
            u = each.straight(u)
        return u

    def back(self, z: Floats) -> tuple[Floats, Floats, list[tuple[Floats, Any]]]:
        change, shapes = np.zeros(len(z)), list[tuple[Floats, Any]]()
        for each in reversed(self.of):
            at = z
            z, own, shape = each.back(at)
            change += own
            shapes.append((at, shape))
        return z, change, shapes

    def pulled_back(self, slope: Floats, z: Floats, shape: list[tuple[Floats, Any]]) -> Floats:
        for each, (at, own) in zip(self.of, reversed(shape), strict=True):
            slope = each.pulled_back(slope, at, own)
        return slope


def seen_necks(
    target: Target, u: Floats, rng: np.random.Generator, most: float
) -> tuple[Products, Necks | None, int]:
    """The products of a density and, in their coordinates, its necks, seen from some of its draws u (n, dim),
    and how many gradients that took, about `most` at most."""
    products, first = products_of(target.gradients_alone, u[-1], rng)
    inside = InFunnels(target, products).gradients_alone
    necks, spent = necks_of(inside, products.straight(u), rng, most, products.driven)
    return products, necks, first + spent


def fitted_layers(u: Floats, products: Products | None, necks: Necks | None) -> Layers | None:
    """Those fitted to positions u (moves, chains, dim), of products, of what is driven or bends and of means.

    None where nothing is driven or bends.
    """
    first = (products,) if products and len(products.effects) else ()
    x = Layers(first).straight(u.reshape(-1, u.shape[-1]))
    funnels = straightened(x.reshape(u.shape), necks)
    if funnels is None:
        return None
    means = spreads(funnels.straight(x), funnels)
    return Layers((*first, funnels, means) if means else (*first, funnels))
