"""The row split: batches average to the whole, and what does not split is refused with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from ppl import InferenceError, compile_model
from ppl.density.rows import ROW_SPLIT, by_rows
from ppl.methods.recipes.result import ESTIMATED

RNG = np.random.default_rng(20)
N = 23
GROUP = RNG.integers(1, 5, N)
DATA = {
    "N": N,
    "J": 4,
    "K": 2,
    "group": GROUP,
    "x": RNG.normal(size=(N, 2)),
    "y": RNG.normal(size=N),
    "k": RNG.integers(0, 2, N),
}
DECLARED = """
data {
  int N; int J; int K;
  array[N] int group;
  matrix[N, K] x;
  vector[N] y;
  array[N] int<lower=0, upper=1> k;
}
"""
SPLIT = {
    "vectorised": """parameters { vector[K] b; real<lower=0> s; }
        model { b ~ normal(0, 1); s ~ exponential(1); y ~ normal(x * b, s); }""",
    "loop with gathers": """parameters { vector[J] a; real<lower=0> s; }
        model { a ~ normal(0, 1); for (n in 1:N) y[n] ~ normal(a[group[n]] + x[n, 1], s / 2); }""",
    "fused": """parameters { vector[K] b; real a; }
        model { a ~ normal(0, 1); k ~ bernoulli_logit_glm(x, a, b); }""",
    "one latent value a row": """parameters { vector[N] z; real<lower=0> s; }
        model { s ~ normal(0, 1); z ~ normal(0, s); y ~ normal(z, 1); }""",
    "through a transformed parameter": """parameters { vector[J] a; vector[K] b; }
        transformed parameters { vector[N] mu; for (n in 1:N) mu[n] = a[group[n]] + x[n] * b; }
        model { a ~ std_normal(); b ~ std_normal(); y ~ normal(mu, 1); }""",
    "N is also a number": """parameters { vector[K] b; real<lower=0> t; }
        transformed parameters { real t0 = t / sqrt(1.0 * N); }
        model { b ~ normal(0, t0); t ~ cauchy(0, 1); y ~ normal(x * b, 1); }""",
    "N is a number beside a row": """parameters { vector[K] b; }
        model { b ~ normal(0, 1); y ~ normal((x * b) / N, 1); }""",
    "mixture": """parameters { ordered[2] m; real<lower=0, upper=1> p; }
        model { m ~ normal(0, 2);
          for (n in 1:N) target += log_mix(p, normal_lpdf(y[n] | m[1], 1), normal_lpdf(y[n] | m[2], 1)); }""",
    "branches on data": """parameters { real a; real b; }
        model { a ~ normal(0, 1); b ~ normal(0, 1);
          for (n in 1:N) { if (k[n] == 1) y[n] ~ normal(a, 1); else y[n] ~ normal(b, 2); } }""",
    "branches on parameters": """parameters { real a; real b; }
        model { a ~ normal(0, 1); b ~ normal(0, 1); if (a < -9) reject("a is ", a);
          if (b > 9) y ~ normal(a, 1); else y ~ normal(a, 2);
          for (n in 1:N) target += y[n] > a - 9 ? normal_lpdf(y[n] | b, 1) : y[n]; }""",
    "rows along the second axis": """parameters { matrix[K, N] z; }
        model { to_vector(z) ~ normal(0, 1); for (n in 1:N) y[n] ~ normal(sum(col(z, n)), 1); }""",
}
WHOLE = {
    "a time series": "parameters { real a; } model { for (n in 2:N) y[n] ~ normal(a * y[n - 1], 1); }",
    "a mean of a computed row": """parameters { vector[K] b; }
        model { y ~ normal(x * b - mean(x * b), 1); }""",
    "rows counted from the end": """parameters { real a; }
        model { for (n in 1:N) y[n] ~ normal(a * k[N - n + 1], 1); }""",
    "a branch that no try takes": """parameters { real a; }
        model { y ~ normal(a, 1); if (a < -9) { real o = 0; for (n in 1:N) o += y[n]; target += o ^ 2; } }""",
    "a branch of a row that no try takes": """parameters { real a; }
        model { for (n in 1:N) { if (a < y[n] + 99) y[n] ~ normal(a, 1); else target += sum(y); } }""",
    "a choice that no try makes": """parameters { real a; }
        model { y ~ normal(a, 1); target += a < -9 ? sum(y) ^ 2 : sum(y); }""",
    "a branch inside a branch": """parameters { real a; }
        model { y ~ normal(a, 1); if (a < 0) { if (a < -9) target += sum(y) ^ 2; } }""",
    "a joint density": """parameters { real<lower=0> s; }
        model { y ~ multi_normal(rep_vector(0, N), add_diag(s * tcrossprod(x), 1)); }""",
}


@pytest.fixture(params=SPLIT)
def posterior(request):
    return compile_model(DECLARED + SPLIT[request.param]).condition(DATA)


@pytest.mark.rotate
@pytest.mark.parametrize("size", [1, 5, 23])
def test_an_epoch_of_batches_averages_to_the_full_gradient(posterior, size):
    batches = by_rows(posterior, "N")
    u = np.random.default_rng(3).normal(0.0, 0.4, batches.dim)
    order = np.random.default_rng(4).permutation(N)
    parts = [order[i : i + size] for i in range(0, N, size)]  # the last batch is smaller
    pairs = [batches.minibatch(part).log_density_gradient(u) for part in parts]
    weights = [len(part) / N for part in parts]
    value, gradient = posterior.log_density_gradient(u)
    assert sum(w * v for w, (v, _) in zip(weights, pairs, strict=True)) == pytest.approx(value, rel=1e-10)
    mean = sum(w * g for w, (_, g) in zip(weights, pairs, strict=True))
    np.testing.assert_allclose(mean, gradient, rtol=1e-10, atol=1e-10)


def test_the_rows_are_found_without_being_named(posterior):
    assert by_rows(posterior).split.size == "N"


@pytest.mark.parametrize("name", WHOLE)
def test_a_target_that_does_not_split_is_refused_at_its_line(name):
    posterior = compile_model(DECLARED + WHOLE[name]).condition(DATA)
    with pytest.raises(InferenceError, match=r"add up over rows|cannot be computed") as refusal:
        by_rows(posterior, "N")
    assert "<string>:" in str(refusal.value)


def test_rows_that_look_at_one_another_are_refused_though_their_data_hide_it():
    """These data are the same from either end, so that no sum over cuts of them shows what is paired."""
    program = """
      data { int N; array[N] int<lower=1, upper=2> g; vector[N] x; }
      parameters { vector[2] a; matrix[N, N] b; }
      model { for (n in 1:N) target += a[g[N - n + 1]] > -0.5 ? x[n] : b[n, N]; }
    """
    data = {"N": 3, "g": [1, 2, 1], "x": [-0.1, 0.02, -1.31]}
    with pytest.raises(InferenceError, match="Index 3 of `g` is out of range"):
        by_rows(compile_model(program).condition(data), "N")


def test_terms_that_do_not_add_up_are_refused_though_they_are_0_at_half_of_all_points():
    program = """data { int N; vector[N] y; } parameters { vector[2] p; }
      model { for (n in 1:N - 1) target += ceil(p[2]); y ~ normal(p[1], 1); }
    """
    with pytest.raises(InferenceError, match="do not add up over rows"):
        by_rows(compile_model(program).condition({"N": 3, "y": [0.3, -1.0, 2.0]}), "N")


def test_a_branch_of_a_function_that_no_try_takes_is_refused():
    program = """functions { real f(real a, vector y) { if (a < -9) return sum(y) ^ 2; return sum(y) * a; } }
      data { int N; vector[N] y; } parameters { real a; } model { a ~ normal(0, 1); target += f(a, y); }
    """
    with pytest.raises(InferenceError, match="do not add up over rows"):
        by_rows(compile_model(program).condition({"N": 3, "y": [0.3, -1.0, 2.0]}), "N")


def test_a_target_that_is_read_is_refused_for_it_is_another_sum_in_a_subset():
    program = """
      data { int M; array[M] int<lower=0, upper=1> y; }
      parameters { real<lower=0.1, upper=0.8> p; }
      model { for (i in 1:2) { target += bernoulli_lupmf(y | p); target += 0.25 * target(); } }
    """
    posterior = compile_model(program).condition({"M": 3, "y": [0, 0, 1]})
    with pytest.raises(InferenceError, match=r"target\(\) is read"):
        by_rows(posterior, "M")


def test_a_row_that_is_read_by_its_number_is_refused_though_its_branch_hides_it():
    program = """
      data { int N; vector[N] x; }
      parameters { real a; vector[N] b; }
      model { for (n in 1:N) target += b[1] < 9 ? a * x[n] : x[n]; }
    """
    with pytest.raises(InferenceError, match="a row is read by its index"):
        by_rows(compile_model(program).condition({"N": 3, "x": [0.3, -1.0, 2.0]}), "N")


@pytest.mark.parametrize("term", ["real m = a; if ({}) m += 0.25; target += m;", "if ({}) target += a;"])
@pytest.mark.parametrize("condition", ["1 - a > 1 || y[1] < 2", "y[1] < 2"])
def test_terms_that_a_row_decides_about_are_of_that_row(term, condition):
    """At many points a branch on parameters is a choice of values, which reads what the condition does."""
    program = "data { int N; array[N] int y; } parameters { real a; } model { y ~ poisson_log(a); %s }"
    posterior = compile_model(program % term.format(condition)).condition({"N": 2, "y": [3, 8]})
    with pytest.raises(InferenceError, match="a row is read by its index"):
        by_rows(posterior, "N")


def test_a_size_that_counts_nothing_is_refused_by_name():
    posterior = compile_model(DECLARED + SPLIT["vectorised"]).condition(DATA)
    with pytest.raises(InferenceError, match="`M` does not count rows: the sizes of data are N, K"):
        by_rows(posterior, "M")


def test_without_its_prior_the_target_lacks_exactly_that_term():
    program = """parameters { vector[K] b; real a; }
        model { a ~ normal(0, 1); b ~ normal(0, 3); y ~ normal(x * b, 1); }"""
    posterior = compile_model(DECLARED + program).condition(DATA)
    bare, places = posterior.without_prior("b")
    u = np.array([0.3, -0.2, 0.7])
    prior = -0.5 * np.sum((u[places] / 3) ** 2) - 2 * np.log(3 * np.sqrt(2 * np.pi))
    assert bare.log_density(u) + prior == pytest.approx(posterior.log_density(u), rel=1e-12)
    np.testing.assert_array_equal(places, [0, 1])


@pytest.mark.parametrize(
    ("name", "reason"), [("c", "not a parameter"), ("a", "no statements"), ("b", "2 statements")]
)
def test_a_prior_that_cannot_be_taken_out_is_refused(name, reason):
    program = """parameters { vector[K] b; real a; }
        model { b ~ normal(0, 1); b ~ std_normal(); y ~ normal(x * b + a, 1); }"""
    posterior = compile_model(DECLARED + program).condition(DATA)
    with pytest.raises(InferenceError, match=reason):
        posterior.without_prior(name)


REGRESSION = "parameters { vector[K] b; } model { b ~ normal(0, 10); y ~ normal(x * b, 1); }"


@pytest.mark.rotate
@pytest.mark.parametrize("algorithm", ["meanfield", "fullrank", "dsvi"])
def test_a_fit_by_minibatches_lands_where_the_posterior_is(algorithm):
    posterior = compile_model(DECLARED + REGRESSION).condition(DATA)
    fit = posterior.variational(algorithm=algorithm, minibatch=5, seed=1)
    precision = DATA["x"].T @ DATA["x"] + np.eye(2) / 100
    exact = np.linalg.solve(precision, DATA["x"].T @ DATA["y"])
    sd = np.sqrt(np.diag(np.linalg.inv(precision)))
    assert np.all(np.abs(fit.draws().mean(axis=0) - exact) < 0.35 * sd)


@pytest.mark.rotate
def test_ard_finds_the_regressor_that_counts():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(200, 6))
    y = (x[:, 2] * 4 + rng.logistic(size=200) > 0).astype(int)
    program = """data { int N; int D; matrix[N, D] x; array[N] int<lower=0, upper=1> y; }
        parameters { vector[D] theta; }
        model { theta ~ normal(0, 1); y ~ bernoulli_logit(x * theta); }"""
    posterior = compile_model(program).condition({"N": 200, "D": 6, "x": x, "y": y})
    fit = posterior.variational(algorithm="dsvi-ard", ard="theta", minibatch=50, seed=2)
    means = np.abs(fit.draws().mean(axis=0))
    assert np.argmax(means) == 2
    assert np.all(np.delete(means, 2) < 0.1 * means[2])


def test_ard_and_its_algorithm_go_together():
    posterior = compile_model(DECLARED + REGRESSION).condition(DATA)
    with pytest.raises(InferenceError, match="requires ard"):
        posterior.variational(algorithm="meanfield", ard="b")


def test_how_wide_a_batch_is_takes_a_few_rows_to_see():
    program = "parameters { row_vector[K] b; } model { for (n in 1:N) target += -sum(exp(x[n] .* b)); }"
    posterior = compile_model(DECLARED + program).condition(DATA)
    batches = by_rows(posterior)
    assert batches.row_width == 2
    assert batches.width == 2 * N and batches.minibatch(np.arange(5)).width == 10
    assert "sizes" not in vars(posterior)


def test_an_estimate_from_a_sample_of_rows_leaves_little_of_the_differences(monkeypatch):
    """Of differences of several nats between draws a few hundredths remain; with all rows nothing does."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 3))
    y = rng.uniform(size=4000) < 1 / (1 + np.exp(-x @ [1, -0.5, 0.2]))
    program = """
        data { int N; matrix[N, 3] x; array[N] int<lower=0, upper=1> y; } parameters { vector[3] b; }
        model { b ~ normal(0, 1); y ~ bernoulli_logit(x * b); }"""
    batches = by_rows(compile_model(program).condition({"N": 4000, "x": x, "y": y.astype(int)}))
    us = [1, -0.5, 0.2] + 0.04 * rng.normal(size=(50, 3))
    exact = batches.log_densities(us)
    for sampled, tolerance in [(4000, 1e-8), (500, 0.4)]:
        limits = replace(ROW_SPLIT, most_terms=50 * 4000 - 1, rows_sampled=sampled)
        monkeypatch.setattr("ppl.density.rows.ROW_SPLIT", limits)
        error = batches.log_densities(us) - exact
        assert np.abs(error).max() < tolerance and np.std(exact) > 1, sampled
        assert (np.abs(error).max() > 1e-8) == (sampled < 4000), "the sample was used"


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("terms", "sampled", "estimated"), [(10**9, 10, False), (1000, 10, True), (1000, 100, False)]
)
def test_a_fit_says_what_share_of_the_rows_its_log_densities_are_from(monkeypatch, terms, sampled, estimated):
    """Fewer rows than a sample would have are all used."""
    limits = replace(ROW_SPLIT, most_terms=terms, rows_sampled=sampled)
    monkeypatch.setattr("ppl.density.rows.ROW_SPLIT", limits)
    posterior = compile_model(DECLARED + REGRESSION).condition(DATA)
    fit = posterior.variational(algorithm="meanfield", minibatch=5, iter=200, seed=1)
    assert [note for note in fit.notes if "43% of the rows" in note] == [
        ESTIMATED.format(1000 / N)
    ] * estimated
    if not estimated:
        u = by_rows(posterior).log_densities(np.zeros((50, 2)))
        np.testing.assert_allclose(u, posterior.log_density(np.zeros(2)), rtol=1e-12)
