"""Chains in lockstep, with the metric and the step size that they learn.

Each step of all of them is one batch of gradients (Hoffman, Radul and Sountsov 2021, "An adaptive MCMC scheme
for setting trajectory lengths in Hamiltonian Monte Carlo", AISTATS). The metric of a stage is that of the
positions of the other half of the chains in the stage before.
"""

from collections.abc import Callable, Mapping
from math import ceil, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.target import Target
from ppl.methods.moves.funnels import Coordinates, InFunnels, unscaled, without_scale
from ppl.methods.moves.images import put_back
from ppl.methods.moves.jumps import JUMPING, JumpProposals, jumped
from ppl.methods.moves.metric import Factor, Metric, folds, learnt, second_of
from ppl.methods.moves.mixing import TAIL_MASS, uneven
from ppl.methods.moves.trajectories import Chains, Move, chains_at, move
from ppl.records import dataclass, field

if TYPE_CHECKING:
    from ppl.methods.moves.necks import Necks
    from ppl.methods.moves.products import Products


class SamplerLimits(NamedTuple):
    """How long trajectories are, and how the step size is adapted."""

    first_trajectory: float = 1.5
    """The mean length of the first trajectories, in sds: most chains end before longer ones repay their
    gradients."""

    first_moves: int = 40
    """Moves of that length."""

    trajectory: float = 2.5
    """The mean length of later ones. About half of the way around a posterior of sd 1 is 3.1, after which
    chains would come back."""

    jitter: float = 0.5
    """The share by which lengths differ from it at most, so that no chain comes back where it was."""

    most_steps: int = 64
    """Leapfrog steps of a trajectory."""

    acceptance: float = 0.75
    """The mean chance of acceptance that the step size is adapted to."""

    weight_of_rejected: float = 2.0
    """How many times the share of trajectories that are as good as sure to be rejected counts against it. A
    normal posterior has next to none; with steps that have many, chains do not come into the narrow regions
    of others."""

    learning_rate: float = 0.7
    """How much of the difference from it goes into the log of the step size, at the first move."""

    first_step: float = 0.8
    """The first step size, in sds, times the fourth root of the dimension."""

    positions_a_dimension: int = 4
    """The positions of a fold, for each dimension, from which on the next metric is shrunk to that of its
    stage: the noise of fewer would stay."""

    share_of_necks: float = 0.4
    """The share of the gradients so far that a look for necks takes, at most, about."""

    looked_again: int = 3
    """How many times as many gradients as at the last look there are at the next."""

    overdispersed: float = 2.0
    """How many times as far from their mean every other chain is set."""

    far_below: float = 2.0
    """How many times as far below the median log density as 5% of the chains are these may be then."""

    most_likely: float = 0.8
    """The share of those for which it must be no further for any to be set so."""

    many_more: int = 2
    """How many times as many necks as were known before let chains be set so again."""

    most_stored: int = 2**25
    """Numbers in the positions of one stage that are all kept; else one position in so many."""


SAMPLER = SamplerLimits()


class Adapted(NamedTuple):
    """Chains at u (chains, dim), and what they have learnt: the step size, and the metric as its `factor`.

    `centres` (modes, dim) are those of the modes that the chains are about.
    """

    u: Floats
    centres: Floats
    step: float
    factor: Floats


class ChainPositions(NamedTuple):
    """Positions u (moves, chains, dim) after each move, and their log densities (moves, chains).

    Of each chain those moves (moves, chains) are `rejected` that were as good as sure to be.
    """

    u: Floats
    log_p: Floats
    rejected: NDArray[np.bool_]


CARRIED = (
    *("chains", "step", "funnels", "products", "necks", "looked", "metric", "known", "recent"),
    *("divergent", "unevenness", "gradients", "moves", "straight_moves"),
    *("proposals", "jumped_after", "disperses", "dispersed_after"),
)
"""What a sampler carries from stage to stage, beside its generator."""


def all_of(u: Floats) -> Floats:
    """Positions (n, dim) of all chains."""
    return u.reshape(-1, u.shape[-1])


@dataclass
class Sampler:
    """Chains and what they have learnt: the step size, and the metric of positions u (..., chains, dim)
    without what these do not share, `residuals` (n, dim), such as the mean of their mode.

    The `first_moves` are short. `acceptance` is the mean chance that the step size is adapted to. From
    `straightens_from` moves on it moves in the coordinates of `funnels`, where there are any in the positions
    of the last two stages, of which `recent` are those of the last; it has made `straight_moves` there. To
    `known` factors, of the last stage that was long enough, the next metric is shrunk. It `looked` for
    `necks`, in the coordinates of `products`, after so many gradients. Of the trajectories of the last stage
    the share `divergent` diverged with a shorter step too; `unevenness` is by how much more than by chance
    the number of rejected ones varies over chains, a move. `last` is the last move. Chains `jumped_after` so
    many gradients, by `proposals`. Every other one `disperses` before the next stage, or was
    `dispersed_after` so many moves.
    """

    target: Target
    chains: Chains
    rng: np.random.Generator
    residuals: Callable[[Floats], Floats] = all_of
    straightens_from: float = inf
    funnels: Coordinates | None = None
    first_moves: int = SAMPLER.first_moves
    acceptance: float = SAMPLER.acceptance
    step: float = field(init=False)
    products: "Products | None" = field(init=False, default=None)
    necks: "Necks | None" = field(init=False, default=None)
    looked: int = 0
    metric: Metric = field(init=False)
    known: tuple[Factor, Factor] = field(init=False)
    last: Move = field(init=False)
    divergent: float = 0.0
    unevenness: float = 0.0
    gradients: int = 0
    moves: int = 0
    straight_moves: int = 0
    recent: Floats = field(init=False)
    proposals: JumpProposals = field(init=False, default=JumpProposals(np.zeros(0), np.zeros(0)))
    jumped_after: int = 0
    disperses: bool = False
    dispersed_after: float = -inf

    def __post_init__(self) -> None:
        """Raises LinAlgError where the chains have no spread."""
        self.step = SAMPLER.first_step / self.target.dim**0.25
        self.gradients = len(self.chains.u)
        self.recent = np.empty((0, *self.chains.u.shape))
        self.forget()
        self.learn(self.chains.u[None])

    @property
    def state(self) -> Mapping[str, Any]:
        """What it goes on from, once its generator stands where it did."""
        return {name: getattr(self, name) for name in CARRIED}

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        for name in CARRIED:
            setattr(self, name, state[name])

    def stage(self, moves: int, rate: float = SAMPLER.learning_rate) -> ChainPositions:
        """The positions after each of so many moves.

        The step size learns at this rate, and then the metric, from these positions. At a rate of 0 neither
        learns, and moves leave the target exactly as it is.
        """
        own = InFunnels(self.target, self.funnels) if self.funnels else None
        chains = chains_at(own, own.inside(self.chains.u)) if own else self.chains
        if own and self.disperses:
            chains = self.overdispersed(own, chains)
        every = 1 + moves * chains.u.size // SAMPLER.most_stored
        mean = SAMPLER.first_trajectory if self.moves < self.first_moves else SAMPLER.trajectory
        u, log_p = list[Floats](), list[Floats]()
        rejected = np.zeros((moves, len(chains.u)), dtype=bool)
        self.divergent = 0.0
        for number in range(1, moves + 1):
            if self.jumps_are_due:
                chains = self.after_jumps(chains, own)
            length = mean * self.rng.uniform(1 - SAMPLER.jitter, 1 + SAMPLER.jitter)
            count = int(np.clip(np.ceil(length / self.step), 1, SAMPLER.most_steps))
            self.last = moved = move(own or self.target, chains, self.metric, self.step, count, self.rng)
            chains = moved.chains
            accepted = moved.accepted - SAMPLER.weight_of_rejected * float(moved.rejected.mean())
            self.step *= float(np.exp(rate * (accepted - self.acceptance)))
            self.gradients += moved.gradients
            rejected[number - 1] = moved.rejected
            self.divergent += float(moved.divergent.mean()) / moves
            if (moves - number) % every == 0:
                at, change = own.outside(chains.u) if own else (chains.u, 0.0)
                u.append(at)
                log_p.append(chains.log_p - change)
        self.unevenness = uneven(rejected)
        self.moves += moves
        self.straight_moves += moves if own and self.necks else 0
        positions = ChainPositions(put_back(self.target, np.array(u)), np.array(log_p), rejected)
        anew = own or (positions.u[-1] != u[-1]).any()
        self.chains = chains_at(self.target, positions.u[-1]) if anew else chains
        self.gradients += (2 if own else 1) * len(self.chains.u) if anew else 0
        if rate:
            self.learn(positions.u)
        return positions

    def overdispersed(self, own: InFunnels, chains: Chains) -> Chains:
        """Chains, every other one further out along what necks turn out to be driven by, and with it along
        what is correlated with that.

        There they began where q is, often too near to one another; now these and the others must agree
        (Gelman and Rubin 1992, "Inference from iterative simulation using multiple sequences", Statistical
        Science 7). A chain stays where that is further below the median log density than any draw may be, and
        all do where many would: the others would be a selection.
        """
        assert self.necks is not None
        self.disperses = False
        along = np.flatnonzero(self.necks.slopes.any(axis=0))
        earlier = own.inside(all_of(self.recent))
        earlier -= earlier.mean(axis=0)
        slopes = np.linalg.lstsq(earlier[:, along], earlier, rcond=None)[0]
        z, v = chains.u.copy(), chains.u[:, along]
        z[1::2] += (SAMPLER.overdispersed - 1) * (v - v.mean(axis=0))[1::2] @ slopes
        further = chains_at(own, z)
        self.gradients += len(z)
        low, middle = np.quantile(chains.log_p, [TAIL_MASS, 0.5])
        likely = further.log_p > middle - SAMPLER.far_below * (middle - low)
        if likely[1::2].mean() < SAMPLER.most_likely:
            return chains
        self.dispersed_after = self.moves
        return chains.replaced(likely, further)

    @property
    def jumps_are_due(self) -> bool:
        """Whether they cost a small share of the gradients since the last ones, and more where some chains
        are rejected again and again."""
        n, dim = self.chains.u.shape
        share = JUMPING.share + min(max(0.0, self.unevenness), JUMPING.most_more)
        since = share * (self.gradients - self.jumped_after)
        return dim <= JUMPING.most_dimensions and n * JUMPING.cost(dim) <= since

    def after_jumps(self, chains: Chains, own: InFunnels | None) -> Chains:
        """Chains, in coordinates of funnels if there are any, after jumps along those of the program.

        They begin in the image of q, outside of which the target has no density.
        """
        here = put_back(self.target, own.outside(chains.u)[0] if own else chains.u)
        u, whole = unscaled(self.target, here), without_scale(self.target)
        at, jumps = jumped(whole, u, self.proposals, self.metric.second, self.rng)
        v = self.target.to_v(at) if isinstance(self.target, Scaled) else at
        self.gradients += ceil(len(u) * JUMPING.cost(u.shape[1]))
        self.jumped_after = self.gradients
        return chains.replaced(jumps, chains_at(own or self.target, own.inside(v) if own else v))

    def learn(self, u: Floats) -> None:
        """Funnels, the metric and proposals of jumps of positions u (moves, chains, dim)."""
        if self.moves >= self.straightens_from:
            self.look_for_funnels(u)
        x = InFunnels(self.target, self.funnels).inside(all_of(u)).reshape(u.shape) if self.funnels else u
        second = second_of(u.shape[1])
        each = [
            learnt(self.residuals(x[:, own]), known)
            for own, known in zip(folds(second), self.known[::-1], strict=True)
            if x[:, own].size
        ]
        self.metric = Metric((each[-1], each[0]), second)
        if u.shape[-1] <= JUMPING.most_dimensions:
            self.proposals = JumpProposals.of(unscaled(self.target, u), second)
        if x[:, second:, 0].size >= SAMPLER.positions_a_dimension * u.shape[-1]:
            self.known = self.metric.factors

    def look_for_funnels(self, u: Floats) -> None:
        """In positions u (moves, chains, dim) and those of the stage before; for necks where not dear."""
        from ppl.methods.moves.straightening import STRAIGHTENING  # most fits end before

        dim, most = u.shape[-1], SAMPLER.share_of_necks * self.gradients
        if dim > STRAIGHTENING.most_dimensions:
            return
        some = u[:: -(-u[..., 0].size // (2 * STRAIGHTENING.positions))]
        both, self.recent = np.concatenate([self.recent, some]), some
        if both[..., 0].size < STRAIGHTENING.fewest_positions:
            return
        from ppl.methods.moves.layers import fitted_layers, seen_necks
        from ppl.methods.moves.necks import cost_of_necks

        both = unscaled(self.target, both)
        if self.gradients >= SAMPLER.looked_again * self.looked and cost_of_necks(dim) <= most:
            products, necks, spent = seen_necks(without_scale(self.target), all_of(both), self.rng, most)
            known = len(self.necks.driven) if self.necks else 0
            if necks and len(necks.driven) >= known:
                self.disperses |= len(necks.driven) >= SAMPLER.many_more * known
                self.products, self.necks = products, necks
            self.gradients += spent
            self.looked = self.gradients
        self.funnels = fitted_layers(both, self.products, self.necks)
        if self.funnels:
            self.forget()

    def keep(self, count: int) -> None:
        """So many of the chains, at random."""
        places = np.sort(self.rng.choice(len(self.chains.u), count, replace=False))
        self.metric = self.metric.at(places)
        self.chains, self.recent = self.chains.at(places), self.recent[:, places]

    def forget(self) -> None:
        """Which metric is known, as of other coordinates."""
        self.known = np.ones(self.target.dim), np.ones(self.target.dim)
