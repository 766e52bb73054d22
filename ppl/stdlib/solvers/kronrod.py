"""Integrals over an interval, finite or not, by Gauss-Kronrod rules of 21 nodes on panels that are bisected.

Piessens et al. (1983), "QUADPACK": the rule of 10 nodes within that of 21 gives the error of a panel.  An
infinite interval is that of t from -1 to 1, with x = t / (1 - t^2), or one end plus (1 + t) / (1 - t).
The integrand gets nan in place of its distance to an end, as in Stan.
"""

from typing import Any, NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.stdlib.solvers.field import DrawNumbers, Field
from ppl.stdlib.solvers.quadrature import Precision, Quadrature

POSITIVE_NODES = (
    *(0.148874338981631210884826001129720, 0.294392862701460198131126603103866),
    *(0.433395394129247190799265943165784, 0.562757134668604683339000099272694),
    *(0.679409568299024406234327365114874, 0.780817726586416897063717578345042),
    *(0.865063366688984510732096688423493, 0.930157491355708226001207180059508),
    *(0.973906528517171720077964012084452, 0.995657163025808080735527280689003),
)
"""Of the rule on (-1, 1), whose middle node is 0."""
POSITIVE_WEIGHTS = (
    *(0.147739104901338491374841515972068, 0.142775938577060080797094273138717),
    *(0.134709217311473325928054001771707, 0.123491976262065851077958109585166),
    *(0.109387158802297641899210590325805, 0.093125454583697605535065465083366),
    *(0.075039674810919952767043140916190, 0.054755896574351996031381300244580),
    *(0.032558162307964727478818972459390, 0.011694638867371874278064396062192),
)
"""Of these nodes."""
MIDDLE_WEIGHT = 0.149445554002916905664936468389821
"""Of the node 0, which no rule of 10 nodes has."""


def mirrored(upper: Any, middle: float, sign: float) -> Floats:
    return np.concatenate([sign * np.array(upper)[::-1], [middle], upper])


PANEL_NODES = mirrored(POSITIVE_NODES, 0.0, -1.0)
PANEL_WEIGHTS = mirrored(POSITIVE_WEIGHTS, MIDDLE_WEIGHT, 1.0)
ERROR_WEIGHTS = PANEL_WEIGHTS.copy()
"""Those whose sum is the rule of 21 nodes less that of 10, which are every second one."""
ERROR_WEIGHTS[1::2] -= np.polynomial.legendre.leggauss(10)[1]


class Panels(NamedTuple):
    """Intervals of t of some draws, how often each was halved, and what their nodes give (panels, 21)."""

    draws: DrawNumbers
    left: Floats
    width: Floats
    halvings: DrawNumbers
    x: Floats
    weights: Floats
    values: Floats


def rule(f: Field, low: Floats, high: Floats, precision: Precision) -> Quadrature:
    """Integrate from low to high >= low, each (draws,): nan where a panel was halved too often."""
    count = len(low)
    every = np.arange(count)
    panels = evaluated(f, low, high, every, np.full(count, -1.0), np.full(count, 2.0), np.zeros_like(every))
    while True:
        error, size = (by_draw(panels, np.abs(each), count) for each in (errors(panels), sizes(panels)))
        allowed = np.maximum(precision.relative * size, precision.absolute)
        share = allowed[panels.draws] * panels.width / 2.0
        coarse = (error > allowed)[panels.draws] & (np.abs(errors(panels)) > share)
        split = coarse & (panels.halvings < precision.refinements)
        if not split.any():
            break
        kept, halved = (Panels(*(a[chosen] for a in panels)) for chosen in (~split, split))
        draws, half = np.repeat(halved.draws, 2), np.repeat(halved.width / 2.0, 2)
        left = np.repeat(halved.left, 2) + np.tile([0.0, 1.0], len(halved.left)) * half
        more = evaluated(f, low, high, draws, left, half, np.repeat(halved.halvings + 1, 2))
        panels = Panels(*(np.concatenate(pair) for pair in zip(kept, more, strict=True)))
    value = by_draw(panels, (panels.weights * panels.values).sum(axis=1), count)
    x, weights = panels.x.ravel(), panels.weights.ravel()
    draws = np.repeat(panels.draws, PANEL_NODES.size)
    return Quadrature(
        low, high, np.where(error <= allowed, value, np.nan), x, np.full(x.shape, np.nan), weights, draws
    )


def evaluated(
    f: Field,
    low: Floats,
    high: Floats,
    draws: DrawNumbers,
    left: Floats,
    width: Floats,
    halvings: DrawNumbers,
) -> Panels:
    t = left[:, None] + 0.5 * width[:, None] * (1.0 + PANEL_NODES)
    x, speed = placed(np, low[draws], high[draws], t)
    nowhere = np.full((x.size, 1), np.nan)
    values = f.values(x.ravel(), nowhere, np.repeat(draws, x.shape[1])).reshape(x.shape)
    weights = 0.5 * width[:, None] * PANEL_WEIGHTS * speed
    return Panels(draws, left, width, halvings, x, weights, values)


def errors(panels: Panels) -> Floats:
    return np.asarray((panels.weights * panels.values * (ERROR_WEIGHTS / PANEL_WEIGHTS)).sum(axis=1))


def sizes(panels: Panels) -> Floats:
    return np.asarray(np.abs(panels.weights * panels.values).sum(axis=1))


def by_draw(panels: Panels, each: Floats, count: int) -> Floats:
    return np.bincount(panels.draws, weights=each, minlength=count).astype(float)


def placed(np: Any, low: Any, high: Any, t: Any) -> tuple[Any, Any]:
    """x at t (panels, nodes) of intervals (panels,), and dx/dt; `np` is NumPy or the like of it."""
    low, high = low[:, None], high[:, None]
    ends = np.isfinite(low), np.isfinite(high)
    inner_low, inner_high = np.where(ends[0], low, 0.0), np.where(ends[1], high, 0.0)
    half = (inner_high - inner_low) / 2
    kinds = [ends[0] & ends[1], ends[0] & ~ends[1], ~ends[0] & ends[1]]
    onwards, back = (1 + t) / (1 - t), (1 - t) / (1 + t)
    open_ended = 1 - t * t
    finite = inner_low + half * (1 + t)
    x = np.select(kinds, [finite, inner_low + onwards, inner_high - back], t / open_ended)
    steep, shallow = 2 / (1 - t) ** 2, 2 / (1 + t) ** 2
    speed = np.select(kinds, [half + 0 * t, steep, shallow], (1 + t * t) / open_ended**2)
    return x, speed
