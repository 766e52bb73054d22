"""Uses of discrete parameters that cannot be summed out: the errors, each with its place."""

from collections.abc import Iterable

from ppl.errors import ModelError
from ppl.kernel.language import ast
from ppl.source import Span


def name_list(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def continuous_outcome(name: str, density: str, span: Span) -> ModelError:
    text = f"`{name}` is discrete, but `{density}` is the distribution of a real value."
    hint = (
        "Use a distribution of ints, such as categorical, bernoulli, binomial or poisson, or declare a real "
        "variable."
    )
    return ModelError(text, span, hint, "PPL703")


def not_here(names: Iterable[str], what: str, span: Span, hint: str) -> ModelError:
    return ModelError(f"{name_list(names)} cannot be marginalised in {what}.", span, hint, "PPL704")


def truncated(s: ast.Tilde) -> ModelError:
    text = "A truncated distribution cannot depend on a discrete parameter here."
    hint = (
        "Write the truncated density with `target +=`: the lpdf or lpmf minus the log of the probability of "
        "the range."
    )
    return ModelError(text, s.span, hint, "PPL704")


def order(s: ast.Statement) -> ModelError:
    text = "This changes a variable between two statements that read it and depend on a discrete parameter."
    return ModelError(text, s.span, "Assign the changed value to another variable.", "PPL704")


def bounds(name: str, why: str, span: Span) -> ModelError:
    hint = (
        "Give it one lower and one upper bound that are known from the data, as in `int<lower=1, upper=K>`; "
        "exclude values of an entry with `target += negative_infinity()`."
    )
    return ModelError(f"The bounds of the discrete parameter `{name}` {why}.", span, hint, "PPL705")


def unplanned(names: Iterable[str], why: str, span: Span) -> ModelError:
    hint = (
        "Write the sum yourself with log_sum_exp, or use a supported form: terms of one entry each, "
        "neighbours `z[t - 1]` and `z[t]`, or few discrete parameters in one term."
    )
    return ModelError(f"{name_list(names)} cannot be marginalised: {why}.", span, hint, "PPL706")


def too_large(names: Iterable[str], entries: int, most: int, span: Span) -> ModelError:
    text = f"Marginalising {name_list(names)} requires a table of {entries:,} entries; the limit is {most:,}."
    hint = (
        "Narrow the bounds, or use fewer of them in one term; `most_entries` of compile_model raises "
        "the limit."
    )
    return ModelError(text, span, hint, "PPL707")


def out_of_range(index: int, size: int, span: Span) -> ModelError:
    hint = "Indices start at 1; check the bounds of the loop and the data of the index."
    return ModelError(f"The index {index} is out of range: it must be in 1:{size}.", span, hint, "PPL708")


def needs_data(names: Iterable[str], span: Span) -> ModelError:
    text = f"The marginalisation of {name_list(names)} depends on the data."
    return ModelError(text, span, "Give data to `ppl show`, with --data.", "PPL706")
