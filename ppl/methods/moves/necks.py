"""The necks of funnels, seen in the curvature of a log density where few draws or none are.

The effects of a hierarchy have the precision of their prior beside that of their data, P + exp(q v + e) with
the log v of its scale. So far out along v the first is nothing, and second derivatives tell q and e, however
seldom chains are there; a Newton step tells the mean.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.methods.numerics.index_sets import all_but
from ppl.methods.numerics.quantiles import median, quantiles
from ppl.records import dataclass


class NeckLimits(NamedTuple):
    """What counts as a neck, and where it is looked for."""

    positions: int = 4
    """Positions from which it is looked for; at all of them it must be the same."""

    first_positions: int = 2
    """Those from which likely drivers are."""

    far: float = 4.0
    """How far along a driver precisions are compared, in its sds, on either side."""

    difference: float = 1e-4
    """The step of differences of gradients, in sds."""

    growth: float = 2.0
    """How many times as precise a driven coordinate must be there."""

    total: float = 1.0
    """The sum of the logs of such growths along a driver, at least."""

    most_drivers: int = 16
    """Drivers that are looked at."""

    alike: float = 0.1
    """How far slopes from two positions may be apart, as a share of them."""

    features: int = 4
    """Coordinates that the mean of one depends on there, at most."""

    least_feature: float = 0.5
    """How many of its sds there one of them moves it, at least."""

    batch: int = 128
    """Points whose gradients are evaluated at once."""


NECKS = NeckLimits()


@dataclass(frozen=True)
class Necks:
    """Coordinates `driven` (driven,) of the precisions exp(slopes u + offsets) far out along their drivers.

    Their means there are constants + features u; `slopes` and `features` are (driven, dim), the others
    (driven,).
    """

    driven: NDArray[np.intp]
    slopes: Floats
    offsets: Floats
    constants: Floats
    features: Floats


class Driven(NamedTuple):
    """One of `Necks`, by one driver; `here` (n,) are the logs of its precision by it where that was
    looked for."""

    coordinate: int
    driver: int
    slope: float
    here: Floats
    constant: float
    features: Floats


Gradients = Callable[[Floats], Floats]


def cost_of_necks(dim: int) -> int:
    """The gradients that `necks_of` takes at least."""
    return 9 * NECKS.first_positions * dim


def necks_of(
    gradients: Gradients,
    u: Floats,
    rng: np.random.Generator,
    most: float = inf,
    known: Callable[[Floats], dict[int, list[Driven]]] = lambda u: {},
) -> tuple[Necks | None, int]:
    """Those of a log density with these `gradients`, seen from some of its draws u (n, dim), and at how many
    points these were taken, about `most` at most; None of none. Some may be `known` at some of the draws.
    """
    spent = 0

    def counted(u: Floats) -> Floats:
        nonlocal spent
        spent += len(u)
        return gradients(u)

    sds, some = u.std(axis=0), u[rng.choice(len(u), min(NECKS.positions, len(u)), replace=False)]
    by = known(some)
    free = {one.driver for each in by.values() for one in each}
    with np.errstate(all="ignore"):  # far out anything may overflow
        for j, direction in likely_drivers(counted, some[: NECKS.first_positions], sds, rng):
            if j not in by and spent < most:
                for one in beside(by, free, driven_by(counted, some, sds, j, direction)):
                    by.setdefault(one.coordinate, []).append(one)
                    free |= {j, *np.flatnonzero(one.features).tolist()}
        return (joined(by, some) if by else None), spent


def beside(by: Mapping[int, list[Driven]], free: Set[int], each: Sequence[Driven]) -> list[Driven]:
    """Those of `each`, by one driver, that can be driven beside what others drive, which has more growth:
    none is `free`, as drivers and means are, and no mean depends on what is driven.

    What most others depend on, as the mean of a hierarchy's effects, is not driven.
    """
    driven = {one.coordinate: one for one in each if one.coordinate not in free}
    for i, one in list(driven.items()):
        if one.features[list(by)].any():
            del driven[i]
    while driven:
        counts = {i: sum(one.features[i] != 0 for one in driven.values()) for i in driven}
        most = max(counts, key=lambda i: counts[i])
        if not counts[most]:
            break
        del driven[most]
    return list(driven.values())


def joined(by: dict[int, list[Driven]], u: Floats) -> Necks:
    """The same part of a precision, if driven by several, is a product."""
    rows, dim = list[tuple[int, Floats, float, float, Floats]](), u.shape[1]
    for i, each in sorted(by.items()):
        first, slopes = each[0], np.zeros(dim)
        for one in each:
            if np.abs(one.here - first.here).max() < NECKS.alike:
                slopes[one.driver] = one.slope
        offset = median(first.here - u @ slopes)
        rows.append((i, slopes, offset, first.constant, first.features))
    return Necks(*map(np.array, zip(*rows, strict=True)))


def likely_drivers(
    gradients: Gradients, u: Floats, sds: Floats, rng: np.random.Generator
) -> list[tuple[int, float]]:
    """Coordinates along which others become narrow, from most to least, and in which direction.

    The sum of the growths of diagonal second derivatives, by one random direction (Bekas, Kokiopoulou and
    Saad 2007, "An estimator for the diagonal of a matrix", Applied Numerical Mathematics 57), and the same
    with the other sign of the driver, whose own derivatives cancel. What grows on both sides is no neck.
    """
    n, dim = u.shape
    signs, total, own = rng.choice([-1.0, 1.0], (n, dim)), np.zeros((2, dim)), np.arange(dim)
    at = np.repeat(np.repeat(u[None], dim, axis=0)[None], 3, axis=0)
    at[1:, own, :, own] += NECKS.far * (sds * np.array([[-1.0], [1.0]])).T[..., None]
    slopes = at_each(gradients, at)
    for sign in (1.0, -1.0):
        flipped = np.repeat(signs[None], dim, axis=0)
        flipped[own, :, own] *= sign
        change = at_each(gradients, at + NECKS.difference * sds * flipped) - slopes
        precisions = -change * flipped * sds / NECKS.difference
        growth = middle(np.moveaxis(precisions[1:] - precisions[0], 2, 0))
        growth[:, own, own] = 0.0
        growth = np.maximum(np.nan_to_num(growth, posinf=0.0), 0.0)
        total += np.log1p(np.where(growth[::-1] < NECKS.alike * growth, growth, 0.0)).sum(axis=2) / 2
    order = np.argsort(-total.max(axis=0), kind="stable")[: NECKS.most_drivers]
    return [(int(j), float(2 * total[:, j].argmax() - 1)) for j in order if total[:, j].max() > NECKS.total]


def at_each(gradients: Gradients, u: Floats) -> Floats:
    """The gradients at u (..., dim), in batches."""
    flat = u.reshape(-1, u.shape[-1])
    parts = (flat[k : k + NECKS.batch] for k in range(0, len(flat), NECKS.batch))
    return np.concatenate([np.empty((0, u.shape[-1])), *map(gradients, parts)]).reshape(u.shape)


def driven_by(gradients: Gradients, u: Floats, sds: Floats, j: int, direction: float) -> list[Driven]:
    """Coordinates whose precision along coordinate j is a constant and an exponential.

    What does not change along j, as what the data say, is gone from differences between three places there. A
    precision that grows as a power, as that of a scale does with residuals, grows on both sides.
    """
    moved = np.zeros((3, len(u), u.shape[1]))
    moved[..., j] = direction * NECKS.far * sds[j] * np.array([[-1.0], [0.0], [1.0]])
    at = u + moved
    slopes, hessians = hessian_at(gradients, at, sds)
    precisions = np.diagonal(hessians, axis1=2, axis2=3)
    grown = np.diff(precisions, axis=0)
    rate = np.log(grown[1] / grown[0])
    here = np.log(grown[1] / (np.exp(rate) - 1))
    enough = middle(precisions[2]) > NECKS.growth * middle(np.abs(precisions[1]))
    alike = np.ptp(rate, axis=0) < NECKS.alike * middle(rate)
    some = enough & alike & np.isfinite(here).all(axis=0)
    means = u + np.diff(slopes, axis=0)[1] / grown[1]
    rows = np.diff(hessians, axis=0)[1] / grown[1][..., None]
    each = [
        driven_from(i, j, moved[:, :1, j], rate[:, i], here[:, i], u, sds, means[:, i], rows[:, i])
        for i in np.flatnonzero(some).tolist()
        if i != j
    ]
    return [one for one in each if one]


def driven_from(
    i: int,
    j: int,
    places: Floats,
    rate: Floats,
    here: Floats,
    u: Floats,
    sds: Floats,
    means: Floats,
    rows: Floats,
) -> Driven | None:
    """Coordinate i, with the log precision `here` (n,) at positions u (n, dim) of sds (dim,) that grows by
    `rate` (n,) from each of three `places` (3, 1) along coordinate j to the next, and the means (n,) and rows
    (n, dim) of the Hessian that differences tell.

    None where the positions do not agree about its mean far out.
    """
    slope = median(rate) / float(places[2, 0])
    roots = np.exp(0.5 * (here + slope * places))
    features = -middle(rows)
    features[[i, j]] = 0.0
    moved_by = np.abs(features) * sds * median(roots[2])
    most = np.argsort(-moved_by, kind="stable")[: NECKS.features]
    features[all_but(len(features), most[moved_by[most] > NECKS.least_feature])] = 0.0
    constants = means - u @ features
    constant = median(constants)
    if not median(np.abs(constants - constant)) < median(1 / roots[2]):
        return None
    return Driven(i, j, slope, here, constant, features)


def hessian_at(gradients: Gradients, u: Floats, sds: Floats) -> tuple[Floats, Floats]:
    """The gradients at u (..., dim) and minus the Hessians (..., dim, dim)."""
    step = NECKS.difference * sds
    slopes = at_each(gradients, u)
    beside = at_each(gradients, u[..., None, :] + np.diag(step))
    hessians = (slopes[..., None, :] - beside) / step[:, None]
    return slopes, 0.5 * (hessians + np.swapaxes(hessians, -1, -2))


def middle(x: Floats) -> Floats:
    """The median over the first axis."""
    return np.asarray(quantiles(x, [0.5])[0])
