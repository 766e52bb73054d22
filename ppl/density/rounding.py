"""Where parameters with bounds round to these.

The distance from a bound is the exponential of an unconstrained element, or a logistic function of it: where
that is less than the spacing of doubles, the parameter is its bound, and goes no further. A density that is
unbounded there, as beta(0.01, 0.01) is at 1, has mass beyond, of which no program can tell.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppl.arrays import NUMPY
from ppl.floats import Floats
from ppl.kernel.emit.runtime import ParameterPlace
from ppl.stdlib.constraints.layout import flatten

FURTHEST_ELEMENT = 1024
"""How far elements are looked at: exp(-746) is 0, and exp(710) is infinite."""
LIMIT_TOLERANCE = 0.01
"""How near the limits are known."""


def rounding_limits(
    values: Callable[[Floats], Mapping[str, Any]], bounded: Mapping[str, ParameterPlace], dim: int
) -> Floats:
    """The elements (2, dim) below and above which a parameter with bounds no longer changes.

    `values` at u (dim,) are those of all parameters, by name, of which those that are `bounded` have bounds.
    Infinite where a parameter has none, or none that it rounds to.
    """
    if not bounded:
        return np.outer([-np.inf, np.inf], np.ones(dim))
    varies = np.zeros(dim, dtype=bool)
    for place in bounded.values():
        varies[place.at] = True

    def ends(at: Floats, step: int) -> NDArray[np.bool_]:
        """Which elements (dim,) one step further out give the same value."""
        here, there = values(np.where(varies, at, 0.0)), values(np.where(varies, at + step, 0.0))
        same = np.zeros(dim, dtype=bool)
        for name, place in bounded.items():
            equal = np.asarray(np.equal(here[name], there[name]))
            same[place.at] = np.reshape(flatten(NUMPY, equal, place.core), np.shape(same[place.at]))
        return same

    def limit(step: int) -> Floats:
        """By bisection."""
        inside, outside = np.zeros(dim), np.full(dim, float(step * FURTHEST_ELEMENT))
        known = ends(outside, step)
        while np.abs(outside - inside).max(initial=0.0) > LIMIT_TOLERANCE:
            middle = (inside + outside) / 2
            there = ends(middle, step)
            inside, outside = np.where(there, inside, middle), np.where(there, middle, outside)
        return np.where(known, outside, step * np.inf)

    return np.array([limit(-1), limit(1)])
