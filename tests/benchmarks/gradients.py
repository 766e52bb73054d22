"""Microseconds a gradient of the log density, beside the same density written in JAX by hand."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import ppl
from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.jax_by_hand import BY_HAND
from tests.benchmarks.problems import Problem

AT_LEAST = 0.05  # seconds a measurement lasts
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
    """What measures each way, in microseconds; ValueError when the ways do not agree."""
    value, _ = posterior.log_density_gradient(u)
    ways: dict[str, Callable[[], Any]] = {"autograd": lambda: posterior.log_density_gradient(u)}
    if problem.name in BY_HAND:
        data = {k: v if np.ndim(v) == 0 else jnp.asarray(v) for k, v in problem.data().items()}  # type: ignore[operator]
        by_hand = jax.jit(jax.value_and_grad(BY_HAND[problem.name](**data)))
        if abs(float(by_hand(u)[0]) - value) > AGREE * abs(value):
            raise ValueError(f"{problem.name}: {by_hand(u)[0]} by hand, but {value}")
        ways["by hand"] = lambda: jax.block_until_ready(by_hand(u))
    return {name: lambda f=f: microseconds(f) for name, f in ways.items()}  # type: ignore[misc]


def microseconds(f: Callable[[], Any]) -> float:
    """Of one call, from as many as fill AT_LEAST."""
    f()
    calls, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < AT_LEAST:
        f()
        calls += 1
    return 1e6 * spent / calls
