"""ADVI, Figure 8: the variance of three estimators of the ELBO's gradient against the draws M they average.

q is a mean-field Gaussian, phi = (mu, omega) with sds exp(omega); every estimator sees the same draws.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ppl import Posterior, compile_model

from frame.figures import COLOURS, legend_above, panels
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
HERE = Path(__file__).parent
DRAWS = (1, 3, 10, 30, 100)
WITH_CONTROL = tuple(m for m in DRAWS if m >= 3)
"""Its scale is a ratio of sample covariances, so that one draw has none."""
COUNTS = [1] * 9
NORMALISED = "Gamma(10, 10), normalised"
ADVI, BBVI, CONTROLLED = "ADVI", "BBVI", "BBVI with control variates"


@dataclass(frozen=True)
class Pool:
    """Single-draw gradients (draws, 2d): ADVI's, and BBVI's as score times log p - log q."""

    advi: Floats
    score: Floats
    excess: Floats


@dataclass(frozen=True)
class Curve:
    """The variance of an estimator at each M, summed over the entries of the gradient."""

    problem: str
    where: str
    estimator: str
    draws: tuple[int, ...]
    variance: Floats

    def at(self, m: int) -> float:
        return float(self.variance[self.draws.index(m)])


def run(quick: bool, data: Path | None) -> Result:
    size, repeats = (100, 30) if quick else (50_000, 10_000)
    gamma = compile_model(HERE / "gamma_posterior.model").condition({"N": 9, "y": COUNTS})
    alone = compile_model(HERE / "gamma.model").condition({"shape": 10, "rate": 10})
    tanh = compile_model(HERE / "tanh_regression.model").condition(simulated(100 if quick else 1000, 100))
    curves = [
        *curves_of("Gamma(10, 10)", gamma, size, repeats),
        *curves_of("tanh regression", tanh, size // 10, repeats // 10),
    ]
    normalised = curves_of(NORMALISED, alone, size, repeats)
    return Result(
        f"simulated: the Gamma posterior is of nine counts; the regression has 100 coefficients "
        f"from their N(0, 1) prior and {tanh.data['N']:,} points with inputs of sd 0.1. The paper gives "
        "neither its size nor where q lies.",
        [table([*curves, *normalised])],
        claims(curves),
        [
            f"{repeats:,} gradients each for the Gamma posterior and {repeats // 10:,} for the regression, "
            f"drawn with replacement from {size:,} and {size // 10:,} of one draw. The control variate's "
            "scales are estimated from the M draws themselves, as in Ranganath et al. (2014).",
            "The last rows are the same Gamma density with its constant: there log p - log q is near zero "
            "at the fitted q, and so is the noise of BBVI, while ADVI's stays. In practice no posterior's "
            "constant is known.",
        ],
        picture(curves),
    )


def simulated(n: int, d: int) -> dict[str, object]:
    rng = np.random.default_rng(8)
    x = rng.normal(0, 0.1, (n, d))
    return {"N": n, "D": d, "x": x, "y": np.tanh(x @ rng.standard_normal(d)) + rng.standard_normal(n)}


def curves_of(problem: str, posterior: Posterior, size: int, repeats: int) -> list[Curve]:
    dim, rng = posterior.param_unc_num(), np.random.default_rng(9)
    fit = posterior.variational(upgrade=False, correct=False, draws=100).result
    fitted = fit.family.mean(fit.params), np.log(fit.family.scales(fit.params))
    found = []
    for where, (mu, omega) in {"start": (np.zeros(dim), np.zeros(dim)), "fitted q": fitted}.items():
        pool = single_draws(posterior, mu, omega, size, rng)
        for name, draws in ((ADVI, DRAWS), (BBVI, DRAWS), (CONTROLLED, WITH_CONTROL)):
            variance = [variance_at(name, pool, m, repeats, rng) for m in draws]
            found.append(Curve(problem, where, name, draws, np.array(variance)))
    return found


def single_draws(posterior: Posterior, mu: Floats, omega: Floats, n: int, rng: np.random.Generator) -> Pool:
    """Equations 7 and 8 of ADVI, and the equation of section 3.2 for BBVI, at M = 1."""
    eta = rng.standard_normal((n, len(mu)))
    pairs = [posterior.log_density_gradient(u) for u in mu + np.exp(omega) * eta]
    log_p, gradient = np.array([value for value, _ in pairs]), np.array([g for _, g in pairs])
    log_q = -0.5 * (eta**2).sum(axis=1) - omega.sum() - 0.5 * len(mu) * np.log(2 * np.pi)
    advi = np.hstack([gradient, gradient * eta * np.exp(omega) + 1])
    return Pool(advi, np.hstack([eta * np.exp(-omega), eta**2 - 1]), log_p - log_q)


def variance_at(name: str, pool: Pool, m: int, repeats: int, rng: np.random.Generator) -> float:
    estimates = np.array(
        [estimate(name, pool, rng.integers(len(pool.excess), size=m)) for _ in range(repeats)]
    )
    return float(estimates.var(axis=0, ddof=1).sum())


def estimate(name: str, pool: Pool, rows: NDArray[np.intp]) -> Floats:
    if name == ADVI:
        return np.asarray(pool.advi[rows].mean(axis=0))
    score, excess = pool.score[rows], pool.excess[rows, None]
    if name == BBVI:
        return np.asarray((score * excess).mean(axis=0))
    centred = score - score.mean(axis=0)
    scales = (centred * score * excess).sum(axis=0) / (centred**2).sum(axis=0)
    return np.asarray((score * (excess - scales)).mean(axis=0))


def table(curves: list[Curve]) -> Table:
    columns = ("problem and q", "estimator", *(f"M = {m}" for m in DRAWS))
    rows = [
        (f"{c.problem}, {c.where}", c.estimator, *([None] * (len(DRAWS) - len(c.draws))), *c.variance)
        for c in curves
    ]
    return Table(
        "Variance of the gradient, summed over its entries.", columns, rows, dict.fromkeys(columns, ".1e")
    )


def claims(curves: list[Curve]) -> list[Claim]:
    by = {(c.problem, c.where, c.estimator): c for c in curves}
    places = list(dict.fromkeys((c.problem, c.where) for c in curves))
    plain = {place: by[*place, BBVI].at(10) / by[*place, ADVI].at(10) for place in places}
    controlled = {place: by[*place, CONTROLLED].at(10) / by[*place, ADVI].at(10) for place in places}
    return [
        Claim("ADVI's gradient has a lower variance than BBVI's.", at_ten(plain), min(plain.values()) > 1),
        Claim(
            "So it has with control variates in 100 dimensions.",
            at_ten({p: r for p, r in controlled.items() if p[0] == "tanh regression"}),
            min(r for p, r in controlled.items() if p[0] == "tanh regression") > 1,
        ),
    ]


def at_ten(ratios: dict[tuple[str, str], float]) -> str:
    parts = ", ".join(f"{ratio:.3g} ({', '.join(place)})" for place, ratio in ratios.items())
    return f"At M = 10 BBVI's is, in units of ADVI's, {parts}."


def picture(curves: list[Curve]) -> Figure:
    places = list(dict.fromkeys((c.problem, c.where) for c in curves))
    figure, axes = panels(1, len(places), width=9.0, height=2.6)
    for ax, place in zip(axes[0], places, strict=True):
        for curve, colour in zip((c for c in curves if (c.problem, c.where) == place), COLOURS, strict=False):
            ax.loglog(curve.draws, curve.variance, "o-", ms=3, lw=1.1, color=colour, label=curve.estimator)
        ax.set(xlabel="draws M")
        ax.set_title(f"{place[0]}, {place[1]}", fontsize=9)
    axes[0, 0].set_ylabel("variance of the gradient")
    legend_above(figure, axes[0, 0])
    return figure
