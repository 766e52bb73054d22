"""Whether a fit can be believed: what importance ratios, moves, the trace and other runs say of it."""

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ppl import html
from ppl.advice import Words, in_python, in_shell, values_of
from ppl.floats import Floats
from ppl.kernel.advi.elbo import Elbo
from ppl.kernel.advi.outcome import Outcome
from ppl.kernel.advi.parts import by_columns, column_parts
from ppl.methods.correct.correction import Corrected, DrawSource
from ppl.methods.diagnose.diagnostics import Trend, khat_of_means
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.psis import WeightedDraws, khat_threshold
from ppl.methods.diagnose.quality import Quality
from ppl.methods.diagnose.verdict_rules import VERDICT, CoordinateName, Finding, findings
from ppl.methods.numerics.quantiles import quantiles


class Verdict(Quality):
    """The verdict on the quality of a fit: level, reasons, advice."""

    def __repr__(self) -> str:
        of = "the mixture" if self.made is DrawSource.MIXTURE else "q"
        weighed = f"k-hat of {of} {self.khat:.2f}, effective sample size {self.ess:.0f} of {self.n}"
        return f"<Verdict {self.level.value}: draws {self.made.value}, {weighed}>"

    def _repr_html_(self) -> str:
        names = [f"coordinate {k + 1}" for k in range(self.khats.size)]
        return html.judged(self.level, self.sentence(names, words=in_python)) + html.paragraph(
            self.details(names)
        )

    @property
    def level(self) -> Level:
        """The worst of what is found against the fit; good where nothing is."""
        return next((finding.level for finding in self._findings(str)), Level.GOOD)

    def _findings(self, name: CoordinateName) -> list[Finding]:
        """All that stands against the fit, the worst first; without parameters there is nothing."""
        return findings(self, name) if self.khats.size else []

    def sentence(self, names: Sequence[str], in_force: Collection[str] = (), words: Words = in_shell) -> str:
        """The reason, and the next thing to try that does not set what is `in_force` already."""
        worst = self._findings(lambda k: names[k])[:1]
        steps = [step for each in worst for step in each.steps if not values_of(step).keys() & in_force]
        return " ".join([self.reason(names), *map(words, steps[:1])])

    def reason(self, names: Sequence[str]) -> str:
        """The level and why; `names` (dim,) are those of the coordinates."""
        if not self.khats.size:
            return "Verdict: good: the program has no parameters."
        against = self._findings(lambda k: names[k])
        if not against:
            runs = self.spread and f"; {self.spread.runs} runs agree (largest R-hat {self.spread.rhat:.2f})"
            return f"Verdict: good: {self._how()}{runs or ''}."
        return f"Verdict: {against[0].level.value}: {against[0].why}."

    def _how(self) -> str:
        """Why the draws of a good fit are believed."""
        match self.made:
            case DrawSource.MOVED if self.moved is not None:
                chains = f"{self.moved.chains} HMC chains started at q, stationary and mixed"
                effective = f"effective sample size: at least {self.moved.mixing.fewest_effective:.0f}"
                return f"the draws come from {chains} ({effective})"
            case DrawSource.NESTED:
                how = "the latent variables were integrated out, then drawn given the other parameters"
                return f"{how} (effective sample size of {self.n} weighted draws: {self.ess:.0f})"
            case DrawSource.MIXTURE:
                how = "the draws were importance-resampled from a mixture of Gaussians close to the posterior"
                return f"{how} (effective sample size of {self.n} weighted draws: {self.ess:.0f})"
            case DrawSource.RESAMPLED:
                how = "the draws were importance-resampled from a q close to the posterior"
            case _:
                how = "the draws are those of a q close to the posterior"
        return f"{how} (effective sample size of {self.n} weighted draws of q: {self.ess:.0f})"

    def details(self, names: Sequence[str]) -> str:
        """The numbers behind the sentence: of q, of the moves, of the trace, of other runs."""
        others = [f"Also: {finding.why}." for finding in self._findings(lambda k: names[k])[1:]]
        of_search = [self._of_trend(), self._of_spread(names), self._of_updates()]
        return " ".join(filter(None, [*others, self._of_q(), self._of_moves(), *of_search]))

    def _of_q(self) -> str:
        if math.isnan(self.khat):
            return ""
        reliable = khat_threshold(self.n)
        of = "the mixture" if self.made is DrawSource.MIXTURE else "q"
        text = (
            f"Pareto k-hat of {of} is {self.khat:.2f} (its weights are reliable below {reliable:.2f}); "
            f"effective sample size of {self.n} weighted draws of {of}: {self.ess:.0f}."
        )
        light = " The tail holds so little weight that its shape does not matter."
        drawn_so = self.alike or self.made is DrawSource.NESTED  # whose weights had to be reliable
        return text + light if drawn_so and self.khat >= reliable else text

    def _of_moves(self) -> str:
        known = self.moved
        if known is None:
            return ""
        counts = f"{known.chains} chains made {known.total_moves} HMC moves with {known.gradients} gradients."
        drift, effective = known.mixing.largest_drift, known.mixing.fewest_effective
        changed = f"a mean, an sd or a quantile changed by {drift:.2g} sd more than noise"
        sizes = f"effective sample sizes: at least {effective:.0f}"
        return f"{counts} Over the last {known.moves} {changed}; {sizes}."

    def _of_trend(self) -> str:
        if self.trend is None or math.isnan(self.trend.gain):
            return ""
        return f"The ELBO {'was still rising at the stop' if self.trend.rising else 'had stopped improving'}."

    def _of_spread(self, names: Sequence[str]) -> str:
        if self.spread is None:
            return ""
        worst = names[self.spread.worst]
        text = f"Over {self.spread.runs} runs the largest R-hat is {self.spread.rhat:.2f} ({worst})"
        return f"{text}: they disagree." if self.spread.disagree else f"{text}: they agree."

    def _of_updates(self) -> str:
        if not self.updates:
            return ""
        khat = max(quality.khat for quality in self.updates)
        share = min(quality.ess / quality.n for quality in self.updates)
        return (
            f"Updates so far: {len(self.updates)}; for the Gaussians that replace earlier rows, k-hat was at "
            f"most {khat:.2f}, and the effective share of draws at least {share:.0%}."
        )


def verdict_of(
    proposals: WeightedDraws,
    elbo: Elbo,
    outcome: Outcome,
    trend: Trend | None,
    corrected: Corrected,
    limits: Floats | None = None,
) -> Verdict:
    """Judge a fit by weighted draws of q, and by how its own draws were made of them.

    `limits` (2, dim) are those of coordinates beyond which parameters round to their bounds.
    """
    u, smoothed = proposals.u, proposals.weights
    sd = by_columns(lambda some: some.std(axis=0), u)
    moves = np.exp(smoothed.log_weights) @ u - u.mean(axis=0)
    moved, khats = corrected.moved, np.full(u.shape[1], smoothed.khat)
    if corrected.made in (DrawSource.OF_Q, DrawSource.RESAMPLED, DrawSource.MIXTURE):
        khats = khat_of_means(proposals.log_p - proposals.log_q, u)
    written = corrected.u if len(corrected.u) > 1 else u
    return Verdict(
        n=len(u),
        khat=math.nan if constant(u).all() else smoothed.khat,
        ess=smoothed.ess,
        khats=khats,
        shifts=np.divide(moves, sd, out=np.zeros_like(moves), where=sd > 0),
        elbo_se=elbo.se,
        outcome=outcome,
        trend=trend,
        made=corrected.made,
        modes=corrected.modes,
        moved=moved and moved.without_positions(),
        tails=corrected.tails,
        sd_errors=corrected.sd_errors,
        images=corrected.images,
        stuck=tuple(np.flatnonzero(narrow(written)).tolist()),
        rounded=np.zeros(0) if limits is None else beyond_limits(written, limits),
    )


def constant(u: Floats) -> NDArray[np.bool_]:
    """Which coordinates (dim,) are the same in all draws u (n, dim)."""
    return np.asarray(u.min(axis=0) == u.max(axis=0))


def beyond_limits(u: Floats, limits: Floats) -> Floats:
    """The share (dim,) of the mass that lies beyond limits (2, dim), which draws u (n, dim) do not reach.

    The tail of the draws goes on there as an exponential does: from the half of it that is farther from the
    limit to the nearer one it falls by some factor, and once more by that from half to half beyond.
    """
    lost = np.zeros(u.shape[1])
    for part in column_parts(*u.shape):
        for sign, limit in ((-1, -limits[0, part]), (1, limits[1, part])):
            if np.isfinite(limit).any():
                lost[part] += beyond(np.minimum(sign * u[:, part], limit), limit)
    return np.minimum(lost, 1.0)


def beyond(u: Floats, limit: Floats) -> Floats:
    """That (columns,) beyond the upper limits (columns,) of some columns u (n, columns)."""
    (start,) = quantiles(u, (1 - VERDICT.tail_share,))
    nearer = (u >= (start + limit) / 2).mean(axis=0)
    farther = np.maximum((u >= start).mean(axis=0) - nearer, 0)
    # Both halves together hold 1 - r^2 of the tail for a factor r, which leaves r^2 of it beyond.
    more = (farther + nearer) * nearer**2
    held = np.maximum(farther**2 - nearer**2, 0)
    return np.divide(more, held + more, out=np.zeros_like(more), where=more > 0)


def narrow(u: Floats) -> NDArray[np.bool_]:
    """Which coordinates (dim,) are the same in most of the draws u (n, dim), to rounding."""

    def of_columns(some: Floats) -> Floats:
        low, high = quantiles(some, (0.05, 0.95))
        return np.asarray(high - low <= VERDICT.rounding * np.maximum(-low, high))

    return np.asarray(by_columns(of_columns, u[:: max(len(u) // VERDICT.looked_at, 1)]), dtype=bool)
