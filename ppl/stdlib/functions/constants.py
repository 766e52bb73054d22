"""Constants, which a program calls without arguments.  Stan Functions Reference, "Mathematical constants"."""

import math
import sys

from ppl.stdlib.record import Function, elementwise


def _constant(name: str, meaning: str, value: float) -> Function:

    return elementwise(name, meaning, ("() => real", lambda xp: value))


FUNCTIONS: tuple[Function, ...] = (
    _constant("pi", "the ratio of a circle's circumference to its diameter", math.pi),
    _constant("e", "the base of the natural logarithm", math.e),
    _constant("sqrt2", "the square root of 2", math.sqrt(2.0)),
    _constant("not_a_number", "nan", math.nan),
    _constant("positive_infinity", "infinity", math.inf),
    _constant("negative_infinity", "minus infinity", -math.inf),
    _constant("machine_precision", "the distance from 1 to the next larger double", sys.float_info.epsilon),
)
