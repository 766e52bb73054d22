"""Titsias and Lazaro-Gredilla 2014, Figure 1: two gradients on their way to a Gaussian."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ppl
from ppl.kernel.advi.estimators.reparameterised import Estimator, reparameterised
from ppl.kernel.advi.estimators.stochastic_search import StochasticSearch, score_function
from ppl.kernel.advi.families.mean_field import Diagonal
from ppl.kernel.advi.steps.decaying import Staged
from ppl.run.posterior_target import PosteriorTarget

from frame.figures import COLOURS, legend, panels
from frame.result import Claim, Result, Table

Array = NDArray[np.float64]
DIM = 10
MODEL = Path(__file__).with_name("gaussian.model")
NEAR = -1.0
"""A bound this close to its best, which is 0 (in nats), counts as there."""


class Method(NamedTuple):
    """A stochastic gradient of eq. 10 in the mean, a large and a small rate for it, and most steps."""

    name: str
    estimator: Estimator
    rates: tuple[float, ...]
    steps: int = 10_000


METHODS = (
    Method("DSVI (eq. 7)", reparameterised, (0.01, 0.001)),
    Method("score function (eq. 12)", score_function, (0.002, 0.0005)),
    Method("eq. 12 with Paisley's Taylor control", StochasticSearch(), (0.002,), 2000),
)


class Run(NamedTuple):
    """The bound (steps + 1,) after each step, and the path of the mean: its length over the distance made."""

    bound: Array
    detour: float

    @property
    def arrival(self) -> int | None:
        """The first step at which the bound is near its best."""
        near = np.flatnonzero(self.bound > NEAR)
        return int(near[0]) if near.size else None

    @property
    def late(self) -> float:
        """The mean bound over the last fifth."""
        return float(self.bound[-(len(self.bound) // 5) :].mean())


def run(quick: bool, data: Path | None) -> Result:
    steps = 300 if quick else 10_000
    runs = {
        (method.name, rate): climb(method.estimator, rate, min(steps, method.steps))
        for method in METHODS
        for rate in method.rates
    }
    return Result(
        data="simulated: the target is N(m, I) in ten dimensions with every entry of m at 2, as in the "
        "paper; no data.",
        tables=[
            Table(
                "Fitting the mean from 0, one draw a step, covariance held at I; the paper prints no figures",
                (
                    "gradient",
                    "rate",
                    "steps to within 1 nat",
                    "bound, mean of last fifth",
                    "path over distance",
                ),
                [(name, rate, r.arrival, r.late, r.detour) for (name, rate), r in runs.items()],
            )
        ],
        claims=[] if quick else claims(runs),
        remarks=[
            "The paper does not give its rates. The score function's are smaller since it diverges at "
            "0.01. The third gradient is the second with the control variate of Paisley et al., whose "
            "Taylor expansion is the log density itself here: the noise goes, at 21 gradients a step.",
        ],
        figure=picture(runs),
    )


def climb(estimator: Estimator, rate: float, steps: int, seed: int = 1) -> Run:
    """The mean alone moves, at one rate."""
    target = PosteriorTarget(ppl.compile_model(MODEL).condition({"m": np.full(DIM, 2.0)}))
    family = Diagonal(DIM)
    rule = Staged(rate, factor=1.0, rates=np.repeat([1.0, 0.0], DIM))
    rng, params = np.random.default_rng(seed), family.start(np.zeros(DIM))
    state, path = rule.init(params), [family.mean(params)]
    for _ in range(steps):
        gradient = estimator(target, family, params, 1, rng).gradient
        params, state = rule.step(state, params, gradient)
        path.append(family.mean(params))
    return followed(np.array(path))


def followed(path: Array) -> Run:
    """Against N(2, I) the bound of N(mu, I) is -|mu - 2|^2 / 2."""
    bound = -0.5 * ((path - 2) ** 2).sum(axis=1)
    on_the_way = path[: 1 + (int(np.flatnonzero(bound > NEAR)[0]) if (bound > NEAR).any() else len(path))]
    length = np.linalg.norm(np.diff(on_the_way, axis=0), axis=1).sum()
    return Run(bound, float(length / np.linalg.norm(on_the_way[-1] - on_the_way[0])))


def claims(runs: dict[tuple[str, float], Run]) -> list[Claim]:
    direct, alternative = (
        [r for (name, _), r in runs.items() if name.startswith(start)] for start in ("DSVI", "score")
    )
    straight, wandering = max(r.detour for r in direct), min(r.detour for r in alternative)
    spread = [r.late for r in direct]
    return [
        Claim(
            "DSVI moves to the maximum in a phase that is nearly deterministic; the alternative walks at "
            "random.",
            f"Until it is within 1 nat DSVI's path is at most {straight:.1f} times the distance, "
            f"the other's at least {wandering:.0f} times.",
            straight < 3 and wandering > 3 * straight,
        ),
        Claim(
            "Around the maximum DSVI diffuses with a variance that grows with the rate.",
            f"The bound stays {-spread[0]:.2g} nats below at the large rate, {-spread[1]:.2g} at the "
            "small one.",
            spread[0] < spread[1],
        ),
    ]


def picture(runs: dict[tuple[str, float], Run]) -> Any:
    figure, axes = panels(1, 1, width=5.5, height=3.2)
    ax = axes[0, 0]
    names, large = [m.name for m in METHODS], [m.rates[0] for m in METHODS]
    for (name, rate), r in runs.items():
        style = "-" if rate in large else "--"
        steps = np.unique(np.geomspace(1, len(r.bound) - 1, 800).astype(int))
        ax.plot(
            steps,
            r.bound[steps],
            style,
            color=COLOURS[names.index(name)],
            lw=1,
            label=f"{name}, rate {rate:g}",
        )
    ax.set(xscale="log", xlabel="iteration", ylabel="lower bound (nats; best is 0)", ylim=(-40, 1))
    legend(ax)
    return figure
