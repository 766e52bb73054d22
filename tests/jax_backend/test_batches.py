"""Some rows at a time, gathered by compiled code."""

from dataclasses import replace

import numpy as np
import pytest

import ppl

pytest.importorskip("jax")

from ppl.density.rows import ByRows, by_rows
from ppl.jax_backend.batches import CompiledByRows, compiled_by_rows
from ppl.kernel.advi.estimators.reparameterised import reparameterised
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.fused_steps import fused_steps
from ppl.kernel.advi.optimise import Algorithm, advance, begin
from ppl.kernel.advi.steps.adaptive import Adam
from ppl.kernel.advi.steps.step_rule import Last
from ppl.kernel.advi.stopping.stopping_rule import FixedIterations
from ppl.kernel.advi.subsampling import Minibatches
from ppl.methods.run.settings import Settings
from ppl.run.target import target_of

PROGRAM = """
data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] x; array[N] int<lower=0> y; }
parameters { real mu; real<lower=0> tau; vector[J] z; real b; vector[N] e; }
model {
  mu ~ normal(0, 1);
  tau ~ normal(0, 1);
  z ~ normal(0, 1);
  e ~ normal(0, 0.1);
  for (n in 1:N) y[n] ~ poisson_log(mu + tau * z[g[n]] + b * x[n] + e[n]);
}
"""
N = 23


@pytest.fixture(scope="module")
def plain() -> ByRows:
    rng = np.random.default_rng(1)
    data = {"N": N, "J": 4, "g": rng.integers(1, 5, N), "x": rng.normal(size=N), "y": rng.poisson(2.0, N)}
    return by_rows(ppl.compile_model(PROGRAM).condition(data), "N")


@pytest.fixture(scope="module")
def compiled(plain: ByRows) -> CompiledByRows:
    return compiled_by_rows(plain)


@pytest.mark.rotate
@pytest.mark.parametrize("rows", [np.array([0, 3, 22]), np.arange(N), np.array([7])])
def test_a_batch_is_that_of_autograd(plain: ByRows, compiled: CompiledByRows, rows: np.ndarray) -> None:
    us = np.random.default_rng(2).normal(size=(5, plain.dim))
    expected = plain.minibatch(rows)
    batch = compiled.minibatch(rows)
    for got, want in zip(
        batch.log_density_gradient(us[0]), expected.log_density_gradient(us[0]), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(batch.log_densities(us), expected.log_densities(us), rtol=1e-10)


def test_by_itself_it_is_the_whole(plain: ByRows, compiled: CompiledByRows) -> None:
    us = np.random.default_rng(3).normal(size=(3, plain.dim))
    np.testing.assert_allclose(compiled.log_densities(us), plain.log_densities(us), rtol=1e-10)
    np.testing.assert_allclose(compiled.log_density(us[0]), plain.log_density(us[0]), rtol=1e-10)


def test_a_leap_takes_each_step_on_its_own_rows(plain: ByRows, compiled: CompiledByRows) -> None:
    """Batches of 5 of 23 rows: the last of an epoch has 3, and fused steps end before it and after it."""
    parts = Algorithm(
        MeanField(plain.dim),
        reparameterised,
        Adam(0.05),
        FixedIterations(12),
        Last(),
        12,
        2,
        10,
        12,
        Minibatches(5, 4),
    )
    run = expected = begin(parts, parts.family.start(np.zeros(plain.dim)))
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    ends = []
    while run.iteration < 12:
        run = fused_steps(parts, compiled, run, rng, 12)
        ends.append(run.iteration)
    for _ in range(12):
        expected = advance(parts, plain, expected, other)
    assert ends == [4, 5, 9, 10, 12]
    np.testing.assert_allclose(run.params, expected.params, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(run.bounds, expected.bounds, rtol=1e-9)


@pytest.mark.rotate
@pytest.mark.parametrize("at_once", [5, 9, 23])
def test_rows_a_few_after_the_other(plain: ByRows, compiled: CompiledByRows, at_once: int) -> None:
    density = replace(compiled.batch.density, at_once=at_once)
    few = replace(compiled, batch=replace(compiled.batch, density=density))
    rows, us = np.random.default_rng(2).integers(0, plain.n_rows, 23), np.ones((3, plain.dim)) / 3
    expected, gradients = plain.minibatch(rows).log_density_gradients(us)
    np.testing.assert_allclose(few.minibatch(rows).log_densities(us), expected, rtol=1e-10)
    np.testing.assert_allclose(few.minibatch(rows).log_density_gradients(us)[1], gradients, rtol=1e-9)


def test_batches_of_one_size_share_a_compilation(compiled: CompiledByRows, traces: list[object]) -> None:
    u = np.zeros(compiled.dim)
    compiled.minibatch(np.array([1, 2])).log_density_gradient(u)
    traced = len(traces)
    compiled.minibatch(np.array([5, 9])).log_density_gradient(u + 0.1)
    assert len(traces) == traced


def test_what_was_compiled_of_rows_serves_the_next_fit(plain: ByRows) -> None:
    settings = Settings(minibatch=5, backend="jax")
    assert target_of(plain.posterior, settings) is target_of(plain.posterior, settings)
