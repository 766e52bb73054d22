"""ADVI, Figures 6 and 7: the log volatility of a time series, its posterior mean and covariance."""

from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ppl import Posterior, compile_model

from frame.figures import COLOURS, INK, tidy
from frame.fits import PAPERS_LOOP
from frame.nuts import constrained, nuts
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
PROGRAM = Path(__file__).parents[2] / "stochastic_volatility" / "stochastic_volatility.model"
MU, PHI, SIGMA = -1.025, 0.9, 0.6
DRAWS, WINDOW = 1000, 80
SLOW = {"eta": 0.1, "tol_rel_obj": 1e-7}
AVERAGED = {**PAPERS_LOOP, "average": True, **SLOW}
FITS: dict[str, dict[str, Any]] = {
    "mean-field, paper's loop": {"algorithm": "meanfield", **PAPERS_LOOP},
    "mean-field, averaged and polished": {"algorithm": "meanfield", "start": "random", "step_up": False},
    "low-rank (20), averaged": {"algorithm": "lowrank", "rank": 20, **AVERAGED},
    "full rank, paper's loop": {"algorithm": "fullrank", **PAPERS_LOOP, **SLOW, "iter": 20_000},
    "full rank, averaged": {"algorithm": "fullrank", **AVERAGED, "iter": 20_000},
    "mean-field, default": {"algorithm": "meanfield", "step_up": False},
    "full rank, default": {"algorithm": "fullrank", "step_up": False},
}
SHOWN = {
    "mean-field, averaged and polished": "mean-field",
    "low-rank (20), averaged": "low-rank",
    "full rank, averaged": "full rank",
    "NUTS": "NUTS",
}


@dataclass(frozen=True)
class Volatility:
    """Draws (draws, T) of the log volatility, the ELBO of q where there is one, and seconds."""

    h: Floats
    elbo: float | None
    seconds: float


def run(quick: bool, data: Path | None) -> Result:
    length, steps = (20, 100) if quick else (500, 20_000)
    dim = length + 3
    parameters = dim + dim * (dim + 1) // 2
    posterior = compile_model(PROGRAM).condition({"T": length, "y": simulated(length)})
    found = {
        name: fitted(posterior, s | ({"iter": 100, "adapt_iter": 5, "polish": False} if quick else {}))
        for name, s in FITS.items()
    }
    found["NUTS"] = sampled(posterior, 50 if quick else DRAWS)
    return Result(
        f"simulated: {length} steps with mu {MU}, phi {PHI}, sigma {SIGMA}, as in the paper.",
        [table(found)],
        claims(found),
        [
            "The density has no upper bound where sigma goes to 0 and every h to mu, which a fit by its "
            f"mode, and hence Pathfinder's start, suffers from. Full rank has {parameters:,} parameters; "
            f"{steps:,} steps of one draw have not settled them. The covariances are shown for a window in "
            "which h goes far from mu.",
        ],
        picture(found),
        {"posterior mean of h": {name: f.h.mean(axis=0).round(4) for name, f in found.items()}},
    )


def simulated(length: int) -> Floats:
    """Returns y_t of section 3.1, from the stationary autoregression."""
    rng = np.random.default_rng(6)
    h = np.empty(length)
    h[0] = rng.normal(MU, SIGMA / np.sqrt(1 - PHI**2))
    for t in range(1, length):
        h[t] = rng.normal(MU + PHI * (h[t - 1] - MU), SIGMA)
    return np.asarray(rng.standard_normal(length) * np.exp(h / 2))


def fitted(posterior: Posterior, settings: dict[str, Any]) -> Volatility:
    began = process_time()
    fit = posterior.variational(draws=DRAWS, **settings)
    return Volatility(fit.stan_variable("h"), fit.elbo, process_time() - began)


def sampled(posterior: Posterior, draws: int) -> Volatility:
    chain = nuts(posterior, draws=draws)
    return Volatility(constrained(posterior, chain.draws)[:, 3:], None, float(chain.seconds[-1]))


def errors(f: Volatility, reference: Volatility) -> tuple[float, float, float]:
    """Root mean square error of means in the reference's sds, median sd ratio, correlation of neighbours."""
    sd = reference.h.std(axis=0)
    error = np.sqrt(np.mean(((f.h.mean(axis=0) - reference.h.mean(axis=0)) / sd) ** 2))
    return float(error), float(np.median(f.h.std(axis=0) / sd)), neighbours(f)


def neighbours(f: Volatility) -> float:
    """The mean posterior correlation of h[t] and h[t + 1]."""
    z = (f.h - f.h.mean(axis=0)) / f.h.std(axis=0)
    return float((z[:, 1:] * z[:, :-1]).mean())


def table(found: dict[str, Volatility]) -> Table:
    columns = ("fit", "error of the means (sds)", "sd ratio", "correlation of neighbours", "ELBO", "seconds")
    rows = [(name, *errors(f, found["NUTS"]), f.elbo, f.seconds) for name, f in found.items()]
    return Table(
        "Posterior of h beside NUTS: root mean square error of means, median ratio of sds.",
        columns,
        rows,
        dict.fromkeys(columns, ".2f") | {"ELBO": ".1f", "seconds": ".0f"},
    )


def claims(found: dict[str, Volatility]) -> list[Claim]:
    mean_field, full = found["mean-field, averaged and polished"], found["full rank, averaged"]
    error = {name: errors(f, found["NUTS"])[0] for name, f in found.items()}
    away = far_from_mean(found["NUTS"])
    shrunk = excursion(mean_field, away) / excursion(found["NUTS"], away)
    return [
        Claim(
            "Mean-field understates the excursions of h from mu.",
            f"At the quarter of steps where h is furthest from mu, its mean goes {shrunk:.2f} of the way.",
            bool(shrunk < 1),
        ),
        Claim(
            "Full rank matches the sampler's means.",
            f"Its error is {error['full rank, averaged']:.2f} sds, mean-field's "
            f"{error['mean-field, averaged and polished']:.2f} (a match would be under 0.2).",
            error["full rank, averaged"] < 0.2,
        ),
        Claim(
            "Mean-field misses the local correlation, which full rank and the sampler show.",
            f"Neighbours correlate by {neighbours(mean_field):.2f}, {neighbours(full):.2f} and "
            f"{neighbours(found['NUTS']):.2f}.",
            abs(neighbours(mean_field)) < 0.1 and neighbours(full) > 0.5 * neighbours(found["NUTS"]),
        ),
    ]


def excursion(f: Volatility, steps: NDArray[np.bool_]) -> float:
    return float(np.abs(f.h.mean(axis=0) - MU)[steps].mean())


def far_from_mean(reference: Volatility) -> NDArray[np.bool_]:
    distance = np.abs(reference.h.mean(axis=0) - MU)
    return np.asarray(distance >= np.quantile(distance, 0.75))


def picture(found: dict[str, Volatility]) -> Figure:
    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=[1, 1.1])
    ax = figure.add_subplot(grid[0, :])
    colours = dict(zip(SHOWN, (COLOURS[1], COLOURS[2], COLOURS[0], INK), strict=True))
    for name, label in SHOWN.items():
        ax.plot(found[name].h.mean(axis=0), color=colours[name], lw=0.9, label=label)
    ax.set(xlabel="time step t", ylabel="posterior mean of $h_t$", xlim=(0, found["NUTS"].h.shape[1]))
    ax.legend(fontsize=7, frameon=False, ncols=len(SHOWN), loc="upper right")
    tidy(ax)
    low = max(int(np.abs(found["NUTS"].h.mean(axis=0) - MU).argmax()) - WINDOW // 2, 0)
    window = slice(low, low + WINDOW)
    extent = (low, low + WINDOW, low + WINDOW, low)
    limit = np.abs(np.cov(found["NUTS"].h[:, window].T)).max()
    for k, (name, label) in enumerate(SHOWN.items()):
        ax = figure.add_subplot(grid[1, k])
        shown = ax.imshow(
            np.cov(found[name].h[:, window].T), cmap="RdBu_r", vmin=-limit, vmax=limit, extent=extent
        )
        ax.set(title=label, xlabel="t")
        tidy(ax)
    figure.colorbar(shown, ax=ax, label="covariance of $h$", shrink=0.8)
    return figure
