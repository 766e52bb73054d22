"""The embedded Laplace approximation: `laplace_marginal(f, (...), K, (...))`, and of named likelihoods.

Both f, the log likelihood of theta, and K, its covariance matrix, are functions of the program, each with a
tuple of its arguments; likelihoods with a name take data and an offset m for each theta in place of f.  The
`_tol` forms have settings of the solver beside.  Stan Functions Reference 2.37, "Embedded Laplace
Approximation".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill

from ppl.frontend import ast, call_messages
from ppl.frontend.calls import check_bar, check_suffix_place, refuse_parameters
from ppl.frontend.facts import Check, UserMatch
from ppl.frontend.higher_order import named_function, pure_function
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
    """One function: what it integrates over, whether it draws, and whether it takes settings.

    Without a `likelihood` that has a name it takes one of the program.
    """

    likelihood: Likelihood | None
    draws: bool
    settings: bool

    @property
    def leads(self) -> tuple[Type, ...]:
        """y, y_index, the likelihood's own parameter, m; after them come K and its arguments."""
        if self.likelihood is None:
            return ()
        return (INTS, INTS, *((REAL,) if self.likelihood.dispersed else ()), VECTOR)

    @property
    def functions(self) -> tuple[int, ...]:
        """The places of f and K; after each stand its arguments."""
        return (0, 2) if self.likelihood is None else (len(self.leads),)

    @property
    def tail(self) -> tuple[Type, ...]:
        return tuple(t for _, t in SETTINGS) if self.settings else ()

    @property
    def expected(self) -> tuple[Type, ...]:
        """The types of the values, any tuple for a tuple."""
        return (*self.leads, *(Tuple(()) for _ in self.functions), *self.tail)

    def values(self, args: Sequence[ast.Expr]) -> list[ast.Expr]:
        """The arguments but the functions."""
        return [a for k, a in enumerate(args) if k not in self.functions]

    def call_text(self, name: str) -> str:
        settings = [f"data {t} {word}" for word, t in SETTINGS] if self.settings else []
        if self.likelihood is None:
            return f"{name}({', '.join(['f', '(...)', 'K', '(...)', *settings])})"
        own = ["real eta"] if self.likelihood.dispersed else []
        words = ["array[] int y_index", *own, "vector m", "K", "(...)", *settings]
        return f"{name}(array[] int y{', ' if self.draws else ' | '}{', '.join(words)})"


def functions() -> dict[str, Laplace]:
    found = {}
    for tol in ("", "_tol"):
        found[f"laplace_marginal{tol}"] = Laplace(None, False, bool(tol))
        found[f"laplace_latent{tol}_rng"] = Laplace(None, True, bool(tol))
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
OF_COVARIANCE = (
    "K is a function of the program that returns the covariance matrix of theta; its arguments are"
)
ARGUMENTS = (
    f"y_index gives the theta of each y; m is the offset of each theta; {OF_COVARIANCE} the tuple in "
    "parentheses."
)
OWN_ARGUMENTS = (
    "f is a function of the program, real f(vector theta, ...), that returns the log likelihood; its other "
    f"arguments are the tuple after it. {OF_COVARIANCE} the tuple after it."
)
SOLVING = (
    "The log-concave likelihood has one mode, so theta_init, hessian_block_size, solver and "
    "max_steps_linesearch have no effect. If tol is not met within max_steps, there is no result."
)
OWN_SOLVING = (
    "Newton's method begins at theta_init and ends when the log density changes by less than tol; after "
    "more than max_steps there is no result. solver and max_steps_linesearch have no effect. The "
    "Hessian of f in theta has blocks of hessian_block_size, which divides the size of theta, and is zero "
    "elsewhere."
)
DIAGONAL = (
    "Each term of f must depend on one theta, which makes its Hessian diagonal. For terms of several thetas "
    "use the `_tol` form with hessian_block_size."
)
SMOOTH = (
    "f is differentiated three times in theta: cdfs of the gamma, beta and Student t families, gamma_p, "
    "inc_beta and hypergeometric functions, solvers and the Laplace functions may not have arguments that "
    "depend on theta (PPL514)."
)
LIMITED = "Unsupported under JAX."


def laplace_page(name: str) -> str:
    """What `ppl docs` says of the function, or of what is written after `~`: its meaning and its call."""
    statement = name in STATEMENTS
    record = LAPLACE[f"{name}_lpmf" if statement else name]
    call = record.call_text(name) if not statement else record.call_text(name).replace("array[] int y | ", "")
    usage = f"y ~ {call}" if statement else f"{call} => {'vector' if record.draws else 'real'}"
    parts = [
        fill(f"{name}: {meaning(record)}", PAGE_WIDTH),
        fill(usage, PAGE_WIDTH, initial_indent="  ", subsequent_indent="      "),
        *(fill(text, PAGE_WIDTH) for text in explained(record)),
    ]
    return "\n\n".join(parts)


def meaning(record: Laplace) -> str:
    if record.likelihood is None:
        outcomes = "y with log likelihood f"
    else:
        outcomes = f"{OF_COUNTS[record.likelihood.name]} theta + m"
    if record.draws:
        return f"a draw of theta given {outcomes}, theta ~ normal(0, K), by Laplace"
    return f"log p of {outcomes}, theta ~ normal(0, K) integrated out by Laplace"


def explained(record: Laplace) -> list[str]:
    if record.likelihood is None:
        return [OWN_ARGUMENTS, OWN_SOLVING if record.settings else DIAGONAL, SMOOTH, LIMITED]
    return [ARGUMENTS, *([SOLVING] if record.settings else []), LIMITED]


def check_laplace(c: Check, e: ast.Call, types: Sequence[Type]) -> Type:
    """The type of the call; `types` are those of all arguments but the functions."""
    check_bar(c, e)
    check_suffix_place(c, e)
    c.facts.calls[e] = covariance_called(c, e, types)
    return VECTOR if LAPLACE[e.name].draws else REAL


def covariance_called(c: Check, e: ast.Call, types: Sequence[Type]) -> UserMatch:
    """Which function gives the covariance; refuses what does not fit.

    The function that gives a likelihood of the program is kept by its name, the first argument.
    """
    record = LAPLACE[e.name]
    fits = len(types) == len(record.expected) and all(
        isinstance(found, Tuple) if isinstance(t, Tuple) else promotes(found, t) is not None
        for found, t in zip(types, record.expected, strict=True)
    )
    if not fits:
        own = record.likelihood is None
        raise c.refuse(call_messages.laplace_arguments(e.name, types, record.call_text(e.name), own), e.span)
    tuples = [t for t in types if isinstance(t, Tuple)]
    if record.likelihood is None:
        c.facts.calls[e.args[0]] = likelihood_function(c, e, tuples[0])
    *_, place = record.functions
    found = given_function(c, e, place, tuples[-1], (), MATRIX)
    refuse_parameters(c, e, range(place + 2, len(e.args)))
    return found


def likelihood_function(c: Check, e: ast.Call, extra: Tuple) -> UserMatch:
    found = given_function(c, e, 0, extra, (VECTOR,), REAL)
    if found.function.data_only[0]:
        raise c.refuse(call_messages.needs_data(found.function.name, 1), e.args[0].span)
    return found


def given_function(
    c: Check, e: ast.Call, place: int, extra: Tuple, leads: tuple[Type, ...], returns: Type
) -> UserMatch:
    """The function of the program at a place of the call, of `leads` and what the tuple after it has."""
    found = pure_function(c, e, named_function(c, e.args[place]), (*leads, *extra.items), returns)
    arguments = e.args[place + 1]
    items = arguments.items if isinstance(arguments, ast.TupleLiteral) else (arguments,) * len(extra.items)
    call = ast.Call(e.span, found.function.name, tuple(items))
    positions = [k - len(leads) for k in found.function.data_positions]
    refuse_parameters(c, call, [k for k in positions if k >= 0])
    return found
