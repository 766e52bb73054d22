"""Textbook programs for which no structure of the posterior is known, with simulated data.

Programs of ../shared/cases are among them if that folder, or the one that PPL_SHARED names, exists, and the
posteriors of a copy of posteriordb (github.com/stan-dev/posteriordb) that PPL_POSTERIORDB names.
"""

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import expit, logit
from threadpoolctl import threadpool_limits

from ppl.records import dataclass
from tests.benchmarks.errors import read_json
from tests.benchmarks.stepping.fits import lotka_volterra
from tests.benchmarks.verdicts import latent
from tests.benchmarks.verdicts.case import Data
from tests.benchmarks.verdicts.simulated import as_lists

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROGRAMS = HERE / "programs"
REFERENCES = HERE / "references"
CASES = Path(os.environ.get("PPL_SHARED", ROOT.parent / "shared")) / "cases"
POSTERIORDB = Path(os.environ.get("PPL_POSTERIORDB", ROOT / "posteriordb"))
STREAM = 0x7461696C  # "tail"


@dataclass(frozen=True)
class Problem:
    """A program, its data, and where its reference is.

    Moments of columns that begin with one of `no_moments` do not exist. The posterior does not change if the
    signs of all `mirrored` variables do.
    """

    program: Path
    data: Callable[[], Data]
    reference: Path
    no_moments: tuple[str, ...] = ()
    mirrored: tuple[str, ...] = ()


def irt_2pl(rng: Generator, items: int, people: int) -> Data:
    a, b = rng.lognormal(0.0, 0.4, items), rng.normal(0.3, 1.0, items)
    return answers(rng, a[:, None] * (rng.standard_normal(people) - b[:, None]))


def irt_2pl_signs(rng: Generator, items: int = 20, people: int = 100) -> Data:
    """A third of the items discriminate the other way round."""
    a = rng.lognormal(0.0, 0.4, items) * np.where(np.arange(items) % 3 == 2, -1, 1)
    b = rng.normal(0.3, 1.0, items)
    return answers(rng, a[:, None] * rng.standard_normal(people) - b[:, None])


def answers(rng: Generator, eta: Any) -> Data:
    """Of logits (items, people)."""
    items, people = eta.shape
    return as_lists(I=items, J=people, y=rng.binomial(1, expit(eta)))


def irt_3pl(rng: Generator, items: int = 8, people: int = 150) -> Data:
    a, b, c = rng.lognormal(0.2, 0.4, items), rng.normal(0, 1.2, items), rng.beta(5, 17, items)
    p = c + (1 - c) * expit(a * (rng.standard_normal(people)[:, None] - b))
    return as_lists(I=items, J=people, y=rng.binomial(1, p))


def growth_curves(rng: Generator, animals: int = 30) -> Data:
    age = np.array([8.0, 15, 22, 29, 36])
    alpha, beta = rng.normal(242, 14, animals), rng.normal(6.2, 0.5, animals)
    weight = rng.normal(alpha[:, None] + beta[:, None] * (age - age.mean()), 6)
    return as_lists(N=animals, T=len(age), age=age, weight=weight.round())


def ordinal_factor(rng: Generator, items: int = 5, people: int = 100, categories: int = 5) -> Data:
    loading = rng.uniform(0.8, 2.5, items)
    cut = np.sort(rng.normal(0, 1.5, (items, categories - 1)), axis=1)
    latent_answer = np.outer(rng.standard_normal(people), loading) + rng.logistic(size=(people, items))
    y = 1 + (latent_answer[:, :, None] > cut).sum(axis=2)
    return as_lists(I=items, J=people, K=categories, y=y)


def capture(rng: Generator, animals: int = 230, augmented: int = 385, occasions: int = 5) -> Data:
    """Most are caught rarely or never."""
    y = np.zeros(augmented, dtype=int)
    y[:animals] = rng.binomial(occasions, expit(rng.normal(-1.5, 1.0, animals)))
    return as_lists(M=augmented, T=occasions, y=np.sort(y)[::-1])


def polls(rng: Generator, days: int = 60, houses: int = 10, count: int = 50) -> Data:
    support = logit(0.48) + rng.normal(0, 0.03, days).cumsum()
    day, house = np.sort(rng.integers(days, size=count)), rng.integers(houses, size=count)
    respondents = rng.integers(5, 20, count) * 100
    eta = support[day] + rng.normal(0, 0.06, houses)[house] + rng.normal(0, 0.04, count)
    sizes = {"T": days, "H": houses, "N": count, "day": day + 1, "house": house + 1}
    return as_lists(**sizes, respondents=respondents, y=rng.binomial(respondents, expit(eta)))


def marketing_mix(rng: Generator, weeks: int = 130, channels: int = 3, lags: int = 8) -> Data:
    """Nothing is spent in three weeks of ten; spending is in units of its maximum.

    Effects of weeks with little spending have a kurtosis in the hundreds, and sds that no run tells: two of
    20,000 and 24,000 draws of NUTS differ by a factor of 0.61 in that of effect.31.1. Of a thousand draws of
    NUTS the lowest ratio of sds is 0.41 to 0.82, the highest 1.04 to 1.4; of parameters 0.91 and 1.08.
    """
    spend = rng.gamma(2.0, size=(channels, weeks + lags - 1))
    spend[rng.uniform(size=spend.shape) < 0.3] = 0
    spend /= spend.max(axis=1, keepdims=True)
    retain, half = np.array([0.3, 0.5, 0.7]), np.array([0.2, 0.35, 0.3])
    weights = retain[:, None] ** np.arange(lags)
    weights /= weights.sum(axis=1, keepdims=True)
    stock = np.array([np.convolve(s, w, "valid") for s, w in zip(spend, weights, strict=True)])
    curve = 1 / (1 + (stock / half[:, None]) ** -np.array([[2.0], [1.5], [3.0]]))
    week = np.arange(weeks)
    turn = 2 * np.pi * week / 52
    x = np.column_stack([week / weeks, np.sin(turn), np.cos(turn)])
    y = rng.normal(3 + np.array([0.8, 1.2, 0.5]) @ curve + x @ [0.5, 0.3, -0.2], 0.3)
    return as_lists(N=weeks, C=channels, L=lags, K=3, spend=spend, X=x, y=y)


def accelerations(rng: Generator, times: int = 94, rows: int = 133) -> tuple[Any, Any, Any]:
    """Times of a crash, the time of each row, and accelerations: noise is small before it and grows in it."""
    time = np.sort(rng.choice(np.arange(4, 116), times, replace=False)) / 100
    at = np.sort(np.concatenate([np.arange(times), rng.choice(times, rows - times)]))
    t = time[at]
    mean = -1.5 * np.exp(-(((t - 0.45) / 0.09) ** 2)) + 0.8 * np.exp(-(((t - 0.72) / 0.1) ** 2))
    return time, at, rng.normal(mean, np.exp(-3 + 2.2 * expit((t - 0.3) / 0.05)))


def gp_heteroscedastic(rng: Generator) -> Data:
    time, at, y = accelerations(rng)
    return as_lists(N=len(y), T=len(time), time=time, at=at + 1, y=y)


def splines_heteroscedastic(rng: Generator, knots: int = 38) -> Data:
    """|x - knot|^3, times the inverse square root of the same between knots."""
    time, at, y = accelerations(rng)
    x = time[at]
    knot = np.quantile(time, np.linspace(0, 1, knots + 2)[1:-1])
    left, scale, right = np.linalg.svd(np.abs(knot[:, None] - knot) ** 3)
    z = np.abs(x[:, None] - knot) ** 3 @ (left / np.sqrt(scale) @ right).T
    return as_lists(N=len(y), K=knots, x=x, Z=z, y=y)


def volatility(rng: Generator, days: int = 300) -> Data:
    h = np.zeros(days)
    h[0] = rng.normal(-1, 0.2 / np.sqrt(1 - 0.95**2))
    for t in range(1, days):
        h[t] = rng.normal(-1 + 0.95 * (h[t - 1] + 1), 0.2)
    return as_lists(T=days, y=np.exp(h / 2) * rng.standard_normal(days))


def horseshoe_20(rng: Generator, rows: int = 100, coefficients: int = 20) -> Data:
    x = rng.standard_normal((rows, coefficients))
    beta = np.array([2.0, -1.5, 1.0, 0.5, *[0] * (coefficients - 4)])
    return as_lists(N=rows, K=coefficients, X=x, y=rng.normal(1 + x @ beta, 1.5))


def walk(rng: Generator, steps: int) -> Data:
    level = 1 + rng.normal(0, 0.3, steps).cumsum()
    return as_lists(T=steps, y=rng.normal(level, 0.6))


def decay(rng: Generator, groups: int = 4, times: int = 6) -> Data:
    group, time = np.repeat(np.arange(groups), times), np.tile(np.linspace(0.2, 4, times), groups)
    level = 1 + 0.5 * rng.standard_normal(groups)
    y = rng.normal(np.exp(level[group] - 0.5 * time), 0.3)
    return as_lists(N=len(y), G=groups, group=1 + group, time=time, y=y)


def simulated(
    name: str,
    simulate: Callable[[Generator], Data],
    program: Path | None = None,
    **known: tuple[str, ...],
) -> Problem:
    """Data of the stream that the name selects."""

    def data() -> Data:
        with threadpool_limits(1):  # the same digits on every machine
            return simulate(np.random.default_rng([STREAM, *name.encode()]))

    return Problem(program or PROGRAMS / f"{name}.stan", data, REFERENCES / f"{name}.json", **known)


def of_cases(name: str) -> Problem:
    """A program of ../shared/cases."""

    def data() -> Data:
        found: Data = json.loads((CASES / f"{name}.json").read_text())
        return found

    return Problem(CASES / f"{name}.stan", data, REFERENCES / f"{name}.json")


def of_posteriordb(name: str) -> Problem:
    """A posterior of posteriordb; its reference need not exist."""
    about = read_json(POSTERIORDB / f"posteriors/{name}.json")
    program = POSTERIORDB / f"models/stan/{about['model_name']}.stan"
    draws = about["reference_posterior_name"]
    reference = POSTERIORDB / f"reference_posteriors/draws/draws/{draws}.json.zip"
    return Problem(
        program, lambda: read_json(POSTERIORDB / f"data/data/{about['data_name']}.json.zip"), reference
    )


OF_CASES = ("interactions", "pk", "changepoints", "renewal", "gev", "meta0")
SIMULATED: Mapping[str, Problem] = {
    "irt_2pl": simulated("irt_2pl", partial(irt_2pl, items=20, people=100)),
    "irt_2pl_150": simulated("irt_2pl_150", partial(irt_2pl, items=8, people=150), PROGRAMS / "irt_2pl.stan"),
    "irt_2pl_signs": simulated("irt_2pl_signs", irt_2pl_signs, mirrored=("a", "theta")),
    "irt_3pl": simulated("irt_3pl", irt_3pl),
    "growth_curves": simulated("growth_curves", growth_curves),
    "ordinal_factor": simulated("ordinal_factor", ordinal_factor),
    "capture": simulated("capture", capture),
    "polls": simulated("polls", polls),
    "marketing_mix": simulated("marketing_mix", marketing_mix),
    "gp_heteroscedastic": simulated("gp_heteroscedastic", gp_heteroscedastic),
    "splines_heteroscedastic": simulated("splines_heteroscedastic", splines_heteroscedastic),
    "volatility": simulated("volatility", volatility),
    "horseshoe_20": simulated("horseshoe_20", horseshoe_20, no_moments=("lambda", "tau")),
    "horseshoe_1500": Problem(
        latent.PROGRAMS.program("horseshoe_1500"),
        partial(latent.PROGRAMS.data, "horseshoe_1500"),
        latent.PROGRAMS.reference("horseshoe_1500"),
    ),
    "decay": simulated("decay", decay),
    "walk_200": simulated("walk_200", partial(walk, steps=200), PROGRAMS / "walk.stan"),
    "walk_400": simulated("walk_400", partial(walk, steps=400), PROGRAMS / "walk.stan"),
    "lotka_volterra": simulated(
        "lotka_volterra", lotka_volterra, ROOT / "tests/benchmarks/stepping/lotka_volterra.stan"
    ),
}
PROBLEMS: Mapping[str, Problem] = SIMULATED | {
    name: of_cases(name) for name in OF_CASES if (CASES / f"{name}.stan").exists()
}
PUBLIC: Mapping[str, Problem] = {
    path.stem: of_posteriordb(path.stem) for path in sorted(POSTERIORDB.glob("posteriors/*.json"))
}
ALL = PROBLEMS | PUBLIC


def write(name: str, folder: Path) -> tuple[Path, Path]:
    """Write the data of a problem, the same bytes every time; its program and data."""
    path = folder / f"{name}.data.json"
    path.write_text(json.dumps(ALL[name].data()))
    return ALL[name].program, path
