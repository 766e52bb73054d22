"""ADVI, Figure 12: Gaussian mixtures of image colour histograms, all rows and minibatches."""

from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.mixture import GaussianMixture

from ppl import Posterior, compile_model

from frame.figures import COLOURS, INK, legend_over, marks, panels, seconds_axis
from frame.fits import FROM_ZERO
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
PROGRAM = Path(__file__).with_name("mixture_by_products.model")
TRAIN, TEST = "cifar10_hist/cifar10_hist_train.npz", "cifar10_hist/cifar10_hist_test.npz"
BATCHES: tuple[int | None, ...] = (50, 100, 500, 1000, None)
DRAWS = 20
CHEAP = {"draws": DRAWS, "elbo_samples": 2, "tol_rel_obj": 1e-9}


@dataclass(frozen=True)
class Images:
    """Histograms scaled to mean 0 and variance 1 over the training images, (images, 576)."""

    train: Floats
    test: Floats


@dataclass(frozen=True)
class Curve:
    """Held-out log density an image after so many processor seconds."""

    panel: str
    method: str
    seconds: list[float]
    accuracy: list[float]
    used: int | None = None
    steps: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Sizes:
    """Images and components of the two panels; steps: all rows of panel a, by minibatch, all rows of b."""

    small: tuple[int, int]
    large: tuple[int, int]
    rows: tuple[int, ...]
    batches: tuple[int, ...]
    everything: tuple[int, ...]
    search: int = 50


FULL = Sizes((1000, 10), (50_000, 30), (100, 1000, 10_000), (100, 1000, 10_000), (10, 100, 1000))
QUICK = Sizes((40, 3), (80, 4), (5,), (5,), (2, 4), 5)


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    sizes = QUICK if quick else FULL
    images = histograms(data, sizes.large[0], 100 if quick else 10_000, 24 if quick else 1)
    curves = [*few(images, *sizes.small, sizes), *many(images, *sizes.large, sizes)]
    return Result(
        f"stand-in: colour histograms ({images.train.shape[1]} bins) of CIFAR-10, {sizes.large[0]:,} "
        f"images to fit and {len(images.test):,} held out, for the paper's 240,000 and 10,000 of ImageCLEF.",
        [table(curves)],
        claims(curves),
        [
            cuts(curves[-2], sizes),
            "Each point is a run of its own with so many steps; the step size is found by the paper's "
            "search with minibatches of 500 (b) and all rows (a), whose seconds every point includes. NUTS "
            "was not run.",
            "Expectation maximisation is scikit-learn's from k-means, the best of 5 runs (a) and one (b). It "
            "maximises the likelihood without the priors: alpha_0 = 1,000 draws the proportions together.",
        ],
        picture(curves),
        {"curves": [asdict(c) for c in curves]},
    )


def cuts(everything: Curve, sizes: Sizes) -> str:
    (before, last), full = sizes.everything[-2:], sizes.batches[-1]
    one = (everything.seconds[-1] - everything.seconds[-2]) / (last - before)
    return (
        f"All but one take {full:,} steps of one gradient draw, the most that Stan takes unless told "
        "otherwise; the loops begin at mu = 0, as in the paper's Algorithm 1. All rows of panel b, of which "
        f"the paper's text does not speak, take {last:,} of {one:.2f} seconds each; {full:,} would take "
        f"{one * full / 60:.0f} minutes. The images are all that the stand-in has; a step with a minibatch "
        f"costs the same whatever their number. Predictions average {DRAWS} draws."
    )


def histograms(data: Path, train: int, test: int, every: int) -> Images:
    """The first images of both files, the training images being shuffled, and every so manieth bin."""
    fit, held = (
        np.load(data / name)["H"][:n, ::every].astype(float) for name, n in ((TRAIN, train), (TEST, test))
    )
    mean, sd = fit.mean(axis=0), np.where(fit.std(axis=0) > 0, fit.std(axis=0), 1.0)
    return Images((fit - mean) / sd, (held - mean) / sd)


def conditioned(y: Floats, k: int) -> Posterior:
    return compile_model(PROGRAM).condition({"N": len(y), "D": y.shape[1], "K": k, "y": y, "alpha0": 1000})


def few(images: Images, n: int, k: int, sizes: Sizes) -> list[Curve]:
    """Panel a: all rows of a random subset, the training images being shuffled."""
    panel, y = f"a: {n:,} images, K = {k}", images.train[:n]
    posterior = conditioned(y, k)
    search, eta = eta_search(posterior, None, sizes.search)
    own = {"upgrade": False, "correct": False, "refine": False, "adapt_iter": sizes.search}
    return [
        ascent(panel, posterior, images.test, "paper's loop", sizes.rows, {**FROM_ZERO, "eta": eta}, search),
        ascent(panel, posterior, images.test, "default but for refinement", sizes.rows[-1:], own, 0.0),
        em(panel, y, images.test, k, restarts=5),
    ]


def many(images: Images, n: int, k: int, sizes: Sizes) -> list[Curve]:
    """Panel b: minibatches, and all rows for as long as the budget lasts."""
    panel, posterior = f"b: {n:,} images, K = {k}", conditioned(images.train, k)
    search, eta = eta_search(posterior, min(500, n // 2), sizes.search)
    curves = []
    for batch in BATCHES:
        settings = {**FROM_ZERO, "eta": eta, "minibatch": None if batch is None else min(batch, n // 2)}
        steps = sizes.everything if batch is None else sizes.batches
        name = "all rows" if batch is None else f"B = {batch:,}"
        curves.append(ascent(panel, posterior, images.test, name, steps, settings, search))
    return [*curves, em(panel, images.train, images.test, k, restarts=1)]


def eta_search(posterior: Posterior, batch: int | None, steps: int) -> tuple[float, float]:
    """Seconds, and the step size that the paper's search finds."""
    began = process_time()
    fit = posterior.variational(**CHEAP, **FROM_ZERO, minibatch=batch, iter=1, eval_elbo=1, adapt_iter=steps)
    return process_time() - began, fit.eta


def ascent(
    panel: str,
    posterior: Posterior,
    test: Floats,
    method: str,
    steps: tuple[int, ...],
    settings: dict[str, Any],
    before: float,
) -> Curve:
    points = []
    for n in steps:
        began = process_time()
        fit = posterior.variational(**CHEAP, **settings, iter=n, eval_elbo=n)
        seconds = before + process_time() - began
        draws = [fit.stan_variable(name) for name in ("theta", "mu", "sigma")]
        points.append((seconds, held_out(test, *draws)))
    used = int(np.sum(draws[0].mean(axis=0) > 0.01))
    return Curve(panel, method, [s for s, _ in points], [a for _, a in points], used, steps)


def held_out(test: Floats, theta: Floats, mu: Floats, sigma: Floats) -> float:
    """The mean over images of the log predictive density, averaged over draws, in nats."""
    log_p = np.array([log_mixture(test, *draw) for draw in zip(theta, mu, sigma, strict=True)])
    return float(np.mean(logsumexp(log_p, axis=0) - np.log(len(log_p))))


def log_mixture(y: Floats, theta: Floats, mu: Floats, sigma: Floats) -> Floats:
    """The log density of a mixture with diagonal covariances (K, D), at each row of y."""
    return np.asarray(logsumexp(log_components(y, theta, mu, sigma), axis=1))


def log_components(y: Floats, theta: Floats, mu: Floats, sigma: Floats) -> Floats:
    """Its terms, (rows, K): the log of each weight times the density of its component."""
    tau = sigma**-2.0
    squares = y**2 @ tau.T - 2 * y @ (mu * tau).T + (mu**2 * tau).sum(axis=1)
    constant = np.log(theta) - np.log(sigma).sum(axis=1) - 0.5 * y.shape[1] * np.log(2 * np.pi)
    return np.asarray(constant - 0.5 * squares)


def em(panel: str, y: Floats, test: Floats, k: int, restarts: int) -> Curve:
    began = process_time()
    fit = GaussianMixture(k, covariance_type="diag", n_init=restarts, reg_covar=1e-3, random_state=0).fit(y)
    seconds = process_time() - began
    return Curve(panel, "expectation maximisation", [seconds], [float(fit.score(test))], k)


def table(curves: list[Curve]) -> Table:
    columns = ("fit", "steps", "held-out log density an image", "components above 1%", "seconds")
    rows = [
        (f"{c.panel}, {c.method}", c.steps and c.steps[-1], c.accuracy[-1], c.used, c.seconds[-1])
        for c in curves
    ]
    return Table(
        "Held-out images, at the end of each run.", columns, rows, {columns[2]: ".1f", "seconds": ".0f"}
    )


def claims(curves: list[Curve]) -> list[Claim]:
    ends = {c.method: c.accuracy[-1] for c in curves if c.panel.startswith("b")}
    large, small = min(ends["B = 500"], ends["B = 1,000"]), max(ends["B = 50"], ends["B = 100"])
    return [
        Claim(
            "Minibatches of 500 or more reach a high accuracy, smaller ones a suboptimal one.",
            ", ".join(f"{method}: {accuracy:.0f}" for method, accuracy in ends.items()) + " nats an image.",
            large > small,
        )
    ]


def picture(curves: list[Curve]) -> Figure:
    names = list(dict.fromkeys(c.panel for c in curves))
    figure, axes = panels(1, len(names), width=8.0, height=3.4)
    for ax, panel in zip(axes[0], names, strict=True):
        of_panel = [c for c in curves if c.panel == panel]
        for curve, colour in zip(of_panel, (*COLOURS[: len(of_panel) - 1], INK), strict=True):
            ax.plot(curve.seconds, curve.accuracy, **marks(curve.seconds), color=colour, label=curve.method)
        seconds_axis(ax)
        ax.set_title(panel, fontsize=9)
        legend_over(ax, 2)
    axes[0, 0].set_ylabel("held-out log density an image (nats)")
    return figure
