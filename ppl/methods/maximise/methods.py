"""The methods of maximisation by name."""

from collections.abc import Callable, Iterator

import numpy as np

from ppl.floats import Floats
from ppl.kernel.advi.target import Target
from ppl.methods.maximise.newton import climb_by_newton
from ppl.methods.maximise.quasi_newton import Dense, LimitedMemory, steps
from ppl.methods.maximise.rules import STANS, Rules, SearchPoint, Stop

METHODS: dict[str, Callable[[Target, Floats, Rules], Iterator[SearchPoint]]] = {
    "lbfgs": lambda target, start, rules: steps(
        target.log_density_gradient, start, rules, LimitedMemory(rules.history_size)
    ),
    "bfgs": lambda target, start, rules: steps(target.log_density_gradient, start, rules, Dense()),
    "newton": climb_by_newton,
}


def maximise(
    target: Target, start: Floats, method: str = "lbfgs", rules: Rules = STANS
) -> Iterator[SearchPoint]:
    """The path from `start` (dim,), where the log density is finite, to a maximum; its end has a `stop`.

    `method` is a key of METHODS.
    """
    if not len(start):
        yield SearchPoint(start, target.log_density(start), np.zeros(0), stop=Stop.GRADIENT)
        return
    yield from METHODS[method](target, start, rules)
