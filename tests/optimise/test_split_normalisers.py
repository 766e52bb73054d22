"""What a density repeats is computed once, and the density stays what it is."""

import numpy as np
import pytest
from laws.passes import close

import ppl
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.passes.split_normalisers import split_normalisers
from ppl.stdlib.special.counts import distinct, tally
from ppl.types import REAL, array_of

HEADER = """
data { int N; array[N] int y; array[N] int n; vector[N] x; int one; }
parameters { real a; real b; real<lower=0> phi; vector<lower=0>[N] each; }
"""
RNG = np.random.default_rng(5)
N = 9
DATA = {"N": N, "y": RNG.poisson(3.0, N), "n": np.full(N, 12), "x": RNG.normal(size=N), "one": 4}

SPLIT = {
    "poisson": "y ~ poisson(exp(a + b * x));",
    "poisson_log": "y ~ poisson_log(a + b * x);",
    "binomial": "y ~ binomial(n, inv_logit(a + b * x));",
    "binomial_logit": "target += binomial_logit_lpmf(y | n, a + b * x);",
    "a loop": "for (i in 1:N) y[i] ~ poisson_log(a + b * x[i]);",
    "a loop over trials": "for (i in 1:N) y[i] ~ binomial_logit(n[i], a + b * x[i]);",
    "a common shape": "y ~ neg_binomial_2_log(a + b * x, phi);",
    "a common shape in a loop": "for (i in 1:N) y[i] ~ neg_binomial_2(exp(a + b * x[i]), phi);",
    "shape and scale": "y ~ neg_binomial(phi, exp(a + b * x));",
    "one number for all trials": "y ~ binomial_logit(20, a + b * x);",
    "within a profile": 'profile("p") { y ~ poisson_log(a + b * x); }',
}
WHOLE = {
    "a shape for each row": "y ~ neg_binomial_2_log(a + b * x, each);",
    "all counts at the rate of each row": "for (i in 1:N) y ~ poisson_log(a + b * x[i]);",
    "a count at the rates of all rows": "for (i in 1:N) y[i] ~ poisson_log(a + b * x);",
    "one count": "one ~ poisson_log(a);",
    "under a condition": "if (a > 0) y ~ poisson_log(a + b * x);",
    "another place": "y ~ poisson_log(to_vector(y) * a); " * 0
    + "real s = poisson_lpmf(y | each); target += s;",
}


def halves(posterior: ppl.Posterior) -> int:
    calls = walk(split_normalisers(posterior.model.program()).model)
    return sum(isinstance(n, ir.Apply) and "_kernel_" in n.callee.name for n in calls)


def posterior_of(statements: str) -> ppl.Posterior:
    text = HEADER + "model { a ~ normal(0, 1); b ~ normal(0, 1); phi ~ gamma(2, 1); each ~ gamma(2, 1);"
    return ppl.compile_model(f"{text} {statements} }}").condition(DATA)


def test_the_kernel_has_the_counts_as_reals() -> None:
    program = split_normalisers(posterior_of(SPLIT["poisson"]).model.program())
    (kernel,) = (n for n in walk(program.model) if isinstance(n, ir.Apply) and "_kernel_" in n.callee.name)
    assert kernel.args[0].type == array_of(REAL, 1)


def test_the_distinct_counts_and_how_often_each_occurs_are_lists_of_reals() -> None:
    program = posterior_of(SPLIT["a common shape"]).model.program()
    values = [s.value for s in program.prepared if isinstance(s, ir.Assign)]
    lists = [v for v in values if isinstance(v, ir.Apply) and v.callee.impl in (distinct, tally)]
    assert [v.type for v in lists] == [array_of(REAL, 1)] * 2


@pytest.mark.parametrize("statements", SPLIT.values(), ids=SPLIT)
def test_it_is_taken_apart_and_means_the_same(statements: str) -> None:
    posterior = posterior_of(statements)
    assert halves(posterior) == 1
    us = RNG.normal(size=(4, posterior.param_unc_num()))
    for u, batched in zip(us, posterior.log_densities(us), strict=True):
        value, slope = posterior.log_density_gradient(u)
        close(value, posterior.log_density(u))
        close(batched, value)
        h = 1e-5 * np.eye(len(u))
        numeric = [(posterior.log_density(u + e) - posterior.log_density(u - e)) / 2e-5 for e in h]
        np.testing.assert_allclose(slope, numeric, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("statements", WHOLE.values(), ids=WHOLE)
def test_it_stays_whole(statements: str) -> None:
    assert halves(posterior_of(statements)) == 0


def test_a_count_outside_the_support_is_explained() -> None:
    posterior = ppl.compile_model(HEADER + "model { y ~ poisson_log(a + b * x); }").condition(
        DATA | {"y": np.array([1, -1, *DATA["y"][2:]])}
    )
    u = np.zeros(posterior.param_unc_num())
    assert posterior.log_density_gradient(u)[0] == -np.inf
    assert "poisson_log" in posterior.explain(u)
