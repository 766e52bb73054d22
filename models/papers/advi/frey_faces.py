"""ADVI, Figure 11: two non-negative factorisations of the Frey faces, held-out pixels and the factors."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import poisson

from ppl import Posterior, compile_model

from frame.figures import COLOURS, INK, legend_over, seconds_axis, tidy
from frame.fits import FROM_ZERO, rule_stops
from frame.result import Claim, Result, Table

Floats = NDArray[np.float64]
HERE = Path(__file__).parent
FACES = "frey_faces/frey_faces.npz"
FACTORS, DRAWS = 10, 100
LOWEST = -12
"""Nats a pixel at which the picture is cut."""
PROGRAMS = {
    "constrained Gamma-Poisson": "gamma_poisson_held_out.model",
    "Dirichlet-exponential": "dirichlet_exponential_held_out.model",
}
ELBO_DRAWS = 5
SETTINGS = {"draws": DRAWS, "elbo_samples": ELBO_DRAWS, "upgrade": False, "refine": False, "correct": False}


@dataclass(frozen=True)
class Faces:
    """Frames as rows of pixels, and which pixels a fit may see (1) or is judged by (0)."""

    y: Floats
    seen: Floats
    shape: tuple[int, int] = (28, 20)


@dataclass(frozen=True)
class Curve:
    """Held-out accuracy after so many processor seconds, and the factors (K, pixels) at the end."""

    model: str
    method: str
    seconds: list[float]
    accuracy: list[float]
    factors: Floats
    steps: int | None = None
    rule: int | None = None


class Fitted(NamedTuple):
    """One fit: processor seconds, held-out accuracy, the mean factors, and the ELBO on the way."""

    seconds: float
    accuracy: float
    factors: Floats
    trace: Floats


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    frames = np.load(data / FACES)["X"].reshape(-1, 28, 20).astype(float)
    faces = split(frames[:10, ::7, ::7] if quick else frames)
    steps = (10,) if quick else (100, 1000, 10_000)
    ascents = [ascent(faces, 5 if quick else 200)]
    curves = [
        curve
        for name, program in PROGRAMS.items()
        for curve in curves_of(name, conditioned(program, faces), faces, steps, 0.1 if quick else None)
    ]
    pixels = int((1 - faces.seen).sum())
    return Result(
        f"exact: {len(faces.y):,} Frey faces of {faces.shape[0]} x {faces.shape[1]} pixels (the paper says "
        f"1,956), a tenth of the pixels, {pixels:,}, held out at random; K = {FACTORS}.",
        [table([*curves, *ascents])],
        claims(curves, ascents[0], faces),
        [
            "No face, pixel or step is left out: the paper's loop, from mu = 0 as in Algorithm 1, takes "
            f"{steps[-1]:,} steps of one gradient draw, the most that Stan takes unless told otherwise. Its "
            "rule (a mean or median relative change of the ELBO below 0.01 over ten checks, one every 100 "
            f"steps) would have ended it where the table says; it sees ELBOs of {ELBO_DRAWS} draws, not of "
            "Stan's 100. The default runs end by it, and do without refinement on fixed draws. Predictions "
            f"average {DRAWS} draws.",
            "The paper gives no figure but in its plot, and does not say how pixels were held out. NUTS, "
            "which the paper finds ten times slower, was not run.",
        ],
        picture(curves, ascents[0], faces.shape),
        {"curves": [numbers_of(c) for c in (*curves, *ascents)]},
    )


def split(frames: Floats) -> Faces:
    y = frames.reshape(len(frames), -1)
    seen = (np.random.default_rng(12).random(y.shape) >= 0.1).astype(float)
    return Faces(y, seen, frames.shape[1:])


def conditioned(program: str, faces: Faces) -> Posterior:
    given = {"U": len(faces.y), "I": faces.y.shape[1], "K": FACTORS, "y": faces.y, "seen": faces.seen}
    return compile_model(HERE / program).condition(given)


def curves_of(
    model: str, posterior: Posterior, faces: Faces, steps: tuple[int, ...], eta: float | None
) -> list[Curve]:
    given = {**SETTINGS, "eta": eta, "eval_elbo": min(100, steps[0])}
    loop = [fitted(posterior, faces, {**given, **FROM_ZERO, "iter": n, "stop": "fixed"}) for n in steps]
    own = fitted(posterior, faces, {**given, "iter": steps[-1]})
    return [as_curve(model, "paper's loop", loop), as_curve(model, "default but for refinement", [own])]


def as_curve(model: str, method: str, points: list[Fitted]) -> Curve:
    seconds, accuracy, _, _ = zip(*points, strict=True)
    factors, trace = points[-1].factors, points[-1].trace
    return Curve(model, method, list(seconds), list(accuracy), factors, int(trace[-1, 0]), rule_stops(trace))


def fitted(posterior: Posterior, faces: Faces, settings: dict[str, Any]) -> Fitted:
    began = process_time()
    fit = posterior.variational(**settings)
    seconds = process_time() - began
    theta, beta = fit.stan_variable("theta"), fit.stan_variable("beta")
    accuracy = held_out(faces, (t @ b for t, b in zip(theta, beta, strict=True)))
    return Fitted(seconds, accuracy, beta.mean(axis=0), fit.elbo_trace)


def held_out(faces: Faces, rates: Iterable[Floats]) -> float:
    """The mean over held-out pixels of the log predictive density, averaged over rates, in nats."""
    hidden = faces.seen == 0
    log_p = np.array([poisson.logpmf(faces.y[hidden], rate[hidden]) for rate in rates])
    return float(np.mean(logsumexp(log_p, axis=0) - np.log(len(log_p))))


def ascent(faces: Faces, steps: int) -> Curve:
    """Maximum likelihood by the multiplicative updates of Lee and Seung (1999), over the pixels seen."""
    began, rng = process_time(), np.random.default_rng(13)
    theta = rng.gamma(1.0, size=(len(faces.y), FACTORS))
    beta = rng.gamma(1.0, size=(FACTORS, faces.y.shape[1])) * faces.y.mean()
    for _ in range(steps):
        theta *= (faces.seen * faces.y / (theta @ beta)) @ beta.T / (faces.seen @ beta.T)
        beta *= theta.T @ (faces.seen * faces.y / (theta @ beta)) / (theta.T @ faces.seen)
    seconds = process_time() - began
    return Curve("maximum likelihood", "Lee and Seung", [seconds], [held_out(faces, [theta @ beta])], beta)


def numbers_of(curve: Curve) -> dict[str, Any]:
    """What the JSON keeps of a curve: all but the factors."""
    return {name: value for name, value in asdict(curve).items() if name != "factors"}


def table(curves: list[Curve]) -> Table:
    columns = ("fit", "held-out log density a pixel", "steps", "the rule stops at", "seconds")
    rows = [(f"{c.model}, {c.method}", c.accuracy[-1], c.steps, c.rule, c.seconds[-1]) for c in curves]
    return Table("Held-out pixels.", columns, rows, {columns[1]: ".3f", "seconds": ".0f"})


def claims(curves: list[Curve], ascent: Curve, faces: Faces) -> list[Claim]:
    alone = held_out(faces, [np.broadcast_to(faces.y.mean(axis=0), faces.y.shape)])
    gamma, dirichlet = (c for c in curves if c.method != "paper's loop")
    return [
        Claim(
            "Both factorisations predict held-out pixels.",
            f"{gamma.accuracy[-1]:.2f} and {dirichlet.accuracy[-1]:.2f} nats a pixel, beside {alone:.2f} "
            f"of every pixel's own mean and {ascent.accuracy[-1]:.2f} of maximum likelihood.",
            min(gamma.accuracy[-1], dirichlet.accuracy[-1]) > alone,
        ),
        Claim(
            "The Dirichlet-exponential factors are sparse, the Gamma-Poisson ones whole faces.",
            f"Of their pixels {dim(dirichlet.factors):.0%} and {dim(gamma.factors):.0%} lie below a tenth "
            "of the factor's largest.",
            dim(dirichlet.factors) > dim(gamma.factors),
        ),
    ]


def dim(factors: Floats) -> float:
    """The share of pixels below a tenth of their factor's largest."""
    return float((factors < 0.1 * factors.max(axis=1, keepdims=True)).mean())


def picture(curves: list[Curve], ascent: Curve, shape: tuple[int, int]) -> Figure:
    figure = Figure(figsize=(9.0, 3.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 2.2])
    ax = left.subplots()
    for curve, colour in zip(curves, (COLOURS[0], COLOURS[0], COLOURS[1], COLOURS[1]), strict=True):
        loop = curve.method == "paper's loop"
        label = f"{curve.model.removeprefix('constrained ')}, {'loop' if loop else 'own start'}"
        ax.plot(curve.seconds, curve.accuracy, "o-" if loop else "s", ms=4, lw=1, color=colour, label=label)
    ax.plot(ascent.seconds, ascent.accuracy, "^", color=INK, ms=5, label="maximum likelihood")
    ax.set_ylabel("held-out log density a pixel (nats)")
    seconds_axis(ax)
    ends = [accuracy for curve in (*curves, ascent) for accuracy in curve.accuracy]
    ax.set_ylim(max(min(ends) - 0.5, LOWEST), max(ends) + 0.5)
    legend_over(ax, 1)
    tidy(ax)
    shown = [c for c in curves if c.method != "paper's loop"]
    for part, curve in zip(right.subfigures(len(shown), 1), shown, strict=True):
        draw_factors(part, curve, shape)
    return figure


def draw_factors(figure: SubFigure, curve: Curve, shape: tuple[int, int]) -> None:
    figure.suptitle(f"factors, {curve.model}", fontsize=9)
    for panel, factor in zip(np.ravel(figure.subplots(1, FACTORS)), curve.factors, strict=True):
        panel.imshow(factor.reshape(shape), cmap="gray")
        panel.set(xticks=[], yticks=[])
