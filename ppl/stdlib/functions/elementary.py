"""Elementary functions of one real: powers, exponentials, logarithms.

Stan Functions Reference, "Real-valued basic functions".
"""

from ppl.arrays import Array, Namespace
from ppl.stdlib.record import Function, unary


def exp(xp: Namespace, x: Array) -> Array:
    return xp.np.exp(x)


def log(xp: Namespace, x: Array) -> Array:
    return xp.np.log(x)


FUNCTIONS: tuple[Function, ...] = (
    unary("exp", "the exponential", exp),
    unary("log", "the natural logarithm", log),
)
