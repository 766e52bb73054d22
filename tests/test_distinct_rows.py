"""Rows of data that are alike are computed once, each as often as data have it."""

from typing import Any

import numpy as np
import pytest

from ppl import Posterior, compile_model
from ppl.density.distinct_rows import by_distinct_rows

RNG = np.random.default_rng(4)
N = 1200
SURVEY: dict[str, Any] = {
    "N": N,
    "G": 5,
    "g": RNG.integers(1, 6, N),
    "sex": RNG.integers(0, 2, N).astype(float),
    "y": RNG.integers(0, 2, N),
    "t": RNG.integers(0, 3, (N, 3)),
    "x": RNG.normal(size=N),
}
DECLARED = """functions {
  vector twice(int M, array[] int g, vector a) {
    vector[M] eta;
    for (m in 1:M) eta[m] = 2 * a[g[m]];
    return eta;
  }
}
data {
  int N, G;
  array[N] int<lower=1, upper=G> g;
  vector[N] sex;
  array[N] int<lower=0, upper=1> y;
  array[N, 3] int<lower=0> t;
  vector[N] x;
}
"""
EFFECTS = "parameters { vector[G] a; real b; real<lower=0> s; }"
PRIOR = "a ~ normal(0, s); b ~ normal(0, N); s ~ exponential(1);"


def posterior_of(model: str, before: str = EFFECTS, data: dict[str, Any] = SURVEY) -> Posterior:
    return compile_model(f"{DECLARED}{before}\nmodel {{ {model} }}").condition(data)


@pytest.mark.parametrize(
    "terms",
    [
        "y ~ bernoulli_logit(a[g] + b * sex);",
        "vector[N] eta; for (n in 1:N) eta[n] = a[g[n]] + b * sex[n]; y ~ bernoulli_logit(eta);",
        "target += bernoulli_logit_lpmf(y | a[g]); sex ~ normal(b, s);",
        "for (n in 1:N) { for (k in 1:3) t[n, k] ~ poisson_log(a[g[n]]); y[n] ~ bernoulli_logit(b); }",
        """for (n in 1:N) if (t[n, 1] > 0) t[n] ~ poisson_log(a[g[n]]);
           else target += log_sum_exp(poisson_log_lpmf(t[n] | a[g[n]]), -square(b));""",
        "if (s > 0.5) y ~ bernoulli_logit(b); else y ~ bernoulli_logit(-b);",
        "sex ~ normal(b / N, sqrt(N));",
        """for (n in 1:N) t[n] ~ poisson(s);
           for (n in 1:N) { int j = g[n]; y[n] ~ bernoulli_logit(a[j]); }
           for (j in 1:3) a[j] ~ normal(b, s);""",
        "vector[N] eta = twice(N, g, a); y ~ bernoulli_logit(eta);",
        "y ~ bernoulli_logit_glm([sex', 2 * sex']', b, [b, s]');",
        "target += poisson_log_glm_lpmf(t[:, 1] | [sex']', a[g], [s]');",
        "t[:, 1] ~ neg_binomial_2_log_glm([sex']', b, [s]', s); sex ~ normal_id_glm([sex']', b, [s]', s);",
        "t[:, 1] ~ binomial_logit_glm(2, [sex']', a[g], [s]');",
        'profile("rows") { y ~ bernoulli_logit(b); }',
    ],
)
def test_the_density_is_that_of_all_rows(terms: str) -> None:
    posterior = posterior_of(f"{PRIOR} {terms}")
    rows, u = by_distinct_rows(posterior), RNG.normal(size=(5, 7))
    assert rows.d.of("N") < N / 2
    of_all, of_rows = (each.log_density_gradients(u) for each in (posterior, rows))
    np.testing.assert_allclose(of_rows[0], of_all[0], rtol=1e-12)
    np.testing.assert_allclose(of_rows[1], of_all[1], rtol=1e-9, atol=1e-9)
    assert rows.log_density(u[0]) == pytest.approx(of_all[0][0], rel=1e-12)


def test_constants_that_are_dropped_are_those_of_all_rows() -> None:
    rows, u = by_distinct_rows(posterior_of(f"{PRIOR} sex ~ normal(b, 2);")), RNG.normal(size=(5, 7))
    constants = rows.log_densities(u) - rows.log_densities(u, propto=True)
    np.testing.assert_allclose(constants, constants[0], rtol=1e-12)


def test_transformed_data_are_computed_of_all_rows() -> None:
    of_data = "transformed data { real m = mean(sex); vector[N] c = sex - m; }"
    posterior = posterior_of(f"{PRIOR} c ~ normal(b, s); target += m * b;", f"{of_data}\n{EFFECTS}")
    rows, u = by_distinct_rows(posterior), RNG.normal(size=7)
    assert rows.d.of("N") == 2
    assert rows.log_density(u) == pytest.approx(posterior.log_density(u), rel=1e-12)


@pytest.mark.parametrize(
    "terms, before",
    [
        pytest.param("x ~ normal(b, s);", EFFECTS, id="all are different"),
        pytest.param("for (n in 2:N) sex[n] ~ normal(sex[n - 1], s);", EFFECTS, id="a series"),
        pytest.param("sex ~ normal(b, s); target += sex[1];", EFFECTS, id="one by its number"),
        pytest.param("for (n in 1:N) sex[n] ~ normal(n * b, s);", EFFECTS, id="the number itself"),
        pytest.param("target += -square(sum(sex) * b);", EFFECTS, id="no sum of terms"),
        pytest.param("y ~ bernoulli_logit(e);", "parameters { vector[N] e; }", id="parameters of rows"),
        pytest.param("y ~ bernoulli_logit(b);", "parameters { real<upper=N> b; }", id="a bound by the size"),
        pytest.param("real m = mean(y); for (n in 1:N) sex[n] ~ normal(m * b, s);", EFFECTS, id="a mean"),
        pytest.param("sex ~ normal(b > 9 ? sum(y) * b : b, s);", EFFECTS, id="a sum on the other side"),
    ],
)
def test_others_stay_as_they_are(terms: str, before: str) -> None:
    posterior = posterior_of(f"{PRIOR * (before == EFFECTS)} {terms}", before)
    assert by_distinct_rows(posterior) is posterior


def test_rows_of_two_sizes() -> None:
    """Those of a survey, and those of another."""
    program = "data { int N, M; array[N] int y; array[M] int z; } parameters { real<lower=0> a; } model {"
    model = compile_model(f"{program} y ~ poisson(a); z ~ poisson(2 * a); }}")
    posterior = model.condition({"N": N, "M": 2 * N, "y": SURVEY["t"][:, 0], "z": SURVEY["t"][:, :2].ravel()})
    rows, u = by_distinct_rows(posterior), RNG.normal(size=(3, 1))
    assert [rows.d.of(size) for size in ("N", "M")] == [3, 3]
    np.testing.assert_allclose(rows.log_densities(u), posterior.log_densities(u), rtol=1e-12)


def test_rows_that_are_tuples_stay_as_they_are() -> None:
    """Of a number and a vector, which no array holds."""
    program = "data { int N; array[N] tuple(int, vector[2]) z; } parameters { real a; } model {"
    model = compile_model(f"{program} for (n in 1:N) z[n].1 ~ poisson_log(a + z[n].2[1]); }}")
    posterior = model.condition({"N": N, "z": [{"1": n % 3, "2": [0.0, 1.0]} for n in range(N)]})
    assert by_distinct_rows(posterior) is posterior


def test_few_rows_are_not_told_apart() -> None:
    few = {name: value if isinstance(value, int) else value[:60] for name, value in SURVEY.items()}
    posterior = posterior_of(f"{PRIOR} y ~ bernoulli_logit(b);", data={**few, "N": 60})
    assert by_distinct_rows(posterior) is posterior


def test_a_fit_is_that_of_all_rows() -> None:
    """Its chains, and what cannot be computed, which is explained by the rows as the data have them."""
    posterior = posterior_of(f"{PRIOR} y ~ bernoulli_logit(a[g]); for (n in 1:N) t[n, 1] ~ poisson(s);")
    assert by_distinct_rows(posterior).d.of("N") < N / 2
    fit = posterior.variational(seed=1)
    np.testing.assert_allclose(fit.result.log_p, posterior.log_densities(fit.result.draws_u), rtol=1e-12)
    u = np.array([0.0, 0, 0, 0, 0, 0, -np.inf])
    assert by_distinct_rows(posterior).explain(u) == posterior.explain(u) != ""
