"""Titsias and Lazaro-Gredilla 2014, Figure 2: evaluations until a full C is found."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from dsvi.datasets import Array, regression, with_ones

import ppl
from ppl.kernel.advi.estimators.reparameterised import reparameterised
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.steps.decaying import Staged
from ppl.kernel.advi.steps.step_rule import Averaging, Last, Polynomial
from ppl.kernel.advi.target import Target
from ppl.methods.recipes import fit
from ppl.methods.run.settings import Settings
from ppl.run.posterior_target import PosteriorTarget

from frame.exact_logistic import ExactBound
from frame.figures import COLOURS, legend_above, panels
from frame.result import Claim, Result, Table

MODEL = Path(__file__).with_name("logistic_regression.model")
FIRST_SCALE = 0.1
NEAR = 0.5


class Trail(NamedTuple):
    """Evaluations of the gradient so far, nats below the best bound there, squared error of (mu, C)."""

    evaluations: Array
    below: Array
    error: Array
    seconds: float

    def arrival(self, near: float) -> int | None:
        """The evaluations after which the bound stays so near its best."""
        away = np.flatnonzero(self.below > near)
        last = away[-1] + 1 if away.size else 0
        return int(self.evaluations[last]) if last < len(self.below) else None


@dataclass(frozen=True, eq=False)
class Problem:
    """The exact bound, its best (mu, C), and the same model as a target for draws."""

    bound: ExactBound
    target: PosteriorTarget
    mu: Array
    c: Array

    @property
    def best(self) -> float:
        return self.bound.value(self.mu, self.c)

    def judge(self, mu: Array, c: Array) -> tuple[float, float]:
        """Nats below the best, and the squared error."""
        error = ((mu - self.mu) ** 2).sum() + ((c - self.c) ** 2).sum()
        return self.best - self.bound.value(mu, c), float(error)


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    problem, reference = problem_of(data)
    steps = 40 if quick else 2000
    trails = {
        "reference: L-BFGS on the exact bound": reference,
        "DSVI, last iterate": dsvi(problem, steps, Last()),
        "DSVI, averaged iterates": dsvi(problem, steps, Polynomial(power=3.0)),
    }
    others = [] if quick else list(recipes(problem))
    return Result(
        data="exact: Pima Indians, 768 x 8, columns standardised and a column of ones put before them.",
        tables=[
            Table(
                f"Evaluations until the bound stays within {NEAR} nats of its best, {problem.best:.2f}",
                ("method", "paper", "evaluations", "nats below at the end", "squared error", "seconds"),
                [
                    (name, paper, t.arrival(NEAR), float(t.below[-1]), float(t.error[-1]), t.seconds)
                    for (name, t), paper in zip(trails.items(), (16, 500, None), strict=True)
                ],
                {"nats below at the end": ".3f", "squared error": ".4f", "seconds": ".2f"},
            ),
            Table(
                "Whole runs of this project at its default settings",
                ("algorithm", "gradients in all", "nats below", "squared error", "seconds"),
                others,
                {"nats below": ".3f", "squared error": ".4f", "seconds": ".2f"},
            ),
        ][: 1 if quick else 2],
        claims=[] if quick else claims(trails),
        remarks=[
            "The reference integrates the likelihood by Gauss-Hermite quadrature, as Challis and "
            "Barber's code does, so it has no noise. DSVI starts at mu = 0, C = 0.1 I with one draw a "
            "step and the supplement's rates: 0.5/n, a tenth of it for C, 0.95 every hundred steps; the "
            "paper gives none for this figure.",
        ],
        figure=picture(trails),
    )


def problem_of(data: Path) -> tuple[Problem, Trail]:
    table = regression(data / "pima" / "pima.csv")
    x = with_ones((table.x - table.x.mean(axis=0)) / table.x.std(axis=0))
    given = {"N": len(x), "D": x.shape[1], "x": x, "y": table.y.astype(int), "scale": 1.0}
    bound, began = ExactBound(x, table.y), time.process_time()
    path = bound.path()
    seconds = time.process_time() - began
    mu, c = bound.unpack(path[-1])
    problem = Problem(bound, PosteriorTarget(ppl.compile_model(MODEL).condition(given)), mu, positive(c))
    judged = [problem.judge(m, positive(k)) for m, k in map(bound.unpack, path)]
    below, error = np.array(judged).T
    return problem, Trail(np.arange(1, len(path) + 1), below, error, seconds)


def positive(c: Array) -> Array:
    """The C of the same covariance whose diagonal is positive."""
    return c * np.sign(np.diagonal(c))


def dsvi(problem: Problem, steps: int, averaging: Averaging) -> Trail:
    """Algorithm 1, one draw a step."""
    dim = problem.target.dim
    family, rates = FullRank(dim), np.ones(dim + dim * (dim + 1) // 2)
    rates[dim:] = 0.1
    rule = Staged(0.5 / len(problem.bound.y), 0.95, max(1, steps // 20), rates, family.diagonal)
    rng, params = np.random.default_rng(1), family.start(np.zeros(dim), FIRST_SCALE)
    state, average, kept = rule.init(params), params, []
    began = time.process_time()
    for k in range(1, steps + 1):
        gradient = reparameterised(problem.target, family, params, 1, rng).gradient
        params, state = rule.step(state, params, gradient)
        average = averaging.update(average, params, k)
        kept.append(average)
    seconds = time.process_time() - began
    judged = [problem.judge(family.mean(p), family.factor(p)) for p in kept]
    below, error = np.array(judged).T
    return Trail(np.arange(1, steps + 1), below, error, seconds)


@dataclass
class Counted(Target):
    """A target that counts how often its gradient is asked for."""

    target: PosteriorTarget
    gradients: int = 0

    @property
    def dim(self) -> int:
        return self.target.dim

    def log_density(self, u: Array) -> float:
        return self.target.log_density(u)

    def log_density_gradient(self, u: Array) -> tuple[float, Array]:
        self.gradients += 1
        return self.target.log_density_gradient(u)


def recipes(problem: Problem) -> Iterator[tuple[Any, ...]]:
    """What runs with a start, averaging and a stopping rule cost, all of their gradients counted."""
    for name in ("dsvi", "fullrank"):
        counted, began = Counted(problem.target), time.process_time()
        found = fit(counted, Settings(algorithm=name, draws=1))
        seconds = time.process_time() - began
        covariance = found.family.covariance(found.params)
        yield name, counted.gradients, *problem.judge(found.mean_u, np.linalg.cholesky(covariance)), seconds


def claims(trails: dict[str, Trail]) -> list[Claim]:
    reference, last, _ = (t.arrival(NEAR) for t in trails.values())
    ratio = trails["DSVI, last iterate"].seconds / trails["reference: L-BFGS on the exact bound"].seconds
    return [
        Claim(
            "L-BFGS needs 16 evaluations, DSVI around 500.",
            f"To stay within {NEAR} nats they need {reference} and {last}.",
            reference is not None and last is not None and reference <= 30 and 250 <= last <= 1000,
        ),
        Claim(
            "For 500 evaluations DSVI takes only about three times as long as the reference.",
            f"Its 2,000 take {ratio:.1f} times as long, so 500 take {ratio / 4:.1f} times.",
            ratio / 4 < 4.5,
        ),
    ]


def picture(trails: dict[str, Trail]) -> Any:
    figure, axes = panels(1, 2, width=8, height=3)
    for k, (name, t) in enumerate(trails.items()):
        for ax, values in zip(axes[0], (t.below, t.error), strict=True):
            ax.plot(t.evaluations, np.maximum(values, 1e-6), color=COLOURS[k], lw=1, label=name)
    axes[0, 0].set(ylabel="nats below the best bound", ylim=(1e-3, 1e3))
    axes[0, 1].set(ylabel="squared error of mean and C", ylim=(1e-5, 20))
    for ax in axes[0]:
        ax.set(xscale="log", yscale="log", xlabel="evaluations of the log joint's gradient")
    legend_above(figure, axes[0, 0])
    return figure
