"""Which columns of a fit `ppl variational` prints, in which order."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from ppl.kernel.draws.columns import chosen
from ppl.kernel.draws.names import Sized, column_names
from ppl.posterior import Posterior


def table_columns(posterior: Posterior, variables: Sequence[str]) -> tuple[str, ...]:
    """The columns of the variables named, else of parameters and transformed parameters.

    A program without parameters has those of its generated quantities.

    Raises:
        DataError: there is no variable of that name; the message lists those there are.
    """
    everything = posterior.param_names(include_tp=True, include_gq=True)
    parameters = posterior.declared(include_tp=False, include_gq=False)
    if variables or not parameters:
        return chosen(everything, variables, everything, posterior.labels)
    transformed = posterior.declared(include_tp=True, include_gq=False)[len(parameters) :]
    ordered = in_order(parameters, transformed, posterior.model.made_of)
    return tuple(name for variable in ordered for name in column_names(variable))


def in_order(
    parameters: Sequence[Sized], transformed: Sequence[Sized], made_of: Mapping[str, AbstractSet[str]]
) -> Iterator[Sized]:
    """Each transformed parameter before the raw one it is made of: the first with as many entries.

    Those without such a parameter, such as a linear predictor, follow at the end.
    """
    left = list(transformed)
    for parameter in parameters:
        of_it = [t for t in left if parameter.name in made_of[t.name] and t.count == parameter.count]
        yield from of_it
        left = [t for t in left if t not in of_it]
        yield parameter
    yield from left
