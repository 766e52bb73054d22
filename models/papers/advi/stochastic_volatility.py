"""ADVI, Figures 6 and 7: the log volatility of a time series, its posterior mean and covariance."""

from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from ppl import Posterior, compile_model

from frame.figures import COLOURS, INK, legend_above, tidy
from frame.fits import OF_Q, PAPERS_LOOP
from frame.nuts import constrained, nuts
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
PROGRAM = Path(__file__).parents[2] / "stochastic_volatility" / "stochastic_volatility.model"
MU, PHI, SIGMA = -1.025, 0.9, 0.6
DRAWS, WINDOW = 1000, 80
SLOW = {"eta": 0.1, "tol_rel_obj": 1e-7}
ON = {
    "algorithm": "fullrank",
    "estimator": "sticking-the-landing",
    "eta": 0.1,
    "grad_samples": 30,
    "iter": 6000,
    "refine": False,
    "stop": "fixed",
    "eval_elbo": 1000,
    "elbo_samples": 20,
}
"""Full rank on from an earlier q, by a gradient whose noise goes as q comes near the posterior."""
MEAN_FIELD, FULL_RANK, LOW_RANK = "mean-field, refined", "full rank, default", "low-rank (20), averaged"
FITS: dict[str, dict[str, Any]] = {
    "mean-field, paper's loop": {"algorithm": "meanfield", **PAPERS_LOOP},
    MEAN_FIELD: {"algorithm": "meanfield", "start": "random"},
    "mean-field, default": {"algorithm": "meanfield"},
    LOW_RANK: {"algorithm": "lowrank", "rank": 20, **PAPERS_LOOP, "average": True, **SLOW},
    "full rank, paper's loop": {"algorithm": "fullrank", **PAPERS_LOOP, **SLOW, "iter": 20_000},
    FULL_RANK: {"algorithm": "fullrank"},
    f"full rank, on from {MEAN_FIELD}": {**ON, "init": MEAN_FIELD, "iter": 20_000},
    f"full rank, on from {FULL_RANK}": {**ON, "init": FULL_RANK},
}
"""By name; `init` names the fit whose q a fit goes on from."""


@dataclass(frozen=True)
class Volatility:
    """Draws (draws, T) of the log volatility, the ELBO of q where there is one, and seconds."""

    h: Floats
    elbo: float | None
    seconds: float


def run(quick: bool, data: Path | None) -> Result:
    length = 20 if quick else 500
    posterior = compile_model(PROGRAM).condition({"T": length, "y": simulated(length)})
    found = fits(
        posterior, {"iter": 50, "adapt_iter": 5, "elbo_samples": 10, "refine": False} if quick else {}
    )
    found["NUTS"] = sampled(
        posterior, {"draws": 20, "tune": 30, "maxdepth": 4} if quick else {"draws": DRAWS}
    )
    return Result(
        f"simulated: {length} steps with mu {MU}, phi {PHI}, sigma {SIGMA}, as in the paper.",
        [table(found)],
        claims(found),
        remarks(found, length + 3),
        picture(found),
        {"posterior mean of h": {name: f.h.mean(axis=0).round(4) for name, f in found.items()}},
    )


def remarks(found: dict[str, Volatility], dim: int) -> list[str]:
    ends = [f for name, f in found.items() if name.startswith("full rank, on")]
    reached = " and ".join(
        f"an ELBO of {f.elbo:.1f} with neighbours that correlate by {neighbours(f):.2f}" for f in ends
    )
    return [
        "Every row is of q itself, without the resampling and annealing of draws that this project adds. "
        f"Full rank has {dim + dim * (dim + 1) // 2:,} parameters. The noise of the paper's gradient, at one "
        "draw a step, keeps it from settling; the gradient that sticks the landing (Roeder et al. 2017), "
        f"{ON['grad_samples']} draws a step, takes it on from an earlier q. From two such q it has come to "
        f"{reached}: they have not met, so neither is the best q yet. The one with the higher ELBO is held "
        "to the claims and shown.",
        "The density has no upper bound where sigma goes to 0 and every h to mu, which a fit by its mode, "
        "and hence Pathfinder's start, suffers from. The covariances are shown for a window in which h goes "
        "far from mu.",
    ]


def fits(posterior: Posterior, cut: dict[str, Any]) -> dict[str, Volatility]:
    """Each of FITS; `cut` overrides their settings."""
    found = {}
    with TemporaryDirectory() as folder:
        file = {name: Path(folder) / f"{k}.json" for k, name in enumerate(FITS)}
        for name, settings in FITS.items():
            begun = {"init": file[settings["init"]]} if "init" in settings else {}
            found[name] = fitted(posterior, OF_Q | settings | begun | cut, file[name])
    return found


def simulated(length: int) -> Floats:
    """Returns y_t of section 3.1, from the stationary autoregression."""
    rng = np.random.default_rng(6)
    h = np.empty(length)
    h[0] = rng.normal(MU, SIGMA / np.sqrt(1 - PHI**2))
    for t in range(1, length):
        h[t] = rng.normal(MU + PHI * (h[t - 1] - MU), SIGMA)
    return np.asarray(rng.standard_normal(length) * np.exp(h / 2))


def fitted(posterior: Posterior, settings: dict[str, Any], file: Path) -> Volatility:
    began = process_time()
    fit = posterior.variational(draws=DRAWS, **settings)
    seconds = process_time() - began
    fit.save(file)
    return Volatility(fit.stan_variable("h"), fit.elbo, seconds)


def best_full_rank(found: dict[str, Volatility]) -> Volatility:
    """The one with the highest ELBO."""
    return max((f for name, f in found.items() if name.startswith("full rank")), key=lambda f: f.elbo or -inf)


def sampled(posterior: Posterior, size: dict[str, int]) -> Volatility:
    chain = nuts(posterior, **size)
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
    mean_field, full = found[MEAN_FIELD], best_full_rank(found)
    error, mean_field_error = (errors(f, found["NUTS"])[0] for f in (full, mean_field))
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
            f"Its error is {error:.2f} sds, mean-field's {mean_field_error:.2f} (a match: under 0.2).",
            error < 0.2,
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
    nuts = found["NUTS"].h
    shown = {
        "mean-field": found[MEAN_FIELD].h,
        "low-rank": found[LOW_RANK].h,
        "full rank": best_full_rank(found).h,
        "NUTS": nuts,
    }
    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    grid = figure.add_gridspec(2, len(shown), height_ratios=[1, 1.1])
    ax = figure.add_subplot(grid[0, :])
    for (label, h), colour in zip(shown.items(), (COLOURS[1], COLOURS[2], COLOURS[0], INK), strict=True):
        ax.plot(h.mean(axis=0), color=colour, lw=0.9, label=label)
    ax.set(xlabel="time step t", ylabel="posterior mean of $h_t$", xlim=(0, nuts.shape[1]))
    legend_above(figure, ax)
    tidy(ax)
    low = max(int(np.abs(nuts.mean(axis=0) - MU).argmax()) - WINDOW // 2, 0)
    limit = np.abs(np.cov(nuts[:, low : low + WINDOW].T)).max()
    for k, (label, h) in enumerate(shown.items()):
        ax = figure.add_subplot(grid[1, k])
        image = covariances(ax, h[:, low : low + WINDOW], low, limit)
        ax.set(title=label, xlabel="t", ylabel="t" if k == 0 else None)
        tidy(ax)
    figure.colorbar(image, ax=ax, label="covariance of $h$", shrink=0.8)
    return figure


def covariances(ax: Axes, h: Floats, low: int, limit: float) -> AxesImage:
    """Of the columns of h, the steps from `low` on."""
    high = low + h.shape[1]
    extent = (low, high, high, low)
    return ax.imshow(np.cov(h.T), cmap="RdBu_r", vmin=-limit, vmax=limit, extent=extent)
