"""Lints: notes on a program that is correct but may not do what was meant.

Each lint follows Stan's "pedantic mode" (Stan User's Guide, "Using the Stan compiler") where that has it.
"""

from ppl.errors import Fix, describe
from ppl.printable import printable
from ppl.records import dataclass
from ppl.source import Span

NEWER_STAN = "PPL015"


@dataclass(frozen=True)
class Lint:
    """A warning; `likely` when it is rarely anything but a bug, and so given without being asked for.

    `fix` is the change of the text that `hint` proposes, where it is one.
    """

    span: Span
    code: str
    message: str
    hint: str
    likely: bool = True
    fix: Fix | None = None

    def __post_init__(self) -> None:
        for name in ("message", "hint"):
            object.__setattr__(self, name, printable(getattr(self, name)))

    def describe(self) -> str:
        return describe(self.span, "warning", self.code, self.message, self.hint)


def no_prior(name: str, span: Span) -> Lint:
    text = f"The parameter `{name}` has no prior: its prior is flat over every value that its bounds allow."
    hint = f"Write for instance `{name} ~ normal(0, 1);`, on the scale of plausible values."
    return Lint(span, "PPL001", text, hint, likely=False)


def unused(name: str, what: str, span: Span) -> Lint:
    text = f"The {what} `{name}` is declared and never used."
    return Lint(span, "PPL002", text, "Remove it, or check the spelling where it is used.")


def unused_data(name: str, span: Span) -> Lint:
    text = f"The data variable `{name}` is read and never used."
    return Lint(span, "PPL003", text, "Remove it.", likely=False)


def never_assigned(name: str, span: Span) -> Lint:
    text = f"`{name}` is declared but no statement gives it a value, so every use of it gives nan."
    hint = "Assign to it, or declare it in data or parameters if its value comes from there."
    return Lint(span, "PPL011", text, hint)


def assigned_to_itself(name: str, declared: bool, span: Span) -> Lint:
    text = f"`{name}` is assigned to itself, which changes nothing."
    if declared:
        text = f"The value of `{name}` reads `{name}` itself, which has no value yet."
    return Lint(span, "PPL013", text, "Check the name on the right.")


def annotation_ignored(text: str, span: Span) -> Lint:
    message = f"The annotation `@{text}` is not known here, so it is ignored."
    return Lint(span, "PPL014", message, "Keep it for other compilers, or remove it.", likely=False)


def needs_newer_stan(what: str, version: str, span: Span) -> Lint:
    text = f"{what} requires Stan {version}."
    hint = "Programs run here as they are. To run this one with an older CmdStan too, write it without."
    return Lint(span, NEWER_STAN, text, hint, likely=False)


def target_in_transformed_parameters(name: str, span: Span) -> Lint:
    text = (
        f"`{name}` changes the target in transformed parameters. Stan 2.39 warns of it, and 2.40 refuses it."
    )
    return Lint(
        span, "PPL016", text, "Write `jacobian +=` in a function ending in _jacobian, or call it in model."
    )


def jacobian_of_data(name: str, span: Span) -> Lint:
    text = f"`{name}` adds the Jacobian of a transform of data, which is a constant."
    return Lint(span, "PPL016", text, "Check the arguments; one of them should depend on a parameter.")


def nothing_between(name: str, lower: str, upper: str, span: Span) -> Lint:
    text = f"The bounds of `{name}` leave no value: lower is {lower} and upper is {upper}."
    hint = "The lower bound must be below the upper one; check whether they are exchanged."
    return Lint(span, "PPL012", text, hint)


def needs_jacobian(left: str, likely: bool, span: Span) -> Lint:
    text = f"The left side `{left}` is a nonlinear function of parameters, and no Jacobian is added."
    hint = (
        "Give the prior to the parameter itself, or add the log of the absolute derivative: in transformed "
        "parameters `jacobian += ...;`."
    )
    return Lint(span, "PPL004", text, hint, likely=likely)


def integer_division(text: str, real: str, span: Span) -> Lint:
    message = f"`{text}` divides an int by an int and drops the remainder."
    hint = f"For a real result write `{real}`. If you want integer division, write `%/%`."
    return Lint(span, "PPL005", message, hint, fix=Fix(span, real))


def bounds_contradict(
    name: str, distribution: str, support: str, declare: str, span: Span, fix: Fix | None = None
) -> Lint:
    text = f"`{distribution}` has density on {support} only, but the declaration of `{name}` allows more."
    return Lint(span, "PPL006", text, f"Declare it `{declare}`.", fix=fix)


def variance_for_scale(text: str, distribution: str, root: str, span: Span) -> Lint:
    message = f"`{text}` looks like a variance, but `{distribution}` takes a standard deviation."
    return Lint(span, "PPL007", message, f"Write `{root}`.", fix=Fix(span, root))


def undeclared_hard_bounds(name: str, declare: str, span: Span, fix: Fix | None) -> Lint:
    text = (
        f"The density of `{name}` is zero outside the bounds of its uniform prior, but the declaration of "
        f"`{name}` does not have these bounds."
    )
    return Lint(span, "PPL008", text, f"Declare it `{declare}`; the prior can then be omitted.", fix=fix)


def funnel(name: str, scale: str, declare: str, span: Span, fix: Fix | None) -> Lint:
    text = (
        f"The entries of `{name}` and their scale `{scale}` are both estimated: with few data their "
        "posterior is a funnel, which no Gaussian approximates."
    )
    return Lint(span, "PPL009", text, f"Declare it non-centred: `{declare}`.", likely=False, fix=fix)


def argument_unconstrained(
    name: str, argument: str, distribution: str, must_be: str, bounds: str, span: Span, fix: Fix | None
) -> Lint:
    text = (
        f"The argument {argument} of `{distribution}` must be {must_be}, but the declaration of `{name}` "
        "allows other values."
    )
    return Lint(span, "PPL010", text, f"Declare it with `<{bounds}>`.", fix=fix)


def linear_predictor(
    text: str, argument: str, distribution: str, must_be: str, instead: str, span: Span, fix: Fix
) -> Lint:
    message = (
        f"The argument {argument} of `{distribution}` must be {must_be}, but `{text}` takes every value."
    )
    return Lint(span, "PPL010", message, f"Write `{instead}`.", fix=fix)


def prior_excluded(name: str, prior: str, mass: str, span: Span) -> Lint:
    text = f"The bounds of `{name}` leave {mass} of the probability of its prior `{prior}`."
    return Lint(span, "PPL017", text, "Check the prior and the bounds: they do not agree about the values.")


def index_below_1(text: str, value: str, span: Span) -> Lint:
    message = f"The index of `{text}` is {value}, but indices begin at 1."
    hint = "The first entry has the index 1; loops over all of them are `for (n in 1:N)`."
    return Lint(span, "PPL018", message, hint)
