"""The embedded Laplace approximation: `laplace_marginal_poisson_log_lpmf(y | y_index, m, K, (...))`, ...

Each is called with data, an offset m for each theta, a function of the program and a tuple of its arguments,
which together give the covariance matrix; the `_tol` forms with settings of the solver beside.  Stan
Functions Reference 2.37, "Embedded Laplace Approximation".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from ppl.frontend import ast, call_messages, messages
from ppl.frontend.calls import (
    check_bar,
    check_suffix_place,
    find_overload,
    names_a_function,
    refuse_parameters,
    suffix_of,
)
from ppl.frontend.facts import Check, UserMatch
from ppl.stdlib.laplace.likelihoods import LIKELIHOODS, Likelihood
from ppl.stdlib.reference import PAGE_WIDTH
from ppl.stdlib.signatures import promotes
from ppl.types import INT, MATRIX, REAL, VECTOR, Array, Tuple, Type

INTS = Array(INT)
SETTINGS: tuple[tuple[str, Type], ...] = (
    ("theta_init", VECTOR),
    ("tol", REAL),
    ("max_steps", INT),
    ("hessian_block_size", INT),
    ("solver", INT),
    ("max_steps_linesearch", INT),
)
"""What the `_tol` forms take after the covariance, all of it data."""


@dataclass(frozen=True)
class Laplace:
    """One function: what it integrates over, whether it draws, and whether it takes settings."""

    likelihood: Likelihood
    draws: bool
    settings: bool

    @property
    def leads(self) -> tuple[Type, ...]:
        """y, y_index, the likelihood's own parameter, m; after them come K and its arguments."""
        return (INTS, INTS, *((REAL,) if self.likelihood.dispersed else ()), VECTOR)

    @property
    def tail(self) -> tuple[Type, ...]:
        return tuple(t for _, t in SETTINGS) if self.settings else ()

    def values(self, args: Sequence[ast.Expr]) -> list[ast.Expr]:
        """The arguments but the function K."""
        at = len(self.leads)
        return [*args[:at], *args[at + 1 :]]

    def shown(self, name: str) -> str:
        own = ["real eta"] if self.likelihood.dispersed else []
        words = ["array[] int y_index", *own, "vector m", "K", "(...)"]
        words += [f"data {t} {word}" for word, t in SETTINGS] if self.settings else []
        return f"{name}(array[] int y{', ' if self.draws else ' | '}{', '.join(words)})"


def functions() -> dict[str, Laplace]:
    found = {}
    for like in LIKELIHOODS:
        for tol in ("", "_tol"):
            for suffix in ("lpmf", "lupmf"):
                found[f"laplace_marginal{tol}_{like.name}_{suffix}"] = Laplace(like, False, bool(tol))
            found[f"laplace_latent{tol}_{like.name}_rng"] = Laplace(like, True, bool(tol))
    return found


LAPLACE = functions()
STATEMENTS = tuple(name.removesuffix("_lpmf") for name in LAPLACE if name.endswith("_lpmf"))
"""Names to be written after `~`."""

OF_COUNTS = {
    "poisson_log": "Poisson counts of log rate",
    "neg_binomial_2_log": "negative binomial counts of log mean",
    "bernoulli_logit": "zeros and ones of log odds",
}
ARGUMENTS = (
    "y_index says which theta each y belongs to; m is an offset of each theta; K is a function of the "
    "program that gives the covariance matrix of theta of the arguments in the parentheses, a tuple."
)
SOLVING = (
    "The log-concave likelihood has one mode, so theta_init, hessian_block_size, solver and "
    "max_steps_linesearch change nothing; where tol is not met in max_steps there is no number."
)
LIMITED = (
    "Not under JAX, and for these likelihoods alone: laplace_marginal of a function is refused (PPL207)."
)


def laplace_page(name: str) -> str:
    """What `ppl docs` says of the function, or of what is written after `~`: its meaning and its call."""
    statement = name in STATEMENTS
    function = f"{name}_lpmf" if statement else name
    record = LAPLACE[function]
    counts = f"{OF_COUNTS[record.likelihood.name]} theta + m"
    if record.draws:
        says, result = f"a draw of theta given {counts}, theta ~ normal(0, K), by Laplace", "vector"
    else:
        says, result = f"log p of {counts}, theta ~ normal(0, K) integrated out by Laplace", "real"
    call = record.shown(name) if not statement else record.shown(name).replace("array[] int y | ", "")
    shown = f"y ~ {call}" if statement else f"{call} => {result}"
    parts = [
        fill(f"{name}: {says}", PAGE_WIDTH),
        fill(shown, PAGE_WIDTH, initial_indent="  ", subsequent_indent="      "),
        fill(ARGUMENTS, PAGE_WIDTH),
        *([fill(SOLVING, PAGE_WIDTH)] if record.settings else []),
        fill(LIMITED, PAGE_WIDTH),
    ]
    return "\n\n".join(parts)


def check_laplace(c: Check, e: ast.Call, types: Sequence[Type]) -> Type:
    """The type of the call; `types` are those of all arguments but the function of the covariance."""
    check_bar(c, e)
    check_suffix_place(c, e)
    c.facts.calls[e] = covariance_called(c, e, types)
    return VECTOR if LAPLACE[e.name].draws else REAL


def covariance_called(c: Check, e: ast.Call, types: Sequence[Type]) -> UserMatch:
    """Which function gives the covariance; refuses what does not fit."""
    record = LAPLACE[e.name]
    at = len(record.leads)
    wanted = [*record.leads, Tuple(()), *record.tail]
    fits = len(types) == len(wanted) and all(
        isinstance(found, Tuple) if k == at else promotes(found, t) is not None
        for k, (found, t) in enumerate(zip(types, wanted, strict=True))
    )
    if not fits:
        raise c.refuse(call_messages.laplace_arguments(e.name, types, record.shown(e.name)), e.span)
    given = types[at]
    assert isinstance(given, Tuple)
    found = covariance_function(c, e.name, e.args[at], given)
    refuse_parameters(c, e, range(at + 2, len(e.args)))
    wanted_as_data = [k for k, data in enumerate(found.function.data_only) if data]
    refuse_parameters(c, as_call(e, found, given), wanted_as_data)
    return found


def as_call(e: ast.Call, called: UserMatch, given: Tuple) -> ast.Call:
    """The call of the covariance function, as if it stood there by itself."""
    arguments = e.args[len(LAPLACE[e.name].leads) + 1]
    items = arguments.items if isinstance(arguments, ast.TupleLiteral) else (arguments,) * len(given.items)
    return ast.Call(e.span, called.function.name, tuple(items))


def covariance_function(c: Check, name: str, e: ast.Expr, given: Tuple) -> UserMatch:
    if not isinstance(e, ast.Variable) or not names_a_function(c, e.name):
        what = e.name if isinstance(e, ast.Variable) else "this expression"
        raise c.refuse(messages.unknown_function(what, None), e.span)
    found = find_overload(c, e.name, given.items)
    pure = suffix_of(e.name) not in ("rng", "lp", "jacobian")
    if not isinstance(found, UserMatch) or found.returns != MATRIX or not pure:
        raise c.refuse(call_messages.higher_order_function(name, e.name, given.items, MATRIX), e.span)
    return found
