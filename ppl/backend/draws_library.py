"""`lib` for code in which parameters have an axis of the draws before their own (passes/over_draws.py)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace

import numpy as np

from ppl.arrays import NUMPY, Array
from ppl.backend.library import library
from ppl.backend.per_draw import DrawsRejected, PerDraw
from ppl.backend.runtime import Place, complained
from ppl.backend.text import Binding
from ppl.errors import Rejection
from ppl.stdlib.constraints.bounds import LOWER_SOFTPLUS
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.constraints.table import CONSTRAINT_BY_KEYWORD, CONSTRAINTS


def draws_library(bindings: Mapping[str, Binding], softplus: bool = False) -> SimpleNamespace:
    """The standard library in NumPy, and parameters and checks of all draws at once."""
    lib = library(NUMPY, bindings, softplus)
    lib.take = lambda u, place: constrained(CONSTRAINT_BY_KEYWORD["identity"], u, place)[0]
    lib.check_draws = check_draws
    lib.solve_each = partial(solve_each, lib)
    for constraint in CONSTRAINTS:
        chosen = LOWER_SOFTPLUS if softplus and constraint.keyword == "lower" else constraint
        setattr(lib, f"constrain_{constraint.keyword}", constrainer(chosen))
    return lib


def constrainer(constraint: Constraint) -> Callable[..., tuple[Array, Array]]:
    return lambda u, place, *args: constrained(constraint, u, place, *args)


def constrained(constraint: Constraint, u: Array, place: Place, *args: Array) -> tuple[Array, Array]:
    """The parameter of every row of `u`, and its log-Jacobian."""
    each = u[:, place.at].reshape(len(u), *place.shape)
    return constraint.constrain(NUMPY, each, place.core, *aligned(args, len(place.dims) + len(place.core)))


def aligned(args: Sequence[Array], rank: int) -> list[Array]:
    """Bounds (draws, ...) that broadcast against values of that many axes after the draws'."""
    return [np.reshape(a, (len(a), *(1,) * (rank + 1 - np.ndim(a)), *np.shape(a)[1:])) for a in args]


def check_draws(constraint: str, name: str, x: Array, shape: tuple[int, ...], *args: Array) -> None:
    """Raise Rejection when a transformed quantity of any draw breaks its declared constraint."""
    bounds = aligned(args, np.ndim(x) - 1)
    complaint = CONSTRAINT_BY_KEYWORD[constraint].check(np.asarray(x), shape, *bounds)
    if complaint:
        raise Rejection(complained(name, complaint))


def solve_each(
    lib: SimpleNamespace,
    lifted: Sequence[bool],
    solver: str,
    f: Callable[..., Array],
    args: Sequence[Array],
    settings: Sequence[Array],
) -> Array:
    """The answers (draws, ...) of a solver of which some arguments differ from draw to draw.

    Raises:
        Rejection: one of them has no answer; it says why when it is solved alone.
    """
    inputs = [PerDraw(NUMPY, a) if own else a for a, own in zip(args, lifted, strict=True)]
    try:
        answers: Array = lib.solve(solver, f, inputs, settings).each
    except DrawsRejected:
        raise Rejection(f"`{solver}` has no answer for a draw.") from None
    return answers
