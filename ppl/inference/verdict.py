"""Whether a fit can be believed: what its importance ratios, its trace and other runs say of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ppl.inference.annealing import Annealed
from ppl.inference.diagnostics import Trend, khat_of_means
from ppl.inference.elbo import Elbo
from ppl.inference.outcome import Ending, Outcome
from ppl.inference.parts import by_columns
from ppl.inference.psis import khat_threshold
from ppl.inference.refining import Made, Pool, Refined
from ppl.inference.spread import Spread
from ppl.inference.target import Array

GOOD = 0.5
# A mean that the importance weights would move by more than this many sds is not where it should be.
MOVED = 0.2
# Draws of q that are worth this part of their number are those of the posterior: the total variation distance
# is at most half of sqrt(n / ess - 1), here 7%. The tail of weights that hardly differ may have any shape.
ALIKE = 0.98
# What resampled draws must be worth for means to be sure to 0.05 sd.
WORTH = 400
# What annealed draws may remember of where their last moves began, to be good and to be usable.
FORGOTTEN, REMEMBERED = 0.3, 0.6
# What annealed draws may still move by, in sds, at the end of their moves, to be good.
SETTLED = 0.02
MOST_NAMED = 3


class Level(StrEnum):
    """How far a fit can be believed."""

    GOOD = "good"
    USABLE = "usable"
    POOR = "poor"
    UNKNOWN = "unknown"


MEANING = {
    Level.GOOD: "the draws are close to the posterior",
    Level.USABLE: "the approximation is near enough to the posterior that importance weights can repair it",
    Level.POOR: "the approximation misses part of the posterior; do not rely on its means and sds",
    Level.UNKNOWN: "there are too few draws, or no spread in them, to tell how close the approximation is",
}


@dataclass(frozen=True)
class Verdict:
    """What is known of the quality of a fit.

    `khat` is the shape of the tail of p/q at `n` draws of q, and `ess` what these are worth once weighted;
    `khats` (dim,) is the same for the mean of each coordinate, `shifts` (dim,) how far the weights move that
    mean in sds of q. `trend` is what the ELBO still gained when the loop stopped, None where a later stage
    ended at a maximum. `spread` compares independent runs, None where there was one. `made` says how the
    draws came from q, `annealed` how they were annealed, `others` how many other modes were found.

    Source: Yao, Vehtari, Simpson and Gelman (2018), "Yes, but did it work?"; Vehtari et al. (2024).
    """

    n: int
    khat: float
    ess: float
    khats: Array
    shifts: Array
    elbo: float
    elbo_se: float
    dropped: int
    outcome: Outcome
    trend: Trend | None = None
    spread: Spread | None = None
    made: Made = Made.OF_Q
    others: int = 0
    annealed: Annealed | None = None

    @property
    def level(self) -> Level:
        """The worst of what is known of the draws, the way the run ended and the other runs."""
        if not self.khats.size:  # no parameters: there is nothing to be wrong about
            return Level.GOOD
        if self.spread is not None and self.spread.apart:
            return Level.POOR
        if self.annealed is not None:
            return self._of_annealing(self.annealed)
        if math.isnan(self.khat):
            return Level.UNKNOWN
        broken = self.outcome.ending in (Ending.DIVERGED, Ending.INTERRUPTED)
        if broken or self.rising or (self.khat >= khat_threshold(self.n) and not self.alike):
            return Level.POOR
        if self.others:
            return Level.POOR
        if self.made is Made.RESAMPLED:
            return Level.GOOD if self.ess >= WORTH else Level.USABLE
        return Level.GOOD if (self.khat < GOOD or self.alike) and self.moved < MOVED else Level.USABLE

    def _of_annealing(self, annealed: Annealed) -> Level:
        """Annealed draws owe nothing to how the search for q ended, but all to how well they moved."""
        if not annealed.reached or annealed.memory > REMEMBERED or annealed.drift > MOVED:
            return Level.POOR
        sound = annealed.memory < FORGOTTEN and annealed.drift < SETTLED
        # How much of the draws each mode has was settled by the weights of few points.
        return Level.GOOD if sound and not self.others else Level.USABLE

    @property
    def warns(self) -> bool:
        """Whether the fit should not be relied on as it is."""
        return self.level is not Level.GOOD

    @property
    def rising(self) -> bool:
        return self.trend is not None and self.trend.rising

    @property
    def alike(self) -> bool:
        """Whether the weights hardly differ from one another."""
        return self.ess >= ALIKE * self.n

    @property
    def moved(self) -> float:
        """The largest move of a mean under the weights, in sds."""
        return float(np.abs(self.shifts).max(initial=0.0))

    def beside(self, spread: Spread) -> "Verdict":
        """The verdict in the light of independent runs."""
        return replace(self, spread=spread)

    @property
    def meaning(self) -> str:
        """The level in words."""
        annealed = self.level is Level.USABLE and self.annealed is not None
        return (
            "the draws are near the posterior, but not sure to be right" if annealed else MEANING[self.level]
        )

    def paragraph(self, names: Sequence[str], algorithm: str) -> str:
        """All of it in words, with the next thing to try; `names` (dim,) are those of the coordinates."""
        parts = [
            f"Verdict: {self.level.value}: {self.meaning}.",
            self._of_weights(names),
            self._of_draws(),
            self._of_others(),
            self._of_trend(),
            self._of_spread(names),
            self._advice(names, algorithm),
        ]
        return " ".join(part for part in parts if part)

    def _of_weights(self, names: Sequence[str]) -> str:
        if math.isnan(self.khat):
            return ""
        usable = khat_threshold(self.n)
        if self.made is not Made.OF_Q:
            return (
                f"Pareto k-hat of q is {self.khat:.2f} (its weights can be relied on below {usable:.2f}); "
                f"weighted, {self.n} draws of q are worth {self.ess:.0f}."
            )
        text = (
            f"Pareto k-hat is {self.khat:.2f} (good below {GOOD:g}, usable below {usable:.2f}); "
            f"weighted, the {self.n} draws are worth {self.ess:.0f}."
        )
        if self.alike and self.khat >= GOOD:
            return f"{text} The weights hardly differ, so that the shape of their tail does not matter."
        worst = self._worst(names)
        return f"{text} Least sure: {', '.join(worst)}." if worst and self.warns else text

    def _of_draws(self) -> str:
        if self.made is Made.RESAMPLED:
            return "The draws written are resampled by these weights."
        if self.annealed is None:
            return ""
        known = self.annealed
        return (
            f"The draws written were annealed from q to the posterior over {known.temperatures} "
            f"temperatures; they remember at most {known.memory:.0%} of where their last moves began, "
            f"and their means and spreads still moved by {known.drift:.2f} sd more than noise."
        )

    def _of_others(self) -> str:
        if not self.others:
            return ""
        found = f"Paths from afar led to {self.others} other {'mode' if self.others == 1 else 'modes'}"
        return (
            f"{found}, where annealing began too; how the draws are shared out between modes is less sure."
            if self.annealed
            else f"{found}, which q knows nothing of."
        )

    def _worst(self, names: Sequence[str]) -> list[str]:
        """The coordinates whose means the weights would move, or whose k-hat is worst, most of all first."""
        order = np.argsort(-np.abs(self.shifts), kind="stable")[:MOST_NAMED]
        return [
            f"{names[k]} (k-hat {self.khats[k]:.2f}, mean would move by {self.shifts[k]:+.2f} sd)"
            for k in order
            if abs(self.shifts[k]) >= MOVED or self.khats[k] >= khat_threshold(self.n)
        ]

    def _of_trend(self) -> str:
        if self.trend is None or math.isnan(self.trend.gain):
            return ""
        if self.rising:
            return (
                f"The ELBO was still rising at the stop, by {self.trend.gain:.2g} ± {self.trend.se:.2g} nats "
                "over the second half of the run."
            )
        return "The ELBO had levelled off at the stop."

    def _of_spread(self, names: Sequence[str]) -> str:
        if self.spread is None:
            return ""
        worst = names[self.spread.worst]
        text = f"Over {self.spread.runs} runs the largest R-hat is {self.spread.rhat:.2f} ({worst})"
        return f"{text}: they found different answers." if self.spread.apart else f"{text}: they agree."

    def _advice(self, names: Sequence[str], algorithm: str) -> str:
        if not self.warns:
            return ""
        if self.spread is not None and self.spread.apart:
            return "Try stronger priors or an ordering that leaves one mode, or more runs."
        if self.rising or self.outcome.ending in (Ending.INTERRUPTED, Ending.DIVERGED):
            return "Try more iterations (--iter), with --start pathfinder and the polish on."
        if self.others and self.annealed is None:
            return "Try it without --no-anneal, or an ordering or priors that leave one mode."
        if self.annealed is not None:
            return (
                "Try --algorithm fullrank, --runs 4 to see whether others agree, or another parametrisation."
            )
        if self.level is Level.UNKNOWN:
            return "Ask for more draws (--draws)."
        if algorithm in ("meanfield", "fixed-draws", "lowrank", "laplace", "pathfinder"):
            return "Try --algorithm fullrank" + (", or --resample." if self.level is Level.USABLE else ".")
        if self.level is Level.USABLE:
            return "Try --resample, which repairs what the weights can."
        worst = names[int(np.argmax(np.abs(self.shifts)))]
        return (
            f"Try to reparameterise {worst}, so that its posterior is nearer to a Gaussian on the "
            "unconstrained scale (a non-centred form, say), or a sampler."
        )


def verdict_of(
    pool: Pool,
    elbo: Elbo,
    dropped: int,
    outcome: Outcome,
    trend: Trend | None,
    refined: Refined,
) -> Verdict:
    """Judge a fit by a pool of draws of q, and by how its own draws were made of them."""
    u, smoothed = pool.u, pool.weights
    sd = by_columns(lambda some: some.std(axis=0), u)
    moves = np.exp(smoothed.log_weights) @ u - u.mean(axis=0)
    return Verdict(
        n=len(u),
        khat=smoothed.khat if (u != u[:1]).any() else math.nan,
        ess=smoothed.ess,
        khats=khat_of_means(pool.log_p - pool.log_q, u),
        shifts=np.divide(moves, sd, out=np.zeros_like(moves), where=sd > 0),
        elbo=elbo.value,
        elbo_se=elbo.se,
        dropped=dropped,
        outcome=outcome,
        trend=trend,
        made=refined.made,
        others=refined.others,
        annealed=refined.annealed,
    )
