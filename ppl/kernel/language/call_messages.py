"""Every sentence in which a call or a distribution is refused; see messages.py for the others."""

from collections.abc import Sequence

from ppl.kernel.language.messages import DISTRIBUTIONS, Message, commas, did_you_mean, elsewhere, renamed
from ppl.kernel.language.overloads import Misfit
from ppl.stdlib.record import Distribution
from ppl.types import Type

# --- Calls ---------------------------------------------------------------------------------------


def call_arguments(name: str, actual: Sequence[Type], why: Misfit) -> Message:
    text = f"`{name}` cannot be called with ({commas(actual)}): {why.detail}"
    return Message("PPL501", text, why.signatures)


def returns_nothing(name: str) -> Message:
    return Message("PPL502", f"`{name}` returns void, so it cannot be used as a value.")


def returns_something(name: str, t: Type) -> Message:
    text = f"`{name}` returns a value of type {t}; a call used as a statement must return void."
    return Message("PPL503", text, f"Assign it: `{t} result = {name}(...);`.")


def needs_bar(name: str) -> Message:
    text = f"`{name}` is a density: write `{name}(y | ...)`, with a bar after the variate."
    return Message("PPL504", text, None, " | ")


def no_bar(name: str) -> Message:
    text = f"`{name}` is not a density: its arguments are separated by commas, without a bar `|`."
    return Message("PPL505", text, None, ", ")


def needs_data(name: str, position: int) -> Message:
    return Message("PPL506", f"Argument {position} of `{name}` must be data, but it depends on a parameter.")


def target_not_here(what: str) -> Message:
    text = f"{what} changes the target, which only the model block and functions ending in _lp may do."
    return Message("PPL507", text, DRAW if what == "`~`" else None)


DRAW = "In generated quantities write a draw as `y_rep = normal_rng(mu, sigma);`."


def jacobian_not_here(what: str, without: str | None) -> Message:
    text = (
        f"{what} changes the Jacobian adjustment, which only transformed parameters and functions ending in "
        "_jacobian may do."
    )
    hint = f"`{without}` returns the same value and leaves the adjustment unchanged." if without else None
    return Message("PPL508", text, hint)


def rng_not_here(name: str) -> Message:
    return Message(
        "PPL509",
        f"`{name}` draws random numbers (rng), which only transformed data, generated quantities and "
        "functions ending in _rng may do.",
        "In the model a random quantity is a parameter: `real z;` there, and `z ~ normal(0, 1);` here.",
    )


def unnormalised_not_here(name: str) -> Message:
    base = name.replace("_lup", "_lp")
    text = f"`{name}` drops constants (lupdf, lupmf), allowed only in the model block and in densities."
    return Message("PPL510", text, f"Use `{base}` here.", base)


def higher_order_arguments(name: str, actual: Sequence[Type], expected: str) -> Message:
    text = f"After its function, `{name}` cannot take ({commas(actual)})."
    return Message("PPL511", text, f"Write it as `{expected}`.")


def higher_order_function(name: str, function: str, expected: Sequence[Type], returns: Type) -> Message:
    return Message(
        "PPL512",
        f"`{name}` needs a function of the program with the signature ({commas(expected)}) => {returns}; "
        f"`{function}` has no such overload.",
    )


def laplace_argument(
    name: str, position: int, expected: str | None, actual: Type | str | None, usage: str
) -> Message:
    text = f"Argument {position} of `{name}` must be {expected}; found {actual}."
    if actual is None:
        text = f"Argument {position} of `{name}` is missing: {expected}."
    elif expected is None:
        text = f"`{name}` takes {position - 1} arguments; argument {position} is one too many."
    return Message("PPL511", text, laplace_usage(usage))


def laplace_usage(usage: str) -> str:
    functions = "f and K are functions" if "(f," in usage else "K is a function"
    tuples = "with a tuple of arguments after it, `(x, )` if it is one"
    return f"Write it as `{usage}`, where {functions} of the program, {tuples}."


def function_suffix(name: str, function: str) -> Message:
    text = f"`{name}` cannot take `{function}`, whose name has the ending of a density or of an effect."
    return Message("PPL512", text, "Choose a name without this ending.")


def laplace_before_2_39(name: str, usage: str, text: str) -> Message:
    said = (
        f"`{name}` is called as before Stan 2.39, which moved the block size and made the settings a tuple."
    )
    return Message("PPL515", said, f"Write it as `{usage}`: here `{text}`.", text)


def first_order_only(called: str, function: str) -> Message:
    return Message(
        "PPL514",
        f"`{function}` calls `{called}`, which has only first derivatives in general. Laplace's "
        f"approximation needs the third derivatives of `{function}` in theta.",
        "Write the log likelihood without it, or make theta a parameter, `theta ~ multi_normal(...)`.",
    )


def ambiguous(name: str, actual: Sequence[Type], signatures: Sequence[str]) -> Message:
    return Message(
        "PPL513",
        f"`{name}` called with ({commas(actual)}) fits {len(signatures)} definitions equally well.",
        "\n".join(["Change the argument types to match one of", *(f"  {s}" for s in signatures)]),
    )


# --- Distributions -------------------------------------------------------------------------------


def unknown_distribution(name: str, near: str | None) -> Message:
    plain = name.lower().replace("_", "")  # as PyMC, JAGS and R spell it
    hint = elsewhere(DISTRIBUTIONS, plain) or did_you_mean(near)
    return Message("PPL601", f"There is no distribution `{name}`.", hint, renamed(DISTRIBUTIONS, plain, near))


def function_is_no_distribution(name: str) -> Message:
    return Message("PPL601", f"`{name}` is a function, not a distribution: it cannot follow `~`.")


def suffix_in_tilde(name: str, base: str) -> Message:
    text = f"`~` is followed by the name of the distribution, without the suffix of `{name}`."
    return Message("PPL602", text, f"Write `~ {base}(...)`.", base)


def distribution_called(name: str, suffix: str) -> Message:
    hint = (
        f"To use this density write `~`: `x ~ {name}(...);`, or `target += {name}_{suffix}(x | ...);`. A "
        f"draw is `{name}_rng(...)`, in transformed data or generated quantities."
    )
    return Message("PPL204", f"`{name}` is a distribution, not a function.", hint)


def wrong_suffix(name: str, right: str, kind: str) -> Message:
    return Message("PPL603", f"There is no `{name}`: the distribution is {kind}.", f"Use `{right}`.", right)


def no_cdf(name: str, distribution: str) -> Message:
    return Message("PPL604", f"There is no `{name}`: no cumulative distribution is known for {distribution}.")


def distribution_arguments(
    name: str, actual: Sequence[Type], why: Misfit, family: Distribution | None, order: Sequence[str]
) -> Message:
    detail = why.detail
    if why.culprit == 0 and family is not None and family.discrete:
        detail = (
            f"`{name}` is discrete, so its left side must be int or an array of int, declared for "
            "instance as `array[N] int<lower=0> y;`."
        )
    elif order:
        detail += f" In the order `{name}({commas(order)})` they fit."
    elif why.culprit is None and family is not None and len(actual) != len(family.args):
        detail += f" They are {commas(word for word, _ in family.args[1:])}."
    statement = f"{actual[0]} ~ {name}({commas(actual[1:])})"
    return Message("PPL605", f"`{statement}` does not fit: {detail}", why.signatures)


def no_truncation(name: str) -> Message:
    text = f"`{name}` cannot be truncated: truncation needs its cumulative distribution functions."
    return Message("PPL606", text)


def truncation_bound(t: Type) -> Message:
    return Message("PPL607", f"A truncation bound must be an int or a real, not {t}.")
