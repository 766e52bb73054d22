"""Logistic regressions on the data of the papers, where they are at hand, and on simulated data."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from toy_targets import Logistic

from ppl.kernel.advi.target import OfRows
from ppl.records import dataclass, replace

DATA = Path(os.environ.get("PPL_SHARED", Path(__file__).parents[2] / "shared")) / "data"
# Where the data set is, and its positive class in the column y.
PAISLEY = {
    "iris-setosa": ("iris/iris.csv", "0"),
    "iris-versicolor": ("iris/iris.csv", "1"),
    "iris-virginica": ("iris/iris.csv", "2"),
    "pima": ("pima/pima.csv", "1"),
    "spectf": ("spectf/spectf.csv", "1"),
    "voting": ("voting/votes_coded.csv", "1"),
    "wdbc": ("wdbc/wdbc.csv", "1"),
}


@dataclass(frozen=True)
class LogisticRows(Logistic):
    """Logistic regression that splits into rows; `weight` is how often each of its rows counts."""

    weight: float = 1.0
    with_prior: bool = True

    @property
    def n_rows(self):
        return len(self.y)

    def view(self, view):
        return self.minibatch(view.rows) if isinstance(view, OfRows) else None

    def minibatch(self, rows):
        return replace(self, x=self.x[rows], y=self.y[rows], weight=self.weight * len(self.y) / len(rows))

    def log_density_gradient(self, u):
        whole, slope = super().log_density_gradient(u)
        prior = -0.5 * float(u @ u) - 0.5 * self.dim * np.log(2 * np.pi)
        value, gradient = self.weight * (whole - prior), self.weight * (slope + u)
        return (value + prior, gradient - u) if self.with_prior else (value, gradient)


def standardised(x):
    """Columns of mean 0 and sd 1 after a column of ones."""
    return np.column_stack([np.ones(len(x)), (x - x.mean(axis=0)) / x.std(axis=0)])


def simulated(rows=200, dim=5, seed=0):
    """A regression of moderate size with weights from -1 to 1."""
    rng = np.random.default_rng(seed)
    x = standardised(rng.normal(size=(rows, dim - 1)))
    y = rng.uniform(size=rows) < 1 / (1 + np.exp(-x @ np.linspace(-1, 1, dim)))
    return LogisticRows(x, y.astype(float))


def regression(name):
    """The regression on one of the data sets of Paisley, Blei and Jordan (2012); skips where it is absent."""
    path, positive = PAISLEY[name]
    if not (DATA / path).exists():
        pytest.skip(f"{path} is not at hand")
    with open(DATA / path, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    y = np.array([row["y"] == positive for row in rows], dtype=float)
    columns = [name for name in rows[0] if name not in ("y", "split")]
    return LogisticRows(standardised(np.array([[float(row[c]) for c in columns] for row in rows])), y)


def a9a(name):
    """x (rows, 124), a one first, and y (rows,) of "a9a" or "a9a_test"; skips where the files are absent."""
    path = DATA / "a9a" / f"{name}.svm"
    if not path.exists():
        pytest.skip(f"{path.name} is not at hand")
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    x = np.zeros((len(lines), 124))
    x[:, 0] = 1.0
    for row, (_, *pairs) in zip(x, lines, strict=True):
        row[[int(pair.split(":")[0]) for pair in pairs]] = 1.0
    return x, np.array([float(label) > 0 for label, *_ in lines], dtype=float)
