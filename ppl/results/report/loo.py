"""Leave-one-out cross-validation by importance sampling: how well a model predicts rows that it has not seen.

Vehtari, Gelman and Gabry (2017), Statistics and Computing 27; at draws of an approximation, Magnusson,
Andersen, Jonasson and Vehtari (2019), Bayesian leave-one-out cross-validation for large data, ICML.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ppl import html
from ppl.errors import first_few
from ppl.inference.diagnose.level import Level
from ppl.inference.diagnose.psis import khat_threshold, psis
from ppl.late import special
from ppl.results.files.columns import Floats
from ppl.results.files.tables import TABLE_WIDTH, text_table
from ppl.results.report.log_lik import LogLik

MOST_ROWS = 10
"""Rows with a k-hat that is too high that a sentence names."""
MOST_KHAT, DRAWS_FOR_IT = 0.7, 2200
"""The largest k-hat that any number of draws can have, and the draws that suffice for it."""
ENOUGH_DRAWS = f"With {DRAWS_FOR_IT} draws or more a k-hat up to {MOST_KHAT} is low enough."
FIT_AGAIN = (
    "The ELPD is unreliable: without such a row the posterior is too far from the draws. Fit again without "
    "these rows, one at a time, or use a model that is less sensitive to single rows. If most rows have a "
    "high k-hat, the draws are poor."
)


@dataclass(frozen=True, repr=False, eq=False)
class Loo:
    """The expected log predictive density (ELPD) of rows of data left out one by one, in nats.

    `names` are those of the rows, `elpds` and `khats` (rows,) the term of each and how far it can be relied
    on, `lpds` (rows,) the log predictive density of each with the row left in, `draws` how many there were,
    `level` that of the verdict on them.

    Example:
        >>> fit.loo()
        <Loo of 8 rows: ELPD -3... ± 1..., 0 k-hat above 0.667>
    """

    names: tuple[str, ...]
    elpds: Floats
    khats: Floats
    lpds: Floats
    draws: int
    notes: tuple[str, ...] = ()
    level: Level = Level.UNKNOWN

    @property
    def elpd(self) -> float:
        """The ELPD of all rows, in nats: the higher, the better the model predicts."""
        return float(self.elpds.sum())

    @property
    def se(self) -> float:
        """Standard error of `elpd`, for the rows are a sample of possible ones; nan of one row."""
        return se_of_sum(self.elpds)

    @property
    def p_loo(self) -> float:
        """The effective number of parameters: how much better rows are predicted that the fit has seen."""
        return float((self.lpds - self.elpds).sum())

    @property
    def p_loo_se(self) -> float:
        """Standard error of `p_loo`."""
        return se_of_sum(self.lpds - self.elpds)

    @property
    def threshold(self) -> float:
        """The k-hat up to which so many draws suffice: 0.7, or less of fewer than 2200."""
        return khat_threshold(self.draws)

    @property
    def bad(self) -> tuple[str, ...]:
        """The rows whose k-hat is above the threshold, the worst first."""
        order = np.argsort(-self.khats, kind="stable")
        return tuple(self.names[k] for k in order if self.khats[k] > self.threshold)

    @property
    def reading(self) -> str:
        """What k-hat says of the estimate, in a sentence or two."""
        return " ".join([of_khats(self), *self.notes, *self.level.caution])

    def __repr__(self) -> str:
        rows = f"{len(self.names)} rows{self.level.of_poor}"
        bad = f"{len(self.bad)} k-hat above {self.threshold:.3g}"
        return f"<Loo of {rows}: ELPD {self.elpd:.2f} ± {self.se:.2f}, {bad}>"

    def __str__(self) -> str:
        return "\n".join([*table(self), "", self.reading])

    def _repr_html_(self) -> str:
        return html.preformatted("\n".join(table(self))) + html.paragraph(self.reading)


def loo_of(log_lik: LogLik) -> Loo:
    """PSIS-LOO of the log likelihood at draws of the posterior, or of q with the log ratios p/q.

    The posterior without row n has weights p/q / p(y_n | theta), which are smoothed.
    """
    log_weights = psis(log_lik.log_ratios).log_weights
    rows = log_lik.values.T
    left_out = [psis(log_lik.log_ratios - row) for row in rows]
    elpds = [special.logsumexp(w.log_weights + row) for w, row in zip(left_out, rows, strict=True)]
    return Loo(
        log_lik.names,
        np.array(elpds),
        np.array([w.khat for w in left_out]),
        special.logsumexp(log_weights[:, None] + log_lik.values, axis=0),
        len(log_lik.values),
        log_lik.notes,
    )


def se_of_sum(terms: Floats) -> float:
    """Standard error of the sum of terms (rows,): sqrt(n) times their standard deviation."""
    n = len(terms)
    return math.sqrt(n) * float(np.std(terms, ddof=1)) if n > 1 else math.nan


def of_khats(loo: Loo) -> str:
    """How many rows have a k-hat that is too high, which, and what to do about them."""
    n, threshold = len(loo.names), f"{loo.threshold:.3g}"
    if np.isnan(loo.khats).any():
        return f"{loo.draws} draws are too few to estimate k-hat, and so whether the ELPD is reliable."
    of = dict(zip(loo.names, loo.khats, strict=True))
    if not loo.bad:
        worst = max(of, key=lambda name: of[name])
        return f"k-hat is below {threshold} in all {n} rows; the largest is {of[worst]:.3f}, of {worst}."
    worst_text = first_few([f"{name} {of[name]:.3f}" for name in loo.bad], MOST_ROWS)
    found = f"k-hat is above {threshold} in {len(loo.bad)} of {n} rows: {worst_text}."
    return f"{found} {ENOUGH_DRAWS if max(loo.khats) < MOST_KHAT else FIT_AGAIN}"


def table(loo: Loo) -> Iterator[str]:
    """The lines of a table of the ELPD and the effective number of parameters."""
    rows = [("elpd_loo", loo.elpd, loo.se), ("p_loo", loo.p_loo, loo.p_loo_se)]
    texts = [(name, f"{value:.2f}", f"{se:.2f}") for name, value, se in rows]
    return text_table(("", "estimate", "SE"), texts, TABLE_WIDTH)


def csv_lines(loo: Loo) -> Iterator[str]:
    """A line a row: its name, ELPD and k-hat; comments say that the fit is poor."""
    yield from (f"# {sentence}\n" for sentence in loo.level.caution)
    yield "row,elpd_loo,k_hat\n"
    for name, elpd, khat in zip(loo.names, loo.elpds.tolist(), loo.khats.tolist(), strict=True):
        yield f'"{name}",{elpd!r},{khat!r}\n'
