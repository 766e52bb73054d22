"""The summary of draws of chains: that of other draws, with R-hat and effective sample sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ppl.inference.diagnose.convergence import ess_bulk, ess_tail, mcse_mean, mcse_quantile, rhat
from ppl.results.files.columns import Floats
from ppl.results.report.summary import HEADINGS, SUMMARY_QUANTILES, Row, Summary, short, summarise

OF_CHAINS = (*("mcse_mean" if name == "se" else name for name in HEADINGS), "ESS_bulk", "ESS_tail", "R_hat")


@dataclass(frozen=True, kw_only=True)
class ChainRow(Row):
    """One column's summary over all chains, with how they agree. Vehtari et al. (2021).

    `se`, `se_q5`, `se_q50` and `se_q95` are Monte Carlo standard errors, ArviZ's `mcse_mean` and so on.
    """

    ess_bulk: float
    ess_tail: float
    r_hat: float

    @property
    def texts(self) -> tuple[str, ...]:
        """The figures as a table shows them: of what never varies the value alone."""
        of_chains = (short(self.ess_bulk), short(self.ess_tail), f"{self.r_hat:.3f}")
        return (*super().texts, *("" if self.constant else text for text in of_chains))


@dataclass(frozen=True, repr=False)
class ChainSummary(Summary):
    """The rows of a summary table of chains, in the order of the columns or by name."""

    rows: tuple[ChainRow, ...]
    headings: tuple[str, ...] = OF_CHAINS

    def __iter__(self) -> Iterator[ChainRow]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> ChainRow:
        return self.rows[self.place(name)]


def summary_of_chains(columns: Sequence[str], draws: Floats) -> ChainSummary:
    """The summary of draws (chains, draws, columns)."""
    pooled = summarise(columns, draws.reshape(-1, len(columns)))
    with np.errstate(all="ignore"):
        rows = tuple(_row(row, draws[:, :, k]) for k, row in enumerate(pooled))
    return ChainSummary(rows)


def _row(row: Row, draws: Floats) -> ChainRow:
    of_quantiles = (mcse_quantile(draws, p) for p in SUMMARY_QUANTILES)
    errors = dict(zip(("se", "se_q5", "se_q50", "se_q95"), (mcse_mean(draws), *of_quantiles), strict=True))
    return ChainRow(
        **vars(row) | errors, ess_bulk=ess_bulk(draws), ess_tail=ess_tail(draws), r_hat=rhat(draws)
    )
