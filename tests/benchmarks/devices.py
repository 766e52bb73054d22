"""Programs and large regressions on a device of JAX, beside its CPU: agreement with autograd, and seconds.

    python -m tests.benchmarks.devices gpu --programs models tests/conformance/programs
    python -m tests.benchmarks.devices gpu --rows 1000000

Wall-clock seconds: a device computes while the processor waits.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import ppl
from ppl.jax_backend.jit import device_of, make_ready
from ppl.jax_backend.not_traceable import NotTraceable
from ppl.jax_backend.target import compiled_target
from tests.benchmarks.clock import head, row

LOGISTIC = """
data { int N; int K; matrix[N, K] x; array[N] int<lower=0, upper=1> y; }
parameters { real a; vector[K] b; }
model { a ~ normal(0, 2); b ~ normal(0, 1); y ~ bernoulli_logit_glm(x, a, b); }
"""
GROUPS = """
data { int N; int K; int J; matrix[N, K] x; array[N] int<lower=1, upper=J> g; vector[N] y; }
parameters { real mu; real<lower=0> tau; real<lower=0> sigma; vector[K] b; vector[J] a; }
model {
  mu ~ normal(0, 5); tau ~ normal(0, 2); sigma ~ normal(0, 2); b ~ normal(0, 1);
  a ~ normal(mu, tau);
  y ~ normal(a[g] + x * b, sigma);
}
"""


def data(rows: int, predictors: int, groups: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    x, g = rng.normal(size=(rows, predictors)), rng.integers(1, groups + 1, rows)
    mean = x @ rng.normal(0, 0.3, predictors)
    shared = {"N": rows, "K": predictors, "x": x}
    if groups == 1:
        return {**shared, "y": (rng.uniform(size=rows) < 1 / (1 + np.exp(-mean))).astype(int)}
    y = mean + rng.normal(1, 0.7, groups)[g - 1] + rng.normal(size=rows)
    return {**shared, "J": groups, "g": g, "y": y}


def agreement(folders: list[Path], device: str) -> Iterator[str]:
    """One row a program: the largest relative error of eight values and gradients, or why there are none."""
    yield from head("program", "d", "error", "ms a gradient", "ms 256 gradients")
    for file in sorted(f for folder in folders for f in [*folder.glob("*/*.model"), *folder.glob("*.stan")]):
        if not file.with_suffix(".data.json").exists():
            continue
        posterior = ppl.compile_model(file).condition(file.with_suffix(".data.json"))
        us = np.random.default_rng(1).normal(0, 0.3, (256, posterior.param_unc_num()))
        try:
            target = compiled_target(posterior, device=device_of(device))
        except NotTraceable as why:
            yield row(file.stem, us.shape[1], str(why), "", "")
            continue
        own, known = target.log_density_gradients(us[:8]), posterior.log_density_gradients(us[:8])
        error = max(relative_error(a, b) for a, b in zip(own, known, strict=True))
        one = milliseconds(lambda target=target, us=us: target.log_density_gradient(us[0]))
        many = milliseconds(lambda target=target, us=us: target.log_density_gradients(us))
        yield row(file.stem, us.shape[1], error, one, many)


def relative_error(a: Any, b: Any) -> float:
    """The largest |a - b| / (1 + |b|); what is no number in both is equal."""
    differ = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    return float(np.max(np.abs(a - b)[differ] / (1 + np.abs(b[differ])), initial=0.0))


def milliseconds(call: Callable[[], Any]) -> float:
    """The shortest of five calls, after one that compiles."""
    call()
    seconds = []
    for _ in range(5):
        began = perf_counter()
        call()
        seconds.append(perf_counter() - began)
    return 1000 * min(seconds)


def large(rows: int, device: str) -> Iterator[str]:
    """Gradients and default fits: logistic regression, and a hierarchical one with a tenth of its rows."""
    yield from head("program", "rows", "device", "ms a gradient", "ms 64 gradients", "s a fit", "verdict")
    for name, program, given in (
        ("logistic, 20 predictors", LOGISTIC, data(rows, 20, 1)),
        ("hierarchical, 500 groups", GROUPS, data(rows // 10, 5, 500)),
    ):
        posterior = ppl.compile_model(program).condition(given)
        us = np.random.default_rng(1).normal(0, 0.1, (64, posterior.param_unc_num()))
        for where in dict.fromkeys(("cpu", device)):
            target = compiled_target(posterior, device=device_of(where))
            one = milliseconds(lambda target=target, us=us: target.log_density_gradient(us[0]))
            many = milliseconds(lambda target=target, us=us: target.log_density_gradients(us))
            began = perf_counter()
            fit = posterior.variational(seed=1, backend="jax", device=where)
            seconds = perf_counter() - began
            yield row(name, given["N"], where, one, many, seconds, fit.level.value)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("device", choices=("cpu", "gpu"))
    parser.add_argument("--programs", type=Path, nargs="*", default=[])
    parser.add_argument("--rows", type=int, default=0)
    given = parser.parse_args()
    make_ready()
    if given.programs:
        print(*agreement(given.programs, given.device), sep="\n", flush=True)
    if given.rows:
        print(*large(given.rows, given.device), sep="\n", flush=True)


if __name__ == "__main__":
    main()
