"""A function of one entry of a batch, for all entries of all draws at once.

Every entry of every draw becomes a lane, which is to the function what a draw is to the program. Lanes that
decide differently part here and go on in groups, so that their draws need not.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ppl.arrays import Namespace
from ppl.backend.per_draw import Indices, PerDraw, for_entries, in_groups, laid_out, pick

Function = Callable[..., Any]


def in_lanes(xp: Namespace, f: Function, lifted: Sequence[bool], args: Sequence[Any], draws: int) -> PerDraw:
    """f of each entry, (draws, entries, *shape); `lifted` says which arguments have one value an entry."""
    entries = next(len(a) for a, own in zip(args, lifted, strict=True) if own)
    lanes = [lane_of(xp, a, own, draws, entries) for a, own in zip(args, lifted, strict=True)]
    found = in_groups(np.arange(draws * entries), lambda at: f(*(of_lanes(xp, a, at) for a in lanes)))
    order = np.argsort(np.concatenate([group for group, _ in found]))
    values = xp.np.concatenate([laid_out(value, len(group)) for group, value in found])
    return PerDraw(xp, xp.np.reshape(pick(xp, values, order), (draws, entries, *np.shape(values)[1:])))


def lane_of(xp: Namespace, a: Any, lifted: bool, draws: int, entries: int) -> Any:
    """An argument with a value a lane, draw by draw; one that is the same for all lanes as it is."""
    if not (lifted or isinstance(a, PerDraw)):
        return a
    if not lifted:
        each = for_entries(xp, a.each, entries)
    else:
        each = a.each if isinstance(a, PerDraw) else np.broadcast_to(a, (draws, *np.shape(a)))
    return PerDraw(xp, xp.np.reshape(each, (draws * entries, *np.shape(each)[2:])))


def of_lanes(xp: Namespace, a: Any, lanes: Indices) -> Any:
    """The argument for some lanes, which are all of them where they are as many."""
    if not isinstance(a, PerDraw) or len(lanes) == len(a.each):
        return a
    return PerDraw(xp, pick(xp, a.each, lanes))
