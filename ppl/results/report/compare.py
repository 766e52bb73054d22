"""Models of the same data by how well they predict rows that they have not seen, or by their log evidence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, overload

import numpy as np

from ppl import html
from ppl.advice import Advice
from ppl.arguments import checks
from ppl.errors import ArgumentError, DataError, InferenceError, UnknownName, first_few
from ppl.floats import Floats
from ppl.methods.correct.evidence import Evidence
from ppl.methods.diagnose.level import Level
from ppl.records import astuple, dataclass
from ppl.results.report.loo import NOT_ADDED, Loo, LooByOutcome, se_of_sum
from ppl.results.report.ranked import ByOutcome, Ranked
from ppl.structure.observed.outcome_names import JOINED

CLOSE = 4.0
"""A difference below this is small, and its standard error is not to be relied on.

Sivula, Magnusson, Matamoros and Vehtari (2020), Uncertainty in Bayesian leave-one-out cross-validation based
model comparison.
"""

ERRORS = 2.0
"""A difference in ELPD within so many standard errors of zero does not decide."""

CLEAR_ERRORS = 3.0
"""A log Bayes factor within so many standard errors of zero may be noise."""

SAME_DATA = 1e-9
"""The relative difference of numbers that are the same data, written and read with other digits."""

WEIGHT_STEPS, ENOUGH = 10_000, 1e-9
"""The most steps to the stacking weights, and the change below which they are there."""


class Fitted(Protocol):
    """A result with rows to leave out: a `Fit`."""

    def loo(self, outcome: Any = None) -> Loo | LooByOutcome: ...


OutcomeNames = str | Sequence[str] | None
"""One outcome, several whose densities are added up by row, or all in turn."""


@dataclass(frozen=True)
class Compared:
    """A model of a `Comparison`, in nats: its ELPD less the best model's, and its ELPD, with standard errors.

    `weight` is its share in the mixture of the models that predicts best, `bad` how many rows have a k-hat
    that is too high, `level` that of the verdict on its draws.
    """

    name: str
    elpd_diff: float
    se_diff: float
    elpd: float
    se: float
    p_loo: float
    weight: float
    bad: int
    level: Level = Level.UNKNOWN

    @property
    def texts(self) -> tuple[str, ...]:
        """The figures as a table shows them, the name first."""
        name, *figures, bad, _ = astuple(self)
        return (name, *(f"{figure:.2f}" for figure in figures), str(bad))


class Comparison(Ranked[Compared]):
    """Models of the same rows of data, the one with the highest ELPD first; by position or by name.

    Example:
        >>> found = ppl.compare({"a": fit, "b": fit.more(500)})
        >>> len(found), found["a"].name
        (2, 'a')
    """

    headings = ("elpd_diff", "se_diff", "elpd_loo", "se_elpd", "p_loo", "weight", "bad k-hat")

    @property
    def reading(self) -> str:
        """The conclusion from the table, in a sentence or two."""
        return " ".join(reading(self))

    @property
    def poor(self) -> str:
        """The models whose fits are poor."""
        return ", ".join(model.name for model in self if model.level is Level.POOR)

    def __repr__(self) -> str:
        bad = ", ".join(model.name for model in self if model.bad)
        unreliable = f"; unreliable by k-hat: {bad}" if bad else ""
        return f"{super().__repr__()[:-1]}{unreliable}{f'; poor fits: {self.poor}' if self.poor else ''}>"


@dataclass(frozen=True)
class OfEvidence:
    """A model of an `EvidenceComparison`, in nats, with standard errors.

    `log_bf` is its log evidence less the best model's (a log Bayes factor), `probability` its posterior
    probability where all models have the same prior one.
    """

    name: str
    log_bf: float
    se_log_bf: float
    log_evidence: float
    se: float
    probability: float

    @property
    def texts(self) -> tuple[str, ...]:
        """The figures as a table shows them, the name first."""
        name, *figures = astuple(self)
        return (name, *(f"{figure:.3f}" for figure in figures))


class EvidenceComparison(Ranked[OfEvidence]):
    """Models of the same data, the one with the highest log evidence first; by position or by name.

    Example:
        >>> found = ppl.compare({"a": posterior.variational(), "b": (-40.0, 0.1)}, by="evidence")
        >>> found[0].name, bool(found["b"].log_bf < -5)
        ('a', True)
    """

    headings = ("log_bf", "se_log_bf", "log_evidence", "se", "probability")

    @property
    def reading(self) -> str:
        """The conclusion from the table, in a sentence or two."""
        best, *others = self
        close = [model.name for model in others if -model.log_bf < CLEAR_ERRORS * model.se_log_bf]
        if close:
            named = f"{', '.join(close)} and {best.name}"
            return f"The difference between {named} is within {CLEAR_ERRORS:g} standard errors: draw more."
        return (
            f"{best.name} has the highest evidence. It depends on the priors: wider priors of parameters "
            "that the models do not share lower it."
        )


def by_evidence(evidences: Mapping[str, Evidence]) -> EvidenceComparison:
    """Models by their log evidence; DataError where there are fewer than two.

    Source: Kass and Raftery (1995), "Bayes factors", JASA 90.
    """
    if len(evidences) < 2:
        raise DataError("a comparison needs two models or more.")
    names = sorted(evidences, key=lambda name: -evidences[name].value)
    best = evidences[names[0]]
    heights = np.exp([evidences[name].value - best.value for name in names])

    def compared(name: str, share: float) -> OfEvidence:
        value, se = evidences[name]
        off = float(np.hypot(se, best.se)) if name != names[0] else 0.0
        return OfEvidence(name, value - best.value, off, value, se, share)

    return EvidenceComparison(tuple(map(compared, names, (heights / heights.sum()).tolist())))


def evidence_of(name: str, model: Any) -> Evidence:
    """The log evidence of a fit, or a pair of it and its standard error.

    Raises:
        ArgumentError: the value is neither.
        InferenceError: the fit does not tell its evidence; names it.
    """
    if isinstance(model, tuple) and len(model) == 2:
        return Evidence(*map(float, model))
    if not hasattr(type(model), "log_evidence"):
        raise ArgumentError(
            f"compare(): {name} is a {type(model).__name__}, but must be a fit or a pair of a log evidence "
            "and its standard error"
        )
    try:
        return model.log_evidence
    except InferenceError as error:
        raise InferenceError(f"{name}: {error}") from None


class ComparisonByOutcome(ByOutcome[Comparison]):
    """Models compared by each of several outcomes: a mapping by the name of the outcome."""

    @property
    def reading(self) -> str:
        """That the ELPDs are not added up."""
        return NOT_ADDED

    def __repr__(self) -> str:
        return f"<ComparisonByOutcome: {', '.join(f'{name}: best {x[0].name}' for name, x in self.items())}>"

    def __str__(self) -> str:
        return "\n".join([*(f"{name}:\n{comparison}\n" for name, comparison in self.items()), self.reading])

    def _repr_html_(self) -> str:
        each = (html.paragraph(name) + comparison._repr_html_() for name, comparison in self.items())
        return "".join(each) + html.paragraph(self.reading)


@overload
def compare(
    models: Mapping[str, Fitted | Loo], by: Literal["loo"] = "loo", outcome: None = None
) -> Comparison | ComparisonByOutcome: ...
@overload
def compare(
    models: Mapping[str, Fitted | Loo], by: Literal["loo"] = "loo", *, outcome: str | Sequence[str]
) -> Comparison: ...
@overload
def compare(models: Mapping[str, Any], by: Literal["evidence"]) -> EvidenceComparison: ...
@checks
def compare(
    models: Mapping[str, Any], by: Literal["loo", "evidence"] = "loo", outcome: OutcomeNames = None
) -> Comparison | ComparisonByOutcome | EvidenceComparison:
    """Fits of several models to the same data, ordered by their ELPD (PSIS-LOO) or their log evidence.

    Models of several outcomes are compared by each; `outcome` chooses one, or several whose densities are
    added up by row, as in `fit.loo`. Chains of NUTS have no evidence. Pass a `Loo`, `fit.loo(log_lik="ll")`,
    if the log likelihood has another name than `log_lik`. Weights are stacking weights: Yao, Vehtari, Simpson
    and Gelman (2018), Bayesian Analysis 13.

    Raises:
        ArgumentError: a value is not a fit, chains, a `Loo` or a log evidence.
        DataError: there are fewer than two, one has no `log_lik`, or their outcomes, rows or data differ.
        InferenceError: a fit has no estimate of its log evidence.
        UnknownName: a model has no such outcome.

    Example:
        >>> print(ppl.compare({"a": fit, "again": fit.loo()}).models[1].elpd_diff)
        0.0
    """
    if by == "evidence":
        return by_evidence({name: evidence_of(name, model) for name, model in models.items()})
    for name, model in models.items():
        if not hasattr(model, "loo") and not isinstance(model, Loo | LooByOutcome):
            raise ArgumentError(
                f"compare(): {name} is a {type(model).__name__}, but must be a fit, chains or a Loo"
            )
    if len(models) < 2:
        raise DataError("a comparison needs two models or more.")
    loos_by_model = {name: loos_of(model, outcome) for name, model in models.items()}
    shared = outcomes_of_all(loos_by_model)
    comparisons = {
        o: by_elpd({name: loos.get(o) or loos[""] for name, loos in loos_by_model.items()}) for o in shared
    }
    return ComparisonByOutcome(comparisons) if len(comparisons) > 1 else comparisons[shared[0]]


def loos_of(model: Any, outcome: OutcomeNames) -> Mapping[str, Loo]:
    """The ELPDs of a model by outcome; of one whose outcome is unknown, by ""."""
    loo = model if isinstance(model, Loo | LooByOutcome) else model.loo(outcome)
    by_name = loo if isinstance(loo, LooByOutcome) else {loo.outcome: loo}
    if not outcome or [*by_name] == [""]:
        return by_name
    chosen = outcome if isinstance(outcome, str) else JOINED.join(outcome)
    if chosen not in by_name:
        raise UnknownName("no ELPD of the outcome", chosen, by_name)
    return {chosen: by_name[chosen]}


def outcomes_of_all(loos_by_model: Mapping[str, Mapping[str, Loo]]) -> Sequence[str]:
    """The outcomes that all models have; the unknown outcome of a `log_lik` may be the only one of another.

    Raises:
        DataError: a model has others; says what to do.
    """
    known = {name: [*loos] for name, loos in loos_by_model.items() if [*loos] != [""]}
    if not known:
        return [""]
    first, outcomes = next(iter(known.items()))
    for name in loos_by_model:
        own = known.get(name, outcomes if len(outcomes) == 1 else ["(a log_lik that names none)"])
        if {*own} != {*outcomes}:
            common = [o for o in outcomes if o in own]
            raise DataError(
                (
                    f"ELPDs of different outcomes cannot be compared: {first} has {', '.join(outcomes)}; "
                    f"{name} has {', '.join(own)}. ",
                    *(choose(common) if common else (OTHER_VARIABLE,)),
                )
            )
    return outcomes


def choose(common: Sequence[str]) -> tuple[str | Advice, ...]:
    """The advice if models have some outcomes in common."""
    return f"Choose an outcome that both have, {first_few(common)}: ", Advice("outcome", "NAME"), "."


OTHER_VARIABLE = (
    "Write the models for the same variable, such as `y ~ lognormal(mu, sigma)` instead of "
    "`log_y ~ normal(mu, sigma)`."
)


def by_elpd(loos: Mapping[str, Loo]) -> Comparison:
    """Models of one outcome, by name, in the order of their ELPD.

    Raises:
        DataError: their rows or data differ.
    """
    first, *others = loos
    for name in others:
        refuse_other_rows(first, loos[first], name, loos[name])
    names = sorted(loos, key=lambda name: -loos[name].elpd)
    weights = dict(zip(names, stacked(np.array([loos[name].elpds for name in names])), strict=True))
    best = loos[names[0]].elpds

    def compared(name: str, loo: Loo) -> Compared:
        differences = loo.elpds - best
        total, se = float(differences.sum()), se_of_sum(differences)
        figures = (loo.elpd, loo.se, loo.p_loo, float(weights[name]))
        return Compared(name, total, se, *figures, len(loo.bad), loo.level)

    return Comparison(tuple(compared(name, loos[name]) for name in names))


def refuse_other_rows(first: str, a: Loo, second: str, b: Loo) -> None:
    """DataError where two models of one outcome left out other rows, or rows with other data."""
    if len(a.names) != len(b.names):
        raise DataError(
            f"{first} has {len(a.names)} rows of log likelihood, {second} has {len(b.names)}: ELPDs can be "
            "compared on the same data only. Fit both to the same rows: leave out those with missing values "
            "of either before. A density of several entries is one row."
        )
    for one, other in zip(a.names, b.names, strict=True):
        if one.partition("[")[2] != other.partition("[")[2]:
            raise DataError(
                f"{first} leaves out {one} where {second} leaves out {other}: fit both to the same rows."
            )
    if a.observed is None or b.observed is None:
        return
    if a.observed.shape != b.observed.shape:
        raise DataError(f"the rows of {first} and {second} have different sizes: fit both to the same data.")
    same = np.isclose(a.observed, b.observed, rtol=SAME_DATA, atol=0, equal_nan=True)
    if not same.all():
        row, entry = np.argwhere(~same)[0]
        values = [f"{loo.observed[row, entry]:.8g}" for loo in (a, b) if loo.observed is not None]
        raise DataError(
            f"the data of {first} and {second} differ: {a.names[row]} is {values[0]} and {values[1]}. Fit "
            "both to the same data."
        )


def stacked(elpds: Floats) -> Floats:
    """The weights (models,) of the mixture that predicts the rows best, by their ELPDs (models, rows).

    The log score is that of a mixture with known components, which EM climbs to its one maximum.
    """
    densities = np.exp(elpds - elpds.max(axis=0))
    weights = np.full(len(elpds), 1 / len(elpds))
    for _ in range(WEIGHT_STEPS):
        old = weights
        weights = old * (densities / (old @ densities)).mean(axis=1)
        if np.abs(weights - old).max() < ENOUGH:
            break
    return weights


def reading(comparison: Comparison) -> Iterator[str]:
    """Which models are as good as the first, and which estimates cannot be relied on."""
    best, *others = comparison
    close = [model.name for model in others if -model.elpd_diff < CLOSE]
    if close:
        yield (
            f"{', '.join(close)} and {best.name} differ by less than {CLOSE:g} in ELPD: predictive "
            "performance is practically the same, and the standard error of the difference is unreliable."
        )
    unclear = [m.name for m in others if m.name not in close and -m.elpd_diff < ERRORS * m.se_diff]
    if unclear:
        yield (
            f"The difference between {', '.join(unclear)} and {best.name} is within {ERRORS:g} standard "
            "errors: it does not decide between them."
        )
    if bad := [f"{model.bad} of {model.name}" for model in comparison if model.bad]:
        yield (
            f"k-hat is too high or unknown for rows: {', '.join(bad)}. These ELPDs, their differences and "
            "the order are unreliable: `ppl loo` names the rows."
        )
    if comparison.poor:
        yield f"Fits that are poor: {comparison.poor}. Do not use their figures."
    if not (close or unclear or bad or comparison.poor):
        yield f"{best.name} predicts best; no k-hat is too high."
