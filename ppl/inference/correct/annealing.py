"""Draws carried from q to the posterior: annealing by sequential Monte Carlo with Hamiltonian moves.

Neal (2001), "Annealed importance sampling"; Del Moral, Doucet and Jasra (2006), JRSS B 68. The points follow
q^(1-beta) p^beta while beta goes from 0 to 1: at each temperature they are resampled by weight and moved. At
beta = 1 they are moved on until they have forgotten where they came from.

Points may agree with one another and not with the target, as in a tail that no move reaches.  So half of
them begin at q and half at q widened, each half with temperatures of its own, and R-hat between the two
tells whether where they began still shows (Margossian et al. 2024, "Nested R-hat", Bayesian Analysis:
chains that are many and short).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ppl.inference.correct.hamiltonian import HMC, Flow, Particles, move, particles_at
from ppl.inference.correct.reference import Reference
from ppl.inference.correct.tempering import next_temperature, systematic
from ppl.inference.diagnose.convergence import rank_rhat
from ppl.inference.numerics.triangular import diagonal_of, inverse_of, times
from ppl.inference.objective.coordinates import rescaled
from ppl.inference.objective.target import Array, Target
from ppl.inference.run.phases import Phase
from ppl.inference.run.progress import Listener, Progress, silent
from ppl.late import linalg, special


class AnnealingLimits(NamedTuple):
    """How far annealing goes, and when its points count as draws of the posterior."""

    points: int = 1024
    """Points that are carried to the posterior where work allows; a power of two."""

    ess_share: float = 0.5
    """A temperature is left when the weights to the next leave points worth this share of their number."""

    moves_at_each: int = 3
    """HMC moves at each temperature on the way."""

    moves_a_round: int = 6
    """HMC moves in a round at temperature 1; the points of the last two rounds are kept."""

    stages: tuple[int, ...] = (1, 1, 2, 4, 8, 16, 32)
    """Rounds in each stage at temperature 1, in the end as many as in all stages before it: a tail that moves
    reach seldom shows in a stage that is long enough.
    """

    fewest_rounds: int = 4
    """Rounds at temperature 1 before the moves may end for want of hope, or of moves."""

    stationary_rounds: int = 8
    """Rounds before points may count as stationary. After 4 the 95% quantile of a scale with a Student-t
    prior (`varying_slopes_lkj`) was 0.5 to 0.6 sd short with every seed, after 8 0.25 to 0.3.
    """

    stationary_autocorrelation: float = 0.2
    """The autocorrelation with the start below which points have forgotten it."""

    stationary_drift: float = 0.005
    """The change of a mean from stage to stage, in sds, below which it no longer drifts."""

    false_alarms: float = 0.01
    """The chance that a look at all means calls noise a drift (Bonferroni)."""

    most_temperatures: int = 50
    """Temperatures that the way to 1 may have."""

    fewest_temperatures: int = 10
    """Temperatures after which it is asked whether those that are left can do."""

    rounds_to_tell: int = 8
    """Rounds after which it is asked whether those that are left can do."""

    hopeless_autocorrelation: float = 0.6
    """The autocorrelation expected after all rounds above which more moves would not do."""

    hopeless_drift: float = 0.02
    """A drift so large, in sds, that has not become less in the next stage will not in those that are left:
    that of the horseshoe on 1,500 coefficients was 0.02, 0.14, 0.31 after 8, 16, 32 rounds.
    """

    target_acceptance: float = 0.7
    """The mean chance of acceptance that the step size is adapted to."""

    first_step: float = 1.2
    """The first step size, in sds, times the fourth root of the dimension."""

    shortest_trajectory: float = 3.0
    """A trajectory shorter than this, in sds, is made of more leapfrog steps, as many fewer moves: about half
    of the way around a posterior of sd 1, after which points would come back.
    """

    most_correlated: int = 200
    """Dimensions up to which the metric has correlations; above, only sds."""

    widening: float = 2.0
    """How much wider than the reference the second half begins."""

    few_dimensions: int = 10
    """Dimensions above which it is widened less, for a little takes it as far."""

    most_stored: int = 2**25
    """Numbers in the moves of one round that are all kept."""

    thinning: int = 3
    """Of rounds with more numbers than that each move of so many is kept."""

    most_ranked: int = 2048
    """Points of each half that are ranked for R-hat, about."""

    @property
    def most_moves(self) -> int:
        """HMC moves of a point, at all temperatures together."""
        return self.moves_at_each * self.most_temperatures + self.moves_a_round * sum(self.stages)


ANNEALING = AnnealingLimits()


@dataclass(frozen=True)
class Annealed:
    """Points u (n, dim) that follow the target, their log densities (n,), and how they came there.

    They are as many points after each of the last `moves` moves, one move after the other.
    `autocorrelation` is the largest, over the coordinates, with where a point was within its mode when the
    last temperature was reached; `drift` the largest move between the last two stages, in sds and beyond its
    noise, of the mean of a coordinate, of its square or of the log density; `log_evidence` the estimated
    log of the integral of the target, nan without temperatures; `reached` whether the temperatures came to
    1; `hopeless` whether the moves were stopped early, as those that were left could not have done, `made`
    how many were made in all; `particles` (n,) numbers the particle that each point is of. `rhats` (dim,)
    compares the points that began at the reference with those that
    began wider, the larger of the R-hat of their centres and of their tails.
    """

    u: Array
    log_p: Array
    temperatures: int
    autocorrelation: float
    drift: float
    log_evidence: float
    reached: bool = True
    rhats: Array = field(default_factory=lambda: np.ones(0))
    divergent: float = 0.0
    autocorrelation_noise: float = 0.0
    rhat_noise: float = 1.0
    moves: int = 1
    hopeless: bool = False
    made: int = 0
    particles: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @property
    def rhat(self) -> float:
        """The largest."""
        return float(self.rhats.max(initial=1.0))

    def without_points(self) -> "Annealed":
        """What is known of the points, without them: they are several times as many as the draws."""
        u, log_p = self.u[:0].copy(), self.log_p[:0].copy()
        return replace(self, u=u, log_p=log_p, particles=self.particles[:0].copy())


class Points(NamedTuple):
    """Points u (n, dim) and the log density of the target there (n,)."""

    u: Array
    log_p: Array


@dataclass
class HMCKernel:
    """Moves with a step size that learns from what is accepted (Robbins-Monro).

    `left` moves of `HMC.leapfrog_steps` may still be made, and as many as `made` were; longer ones count for
    more.

    q counts as flat where there is no reference. `divergent` has the share of points of each move so far
    whose trajectory diverged even with a shorter step.
    """

    target: Target
    reference: Reference | None
    rng: np.random.Generator
    step: float
    left: int
    accepted: float = ANNEALING.target_acceptance
    divergent: list[float] = field(default_factory=list)
    made: int = 0

    def moves(self, particles: Particles, beta: float, count: int) -> tuple[Particles, list[Points]]:
        """Where so many moves lead, made in coordinates in which the points are uncorrelated; and each.

        Of many points in very many dimensions one in `ANNEALING.thinning`.
        """
        factor = metric_of(particles.u)
        inverse = inverse_of(factor)
        reference = self.reference and self.reference.rescaled(inverse)
        made_in = moves_within(count, self.step)
        each = count // made_in
        flow = Flow(rescaled(self.target, factor), reference, beta, HMC.leapfrog_steps * each)
        own, seen = particles.rescaled(factor, inverse), list[Points]()
        change = float(np.log(diagonal_of(factor)).sum())
        every = 1 if count * particles.u.size <= ANNEALING.most_stored else ANNEALING.thinning
        for made in range(1, made_in + 1):
            self.left -= each
            self.made += each
            own, self.accepted, divergent = move(flow, own, self.step, self.rng)
            self.divergent.append(divergent)
            self.step *= float(np.exp(0.7 * (self.accepted - ANNEALING.target_acceptance)))
            if (made_in - made) % every == 0:
                seen.append(Points(times(factor, own.u), own.log_p - change))
        return own.rescaled(inverse, factor), seen


def moves_within(count: int, step: float) -> int:
    """In how many moves the leapfrog steps of `count` short ones are best made, a divisor of it.

    On trajectories much shorter than `ANNEALING.shortest_trajectory` points walk at random, and come as far
    only in the square of their number (Neal 2011, section 5.4.2).
    """
    divisors = (m for m in range(1, count + 1) if count % m == 0)
    whole = HMC.leapfrog_steps * step * count
    return max((m for m in divisors if whole / m >= ANNEALING.shortest_trajectory), default=1)


def anneal(
    target: Target,
    reference: Reference,
    rng: np.random.Generator,
    listen: Listener = silent,
    points: int = ANNEALING.points,
    moves: int = ANNEALING.most_moves,
    near: Array | None = None,
) -> Annealed:
    """Carry `points` (a power of two) draws to the target, each by `moves` or few more.

    One half begins at the reference, the other where that is wider. Where there are points `near` the
    target, (points / 2, dim), they are moved under it at once, and so are as many of the wider reference:
    temperatures between do no good where there is no other mode, and in many dimensions harm. The same
    generator gives the same points to the last bit.

    Raises:
        LinAlgError: the points fell together.
    """
    with np.errstate(all="ignore"):  # a move too far overflows, and is refused
        wider = 1 + (ANNEALING.widening - 1) * min(1.0, np.sqrt(ANNEALING.few_dimensions / target.dim))
        begin = (reference, reference.widened(wider))
        starts = None if near is None else (near, begin[1].draws(len(near), rng))

        def half(k: int, moves: int) -> Annealed:
            kernel = HMCKernel(target, None, rng, ANNEALING.first_step / target.dim**0.25, moves)
            if starts is None:
                return _anneal(replace(kernel, reference=begin[k]), begin[k], points // 2, listen)
            particles = _movable(particles_at(target, None, starts[k]), kernel)
            return _equilibrate(particles, reference.nearest(particles.u), kernel, listen)

        one = half(0, moves)
        return together(one, half(1, one.made if one.hopeless else moves))  # no more than one given up


def _movable(particles: Particles, kernel: HMCKernel) -> Particles:
    """The points after a first round; in place of one that it has not moved, another that it has."""
    after, _ = kernel.moves(particles, 1.0, ANNEALING.moves_a_round)
    free = np.flatnonzero((np.abs(after.log_p - particles.log_p) > 0) & np.isfinite(after.log_p))
    if not len(free):
        raise np.linalg.LinAlgError("no point can be moved")
    n = len(particles.u)
    is_free = np.isin(np.arange(n), free)
    return after.at(np.where(is_free, np.arange(n), kernel.rng.choice(free, n)))


WORSE_OF_HALVES = ("temperatures", "autocorrelation", "drift", "autocorrelation_noise")


def together(one: Annealed, two: Annealed) -> Annealed:
    """Both halves as one, as far from the target as the worse of them."""
    dim = one.u.shape[1]
    late = (latest_of(one, two, k) for k in range(dim))
    found = [(rank_rhat(latest.reshape(2, -1)), rhat_by_chance(latest, dim)) for latest in late]
    rhats, noise = np.array(found).reshape(dim, 2).T
    worse = {name: max(getattr(one, name), getattr(two, name)) for name in WORSE_OF_HALVES}
    return Annealed(
        **worse,
        u=np.concatenate([one.u, two.u]),
        log_p=np.concatenate([one.log_p, two.log_p]),
        log_evidence=float(np.logaddexp(one.log_evidence, two.log_evidence) - np.log(2)),
        reached=one.reached and two.reached,
        divergent=(one.divergent + two.divergent) / 2,
        rhats=np.nan_to_num(rhats, nan=np.inf),
        rhat_noise=float(noise.max(initial=1.0)),
        hopeless=one.hopeless or two.hopeless,
        made=one.made + two.made,
        particles=np.concatenate([one.particles, two.particles + len(one.u) // one.moves]),
    )


def latest_of(one: Annealed, two: Annealed, coordinate: int) -> Array:
    """A coordinate of the late points of both (2, moves, points), `ANNEALING.most_ranked` or so of each."""
    halves = [each.u[:, coordinate].reshape(each.moves, -1) for each in (one, two)]
    moves, points = min(map(len, halves)), halves[0].shape[1]
    some = max(1, moves * points // ANNEALING.most_ranked)
    return np.stack([half[-moves:][::-some] for half in halves])


def rhat_by_chance(latest: Array, looks: int) -> float:
    """R-hat (of two halves) that points of one distribution would have in one of so many coordinates.

    `latest` (2, moves, points) are those of one of them: points are independent of one another, their moves
    are not.
    """
    spread = latest.var()
    errors = latest.mean(axis=1).var(axis=1).sum() / latest.shape[2]  # of the difference of both means
    return float(np.sqrt(1 + errors_by_chance(looks) ** 2 * errors / spread / 2)) if spread > 0 else 1.0


def errors_by_chance(looks: int) -> float:
    """How many standard errors the largest of so many differences may be by chance (Bonferroni)."""
    return float(-special.ndtri(ANNEALING.false_alarms / (2 * looks)))


def _anneal(kernel: HMCKernel, reference: Reference, points: int, listen: Listener) -> Annealed:
    particles = particles_at(kernel.target, reference, reference.draws(points, kernel.rng))
    path, log_evidence = [0.0], 0.0
    while path[-1] < 1 and arrives(path):
        ratios = np.where(particles.log_p > -np.inf, particles.log_p - particles.log_q, -np.inf)
        beta = next_temperature(ratios, path[-1], ANNEALING.ess_share)
        weights = (beta - path[-1]) * ratios
        log_evidence += float(np.logaddexp.reduce(weights) - np.log(points))
        particles = particles.at(systematic(weights, points, kernel.rng))
        path.append(beta)
        steps, note = len(path) - 1, f"temperature {beta:.2g}"
        listen(Progress(Phase.ANNEALING, steps, ANNEALING.most_temperatures, note=note))
        if beta < 1:
            particles, _ = kernel.moves(particles, beta, ANNEALING.moves_at_each)
    kernel.reference, reached = None, path[-1] == 1
    kernel.left = kernel.left if reached else 0
    found = _equilibrate(particles, reference.nearest(particles.u), kernel, listen)
    return replace(found, temperatures=len(path) - 1, log_evidence=log_evidence, reached=reached)


def arrives(path: Sequence[float]) -> bool:
    """Whether temperatures that go on to grow as the latest did come to 1 in time; the first of them is 0."""
    done = len(path) - 1
    if done < ANNEALING.fewest_temperatures:
        return True
    earlier, latest = path[done // 2], path[-1]
    growth = np.log(latest / earlier) / (done - done // 2) if earlier > 0 else 0.0
    return bool(growth * (ANNEALING.most_temperatures - done) >= -np.log(latest))


def _equilibrate(
    particles: Particles, modes: NDArray[np.intp], kernel: HMCKernel, listen: Listener
) -> Annealed:
    """Move the points under the target itself, until they have forgotten and what they say no longer changes.

    No move leads from mode to mode; how many points each has was decided by weights.
    """
    came, autocorrelation, drift = particles.u, 1.0, np.inf
    noise = errors_by_chance(came.shape[1]) / np.sqrt(len(came))
    centre, sds = came.mean(axis=0), came.std(axis=0)
    history: list[list[Points]] = []
    kernel.divergent.clear()
    rounds, before = 0, np.zeros(0)
    for stage in ANNEALING.stages:
        after: Array = np.zeros((1, 1))
        for _ in range(stage):
            del history[:-1]
            particles, points_of_round = kernel.moves(particles, 1.0, ANNEALING.moves_a_round)
            history.append(points_of_round)
            for each in points_of_round:
                after = after + monitored(each, centre, sds) / (stage * len(points_of_round))
            rounds += 1
            note = f"correlation {autocorrelation:.2f}"
            listen(Progress(Phase.STATIONARITY, rounds, sum(ANNEALING.stages), note=note))
        autocorrelation, last = largest_autocorrelation(came, particles.u, modes), drift
        if before.size:
            drift = significant_change(before, after, monitored(particles, centre, sds).std(axis=0))
        forgotten = autocorrelation < max(ANNEALING.stationary_autocorrelation, noise)
        long_enough = rounds >= ANNEALING.stationary_rounds
        equilibrated = long_enough and forgotten and drift < ANNEALING.stationary_drift
        tells = rounds >= ANNEALING.rounds_to_tell
        hopeless = tells and will_not_equilibrate(autocorrelation, last, drift, rounds)
        spent = kernel.left < ANNEALING.moves_a_round * rounds
        if rounds >= ANNEALING.fewest_rounds and (equilibrated or hopeless or spent):
            break
        before = after
    points = [each for points_of_round in history for each in points_of_round]
    return Annealed(
        hopeless=hopeless and not equilibrated,
        made=kernel.made,
        u=np.concatenate([each.u for each in points]),
        log_p=np.concatenate([each.log_p for each in points]),
        temperatures=0,
        autocorrelation=autocorrelation,
        drift=drift,
        log_evidence=np.nan,
        divergent=float(np.mean(kernel.divergent)),
        autocorrelation_noise=noise,
        moves=len(points),
        particles=np.tile(np.arange(len(came)), len(points)),
    )


def will_not_equilibrate(autocorrelation: float, last: float, drift: float, rounds: int) -> bool:
    """Whether the rounds that are left could not do: too much would be remembered, or drift is as it was.

    A stage is as long as all before it, so that of any start which is forgotten exponentially less than half
    of the drift is left in the next (`last` and `drift` are those of two stages). Where neither stage could
    tell it from noise nothing is known.
    """
    expected = autocorrelation ** (sum(ANNEALING.stages) / rounds)
    return expected > ANNEALING.hopeless_autocorrelation or drift >= last >= ANNEALING.hopeless_drift


def monitored(points: Points | Particles, centre: Array, sds: Array) -> Array:
    """Each point's coordinates, in sds from a centre, their squares and log density (n, 2 dim + 1).

    The squares see a tail that fills slowly, which hardly moves a mean.
    """
    z = (points.u - centre) / sds
    return np.column_stack([z, z**2, points.log_p])


def metric_of(u: Array) -> Array:
    """A Cholesky factor of the covariance of u (n, dim), its correlations shrunk by dim / (dim + n).

    In more than `ANNEALING.most_correlated` dimensions only the sds (dim,): so few points know little of
    correlations, and products with a matrix would cost more than the target.

    Raises LinAlgError where there is none, as where a coordinate has no spread or is not finite.
    """
    n, dim = u.shape
    if dim > ANNEALING.most_correlated:
        sds = u.std(axis=0)
        if not (np.isfinite(sds).all() and (sds > 0).all()):
            raise np.linalg.LinAlgError("a coordinate has no spread, or is not finite")
        return np.asarray(sds)
    covariance = np.atleast_2d(np.cov(u.T))
    shrink = dim / (dim + n)
    diagonal = np.diag(np.diag(covariance))
    if not np.isfinite(covariance).all():
        raise np.linalg.LinAlgError("a point is not finite")
    return np.asarray(linalg.cholesky((1 - shrink) * covariance + shrink * diagonal, lower=True))


def largest_autocorrelation(before: Array, after: Array, groups: NDArray[np.intp]) -> float:
    """The largest slope, over coordinates, of where points (n, dim) are on where they were before.

    That share of a bias is left too. A correlation would be smaller where the points have spread since.
    Points are compared with those of their group (n,), the mode that they were at.
    """
    one, two = (u - means_of(u, groups) for u in (before, after))
    spread = (one**2).sum(axis=0)
    return float(np.divide((one * two).sum(axis=0), spread, out=np.ones_like(spread), where=spread > 0).max())


def means_of(u: Array, groups: NDArray[np.intp]) -> Array:
    """The mean of its group for each point of u (n, dim)."""
    counts = np.bincount(groups)
    sums = np.zeros((len(counts), u.shape[1]))
    np.add.at(sums, groups, u)
    return np.asarray((sums / np.maximum(counts, 1)[:, None])[groups])


def significant_change(before: Array, after: Array, sds: Array) -> float:
    """The largest move of a mean from `before` to `after`, (n, dim) each, in sds, less what is noise.

    Of many means one moves by three errors though none has drifted. The more there are, the more is taken
    off, so that in at most `ANNEALING.false_alarms` of all looks any of them seems to have (Bonferroni).
    """
    change = after - before
    errors = errors_by_chance(change.shape[1])
    clear = np.maximum(0.0, np.abs(change.mean(axis=0)) - errors * change.std(axis=0) / np.sqrt(len(change)))
    return float(np.divide(clear, sds, out=np.zeros_like(clear), where=sds > 0).max())
