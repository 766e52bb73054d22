"""Integrals over an interval, finite or not, by double-exponential rules.

Takahasi and Mori (1974): x = x(s) with x'(s) falling doubly exponentially at both ends, and the trapezoidal
rule in s, halved until two answers agree.  The integrand gets x and its distance to the nearer end (low - x
or high - x; nan when an end is infinite), which stays exact where x itself is rounded to that end.
"""

from typing import Any, NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.stdlib.solvers.field import DrawNumbers, Field

RULE_CUTOFF = 6.0
"""In s, where what is left is below 1e-270 of the interval."""
COARSEST, FINEST = 0.5, 2.0**-9
"""The first distance of nodes in s, and the last it is halved to."""


class Precision(NamedTuple):
    """An error of the integral, relative to that of |f|, or absolute; how often a rule may be refined."""

    relative: Any = float(np.sqrt(np.finfo(float).eps))
    absolute: Any = 0.0
    refinements: Any = 15


class Quadrature(NamedTuple):
    """The integral of each draw (draws,), nan where two answers never agreed, and the nodes it came from."""

    low: Floats
    high: Floats
    value: Floats
    x: Floats
    complement: Floats
    weights: Floats
    draws: DrawNumbers


def rule(f: Field, low: Floats, high: Floats, precision: Precision) -> Quadrature:
    """Integrate from low to high >= low, each (draws,)."""
    before, value = np.full(len(low), np.nan), np.full(len(low), np.nan)
    finished, open_, h = [], np.arange(len(low)), COARSEST
    while open_.size and h >= finest(precision):
        most = np.floor(RULE_CUTOFF / h)
        x, complement, weights = placed(np, low[open_], high[open_], h, h * np.arange(-most, most + 1))
        draws = np.repeat(open_, x.shape[1])
        values = f.values(x.ravel(), complement.reshape(-1, 1), draws).reshape(x.shape)
        # A node that is rounded to an end counts where f, by the distance, has a value there.
        outside = ~((x > low[open_, None]) & (x < high[open_, None])) & ~np.isfinite(values)
        weights = np.where(outside, 0.0, weights)
        terms = np.where(weights > 0, weights * values, 0.0)
        total, size = terms.sum(axis=1), np.abs(terms).sum(axis=1)
        allowed = np.maximum(precision.relative * size, precision.absolute)
        done = np.abs(total - before[open_]) <= allowed
        value[open_[done]], before[open_] = total[done], total
        finished.append((x[done], complement[done], weights[done], open_[done]))
        open_, h = open_[~done], h / 2
    parts = [[np.ravel(a) for a in (x, c, w, np.repeat(d, x.shape[1]))] for x, c, w, d in finished]
    x, complement, weights, draws = (np.concatenate(column) for column in zip(*parts, strict=True))
    used = (weights > 0) | (low == high)[draws]  # an interval of no length keeps its nodes: f is known there
    return Quadrature(low, high, value, x[used], complement[used], weights[used], draws[used])


def finest(precision: Precision) -> Any:
    """The last distance of nodes, at least the second, since two answers must agree."""
    return max(COARSEST / 2.0 ** max(precision.refinements, 1), FINEST)


def adjoints(f: Field, r: Quadrature, g: Floats) -> tuple[tuple[Floats, Floats], list[Any]]:
    """Those of low and high (draws,), and of f's arguments, when `g` (draws,) is that of the integral."""
    near = f.linearised(r.x, r.complement[:, None], r.draws)
    return (-g * at_end(f, r, r.low), g * at_end(f, r, r.high)), near.pull((g[r.draws] * r.weights)[:, None])


def at_end(f: Field, r: Quadrature, x: Floats) -> Floats:
    """f at an end, 0 at an infinite one; its distance to it is nan if that of all nodes is."""
    inside = np.where(np.isfinite(x), x, 0.0)
    distance = np.nan if np.isnan(r.complement).all() else 0.0
    values = f.values(inside, np.full((len(x), 1), distance), np.arange(len(x)))[:, 0]
    return np.asarray(np.where(np.isfinite(x), values, 0.0))


def placed(np: Any, low: Any, high: Any, h: Any, s: Any) -> tuple[Any, Any, Any]:
    """x at s (nodes,), its distance to the nearer end, and its weight, each (draws, nodes).

    `np` is NumPy or the like of it.
    """
    u, slope = np.pi / 2 * np.sinh(s), h * np.pi / 2 * np.cosh(s)
    low, high = low[:, None], high[:, None]
    ends = np.isfinite(low), np.isfinite(high)
    inner_low, inner_high = np.where(ends[0], low, 0.0), np.where(ends[1], high, 0.0)
    half = (inner_high - inner_low) / 2
    gap = 2 * half / (1 + np.exp(2 * np.abs(u)))  # to the nearer end
    finite = np.where(u < 0, low + gap, high - gap)
    nearer = np.where(u < 0, -gap, gap)
    kinds = [ends[0] & ends[1], ends[0] & ~ends[1], ~ends[0] & ends[1]]
    x = np.select(kinds, [finite, inner_low + np.exp(u), inner_high - np.exp(u)], np.sinh(u))
    speed = np.select(kinds, [half / np.cosh(u) ** 2, np.exp(u), np.exp(u)], np.cosh(u))
    return x, np.where(kinds[0], nearer, np.nan), np.broadcast_to(slope * speed, x.shape)
