"""Reasons to refuse programs: each a sentence with the place, and what to write."""

from ppl.errors import ModelError
from ppl.records import dataclass
from ppl.source import Span


@dataclass(frozen=True)
class Refusal:
    """Makes the error for a place of the program and a reason."""

    what: str
    hint: str
    code: str

    def __call__(self, why: str, span: Span, hint: str = "") -> ModelError:
        return ModelError(f"{self.what}: {why}.", span, hint or self.hint, self.code)


not_simulated = Refusal(
    "The program cannot be simulated",
    "Write a program that draws the parameters and the data in generated quantities, given the other data, "
    "and pass it: --simulator sim.stan, or simulator= in Python.",
    "PPL979",
)
unread = Refusal(
    "The log likelihood by row cannot be read",
    "Give each row of the data a density of its own, `y[n] ~ normal(mu[n], sigma)` or "
    "`target += normal_lpdf(y[n] | mu[n], sigma)`, or compute `log_lik` in generated quantities.",
    "PPL980",
)
unpredicted = Refusal(
    "New rows cannot be predicted",
    "For new rows, transformed data must be computed row by row. Compute values that depend on all rows "
    "before the fit and give them as data.",
    "PPL981",
)
undrawn = Refusal(
    "The data cannot be simulated",
    "Write the data on the left of ~, `y[n] ~ normal(mu[n], sigma)`, with a distribution that has an _rng "
    "(a mixture by a discrete parameter), or draw them in generated quantities, as `y_rep`.",
    "PPL981",
)
unexpected = Refusal(
    "The expected values of the data are not known",
    "Compute what you expect in generated quantities, or draw the data: `ppl predict`, `fit.predict()`.",
    "PPL981",
)
incomplete = Refusal(
    "Missing values cannot be modelled",
    "Values of `real`, `vector`, `row_vector`, `matrix` and `int` data, and arrays of these, may be missing; "
    "remove rows with other missing values.",
    "PPL982",
)
not_updated = Refusal(
    "The fit cannot be updated",
    "To update a fit, each row of new data must add its own terms to the target, and all other terms must be "
    "priors. Fit all data again.",
    "PPL974",
)
