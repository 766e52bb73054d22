"""Bessel functions.  Stan Functions Reference, "Combinatorial functions" ("Bessel functions").

The derivative of each in its argument is a combination of its neighbours in order: NIST Digital Library of
Mathematical Functions 10.6.1 and 10.29.1.
"""

import scipy.special

from ppl.arrays import Array, Namespace, Node, Value, with_partials
from ppl.stdlib.record import Function, binary, function
from ppl.stdlib.special.log_bessel import log_bessel_i


def _bessel(of_order: Value, below: float, above: float) -> Node:
    """`of_order(v, x)`, whose derivative in x is below * of_order(v - 1, x) + above * of_order(v + 1, x)."""

    def by_argument(xp: Namespace, ans: Array, v: Array, x: Array) -> Array:
        return below * bessel(xp, v - 1, x) + above * bessel(xp, v + 1, x)

    def value(xp: Namespace, v: Array, x: Array) -> Array:
        return of_order(v, x)

    bessel = with_partials(None, by_argument)(value)
    return bessel


def _record(name: str, meaning: str, node: Node) -> Function:
    return function(name, meaning, ("(I, T) => T", node), batch="elementwise")


FUNCTIONS: tuple[Function, ...] = (
    _record("bessel_first_kind", "the Bessel function J of order v", _bessel(scipy.special.jv, 0.5, -0.5)),
    _record("bessel_second_kind", "the Bessel function Y of order v", _bessel(scipy.special.yv, 0.5, -0.5)),
    _record(
        "modified_bessel_first_kind",
        "the modified Bessel function I of order v",
        _bessel(scipy.special.iv, 0.5, 0.5),
    ),
    _record(
        "modified_bessel_second_kind",
        "the modified Bessel function K of order v",
        _bessel(scipy.special.kv, -0.5, -0.5),
    ),
    binary("log_modified_bessel_first_kind", "the log of I of real order v", log_bessel_i),
)
