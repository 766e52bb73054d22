"""One gradient of `reduce_sum` over many rows: as it is, on two threads by autograd, and by JAX.

    python -m tests.benchmarks.slices 200000

Of two threads each takes half of the rows, a posterior of its own with all that the compiler computes of data
once: as well as slices on threads could do.
"""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import ppl
from ppl.methods.run.settings import Settings
from ppl.run.backend import jax_target
from ppl.run.posterior_target import PosteriorTarget
from tests.benchmarks.clock import head, machine, row

ROUNDS = 20
SLICED = """
functions {{ real part_lpmf(array[] int y, int s, int e, vector x, {arguments}) {{ {body} }} }}
data {{ int N; array[N] int y; vector[N] x; }}
parameters {{ {parameters} }}
model {{ target += reduce_sum(part_lupmf, y, 1, x, {shared}); }}
"""
PROGRAMS = {
    "logit": ("real a; real b;", "return bernoulli_logit_lupmf(y | a + b * x[s:e]);"),
    "negative binomial": (
        "real a; real b; real<lower=0> phi;",
        "return neg_binomial_2_log_lupmf(y | a + b * x[s:e], phi);",
    ),
    "mixture": (
        "real a; real b; real<lower=0, upper=1> p;",
        "real t = 0; for (i in 1:size(y)) t += log_mix(p, poisson_log_lpmf(y[i] | a + x[s + i - 1]),"
        " poisson_log_lpmf(y[i] | b)); return t;",
    ),
}


def model_of(name: str) -> ppl.Model:
    parameters, body = PROGRAMS[name]
    names = [word.split()[-1] for word in parameters.split(";")[:-1]]
    arguments, shared = ", ".join(f"real {n}" for n in names), ", ".join(names)
    return ppl.compile_model(
        SLICED.format(arguments=arguments, body=body, parameters=parameters, shared=shared)
    )


def halves(model: ppl.Model, y: np.ndarray, x: np.ndarray, parts: int) -> list[ppl.Posterior]:
    pieces = zip(np.array_split(y, parts), np.array_split(x, parts), strict=True)
    return [model.condition({"N": len(ys), "y": ys, "x": xs}) for ys, xs in pieces]


def timed(f: Callable[[], Any]) -> tuple[float, float, float]:
    """Milliseconds: the shortest by the clock, of processor in the median, and of its busiest thread."""
    f()
    before, walls, cpu = by_thread(), [], []
    for _ in range(ROUNDS):
        processor, wall = time.process_time(), time.perf_counter()
        f()
        walls.append(time.perf_counter() - wall)
        cpu.append(time.process_time() - processor)
    busiest = max(after - before.get(thread, 0) for thread, after in by_thread().items())
    return 1e3 * min(walls), 1e3 * float(np.median(cpu)), busiest / 1e6 / ROUNDS


def by_thread() -> dict[str, int]:
    """Nanoseconds of processor of each thread of this process, as Linux counts them."""
    tasks = Path("/proc/self/task")
    return {task.name: int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()}


def table(rows: int) -> Iterator[str]:
    yield machine()
    yield ""
    yield from head("program", "how", "shortest ms", "ms of processor", "in the busiest thread")
    rng = np.random.default_rng(1)
    y, x = rng.integers(0, 2, rows), rng.normal(size=rows)
    for name in PROGRAMS:
        model = model_of(name)
        (whole,), two = halves(model, y, x, 1), halves(model, y, x, 2)
        u = np.full(whole.param_unc_num(), 0.1)
        by_jax = jax_target(PosteriorTarget(whole), Settings(backend="jax"))
        with ThreadPoolExecutor(2) as pool:
            ways: dict[str, Callable[[], Any]] = {
                "autograd": lambda p=whole, u=u: p.log_density_gradient(u),
                "autograd, two halves": lambda ps=two, u=u: [p.log_density_gradient(u) for p in ps],
                "autograd, on two threads": lambda ps=two, u=u, pool=pool: list(
                    pool.map(lambda p: p.log_density_gradient(u), ps)
                ),
                "jax": lambda t=by_jax, u=u: t.log_density_gradient(u),
            }
            for how, way in ways.items():
                yield row(name, how, *timed(way))


if __name__ == "__main__":
    for line in table(int(sys.argv[1])):
        print(line, flush=True)
