"""What a recipe leaves, and how it is made from the q that was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from ppl.inference.draws import draws_with_density
from ppl.inference.elbo import elbo_of
from ppl.inference.families.family import Family
from ppl.inference.optimise import TracePoint
from ppl.inference.outcome import Outcome
from ppl.inference.settings import Settings
from ppl.inference.target import Array, Target


@dataclass(frozen=True)
class Result:
    """What a run leaves.

    `family` and `params` (size,) are q itself, `mean_u` (dim,) its mean. `draws_u` (draws, dim) are draws of
    q; `log_p`, `log_q` and `log_g` (draws,) are the log densities there of the target, of q, and of q without
    its constants as CmdStan writes it, log q(u) - log q(mean). `final_elbo` and its standard error, in nats,
    are from fresh draws. `dropped` counts draws whose log density was not finite; `notes` are sentences for
    the user.
    """

    settings: Settings
    family: Family
    params: Array
    start: Array
    eta: float
    eta_scores: dict[float, float]
    iterations: int
    trace: tuple[TracePoint, ...]
    outcome: Outcome
    final_elbo: float
    final_elbo_se: float
    draws_u: Array
    log_p: Array
    log_q: Array
    log_g: Array
    dropped: int
    notes: tuple[str, ...]

    @property
    def mean_u(self) -> Array:
        return self.family.mean(self.params)


@dataclass(frozen=True)
class Path:
    """How q was come by: where the run started, its step size, and what it met on the way."""

    start: Array
    outcome: Outcome
    eta: float = nan
    eta_scores: Mapping[float, float] = field(default_factory=dict)
    iterations: int = 0
    trace: tuple[TracePoint, ...] = ()
    dropped: int = 0
    notes: Sequence[str] = ()


def result_of(
    target: Target, settings: Settings, family: Family, params: Array, path: Path, rng: np.random.Generator
) -> Result:
    """Draw from the final q. The draws are fresh, so the final ELBO rests on them, at least elbo_samples."""
    fresh = draws_with_density(target, family, params, max(settings.draws, settings.elbo_samples), rng)
    elbo = elbo_of(fresh.log_density, family.entropy(params), fresh.dropped)
    kept = slice(settings.draws)
    log_q = family.log_density(params, fresh.u[kept])
    return Result(
        settings=settings,
        family=family,
        params=params,
        start=path.start,
        eta=path.eta,
        eta_scores=dict(path.eta_scores),
        iterations=path.iterations,
        trace=path.trace,
        outcome=path.outcome,
        final_elbo=elbo.value,
        final_elbo_se=elbo.se,
        draws_u=fresh.u[kept],
        log_p=fresh.log_density[kept],
        log_q=log_q,
        log_g=log_q - family.log_density(params, family.mean(params)[None]),
        dropped=path.dropped + elbo.dropped,
        notes=(*path.notes, *_notes(path, elbo.value, path.dropped + elbo.dropped)),
    )


def _notes(path: Path, final_elbo: float, dropped: int) -> list[str]:
    notes = []
    best = max((point.elbo for point in path.trace), default=-np.inf)
    if best - final_elbo > max(1.0, 0.05 * abs(final_elbo)):
        notes.append(f"The ELBO was higher on the way ({best:.6g}) than at the end; try a smaller eta.")
    if dropped:
        notes.append(f"{dropped} draws had no finite log density and were redrawn.")
    return notes
