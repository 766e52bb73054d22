"""The embedded Laplace approximation: `laplace_marginal(f, (...), size, K, (...))`, and of named likelihoods.

Both f, the log likelihood of theta, and K, its covariance matrix, are functions of the program, each with a
tuple of its arguments; likelihoods with a name take data and an offset m for each theta in place of f. The
size is that of the blocks of f's Hessian. The `_tol` forms take a tuple of settings of the solver at the end.
Stan Functions Reference 2.39, "Embedded Laplace Approximation".
"""

from collections.abc import Sequence
from textwrap import fill

from ppl.kernel.language import ast, call_messages
from ppl.kernel.language.calls import check_bar, check_suffix_place, refuse_parameters, suffix_of
from ppl.kernel.language.facts import Check, UserMatch
from ppl.kernel.language.higher_order import named_function, pure_function
from ppl.records import dataclass
from ppl.source import Span
from ppl.stdlib.functions.laplace_options import LAPLACE_OPTIONS
from ppl.stdlib.laplace.likelihoods import LIKELIHOODS, Likelihood
from ppl.stdlib.reference import PAGE_WIDTH
from ppl.stdlib.signatures import promotes
from ppl.types import INT, MATRIX, REAL, VECTOR, ArrayType, Tuple, Type

INTS = ArrayType(INT)
ANY_TUPLE = Tuple(())
SETTINGS = Tuple(tuple(t for _, t in LAPLACE_OPTIONS))


@dataclass(frozen=True)
class Slot:
    """An argument: what it is called, and the types it may have; a function has none."""

    word: str
    types: tuple[Type, ...] = ()

    def takes(self, actual: Type | None) -> bool:
        """Whether a value of a type, or a function, None, may stand here."""
        if actual is None or not self.types:
            return actual is None and not self.types
        if self.types == (ANY_TUPLE,):
            return isinstance(actual, Tuple)
        return any(promotes(actual, t) is not None for t in self.types)

    @property
    def text(self) -> str:
        if not self.types:
            return self.word
        if self.types == (ANY_TUPLE,):
            return "(...)"
        return f"{self.types[0]} {self.word}" if self.types != (SETTINGS,) else f"({self.word})"

    @property
    def wanted(self) -> str:
        """A description of this argument, for messages."""
        if not self.types:
            return f"a function of the program, `{self.word}`"
        return "a tuple of arguments" if self.types == (ANY_TUPLE,) else f"`{self.text}`"


FUNCTION, COVARIANCE = Slot("f"), Slot("K")
ARGUMENTS_OF = Slot("the arguments of the function", (ANY_TUPLE,))
BLOCK = Slot("hessian_block_size", (INT,))
TOLERANCES = Slot(", ".join(f"{t} {word}" for word, t in LAPLACE_OPTIONS), (SETTINGS,))


@dataclass(frozen=True)
class Laplace:
    """One function: what it integrates over, what it returns, and whether it takes settings.

    Without a `likelihood` that has a name it takes one of the program.
    """

    likelihood: Likelihood | None
    returns: Type
    settings: bool

    @property
    def draws(self) -> bool:
        return self.returns == VECTOR

    @property
    def leads(self) -> tuple[Slot, ...]:
        """The arguments before the block size: f and its own, or y, y_index, its parameter and m."""
        if self.likelihood is None:
            return (FUNCTION, ARGUMENTS_OF)
        own = (Slot("eta", (REAL, VECTOR)),) if self.likelihood.dispersed else ()
        return (Slot("y", (INTS,)), Slot("y_index", (INTS,)), *own, Slot("m", (VECTOR,)))

    @property
    def slots(self) -> tuple[Slot, ...]:
        return (*self.leads, BLOCK, COVARIANCE, ARGUMENTS_OF, *((TOLERANCES,) if self.settings else ()))

    @property
    def block(self) -> int:
        """The place of the block size; after it stand K, its arguments and the settings."""
        return len(self.leads)

    def call_text(self, name: str) -> str:
        first, *rest = (slot.text for slot in self.slots)
        bar = self.likelihood is not None and self.returns == REAL
        return f"{name}({first}{' | ' if bar else ', '}{', '.join(rest)})"


MEAN_AND_FACTOR = Tuple((VECTOR, MATRIX))


def functions() -> dict[str, Laplace]:
    by_name = {}
    for tol in ("", "_tol"):
        by_name[f"laplace_marginal{tol}"] = Laplace(None, REAL, bool(tol))
        by_name[f"laplace_latent{tol}_rng"] = Laplace(None, VECTOR, bool(tol))
        by_name[f"laplace_latent_solve{tol}"] = Laplace(None, MEAN_AND_FACTOR, bool(tol))
    for like in LIKELIHOODS:
        for tol in ("", "_tol"):
            for suffix in ("lpmf", "lupmf"):
                by_name[f"laplace_marginal{tol}_{like.name}_{suffix}"] = Laplace(like, REAL, bool(tol))
            by_name[f"laplace_latent{tol}_{like.name}_rng"] = Laplace(like, VECTOR, bool(tol))
    return by_name


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
BLOCKS = (
    "hessian_block_size divides the size of theta: the Hessian of f in theta is zero outside blocks of this "
    "size on its diagonal. It is 1 if each term of f depends on one theta; the size of theta always holds."
)
NAMED_BLOCKS = "hessian_block_size divides the size of theta; the Hessian is diagonal whatever it is."
DEFAULTS = "generate_laplace_options(n) returns the settings that hold without `_tol`, for n thetas."
SOLVING = (
    "The log-concave likelihood has one mode, so theta_init, solver, max_steps_linesearch and allow_fallback "
    f"have no effect. If tol is not met within max_steps, there is no result. {DEFAULTS}"
)
OWN_SOLVING = (
    "Newton's method begins at theta_init and ends when the log density changes by less than tol; after "
    "more than max_steps there is no result. solver, max_steps_linesearch and allow_fallback have no effect. "
    f"All settings are data. {DEFAULTS}"
)
SOLVED = (
    "The covariance of theta is L L', where L is the lower triangular matrix returned. The arguments may not "
    "depend on parameters, except in generated quantities."
)
SMOOTH = (
    "f is differentiated three times in theta: cdfs of the gamma, beta and Student t families, gamma_p, "
    "inc_beta and hypergeometric functions, solvers and the Laplace functions may not have arguments that "
    "depend on theta (PPL514)."
)
LIMITED = "Unsupported under JAX."


def laplace_page(name: str) -> str:
    """The page of `ppl docs` for the function or distribution: its meaning and its call."""
    statement = name in STATEMENTS
    record = LAPLACE[f"{name}_lpmf" if statement else name]
    call = record.call_text(name) if not statement else record.call_text(name).replace("array[] int y | ", "")
    usage = f"y ~ {call}" if statement else f"{call} => {record.returns}"
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
    if record.returns == MEAN_AND_FACTOR:
        return f"mean of theta given {outcomes}, theta ~ normal(0, K), and a factor L of its covariance"
    if record.draws:
        return f"a draw of theta given {outcomes}, theta ~ normal(0, K), by Laplace"
    return f"log p of {outcomes}, theta ~ normal(0, K) integrated out by Laplace"


def explained(record: Laplace) -> list[str]:
    if record.likelihood is None:
        solved = [SOLVED] if record.returns == MEAN_AND_FACTOR else []
        return [OWN_ARGUMENTS, BLOCKS, *([OWN_SOLVING] if record.settings else []), *solved, SMOOTH, LIMITED]
    return [ARGUMENTS, NAMED_BLOCKS, *([SOLVING] if record.settings else []), LIMITED]


def check_laplace(c: Check, e: ast.Call, types: Sequence[Type | None]) -> Type:
    """The type of the call; `types` are those of its arguments, None for the name of a function."""
    check_bar(c, e)
    check_suffix_place(c, e)
    c.facts.calls[e] = covariance_called(c, e, types)
    return LAPLACE[e.name].returns


def covariance_called(c: Check, e: ast.Call, types: Sequence[Type | None]) -> UserMatch:
    """Which function gives the covariance; refuses what does not fit.

    The function that gives a likelihood of the program is kept by its name, the first argument.
    """
    record = LAPLACE[e.name]
    refuse_misfit(c, e, types)
    block = record.block
    if record.likelihood is None:
        c.facts.calls[e.args[0]] = likelihood_function(c, e, tuple_type(types[1]))
    refuse_parameters(c, e, [block])
    covariance = given_function(c, e, block + 1, tuple_type(types[block + 2]), (), MATRIX)
    if record.settings:
        refuse_parameters_in(c, e, block + 3)
    if record.returns == MEAN_AND_FACTOR:
        refuse_parameters_in(c, e, 1)
        refuse_parameters_in(c, e, block + 2)
    return covariance


def tuple_type(t: Type | None) -> Tuple:
    assert isinstance(t, Tuple)
    return t


def refuse_misfit(c: Check, e: ast.Call, types: Sequence[Type | None]) -> None:
    """Refuse the first argument that is not what its place takes, and the form before Stan 2.39."""
    slots = LAPLACE[e.name].slots
    pairs = zip(slots, types, strict=False)
    wrong = next((k for k, (slot, t) in enumerate(pairs) if not slot.takes(t)), min(len(slots), len(types)))
    if wrong == len(slots) == len(types):
        return
    usage = LAPLACE[e.name].call_text(e.name)
    if (final := final_form(e, types)) is not None:
        where, text = final
        raise c.refuse(call_messages.laplace_before_2_39(e.name, usage, text), where, where)
    span = e.args[wrong].span if wrong < len(types) else e.span
    if wrong < len(slots) and slots[wrong] == TOLERANCES and wrong < len(types):
        span = misfit_in_settings(e.args[wrong], types[wrong])
    slot = slots[wrong] if wrong < len(slots) else None
    actual = (types[wrong] or "a function") if wrong < len(types) else None
    expected = None if slot is None else slot.wanted
    raise c.refuse(call_messages.laplace_argument(e.name, wrong + 1, expected, actual, usage), span)


def misfit_in_settings(e: ast.Expr, t: Type | None) -> Span:
    """The first item of a literal of settings that has another type, or the whole."""
    if isinstance(e, ast.TupleLiteral) and isinstance(t, Tuple):
        for item, actual, wanted in zip(e.items, t.items, SETTINGS.items, strict=False):
            if promotes(actual, wanted) is None:
                return item.span
    return e.span


def refuse_parameters_in(c: Check, e: ast.Call, place: int) -> None:
    """Refuse what depends on parameters in a tuple that must be data, item by item where it is a literal."""
    whole = e.args[place]
    items = whole.items if isinstance(whole, ast.TupleLiteral) else (whole,)
    refuse_parameters(c, ast.Call(e.span, e.name, items), range(len(items)))


def final_form(e: ast.Call, types: Sequence[Type | None]) -> tuple[Span, str] | None:
    """Of a call as it was before Stan 2.39, what has changed: where it stands and what to write there.

    There was no block size before the covariance, and settings were arguments: the start, the tolerance, the
    steps, the block size, the solver and the steps of the line search.
    """
    record = LAPLACE[e.name]
    block = record.block
    before = (*record.slots[:block], COVARIANCE, ARGUMENTS_OF, *FORMER_SETTINGS[: 6 * record.settings])
    if len(types) != len(before) or not all(s.takes(t) for s, t in zip(before, types, strict=True)):
        return None
    covariance, arguments, *settings = e.args[block:]
    where = covariance.span.through(e.args[-1].span)
    size, text = "1", where.text
    if settings:
        start, tolerance, steps, former, *others = (a.span.text for a in settings)
        text = covariance.span.through(arguments.span).text
        size, text = former, f"{text}, ({', '.join([start, tolerance, steps, *others, '1'])})"
    return where, f"{size}, {text}"


FORMER_SETTINGS = tuple(
    Slot(word, (t,))
    for word, t in (
        ("theta_init", VECTOR),
        ("tol", REAL),
        ("max_steps", INT),
        ("hessian_block_size", INT),
        ("solver", INT),
        ("max_steps_linesearch", INT),
    )
)


def likelihood_function(c: Check, e: ast.Call, extra: Tuple) -> UserMatch:
    likelihood = given_function(c, e, 0, extra, (VECTOR,), REAL)
    if likelihood.function.data_only[0]:
        raise c.refuse(call_messages.needs_data(likelihood.function.name, 1), e.args[0].span)
    return likelihood


def given_function(
    c: Check, e: ast.Call, place: int, extra: Tuple, leads: tuple[Type, ...], returns: Type
) -> UserMatch:
    """The function of the program at a place of the call, of `leads` and what the tuple after it has."""
    named, arguments = named_function(c, e.args[place]), e.args[place + 1]
    if suffix_of(named.name):
        raise c.refuse(call_messages.function_suffix(e.name, named.name), named.span)
    function = pure_function(c, e, named, (*leads, *extra.items), returns)
    if function.function.args[: len(leads)] != leads:
        wanted = (*leads, *function.function.args[len(leads) :])
        raise c.refuse(call_messages.higher_order_function(e.name, named.name, wanted, returns), named.span)
    items = arguments.items if isinstance(arguments, ast.TupleLiteral) else (arguments,) * len(extra.items)
    call = ast.Call(e.span, function.function.name, tuple(items))
    positions = [k - len(leads) for k in function.function.data_positions]
    refuse_parameters(c, call, [k for k in positions if k >= 0])
    return function
