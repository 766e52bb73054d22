"""The search for ADVI's step size (Kucukelbir et al. 2017, section 2.6)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ppl.errors import InferenceError
from ppl.inference.elbo import estimate_elbo
from ppl.inference.optimise import Algorithm, Run, advance, begin
from ppl.inference.progress import Listener, Progress
from ppl.inference.target import Array, Target

ETAS = (100.0, 10.0, 1.0, 0.1, 0.01)


@dataclass(frozen=True)
class EtaSearch:
    """The chosen eta, the ELBO of the start and of each candidate, and a note on the choice or ""."""

    eta: float
    start_elbo: float
    scores: dict[float, float]
    note: str


def search_eta(
    with_eta: Callable[[float], Algorithm],
    target: Target,
    params: Array,
    iterations: int,
    seed: np.random.SeedSequence,
    listen: Listener,
) -> EtaSearch:
    """Try every eta for a few iterations from the same start and keep the one with the best ELBO.

    All candidates see the same noise and are scored on the same draws, so that they differ by eta alone; one
    that diverges scores -inf. When none beats the start, as when the start is already good, the smallest eta
    is taken and the note says so.

    Raises:
        InferenceError: the start itself has no ELBO.
    """
    path_seed, score_seed = seed.spawn(2)

    def score(algorithm: Algorithm, params: Array) -> float:
        rng = np.random.default_rng(score_seed)
        return estimate_elbo(target, algorithm.family, params, algorithm.elbo_samples, rng).value

    def attempt(eta: float) -> float:
        algorithm = with_eta(eta)
        rng = np.random.default_rng(path_seed)
        run: Run = begin(algorithm, params)
        try:
            for _ in range(iterations):
                run = advance(algorithm, target, run, rng)
            elbo = score(algorithm, run.params)
        except InferenceError:
            return -math.inf
        return elbo if math.isfinite(elbo) else -math.inf

    start_elbo = score(with_eta(ETAS[-1]), params)
    scores: dict[float, float] = {}
    for k, eta in enumerate(ETAS, start=1):
        scores[eta] = attempt(eta)
        listen(
            Progress("eta search", k * iterations, len(ETAS) * iterations, scores[eta], note=f"eta = {eta:g}")
        )
    return _choose(start_elbo, scores)


def _choose(start_elbo: float, scores: dict[float, float]) -> EtaSearch:
    best = max(scores, key=scores.__getitem__)
    if scores[best] > start_elbo:
        return EtaSearch(best, start_elbo, scores, "")
    smallest = min(scores)
    note = (
        f"No step size improved on the start, which may be good already; the smallest, {smallest:g}, is used."
    )
    return EtaSearch(smallest, start_elbo, scores, note)
