"""Microseconds a gradient of the log density, beside the same density written in JAX by hand."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import ppl
from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.jax_by_hand import BY_HAND
from tests.benchmarks.problems import Problem
from tests.benchmarks.programs import microseconds, timed

AGREE = 1e-8


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    """One row a problem: each backend, JAX by hand, and the ratio to it."""
    jax.config.update("jax_enable_x64", True)
    yield machine()
    yield ""
    yield from head("program", "d", "autograd", "jax", "by hand", "jax / by hand")
    for problem in problems:
        posterior = ppl.compile_model(problem.program).condition(problem.values())
        u = np.random.default_rng(0).normal(0.0, 0.1, posterior.param_unc_num())
        found = alternate(rounds, tasks(problem, posterior, u))
        times = [found.get(name, float("nan")) for name in ("autograd", "jax", "by hand")]
        yield row(problem.name, len(u), *times, times[1] / times[2])


def tasks(problem: Problem, posterior: Any, u: Any) -> dict[str, Callable[[], float]]:
    """What measures each way, in microseconds of CPU; ValueError when the ways do not agree."""
    ways = {backend: timed(posterior, backend, u) for backend in ("autograd", "jax")}
    if problem.name in BY_HAND:
        by_hand = jax.jit(jax.value_and_grad(BY_HAND[problem.name](**on_device(problem))))
        value, known = float(by_hand(u)[0]), posterior.log_density(u)
        if abs(value - known) > AGREE * abs(known):
            raise ValueError(f"{problem.name}: {value} by hand, but {known}")
        ways["by hand"] = lambda: microseconds(lambda: [np.asarray(part) for part in by_hand(u)])
    return {name: way for name, way in ways.items() if way is not None}


def on_device(problem: Problem) -> dict[str, Any]:
    """The simulated data as JAX holds them; sizes stay plain."""
    assert callable(problem.data)
    return {k: v if np.ndim(v) == 0 else jnp.asarray(v) for k, v in problem.data().items()}
