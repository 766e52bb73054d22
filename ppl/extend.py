"""Distributions, functions and constraints of a user's own, without touching the package.

A record says what a word of a program means; of records `library` makes what `compile_model` takes as its
`library`.  `ppl.testing` has the laws that records must obey.  Nothing is registered anywhere: a program
compiled without the library does not know its words, and neither does the command line.
"""

from collections.abc import Iterable

from ppl.arrays import AUTOGRAD, NUMPY, Array, Namespace, with_partials, with_vjps
from ppl.stdlib.constraints.record import Constraint
from ppl.stdlib.library import Library, standard
from ppl.stdlib.reals import reals
from ppl.stdlib.record import (
    DensityParts,
    Distribution,
    Function,
    Overload,
    Relation,
    binary,
    function,
    guarded,
    supported,
    unary,
)

__all__ = [
    "AUTOGRAD",
    "NUMPY",
    "Array",
    "Constraint",
    "DensityParts",
    "Distribution",
    "Function",
    "Library",
    "Namespace",
    "Overload",
    "Relation",
    "binary",
    "function",
    "guarded",
    "library",
    "reals",
    "supported",
    "unary",
    "with_partials",
    "with_vjps",
]


def library(
    distributions: Iterable[Distribution] = (),
    functions: Iterable[Function] = (),
    constraints: Iterable[Constraint] = (),
) -> Library:
    """The standard library and these records.

    A distribution `name` gives `y ~ name(...)`, name_lpdf or name_lpmf, and of the cdfs and the rng what the
    record has.  A constraint gives the functions keyword_constrain and keyword_jacobian, for a parameter
    that is declared free; declarations such as `vector<...>` know the constraints of the language alone.

    Models that use it can be pickled where its functions are those of a module, not lambdas.

    Raises:
        ArgumentError: a name is taken or no name, a signature cannot be read, or a support is not known; the
            message says which record it is, and what was expected.

    Example:
        >>> cube = unary("cube", "x cubed", lambda xp, x: x * x * x)
        >>> model = compile_model(
        ...     "parameters { real x; } model { cube(x) ~ normal(0, 1); }", library=library(functions=[cube])
        ... )
        >>> model.condition({}).log_density([1.0])
        -1.4189385332046727
    """
    return standard().extended(distributions, functions, constraints)
