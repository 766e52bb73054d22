"""The ending of every fit: chains from its draws, moved until nothing changes.

The draws of any path are nearly the posterior's. Trajectories of Hamiltonian Monte Carlo leave the posterior
as it is, so whether draws change while they are moved says whether they were the posterior's, and once they
no longer do, they are.
"""

from collections.abc import Mapping, Sequence
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.context import NULL_JOURNAL, Journal
from ppl.kernel.advi.outcome import Listener, Phase, Progress, silent
from ppl.kernel.advi.target import Often, Target
from ppl.methods.moves.funnels import Coordinates
from ppl.methods.moves.metric import metric_of
from ppl.methods.moves.mixing import Mixing, MoveStage, about_modes, compare, joined, uneven
from ppl.methods.moves.sampler import SAMPLER, Adapted, Sampler, all_of
from ppl.methods.moves.trajectories import chains_at
from ppl.methods.numerics.quantiles import median
from ppl.records import dataclass, field, replace


class EndingLimits(NamedTuple):
    """How long chains are moved, and when they count as draws of the posterior."""

    chains: int = 128
    """Chains. With 64 a drift of 0.2 sd is lost in its noise."""

    stages: tuple[int, ...] = (2, 2, 4, 4, 6, 9, 13, 20, 30, 45, 68, 100, 150)
    """Moves in each stage."""

    kept: int = 3
    """Stages whose positions are kept, the last ones, where chains changed; what is before is warm-up."""

    kept_unchanged: int = 6
    """The same where nothing changed, and no sd hangs on a few chains: a third fewer moves will do then."""

    fewest_moves: int = 4
    """Moves of a stage from which on it may be the last."""

    hopeless: float = 100.0
    """How many nats, beside one for each dimension, the log density of a start may be lower than others'."""

    drift: float = 0.03
    """The change of a mean, an sd or a quantile from stage to stage, in sds and beyond its noise, below which
    draws are still good. Chains go on at any: what noise may hide is several times as much."""

    effective: int = 1000
    """Independent draws that these must be worth, for every statistic of every coordinate."""

    many_moves: int = 40
    """Moves after which half as many will do: where chains began is forgotten, and what is left is noise."""

    fewest_effective: int = 400
    """The same where fewer draws are written."""

    patience: float = 2.0
    """How many times as many moves as would do are made where an sd is not known well."""

    most_uneven: float = 0.03
    """By how much more than by chance the number of rejected trajectories varies over chains, a move, where
    there are narrow regions: beside them chains are rejected again and again, and enter so slowly that the
    change from stage to stage is within its noise. Noise in 128 chains is about 0.01."""

    moves_into_narrow: int = 100
    """Moves that chains make at least where there are such regions, unless they begin there."""

    most_sd_error: float = 0.1
    """The standard error of an sd, as a share of it, from which on it is not: as where one chain stays in a
    tail."""

    shortest_share: float = 0.34
    """The share of its usual moves that a stage has at least, where fewer seem to do after `many_moves`."""

    most_gradients: int = 400_000
    """Gradients at all chains together."""

    most_work: int = 2**31
    """Numbers that these gradients may work through: a minute or two."""

    fewest_gradients: int = 20_000
    """Gradients that they may take all the same, without which chains are not begun."""

    most_work_of_fewest: int = 2**33
    """Numbers that these may work through for chains to begin."""

    in_vain: float = 2.0
    """How many times as many gradients as they may take chains that go on may seem to need."""

    shortest_trajectory: float = 0.5
    """The length in sds that trajectories of the most steps have at least; chains that change and whose
    trajectories are shorter are about places of very different widths, and come to no end."""

    @property
    def shortest(self) -> int:
        """Moves of chains that are stationary from the beginning, and worth enough."""
        return sum(self.stages[: 1 + self.stages.index(self.fewest_moves)])

    most_recorded: int = 2**24
    """Numbers in the positions of a state that is recorded to go on from."""


MOVES = EndingLimits()
RECORDED = "moves"
"""The name of the state of chains in the journal of a run."""


def most_gradients(width: int) -> int:
    """Gradients that chains may take where one works through `width` numbers; 0 for too few to begin."""
    most = min(MOVES.most_gradients, max(MOVES.fewest_gradients, MOVES.most_work // width))
    return most if most * width <= MOVES.most_work_of_fewest else 0


@dataclass(frozen=True)
class Moved:
    """Positions u (n, dim) of chains, their log densities (n,), and the number of the chain (n,) of each.

    They are those of the last stages, of `moves` moves together. `mixing` compares the last with the others.
    `divergent` is the share of the trajectories of the last stage that diverged with a shorter step too,
    `unevenness` by how much more than by chance the number of its rejected ones varies over chains, a move,
    `gradients` how many gradients were evaluated, `earlier_gradients` how many of them before the last stage,
    `total_moves` how many trajectories each chain made. Chains that are not done have a `bound`, the
    gradients that they may take. They ended `adapted`, in coordinates of `funnels` if there are any.
    """

    u: Floats
    log_p: Floats
    chain: NDArray[np.intp]
    mixing: Mixing
    divergent: float = 0.0
    unevenness: float = 0.0
    gradients: int = 0
    earlier_gradients: int = 0
    moves: int = 0
    total_moves: int = 0
    chains: int = 0
    bound: int = 0
    mode: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    adapted: Adapted | None = None
    funnels: Coordinates | None = None

    @property
    def stationary(self) -> bool:
        """Whether nothing changed from stage to stage beyond noise, and chains from both starts agree."""
        return not self.mixing.largest_drift and not self.mixing.apart.any()

    @property
    def knows_sds(self) -> bool:
        """Whether no sd hangs on a few chains, as where one has begun far out in a tail."""
        return bool(self.mixing.sd_errors.max(initial=0.0) < MOVES.most_sd_error)

    def without_positions(self) -> "Moved":
        """What is known of the positions, without them: they are several times as many as the draws."""
        none = {name: getattr(self, name)[:0].copy() for name in ("u", "log_p", "chain", "mode")}
        return replace(self, **none, adapted=None, funnels=None)


class StageEnd(NamedTuple):
    """Chains after so many stages: those kept, whether each entered necks, after how many moves they were
    first worth enough and how many they make at least, 0 where that is not known, how many more may do, and
    the state of the sampler.
    """

    stages: int
    kept: tuple[MoveStage, ...]
    entered: tuple[bool, ...]
    enough_after: int
    fewest_moves: int
    more: float
    sampler: Mapping[str, Any]


def begun(
    target: Target,
    u: Floats,
    centres: Floats,
    rng: np.random.Generator,
    groups: int = 1,
    starts_right: bool = False,
    funnels: Coordinates | None = None,
) -> Sampler:
    """Chains at u (n, dim), in turn of so many groups; one without a density begins where another does.

    Those that `starts_right` need no funnels to show it: fits of these took up to a third of a whole run.
    In coordinates that are known, `funnels`, they stay, and their first moves need not be short.

    Raises LinAlgError where none has a density, or they fell together.
    """
    chains = chains_at(target, u)
    finite = np.isfinite(chains.log_p)
    if not finite.any():
        raise np.linalg.LinAlgError("no chain has a density")

    def residuals(u: Floats) -> Floats:
        return about_modes(all_of(u), nearest(all_of(u), centres))

    own = chains.at(others_for(~finite, groups, rng))
    straight = len(centres) > 1 or funnels is not None
    straightens_from = inf if straight else MOVES.shortest + 1 if starts_right else 0
    first = SAMPLER.first_moves if funnels is None else 0
    return Sampler(target, own, rng, residuals, straightens_from, funnels, first)


def free_stuck(sampler: Sampler, before: Floats, groups: int = 1) -> None:
    """In place of a chain that has not moved from `before` (n, dim), another of its group that has.

    Nor does one move whose density is next to nothing: where it is, the slope is too steep for any step.
    """
    u, log_p = sampler.chains.u, sampler.chains.log_p
    least = median(log_p) - MOVES.hopeless - u.shape[1]
    stuck = (u == before).all(axis=1) | (log_p < least)
    if stuck.all():
        raise np.linalg.LinAlgError("no chain can be moved")
    sampler.chains = sampler.chains.at(others_for(stuck, groups, sampler.rng))


def others_for(bad: NDArray[np.bool_], groups: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The places (n,) of all, and for those that are bad the place of another of the group, if it has one."""
    places = np.arange(len(bad))
    for own in (places[group::groups] for group in range(groups)):
        good = own[~bad[own]]
        if len(good):
            own[:] = np.where(bad[own], rng.choice(good, len(own)), own)
    return places


def moved(
    target: Target,
    starts: Floats,
    rng: np.random.Generator,
    most: int,
    listen: Listener = silent,
    effective: float = MOVES.effective,
    centres: Floats | None = None,
    frees_stuck: bool = False,
    step: float | None = None,
    starts_right: bool = False,
    journal: Journal = NULL_JOURNAL,
    funnels: Coordinates | None = None,
) -> Moved:
    """Chains from `starts` (n, dim), moved until they are stationary and worth so many independent draws.

    Even and odd chains may begin at different starts, which then must agree; `centres` (modes, dim) are those
    of modes, where there are several. If it `frees_stuck`, a chain that cannot move from where it begins, and
    which was put there by no weight, gives its place to another. With a `step` size chains go on that have
    moved before, in coordinates of their metric, and first leave where they are. Positions from before
    funnels were found count only if all `starts_right`, most likely; `funnels` are known from the first.
    About `most` gradients are evaluated at most. The same generator gives the same draws to the last bit,
    also where the run goes on from a stage in the journal.

    Raises:
        LinAlgError: the chains fell together, or none has a density.
    """
    with np.errstate(all="ignore"):  # a trajectory too far overflows, and is rejected
        at = np.zeros((1, target.dim)) if centres is None else centres
        sampler = begun(target, starts, at, rng, starts_right=starts_right, funnels=funnels)
        if step is not None:
            same = np.ones(target.dim)
            sampler.step, sampler.metric = step, sampler.metric._replace(factors=(same, same))
            sampler.stage(MOVES.fewest_moves)
        groups = int(frees_stuck)
        ends = (most, effective, groups, listen, MOVES.stages, starts_right, journal)
        return until_stationary(sampler, at, *ends)


def until_stationary(
    sampler: Sampler,
    centres: Floats,
    most: int,
    effective: float,
    groups: int,
    listen: Listener = silent,
    stages: Sequence[int] = MOVES.stages,
    starts_right: bool = False,
    journal: Journal = NULL_JOURNAL,
) -> Moved:
    """The chains of a sampler moved on, with the arguments of `moved`; at most through these stages.

    A stuck chain gives its place to another of its group, of so many; of 0 groups, to none. Chains that
    check draws are first compared with these: what changes fast has changed before the stages are made.
    """
    start = sampler.chains.u
    kept, entered = list[MoveStage](), list[bool]()  # whether its moves were those that enter necks
    straight_at_first = starts_right or sampler.necks is not None
    written = effective >= MOVES.fewest_effective  # fewer are to check draws by weights
    first, enough_after, fewest_moves, more = 0, 0, 0, inf
    if (left := journal.recall(RECORDED, sampler.rng)) is not None:
        first, kept, entered = left.stages, [*left.kept], [*left.entered]
        enough_after, fewest_moves, more = left.enough_after, left.fewest_moves, left.more
        sampler.go_on_from(left.sampler)
    for number, moves in list(enumerate(stages))[first:]:
        if number and sum(stage.u.size for stage in kept) <= MOVES.most_recorded:
            ends = (enough_after, fewest_moves, more)
            end = StageEnd(number, tuple(kept), tuple(entered), *ends, sampler.state)
            journal.record(RECORDED, end, sampler.rng)
        moves = ceil(min(moves, max(more, MOVES.shortest_share * moves, MOVES.fewest_moves)))
        may_end = max(sampler.moves + moves, MOVES.shortest, fewest_moves)
        listen(Progress(Phase.MOVES, sampler.moves, may_end))
        came, spent, straight = sampler.chains.u, sampler.gradients, sampler.straight_moves
        sampler.target = sampler.target.view(Often(spent)) or sampler.target
        u, log_p, rejected = sampler.stage(moves, SAMPLER.learning_rate / (1 + number / 4))
        stage = MoveStage(u, log_p, nearest(u, centres), rejected)
        if number == 0:
            if groups:
                free_stuck(sampler, came, groups)
            continue
        if sampler.dispersed_after == sampler.moves - moves and number + 1 < len(stages):
            kept, entered = [], []  # chains have left where they were, and are on their way back
            continue
        late = sampler.necks is not None and not straight_at_first
        entered = [*entered, not late or straight >= MOVES.fewest_moves][-MOVES.kept_unchanged :]
        kept, more = [*kept, stage][-MOVES.kept_unchanged :], inf
        if moves >= MOVES.fewest_moves:
            over = sampler.gradients * (1 + 1 / (number + 1)) > most or number + 1 == len(stages)
            own = [stage for stage, enters in zip(kept, entered, strict=True) if enters or over]
            if len(own) < 2:
                continue
            chains = _moved(joined(own[:-1]), stage, sampler, centres, spent)
            if len(own) > MOVES.kept and not (chains.stationary and chains.knows_sds):
                kept, entered, own = kept[-MOVES.kept :], entered[-MOVES.kept :], own[-MOVES.kept :]
                chains = _moved(joined(own[:-1]), stage, sampler, centres, spent)
            if not written and sampler.moves == MOVES.shortest:
                chains = replace(chains, mixing=chains.mixing.since(start, joined(own).u, MOVES.drift))
            worth, least = chains.mixing.fewest_effective, needed(effective, chains)
            enough = chains.stationary and worth >= least
            if enough and not enough_after:
                enough_after = sampler.moves
                of_all = uneven(np.concatenate([stage.rejected for stage in own]))
                narrow = written and of_all > MOVES.most_uneven and not starts_right
                fewest_moves = MOVES.moves_into_narrow if narrow else 0
                left = fewest_moves - sampler.moves
                if left > 0 and not over and (count := chains_for(chains, least, left)) < chains.chains:
                    sampler.keep(count)
                    kept, entered = [], []
                    continue
            unsure = written and not chains.knows_sds
            settled = sampler.dispersed_after + MOVES.many_moves
            until = max(fewest_moves, settled, enough_after * (MOVES.patience if unsure else 1))
            if enough and sampler.moves >= until:
                return chains
            if over or is_in_vain(chains, sampler.step, effective, most):
                return chains if enough else replace(chains, bound=most)
            if chains.stationary and sampler.moves >= MOVES.many_moves:
                left_out = len(own[0].u) if len(own) == MOVES.kept_unchanged else 0
                more = max(chains.moves * (least / max(worth, 1.0) - 1) + left_out, until - sampler.moves)
    return chains


def is_in_vain(moved: Moved, step: float, effective: float, most: int) -> bool:
    """Whether chains with steps of that size would take far more than so many gradients to be worth a fit, by
    what they are now.
    """
    if not moved.stationary and step * SAMPLER.most_steps < MOVES.shortest_trajectory:
        return True
    least = needed(min(effective, MOVES.effective), moved)
    moves = moved.moves * least / max(moved.mixing.fewest_effective, 1.0)
    gradients = moves * moved.gradients / moved.total_moves
    return moved.total_moves >= MOVES.many_moves and gradients > MOVES.in_vain * most


def chains_for(moved: Moved, effective: float, moves: int) -> int:
    """How many of the chains should be worth so many draws after so many moves, as they mix now."""
    rate = moved.mixing.fewest_effective / (moved.chains * moved.moves)
    return max(min(MOVES.chains, moved.chains), ceil(effective / (rate * moves)))


def needed(effective: float, moved: Moved) -> float:
    """The independent draws with which chains end that should be worth so many; those that are written in the
    place of draws that changed, which few would check, are worth `fewest_effective`.
    """
    if moved.total_moves > MOVES.shortest:
        effective = max(effective, MOVES.fewest_effective)
    if moved.total_moves < MOVES.many_moves or effective > MOVES.effective:
        return effective
    return min(effective, max(MOVES.fewest_effective, effective / 2))


def nearest(u: Floats, centres: Floats) -> NDArray[np.intp]:
    """The number of the centre (modes, dim) that is nearest to each of u (..., dim)."""
    if len(centres) == 1:
        return np.zeros(u.shape[:-1], dtype=np.intp)
    index: NDArray[np.intp] = np.argmin([((u - centre) ** 2).sum(axis=-1) for centre in centres], axis=0)
    return index


def _moved(before: MoveStage, after: MoveStage, sampler: Sampler, centres: Floats, spent: int) -> Moved:
    chains = before.u.shape[1]
    u = np.concatenate([before.draws, after.draws])
    return Moved(
        u=u,
        log_p=np.concatenate([before.log_p.ravel(), after.log_p.ravel()]),
        chain=np.tile(np.arange(chains), len(u) // chains),
        mode=np.concatenate([before.mode.ravel(), after.mode.ravel()]),
        mixing=compare(before, after),
        chains=chains,
        divergent=sampler.divergent,
        unevenness=sampler.unevenness,
        gradients=sampler.gradients,
        earlier_gradients=spent,
        moves=len(u) // chains,
        total_moves=sampler.moves,
        adapted=Adapted(sampler.chains.u, centres, sampler.step, metric_of(sampler.residuals(u))),
        funnels=sampler.funnels,
    )
