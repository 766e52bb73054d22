"""Whether draws of chains can be believed: R-hat, effective sample sizes, divergences, tree depths.

Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021); Betancourt (2017), arXiv:1701.02434.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ppl.floats import Floats
from ppl.methods.diagnose.convergence import agreement, by_columns
from ppl.methods.diagnose.level import FROM_BEST, Level
from ppl.records import dataclass


class ChainBounds(NamedTuple):
    """When chains are believed. Vehtari et al. (2021), section 4."""

    rhat: float = 1.01
    """R-hat above which chains may not have mixed."""

    poor_rhat: float = 1.05
    """R-hat above which they have not."""

    poor_ess: int = 100
    """Effective draws, of all chains, below which means are off by more than a tenth of an sd."""

    ess_a_chain: int = 100
    """Effective draws a chain below which R-hat and the effective sample size are not sure themselves."""

    divergent_share: float = 0.05
    """Share of divergent transitions above which the draws miss part of the posterior as good as surely."""

    e_bfmi: float = 0.3
    """E-BFMI below which the energies of a chain are explored too slowly, as CmdStan has it."""


CHAINS = ChainBounds()


@dataclass(frozen=True)
class Judged:
    """Diagnostics of chains.

    `names` are the columns that R-hat and the effective sample sizes, bulk and tail, each (columns,), are of;
    `divergent` and `deepest` count transitions that diverged and those that reached the maximum tree depth;
    `delta` is the acceptance that the step size was adapted to.
    """

    chains: int
    draws: int
    names: tuple[str, ...]
    rhats: Floats
    bulks: Floats
    tails: Floats
    divergent: int
    deepest: int
    max_depth: int
    delta: float

    @property
    def level(self) -> Level:
        """The worst of what is found against the draws."""
        return max((level for level, _ in self.findings()), key=FROM_BEST.index, default=Level.GOOD)

    def findings(self) -> Iterator[tuple[Level, str]]:
        """The findings against the draws, each with its weight and what to do."""
        total = self.chains * self.draws
        if self.draws and not np.isfinite(self.rhats).any():
            yield Level.UNKNOWN, "R-hat takes four draws a chain, finite and not all the same"
        if (rhat := self.worst(self.rhats)) > CHAINS.rhat:
            words = (
                f"the chains have not mixed: R-hat is {rhat:.3f} for {self.names[np.nanargmax(self.rhats)]} "
                f"(should be at most {CHAINS.rhat:g}); run them longer, or rewrite the model"
            )
            yield Level.POOR if rhat > CHAINS.poor_rhat else Level.USABLE, words
        if self.least_ess < CHAINS.ess_a_chain * self.chains:
            name = self.names[np.nanargmin(self.ess)]
            words = (
                f"there are only {self.least_ess:.0f} effective draws for {name} "
                f"(should be at least {CHAINS.ess_a_chain * self.chains}); run the chains longer"
            )
            yield Level.POOR if self.least_ess < CHAINS.poor_ess else Level.USABLE, words
        if self.divergent:
            share = self.divergent / total
            words = (
                f"{self.divergent} of {total} transitions diverged ({100 * share:.2g}%), so the draws "
                f"may miss regions of high curvature; {higher(self.delta)}rewrite the model, "
                "for example with non-centred effects"
            )
            yield Level.POOR if share > CHAINS.divergent_share else Level.USABLE, words

    @staticmethod
    def worst(figures: Floats) -> float:
        """The largest; nan counts for nothing."""
        return float(np.nanmax(figures)) if np.isfinite(figures).any() else math.nan

    @property
    def ess(self) -> Floats:
        """The smaller of bulk and tail effective sample size of each column, (columns,)."""
        return np.fmin(self.bulks, self.tails)

    @property
    def least_ess(self) -> float:
        return float(np.nanmin(self.ess)) if np.isfinite(self.ess).any() else math.nan

    @property
    def sentence(self) -> str:
        """The verdict in words, with the next thing to try."""
        against = sorted(self.findings(), key=lambda finding: -FROM_BEST.index(finding[0]))
        text = "; ".join(words for _, words in against) or self.praise
        return f"Verdict: {self.level}: {text}.{self.slow}"

    @property
    def praise(self) -> str:
        if not self.names:
            return "the program has no parameters"
        agree = f"the {self.chains} chains agree" if self.chains > 1 else "the halves of the chain agree"
        return (
            f"{agree} (R-hat at most {self.worst(self.rhats):.3f}), the effective sample size is at least "
            f"{self.least_ess:.0f}, and no transition diverged"
        )

    @property
    def slow(self) -> str:
        if not self.deepest:
            return ""
        return (
            f" {self.deepest} of {self.chains * self.draws} trajectories reached the maximum tree depth "
            f"({self.max_depth}): the draws are valid but expensive; a larger max_depth may be faster."
        )


def higher(delta: float) -> str:
    """The advice to raise `delta`, where there is room above it; "" where it is as high already."""
    to = next((to for to in (0.95, 0.99) if delta < to), None)
    return f"raise delta, for example to {to:g}, or " if to else ""


def judged(
    names: Sequence[str], draws: Floats, divergent: Floats, depths: Floats, max_depth: int, delta: float = 0.8
) -> Judged:
    """The diagnostics of draws (chains, draws, columns); `divergent` and `depths` are (chains, draws)."""
    chains, count, _ = draws.shape
    bulk, tail, r_hat = by_columns(agreement, draws).T
    counts = (int(np.sum(divergent)), int(np.sum(depths >= max_depth)))
    return Judged(chains, count, tuple(names), r_hat, bulk, tail, *counts, max_depth, delta)
