"""A program less the Gaussian prior of one parameter vector, for the ARD variant of DSVI.

Titsias and Lazaro-Gredilla 2014, section 2.3: the scales of the prior N(0, lambda) are optimised away in
closed form, so the log joint is given without it.
"""

from dataclasses import replace

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import without

ZERO_MEAN = ("normal_lpdf", "std_normal_lpdf", "multi_normal_lpdf")


class NoSuchPrior(Exception):
    """The program has not exactly one statement `name ~ normal(0, ...)`."""


def without_prior(lowered: ir.Program, arrays: ir.Program, name: str) -> ir.Program:
    """The program as lowered, less the one statement that is the zero-mean Gaussian prior of a parameter.

    `arrays` is the same program with loops as arrays: a loop over the entries may be that statement.

    Raises:
        NoSuchPrior: there is no such statement, or more than one; or no such parameter.
    """
    if name not in {d.name for d in lowered.parameters}:
        raise NoSuchPrior(f"`{name}` is not a parameter of the program.")
    priors = [s.span for s in arrays.model if is_prior(s, name)]
    if len(priors) != 1:
        raise NoSuchPrior(
            f"`{name}` has {len(priors) or 'no'} statements `{name} ~ normal(0, ...)` in the model block; "
            "the ARD variant needs exactly one, on the whole vector."
        )
    (prior,) = priors
    model = without(lowered.model, lambda s: isinstance(s, ir.Increment) and s.span == prior)
    return replace(lowered, model=model)


def is_prior(s: ir.Stmt, name: str) -> bool:
    match s:
        case ir.Increment(value=ir.Apply(callee=callee, args=(ir.Var(name=variate), *params))):
            zero = not params or (isinstance(params[0], ir.Const) and params[0].value == 0)
            return variate == name and callee.name in ZERO_MEAN and zero
        case _:
            return False
