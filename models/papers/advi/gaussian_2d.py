"""ADVI, Figure 4: mean-field and full rank on the posterior of a two-dimensional Gaussian's mean."""

from pathlib import Path
from time import process_time

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ppl import Posterior, compile_model

from frame.figures import COLOURS, INK, legend_above, panels
from frame.fits import PAPERS_LOOP
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
Moments = tuple[Floats, Floats]
PROGRAM = Path(__file__).with_name("gaussian_mean.model")
SIGMA = np.array([[1.0, 0.76], [0.76, 1.1]])
TRUE_MEAN = np.array([0.3, -0.2])
PRIOR_PRECISION = np.eye(2) / 100


def run(quick: bool, data: Path | None) -> Result:
    y = np.random.default_rng(1).multivariate_normal(TRUE_MEAN, SIGMA, 200 if quick else 1000)
    posterior = compile_model(PROGRAM).condition({"N": len(y), "y": y, "Sigma": SIGMA})
    exact = exact_posterior(y)
    loop = PAPERS_LOOP | ({"iter": 200, "eta": 1.0} if quick else {"tol_rel_obj": 1e-5, "grad_samples": 10})
    found = {
        f"{name}, {how}": fitted(posterior, algorithm, settings)
        for algorithm, name in (("meanfield", "mean-field"), ("fullrank", "full rank"))
        for how, settings in (("paper's loop", loop), ("default", {"upgrade": False}))
    }
    return Result(
        f"simulated: {len(y):,} points of a Gaussian with correlation {correlation(SIGMA):.2f}, "
        "prior N(0, 10) on its mean; the paper's covariance is not in its text.",
        [table(exact, found)],
        claims(exact, {name: moments for name, (moments, _) in found.items()}),
        figure=picture(y, exact, {name: moments for name, (moments, _) in found.items()}),
    )


def exact_posterior(y: Floats) -> Moments:
    """Mean and covariance by the conjugate formula."""
    precision = np.linalg.inv(SIGMA)
    covariance = np.linalg.inv(len(y) * precision + PRIOR_PRECISION)
    return covariance @ precision @ y.sum(axis=0), covariance


def fitted(posterior: Posterior, algorithm: str, settings: dict[str, object]) -> tuple[Moments, float]:
    """Moments of q, and the seconds they took."""
    began = process_time()
    result = posterior.variational(algorithm=algorithm, draws=100, **settings).result
    moments = result.family.mean(result.params), result.family.covariance(result.params)
    return moments, process_time() - began


def kl(q: Moments, p: Moments) -> float:
    """KL(q || p) of two Gaussians, in nats."""
    precision, apart = np.linalg.inv(p[1]), q[0] - p[0]
    log_volumes = np.linalg.slogdet(p[1])[1] - np.linalg.slogdet(q[1])[1]
    return float(0.5 * (np.trace(precision @ q[1]) + apart @ precision @ apart - 2 + log_volumes))


def correlation(covariance: Floats) -> float:
    return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


def table(exact: Moments, found: dict[str, tuple[Moments, float]]) -> Table:
    columns = ("fit", "mean 1", "mean 2", "sd 1", "sd 2", "correlation", "KL to exact", "seconds")
    rows = [("exact", *cells(exact), None, None)]
    rows += [
        (name, *cells(moments), kl(moments, exact), seconds) for name, (moments, seconds) in found.items()
    ]
    formats = {"correlation": ".2f", "KL to exact": ".1e", "seconds": ".1f"}
    return Table("Moments of the posterior.", columns, rows, dict.fromkeys(columns, ".4f") | formats)


def cells(moments: Moments) -> tuple[float, ...]:
    return (*moments[0], *np.sqrt(np.diag(moments[1])), correlation(moments[1]))


def claims(exact: Moments, found: dict[str, Moments]) -> list[Claim]:
    sd = np.sqrt(np.diag(exact[1]))
    off = {name: np.abs((m[0] - exact[0]) / sd).max() for name, m in found.items()}
    default, loop = (max(off[name] for name in off if how in name) for how in ("default", "loop"))
    narrow = np.sqrt(np.diag(found["mean-field, default"][1])) / sd
    least = np.sqrt(1 - correlation(exact[1]) ** 2)
    full = np.abs(np.sqrt(np.diag(found["full rank, default"][1])) / sd - 1).max()
    return [
        Claim(
            "Both find the exact mean.",
            f"The default runs come within {default:.3f} sds of it, the paper's loops within {loop:.2f}.",
            bool(default < 0.1),
        ),
        Claim(
            "Mean-field understates the variances.",
            f"Its sds are {narrow[0]:.3f} and {narrow[1]:.3f} of the exact ones; theory says "
            f"sqrt(1 - correlation^2) = {least:.3f}.",
            bool(np.abs(narrow / least - 1).max() < 0.05),
        ),
        Claim("Full rank is accurate.", f"The default run's sds are within {full:.1%}.", bool(full < 0.05)),
    ]


def picture(y: Floats, exact: Moments, found: dict[str, Moments]) -> Figure:
    figure, axes = panels(1, 2, height=3.3, sharex=True, sharey=True)
    for ax, how in zip(axes[0], ("paper's loop", "default"), strict=True):
        ellipse(ax, exact, INK, "exact", lw=3, alpha=0.35)
        ellipse(ax, found[f"mean-field, {how}"], COLOURS[1], "mean-field")
        ellipse(ax, found[f"full rank, {how}"], COLOURS[0], "full rank")
        ax.set(xlabel=r"$\mu_1$", ylabel=r"$\mu_2$", aspect="equal")
        ax.set_title(f"{how}: two-sd level sets", fontsize=9)
        ax.locator_params(axis="x", nbins=4)
    legend_above(figure, axes[0, 0])
    return figure


def ellipse(ax: Axes, moments: Moments, colour: str, label: str, lw: float = 1.2, alpha: float = 1.0) -> None:
    """The level set two sds out."""
    t = np.linspace(0, 2 * np.pi, 200)
    x, y = moments[0][:, None] + 2 * np.linalg.cholesky(moments[1]) @ np.array([np.cos(t), np.sin(t)])
    ax.plot(x, y, color=colour, lw=lw, alpha=alpha, label=label)
