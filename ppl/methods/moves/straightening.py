"""Coordinates of funnels and bananas, fitted to where chains are.

Far out along their drivers what is driven is known by curvature; how much its data say there, and how means
bend with other coordinates, the positions tell.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.methods.moves.funnels import STEEPEST, Funnels
from ppl.methods.moves.necks import Necks
from ppl.methods.numerics.index_sets import all_but


class StraighteningLimits(NamedTuple):
    """How funnels are fitted, and which bends count."""

    most_dimensions: int = 200
    """Dimensions in which funnels are looked for."""

    gain: float = 0.02
    """The nats a position by which a bent mean must describe those of other chains better than a straight
    one."""

    sure: float = 3.0
    """The standard errors of that gain that are taken from it."""

    errors: float = 5.0
    """The standard errors by which what is left of a coordinate given all others must correlate with the
    square of another for its mean to bend with it."""

    bent_by: int = 3
    """Coordinates that one mean bends with, at most."""

    features: int = 4
    """Coordinates beside them that it may depend on, at most."""

    fewest_positions: int = 500
    """Positions that a fit is of, at least."""

    positions: int = 2048
    """Positions that a fit is of, at most."""

    logs_of_own: tuple[float, ...] = (-6.0, -4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 6.0)
    """Logs of the precisions by their data that are tried, in units of one over the variance."""


STRAIGHTENING = StraighteningLimits()


class Row(NamedTuple):
    """One driven coordinate of `Funnels`, with a column for each coordinate."""

    driven: int
    slopes: Floats
    offset: float
    own: float
    narrow: Floats
    wide: Floats


def straightened(u: Floats, necks: Necks | None) -> Funnels | None:
    """Fitted to positions u (moves, chains, dim), with these necks; None where nothing is bent, either.

    Bends are fitted to those of every other chain, and judged by the others.
    """
    dim = u.shape[-1]
    flat = u.reshape(-1, dim)
    centre, sds = flat.mean(axis=0), flat.std(axis=0)
    if dim < 2 or not (np.isfinite(sds).all() and (sds > 0).all()):
        return None
    x = (u - centre) / sds
    rows = list[Row]()
    if necks:
        some = thinned(x.reshape(-1, dim))
        free = all_but(dim, necks.driven)
        rows += [in_neck(some, free, *each) for each in scaled_rows(necks, centre, sds)]
    drivers = {int(k) for row in rows for k in np.flatnonzero(columns_of(row))}
    own, others = (thinned(x[:, k::2].reshape(-1, dim)) for k in range(2))
    rows += bends(own, others, {row.driven for row in rows}, drivers)
    if not rows:
        return None
    driven, slopes, offsets, own, narrow, wide = map(np.array, zip(*rows, strict=True))
    by = np.flatnonzero(np.any([columns_of(row) for row in rows], axis=0))
    narrow, wide = narrow[:, [0, *(1 + by)]], wide[:, [0, *(1 + by), *(1 + dim + by)]]
    return Funnels(centre, sds, driven, by, slopes[:, by], offsets, own, narrow, wide, np.zeros(len(driven)))


def columns_of(row: Row) -> NDArray[np.bool_]:
    """The coordinates (dim,) that a driven one depends on."""
    dim = len(row.slopes)
    by = np.stack([row.slopes, row.narrow[1:], row.wide[1 : 1 + dim], row.wide[1 + dim :]])
    return np.asarray((by != 0).any(axis=0))


def scaled_rows(necks: Necks, centre: Floats, sds: Floats) -> list[tuple[int, Floats, float, Floats]]:
    """Of each of the necks: the driven coordinate of points x = (u - centre) / sds, slopes, offset and the
    coefficients of its mean in the neck, as in `Funnels`."""
    rows = []
    for k, i in enumerate(necks.driven.tolist()):
        slopes, features = necks.slopes[k], necks.features[k]
        offset = float(necks.offsets[k] + slopes @ centre + 2 * np.log(sds[i]))
        constant = necks.constants[k] + features @ centre - centre[i]
        narrow = np.concatenate([[constant], features * sds]) / sds[i]
        rows.append((i, slopes * sds, offset, narrow))
    return rows


def thinned(x: Floats) -> Floats:
    return x[:: -(-len(x) // STRAIGHTENING.positions)]


def in_neck(x: Floats, free: NDArray[np.intp], i: int, slopes: Floats, offset: float, narrow: Floats) -> Row:
    """Coordinate i of x (n, dim) of that prior precision and mean: what its data say, by most likelihood.

    Where these say all, its mean depends on those of the `free` coordinates that are most correlated with it.
    """
    dim, drivers = x.shape[1], np.flatnonzero(slopes)
    index = np.clip(x @ slopes + offset, -STEEPEST, STEEPEST)
    prior = np.exp(index)
    mean = narrow[0] + x @ narrow[1:]
    rest = free[slopes[free] == 0]
    wide_end = np.argsort(index)[: max(len(x) // 10, 2)]
    correlated = np.maximum(correlations(x, i), correlations(x[wide_end], i))[rest]
    features = rest[np.argsort(-correlated, kind="stable")[: STRAIGHTENING.features]]
    v = x[:, drivers]
    design = np.concatenate([np.ones((len(x), 1)), x[:, features], v, v**2], axis=1)
    best, most = (0.0, np.zeros(design.shape[1])), -np.inf
    for log_own in STRAIGHTENING.logs_of_own:
        own = float(np.exp(log_own))
        precision = own + prior
        share = prior / precision
        weighted, off = design * (1 - share)[:, None], x[:, i] - share * mean
        coefficients = least_squares(weighted, off, precision)
        left = off - weighted @ coefficients
        value = float((np.log(precision) - precision * left**2).mean())
        if value > most:
            most, best = value, (own, coefficients)
    wide = np.zeros(1 + 2 * dim)
    wide[[0, *(1 + features), *(1 + drivers), *(1 + dim + drivers)]] = best[1]
    return Row(i, slopes, offset, best[0], narrow, wide)


def correlations(x: Floats, i: int) -> Floats:
    """The sizes of those of coordinate i of x (n, dim) with all; 0 with one that is constant."""
    off = x - x.mean(axis=0)
    sizes = np.sqrt((off**2).sum(axis=0))
    return np.asarray(np.abs(off.T @ off[:, i]) / np.maximum(sizes * sizes[i], 1e-300))


def bends(x: Floats, judged: Floats, driven: set[int], drivers: set[int]) -> list[Row]:
    """Of coordinates that are not driven yet, those whose mean bends with others, most first.

    None of those that others bend with, or that drive any, bends itself.
    """
    left = residuals(x)
    squares = x**2 - 1
    sizes = np.abs(left.T @ squares) / np.maximum(np.sqrt((left**2).T @ squares**2), 1e-300)
    np.fill_diagonal(sizes, 0.0)
    rows, still, bending = list[Row](), set(drivers), set(driven)
    for i in np.argsort(-sizes.max(axis=1), kind="stable").tolist():
        if i in still or i in bending:
            continue
        free = [k for k in range(x.shape[1]) if k != i and k not in bending]
        by = [k for k in sorted(free, key=lambda k: -sizes[i, k]) if sizes[i, k] > STRAIGHTENING.errors]
        row = bent(x, judged, i, by[: STRAIGHTENING.bent_by], free) if by else None
        if row:
            rows.append(row)
            bending.add(i)
            still |= set(np.flatnonzero(columns_of(row)).tolist())
    return rows


def residuals(x: Floats) -> Floats:
    """What is left of each coordinate of x (n, dim) given all others, in sds."""
    n, dim = x.shape
    shrink = dim / (dim + n)
    precision = np.linalg.inv((1 - shrink) * np.cov(x.T) + shrink * np.eye(dim))
    return np.asarray((x - x.mean(axis=0)) @ precision / np.sqrt(np.diag(precision)))


def bent(x: Floats, judged: Floats, i: int, by: Sequence[int], free: Sequence[int]) -> Row | None:
    """Coordinate i whose mean is quadratic in those it bends `by`, if other positions gain by it."""
    correlated = np.abs(x.T @ x[:, i])
    rest = [k for k in free if k not in by]
    features = sorted(rest, key=lambda k: -correlated[k])[: STRAIGHTENING.features]
    linear, dim = [*features, *by], x.shape[1]

    def designs(x: Floats) -> tuple[Floats, Floats]:
        straight = np.concatenate([np.ones((len(x), 1)), x[:, linear]], axis=1)
        return straight, np.concatenate([straight, x[:, by] ** 2], axis=1)

    fits = [least_squares(design, x[:, i], np.ones(len(x))) for design in designs(x)]
    log_p = list[Floats]()
    for design, other, fit in zip(designs(x), designs(judged), fits, strict=True):
        variance = float(((x[:, i] - design @ fit) ** 2).mean())
        log_p.append(-0.5 * ((judged[:, i] - other @ fit) ** 2 / variance + np.log(variance)))
    gains = log_p[1] - log_p[0]
    if gains.mean() - STRAIGHTENING.sure * gains.std() / np.sqrt(len(gains)) < STRAIGHTENING.gain:
        return None
    wide = np.zeros(1 + 2 * dim)
    wide[[0, *(1 + k for k in linear), *(1 + dim + k for k in by)]] = fits[1]
    return Row(i, np.zeros(dim), -STEEPEST, 1 / variance, np.zeros(1 + dim), wide)


def least_squares(design: Floats, y: Floats, weights: Floats) -> Floats:
    weighted = design * weights[:, None]
    square = weighted.T @ design
    square.flat[:: len(square) + 1] += 1e-6 * square.trace() / len(square)
    return np.asarray(np.linalg.solve(square, weighted.T @ y))
