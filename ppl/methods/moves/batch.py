"""Chains of the method `sample` from many short ones in lockstep.

Each chain is several short ones, one after the other, that began at draws of one Pathfinder: a superchain of
Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari and Gelman (2024), "Nested R-hat", Bayesian Analysis.
Split R-hat of such chains is nested R-hat, and autocorrelations end where a short chain does.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.outcome import Listener, Phase, Progress
from ppl.kernel.advi.start import Init, Warm, start_point
from ppl.kernel.advi.target import Target
from ppl.methods.initialise.pathfinder import pathfinder
from ppl.methods.moves.ending import MOVES, begun, most_gradients, until_stationary
from ppl.methods.moves.sampler import Sampler
from ppl.methods.nuts.chain import Chain, NutsDraws
from ppl.methods.run.settings import SampleSettings


class ShortChainLimits(NamedTuple):
    """How many short chains there are."""

    chains: int = 128
    """Short chains, about."""

    nearby: float = 0.1
    """How far from a start, on the unconstrained scale, chains begin if Pathfinder fails there."""


SHORT_CHAINS = ShortChainLimits()


def run_batch(
    target: Target,
    inits: Sequence[Init],
    settings: SampleSettings,
    rng: np.random.Generator,
    listen: Listener,
) -> list[Chain]:
    """A chain from each init; after Ctrl-C those of the draws so far.

    The warmup ends once the chains are stationary, after `num_warmup` moves at most.

    Raises:
        InferenceError: there is no start with a finite log density, or chains do not leave it.
    """
    own = -(-SHORT_CHAINS.chains // len(inits))
    with np.errstate(all="ignore"):  # a trajectory too far overflows, and is rejected
        starts = np.stack([starts_at(target, init, own, rng) for init in inits], axis=1)  # by number, by init
        try:
            origin = np.zeros((1, target.dim))
            sampler = begun(target, starts.reshape(-1, target.dim), origin, rng, len(inits))
            sampler.acceptance = settings.delta
            warm_up(sampler, len(inits), settings.num_warmup, listen)
        except np.linalg.LinAlgError as why:
            raise InferenceError(
                f"The chains could not be moved: {why}. Start elsewhere, or use NUTS."
            ) from None
        moves = -(-settings.num_samples // own)
        drawn = list[NutsDraws]()
        try:
            for number in range(moves):
                listen(Progress(Phase.SAMPLING, number * own, settings.num_samples))
                drawn.append(one_move(sampler))
        except KeyboardInterrupt:
            if not drawn:
                raise
    u, statistics = (np.array([getattr(draws, part) for draws in drawn]) for part in ("u", "statistics"))
    chains = []
    for k in range(len(inits)):
        each = (joined(x[:, k :: len(inits)])[: settings.num_samples] for x in (u, statistics))
        none = NutsDraws(np.empty((0, target.dim)), np.empty((0, statistics.shape[-1])))
        chains.append(Chain(none, NutsDraws(*each), sampler.metric.variances, sampler.step))
    return chains


def starts_at(target: Target, init: Init, n: int, rng: np.random.Generator) -> Floats:
    """n starts (n, dim): draws of an earlier q, or of the best Gaussian on the way up from the start."""
    if isinstance(init, Warm) and init.family.scales(init.params).all():
        return np.asarray(init.family.transform(init.params, init.family.noise(n, rng)))
    start = start_point(target, init, rng)
    try:
        return pathfinder(target, start, rng).sample(n, rng)
    except InferenceError:
        return np.asarray(start + SHORT_CHAINS.nearby * rng.standard_normal((n, target.dim)))


def warm_up(sampler: Sampler, groups: int, most: int, listen: Listener) -> None:
    """Move chains, in turn of so many groups, until they are stationary.

    At most `most` times; not at all if these are too few to tell.
    """
    stages = [moves for k, moves in enumerate(MOVES.stages) if sum(MOVES.stages[: k + 1]) <= most]

    def tell(progress: Progress) -> None:
        listen(Progress(Phase.WARMUP, progress.iteration, progress.total))

    if most >= MOVES.shortest:
        gradients = most_gradients(sampler.target.width) or MOVES.fewest_gradients
        origin = np.zeros((1, sampler.target.dim))
        until_stationary(sampler, origin, gradients, MOVES.fewest_effective, groups, tell, stages)


def one_move(sampler: Sampler) -> NutsDraws:
    """Positions and `STATISTICS` of all chains after one more move, which adapts nothing."""
    (u,), (log_p,), _ = sampler.stage(1, rate=0.0)
    last = sampler.last
    count = np.full(len(u), last.length, dtype=float)
    depth = np.ceil(np.log2(count + 1))
    return NutsDraws(
        u, np.column_stack([log_p, last.chance, last.steps, depth, count, last.divergent, last.energy])
    )


def joined(each: Floats) -> Floats:
    """(moves, chains, columns), one chain after the other: (chains * moves, columns)."""
    return np.swapaxes(each, 0, 1).reshape(-1, each.shape[-1])
