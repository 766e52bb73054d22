"""Bessel functions.  Stan Functions Reference, "Combinatorial functions" ("Bessel functions").

The derivative of each in its argument is a combination of its neighbours in order: NIST Digital Library of
Mathematical Functions 10.6.1 and 10.29.1.
"""

import math

from ppl.arrays import Array, Namespace, with_partials
from ppl.late import special
from ppl.stdlib.record import Function, binary, elementwise, guarded
from ppl.stdlib.special.log_bessel import log_bessel_i


def _bessel(
    name: str, meaning: str, scipys: str, below: float, above: float, least: float = -math.inf
) -> Function:
    """SciPy's f(v, x) by its own name; its derivative in x is below * f(v - 1, x) + above * f(v + 1, x).

    nan unless x is above `least`.
    """

    def by_argument(xp: Namespace, ans: Array, v: Array, x: Array) -> Array:
        return below * node(xp, v - 1, x) + above * node(xp, v + 1, x)

    def value(xp: Namespace, v: Array, x: Array) -> Array:
        return guarded(xp, x > least, getattr(special, scipys)(v, x))

    node = with_partials(None, by_argument)(value)
    return elementwise(name, meaning, ("(I, T) => T", node))


def log_modified_bessel_first_kind(xp: Namespace, v: Array, x: Array) -> Array:
    return guarded(xp, (v >= -1) & (x >= 0), log_bessel_i(xp, v, x))


FUNCTIONS: tuple[Function, ...] = (
    _bessel("bessel_first_kind", "the Bessel function J of order v", "jv", 0.5, -0.5),
    _bessel("bessel_second_kind", "the Bessel function Y of order v", "yv", 0.5, -0.5, 0.0),
    _bessel("modified_bessel_first_kind", "the modified Bessel function I of order v", "iv", 0.5, 0.5),
    _bessel(
        "modified_bessel_second_kind", "the modified Bessel function K of order v", "kv", -0.5, -0.5, 0.0
    ),
    binary("log_modified_bessel_first_kind", "the log of I of real order v", log_modified_bessel_first_kind),
)
