"""The No-U-Turn sampler as a baseline: nutpie over a posterior's own log density and gradient."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import nutpie
from numpy.typing import NDArray
from nutpie.compiled_pyfunc import from_pyfunc

from ppl import Posterior

Floats = NDArray[np.float64]


class Unsupported(Exception):
    """A point without a finite density: the trajectory ends there, as for a divergence."""

    is_recoverable = True


@dataclass(frozen=True)
class Chain:
    """Draws on the unconstrained scale, warmup first, and the processor seconds at which each was there.

    Attributes:
        warmup: draws (tune, dim) of the adaptation.
        draws: draws (n, dim).
        seconds: of each of both, (tune + n,); the total, spread in proportion to leapfrog steps.
        divergent: how many trajectories after warmup diverged.
    """

    warmup: Floats
    draws: Floats
    seconds: Floats
    divergent: int


def nuts(
    posterior: Posterior,
    draws: int = 1000,
    tune: int = 500,
    seed: int = 1,
    maxdepth: int = 10,
    start: Floats | None = None,
) -> Chain:
    """One chain from `start` (dim,), or from a draw of a standard normal around zero."""
    began = process_time()
    trace = nutpie.sample(
        compiled(posterior, start),
        draws=draws,
        tune=tune,
        chains=1,
        cores=1,
        seed=seed,
        maxdepth=maxdepth,
        progress_bar=False,
    )
    total = process_time() - began
    steps = np.concatenate([np.ravel(trace[f"{p}sample_stats"]["n_steps"]) for p in ("warmup_", "")])
    return Chain(
        np.asarray(trace["warmup_posterior"]["u"])[0],
        np.asarray(trace["posterior"]["u"])[0],
        total * np.cumsum(steps) / steps.sum(),
        int(np.sum(trace["sample_stats"]["diverging"])),
    )


def compiled(posterior: Posterior, start: Floats | None = None) -> Any:
    """The log density as nutpie wants it: makers of plain functions of the unconstrained vector."""
    dim = posterior.param_unc_num()

    def log_density_gradient(u: Floats) -> tuple[float, Floats]:
        value, gradient = posterior.log_density_gradient(u)
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise Unsupported
        return value, gradient

    def expand(u: Floats) -> Mapping[str, Floats]:
        return {"u": np.copy(u)}

    def first(seed: int) -> Floats:
        return np.random.default_rng(seed).standard_normal(dim) if start is None else start

    make_expand: Callable[..., Any] = lambda seed1, seed2, chain: expand  # noqa: E731
    return from_pyfunc(
        dim,
        lambda: log_density_gradient,
        make_expand,
        [np.dtype(np.float64)],
        [(dim,)],
        ["u"],
        make_initial_point_fn=first,
    )


def constrained(posterior: Posterior, us: Floats) -> Floats:
    """Each row in the program's own parameters, in the order of `param_names`."""
    return np.array([posterior.param_constrain(u) for u in us])
