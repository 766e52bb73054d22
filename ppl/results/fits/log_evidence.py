"""Whether a fit tells the evidence, and why it does not."""

from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.correct.evidence import Evidence
from ppl.methods.diagnose.level import Level
from ppl.methods.recipes.result import Result

TRUSTED = (Level.GOOD, Level.USABLE)
OTHER_INTEGRALS = {
    "optimize": "A mode is a point without weights: use another algorithm.",
    "dsvi-ard": "The prior of the vector named by `ard` was optimised away: use another algorithm.",
}
PERHAPS_MORE_IMAGES = (
    "The posterior has images of its mode under exchanges of labels or signs, and perhaps more of them than "
    "were found: declare the parameters of labels as arrays, order them, or fix a sign."
)


def evidence_of(result: Result) -> Evidence | None:
    """The log evidence of a fit, None where `no_evidence` says why it is unknown."""
    return result.evidence.evidence if result.evidence and not no_evidence(result) else None


def no_evidence(result: Result, judgement: str = "Its verdict is poor.") -> str:
    """Why a fit does not tell the evidence, in a sentence, or by its judgement; "" where it does."""
    settings, evidence = result.settings, result.evidence
    if settings.algorithm in OTHER_INTEGRALS:
        return OTHER_INTEGRALS[settings.algorithm]
    if settings.jacobian is False:
        return "The log-Jacobian was omitted: fit without jacobian = False."
    if result.verdict.level not in TRUSTED:
        return judgement
    if result.verdict.modes and result.verdict.made is not DrawSource.MOVED:
        return "The draws do not reach the other modes: fit with move = True."
    if sum(mode.is_symmetric for mode in result.verdict.modes) > 1:
        return PERHAPS_MORE_IMAGES
    if evidence is not None:
        return evidence.doubt
    if not settings.corrects:
        return "Other modes were not searched for: omit the algorithm, or fit with correct = True."
    if result.verdict.made is DrawSource.MOVED:
        return "There are too few moved draws for so many parameters."
    return "The fit was interrupted before it."


def unknown_evidence(result: Result) -> str:
    """The reason, where `auto` could be expected to tell the evidence; "" where it does, or could not be."""
    expected = result.settings.corrects and result.verdict.level in TRUSTED
    return no_evidence(result) if expected else ""
