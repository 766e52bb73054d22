"""ADVI, Figure 5: marginal posteriors of ten coefficients of a logistic regression, beside a sampler's."""

from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from ppl import Posterior, compile_model

from frame.figures import COLOURS, INK, legend_above, panels
from frame.fits import OF_Q, PAPERS_LOOP
from frame.nuts import nuts
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
PROGRAM = Path(__file__).parents[2] / "logistic_regression" / "logistic_regression.model"
FITS: dict[str, dict[str, Any]] = {
    "mean-field, paper's loop": {"algorithm": "meanfield", **PAPERS_LOOP},
    "full rank, paper's loop": {"algorithm": "fullrank", **PAPERS_LOOP},
    "mean-field, default": {"algorithm": "meanfield", **OF_Q},
    "mean-field, linear response": {"algorithm": "meanfield", **OF_Q, "linear_response": True},
    "full rank, default": {"algorithm": "fullrank", **OF_Q},
    "mean-field, default, better draws": {"algorithm": "meanfield", "upgrade": False, "correct": True},
}
DRAWS = 40_000
SHOWN = 1000
"""Draws of a fit, and how many of them the picture shows, as in the paper."""


@dataclass(frozen=True)
class Marginals:
    """Draws (draws, 10) of (alpha, beta) and the processor seconds that they took."""

    draws: Floats
    seconds: float

    @property
    def mean(self) -> Floats:
        return np.asarray(self.draws.mean(axis=0))

    @property
    def sd(self) -> Floats:
        return np.asarray(self.draws.std(axis=0))


def run(quick: bool, data: Path | None) -> Result:
    posterior = compile_model(PROGRAM).condition(simulated(100 if quick else 1000, 9))
    loop = {"eta": 0.1} if quick else {"tol_rel_obj": 0.001}
    cut = {"iter": 100, "refine": False} if quick else {}
    sampled, draws = sample(posterior, 100 if quick else 10_000), SHOWN if quick else DRAWS
    fits = {
        name: fit(posterior, {"draws": draws} | s | cut | (loop if "loop" in name else {}))
        for name, s in FITS.items()
    }
    return Result(
        "simulated: 9 standard normal inputs and an intercept, coefficients from the N(0, 1) prior, "
        f"{posterior.data['N']:,} points.",
        [table(sampled, fits)],
        claims(sampled, fits),
        [
            f"The sampler's {len(sampled.draws):,} draws are the reference; a fit has {draws:,}. They are of "
            "q itself but in the last row, where they are resampled by importance or annealed, as they are "
            "unless that is switched off."
        ],
        picture(sampled, fits),
        {"means": {name: f.mean for name, f in fits.items()} | {"NUTS": sampled.mean}},
    )


def simulated(n: int, d: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    alpha, *beta = rng.standard_normal(d + 1)
    x = rng.standard_normal((n, d))
    y = rng.random(n) < 1 / (1 + np.exp(-alpha - x @ beta))
    return {"N": n, "D": d, "x": x, "y": y.astype(int)}


def fit(posterior: Posterior, settings: dict[str, Any]) -> Marginals:
    began = process_time()
    draws = posterior.variational(**settings).draws()
    return Marginals(draws, process_time() - began)


def sample(posterior: Posterior, draws: int) -> Marginals:
    chain = nuts(posterior, draws=draws)
    return Marginals(chain.draws, float(chain.seconds[-1]))


def table(sampled: Marginals, fits: dict[str, Marginals]) -> Table:
    columns = ("fit", "worst mean error", "least sd", "median sd", "largest sd", "seconds")
    rows = [("NUTS", None, None, None, None, sampled.seconds)]
    rows += [(name, *compared(sampled, f), f.seconds) for name, f in fits.items()]
    return Table(
        "Ten marginal posteriors: errors of means in the sampler's sds, sds over the sampler's.",
        columns,
        rows,
        dict.fromkeys(columns, ".2f") | {"seconds": ".1f"},
    )


def compared(sampled: Marginals, f: Marginals) -> tuple[float, ...]:
    ratio = f.sd / sampled.sd
    worst = np.abs((f.mean - sampled.mean) / sampled.sd).max()
    return float(worst), float(ratio.min()), float(np.median(ratio)), float(ratio.max())


def claims(sampled: Marginals, fits: dict[str, Marginals]) -> list[Claim]:
    worst = {name: compared(sampled, f)[0] for name, f in fits.items()}
    default, loop = (max(worst[n] for n in worst if ("loop" in n) is how) for how in (False, True))
    narrow, full = (fits[name].sd / sampled.sd for name in ("mean-field, default", "full rank, default"))
    noise = 3 * np.sqrt(0.5 / len(fits["mean-field, default"].draws) + 0.5 / len(sampled.draws))
    return [
        Claim(
            "Sampler and ADVI agree on the posterior means.",
            f"The default runs' furthest mean is {default:.2f} sds off, the paper's loops' {loop:.2f}.",
            default < 0.2,
        ),
        Claim(
            "Mean-field understates the variance of most coefficients.",
            f"{np.sum(narrow < 1 - noise)} of {len(narrow)} sds are low by more than three standard errors "
            f"({noise:.1%}).",
            bool(np.sum(narrow < 1 - noise) > len(narrow) / 2),
        ),
        Claim(
            "Full rank matches it better.",
            f"Its sds are {full.min():.2f} to {full.max():.2f} of the sampler's.",
            bool(np.abs(full - 1).max() < np.abs(narrow - 1).max()),
        ),
    ]


def picture(sampled: Marginals, fits: dict[str, Marginals]) -> Figure:
    figure, axes = panels(2, 5, width=8.5, height=1.7)
    shown = (("mean-field, default", COLOURS[1]), ("full rank, default", COLOURS[0]))
    for k, ax in enumerate(np.ravel(axes)):
        x = sampled.mean[k] + np.linspace(-4, 4, 160) * sampled.sd[k]
        ax.fill_between(x, gaussian_kde(sampled.draws[:SHOWN, k])(x), color=INK, alpha=0.18, label="NUTS")
        for name, colour in shown:
            ax.plot(
                x,
                gaussian_kde(fits[name].draws[:SHOWN, k])(x),
                color=colour,
                lw=1.1,
                label=name.partition(",")[0],
            )
        ax.set(yticks=[], ylim=(0, None), xlabel=r"$\alpha$" if k == 0 else rf"$\beta_{{{k}}}$")
    for ax in axes[:, 0]:
        ax.set_ylabel("density")
    legend_above(figure, axes[0, 0])
    return figure
