"""Titsias and Lazaro-Gredilla 2014, Table 2 and Figure 3: genes that tell a tumour."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from dsvi import random_splits
from dsvi.datasets import Array, Labelled, classes, split
from dsvi.schedule import as_in_the_supplement
from sklearn.linear_model import LogisticRegressionCV

import ppl

from frame.figures import COLOURS, panels
from frame.result import Claim, Result, Table

MODEL = Path(__file__).with_name("logistic_regression.model")
ARD: dict[str, Any] = {"algorithm": "dsvi-ard", "ard": "theta"}
CONCAV: dict[str, Any] = {"algorithm": "dsvi-diagonal"}
METHODS = {"ARD": ARD, "CONCAV": CONCAV}
SCHEDULE = 100_000
"""Iterations of the supplement."""
DEFAULT: dict[str, Any] = {"algorithm": "meanfield"}


@dataclass(frozen=True)
class Problem:
    """A data set of the paper: rows to train on, and its errors (train, test) for each method."""

    name: str
    n_train: int
    n_test: int
    paper: dict[str, tuple[int, int]]
    splits: int = 1
    iterations: int = SCHEDULE


PROBLEMS = (
    Problem("colon", 42, 20, {"ARD": (0, 1), "CONCAV": (0, 0)}, splits=20),
    Problem("leukemia", 38, 34, {"ARD": (0, 3), "CONCAV": (0, 12)}),
    Problem("duke", 38, 4, {"ARD": (0, 2), "CONCAV": (0, 0)}, splits=10),
)


@dataclass(frozen=True)
class Fitted:
    """One fit: wrong answers on both halves, the means of the weights (d,), the bound on the way."""

    train: int
    test: int
    weights: Array
    trace: Array
    bound: float | None = None

    @property
    def kept(self) -> int:
        """Weights whose mean is at least a hundredth of the largest."""
        size = np.abs(self.weights)
        return int((size > 0.01 * size.max()).sum())


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    problems = (replace(PROBLEMS[0], splits=1, iterations=100),) if quick else PROBLEMS
    fits: dict[tuple[str, str], list[Fitted]] = {}
    rows = []
    most = 200 if quick else None
    for problem in problems:
        parts = [(first(train, most), first(test, most)) for train, test in parts_of(problem, data)]
        for name, method in METHODS.items():
            found = [fit(train, test, method, schedule(problem)) for train, test in parts]
            fits[problem.name, name] = found
            rows.append(row(problem, name, found, problem.paper[name]))
        default = fit(*parts[0], DEFAULT, {"iter": 100, "refine": False} if quick else {})
        rows.append(row(problem, "CONCAV, default settings", [default], None))
        rows.append(row(problem, "L1 logistic regression", [baseline(*part) for part in parts], None))
    colon = PROBLEMS[0]
    whole = classes(data / "colon/colon.csv")
    many = random_splits.spreads(whole, colon.n_train, 3 if quick else random_splits.SPLITS)
    return Result(
        data="exact: the LIBSVM files of colon and duke (breast) with splits drawn at random, as the "
        "paper's are not known; leukemia with its own split, its test half rebuilt from the raw file.",
        tables=[
            Table(
                "Wrong answers: the paper's, and ours as mean (least to most) over the splits",
                (
                    "problem",
                    "method",
                    "splits",
                    "paper train",
                    "paper test",
                    "train",
                    "test",
                    "kept",
                    "of",
                    "bound",
                ),
                rows,
                {"bound": ".1f"},
            ),
            random_splits.table(many, colon.n_test),
        ],
        claims=claims(fits, quick),
        remarks=[*remarks(), random_splits.remark(many, colon.n_test)],
        figure=picture(problems, fits),
    )


def parts_of(problem: Problem, data: Path) -> Iterator[tuple[Labelled, Labelled]]:
    """Pairs to train and test on."""
    folder = data / problem.name
    if problem.splits == 1 and (folder / "leukemia_train.csv").exists():
        yield classes(folder / "leukemia_train.csv"), classes(folder / "leukemia_test.csv")
        return
    whole = classes(folder / f"{problem.name}.csv")
    for seed in range(problem.splits):
        yield split(whole, problem.n_train, seed)


def first(rows: Labelled, columns: int | None) -> Labelled:
    return rows._replace(x=rows.x[:, :columns])


def schedule(problem: Problem) -> dict[str, Any]:
    return as_in_the_supplement(0.05 / problem.n_train, problem.iterations)


def fit(train: Labelled, test: Labelled, method: dict[str, Any], settings: dict[str, Any]) -> Fitted:
    n, d = train.x.shape
    given = {"N": n, "D": d, "x": train.x, "y": train.y.astype(int), "scale": 1.0}
    posterior = ppl.compile_model(MODEL).condition(given)
    found = posterior.variational(**method, **settings, draws=1)
    weights = found.result.mean_u
    return Fitted(errors(weights, train), errors(weights, test), weights, found.elbo_trace, found.elbo)


def errors(weights: Array, data: Labelled) -> int:
    """Rows on the wrong side: under a Gaussian q, 1 is the likelier where x'mu is above 0."""
    return int(((data.x @ weights > 0) != data.y).sum())


def baseline(train: Labelled, test: Labelled) -> Fitted:
    """scikit-learn's, its penalty chosen by 5-fold cross-validation."""
    model = LogisticRegressionCV(
        Cs=np.logspace(-1.5, 1, 6),
        cv=5,
        l1_ratios=(1.0,),
        solver="liblinear",
        random_state=0,
        scoring="accuracy",
        use_legacy_attributes=False,
    ).fit(train.x[:, 1:], train.y)
    weights = np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)])
    return Fitted(errors(weights, train), errors(weights, test), weights, np.empty((0, 2)))


def row(problem: Problem, name: str, fits: list[Fitted], paper: tuple[int, int] | None) -> tuple[Any, ...]:
    n, m = problem.n_train, problem.n_test
    theirs = (f"{paper[0]}/{n}", f"{paper[1]}/{m}") if paper else (None, None)
    ours = (f"{spread([f.train for f in fits])}/{n}", f"{spread([f.test for f in fits])}/{m}")
    # ARD's prior moves with q: its bound is of another model in each fit.
    bounds = [f.bound for f in fits if f.bound is not None and not name.startswith("ARD")]
    weights = (spread([f.kept for f in fits]), len(fits[0].weights))
    return (problem.name, name, len(fits), *theirs, *ours, *weights, fmean(bounds) if bounds else None)


def spread(values: list[int]) -> str:
    if len(values) == 1:
        return str(values[0])
    return f"{fmean(values):.1f} ({min(values)} to {max(values)})"


def claims(fits: dict[tuple[str, str], list[Fitted]], quick: bool) -> list[Claim]:
    if quick:
        return []
    trained = max(f.train for found in fits.values() for f in found)
    kept = max(
        f.kept / len(f.weights) for (_, method), found in fits.items() if method == "ARD" for f in found
    )
    ard, concav = fits["leukemia", "ARD"][0].test, fits["leukemia", "CONCAV"][0].test
    return [
        Claim("Neither method errs on the rows it was trained on.", f"Most errors: {trained}.", trained == 0),
        Claim("The mean vectors of ARD are highly sparse.", f"At most {kept:.1%} are kept.", kept < 0.05),
        Claim(
            "CONCAV overfits leukemia (12 of 34 wrong) where ARD does not (3 of 34).",
            f"{concav} and {ard} of 34 are wrong.",
            concav >= 2 * ard and ard <= 4,
        ),
        *(within(p, fits) for p in PROBLEMS if p.splits > 1),
    ]


def within(problem: Problem, fits: dict[tuple[str, str], list[Fitted]]) -> Claim:
    """The paper's test errors on its own split are among ours on random ones."""
    found = {name: [f.test for f in fits[problem.name, name]] for name in METHODS}
    theirs = {name: problem.paper[name][1] for name in METHODS}
    return Claim(
        f"On its split of {problem.name} the paper's errors are {theirs['ARD']} (ARD) and "
        f"{theirs['CONCAV']} (CONCAV) of {problem.n_test}, which random splits come upon too.",
        f"Over {problem.splits} of them they are {spread(found['ARD'])} and {spread(found['CONCAV'])}.",
        all(min(errors) <= theirs[name] <= max(errors) for name, errors in found.items()),
    )


def remarks() -> list[str]:
    return [
        f"Iterations are the supplement's {SCHEDULE:,} in every fit, in its twenty stages. A weight counts "
        "as kept where its mean is at least a hundredth of the largest. The prior of CONCAV is N(0, 1) on "
        "each weight, that of the paper's section 3.1; q is diagonal in both methods. Default settings are "
        "those of mean-field ADVI with Pathfinder's start and refinement. A bound is from 100 draws, which "
        "in so many dimensions leaves 3 nats (colon) or 6 of noise.",
        "The paper's own splits of colon and breast are not known. On colon scikit-learn's L1 errs on "
        "fewer rows than ARD does. On its fixed split leukemia comes out as the paper has it.",
    ]


def picture(problems: tuple[Problem, ...], fits: dict[tuple[str, str], list[Fitted]]) -> Any:
    figure, axes = panels(2, len(problems), sharey="row" if len(problems) == 1 else False)
    for k, problem in enumerate(problems):
        first = fits[problem.name, "ARD"][0]
        top, bottom = axes[:, k]
        top.plot(first.trace[:, 0], first.trace[:, 1], color=COLOURS[0], lw=1)
        top.set(title=problem.name, xlabel="iteration", ylabel="lower bound (nats)" if k == 0 else None)
        bottom.vlines(np.arange(len(first.weights)), 0, first.weights, color=COLOURS[0], lw=0.8)
        bottom.axhline(0, color="#888888", lw=0.5)
        bottom.set(xlabel="input dimension", ylabel="mean of the weight" if k == 0 else None)
    return figure
