"""Terms whose rows cannot be told: the error, with its place and what to write."""

from ppl.errors import ModelError
from ppl.source import Span

WRITE = (
    "Give each row of the data a density of its own, `y[n] ~ normal(mu[n], sigma)` or "
    "`target += normal_lpdf(y[n] | mu[n], sigma)`, or compute `log_lik` in generated quantities."
)


def unread(why: str, span: Span, hint: str = WRITE) -> ModelError:
    """The error for a term of the model block."""
    return ModelError(f"The log likelihood by row cannot be read: {why}.", span, hint, "PPL980")


PREDICT = (
    "For new rows, transformed data must be computed row by row. Compute values that depend on all rows "
    "before the fit and give them as data."
)


def unpredicted(why: str, span: Span) -> ModelError:
    """The error for a program that does not predict for new rows."""
    return ModelError(f"New rows cannot be predicted: {why}.", span, PREDICT, "PPL981")


def lost(name: str, span: Span) -> ModelError:
    """The error for transformed data of each row that are computed of what is to be drawn."""
    why = f"transformed data compute `{name}`, by row, of data that the new rows do not hold"
    return ModelError(
        f"New rows cannot be predicted: {why}.",
        span,
        f"Compute `{name}` in transformed parameters or in the model, where it follows the draws.",
        "PPL981",
    )


DRAW = (
    "Write the data on the left of ~, `y[n] ~ normal(mu[n], sigma)`, with a distribution that has an _rng "
    "(a mixture by a discrete parameter), or draw them in generated quantities, as `y_rep`."
)


def undrawn(why: str, span: Span) -> ModelError:
    """The error for data that cannot be drawn anew."""
    return ModelError(f"The data cannot be simulated: {why}.", span, DRAW, "PPL981")


EXPECT = "Compute what you expect in generated quantities, or draw the data: `ppl predict`, `fit.predict()`."


def unexpected(why: str, span: Span) -> ModelError:
    """The error for data whose mean is not known."""
    return ModelError(f"The expected values of the data are not known: {why}.", span, EXPECT, "PPL981")


MODEL = (
    "Values of `real`, `vector`, `row_vector`, `matrix` and `int` data, and arrays of these, may be missing; "
    "remove rows with other missing values."
)


def incomplete(why: str, span: Span, hint: str = MODEL) -> ModelError:
    """The error for missing values that cannot be parameters."""
    return ModelError(f"Missing values cannot be modelled: {why}.", span, hint, "PPL982")


UPDATE = (
    "To update a fit, each row of new data must add its own terms to the target, and all other terms must be "
    "priors. Fit all data again."
)


def not_updated(why: str, span: Span) -> ModelError:
    """The error for a program whose fits are not updated."""
    return ModelError(f"The fit cannot be updated: {why}.", span, UPDATE, "PPL974")
