"""Int outcomes drawn by the probability of each value, against their distributions computed by hand."""

import re

import numpy as np
import pytest
from scipy import stats

import ppl
from ppl.errors import InferenceError, ModelError
from ppl.results.calibration.simulations import prior_draws, program_text, simulations_of
from ppl.results.fits.by_row import arrays_of, predictive, predictive_table
from ppl.results.fits.new_rows import predicted

DRAWS = 4000
X = np.array([-1, 0, 0.5, 1])
A, B, THETA = 0.7, 0.5, 0.4
U = [A, B, np.log(THETA / (1 - THETA))]
LAMBDA = np.exp(A + B * X)
VALUES = np.arange(60)
HURDLE = (1 - THETA) * stats.poisson.pmf(VALUES[:, None], LAMBDA) / -np.expm1(-LAMBDA)
HURDLE[0] = THETA
INFLATED = (1 - THETA) * stats.poisson.pmf(VALUES[:, None], LAMBDA)
INFLATED[0] += THETA
PRIORS = "a ~ normal(0.7, 0.1); b ~ normal(0.5, 0.1);"
PROGRAM = """data { int N; array[N] int<lower=0> y; vector[N] x; }
parameters { real a; real b; real<lower=0, upper=1> theta; }
model { %s for (n in 1:N) { real lambda = exp(a + b * x[n]); %s } }
"""
SUM = "log1m(theta) + poisson_lpmf(y[n] | lambda)"
BY_BERNOULLI = "bernoulli_lpmf(0 | theta) + poisson_lpmf(y[n] | lambda)"
HURDLES = [
    f"if (y[n] == 0) target += log(theta); else target += {SUM} - log1m_exp(-lambda);",
    f"if (y[n] == 0) target += log(theta); else target += {SUM} - poisson_lccdf(0 | lambda);",
    f"target += y[n] == 0 ? log(theta) : {SUM} - log1m_exp(-lambda);",
    "if (y[n] == 0) { 1 ~ bernoulli(theta); } else { 0 ~ bernoulli(theta); y[n] ~ poisson(lambda) T[1, ]; }",
    "(y[n] == 0) ~ bernoulli(theta); if (y[n] > 0) y[n] ~ poisson(lambda) T[1, ];",
    "int zero = y[n] == 0; zero ~ bernoulli(theta); if (zero == 0) y[n] ~ poisson(lambda) T[1, ];",
    "int zero; zero = y[n] == 0; if (zero) target += log(theta); "
    f"else {{ target += {SUM}; target += -log1m_exp(-lambda); }}",
]
INFLATIONS = [
    f"if (y[n] == 0) target += log_sum_exp(bernoulli_lpmf(1 | theta), {BY_BERNOULLI}); "
    f"else target += {BY_BERNOULLI};",
    f"target += y[n] == 0 ? log_sum_exp(log(theta), {SUM}) : {SUM};",
    f"real lp = {SUM}; if (y[n] == 0) lp = log_sum_exp(lp, log(theta)); target += lp;",
    "vector[2] lp = [log(theta), log1m(theta)]'; lp[1] += y[n] == 0 ? 0 : negative_infinity(); "
    "lp[2] += poisson_lpmf(y[n] | lambda); target += log_sum_exp(lp);",
    "vector[2] lp; for (k in 1:2) lp[k] = log(k == 1 ? theta : 1 - theta) "
    "+ poisson_lpmf(y[n] | k == 1 ? 0 : lambda); target += log_sum_exp(lp);",
]
TRUNCATED = stats.poisson.pmf(VALUES[:, None], LAMBDA) / -np.expm1(-LAMBDA) * (VALUES[:, None] > 0)
FORMS = [*((form, HURDLE) for form in HURDLES), *((form, INFLATED) for form in INFLATIONS)]
DATA = {"N": 4, "x": X, "y": [0, 1, 2, 0]}


def has_law(y, probabilities):
    """Whether draws (n, k) have the probabilities (values, k), to four standard errors."""
    shares = (y[:, None, :] == VALUES[: len(probabilities), None]).mean(axis=0)
    errors = np.sqrt(probabilities * (1 - probabilities) / len(y))
    assert (np.abs(shares - probabilities) <= 4 * errors + 2 / len(y)).all()


def conditioned(statements, data=DATA, program=PROGRAM):
    return ppl.compile_model(program % ("", statements)).condition(data)


def means_of(posterior, u=U):
    return arrays_of(*predictive_table(posterior, np.array([u]), 1, means=True))["y"][0]


@pytest.mark.parametrize(
    "form",
    [
        "y[n] ~ poisson(lambda); target += -log1m_exp(-lambda);",
        "target += -log(1 - exp(-lambda)); target += poisson_lpmf(y[n] | lambda);",
        "y[n] ~ poisson(lambda); target += -poisson_lccdf(0 | lambda);",
    ],
)
def test_a_truncation_in_another_line_of_the_loop_truncates_draws_and_means(form):
    program = PROGRAM.replace("int<lower=0> y", "int<lower=1> y")
    posterior = conditioned(form, {**DATA, "y": [1, 1, 2, 3]}, program)
    has_law(predictive(posterior, np.tile(U, (DRAWS, 1)), 1)["y"], TRUNCATED)
    assert means_of(posterior) == pytest.approx(LAMBDA / -np.expm1(-LAMBDA), abs=1e-6)


@pytest.mark.rotate
@pytest.mark.parametrize(("form", "probabilities"), FORMS)
def test_draws_and_means_have_the_distribution_of_the_terms(form, probabilities):
    posterior = conditioned(form)
    has_law(predictive(posterior, np.tile(U, (DRAWS, 1)), 1)["y"], probabilities)
    assert means_of(posterior) == pytest.approx(VALUES @ probabilities, rel=1e-12)


@pytest.mark.rotate
@pytest.mark.parametrize(("form", "probabilities"), FORMS)
def test_simulations_have_it(form, probabilities):
    simulations = simulations_of(ppl.compile_model(PROGRAM % (PRIORS, form)), {"N": 4, "x": X})
    table = prior_draws(simulations, 300, 1)
    columns = dict(zip(table.columns, table.rows.T, strict=True))
    lambdas = np.exp(columns["a"] + columns["b"])
    p = columns["theta"] + (0 if probabilities is HURDLE else (1 - columns["theta"]) * np.exp(-lambdas))
    error = np.sqrt((p * (1 - p)).mean() / 300)
    assert (columns["y.4"] == 0).mean() == pytest.approx(p.mean(), abs=4 * error)
    y, lambdas = (v[columns["y.4"] > 0] for v in (columns["y.4"], lambdas))
    positive = lambdas / -np.expm1(-lambdas)
    assert y.mean() == pytest.approx(positive.mean(), abs=4 * y.std() / len(y) ** 0.5)


GROUPS = """data { int N; int J; array[N] int<lower=1, upper=J> g; array[N] int<lower=0> y; }
parameters { vector[J] u; real<lower=0> s; real<lower=0, upper=1> theta; }
model { s ~ exponential(1); u ~ normal(0, s);
  for (n in 1:N) if (y[n] == 0) target += log(theta);
    else target += log1m(theta) + poisson_lpmf(y[n] | exp(u[g[n]])) - log1m_exp(-exp(u[g[n]])); }
"""


def test_new_rows_of_known_and_new_groups_and_rows_that_are_given():
    posterior = ppl.compile_model(GROUPS).condition({"N": 2, "J": 2, "g": [1, 2], "y": [0, 3]})
    us = np.tile([0.5, 1.5, -20, U[2]], (DRAWS, 1))
    new = {"N": 4, "g": [2, 3, 1, 1], "y": [None, None, 5, None]}
    lambdas = np.exp([1.5, 0, 0.5, 0.5])  # the sd of new groups is e^-20
    p = (1 - THETA) * stats.poisson.pmf(VALUES[:, None], lambdas) / -np.expm1(-lambdas)
    p[0] = THETA
    y = predicted(posterior, us, new, 1)["y"]
    assert (y[:, 2] == 5).all()
    has_law(y[:, [0, 1, 3]], p[:, [0, 1, 3]])
    means = predicted(posterior, us[:2], new, 1, means=True)["y"]
    assert means[0] == pytest.approx(VALUES @ p, rel=1e-6)


def test_values_that_are_missing_at_the_fit_are_drawn_with_the_others():
    form = HURDLES[0]
    program = PROGRAM.replace("<lower=0> y", "<lower=0, upper=60> y") % ("", form)
    posterior = ppl.compile_model(program).condition({**DATA, "y": [0, None, 2, 0]}, missing="model")
    y = predictive(posterior, np.tile(U, (DRAWS, 1)), 1)["y"]
    has_law(y, HURDLE)


OWN = """functions { real inflated_lpmf(int y, real l, real t) {
  if (y == 0) return log_sum_exp(log(t), log1m(t) - l);
  return log1m(t) + poisson_lpmf(y | l); } }
"""


@pytest.mark.parametrize(
    "statement",
    [
        "for (n in 1:N) y[n] ~ inflated(lambda[n], theta);",
        "for (n in 1:N) target += inflated_lpmf(y[n] | lambda[n], theta);",
    ],
)
def test_a_distribution_of_the_program_needs_no_rng(statement):
    program = PROGRAM.partition("for")[0] + "vector[N] lambda = exp(a + b * x); %s }"
    posterior = conditioned(statement, program=OWN + program)
    has_law(predictive(posterior, np.tile(U, (DRAWS, 1)), 1)["y"], INFLATED)
    assert means_of(posterior) == pytest.approx(VALUES @ INFLATED, rel=1e-12)


def test_a_distribution_of_the_program_given_the_value_before_follows_the_draws():
    statement = "for (n in 2:N) y[n] ~ inflated(1 + 100 * (y[n - 1] > 0), theta);"
    program = PROGRAM.partition("for")[0] + "%s }"
    y = predictive(conditioned(statement, program=OWN + program), np.tile(U, (DRAWS, 1)), 1)["y"]
    assert (y[:, 0] == 0).all() and (y[y[:, 1] == 0, 2] < 12).all()
    assert ((y[y[:, 1] > 0, 2] == 0) | (y[y[:, 1] > 0, 2] > 50)).all()


BOUNDED = """functions { real part_lpmf(int y, int n) {
  return y < 0 ? negative_infinity() : binomial_lpmf(y | n, 0.5); } }
data { int I; int J; array[I, J] int low; array[J] int n; array[I, J] int<lower=low, upper=9> y; }
parameters { vector<lower=0, upper=1>[J] p; }
model { for (i in 1:I) for (j in 1:J)
  if (y[i, j] == -2) target += log(p[j]); else target += log1m(p[j]) + part_lpmf(y[i, j] | n[j]); }
"""


def test_bounds_of_each_entry_and_several_indices():
    data = {"I": 2, "J": 2, "low": [[-2, -2]] * 2, "n": [3, 5], "y": [[-2, 1], [0, 3]]}
    posterior = ppl.compile_model(BOUNDED).condition(data)
    found = predictive(posterior, np.tile([0.0, np.log(3)], (DRAWS, 1)), 1)["y"]
    for j, (p, n) in enumerate([(0.5, 3), (0.75, 5)]):
        has_law(found[:, :, j] + 2, np.array([[p, 0, *(1 - p) * stats.binom.pmf(range(8), n, 0.5)]] * 2).T)


def test_a_long_chain_of_branches_is_read_once_a_level():
    """Twice a level took a second for ten branches, and 18 minutes for twenty."""
    branches = [f"if (g[n] == {k}) y[n] ~ poisson({k} + l);" for k in range(20)]
    program = "data { int N; array[N] int<lower=0> y; array[N] int g; } parameters { real<lower=0> l; } "
    program += f"model {{ l ~ exponential(1); for (n in 1:N) {' else '.join(branches)} }}"
    posterior = ppl.compile_model(program).condition({"N": 2, "y": [3, 9], "g": [0, 19]})
    y = predictive(posterior, np.full((DRAWS, 1), np.log(2)), 1)["y"]
    has_law(y, stats.poisson.pmf(VALUES[:, None], [2, 21]))


def test_an_outcome_of_one_value():
    program = """data { int<lower=0> y; } parameters { real<lower=0, upper=1> t; } model {
        if (y == 0) target += log(t); else target += log1m(t) + neg_binomial_lpmf(y - 1 | 1, 1.0 / 3); }"""
    y = predictive(ppl.compile_model(program).condition({"y": 1}), np.zeros((DRAWS, 1)), 1)["y"]
    has_law(y[:, None], np.append(0.5, 0.5 * 0.25 * 0.75 ** np.arange(59))[:, None])


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        ("for (n in 1:N) if (y[n] > 0) y[n] ~ poisson(lambda[n]) T[1, ];", "depends on its own value"),
        (f"for (k in 1:2) for (n in 1:N) {{ {HURDLES[0]} }}", "does not give a distribution"),
        ("for (n in 1:N) { if (y[n] == 0) { target += log(theta); continue; } "
         "target += log1m(theta) + poisson_lpmf(y[n] | lambda[n]) - log1m_exp(-lambda[n]); }",
         "does not give a distribution"),
        ("array[N] int z; for (n in 1:N) z[n] = y[n] == 0; for (n in 1:N) if (z[n]) target += log(theta); "
         "else target += log1m(theta) + poisson_lpmf(y[n] | lambda[n]) - log1m_exp(-lambda[n]);",
         "does not give a distribution"),
        ("for (n in 2:N) if (y[n] == y[n - 1]) target += log(theta); "
         "else target += log1m(theta) + poisson_lpmf(y[n] | lambda[n]);", "depends on its own value"),
        (f"y ~ poisson(2); for (n in 1:N) {{ {HURDLES[0]} }}", "`y` has two densities"),
        (f"for (n in 1:N) {{ {HURDLES[0]} }} y ~ poisson(2);", "`y` has two densities"),
        ("int m = 0; for (n in 1:N) { m += y[n]; if (y[n] == 0) target += log(theta); "
         "else target += log1m(theta) + poisson_lpmf(y[n] | m) - log1m_exp(-m); }",
         "does not give a distribution"),
    ],
)  # fmt: skip
def test_what_is_no_distribution_of_one_value_is_refused(statements, says):
    program = PROGRAM.partition("for")[0] + "vector[N] lambda = exp(a + b * x); %s }"
    program %= ("", statements.replace("-lambda)", "-lambda[n])").replace("| lambda)", "| lambda[n])"))
    with pytest.raises(ModelError, match=re.escape(says)) as caught:
        predictive(ppl.compile_model(program).condition(DATA), np.array([U]), 1)
    assert caught.value.code == "PPL981"
    with pytest.raises(ModelError) as caught:
        program_text(ppl.compile_model(program.replace("model {", f"model {{ {PRIORS}")))
    assert caught.value.code == "PPL979"


@pytest.mark.parametrize(
    ("form", "total"),
    [
        (f"if (y[n] == 0) target += log(theta); else target += {SUM};", "0.919908"),
        (f"if (y[n] == 0) target += log_sum_exp(log(theta), {SUM}); "
         "else target += poisson_lpmf(y[n] | lambda);",
         "1.34661"),
        (HURDLES[0].replace("theta)", "theta) + 0.01", 1), "1.00402"),
    ],
)  # fmt: skip
def test_probabilities_that_do_not_add_up_to_1_stop_the_program(form, total):
    posterior = conditioned(form, data={**DATA, "x": 0 * X})
    for means in (False, True):
        with pytest.raises(InferenceError, match=f"the values of y from 0 to .* add up to {total}, not to 1"):
            predictive_table(posterior, np.tile(U, (1000, 1)), 1, means=means)


def test_an_outcome_far_from_zero_is_found_behind_the_hurdle():
    posterior = conditioned(HURDLES[0])
    means = means_of(posterior, [np.log(700), 0, U[2]])
    assert means == pytest.approx([0.6 * 700] * 4, rel=1e-9)
    almost_one = means_of(posterior, [np.log(700), 0, np.log(1e7)])
    assert almost_one == pytest.approx([700 / (1 + 1e7)] * 4, rel=1e-6)


def test_a_simulation_draws_what_a_row_is_given_before_it():
    head = "data { int N; array[N] int<lower=0> y; array[N] int<lower=0, upper=1> z; } "
    head += "parameters { real<lower=0, upper=1> theta; } model { for (n in 1:N) { %s %s } }"
    row = "if (y[n] == 0) target += log(theta); else target += log1m(theta) "
    row += "+ poisson_lpmf(y[n] | 2 + 98 * z[n]) - log1m_exp(-2 - 98 * z[n]);"
    given = "z[n] ~ bernoulli(0.5);"
    table = prior_draws(simulations_of(ppl.compile_model(head % (given, row)), {"N": 1}), 300, 1)
    y, z = (table.rows[:, table.columns.index(name)] for name in ("y.1", "z.1"))
    assert ((y == 0) | ((y > 40) == z)).all() and 0.3 < (y == 0).mean() < 0.7
    for statements in ((row, given), ("y[n] ~ bernoulli_logit(z[n]);", given)):
        with pytest.raises(ModelError, match=r"is drawn given `z\[n\]`, which is drawn below it"):
            program_text(ppl.compile_model(head % statements))
