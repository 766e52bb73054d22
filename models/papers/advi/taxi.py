"""ADVI, Figures 13 to 15: taxi trips in a subspace that chooses its dimension; clusters of 1.7 million."""

import json
import resource
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from advi.image_mixture import log_mixture
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from ppl import Fit, compile_model

from frame.figures import COLOURS, INK, panels
from frame.fits import PAPERS_LOOP
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
MODELS = Path(__file__).parents[2]
MIXTURE = Path(__file__).with_name("mixture_by_products.model")
TRIPS, RAW = "porto_taxi/porto_interp50.csv", "porto_taxi/porto_train1k.jsonl"
SECONDS_A_POINT, LEAST_POINTS, CLUSTERS = 15, 10, 30
KEPT = 1e-3
"""A dimension is kept if its column of w carries more than this share of the variance of the data."""


@dataclass(frozen=True)
class Subspace:
    """Posterior means of a PPCA with ARD: shares of variance by dimension (M,), z (N, M), and the trace."""

    shares: Floats
    z: Floats
    trace: Floats
    seconds: float

    @property
    def kept(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.shares > KEPT)


@dataclass(frozen=True)
class Clusters:
    """A mixture fitted to many simulated trips."""

    rows: int
    accuracy: float
    truth: float
    wall: float
    cpu: float
    peak: float


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    x, y = trips(data, 60 if quick else None)
    steps, most = (20, 8) if quick else (3000, 100)
    given = {"N": len(x), "D": x.shape[1], "M": most, "x": x}
    search = 5 if quick else 50
    plain = subspace("ppca_ard", given, "w", steps, search)
    supervised = subspace("sup_ppca_ard", given | {"y": y}, "w_x", steps, search)
    clusters = cluster(plain, *((2_000, 20) if quick else (1_700_000, 2000)), search)
    return Result(
        f"subset and simulated: {len(x)} of Porto's trips, interpolated to 50 points (the paper has ten "
        f"thousand for the subspace), and {clusters.rows:,} points simulated from them for the mixture "
        "(the paper's are real).",
        [
            table({"PPCA with ARD": plain, "supervised, with the duration": supervised}, x),
            mixture_table(clusters),
        ],
        claims(plain, clusters),
        [
            f"Both subspaces are {steps:,} steps of the paper's loop from {most} dimensions on offer. The "
            f"mixture (K = {CLUSTERS}) sees minibatches of 1,000; the points are drawn from a mixture "
            "fitted to the trips in the dimensions kept, so that its own density of new points is the most "
            "there is to reach.",
            "Shares of variance that add to more than one say that the loop has not settled, so that no "
            "dimension is idle yet; the mixture then sees every dimension kept.",
        ],
        picture(x, plain, supervised),
        {"shares": {"plain": plain.shares, "supervised": supervised.shares}},
    )


def trips(data: Path, most: int | None) -> tuple[Floats, Floats]:
    """Coordinates (N, 100) and log durations (N,), both of mean 0 and variance 1."""
    x = np.loadtxt(data / TRIPS, delimiter=",", skiprows=1)
    points = [len(json.loads(line)["polyline"]) for line in (data / RAW).read_text("utf-8").splitlines()]
    seconds = SECONDS_A_POINT * (np.array([n for n in points if n >= LEAST_POINTS]) - 1.0)
    return scaled(x)[:most], scaled(np.log(seconds))[:most]


def scaled(x: Floats) -> Floats:
    return np.asarray((x - x.mean(axis=0)) / x.std(axis=0))


def subspace(name: str, given: dict[str, Any], loadings: str, steps: int, search: int) -> Subspace:
    began = process_time()
    posterior = compile_model(MODELS / name / f"{name}.model").condition(given)
    fit = posterior.variational(
        **PAPERS_LOOP,
        adapt_iter=search,
        iter=steps,
        eval_elbo=max(steps // 20, 1),
        elbo_samples=5,
        draws=20,
        tol_rel_obj=1e-9,
    )
    w, z = fit.stan_variable(loadings).mean(axis=0), fit.stan_variable("z").mean(axis=0)
    shares = (w**2).sum(axis=0) * (z**2).mean(axis=0) / given["x"].var(axis=0).sum()
    return Subspace(shares, z, fit.elbo_trace, process_time() - began)


def cluster(found: Subspace, rows: int, steps: int, search: int) -> Clusters:
    """The mixture of F.5 on points drawn from a mixture of the trips in the subspace."""
    z = scaled(found.z[:, np.argsort(-found.shares)[: max(len(found.kept), 2)]])
    source = GaussianMixture(
        min(CLUSTERS, len(z) // 4), covariance_type="diag", reg_covar=1e-3, random_state=0
    ).fit(z)
    y, test = drawn(source, rows, 14), drawn(source, 10_000, 15)
    began = perf_counter(), process_time()
    given = {"N": rows, "D": y.shape[1], "K": CLUSTERS, "y": y, "alpha0": 1000}
    fit = (
        compile_model(MIXTURE)
        .condition(given)
        .variational(
            **PAPERS_LOOP,
            adapt_iter=search,
            minibatch=min(1000, rows // 2),
            iter=steps,
            eval_elbo=steps,
            elbo_samples=2,
            draws=5,
            tol_rel_obj=1e-9,
        )
    )
    wall, cpu = perf_counter() - began[0], process_time() - began[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Clusters(rows, accuracy(fit, test), float(source.score(test)), wall, cpu, peak)


def drawn(source: GaussianMixture, n: int, seed: int) -> Floats:
    """Points of a mixture in random order; scikit-learn's own `sample` sorts them by component."""
    rng = np.random.default_rng(seed)
    k = rng.choice(len(source.weights_), size=n, p=source.weights_ / source.weights_.sum())
    noise = rng.standard_normal((n, source.means_.shape[1]))
    return np.asarray(source.means_[k] + np.sqrt(source.covariances_[k]) * noise)


def accuracy(fit: Fit, test: Floats) -> float:
    theta, mu, sigma = (fit.stan_variable(name).mean(axis=0) for name in ("theta", "mu", "sigma"))
    return float(log_mixture(test, theta, mu, sigma).mean())


def table(found: dict[str, Subspace], x: Floats) -> Table:
    spectrum = np.linalg.svd(x, compute_uv=False) ** 2
    rows: list[tuple[str | float | int | None, ...]] = [
        (name, 11 if name == "PPCA with ARD" else None, len(f.kept), float(f.shares[f.kept].sum()), f.seconds)
        for name, f in found.items()
    ]
    shares = spectrum / spectrum.sum()
    rows.append(
        (
            "principal components, same rule",
            None,
            int(np.sum(shares > KEPT)),
            float(shares[shares > KEPT].sum()),
            None,
        )
    )
    columns = ("subspace", "paper's dimensions", "dimensions kept", "share of variance", "seconds")
    return Table(
        "Dimensions kept of the trips.", columns, rows, {"share of variance": ".3f", "seconds": ".0f"}
    )


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


def claims(plain: Subspace, clusters: Clusters) -> list[Claim]:
    return [
        Claim(
            "ARD keeps eleven dimensions of a hundred.",
            f"It keeps {len(plain.kept)} of these trips.",
            8 <= len(plain.kept) <= 14,
        ),
        Claim(
            "A mixture of thirty on 1.7 million points in less than half an hour.",
            f"{clusters.rows:,} points took {clusters.wall / 60:.1f} minutes and {clusters.peak:.1f} GB; "
            f"new points have {clusters.accuracy:.2f} nats each, beside {clusters.truth:.2f} under the "
            "density that they come from.",
            clusters.wall < 1800 and clusters.accuracy > clusters.truth - 1,
        ),
    ]


def picture(x: Floats, plain: Subspace, supervised: Subspace) -> Figure:
    figure, axes = panels(1, 3, width=9.0, height=2.8)
    trace, shares, map_ = axes[0]
    for found, colour, label in ((plain, COLOURS[0], "PPCA"), (supervised, COLOURS[1], "supervised")):
        trace.plot(found.trace[:, 0], found.trace[:, 1], "o-", ms=2, lw=1, color=colour, label=label)
        shares.semilogy(np.sort(found.shares)[::-1], ".-", ms=3, lw=0.8, color=colour, label=label)
    trace.set(xlabel="iteration", ylabel="ELBO (nats)", yscale="symlog")
    shares.axhline(KEPT, color=INK, lw=0.6, ls=":")
    shares.set(xlabel="dimension, sorted", ylabel="share of variance")
    shares.legend(fontsize=7, frameon=False)
    draw_trips(map_, x, plain)
    return figure


def draw_trips(ax: Any, x: Floats, found: Subspace) -> None:
    """The trips by cluster of their place in the subspace."""
    z = found.z[:, np.argsort(-found.shares)[: max(len(found.kept), 2)]]
    label = GaussianMixture(6, covariance_type="diag", reg_covar=1e-3, random_state=0).fit_predict(scaled(z))
    for trip, k in zip(x, label, strict=True):
        ax.plot(trip[0::2], trip[1::2], lw=0.3, alpha=0.5, color=COLOURS[k % len(COLOURS)])
    ax.set(xlabel="longitude (sds)", ylabel="latitude (sds)", xlim=(-4, 4), ylim=(-4, 4))
