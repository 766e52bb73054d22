"""Leave-one-out cross-validation by importance sampling: how well a model predicts rows that it has not seen.

Vehtari, Gelman and Gabry (2017), Statistics and Computing 27; at draws of an approximation, Magnusson,
Andersen, Jonasson and Vehtari (2019), Bayesian leave-one-out cross-validation for large data, ICML.
"""

import math
from collections.abc import Iterable, Iterator

import numpy as np

from ppl import api, html
from ppl.errors import first_few
from ppl.floats import Floats
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.psis import khat_se, khat_threshold, psis
from ppl.methods.numerics.log_sums import log_sum_exp
from ppl.records import dataclass, replace
from ppl.results.report.log_lik import LogLik
from ppl.results.report.ranked import ByOutcome
from ppl.results.report.text_table import TABLE_WIDTH, text_table

MOST_ROWS = 10
"""Rows with a k-hat that is too high that a sentence names."""
MOST_KHAT, DRAWS_FOR_IT = 0.7, 2200
"""The largest k-hat that any number of draws can have, and the draws that suffice for it."""
ENOUGH_DRAWS = f"With {DRAWS_FOR_IT} draws or more a k-hat up to {MOST_KHAT} is low enough."
UNRELIABLE = (
    "The ELPD is unreliable and usually too high: without such a row the posterior is too far from the "
    "draws. `--reloo`, in Python `fit.loo(reloo=True)`, moves the draws there, a row at a time; or use a "
    "model that is less sensitive to single rows. If most rows have a high k-hat, each determines a "
    "parameter of its own, or the draws are poor."
)


HEADINGS = ("", "estimate", "SE")
HEADINGS_OF_SEVERAL = ("", "elpd_loo", "SE", "p_loo", "SE", "rows", "bad k-hat")
NOT_ADDED = (
    "The ELPDs of different outcomes are not added up. Choose one, or name several whose rows belong "
    "together: row n of each is then left out at once."
)


@dataclass(frozen=True, repr=False, eq=False)
class Loo(api.OthersNames):
    """The expected log predictive density (ELPD) of rows of data left out one by one, in nats.

    `names` are those of the rows, `elpds` and `khats` (rows,) the term of each and how far it can be relied
    on, `lpds` (rows,) the log predictive density of each with the row left in, `draws` how many there were,
    `level` that of the verdict on them. `outcome` is the data variable that the rows are of, "y1 + y2" where
    the densities of two are added up by row, "" where it is unknown; `observed` (rows, entries) are the data
    of each row, None where they are unknown.

    Example:
        >>> fit.loo()
        <Loo of 8 rows of y: ELPD -3... ± 1..., 0 k-hat above 0.667>
    """

    names: tuple[str, ...]
    elpds: Floats
    khats: Floats
    lpds: Floats
    draws: int
    notes: tuple[str, ...] = ()
    level: Level = Level.UNKNOWN
    outcome: str = ""
    observed: Floats | None = None

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
        """The rows whose k-hat is above the threshold, or unknown for too few draws, the worst first."""
        khats = np.nan_to_num(self.khats, nan=np.inf, neginf=-np.inf)
        order = np.argsort(-khats, kind="stable")
        return tuple(self.names[k] for k in order if khats[k] > self.threshold)

    @property
    def uncertain(self) -> tuple[int, ...]:
        """The rows, from 0, whose k-hat is above the threshold or at most a standard error below it."""
        khats = np.where(np.isnan(self.khats), np.inf, self.khats)
        return tuple(np.flatnonzero(khats + khat_se(khats, self.draws) > self.threshold).tolist())

    def table(self, width: int = TABLE_WIDTH) -> Iterator[str]:
        """The lines of a table of the ELPD and the effective number of parameters."""
        return text_table(HEADINGS, self.texts, width)

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """The rows of the table."""
        rows = [("elpd_loo", self.elpd, self.se), ("p_loo", self.p_loo, self.p_loo_se)]
        return [(name, f"{value:.2f}", f"{se:.2f}") for name, value, se in rows]

    @property
    def reading(self) -> str:
        """The meaning of k-hat for the estimate, in a sentence or two."""
        return " ".join([of_khats(self), *self.notes, *self.level.caution])

    def __repr__(self) -> str:
        of = f" of {self.outcome}" if self.outcome else ""
        rows = f"{len(self.names)} rows{of}{self.level.of_poor}"
        return f"<Loo of {rows}: {short(self)}>"

    def __str__(self) -> str:
        return "\n".join([*self.table(), "", self.reading])

    def _repr_html_(self) -> str:
        return html.table(HEADINGS, self.texts) + html.paragraph(self.reading)


class LooByOutcome(ByOutcome[Loo]):
    """The ELPD of each of several outcomes, in the order of the data: a mapping by name.

    Rows of different outcomes are not the same rows, so that their ELPDs are not added up.

    Example:
        >>> program = "data { vector[3] x; vector[3] y; } parameters { real a; } "
        >>> program += "model { a ~ normal(0, 1); x ~ normal(a, 1); y ~ normal(2 * a, 1); }"
        >>> fit = compile_model(program).condition({"x": [0, 1, 2], "y": [1, 2, 3]}).variational(seed=1)
        >>> list(fit.loo()), fit.loo()["y"].elpds.shape, fit.loo(["x", "y"]).outcome
        (['x', 'y'], (3,), 'x + y')
    """

    def table(self, width: int = TABLE_WIDTH) -> Iterator[str]:
        """The lines of the table, an outcome each."""
        return text_table(HEADINGS_OF_SEVERAL, self.texts, width)

    @property
    def texts(self) -> list[tuple[str, ...]]:
        """The rows of the table."""
        return [(name, *summary_texts(loo)) for name, loo in self.items()]

    @property
    def reading(self) -> str:
        """The meaning of k-hat for each estimate, and that the ELPDs are not added up."""
        return "\n".join([*readings(self)])

    def __repr__(self) -> str:
        each = [f"{name}: {short(loo)}" for name, loo in self.items()]
        return f"<LooByOutcome{next(iter(self.values())).level.of_poor}: {'; '.join(each)}>"

    def __str__(self) -> str:
        return "\n".join([*self.table(), "", self.reading])

    def _repr_html_(self) -> str:
        return html.table(HEADINGS_OF_SEVERAL, self.texts) + "".join(map(html.paragraph, readings(self)))


def short(loo: Loo) -> str:
    """The ELPD, its standard error, and how many rows have a k-hat that is too high."""
    unknown = np.isnan(loo.khats).any()
    bad = "k-hat unknown" if unknown else f"{len(loo.bad)} k-hat above {loo.threshold:.3g}"
    return f"ELPD {loo.elpd:.2f} ± {loo.se:.2f}, {bad}"


def summary_texts(loo: Loo) -> tuple[str, ...]:
    """The figures of an outcome as a table shows them."""
    figures = (loo.elpd, loo.se, loo.p_loo, loo.p_loo_se)
    return (*(f"{figure:.2f}" for figure in figures), str(len(loo.names)), str(len(loo.bad)))


def readings(loos: LooByOutcome) -> Iterator[str]:
    """A sentence or two on each outcome, those on all of them once."""
    each = [*loos.values()]
    shared = [note for note in each[0].notes if all(note in loo.notes for loo in each)]
    for name, loo in loos.items():
        yield " ".join([f"{name}: {of_khats(loo)}", *(note for note in loo.notes if note not in shared)])
    yield " ".join([*shared, NOT_ADDED, *each[0].level.caution])


def loo_of(log_lik: LogLik) -> Loo:
    """PSIS-LOO of the log likelihood at draws of the posterior, or of q with the log ratios p/q.

    The posterior without row n has weights p/q / p(y_n | theta), which are smoothed.
    """
    log_weights = psis(log_lik.log_ratios).log_weights
    rows = log_lik.values.T
    left_out = [psis(log_lik.log_ratios - row) for row in rows]
    elpds = [log_sum_exp(w.log_weights + row) for w, row in zip(left_out, rows, strict=True)]
    return Loo(
        log_lik.names,
        np.array(elpds),
        np.array([w.khat for w in left_out]),
        log_sum_exp(log_weights[:, None] + log_lik.values, axis=0),
        len(log_lik.values),
        log_lik.notes,
        outcome=log_lik.outcome,
        observed=log_lik.observed,
    )


def loo_by_outcome(of_outcomes: Iterable[Loo], level: Level) -> Loo | LooByOutcome:
    """That of the only outcome, or of each in turn; `level` is that of the draws."""
    loos = [replace(each, level=level) for each in of_outcomes]
    return loos[0] if len(loos) == 1 else LooByOutcome({loo.outcome: loo for loo in loos})


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
    sentence = f"k-hat is above {threshold} in {len(loo.bad)} of {n} rows: {worst_text}."
    return f"{sentence} {ENOUGH_DRAWS if max(loo.khats) < MOST_KHAT else UNRELIABLE}"


def csv_lines(loos: Loo | LooByOutcome) -> Iterator[str]:
    """A line a row: its name, ELPD, k-hat and outcome; comments say that the fit is poor."""
    each = [loos] if isinstance(loos, Loo) else [*loos.values()]
    yield from (f"# {sentence}\n" for sentence in each[0].level.caution)
    yield "row,elpd_loo,k_hat,outcome\n"
    for loo in each:
        for name, elpd, khat in zip(loo.names, loo.elpds.tolist(), loo.khats.tolist(), strict=True):
            yield f'"{name}",{elpd!r},{khat!r},{loo.outcome}\n'
