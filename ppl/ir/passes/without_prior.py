"""A program less the Gaussian prior of one parameter vector, for the ARD variant of DSVI.

Titsias and Lazaro-Gredilla 2014, section 2.3: the scales of the prior N(0, lambda) are optimised away in
closed form, so the log joint is given without it.
"""

from dataclasses import dataclass, replace

from ppl.ir import nodes as ir
from ppl.source import Span

ZERO_MEAN = ("normal_lpdf", "std_normal_lpdf", "multi_normal_lpdf")


@dataclass(frozen=True)
class Removed:
    """The program that is left, and where the prior stood."""

    program: ir.Program
    prior: Span


class NoSuchPrior(Exception):
    """The program has not exactly one statement `name ~ normal(0, ...)`."""


def without_prior(p: ir.Program, name: str) -> Removed:
    """Take out the one top-level statement that is the zero-mean Gaussian prior of parameter `name`.

    Raises:
        NoSuchPrior: there is no such statement, or more than one; or no such parameter.
    """
    if name not in {d.name for d in p.parameters}:
        raise NoSuchPrior(f"`{name}` is no parameter of the program.")
    found = [s for s in p.model if is_prior(s, name)]
    if len(found) != 1:
        raise NoSuchPrior(
            f"`{name}` has {len(found) or 'no'} statements `{name} ~ normal(0, ...)` in the model block; "
            "the ARD variant needs exactly one, on the whole vector."
        )
    return Removed(replace(p, model=tuple(s for s in p.model if s is not found[0])), found[0].span)


def is_prior(s: ir.Stmt, name: str) -> bool:
    match s:
        case ir.Increment(value=ir.Apply(callee=callee, args=(ir.Var(name=variate), *params))):
            zero = not params or (isinstance(params[0], ir.Const) and params[0].value == 0)
            return variate == name and callee.name in ZERO_MEAN and zero
        case _:
            return False
