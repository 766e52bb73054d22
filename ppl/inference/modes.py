"""What of the posterior q knows nothing of: other modes, a narrow peak inside it, mass far beyond its tails.

A mode is where a climb ends.  Another one is claimed only where the straight way to it leads through a
valley, and where it has a share of the posterior's mass that matters, estimated by importance sampling from
q and from a Gaussian with the curvature of the mode.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from ppl.inference.coordinates import Scaled
from ppl.inference.gaussian import Gaussian, made_positive
from ppl.inference.hessian import hessian
from ppl.inference.mixture_sampling import Batch, log_integral, log_weights, missed
from ppl.inference.target import Array, log_densities
from ppl.inference.tempering import systematic

# Climbs begin so many at a time: some sds of q away, where runs may begin, and at the heaviest of distant
# draws.
CLIMBS, AWAY, RADIUS = 4, 3.0, 2.0
MOST_STEPS, SLOPE = 300, 1e-6
# A climb has ended at a mode where no slope is left, in nats an sd of q.
STATIONARY = 1e-3
# The way between two modes is looked at in so many places; they are one where it falls by less, in nats.
PLACES, VALLEY = 64, 1.0
# Of the posterior's mass, what another mode must have to matter, and what must lie far out or in a peak of
# q's own.
MATTERS, CLEAR = 0.01, 0.05
# Distant draws come from q widened by powers of so much.
WIDER, WIDENINGS = 3.0, 9
DRAWS = 256
# Modes whose heights and curvatures agree so well, in nats, are images of one another.
IMAGES = 0.01


@dataclass(frozen=True)
class Mode:
    """A mode in coordinates where q is standard: a Gaussian with its curvature, the log density there, and
    the share of the posterior that lies about it and not where q does.

    `image` is whether it is as high and as curved as q's own, as under a permutation of labels or signs.
    """

    gaussian: Gaussian
    height: float
    share: float
    image: bool = False

    @property
    def apart(self) -> Array:
        """How far it lies from q's mean (dim,), in sds of q."""
        return self.gaussian.mean


@dataclass(frozen=True)
class Beyond:
    """What q does not reach: other modes, and Gaussians over the rest of the mass, in coordinates where q is
    standard."""

    modes: tuple[Mode, ...] = ()
    wider: tuple[Gaussian, ...] = ()

    @property
    def gaussians(self) -> tuple[Gaussian, ...]:
        """From where annealing should begin too."""
        return (*(mode.gaussian for mode in self.modes), *self.wider)


@dataclass(frozen=True)
class Peak:
    """Where a climb ended at v (dim,), and the log density there."""

    v: Array
    height: float


def beyond(scaled: Scaled, q: Batch, rng: np.random.Generator) -> Beyond:
    """What there is beside q, whose draws are given in coordinates where it is standard."""
    with np.errstate(all="ignore"):
        distant = [
            Batch.of(wide, scaled, rng.standard_normal((DRAWS, scaled.dim))) for wide in widened(scaled.dim)
        ]
        own = climb(scaled, np.zeros(scaled.dim))
        centre = curved(scaled, own) if own else None
        starts = [*starts_of(scaled, rng), *heaviest(q, distant, rng)]
        peaks = different(scaled, own, [peak for start in starts if (peak := climb(scaled, start))])
        found = [mode for peak in peaks if (mode := mode_at(scaled, peak, q, rng))]
        modes = tuple(
            replace(mode, image=own is not None and alike(mode, own.height, centre))
            for mode in found
            if mode.share > MATTERS
        )
        return Beyond(modes, (*narrow(scaled, centre, q, rng), *outside(q, distant)))


def widened(dim: int) -> Iterator[Gaussian]:
    """q, standard here, made wider and wider."""
    for k in range(1, WIDENINGS + 1):
        yield Gaussian(np.zeros(dim), WIDER**k * np.eye(dim))


def starts_of(scaled: Scaled, rng: np.random.Generator) -> Iterator[Array]:
    yield from AWAY * rng.standard_normal((CLIMBS, scaled.dim))
    uniform = rng.uniform(-RADIUS, RADIUS, (CLIMBS, scaled.dim)) - scaled.centre
    yield from np.linalg.solve(scaled.factor, uniform.T).T


def heaviest(q: Batch, distant: list[Batch], rng: np.random.Generator) -> Iterator[Array]:
    """Some of the distant draws, in proportion to their importance."""
    weights = np.concatenate(log_weights([q, *distant])[1:])
    if np.isfinite(weights).any():
        points = np.concatenate([batch.u for batch in distant])
        yield from points[systematic(weights, CLIMBS, rng)]


def climb(scaled: Scaled, start: Array) -> Peak | None:
    """The mode above a point; None where the climb ends at none, as in a funnel."""

    def objective(v: Array) -> tuple[float, Array]:
        value, gradient = scaled.log_density_gradient(v)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return 1e300, np.zeros_like(v)
        return -value, -gradient

    if objective(start)[0] == 1e300:
        return None
    options = {"maxiter": MOST_STEPS, "ftol": 0.0, "gtol": SLOPE, "maxcor": 20}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return Peak(found.x, -float(found.fun)) if np.abs(found.jac).max() < STATIONARY else None


def different(scaled: Scaled, own: Peak | None, found: list[Peak]) -> list[Peak]:
    """Those that are not q's own mode nor one another's, the highest first."""
    known = [own] if own else []
    for peak in sorted(found, key=lambda peak: -peak.height):
        if all(valley(scaled, peak, other) > VALLEY for other in known):
            known.append(peak)
    return known[1:] if own else known


def valley(scaled: Scaled, one: Peak, other: Peak) -> float:
    """How far the log density falls below the lower of two modes on the straight way between them."""
    along = np.linspace(0, 1, PLACES)[:, None]
    lowest = np.nan_to_num(log_densities(scaled, one.v + along * (other.v - one.v)), nan=-np.inf).min()
    return float(min(one.height, other.height) - lowest)


def mode_at(scaled: Scaled, peak: Peak, q: Batch, rng: np.random.Generator) -> Mode | None:
    """The mode with its curvature and its share; None where it has no curvature."""
    local = curved(scaled, peak)
    if local is None:
        return None
    there = Batch.of(local, scaled, rng.standard_normal((DRAWS, scaled.dim)))
    return Mode(local, peak.height, missed(q, there))


def alike(mode: Mode, height: float, centre: Gaussian | None) -> bool:
    """Whether a mode is as high and as curved as q's own."""
    if centre is None or abs(mode.height - height) > IMAGES:
        return False
    return abs(mode.gaussian.half_log_det - centre.half_log_det) < IMAGES


def curved(scaled: Scaled, peak: Peak) -> Gaussian | None:
    """The Gaussian with the curvature at a mode."""
    curve = -hessian(scaled, peak.v, np.ones(scaled.dim))
    if not np.isfinite(curve).all():
        return None
    try:
        return Gaussian.with_precision(peak.v, made_positive(curve)[0], np.ones(scaled.dim))
    except np.linalg.LinAlgError:
        return None


def narrow(scaled: Scaled, centre: Gaussian | None, q: Batch, rng: np.random.Generator) -> Iterator[Gaussian]:
    """The peak of q's own mode, where it holds mass in so small a place that draws of q do not see it."""
    if centre is not None:
        there = Batch.of(centre, scaled, rng.standard_normal((DRAWS, scaled.dim)))
        if missed(q, there) > CLEAR:
            yield centre


def outside(q: Batch, distant: list[Batch]) -> Iterator[Gaussian]:
    """Those of the widened Gaussians that see mass which q does not."""
    weights = log_weights([q, *distant])
    total = log_integral(weights)
    if not -np.expm1(min(0.0, log_integral(log_weights([q])) - total)) > CLEAR:
        return
    every = np.log(sum(map(len, weights)))
    for wide, own in zip(widened(q.u.shape[1]), weights[1:], strict=True):
        if np.logaddexp.reduce(own) - every - total > np.log(CLEAR):
            yield wide
