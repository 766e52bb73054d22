"""Whether a fit tells the evidence, and why it does not."""

from ppl.inference.correct.evidence import Evidence
from ppl.inference.diagnose.level import Level
from ppl.inference.recipes.result import Result

MOST_UNCERTAIN = 1.0
"""The standard error, in nats, above which neither the evidence nor its error is known."""
TRUSTED = (Level.GOOD, Level.USABLE)
OTHER_INTEGRALS = {
    "optimize": "A mode is a point without weights: use another algorithm.",
    "dsvi-ard": "The prior of the vector named by `ard` was optimised away: use another algorithm.",
}


def evidence_of(result: Result) -> Evidence | None:
    """The log evidence of a fit, None where `no_evidence` says why it is unknown."""
    return None if no_evidence(result) else result.evidence


def no_evidence(result: Result, judgement: str = "Its verdict is poor.") -> str:
    """Why a fit does not tell the evidence, in a sentence, or by its judgement; "" where it does."""
    settings, found = result.settings, result.evidence
    if settings.algorithm in OTHER_INTEGRALS:
        return OTHER_INTEGRALS[settings.algorithm]
    if settings.jacobian is False:
        return "The log-Jacobian was omitted: fit without jacobian = False."
    if result.verdict.level not in TRUSTED:
        return judgement
    if found is None:
        return "There are too few annealed points for so many parameters."
    if not found.se <= MOST_UNCERTAIN:
        return f"Its standard error would be {found.se:.2g} nats: use more draws, or reparameterise."
    return ""
