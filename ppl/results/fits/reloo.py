"""Leave-one-out cross-validation of the rows for which importance sampling does not do.

R's loo and ArviZ fit again without such a row (`reloo`; Vehtari, Gelman and Gabry 2017, Statistics
and Computing 27). Here draws are moved, and its predictive density is a ratio of two integrals, by bridge
sampling.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ppl.density.log_density import LogDensity
from ppl.errors import DataError
from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.subsampling import Rows
from ppl.kernel.advi.target import finite
from ppl.methods.correct.bridge_sampling import bridge_sampling
from ppl.methods.correct.evidence import Evidence
from ppl.methods.correct.resampling import systematic
from ppl.methods.diagnose.psis import psis
from ppl.methods.moves.ending import MOVES, most_gradients, moved
from ppl.records import dataclass, replace
from ppl.results.files.read_csv import DrawsFile
from ppl.results.fits.by_row import (
    RowsByOutcome,
    RowsOfOutcome,
    chosen_outcomes,
    continuous,
    draws_ints,
    log_likelihood,
    log_liks,
    points_in,
)
from ppl.results.report.loo import Loo, loo_of
from ppl.run.posterior_target import PosteriorTarget
from ppl.run.target import threads_of_fit
from ppl.structure.observed.left_out import LeftOut, without_rows
from ppl.structure.observed.outcome_names import JOINED


class ReLooLimits(NamedTuple):
    """How exactly the predictive density of a row is had."""

    most_se: float = 0.1
    """The standard error, in nats, of that of one row: that of 100 rows is then 1."""

    most_powers: int = 8
    """Powers of its likelihood between 0 and 1 at which draws are had for that."""


RELOO = ReLooLimits()

Row = Mapping[str, tuple[int, ...]]
"""The indices of a row, from 1, in each outcome that it is of."""


@dataclass(frozen=True)
class DrawsAtPower:
    """Points u (n, dim) of the posterior with the likelihood of a row to a power, about independent, and the
    log likelihood of the row there (n,).
    """

    power: float
    u: Floats
    log_lik: Floats


def ratio_of_integrals(low: DrawsAtPower, high: DrawsAtPower) -> Evidence:
    """The log of the integral at the higher power over that at the lower one."""
    by = high.power - low.power
    return bridge_sampling(by * high.log_lik, by * low.log_lik, len(high.u))


@dataclass(frozen=True)
class RowRemoval:
    """A posterior, and a program of the same parameters that says by data which row is left out."""

    posterior: LogDensity
    program: LeftOut
    model: Any

    @classmethod
    def of(cls, posterior: LogDensity) -> "RowRemoval":
        """Compiles the program; DataError where discrete data are missing."""
        if draws_ints(posterior):
            raise DataError("reloo leaves out no rows where discrete data are missing.")
        program = without_rows(continuous(posterior))
        return cls(posterior, program, posterior.model.of_program(program.program))

    @cached_property
    def whole(self) -> PosteriorTarget:
        """The posterior with all rows, by the same program."""
        return self.target({}, 1.0)

    def target(self, row: Row, power: float) -> PosteriorTarget:
        """The posterior with the likelihood of a row to this power."""
        values: dict[str, Any] = {self.program.power: power}
        for outcome, count in self.program.counts.items():
            at, places = row.get(outcome), self.program.places[outcome]
            values[count] = int(at is not None)
            values |= {place: at[k : k + 1] if at else () for k, place in enumerate(places)}
        seed = self.posterior.d.seed__
        return PosteriorTarget(self.model.condition({**self.posterior.data, **values}, seed=seed))

    def moved(
        self, row: Row, power: float, ends: Sequence[DrawsAtPower], rng: np.random.Generator
    ) -> DrawsAtPower | None:
        """Draws at a power below 1 by chains from draws at two others, in turn; None where they do not
        converge.
        """
        target, half = self.target(row, power), MOVES.chains // len(ends)
        starts = np.stack([end.u[rng.integers(len(end.u), size=half)] for end in ends], axis=1)
        together = starts.reshape(-1, target.dim)
        sds = together.std(axis=0)
        if not sds.all():
            return None
        scaled = Scaled(target, together.mean(axis=0), sds)
        try:
            chains = moved(scaled, scaled.to_v(together), rng, most_gradients(target.width))
        except np.linalg.LinAlgError:
            return None
        if not chains.stationary:
            return None
        every = math.ceil(len(chains.u) / chains.mixing.fewest_effective)
        u = scaled.to_u(chains.u[::every])
        lacking = self.whole.log_densities(u) - target.log_densities(u)
        return DrawsAtPower(power, u, finite(lacking / (1 - power)))

    def log_density(self, row: Row, whole: DrawsAtPower, rng: np.random.Generator) -> Evidence | None:
        """The log predictive density of a row given the others; None where it is not known.

        It is the integral of the posterior over that without the row. Between these stand powers of the
        likelihood of the row, where the two have too few draws in common.
        """
        draws, power, at = [whole], 0.0, 0
        while len(draws) < RELOO.most_powers + 2:
            ends = draws[max(at - 1, 0)], draws[at]
            if (more := self.moved(row, power, ends, rng)) is None:
                return None
            draws.insert(at, more)
            bridges = [ratio_of_integrals(low, high) for low, high in pairwise(draws)]
            total = Evidence(sum(b.value for b in bridges), math.hypot(*(b.se for b in bridges)))
            if total.se <= RELOO.most_se:
                return total
            at = 1 + int(np.argmax([bridge.se for bridge in bridges]))
            power = (draws[at - 1].power + draws[at].power) / 2
        return None


def reloo(
    posterior: LogDensity,
    us: Floats,
    log_ratios: Floats,
    outcome: str | Sequence[str] | None,
    where: str,
    seed: int,
) -> list[Loo]:
    """PSIS-LOO of each outcome at draws us (n, dim), and rows whose k-hat may be too high by moved draws.

    Raises:
        ModelError, DataError, UnknownName: as `log_likelihood` and `chosen_outcomes`.
    """
    groups = log_likelihood(posterior, us)
    chosen = chosen_outcomes(groups, outcome)
    known = [rows for rows in chosen if not rows.untold] or chosen
    loos = [loo_of(each) for each in log_liks(chosen, log_ratios, where)]
    if not any(loo.uncertain for loo in loos):
        return loos
    removal, rng = RowRemoval.of(posterior), np.random.default_rng(seed)
    drawn = systematic(psis(finite(log_ratios)).log_weights, len(us), rng)
    with threads_of_fit(posterior):
        return [
            left_out(loo, rows, groups, removal, us, drawn, rng)
            for loo, rows in zip(loos, known, strict=True)
        ]


def in_files(
    posterior: LogDensity, files: Sequence[DrawsFile], outcome: str | Sequence[str] | None, seed: int
) -> list[Loo]:
    """The same at the draws of all runs of a program.

    Raises:
        ModelError, DataError, UnknownName: as `by_row.in_files`.
    """
    us, ratios, notes = points_in(posterior, files)
    loos = reloo(posterior, us, ratios, outcome, str(files[0].path), seed)
    return [replace(loo, notes=(*loo.notes, *notes)) for loo in loos]


def left_out(
    loo: Loo,
    rows: RowsOfOutcome,
    groups: RowsByOutcome,
    removal: RowRemoval,
    us: Floats,
    drawn: Rows,
    rng: np.random.Generator,
) -> Loo:
    """The same with other terms for rows of uncertain k-hat; `drawn` are the posterior's among us."""
    if not (uncertain := loo.uncertain):
        return loo
    elpds, khats = loo.elpds.copy(), loo.khats.copy()
    own = [group for group in groups if {*group.split(JOINED)} <= {*rows.outcome.split(JOINED)}]
    done = 0
    for k in uncertain:
        row = {group: rows.at[k] for group in own if rows.at[k] in groups[group].at}
        own_draws = drawn[np.isfinite(rows.values[drawn, k])]
        whole = DrawsAtPower(1.0, us[own_draws], rows.values[own_draws, k])
        if (density := removal.log_density(row, whole, rng)) is not None:
            elpds[k], khats[k], done = density.value, 0.0, done + 1
    notes = [f"{done} of {len(uncertain)} rows with a high k-hat, now 0, were left out by moving the draws."]
    if done < len(uncertain):
        notes += ["Draws without one of the others did not converge."]
    return replace(loo, elpds=elpds, khats=khats, notes=(*loo.notes, *notes))
