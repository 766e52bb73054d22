"""Programs that once went wrong, each as small as it could be made."""

import re

import numpy as np
import pytest

import ppl
from ppl.errors import Rejection
from ppl.kernel.emit.load import OMITTED
from ppl.methods.recipes import RECIPES
from ppl.stages import show_stage
from ppl.stdlib.special import incomplete_beta


def log_density(program, data, u):
    """The value at u of a program or its text, once its gradient was seen to be the central difference."""
    model = ppl.compile_model(program) if isinstance(program, str) else program
    posterior = model.condition(data)
    u = np.asarray(u, dtype=float)
    value, gradient = posterior.log_density_gradient(u)
    steps = 1e-5 * np.eye(len(u))
    difference = [(posterior.log_density(u + h) - posterior.log_density(u - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(gradient, difference, rtol=1e-5, atol=1e-6)
    return value


LAGGED_RESIDUALS = """
data { int N; array[N] int lags; vector[N] y; }
parameters { real m; real a; }
model {
  matrix[N, 1] lagged = rep_matrix(0, N, 1);
  vector[N] error;
  vector[N] mean = rep_vector(m, N);
  for (n in 1:N) {
    error[n] = y[n] - mean[n];
    for (i in 1:lags[n]) lagged[n + 1, i] = error[n + 1 - i];
    mean[n] += a * lagged[n, 1];
  }
  target += -0.5 * dot_self(y - mean);
}
"""


def test_an_inner_loop_that_does_not_run_looks_at_nothing():
    y = np.array([0.5, -1.0, 2.0])
    m, a = 0.3, 0.7
    e = y - m
    mean = np.array([m, m + a * e[0], m + a * e[1]])
    value = log_density(LAGGED_RESIDUALS, {"N": 3, "lags": [1, 1, 0], "y": y}, [m, a])
    assert value == pytest.approx(-0.5 * np.sum((y - mean) ** 2), rel=1e-12)


def test_the_slope_of_a_truncated_count_takes_few_terms(monkeypatch):
    taken = []

    def counted(term):
        def call(*args):
            taken.append(term)
            return term(*args)

        return call

    for name in ("_odd", "_even"):
        monkeypatch.setattr(incomplete_beta, name, counted(getattr(incomplete_beta, name)))
    program = """
    data { array[3] int y; }
    parameters { real mu; real phi; }
    model { for (n in 1:3) y[n] ~ neg_binomial_2(exp(mu), exp(phi)) T[2, ]; }
    """
    for u in np.random.default_rng(1).uniform(-1, 1, size=(20, 2)):
        log_density(program, {"y": [2, 3, 7]}, u)
    assert 0 < len(taken) < 20 * 100


ARRAYS_OF_TUPLES = """
data {
  int N;
  array[N] tuple(int, vector[2]) t;
}
parameters { array[N] tuple(real, vector<lower=0>[2]) p; }
transformed parameters {
  array[N] tuple(real, vector<lower=0>[2]) q;
  for (n in 1:N) q[n] = (p[n].1 + t[n].1, p[n].2 + t[n].2);
}
model {
  for (n in 1:N) target += -0.5 * square(q[n].1) - sum(q[n].2);
}
"""


def test_arrays_of_tuples_in_every_block():
    data = {"N": 2, "t": [{"1": 3, "2": [0.5, 1]}, {"1": -1, "2": [2, 0]}]}
    u = [0.1, 0.3, -0.4, 0.2, 0.5, -0.6]
    positive = [u[k] for k in (1, 2, 4, 5)]
    expected = -0.5 * (3.1**2 + 0.8**2) - np.exp(positive).sum() - 3.5 + sum(positive)
    assert log_density(ARRAYS_OF_TUPLES, data, u) == pytest.approx(expected, rel=1e-12)
    posterior = ppl.compile_model(ARRAYS_OF_TUPLES).condition(data)
    values = posterior.param_constrain(np.array(u), include_tp=True)
    names = posterior.param_names(include_tp=True)
    assert names[:6] == ["p.1:1", "p.1:2.1", "p.1:2.2", "p.2:1", "p.2:2.1", "p.2:2.2"]
    assert values[:6] == pytest.approx([0.1, *np.exp(u[1:3]), 0.2, *np.exp(u[4:])])


def test_a_matrix_names_its_unconstrained_elements_column_by_column():
    program = "parameters { array[2] matrix<lower=0>[2, 1] a; cholesky_factor_corr[3] L; } model {}"
    names = ppl.compile_model(program).condition().param_unc_names()
    assert names == ["a.1.1.1", "a.1.2.1", "a.2.1.1", "a.2.2.1", "L.1", "L.2", "L.3"]


OCCUPANCY = """
data { int R; int T; array[R, T] int y; }
parameters { real a; real b; }
model {
  for (i in 1:R) {
    if (sum(y[i]) > 0) {
      target += log_inv_logit(a) + bernoulli_logit_lpmf(y[i] | b);
    } else {
      target += log_sum_exp(log_inv_logit(a) + bernoulli_logit_lpmf(y[i] | b), log1m_inv_logit(a));
    }
  }
}
"""


def test_a_branch_that_no_entry_takes_adds_nothing():
    y = np.array([[1, 0], [1, 1], [0, 1]])
    expit_a, expit_b = 1 / (1 + np.exp(-0.3)), 1 / (1 + np.exp(0.7))
    expected = 3 * np.log(expit_a) + 4 * np.log(expit_b) + 2 * np.log(1 - expit_b)
    assert log_density(OCCUPANCY, {"R": 3, "T": 2, "y": y}, [0.3, -0.7]) == pytest.approx(expected, rel=1e-12)


def test_a_normal_of_no_dimension_has_density_one():
    program = """
    data { int K; array[2] vector[K] y; }
    parameters { vector[K] mu; real a; }
    model { y ~ multi_normal_cholesky(mu, identity_matrix(K)); y ~ multi_normal(mu, identity_matrix(K)); }
    """
    assert log_density(program, {"K": 0, "y": np.zeros((2, 0))}, [0.3]) == 0.0


def test_what_is_indexed_runs_once():
    program = """
    functions { vector doubled_lp(vector x) { target += sum(x); return 2 * x; } }
    parameters { vector[3] x; }
    model { target += sum(doubled_lp(x)[1:2][2:]); }
    """
    assert log_density(program, {}, [0.1, 0.2, 0.4]) == pytest.approx(0.7 + 0.4, rel=1e-12)


RENEWAL = """
data { int T; int M; vector[T] w; }
parameters { vector[M] r; }
model {
  matrix[T, M] cases = rep_matrix(1, T, M);
  for (m in 1:M) {
    for (t in 2:T) {
      cases[t, m] = exp(r[m]) * dot_product(sub_col(cases, 1, m, t - 1), segment(w, T - t + 2, t - 1));
    }
  }
  target += sum(cases) + sum(head(r, 1)) - sum(sub_row(cases, 2, 1, M));
}
"""


def test_a_renewal_process_of_several_series():
    w = np.array([0.2, 0.3, 0.5, 0.7])
    r = np.array([0.1, -0.4])
    cases = np.ones((4, 2))
    for t in range(1, 4):
        cases[t] = np.exp(r) * (cases[:t].T @ w[4 - t :])
    expected = cases.sum() + r[0] - cases[1].sum()
    assert log_density(RENEWAL, {"T": 4, "M": 2, "w": w}, r) == pytest.approx(expected, rel=1e-12)
    assert "remains a loop" not in show_stage(RENEWAL, "plan")


def test_tuples_are_printed_as_tuples(capsys):
    program = """
    parameters { real x; }
    model { print("t ", (1, {x, 2.5}), " ", {(x, 2)}); target += -square(x); }
    """
    assert log_density(program, {}, [0.25]) == -0.0625
    assert set(capsys.readouterr().out.splitlines()) >= {"t (1,[0.25,2.5]) [(0.25,2)]"}


def test_an_evaluation_prints_a_thousand_times_at_most(capsys):
    program = """
    parameters { real x; }
    model { for (i in 1:1003) print("line ", i); target += -square(x); }
    """
    posterior = ppl.compile_model(program).condition({})
    posterior.log_density([0.25])  # the first also measures how much a point takes
    capsys.readouterr()
    posterior.log_density([0.25])
    assert capsys.readouterr().out.splitlines()[998:] == ["line 999", "line 1000", OMITTED]


def test_ints_are_data_inside_functions_too():
    program = """
    functions { real count_lpmf(int n, real rate) { return poisson_lupmf(n | rate); } }
    parameters { real x; tuple(real, vector[2]) t; }
    model { 4 ~ count(exp(x)); int n = 3; n ~ poisson(exp(x)); }
    """
    posterior = ppl.compile_model(program).condition()
    u = np.array([0.3, 0, 0, 0])
    assert posterior.log_density(u, propto=True) == pytest.approx(7 * 0.3 - 2 * np.exp(0.3), rel=1e-12)
    assert posterior.param_unc_names() == ["x", "t:1", "t:2.1", "t:2.2"]


def test_a_chain_of_many_branches():
    """Python nests a hundred blocks at most, in what is prepared from the data too."""
    chain = " else ".join(f"if (which == {k}) target += w[{k}] * x;" for k in range(1, 131))
    model = f"model {{ {chain} else target += -x; }}"
    compiled = ppl.compile_model(f"data {{ int which; vector[130] w; }} parameters {{ real x; }} {model}")
    for which, slope in ((1, 1), (130, 130), (131, -1)):
        assert log_density(compiled, {"which": which, "w": np.arange(1, 131)}, [0.5]) == slope * 0.5


@pytest.mark.parametrize(
    "density", ["uniform_cdf(y | a, 3)", "pareto_cdf(y | exp(a), 2)", "pareto_type_2_cdf(y | a, 1, 2)"]
)
def test_a_product_of_probabilities_has_a_gradient_where_one_is_zero(density):
    program = f"data {{ vector[2] y; }} parameters {{ real a; }} model {{ target += {density} + a; }}"
    assert log_density(program, {"y": [0.1, 2.0]}, [0.5]) == 0.5


@pytest.mark.parametrize("declared", ["vector[n] v;", "array[n] real v;", "corr_matrix[n] v;"])
def test_a_parameter_of_negative_size_is_refused_where_it_is_declared(declared):
    model = ppl.compile_model(
        f"data {{ int n; }} parameters {{ real x; {declared} }} model {{ x ~ normal(0, 1); }}"
    )
    with pytest.raises(ppl.PPLError, match=r"1:\d+\n[\s\S]*A size of `v` is -1, but sizes must be"):
        model.condition({"n": -1})


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ("simplex[K] v;", r"simplex `v` has sizes \[0\]: it needs at least one entry"),
        ("array[2] unit_vector[K] v;", "at least two entries"),
        ("unit_vector[K + 1] v;", "at least two entries"),
        ("column_stochastic_matrix[K, 2] v;", r"sizes \[0, 2\]"),
        ("sum_to_zero_matrix[2, K] v;", "at least one entry"),
        ("cholesky_factor_cov[K + 2, 3] v;", "fewer rows than columns"),
    ],
)
def test_a_parameter_of_a_type_that_has_no_value_of_its_size_is_refused(declared, why):
    model = ppl.compile_model(f"data {{ int K; }} parameters {{ {declared} }}")
    with pytest.raises(ppl.PPLError, match=why):
        model.condition({"K": 0})


UNBOUNDED_SCALE = """
data { int N; array[N] int cases; vector[N] x; array[N] int region; int R; }
parameters { real a; real b; vector[R] r; real tau; }
model {
  a ~ normal(0, 5);
  b ~ normal(0, 5);
  tau ~ normal(0, 1);
  r ~ normal(0, tau);
  cases ~ poisson_log(a + b * x + r[region]);
}
"""


@pytest.mark.rotate
def test_a_path_ends_before_the_point_where_a_search_gave_up():
    data = {"N": 4, "cases": [1, 2, 3, 0], "x": [0.1, 0.2, 0.3, 0.4], "region": [1, 2, 1, 2], "R": 2}
    fit = (
        ppl.compile_model(UNBOUNDED_SCALE)
        .condition(data)
        .variational(algorithm="pathfinder", seed=1, draws=20)
    )
    assert np.isfinite(fit.draws()).all()


@pytest.mark.parametrize("algorithm", sorted(RECIPES.keys() - {"dsvi-ard"}))
def test_a_program_without_parameters_draws_its_generated_quantities(algorithm):
    program = "generated quantities { real z = normal_rng(0, 1); }"
    posterior = ppl.compile_model(program).condition()
    fit = posterior.variational(algorithm=algorithm, seed=1, draws=50)
    assert fit.column_names == ("z",) and fit.outcome.converged
    assert fit.stan_variable("z").std() == pytest.approx(1, abs=0.3)
    assert "no parameters" in fit.outcome.sentence and fit.judgement.startswith("Verdict: good")
    assert posterior.param_unconstrain({}).shape == (0,)


def test_a_program_that_declares_nothing_is_not_fitted():
    with pytest.raises(ppl.PPLError, match="nothing to fit or draw"):
        ppl.compile_model("data { int N; } model { N ~ poisson(1); }").condition({"N": 1}).variational()


OVERFLOWS = ("n * n", "2147483647 + n", "-2147483647 - 2", "sum({2147483647, n})", "prod({n, n})")


@pytest.mark.parametrize("sum_", OVERFLOWS)
def test_an_int_that_32_bits_do_not_hold_is_refused(sum_):
    model = ppl.compile_model(f"data {{ int n; }} generated quantities {{ int k = {sum_}; int j = n - 1; }}")
    with pytest.raises(ppl.InferenceError, match=r"1:40(.|\n)*overflow: the result is -?[0-9]{10,11}, but"):
        model.condition({"n": 100_000}).param_constrain(np.zeros(0), include_gq=True)


BLOCKS = ("transformed parameters", "model", "generated quantities")


@pytest.mark.parametrize("declared", ["vector[n] v;", "array[n, 2] real v;", "tuple(real, vector[n]) v;"])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_variable_of_negative_size_ends_the_run_as_in_stan(declared, block):
    """An std::invalid_argument there, which is no rejection; for a model's locals at the first density."""
    text = "".join(f"{b} {{ {declared if b == block else ''} }}\n" for b in BLOCKS)
    model = ppl.compile_model(f"data {{ int n; }} parameters {{ real x; }}\n{text}")
    with pytest.raises(ppl.InferenceError, match=r"A size.* is -1, but sizes must be at least 0") as refused:
        model.condition({"n": -1}).log_density(np.zeros(1))
    assert not isinstance(refused.value, Rejection) and re.match(r"<string>:\d+:\d+\n", str(refused.value))


def test_bounds_with_nothing_between_are_named():
    posterior = ppl.compile_model(
        "data { real b; } parameters { vector<lower=[2, b]', upper=1>[2] x; } model { x ~ normal(0, 1); }"
    ).condition({"b": 0.0})
    assert "The bounds leave no value: lower is 2 and upper is 1." in posterior.explain(np.zeros(2))


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("cov_matrix_constrain(x, 3) ~ wishart(4, S)", "cov_matrix of size 3 x 3 is made of 6 .* but got 4"),
        ("sum(cholesky_factor_cov_constrain(x, 3, 2)) ~ normal(0, 1)", "size 3 x 2 is made of 5 .* got 4"),
        ("simplex_constrain(x) ~ dirichlet(rep_vector(1, 4))", r"Sizes do not match: \[4\] and \[5\]|.*5.*4"),
        ("sum(S * x) ~ normal(0, 1)", r"Sizes do not match: \[4\] and \[3\]"),
        ("sum(x + rep_vector(1, 3)) ~ normal(0, 1)", r"Sizes do not match: \[4\] and \[3\]"),
    ],
)
def test_sizes_that_do_not_match_are_said_without_numpys_words(term, message):
    data = "transformed data { matrix[3, 3] S = identity_matrix(3); }"
    program = f"{data} parameters {{ vector[4] x; }} model {{ {term}; }}"
    with pytest.raises(ppl.InferenceError, match=message):
        ppl.compile_model(program).condition().log_density(np.zeros(4))


@pytest.mark.parametrize("text", ["", "  ", "// nothing", "/* nothing */"])
def test_an_empty_program_compiles(text):
    assert ppl.compile_model(text).condition().log_density(np.zeros(0)) == 0


@pytest.mark.parametrize("other", ["1 %/% K", "v[K]"])
def test_the_side_of_a_bound_that_no_point_takes_is_not_computed(other):
    """Of the data it was, when many points were asked for."""
    program = f"""
    data {{ int K; array[2] int v; }}
    parameters {{ real a; real<lower=(a > 100 ? {other} : 0)> s; }}
    model {{ a ~ std_normal(); s ~ exponential(1); }}
    """
    posterior = ppl.compile_model(program).condition({"K": 0, "v": [1, 2]})
    us = np.random.default_rng(1).normal(size=(24, 2))
    alone = [posterior.log_density_gradient(u) for u in us]
    values, gradients = posterior.log_density_gradients(us)
    np.testing.assert_allclose(values, [value for value, _ in alone])
    np.testing.assert_allclose(gradients, [gradient for _, gradient in alone])
    np.testing.assert_allclose(posterior.log_densities(us), values)
