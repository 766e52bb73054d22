"""ADVI, Figure 10: held-out predictive accuracy against time, two regressions with hierarchical priors."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import norm

from ppl import Fit, Posterior, compile_model

from frame.figures import COLOURS, INK, legend_above, marks, panels, seconds_axis
from frame.fits import PAPERS_LOOP
from frame.nuts import constrained, nuts
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
Values = Mapping[str, Any]
MODELS = Path(__file__).parents[2]
POLLS = "election88/election88_full.data.json"
DRAWS = 100
ETA = 0.1
"""The step size of runs without a search, where the search takes another one."""


@dataclass(frozen=True)
class Problem:
    """A posterior, and the mean held-out log density of parameter draws (n, columns), in nats a row."""

    name: str
    posterior: Posterior
    held_out: Callable[[Floats], float]


@dataclass(frozen=True)
class Curve:
    """Held-out accuracy after so many processor seconds; step size and median sd of q at the end."""

    problem: str
    method: str
    seconds: list[float]
    accuracy: list[float]
    eta: float | None = None
    sd: float | None = None


@dataclass(frozen=True)
class Sizes:
    """Steps of the runs at M = 1 and 10, and the length of a chain; a default run is mostly refinement."""

    one: tuple[int, ...]
    ten: tuple[int, ...]
    chain: int
    depth: int
    search: int = 50
    refine: bool = True


FULL = Sizes((100, 1000, 10_000), (30, 300, 3000), 100, 7)
QUICK = Sizes((5, 10), (5,), 6, 3, 5, False)


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    sizes = QUICK if quick else FULL
    train, test = (400, 200) if quick else (10_000, 1_000)
    problems = [sparse_regression(train, test, 20 if quick else 250), polls(data / POLLS, train, 1_536)]
    curves = [curve for problem in problems for curve in curves_of(problem, sizes)]
    return Result(
        f"simulated (regression) and exact (polls): {train:,} + {test:,} rows with half of the regressors "
        f"idle; {train:,} + 1,536 answers drawn from the 11,566 (145 regressors in the paper, 90 "
        "parameters here).",
        [table(curves)],
        [claim(curves, problem.name) for problem in problems],
        [
            "Each point of ADVI is a run of its own with so many steps, its search for a step size "
            "included; a point of NUTS is the second half of the chain so far. HMC with a fixed length was "
            "not run.",
            "In the linear regression the paper's search takes a step size too small to bring the sds of "
            f"q, one at the start, down to the posterior's in so many steps; steps of {ETA} do, and the "
            "start along L-BFGS paths has them at once. A claim is held to the better step size of each "
            "method.",
        ],
        picture(curves),
        {"curves": [asdict(c) for c in curves]},
    )


def sparse_regression(train: int, test: int, d: int) -> Problem:
    rng = np.random.default_rng(10)
    x = rng.standard_normal((train + test, d))
    w = np.where(np.arange(d) < d // 2, rng.standard_normal(d), 0.0)
    y = x @ w + rng.standard_normal(train + test)
    given = {"N": train, "D": d, "x": x[:train], "y": y[:train]}

    def held_out(rows: Floats) -> float:
        predicted = x[train:] @ rows[:, :d].T
        return log_predictive(norm.logpdf(y[train:, None], predicted, rows[:, d]))

    model = compile_model(MODELS / "linear_regression_ard" / "linear_regression_ard.model")
    return Problem("linear regression with ARD", model.condition(given), held_out)


def polls(path: Path, train: int, test: int) -> Problem:
    values = json.loads(path.read_text("utf-8"))
    order = np.random.default_rng(11).permutation(values["N"])
    posterior = compile_model(MODELS / "election88" / "election88.model").condition(
        some(values, order[:train])
    )
    held, names = some(values, order[train : train + test]), posterior.param_names()

    def held_out(rows: Floats) -> float:
        return log_predictive(-np.logaddexp(0, (1 - 2 * held["y"][:, None]) * logits(held, names, rows)))

    return Problem("polls of 1988", posterior, held_out)


def some(values: Values, rows: NDArray[np.intp]) -> dict[str, Any]:
    """The data with these of their rows."""
    kept = {k: np.asarray(v)[rows] if isinstance(v, list) else v for k, v in values.items()}
    return kept | {"N": len(rows)}


def logits(held: Values, names: list[str], draws: Floats) -> Floats:
    """The linear predictor of appendix F.2, (rows, draws)."""
    column = {name: draws[:, k] for k, name in enumerate(names)}
    female, black = held["female"][:, None], held["black"][:, None]
    found = column["beta_0"] + column["beta_female"] * female + column["beta_black"] * black
    found = found + column["beta_female_black"] * female * black
    found = found + column["beta_v_prev"] * held["v_prev_full"][:, None]
    for effect, index in EFFECTS.items():
        levels = np.array([column[name] for name in names if name.startswith(f"{effect}.")])
        found = found + levels[held[index] - 1]
    return np.asarray(found)


EFFECTS = {
    "a_age": "age",
    "a_edu": "edu",
    "a_age_edu": "age_edu",
    "a_state": "state",
    "a_region": "region_full",
}


def log_predictive(log_density: Floats) -> float:
    """The mean over rows of the log of the mean over draws, of (rows, draws)."""
    return float(np.mean(logsumexp(log_density, axis=1) - np.log(log_density.shape[1])))


def curves_of(problem: Problem, sizes: Sizes) -> list[Curve]:
    searched = [loop(problem, m, steps, sizes.search) for m, steps in ((1, sizes.one), (10, sizes.ten))]
    given = [
        loop(problem, m, steps, sizes.search, ETA)
        for m, steps, found in zip((1, 10), (sizes.one, sizes.ten), searched, strict=True)
        if found.eta != ETA
    ]
    default, fit = timed(
        problem, {"upgrade": False, "correct": False, "elbo_samples": 10, "refine": sizes.refine}
    )
    return [
        *searched,
        *given,
        as_curve(problem, "ADVI, default", [default], fit),
        chain_of(problem, sizes),
    ]


def loop(problem: Problem, m: int, steps: tuple[int, ...], search: int, eta: float | None = None) -> Curve:
    """The paper's loop, once for each number of steps, at the step size that it finds or at `eta`."""
    settings = {
        **PAPERS_LOOP,
        "eta": eta,
        "grad_samples": m,
        "adapt_iter": search,
        "tol_rel_obj": 1e-9,
        "elbo_samples": 10,
    }
    points, fits = zip(*(timed(problem, settings | {"iter": n, "eval_elbo": n}) for n in steps), strict=True)
    return as_curve(problem, f"ADVI, M = {m}" + (f", eta = {eta}" if eta else ""), list(points), fits[-1])


def as_curve(problem: Problem, method: str, points: list[tuple[float, float]], fit: Fit) -> Curve:
    seconds, accuracy = zip(*points, strict=True)
    sd = float(np.median(fit.result.family.scales(fit.result.params)))
    return Curve(problem.name, method, list(seconds), list(accuracy), fit.eta, sd)


def timed(problem: Problem, settings: dict[str, Any]) -> tuple[tuple[float, float], Fit]:
    """Seconds and held-out accuracy of a run, and the run."""
    began = process_time()
    fit = problem.posterior.variational(draws=DRAWS, **settings)
    seconds = process_time() - began
    return (seconds, problem.held_out(fit.draws())), fit


def chain_of(problem: Problem, sizes: Sizes) -> Curve:
    chain = nuts(problem.posterior, draws=sizes.chain, tune=sizes.chain, maxdepth=sizes.depth)
    rows = constrained(problem.posterior, np.vstack([chain.warmup, chain.draws]))
    ends = np.unique(np.geomspace(len(rows) // 10, len(rows), 8).astype(int))
    accuracy = [problem.held_out(rows[end // 2 : end]) for end in ends]
    return Curve(problem.name, "NUTS", [float(chain.seconds[end - 1]) for end in ends], accuracy)


def table(curves: list[Curve]) -> Table:
    best = {c.problem: max(max(o.accuracy) for o in curves if o.problem == c.problem) for c in curves}
    rows = [
        (
            f"{c.problem}, {c.method}",
            c.accuracy[-1],
            seconds_within(c, best[c.problem] - 0.01),
            c.seconds[-1],
            c.eta,
            c.sd,
        )
        for c in curves
    ]
    columns = (
        "method",
        "held-out log density",
        "seconds to within 0.01 of it",
        "seconds",
        "eta",
        "median sd",
    )
    formats = dict.fromkeys(columns[2:4], ".1f") | {columns[1]: ".4f"}
    caption = "Mean log predictive density of held-out rows, in nats; sds of q on the unconstrained scale."
    return Table(caption, columns, rows, formats)


def seconds_within(curve: Curve, accuracy: float) -> float | str:
    reached = [s for s, a in zip(curve.seconds, curve.accuracy, strict=True) if a >= accuracy]
    return reached[0] if reached else "not reached"


def claim(curves: list[Curve], problem: str) -> Claim:
    """Each method counts with the step size that served it better."""
    ends = {c.method: c.accuracy[-1] for c in curves if c.problem == problem}
    best: dict[str, float] = {}
    for method, accuracy in ends.items():
        name = method.partition(", eta")[0]
        best[name] = max(accuracy, best.get(name, accuracy))
    spread = max(best.values()) - min(best.values())
    found = ", ".join(f"{accuracy:.3f} ({method})" for method, accuracy in ends.items())
    return Claim(f"All methods reach the same accuracy: {problem}.", f"They end at {found}.", spread < 0.02)


def picture(curves: list[Curve]) -> Figure:
    problems = list(dict.fromkeys(c.problem for c in curves))
    figure, axes = panels(1, len(problems), width=8.0, height=3.3)
    for ax, problem in zip(axes[0], problems, strict=True):
        of_problem = [c for c in curves if c.problem == problem]
        for curve in of_problem:
            ax.plot(curve.seconds, curve.accuracy, **marks(curve.seconds) | style(curve), label=curve.method)
        best = max(max(c.accuracy) for c in of_problem)
        bottom = max(best - 5.0, min(min(c.accuracy) for c in of_problem) - 0.05)
        shown = [s for c in of_problem for s, a in zip(c.seconds, c.accuracy, strict=True) if a > bottom]
        ax.set(ylim=(bottom, best + 0.05 * (best - bottom)), xlim=(0.7 * min(shown), 1.3 * max(shown)))
        seconds_axis(ax)
        ax.set_title(problem, fontsize=9)
    axes[0, 0].set_ylabel("mean held-out log density (nats)")
    legend_above(figure, max(axes[0], key=lambda ax: len(ax.lines)), columns=3)
    return figure


def style(curve: Curve) -> dict[str, Any]:
    """A colour a method; dashed where the step size was given."""
    method, _, given = curve.method.partition(", eta")
    colours = dict(zip(("ADVI, M = 1", "ADVI, M = 10", "ADVI, default"), COLOURS[:3], strict=True))
    return {"color": colours.get(method, INK)} | ({"ls": "--"} if given else {})
