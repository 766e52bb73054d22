"""A control for colon in Table 2: errors over many random splits, by two fits that are convex and quick."""

from math import comb
from typing import Any, NamedTuple

import numpy as np
from dsvi.datasets import Array, Labelled
from sklearn.linear_model import LogisticRegression

from frame.result import Table

SPLITS = 1000
SHARED: dict[str, Any] = {"C": 1.0, "solver": "liblinear", "fit_intercept": False, "random_state": 0}
FITS: dict[str, dict[str, Any]] = {
    "mode under CONCAV's prior": SHARED | {"dual": True, "max_iter": 10_000},
    "L1, lambda 1": SHARED | {"l1_ratio": 1.0},
}
MODE, L1 = FITS


class Spread(NamedTuple):
    """Wrong answers by split (splits,), and by row the share of the splits that test it (rows,)."""

    method: str
    errors: Array
    rates: Array

    @property
    def hard(self) -> Array:
        """Which rows are wrong in more than half of the splits that test them."""
        return self.rates > 0.5

    def at_most(self, count: int) -> int:
        return int((self.errors <= count).sum())


def spreads(whole: Labelled, n_train: int, splits: int) -> list[Spread]:
    """The splits are those of `datasets.split` with seeds from 0 on."""
    return [spread(name, settings, whole, n_train, splits) for name, settings in FITS.items()]


def spread(name: str, settings: dict[str, Any], whole: Labelled, n_train: int, splits: int) -> Spread:
    errors, missed, tested = [], np.zeros(len(whole.y)), np.zeros(len(whole.y))
    for seed in range(splits):
        order = np.random.default_rng(seed).permutation(len(whole.y))
        train, test = whole.rows(order[:n_train]), whole.rows(order[n_train:])
        model = LogisticRegression(**settings).fit(train.x, train.y)
        wrong = model.predict(test.x) != test.y
        errors.append(wrong.sum())
        missed[order[n_train:]] += wrong
        tested[order[n_train:]] += 1
    return Spread(name, np.array(errors, float), missed / np.maximum(tested, 1))


def table(found: list[Spread], n_test: int) -> Table:
    columns = ("method", "splits", "mean", "5%", "median", "95%", "none wrong", "at most one", "hard rows")
    caption = (
        f"Colon, many random splits: wrong answers of {n_test}, in how many splits there are none or one at "
        "most, and the rows that are wrong in more than half of the splits that test them"
    )
    rows = [
        (
            s.method,
            len(s.errors),
            float(s.errors.mean()),
            *map(float, np.quantile(s.errors, (0.05, 0.5, 0.95))),
            s.at_most(0),
            s.at_most(1),
            int(s.hard.sum()),
        )
        for s in found
    ]
    return Table(caption, columns, rows, {"mean": ".2f"} | dict.fromkeys(("5%", "median", "95%"), ".0f"))


def remark(found: list[Spread], n_test: int) -> str:
    by = {s.method: s for s in found}
    rows, hard = len(by[MODE].rates), int((by[MODE].hard & by[L1].hard).sum())
    easy = comb(rows - hard, n_test) / comb(rows, n_test)
    return (
        f"Of {len(by[MODE].errors):,} random splits of colon {by[MODE].at_most(0)} leave the mode under "
        "CONCAV's prior, which has no noise and no iterations, without a wrong answer, and "
        f"{by[L1].at_most(1)} leave L1 with one at most. {hard} of the {rows} tissues are wrong in most "
        f"splits by both; a split has none of them among its {n_test} test rows with probability {easy:.3f}."
    )
