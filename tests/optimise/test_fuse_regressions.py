"""Regressions are recognised in every form they are written in, and mean the same."""

import numpy as np
import pytest
from autograd import grad, hessian
from laws.passes import close

import ppl
from ppl.arrays import AUTOGRAD
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.passes.fuse_regressions import MODELS, fuse_regressions
from ppl.stages import show_stage
from ppl.stdlib.distributions import bernoulli, glm

HEADER = """
data { int N; int K; matrix[N, K] x; vector[N] z; array[N] int<lower=0, upper=1> y; array[N] int g; }
parameters {
  real alpha; vector[K] beta; real<lower=0> s; vector<lower=0>[N] w; vector[3] a;
  matrix[K, 3] B; ordered[2] c;
}
"""
RNG = np.random.default_rng(3)
DATA = {
    "N": 7,
    "K": 2,
    "x": RNG.normal(size=(7, 2)),
    "z": RNG.normal(size=7),
    "y": RNG.integers(0, 2, 7),
    "g": RNG.integers(1, 4, 7),
}

FUSED = {
    "normal": "z ~ normal(alpha + x * beta, s);",
    "bernoulli": "y ~ bernoulli_logit(x * beta + alpha);",
    "poisson": "target += poisson_log_lpmf(y | alpha + x * beta);",
    "negative binomial": "y ~ neg_binomial_2_log(alpha + x * beta, s);",
    "no intercept": "z ~ normal(x * beta, s);",
    "intercepts of groups": "y ~ bernoulli_logit(alpha + a[g] + x * beta);",
    "a scale for each row": "z ~ normal(alpha + x * beta, w);",
    "a local": "vector[N] mu = alpha + x * beta; z ~ normal(mu, s);",
    "a loop": "for (n in 1:N) y[n] ~ bernoulli_logit(alpha + x[n] * beta);",
    "a loop over dot products": "for (n in 1:N) z[n] ~ normal(a[g[n]] + dot_product(beta, x[n]), s);",
    "ordered": "g ~ ordered_logistic(x * beta, c);",
    "ordered, an intercept": "g ~ ordered_probit(alpha + x * beta, c);",
    "ordered, a loop": "for (n in 1:N) g[n] ~ ordered_logistic(x[n] * beta, c);",
    "ordered, a local": "vector[N] eta = x * beta; g ~ ordered_logistic(eta, c);",
    "ordered, a local in a loop": "for (n in 1:N) { real e = x[n] * beta; g[n] ~ ordered_logistic(e, c); }",
    "categorical": "for (n in 1:N) g[n] ~ categorical_logit((x[n] * B)');",
    "categorical, intercepts": "for (n in 1:N) g[n] ~ categorical_logit(a + (x[n] * B)');",
    "categorical, by columns": "for (n in 1:N) g[n] ~ categorical_logit(B' * x[n]' + a);",
    "categorical, a matrix": "matrix[N, 3] e = x * B; for (n in 1:N) g[n] ~ categorical_logit(e[n]');",
    "categorical, a matrix with intercepts": (
        "matrix[N, 3] e = rep_matrix(a', N) + x * B; for (n in 1:N) g[n] ~ categorical_logit(e[n]');"
    ),
    "categorical, a local": "for (n in 1:N) { vector[3] e = a + (x[n] * B)'; g[n] ~ categorical_logit(e); }",
    "a loop with a local": "for (n in 1:N) { real eta = x[n] * beta; y[n] ~ poisson_log(eta); }",
}

LEFT = {
    "a matrix of parameters": "z ~ normal(alpha + (x * s) * beta, s);",
    "a local that is used again": "vector[N] mu = alpha + x * beta; z ~ normal(mu, s); target += -sum(mu);",
    "a local that changes": "vector[N] mu = alpha + x * beta; mu[1] = 0; z ~ normal(mu, s);",
    "an intercept that changes": "real b = 1; vector[N] mu = b + x * beta; b = 2; z ~ normal(mu, b);",
    "parameters on the left": "a ~ normal(alpha + x[1:3] * beta, s);",
    "cutpoints of rows": (
        "array[2] vector[2] d = {c, c}; for (n in 1:2) g[n] ~ ordered_logistic(x[n] * beta, d[n]);"
    ),
    "intercepts of rows": "for (n in 1:N) g[n] ~ categorical_logit(w[n] + (x[n] * B)');",
    "one vector for all": "g ~ categorical_logit(a + B' * to_vector(x[1]));",
    "another place": "x * beta ~ normal(alpha, s);",
}


def regressions(posterior: ppl.Posterior) -> int:
    names = {model.name for _, model in MODELS}
    calls = (n for n in walk(fuse_regressions(posterior.model.program()).model) if isinstance(n, ir.Apply))
    return sum(n.callee.family is not None and n.callee.family.name in names for n in calls)


def assert_unchanged(posterior: ppl.Posterior) -> None:
    """Fused and not, with constants and without."""
    u = np.random.default_rng(0).normal(0.0, 0.5, posterior.param_unc_num())
    for propto in (False, True):
        value, gradient = posterior.log_density_gradient(u, propto=propto)
        values, gradients = posterior.log_density_gradients(np.array([u, u]), propto=propto)
        close(value, values[0])
        close(gradient, gradients[0])


@pytest.mark.rotate(3)
@pytest.mark.parametrize("body", FUSED.values(), ids=FUSED)
def test_a_regression_is_one_call(body: str) -> None:
    posterior = ppl.compile_model(f"{HEADER} model {{ {body} }}").condition(DATA)
    assert regressions(posterior) == 1
    assert_unchanged(posterior)


@pytest.mark.parametrize("body", LEFT.values(), ids=LEFT)
def test_anything_else_is_left(body: str) -> None:
    posterior = ppl.compile_model(f"{HEADER} model {{ {body} }}").condition(DATA)
    assert regressions(posterior) == 0
    assert_unchanged(posterior)


def test_its_second_derivatives_are_those_of_the_rows() -> None:
    x, y = DATA["x"], DATA["y"]

    def whole(u):
        return glm.BERNOULLI_LOGIT_GLM.log_density.summed(AUTOGRAD, y, x, u[0], u[1:])

    def by_rows(u):
        return sum(
            bernoulli.logit_log_density(AUTOGRAD, yi, u[0] + xi @ u[1:]) for yi, xi in zip(y, x, strict=True)
        )

    u = np.array([0.3, -0.8, 0.5])
    np.testing.assert_allclose(grad(whole)(u), grad(by_rows)(u), rtol=1e-13)
    np.testing.assert_allclose(hessian(whole)(u), hessian(by_rows)(u), rtol=1e-12)


ALL_PAIRS = {
    "predictors in a loop": "for (n in 1:N) y ~ bernoulli_logit(x[n] * beta);",
    "outcomes in a loop": "for (n in 1:N) y[n] ~ bernoulli_logit(x * beta);",
    "predictors with an intercept": "for (n in 1:N) g ~ poisson_log(alpha + x[n] * beta);",
    "normal outcomes": "for (n in 1:N) z[n] ~ normal(x * beta, s);",
}


@pytest.mark.parametrize("name", ALL_PAIRS)
def test_every_outcome_in_a_loop_over_the_other_side_is_no_regression(name):
    """N rows and N iterations: the outcomes meet all predictors, not each its own."""
    posterior = ppl.compile_model(HEADER + f"model {{ {ALL_PAIRS[name]} }}").condition(DATA)
    u = RNG.normal(0, 0.4, posterior.param_unc_num())
    value, gradient = posterior.log_density_gradient(u)
    close(value, posterior.log_density(u))
    steps = 1e-6 * np.eye(len(u))
    slopes = [(posterior.log_density(u + h) - posterior.log_density(u - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, slopes, atol=1e-6)


def test_the_plan_names_the_statement():
    text = f"{HEADER} model {{\n s ~ exponential(1);\n z ~ normal(alpha + x * beta, s);\n}}"
    plan = show_stage(text, "plan").splitlines()
    assert "z ~ normal" in plan[plan.index("One step of autograd:") + 1]
