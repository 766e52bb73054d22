"""Diagnostics after a fit: is it close enough to the target, and had it finished rising?"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.parts import by_columns
from ppl.methods.diagnose.psis import fit_pareto, psis
from ppl.records import dataclass

if TYPE_CHECKING:
    from ppl.kernel.advi.optimise import TracePoint


FEWEST_TRACE_POINTS = 6
"""Points of an ELBO trace that a line is fitted to."""
CLEAR_GAIN_ERRORS = 3.0
"""Standard errors of a gain in the ELBO that are no noise."""
FEWEST_TAIL_DRAWS = 25
"""Draws in a tail from which its shape is estimated."""
TAIL_SHARES = (0.1, 0.04)
"""The draws that are in it, as shares of all, and those further out."""
LIGHT_TAIL = 0.15
"""The shape of these below which draws have an sd whatever the shape of all seems to be."""
TINY = 1e-300
"""Variances below which there is none."""


@dataclass(frozen=True)
class Trend:
    """The gain of the ELBO over the second half of its trace, in nats, and its standard error."""

    gain: float
    se: float

    @property
    def rising(self) -> bool:
        """Whether the gain is clear of its noise; False where the trace is too short to tell."""
        return self.gain > CLEAR_GAIN_ERRORS * self.se


def trend(trace: Sequence["TracePoint"]) -> Trend:
    """Fit a line to the second half of an ELBO trace, at least six points, else nan.

    Both numbers are in nats: neither a constant added to the log density nor other units change them.
    """
    late = trace[len(trace) // 2 :]
    if len(late) < FEWEST_TRACE_POINTS:
        return Trend(math.nan, math.nan)
    time = np.linspace(-0.5, 0.5, len(late))
    elbo = np.array([point.elbo for point in late])
    slope = float(time @ elbo / (time @ time))
    residual = elbo - elbo.mean() - slope * time
    se = math.sqrt(float(residual @ residual) / (len(late) - 2) / float(time @ time))
    return Trend(slope, se)


def khat_of_means(log_ratios: Floats, values: Floats) -> Floats:
    """k-hat (columns,) of the importance-sampled mean of each column of `values` (n, columns).

    A mean needs the tail of |value - mean| * ratio beside that of the ratio itself; the worse of the two
    counts (Vehtari et al. 2024).
    """
    overall = psis(log_ratios).khat

    def of_columns(some: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            log_off = np.log(np.abs(some - some.mean(axis=0)))
        return np.array([max(overall, _khat(log_ratios + column)) for column in log_off.T])

    return by_columns(of_columns, values)


def _khat(log_ratios: Floats) -> float:
    """A column that never varies has ratios of zero, and so no tail."""
    return psis(log_ratios).khat if np.isfinite(log_ratios).any() else -math.inf


def tail_shapes(u: Floats) -> Floats:
    """The shape (dim,) of the heavier tail of each coordinate of draws (n, dim): 0 for a Gaussian's, 1 for
    Cauchy's.

    The generalised Pareto distribution is fitted to the outermost tenth of the draws on either side, for no
    draws of ours go far into a tail like a power's; and to the outermost 4%, which may be those of a wide
    Gaussian beside a narrow one alone. Where there are too few draws it is 0.
    """
    wide, narrow = (int(len(u) * share) for share in TAIL_SHARES)

    def shape(ordered: Floats) -> float:
        """Of the right tail of values in order."""
        tenth, end = (of_tail(ordered, size) for size in (wide, narrow))
        return end if end < min(LIGHT_TAIL, tenth) else tenth

    columns = np.sort(u, axis=0).T
    return np.nan_to_num([np.fmax(shape(column), shape(-column[::-1])) for column in columns])


def of_tail(ordered: Floats, size: int) -> float:
    """The shape of so many of the largest values; nan where they are too few, or partly the same."""
    if size < FEWEST_TAIL_DRAWS:
        return math.nan
    beyond = ordered[-size:] - ordered[-size - 1]
    return fit_pareto(beyond)[0] if beyond[0] > 0 else math.nan


def sd_errors(x: Floats) -> Floats:
    """The standard errors of the sds of columns of x (moves, chains, columns), as shares of these.

    Chains are independent: how far their mean squares differ is the error of all of them together.
    """
    squares = ((x - x.mean(axis=(0, 1))) ** 2).mean(axis=0)
    error = squares.std(axis=0, ddof=1) / np.sqrt(len(squares))
    return np.asarray(error / (2 * np.maximum(squares.mean(axis=0), TINY)))
