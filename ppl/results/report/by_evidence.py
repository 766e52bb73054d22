"""Models of the same data by their log evidence: Bayes factors and posterior probabilities."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass

import numpy as np

from ppl.errors import DataError
from ppl.inference.correct.evidence import Evidence
from ppl.results.report.ranked import Ranked

CLEAR_ERRORS = 3.0
"""A log Bayes factor within so many standard errors of zero may be noise."""


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
        >>> found = ppl.compare({"a": fit, "b": (-40.0, 0.1)}, by="evidence")
        >>> found[0].name, bool(found["b"].log_bf < -5)
        ('a', True)
    """

    headings = ("log_bf", "se_log_bf", "log_evidence", "se", "probability")

    @property
    def reading(self) -> str:
        """What the table says, in a sentence or two."""
        best, *others = self
        close = [model.name for model in others if -model.log_bf < CLEAR_ERRORS * model.se_log_bf]
        if close:
            named = f"{', '.join(close)} and {best.name}"
            return f"The difference between {named} is within {CLEAR_ERRORS:g} standard errors: draw more."
        return (
            f"{best.name} has the highest evidence. It depends on the priors: wider priors of parameters "
            "that the models do not share lower it."
        )


def by_evidence(found: Mapping[str, Evidence]) -> EvidenceComparison:
    """Models by their log evidence; DataError where there are fewer than two.

    Source: Kass and Raftery (1995), "Bayes factors", JASA 90.
    """
    if len(found) < 2:
        raise DataError("a comparison needs two models or more.")
    names = sorted(found, key=lambda name: -found[name].value)
    best = found[names[0]]
    heights = np.exp([found[name].value - best.value for name in names])

    def compared(name: str, share: float) -> OfEvidence:
        value, se = found[name]
        off = float(np.hypot(se, best.se)) if name != names[0] else 0.0
        return OfEvidence(name, value - best.value, off, value, se, share)

    return EvidenceComparison(tuple(map(compared, names, (heights / heights.sum()).tolist())))
