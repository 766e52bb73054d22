"""Why a log density or its gradient is not finite: the statement, the argument, its value."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ppl.arrays import AUTOGRAD, NUMPY, values_and_grads
from ppl.density.compiled_program import CompiledProgram
from ppl.errors import PPLError
from ppl.floats import Floats
from ppl.kernel.density.layout import Data
from ppl.kernel.emit.located import located
from ppl.optimise.forms import VALUES
from ppl.optimise.passes.reroll import reroll
from ppl.optimise.watch import NO_START_HELPS, LocatedTerms, NotFinite, Watch, blame_gradient, unmoved
from ppl.source import Span


def explained(model: CompiledProgram, d: Data, u: Floats) -> str:
    """What is wrong with the log density of a model with data `d` at `u`, or with its gradient; else ""."""
    if reroll(model.lowered) is not model.lowered:  # a loop has the place of its first statement
        model = model.changed(without=model.compilation.without | {"reroll"})
        d = model.prepared(d)
    found, span = trouble(model, d, u)
    if found is None:
        return explained_gradient(model, d, u)
    where = f"{span.describe()}\n" if span else ""
    if not isinstance(found, NotFinite):
        return f"{where}{found}"
    others = (trouble(model, d, there)[0] for there in elsewhere(u))
    fixed = all(isinstance(other, NotFinite) and unmoved(found, other) for other in others)
    return f"{where}{found}\n{NO_START_HELPS if fixed else found.help}".rstrip()


def elsewhere(u: Floats) -> Iterator[Floats]:
    """A point near `u`, and one near 0, where no constrained value rounds to its bound."""
    yield u + 0.01 * (1 + np.abs(u))
    yield np.full_like(u, 0.02)


def trouble(model: CompiledProgram, d: Data, u: Floats) -> tuple[Exception | None, Span | None]:
    """The first thing that goes wrong at `u`, and the statement it goes wrong in."""
    watch = Watch()
    module = model.bind(
        VALUES, NUMPY, watch.wrap, terms=watch.terms, constrain_lower_upper=watch.constrain_lower_upper
    )
    try:
        with np.errstate(all="ignore"):
            module.log_joint(d, u, True)
    except (PPLError, ArithmeticError, IndexError, ValueError) as error:
        return error, module.span_of(error)
    return None, None


def explained_gradient(model: CompiledProgram, d: Data, u: Floats) -> str:
    """The first statement whose gradient is not finite."""
    terms = LocatedTerms()
    module = model.bind(VALUES, AUTOGRAD, terms=lambda: terms)
    found: list[str] = []

    def inspect(parts: list[Any]) -> Any:
        total = module.log_joint(d, parts, True)
        roots = {name: part._node for name, part in zip(d.places, parts, strict=True)}
        found.append(blame_gradient(terms, roots, module.emitted.spans) or "")
        return total

    with np.errstate(all="ignore"), located(module):
        values_and_grads(inspect, d.blocks(u))
    return found[0]
