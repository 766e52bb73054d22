"""Paisley, Blei and Jordan 2012, Tables 1 and 2 and Figure 3: two controls for logistic regression."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from stochastic_search.datasets import Array, Labelled, iris, pima, spectf, voting, wdbc
from stochastic_search.jaakkola_jordan import JaakkolaJordan
from stochastic_search.search import PILOT, RATE, VARIANCE, InCoordinates, Search, search

import ppl
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.estimators.stochastic_search import taylor
from ppl.posterior import Posterior
from ppl.run.posterior_target import PosteriorTarget

from frame.exact_logistic import ExactBound
from frame.figures import COLOURS, legend, panels
from frame.result import Claim, Result, Table

MODEL = Path(__file__).with_name("logistic_regression.model")
PRIOR_VARIANCE = 29.0
STEPS = 1000
WATCHED = "pima"
METHODS = ("Taylor CV", "J&J CV", "Laplace", "J&J bound")


@dataclass(frozen=True)
class Problem:
    """A data set, with the paper's bounds and times by method, and its time without a control variate."""

    name: str
    read: Callable[[Path], Labelled]
    bounds: tuple[float, ...]
    times: tuple[str, ...]


PROBLEMS = (
    Problem("iris", iris, (-7.9, -7.9, -11.9, -11.5), ("0.33 s", "0.42 s", "21 ms", "64 ms", "2.4 s")),
    Problem("pima", pima, (-3974, -3974, -3985, -3976), ("1.7 min", "18 min", "29 ms", "88 ms", "> 2 years")),
    Problem("spectf", spectf, (-165, -165, -170, -173), ("20 s", "1.2 min", "94 ms", "0.13 s", "6.6 h")),
    Problem("voting", voting, (-67.8, -67.6, -70.5, -74.6), ("17 s", "1.2 min", "20 ms", "97 ms", "9 h")),
    Problem("wdbc", wdbc, (-74.6, -74.8, -80.0, -86.2), ("11 s", "2.3 min", "0.10 s", "0.15 s", "1.4 h")),
)


class Gaussian(NamedTuple):
    """A q and the seconds it took."""

    mu: Array
    c: Array
    seconds: float


class Found(NamedTuple):
    """Bounds and seconds in the order of METHODS, then of the default settings; the best bound."""

    bounds: list[float]
    seconds: list[float]
    best: float
    searches: tuple[Search, Search]


Everything = dict[Problem, Found]


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    problems = PROBLEMS[:1] if quick else PROBLEMS
    cut = {"iter": 20, "refine": False} if quick else {}
    found = {p: find(p.read(data), 20 if quick else STEPS, cut) for p in problems}
    return Result(
        data="exact: iris (setosa against the rest), Pima, SPECTF, voting (1, -1, and 0 for missing) and "
        "WDBC, measured columns standardised, with a column of ones; the paper does not say how it "
        "scaled them.",
        tables=[bounds(found), seconds(found), draws(found)],
        claims=[] if quick else claims(found),
        remarks=[
            f"The prior variance c is not in the paper; at c = {PRIOR_VARIANCE:g} voting comes out "
            "near its figure, and so does Pima if the paper's -3974 lost its point; iris, whose "
            "classes the paper does not name, SPECTF and WDBC do not. A search starts at the "
            "Gaussian that is best for the bound of Jaakkola and Jordan, works in its coordinates, "
            f"and takes {STEPS} Robbins-Monro steps from {RATE:g}, each with the draws that bring the "
            f"variance of the gradient to {VARIANCE:g} an entry, at least 2 and at most 2,000; beyond "
            "the paper it takes a constant as a second control, and its answer averages the "
            "iterates. Bounds are by quadrature, without noise. The draws needed, with one control "
            f"as in the paper, and the time without any are reckoned from {PILOT} draws at ten of the "
            "iterations.",
        ],
        figure=picture(found),
    )


def find(data: Labelled, steps: int, cut: dict[str, Any]) -> Found:
    n, d = data.x.shape
    exact = ExactBound(data.x, data.y, PRIOR_VARIANCE**0.5)
    given = {"N": n, "D": d, "x": data.x, "y": data.y.astype(int), "c": PRIOR_VARIANCE}
    posterior = ppl.compile_model(MODEL).condition(given)
    laplace, default = gaussian(posterior, "laplace"), gaussian(posterior, "fullrank", **cut)
    jj = jaakkola_jordan(data, PRIOR_VARIANCE)
    target = Scaled(PosteriorTarget(posterior), jj.mu, jj.c)
    control = InCoordinates(JaakkolaJordan(data.x, data.y, 1 / PRIOR_VARIANCE), jj.mu, jj.c)
    searches = (search(target, taylor, exact, steps), search(target, control, exact, steps))
    whole = (laplace, jj, default)
    return Found(
        [*(s.bound for s in searches), *(exact.value(q.mu, q.c) for q in whole)],
        [*(s.seconds for s in searches), *(q.seconds for q in whole)],
        exact.value(*exact.best()),
        searches,
    )


def gaussian(posterior: Posterior, algorithm: str, **cut: Any) -> Gaussian:
    began = time.process_time()
    result = posterior.variational(algorithm=algorithm, draws=1, **cut).result
    spent = time.process_time() - began
    return Gaussian(result.mean_u, np.linalg.cholesky(result.family.covariance(result.params)), spent)


def jaakkola_jordan(data: Labelled, prior_variance: float, rounds: int = 200) -> Gaussian:
    """The q that is best for their bound, by its fixed point (Jaakkola and Jordan 2000, section 3)."""
    began = time.process_time()
    half, mean_slope = data.x.T @ (data.y - 0.5), np.eye(data.x.shape[1]) / prior_variance
    mu, covariance = np.zeros(len(half)), prior_variance * np.eye(len(half))
    for _ in range(rounds):
        xi = np.sqrt(np.einsum("ij,jk,ik->i", data.x, covariance + np.outer(mu, mu), data.x))
        slack = np.tanh(xi / 2) / (4 * xi)
        covariance = np.linalg.inv(mean_slope + 2 * (data.x.T * slack) @ data.x)
        mu = covariance @ half
    return Gaussian(mu, np.linalg.cholesky(covariance), time.process_time() - began)


def bounds(found: Everything) -> Table:
    rows = [
        [method, *(cell for p, f in found.items() for cell in (p.bounds[k], f.bounds[k]))]
        for k, method in enumerate(METHODS)
    ]
    for name, values in (
        ("full-rank, default settings", [f.bounds[-1] for f in found.values()]),
        ("the best Gaussian, by L-BFGS", [f.best for f in found.values()]),
    ):
        rows.append([name, *(cell for v in values for cell in (None, v))])
    return Table("Table 1: the bound in nats", columns(found), rows, {p.name: ".2f" for p in found})


def seconds(found: Everything) -> Table:
    rows = [
        [method, *(cell for p, f in found.items() for cell in (p.times[k], spell(f.seconds[k])))]
        for k, method in enumerate(METHODS)
    ]
    none = [cell for p, f in found.items() for cell in (p.times[-1], spell(f.searches[0].without_control))]
    default = [cell for f in found.values() for cell in (None, spell(f.seconds[-1]))]
    rows += [["no control variate (estimate)", *none], ["full-rank, default settings", *default]]
    return Table("Table 2: time of one processor", columns(found), rows)


def columns(found: Everything) -> list[str]:
    return ["method", *(name for p in found for name in (f"paper, {p.name}", p.name))]


def spell(seconds: float) -> str:
    for unit, size in (("years", 3.156e7), ("days", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= size:
            return f"{seconds / size:.2g} {unit}"
    return f"{seconds * 1000:.0f} ms"


def draws(found: Everything) -> Table:
    names = ("Taylor", "J&J")
    head = [*(f"draws, {n}" for n in (*names, "none")), *(f"reduction, {n}" for n in names)]
    rows = []
    for p, f in found.items():
        last = [s.noise[-1] for s in f.searches]
        needed = [f.searches[0].draws, f.searches[1].draws, f.searches[0].plain_draws]
        rows.append([p.name, *needed, *(n.reduction for n in last), *(n.scale for n in last)])
    caption = "Figure 3: draws that an iteration needs, in the mean; the last one's variance reduction and a*"
    columns = ["data", *head, *(f"a*, {n}" for n in names)]
    return Table(caption, columns, rows, dict.fromkeys(columns[1:], ",.3g"))


def claims(found: Everything) -> list[Claim]:
    apart = max(abs(f.bounds[0] - f.bounds[1]) for f in found.values())
    above = {p.name: min(f.bounds[:2]) - max(f.bounds[2:4]) for p, f in found.items()}
    ratio = {p.name: f.searches[1].draws / f.searches[0].draws for p, f in found.items()}
    return [
        Claim(
            "Both control variates reach the same bound.",
            f"They differ by at most {apart:.2f} nats.",
            bool(apart < 0.3),
        ),
        Claim(
            "It is above the bounds of Laplace and of Jaakkola and Jordan.",
            "It is above the better of them by "
            + ", ".join(f"{gap:.2f} ({name})" for name, gap in above.items())
            + " nats.",
            bool(min(above.values()) > 0),
        ),
        Claim(
            "The Taylor expansion needs significantly fewer draws than the bound of Jaakkola and Jordan.",
            "That needs " + ", ".join(f"{r:.1f} ({name})" for name, r in ratio.items()) + " times as many.",
            min(ratio.values()) > 1.5,
        ),
    ]


def picture(found: Everything) -> Any:
    problem = next((p for p in found if p.name == WATCHED), next(iter(found)))
    figure, axes = panels(1, 3, width=8.5, height=2.6)
    names = ("Taylor", "Jaakkola and Jordan")
    for k, (name, s) in enumerate(zip(names, found[problem].searches, strict=True)):
        for ax, values in zip(axes[0], zip(*(n[:3] for n in s.noise), strict=True), strict=True):
            ax.plot(s.iterations, values, "o-", ms=3, lw=1, color=COLOURS[k], label=name)
    for ax, name in zip(axes[0], ("draws needed", "variance reduction factor", "scale a*"), strict=True):
        ax.set(xscale="log", xlabel="iteration", ylabel=name)
    for ax in axes[0, :2]:
        ax.set_yscale("log")
    figure.suptitle(problem.name, fontsize=9)
    legend(axes[0, 2], loc="center right")
    return figure
