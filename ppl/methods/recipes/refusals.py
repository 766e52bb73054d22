"""Choices of parts that do not go together, each with the reason."""

from collections.abc import Iterator

from ppl.errors import InferenceError
from ppl.methods.run.settings import Settings

WITHOUT_STEPS = ("fixed-draws", "nested", "laplace", "pathfinder", "optimize")
GAUSSIAN = ("laplace", "nested", "pathfinder", "optimize")
# Estimators that take the entropy of q from log q itself.
FROM_LOG_Q = ("sticking-the-landing", "black-box")


class Refused(Exception):
    """Why there are no good draws of a field, in a clause."""


def refuse(settings: Settings) -> None:
    """Raises InferenceError for the first choice that makes no sense."""
    for reason in _reasons(settings):
        raise InferenceError(reason, "PPL975")


def _reasons(chosen: Settings) -> Iterator[str]:
    name = chosen.algorithm
    if name in WITHOUT_STEPS:
        yield from _of_no_use(chosen)
    if name in GAUSSIAN and chosen.noise != "normal":
        yield f"{name} shifts and scales no noise; noise = {chosen.noise!r} does not apply to it."
    if name == "lowrank" and chosen.noise in ("logistic", "laplace"):
        yield (
            f"lowrank adds two noise terms, and a sum of {chosen.noise} noise has no density in closed form; "
            "expected noise normal or student_t."
        )
    if name == "ssvb" and chosen.estimator not in (None, "stochastic-search"):
        yield f"ssvb is stochastic search; for estimator = {chosen.estimator!r} use fullrank."
    if name == "dsvi-ard" and chosen.estimator in FROM_LOG_Q:
        yield (
            f"{chosen.estimator} takes the entropy from log q, which lacks the prior that dsvi-ard has taken "
            "out; expected reparameterised, score-function or stochastic-search."
        )
    if name in ("pathfinder", "optimize") and chosen.correct:
        yield f"{name} has no q whose draws could be corrected; correct does not apply to it."
    if chosen.correct and chosen.minibatch is not None:
        yield "correct needs all rows at once and does not work with minibatches; omit one of them."
    if chosen.step_rule == "dowg" and chosen.eta is not None:
        yield f"dowg finds its own step size; omit eta = {chosen.eta:g}."
    if chosen.stop == "iterate-rhat" and not chosen.average:
        yield "iterate-rhat monitors the error of the averaged iterates; it requires average = True."


def _of_no_use(chosen: Settings) -> Iterator[str]:
    """The settings that do not apply to an algorithm without stochastic steps."""
    for part in ("estimator", "step_rule", "stop"):
        if (value := getattr(chosen, part)) is not None:
            yield f"{chosen.algorithm} takes no stochastic steps; {part} = {value!r} does not apply to it."
    if chosen.minibatch is not None:
        yield (
            f"{chosen.algorithm} needs all rows at once; minibatch = {chosen.minibatch} does not apply to "
            "it. Minibatches need stochastic steps: auto, meanfield, fullrank, lowrank, ssvb, dsvi, "
            "dsvi-diagonal and dsvi-ard."
        )
