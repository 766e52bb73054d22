"""Microseconds a gradient of the log density, beside the same density written in JAX by hand.

Either has as many threads of BLAS as a fit has: those that wait by spinning would count as work.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import ppl
from ppl.density.rows import by_rows
from ppl.system.threads import as_many_threads_as_pay
from tests.benchmarks.clock import alternate, head, machine, row
from tests.benchmarks.jax_by_hand import BY_HAND
from tests.benchmarks.problems import Problem
from tests.benchmarks.programs import microseconds, on_backend

AGREE = 1e-8
WAYS = ("autograd", "jax", "by hand")


def table(problems: Sequence[Problem], rounds: int) -> Iterator[str]:
    """One row a problem: each backend, JAX by hand, and the ratio to it."""
    jax.config.update("jax_enable_x64", True)
    yield machine()
    yield ""
    yield from head("program", "d", *WAYS, "jax / by hand")
    for problem in problems:
        posterior = ppl.compile_model(problem.program).condition(problem.values())
        u = np.random.default_rng(0).normal(0.0, 0.1, posterior.param_unc_num())
        with as_many_threads_as_pay(vars(posterior.d), lambda posterior=posterior: posterior.width):
            found = alternate(rounds, tasks(problem, posterior, u))
        times = [found.get(name, float("nan")) for name in WAYS]
        yield row(problem.name, len(u), *times, times[1] / times[2])
        jax.clear_caches()


def tasks(problem: Problem, posterior: ppl.Posterior, u: Any) -> dict[str, Callable[[], float]]:
    """What measures each way, in microseconds of CPU; ValueError when the ways do not agree.

    Of a problem that is fitted to minibatches it is the gradient of one.
    """
    rows = _some_rows(problem, posterior)
    targets = {backend: on_backend(posterior, backend, rows) for backend in WAYS[:2]}
    ways = {name: target.log_density_gradient for name, target in targets.items() if target is not None}
    if problem.name in BY_HAND:
        given = () if rows is None else (jnp.asarray(rows),)
        by_hand = jax.jit(jax.value_and_grad(BY_HAND[problem.name](**on_device(problem))))
        value, known = float(by_hand(u, *given)[0]), ways["autograd"](u)[0]
        if abs(value - known) > AGREE * abs(known):
            raise ValueError(f"{problem.name}: {value} by hand, but {known}")
        ways["by hand"] = lambda u: [np.asarray(part) for part in by_hand(u, *given)]
    return {name: lambda way=way: microseconds(lambda: way(u)) for name, way in ways.items()}


def _some_rows(problem: Problem, posterior: ppl.Posterior) -> Any:
    if problem.minibatch is None:
        return None
    n_rows = by_rows(posterior).n_rows
    return np.sort(np.random.default_rng(1).choice(n_rows, problem.minibatch, replace=False))


def on_device(problem: Problem) -> dict[str, Any]:
    """The simulated data as JAX holds them; sizes stay plain."""
    assert callable(problem.data)
    return {k: v if np.ndim(v) == 0 else jnp.asarray(v) for k, v in problem.data().items()}
