"""Coordinates as wide as a scale lets them be, as the mean of effects whose data say much.

Such effects are known, and their mean is then as wide as the scale lets them be apart, up to what its own
prior allows: with few groups, where the scale has a heavy tail, many times as wide as in the middle.
"""

from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.methods.moves.funnels import Funnels
from ppl.methods.moves.straightening import STRAIGHTENING, least_squares, thinned
from ppl.methods.numerics.quantiles import median


class SpreadLimits(NamedTuple):
    """How the width of a mean given a scale is fitted."""

    bins: int = 24
    """Parts of the positions by their scale, of which the variances are fitted."""

    widening: float = 2.0
    """How many times the variance in the quarter where effects are wide is that where they are narrow, at
    least."""

    precisions: tuple[float, ...] = tuple(np.logspace(-3, 6, 28).tolist())
    """What is tried, in units of one over the variance."""


SPREADS = SpreadLimits()


class Widths(NamedTuple):
    """The `variances` (bins,) of a coordinate where the precision of effects has the `logs` (bins,), from low
    to high, and the coefficients of 1 and what drives them in its mean."""

    logs: Floats
    variances: Floats
    mean: Floats

    @property
    def widening(self) -> float:
        """How many times its variance where effects are narrow that is where they are wide."""
        ends = SPREADS.bins // 4
        return float(self.variances[:ends].mean() / self.variances[-ends:].mean())


class Spread(NamedTuple):
    """The precision own + 1 / (exp(-(index + offset)) + least) of a coordinate.

    It is `gain` nats a position more likely than a constant.
    """

    offset: float
    own: float
    least: float
    gain: float


def spreads(x: Floats, funnels: Funnels) -> Funnels | None:
    """Fitted to positions x (n, dim) in coordinates in which effects are straight, `funnels`, for what their
    means depend on; None where that is as wide everywhere."""
    columns = funnels.standard(thinned(x)).T
    depends = (funnels.narrow[:, 1:] != 0) | (funnels.wide[:, 1 : 1 + len(columns)] != 0)
    drives, rows = funnels.slopes != 0, list[tuple[int, int, float, Floats, Spread]]()
    for k in np.flatnonzero(~drives.any(axis=0)).tolist():
        effects = drives & depends[:, [k]]
        slopes = {d: median(funnels.slopes[own, d]) for d, own in enumerate(effects.T) if own.any()}
        each = {d: widths(columns[k], columns[d], slope) for d, slope in slopes.items()}
        d = max(each, key=lambda d: each[d].widening, default=k)
        if d in each and each[d].widening > SPREADS.widening:
            spread = fitted(each[d])
            if spread.gain > STRAIGHTENING.gain:
                rows.append((k, d, slopes[d], each[d].mean, spread))
    if not rows:
        return None
    means, by, along, coefficients, fits = zip(*rows, strict=True)
    used, place = np.unique(by, return_inverse=True)
    own_rows, zeros = np.arange(len(rows)), np.zeros((len(rows), len(used)))
    slopes_by, linear = zeros.copy(), zeros.copy()
    slopes_by[own_rows, place] = along
    constants, linear[own_rows, place] = np.transpose(coefficients)
    narrow = np.column_stack([constants, linear])
    offsets, own, least, _ = np.transpose(fits)
    shape = (funnels.by[list(means)], funnels.by[used], slopes_by, offsets, own)
    return Funnels(funnels.centre, funnels.sds, *shape, narrow, np.hstack([narrow, zeros]), least)


def widths(y: Floats, v: Floats, slope: float) -> Widths:
    """Those of y (n,) by v (n,), with which the log of the precision of effects grows by that slope."""
    design = np.column_stack([np.ones(len(v)), v])
    mean = least_squares(design, y, np.ones(len(v)))
    squares, index = (y - design @ mean) ** 2, slope * v
    bins = np.array_split(np.argsort(index), SPREADS.bins)
    logs, variances = np.array([(index[each].mean(), squares[each].mean()) for each in bins]).T
    return Widths(logs, variances, mean)


def fitted(of: Widths) -> Spread:
    """By most likelihood."""
    tried = np.array(SPREADS.precisions)
    factors, own, least = np.meshgrid(tried, [0.0, *tried], [0.0, *1 / tried], indexing="ij")
    variances, widest = of.variances[:, None, None, None], np.exp(-of.logs)[:, None, None, None]
    precisions = own + 1 / (widest / factors + least)
    log_p = 0.5 * (np.log(precisions) - precisions * variances).mean(axis=0)
    best = np.unravel_index(int(log_p.argmax()), log_p.shape)
    gain = log_p[best] + 0.5 * (np.log(variances.mean()) + 1)
    return Spread(*(float(each) for each in (np.log(factors[best]), own[best], least[best], gain)))
