"""The search for ADVI's step size (Kucukelbir et al. 2017, section 2.6)."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.context import Context
from ppl.kernel.advi.elbo import draws_with_density
from ppl.kernel.advi.optimise import Algorithm, begin, onward
from ppl.kernel.advi.outcome import Phase, Progress
from ppl.kernel.advi.target import Target
from ppl.records import dataclass, replace

SEARCHED_ETAS = (1.0, 0.1, 0.01, 10.0, 100.0)
"""The paper's, those that a good start bears first: larger ones mostly lead off it."""
FEWEST_SEARCH_DRAWS = 10
"""With one draw a gradient, 50 iterations rank the etas by luck as much as by merit."""


@dataclass(frozen=True)
class EtaSearch:
    """The chosen eta, the ELBO of each candidate, and a note on the choice or ""."""

    eta: float
    scores: dict[float, float]
    note: str


def search_eta(
    with_eta: Callable[[float], Algorithm],
    target: Target,
    params: Floats,
    context: Context[Any],
    etas: Sequence[float],
    min_draws: int,
) -> EtaSearch:
    """Try every eta for a few iterations from the same start and keep the one with the best ELBO.

    All candidates see the same noise, at least `min_draws` a gradient, and are scored on the same draws: they
    differ by eta alone. One that diverges scores -inf. As in Stan, scores that fall from one eta to a
    larger one are taken to fall further, and larger ones still are not tried. When none beats the start
    beyond noise, as when the start is already good, the smallest eta is taken and the note says so.

    Raises:
        InferenceError: the start itself has no ELBO.
    """
    iterations, listen = context.settings.adapt_iter, context.listen
    path_seed, score_seed = context.streams.search.spawn(2)
    seen = with_eta(etas[0]).rows.on_the_way(target)
    at_start = _elbo_terms(with_eta(etas[0]), seen, params, score_seed)
    total = len(etas) * iterations
    listen(Progress(Phase.STEP_SIZE, 0, total, float(at_start.mean())))
    terms: dict[float, Floats] = {}

    def end_of(eta: float) -> Floats:
        """The params a few iterations on."""
        algorithm = with_eta(eta)
        algorithm = replace(algorithm, grad_samples=max(min_draws, algorithm.grad_samples))
        run, rng = begin(algorithm, params), np.random.default_rng(path_seed)
        for ahead in onward(algorithm, target, run, rng, iterations):
            run = ahead
        return run.params

    for k, eta in enumerate(etas, start=1):
        if _is_past_the_best(eta, terms):
            continue
        try:
            terms[eta] = _elbo_terms(with_eta(eta), seen, end_of(eta), score_seed)
        except InferenceError:
            terms[eta] = np.full_like(at_start, -np.inf)
        elbo = float(terms[eta].mean())
        listen(Progress(Phase.STEP_SIZE, k * iterations, total, elbo, note=f"eta = {eta:g}"))
    return _choose(at_start, terms)


def _is_past_the_best(eta: float, tried: Mapping[float, Floats]) -> bool:
    """Whether the two largest etas below this one, both tried, say that larger is worse."""
    below = sorted(other for other in tried if other < eta)[-2:]
    return len(below) == 2 and bool(tried[below[1]].mean() < tried[below[0]].mean())


def _elbo_terms(algorithm: Algorithm, target: Target, params: Floats, seed: np.random.SeedSequence) -> Floats:
    """Log density plus entropy at each of elbo_samples draws: their mean is the ELBO."""
    family, rng = algorithm.family, np.random.default_rng(seed)
    draws = draws_with_density(target, family, params, algorithm.elbo_samples, rng)
    return draws.log_density + float(family.entropy(params))


def _choose(at_start: Floats, terms: dict[float, Floats]) -> EtaSearch:
    scores = {eta: float(values.mean()) for eta, values in terms.items()}
    best = max(scores, key=scores.__getitem__)
    if _improves(terms[best], at_start):
        return EtaSearch(best, scores, "")
    smallest = min(scores)
    note = (
        "No step size improved on the initial approximation, which may be good already; "
        f"eta = {smallest:g} is used."
    )
    return EtaSearch(smallest, scores, note)


def _improves(terms: Floats, before: Floats) -> bool:
    """Whether paired terms are larger than before beyond noise, in their mean or in most draws.

    The majority speaks where one terrible draw rules the mean and its standard error alike.
    """
    n, gain = len(terms), terms - before
    if n == 1:
        return bool(gain[0] > 0)
    in_mean = gain.mean() > 3 * gain.std(ddof=1) / math.sqrt(n)
    in_most = gain.mean() > 0 and (gain > 0).mean() > 0.5 + 2.5 / math.sqrt(n)
    return bool(in_mean or in_most)
