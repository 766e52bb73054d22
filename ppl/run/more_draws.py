"""More draws of a fit, without another one."""

from typing import Self

from ppl.density.log_density import LogDensity
from ppl.floats import Floats
from ppl.kernel.advi.context import Streams, stream
from ppl.kernel.advi.elbo import draws_with_density
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.outcome import Listener, silent
from ppl.kernel.advi.target import Target
from ppl.methods.diagnose.spread import Spread
from ppl.methods.moves.sampler import Adapted
from ppl.methods.recipes.nested import nested
from ppl.methods.recipes.result import Path, Result, result_of, result_of_chains
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, replace
from ppl.run.driver import FitDraws, draws_of
from ppl.run.memory_needed import require_memory
from ppl.run.table import tabulate
from ppl.run.target import target_of, threads_of_fit

MORE_DRAWS_STREAM = 0x6D6F
"""The stream "mo" of draws made after the fit."""
OF_SEVERAL_GAUSSIANS = ("pathfinder",)
"""Algorithms whose draws are not those of one q: more of them need another run."""


@dataclass(frozen=True)
class LaterStreams(Streams):
    """The streams of draws made after the fit, which are none of those of the fit."""

    draws = stream(MORE_DRAWS_STREAM)


@dataclass(frozen=True)
class RunResult:
    """What a run found, of which more draws are made."""

    family: Family
    params: Floats
    path: Path
    spread: Spread | None
    chains: Adapted | None = None

    @classmethod
    def of(cls, result: Result) -> Self:
        return cls(result.family, result.params, result.path, result.verdict.spread, result.adapted)


def more_draws(posterior: LogDensity, settings: Settings, found: RunResult, listen: Listener) -> FitDraws:
    """Fresh draws of a fit; `settings` are its own but for their number and seed.

    Raises:
        InferenceError: the density is not finite where the approximation lies.
    """
    require_memory(posterior.extent, settings)
    with threads_of_fit(posterior):
        target = target_of(posterior, settings)
        fresh = later_result(target, settings, found, listen)
        return draws_of(posterior, target, settings, fresh, key=MORE_DRAWS_STREAM, listen=listen)


def later_result(target: Target, options: Settings, found: RunResult, listen: Listener = silent) -> Result:
    """The Result with fresh draws, of which `options` has the number and the seed.

    Chains go on; draws by a field and of q are made once more.
    """
    streams = LaterStreams(options.seed)
    q = found.family, found.params, found.path
    if found.chains is not None:
        fresh = result_of_chains(target, *q, found.chains, Context(options, streams, listen))
    elif found.path.nested:
        own = Streams(int(streams.draws.integers(1 << 62)))
        fresh = nested(target, found.path.start, Context(options, own, listen))
    else:
        fresh = result_of(target, *q, Context(options, streams, listen))
    return replace(with_spread(fresh, found.spread), adapted=found.chains)  # from where its draws come again


def columns_of_more_draws(
    posterior: LogDensity, settings: Settings, options: Settings, old: Result
) -> Floats:
    """The same of q, neither weighted nor corrected, as columns alone: (draws, columns)."""
    require_memory(posterior.extent, options)
    with threads_of_fit(posterior):
        target = target_of(posterior, settings)
        rng = LaterStreams(options.seed).draws
        fresh = draws_with_density(target, old.family, old.params, options.draws, rng)
        return tabulate(posterior, fresh.u, options.seed, key=MORE_DRAWS_STREAM).rows


def with_spread(result: Result, spread: Spread | None) -> Result:
    """The result judged in the light of other runs too, where there were any: they are not run again."""
    return replace(result, verdict=replace(result.verdict, spread=spread)) if spread else result
