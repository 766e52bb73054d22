"""Bessel functions.  Stan Functions Reference, "Combinatorial functions" ("Bessel functions").

The derivative of each in its argument is a combination of its neighbours in order: NIST Digital Library of
Mathematical Functions 10.6.1 and 10.29.1.
"""

import math

from ppl.arrays import Array, Namespace, Node, with_partials
from ppl.late import special
from ppl.stdlib.record import Function, binary, elementwise, guarded
from ppl.stdlib.special.log_bessel import log_bessel_i


def _bessel(name: str, below: float, above: float, least: float = -math.inf) -> Node:
    """SciPy's f(v, x) of this name, whose derivative in x is below * f(v - 1, x) + above * f(v + 1, x).

    nan unless x is above `least`.
    """

    def by_argument(xp: Namespace, ans: Array, v: Array, x: Array) -> Array:
        return below * bessel(xp, v - 1, x) + above * bessel(xp, v + 1, x)

    def value(xp: Namespace, v: Array, x: Array) -> Array:
        return guarded(xp, x > least, getattr(special, name)(v, x))

    bessel = with_partials(None, by_argument)(value)
    return bessel


def _record(name: str, meaning: str, node: Node) -> Function:
    return elementwise(name, meaning, ("(I, T) => T", node))


def log_modified_bessel_first_kind(xp: Namespace, v: Array, x: Array) -> Array:
    return guarded(xp, (v >= -1) & (x >= 0), log_bessel_i(xp, v, x))


FUNCTIONS: tuple[Function, ...] = (
    _record("bessel_first_kind", "the Bessel function J of order v", _bessel("jv", 0.5, -0.5)),
    _record("bessel_second_kind", "the Bessel function Y of order v", _bessel("yv", 0.5, -0.5, 0.0)),
    _record(
        "modified_bessel_first_kind",
        "the modified Bessel function I of order v",
        _bessel("iv", 0.5, 0.5),
    ),
    _record(
        "modified_bessel_second_kind",
        "the modified Bessel function K of order v",
        _bessel("kv", -0.5, -0.5, 0.0),
    ),
    binary("log_modified_bessel_first_kind", "the log of I of real order v", log_modified_bessel_first_kind),
)
