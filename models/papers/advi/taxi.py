"""ADVI, Figures 13 to 15: taxi trips in a subspace that chooses its dimension; clusters of 1.7 million."""

import json
import resource
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from advi.image_mixture import log_components, log_mixture
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from ppl import compile_model

from frame.figures import COLOURS, INK, legend_above, panels
from frame.fits import PAPERS_LOOP
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
MODELS = Path(__file__).parents[2]
MIXTURE = Path(__file__).with_name("mixture_by_products.model")
TRIPS, RAW = "porto_taxi/porto_interp50.csv", "porto_taxi/porto_train1k.jsonl"
SECONDS_A_POINT, LEAST_POINTS, CLUSTERS = 15, 10, 30
PAPERS = 11
"""Dimensions that the paper keeps, and in which it then clusters."""
LOOP, PLAIN, SUPERVISED = (
    "PPCA with ARD, paper's loop",
    "PPCA with ARD, fixed steps",
    "supervised, fixed steps",
)
ETA = 0.1
KEPT = 1e-3
"""A dimension is kept if its column of w carries more than this share of the variance of the data."""


@dataclass(frozen=True)
class Subspace:
    """Posterior means of a PPCA with ARD: shares of variance by dimension (M,), z (N, M), and the trace."""

    shares: Floats
    z: Floats
    trace: Floats
    eta: float
    seconds: float

    @property
    def kept(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.shares > KEPT)

    def largest(self, most: int) -> Floats:
        """The places (N, most) of the rows along the dimensions that carry most, each of variance 1."""
        return scaled(self.z[:, np.argsort(-self.shares)[:most]])


@dataclass(frozen=True)
class Clusters:
    """A mixture fitted to many simulated trips: its weights, means and scales, and what it cost."""

    rows: int
    mixture: tuple[Floats, Floats, Floats]
    accuracy: float
    truth: float
    wall: float
    cpu: float
    peak: float


@dataclass(frozen=True)
class Sizes:
    """Trips, dimensions on offer; steps of the loop, its search, of one size; mixture: rows, steps."""

    trips: int | None
    offered: int
    loop: int
    search: int
    fixed: int
    rows: int
    steps: int


FULL = Sizes(None, 100, 3000, 50, 16_000, 1_700_000, 4000)
QUICK = Sizes(60, 12, 20, 5, 20, 400, 20)


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    sizes = QUICK if quick else FULL
    x, y = trips(data, sizes.trips)
    given = {"N": len(x), "D": x.shape[1], "M": sizes.offered, "x": x}
    fixed = {"eta": ETA, "iter": sizes.fixed}
    found = {
        LOOP: subspace("ppca_ard", given, "w", {"adapt_iter": sizes.search, "iter": sizes.loop}),
        PLAIN: subspace("ppca_ard", given, "w", fixed),
        SUPERVISED: subspace("sup_ppca_ard", given | {"y": y}, "w_x", fixed),
    }
    shares = principal_shares(x)
    clusters = cluster(found[PLAIN].largest(PAPERS), sizes)
    return Result(
        f"subset and simulated: {len(x)} of Porto's trips, interpolated to 50 points (the paper has ten "
        f"thousand for the subspace), and {clusters.rows:,} points of {PAPERS} dimensions simulated from "
        "them for the mixture (the paper's are real).",
        [table(found, shares), mixture_table(clusters)],
        claims(found[PLAIN], shares, clusters),
        remarks(found, clusters, sizes),
        picture(x, found, shares, clusters),
        {"shares": {name: f.shares for name, f in found.items()} | {"principal components": shares}},
    )


def remarks(found: dict[str, Subspace], clusters: Clusters, sizes: Sizes) -> list[str]:
    loop, plain = found[LOOP], found[PLAIN]
    return [
        f"All subspaces begin with {sizes.offered} dimensions on offer and unit scales, by Algorithm 1 "
        "without this project's additions. The paper's search for a step size takes "
        f"{loop.eta:g}, at which {sizes.loop:,} steps leave an ELBO of {loop.trace[-1, 1]:,.0f}: shares of "
        f"variance that add to {loop.shares.sum():.3g} say that it is far from settled, so that no dimension "
        f"is idle yet. At {ETA:g} the ELBO is {plain.trace[-1, 1]:,.0f} after {sizes.fixed:,} steps, and the "
        "dimensions that the trips do not need have gone.",
        f"A dimension is kept if it carries more than {KEPT:.1%} of the variance. The paper does not say "
        "what it counts, and its trips are other ones.",
        f"The mixture (K = {CLUSTERS}) sees {sizes.steps:,} minibatches of 1,000 at the step size that the "
        f"search finds. The points are drawn from a mixture fitted to the trips in the {PAPERS} dimensions "
        f"that carry most, so that its own density of new points, {clusters.truth:.2f} nats, is the most "
        "there is to reach.",
    ]


def trips(data: Path, most: int | None) -> tuple[Floats, Floats]:
    """Coordinates (N, 100) and log durations (N,), both of mean 0 and variance 1."""
    x = np.loadtxt(data / TRIPS, delimiter=",", skiprows=1)
    points = [len(json.loads(line)["polyline"]) for line in (data / RAW).read_text("utf-8").splitlines()]
    seconds = SECONDS_A_POINT * (np.array([n for n in points if n >= LEAST_POINTS]) - 1.0)
    return scaled(x)[:most], scaled(np.log(seconds))[:most]


def scaled(x: Floats) -> Floats:
    return np.asarray((x - x.mean(axis=0)) / x.std(axis=0))


def subspace(name: str, given: dict[str, Any], loadings: str, settings: dict[str, Any]) -> Subspace:
    began, every = process_time(), max(settings["iter"] // 20, 1)
    posterior = compile_model(MODELS / name / f"{name}.model").condition(given)
    more = {"eval_elbo": every, "elbo_samples": 5, "draws": 20, "tol_rel_obj": 1e-9}
    fit = posterior.variational(**PAPERS_LOOP, **more, **settings)
    w, z = fit.stan_variable(loadings).mean(axis=0), fit.stan_variable("z").mean(axis=0)
    shares = (w**2).sum(axis=0) * (z**2).mean(axis=0) / given["x"].var(axis=0).sum()
    return Subspace(shares, z, fit.elbo_trace, fit.eta, process_time() - began)


def principal_shares(x: Floats) -> Floats:
    """Of the variance, by principal component."""
    spectrum = np.linalg.svd(x, compute_uv=False) ** 2
    return np.asarray(spectrum / spectrum.sum())


def cluster(z: Floats, sizes: Sizes) -> Clusters:
    """The mixture of F.5 on points drawn from a mixture of the trips' places z (N, dimensions)."""
    k = min(CLUSTERS, len(z) // 4)
    source = GaussianMixture(k, covariance_type="diag", reg_covar=1e-3, random_state=0).fit(z)
    y, test = drawn(source, sizes.rows, 14), drawn(source, 10_000, 15)
    began = perf_counter(), process_time()
    posterior = compile_model(MIXTURE).condition(
        {"N": len(y), "D": y.shape[1], "K": CLUSTERS, "y": y, "alpha0": 1000}
    )
    fit = posterior.variational(
        **PAPERS_LOOP,
        adapt_iter=sizes.search,
        minibatch=min(1000, sizes.rows // 2),
        iter=sizes.steps,
        eval_elbo=sizes.steps,
        elbo_samples=2,
        draws=5,
        tol_rel_obj=1e-9,
    )
    wall, cpu = perf_counter() - began[0], process_time() - began[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    theta, mu, sigma = (fit.stan_variable(name).mean(axis=0) for name in ("theta", "mu", "sigma"))
    accuracy, truth = float(log_mixture(test, theta, mu, sigma).mean()), float(source.score(test))
    return Clusters(sizes.rows, (theta, mu, sigma), accuracy, truth, wall, cpu, peak)


def drawn(source: GaussianMixture, n: int, seed: int) -> Floats:
    """Points of a mixture in random order; scikit-learn's own `sample` sorts them by component."""
    rng = np.random.default_rng(seed)
    k = rng.choice(len(source.weights_), size=n, p=source.weights_ / source.weights_.sum())
    noise = rng.standard_normal((n, source.means_.shape[1]))
    return np.asarray(source.means_[k] + np.sqrt(source.covariances_[k]) * noise)


def table(found: dict[str, Subspace], principal: Floats) -> Table:
    rows: list[tuple[str | float | int | None, ...]] = [
        (
            name,
            None if name == SUPERVISED else PAPERS,
            len(f.kept),
            float(f.shares[f.kept].sum()),
            f.trace[-1, 1],
            f.seconds,
        )
        for name, f in found.items()
    ]
    kept = principal[principal > KEPT]
    rows.append(("principal components, same rule", None, len(kept), float(kept.sum()), None, None))
    columns = ("subspace", "paper's dimensions", "dimensions kept", "share of variance", "ELBO", "seconds")
    formats = {"share of variance": ".3f", "ELBO": ",.0f", "seconds": ".0f"}
    return Table("Dimensions kept of the trips.", columns, rows, formats)


def mixture_table(c: Clusters) -> Table:
    columns = (
        "points",
        "held-out log density",
        "of the source",
        "wall seconds",
        "seconds",
        "peak memory (GB)",
    )
    row = (c.rows, c.accuracy, c.truth, c.wall, c.cpu, c.peak)
    formats = dict.fromkeys(columns[1:3], ".2f") | {
        "wall seconds": ".0f",
        "seconds": ".0f",
        "peak memory (GB)": ".2f",
    }
    return Table(f"Mixture of {CLUSTERS} components in minibatches.", columns, [row], formats)


def claims(plain: Subspace, principal: Floats, clusters: Clusters) -> list[Claim]:
    kept, carried = len(plain.kept), int(np.sum(principal > KEPT))
    return [
        Claim(
            f"ARD keeps {PAPERS} of a hundred dimensions.",
            f"It keeps {kept} for these trips; {carried} of their principal components carry more than the "
            "same share.",
            abs(kept - PAPERS) <= 3,
        ),
        Claim(
            "A mixture of thirty on 1.7 million points in less than half an hour.",
            f"{clusters.rows:,} points took {clusters.wall / 60:.1f} minutes and {clusters.peak:.1f} GB; "
            f"new points have {clusters.accuracy:.2f} nats each, beside {clusters.truth:.2f} under the "
            "density that they come from.",
            clusters.wall < 1800 and clusters.accuracy > clusters.truth - 1,
        ),
    ]


def picture(x: Floats, found: dict[str, Subspace], principal: Floats, clusters: Clusters) -> Figure:
    figure, axes = panels(1, 3, width=9.0, height=3.2)
    trace, shares, map_ = axes[0]
    for (name, f), colour in zip(found.items(), (COLOURS[2], COLOURS[0], COLOURS[1]), strict=True):
        trace.plot(f.trace[:, 0], f.trace[:, 1], "o-", ms=2, lw=1, color=colour, label=name)
        shares.semilogy(ranks(f.shares), np.sort(f.shares)[::-1], ".-", ms=3, lw=0.8, color=colour)
    trace.plot([], [], ".-", ms=3, lw=0.8, color=INK, label="principal components")
    trace.set(xlabel="iteration", ylabel="ELBO (nats)")
    trace.set_yscale("symlog", linthresh=1e4)
    trace.locator_params(axis="x", nbins=4)
    shares.semilogy(ranks(principal), principal, ".-", ms=3, lw=0.8, color=INK)
    shares.axhline(KEPT, color=INK, lw=0.6, ls=":")
    shares.set(xlabel="dimension, by its share", ylabel="share of variance", ylim=(1e-6, None))
    draw_trips(map_, x, found[PLAIN].largest(PAPERS), clusters)
    legend_above(figure, trace)
    return figure


def ranks(values: Floats) -> NDArray[np.intp]:
    return np.arange(1, len(values) + 1)


def draw_trips(ax: Any, x: Floats, z: Floats, clusters: Clusters) -> None:
    """Each trip in the colour of the component that it most likely is of."""
    likeliest = log_components(z, *clusters.mixture).argmax(axis=1)
    for trip, k in zip(x, likeliest, strict=True):
        ax.plot(trip[0::2], trip[1::2], lw=0.3, alpha=0.5, color=COLOURS[k % len(COLOURS)])
    ax.set(xlabel="longitude (sds)", ylabel="latitude (sds)", xlim=(-4, 4), ylim=(-4, 4))
    ax.set_title("trips by component of the mixture", fontsize=9)
