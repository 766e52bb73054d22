"""Chains of nutpie's No-U-Turn sampler on a density over R^dim (needs the extra `sample`).

Hoffman and Gelman (2014), JMLR 15, with the draws of Betancourt (2017), arXiv:1701.02434, appendix A.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from ppl.errors import InferenceError
from ppl.floats import Floats
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.families.family import Family
from ppl.kernel.advi.gaussian import MOST_DENSE
from ppl.kernel.advi.start import Init, Warm, start_point
from ppl.kernel.advi.target import Target
from ppl.kernel.advi.triangular import solved
from ppl.methods.run.settings import SampleSettings
from ppl.records import dataclass
from ppl.system.distribution import extra, requirements

STATISTICS = ("logp", "mean_tree_accept", "step_size", "depth", "n_steps", "diverging", "energy")
"""The names that nutpie gives the columns of `Draws.statistics`."""
STEPS, DIVERGING, DEPTH = (STATISTICS.index(name) for name in ("n_steps", "diverging", "depth"))


class Unsupported(Exception):
    """A point off the support: nutpie ends the trajectory there, as for a divergence."""

    is_recoverable = True


@dataclass(frozen=True, eq=False)
class NutsDraws:
    """Unconstrained draws (draws, dim), and STATISTICS (draws, 7) of their trajectories."""

    u: Floats
    statistics: Floats

    def first(self, n: int) -> "NutsDraws":
        return NutsDraws(self.u[:n], self.statistics[:n])

    def after(self, n: int) -> "NutsDraws":
        return NutsDraws(self.u[n:], self.statistics[n:])

    def concatenated_with(self, other: "NutsDraws") -> "NutsDraws":
        return NutsDraws(np.vstack([self.u, other.u]), np.vstack([self.statistics, other.statistics]))

    @property
    def leapfrogs(self) -> float:
        """How many steps they took in all, which is what they cost."""
        return float(self.statistics[:, STEPS].sum())


@dataclass(frozen=True, eq=False)
class Chain:
    """Warmup and draws; what the warmup ended with: the inverse metric's diagonal (dim,), the step size."""

    warmup: NutsDraws
    draws: NutsDraws
    inverse_metric: Floats
    stepsize: float


@dataclass(frozen=True, eq=False)
class Start:
    """Where a chain starts: a point `v` (dim,) of `target`, whose own metric is at first the unit one."""

    target: Target
    v: Floats


def start_of(target: Target, init: Init, rng: np.random.Generator) -> Start:
    """The start that `init` means: of an earlier q a draw, in coordinates in which q has unit scales.

    nutpie takes no metric to begin with, so the coordinates are changed instead, which is the same: HMC with
    inverse metric A A' on u is HMC with the unit metric on v, where u = A v (Neal 2011, section 4.1).

    Raises:
        InferenceError: no such point has a finite log density.
    """
    if not isinstance(init, Warm) or not init.family.scales(init.params).all():  # of a mode there are none
        return Start(target, start_point(target, init, rng))
    own = Scaled(target, init.mean, factor_of(init.family, init.params))
    drawn = init.family.transform(init.params, init.family.noise(1, rng))
    v = solved(own.factor, drawn - own.centre)[0]
    value, gradient = own.log_density_gradient(v)
    if np.isfinite(value) and np.isfinite(gradient).all():
        return Start(own, v)
    return Start(own, start_point(own, np.zeros(own.dim), rng))


def factor_of(family: Family, params: Floats) -> Floats:
    """The A that gives q unit scales: lower-triangular (dim, dim) where q knows correlations, or (dim,)."""
    if family.dim > MOST_DENSE:
        return family.scales(params)
    covariance = family.covariance(params)
    if (covariance == np.diag(np.diag(covariance))).all():
        return family.scales(params)
    return np.asarray(np.linalg.cholesky(covariance), dtype=float)


SECONDS_A_LOOK = 0.1
"""Seconds between two looks at whether something failed in the thread of a chain."""

Made = Callable[[int, int], None]
"""Called with the position of a chain and the number of its draw, warmup included, from 1."""


def run_chains(
    starts: Sequence[Start],
    settings: SampleSettings,
    seeds: Sequence[int],
    report: Made = lambda k, n: None,
    until: float = inf,
) -> list[Chain | None]:
    """A chain from each start by the seed at its place, each in a thread of its own.

    The draws are those that each would have alone. Ctrl-C ends them where they are, as does the clock
    `perf_counter` at `until`, with the draws that there are; of a chain that is still in its warmup there are
    none, and it is None.

    Raises:
        MissingPackage: nutpie is not installed.
        InferenceError: a statement of the program cannot be computed at a point; names it.
        BaseException: what `report` raised.
    """
    failed: list[BaseException] = []
    chains = enumerate(zip(starts, seeds, strict=True))
    samplers = [_begun(start, settings, seed, partial(report, k), failed) for k, (start, seed) in chains]
    traces, stopped = [], False
    try:
        for sampler in samplers:
            try:
                traces.append(sampler.abort() if stopped else _ended(sampler, failed, until))
            except (KeyboardInterrupt, TimeoutError):
                stopped = True
                traces.append(sampler.abort())
    except RuntimeError:
        if not failed:
            raise
    finally:
        for sampler in samplers[len(traces) :]:
            sampler.cancel()
    if failed and not stopped:
        raise failed[0]
    return [_in_u(start, _chain_of(trace)) for start, trace in zip(starts, traces, strict=True)]


def _ended(sampler: Any, failed: Sequence[BaseException], until: float) -> Any:
    """The trace of a sampler once it has ended, unless something failed in its thread.

    Raises:
        TimeoutError: it has not ended at `until`.
        BaseException: what failed.
    """
    while True:
        try:
            return sampler.wait(timeout=max(0.0, min(SECONDS_A_LOOK, until - perf_counter())))
        except TimeoutError:
            if failed:
                raise failed[0] from None
            if perf_counter() >= until:
                raise


def _begun(
    start: Start,
    settings: SampleSettings,
    seed: int,
    report: Callable[[int], None],
    failed: list[BaseException],
) -> Any:
    """nutpie's sampler, at work in a thread."""
    nutpie = extra("nutpie", "sample", *requirements("sample"))
    return nutpie.sample(
        _compiled(start, report, failed),
        draws=settings.num_samples,
        tune=settings.num_warmup,
        chains=1,
        cores=1,
        seed=seed,
        progress_bar=False,
        store_mass_matrix=True,
        target_accept=settings.delta,
        maxdepth=settings.max_depth,
        blocking=False,
    )


def _chain_of(trace: Any) -> Chain | None:
    if not trace["posterior"].sizes["draw"]:  # stopped in the warmup
        return None
    metrics = _inverse_metrics(trace)
    n_warmup = len(metrics) - trace["posterior"].sizes["draw"]
    warmup, draws = _draws(trace, "warmup_", metrics[:n_warmup]), _draws(trace, "", metrics[n_warmup:])
    stepsize = float(np.asarray(trace["sample_stats"]["step_size_bar"])[0, -1])
    return Chain(warmup, draws, metrics[-1], stepsize)


def _samples_scaled(trace: Any) -> bool:
    """Whether nutpie sampled in scaled coordinates, as it does from 0.16.9 on."""
    return "transformation_index" in trace["sample_stats"]


def _inverse_metrics(trace: Any) -> Floats:
    """The diagonal of the inverse metric of every draw (draws, dim), the warmup first.

    Where nutpie samples in scaled coordinates it records the scales, and only where they have changed.
    """
    phases = (trace["warmup_sample_stats"], trace["sample_stats"])
    metrics = np.concatenate([np.asarray(phase["mass_matrix_inv"])[0] for phase in phases])
    if not _samples_scaled(trace):
        return metrics
    changed = np.where(np.isfinite(metrics).all(axis=1), np.arange(len(metrics)), 0)
    return np.asarray(metrics[np.maximum.accumulate(changed)] ** 2)


def _in_u(start: Start, chain: Chain | None) -> Chain | None:
    """The chain in the coordinates of the target that the start was made for."""
    own = start.target
    if chain is None or not isinstance(own, Scaled):
        return chain

    def to_own_u(draws: NutsDraws) -> NutsDraws:
        statistics = draws.statistics.copy()
        statistics[:, 0] -= own.log_jacobian
        statistics[:, -1] += own.log_jacobian
        return NutsDraws(own.to_u(draws.u), statistics)

    factor = own.factor
    metric = factor**2 * chain.inverse_metric if factor.ndim == 1 else factor**2 @ chain.inverse_metric
    return Chain(to_own_u(chain.warmup), to_own_u(chain.draws), np.asarray(metric), chain.stepsize)


def _draws(trace: Any, phase: str, metrics: Floats) -> NutsDraws:
    statistics = trace[f"{phase}sample_stats"]
    columns = {name: np.asarray(statistics[name])[0] for name in STATISTICS}
    if _samples_scaled(trace):  # then the energy has the log-Jacobian of the scales
        columns["energy"] = columns["energy"] - 0.5 * np.log(metrics).sum(axis=1)
    u = np.asarray(trace[f"{phase}posterior"]["u"])[0]
    return NutsDraws(u, np.column_stack([*columns.values()]).astype(float))


def _compiled(start: Start, report: Callable[[int], None], failed: list[BaseException]) -> Any:
    """The log density as nutpie wants it: makers of plain functions of the unconstrained vector."""
    from nutpie.compiled_pyfunc import from_pyfunc

    target, count = start.target, 0
    first = off_the_flat(target, start.v)

    def log_density_gradient(u: Floats) -> tuple[float, Floats]:
        if failed:
            raise Unsupported
        try:
            value, gradient = target.log_density_gradient(u)
        except Exception as error:  # as above
            failed.append(error)
            raise Unsupported from None
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise Unsupported
        return value, gradient

    def expand(u: Floats) -> Mapping[str, Floats]:
        nonlocal count
        count += 1
        try:
            report(count)
        except BaseException as error:  # nutpie would panic
            failed.append(error)
        return {"u": np.copy(u)}

    makers: tuple[Any, ...] = (
        lambda: log_density_gradient,
        lambda seed1, seed2, chain: expand,
    )
    values = ([np.dtype(np.float64)], [(target.dim,)], ["u"])
    return from_pyfunc(target.dim, *makers, *values, make_initial_point_fn=lambda seed: first)


NUDGE = 1e-4
"""How far a start is moved, relative to 1 and to itself, where the gradient is exactly 0."""


def off_the_flat(target: Target, v: Floats) -> Floats:
    """A start (dim,) at which no entry of the gradient is 0: nutpie's first metric divides by each.

    Raises:
        InferenceError: the density does not depend on a coordinate near `v`.
    """
    flat = target.log_density_gradient(v)[1] == 0
    if not flat.any():
        return v
    nudged = np.where(flat, v + NUDGE * (1 + np.abs(v)), v)
    still = np.flatnonzero(target.log_density_gradient(nudged)[1] == 0)
    if still.size:
        raise InferenceError(
            f"The log density is flat in coordinate {still[0] + 1} of the unconstrained parameters near the "
            "start, so NUTS has no scale for it. Start elsewhere, or give the parameter a prior."
        )
    return nudged


def seed_of(seed: int, number: int) -> int:
    """The seed of chain `number` of a run with `seed`."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
