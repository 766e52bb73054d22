"""New rows: values that they hold are conditioned on, others drawn, against values computed by hand."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import ppl
from ppl.errors import DataError, InferenceError, ModelError
from ppl.kernel.advi.target import Target
from ppl.methods.moves.conditional import conditional
from ppl.results.fits.new_rows import predicted, scored

N = 400
compiled = cache(ppl.compile_model)
SHARED = Path(os.environ.get("PPL_SHARED", Path(__file__).parents[4] / "shared"))
nan = float("nan")


def at_point(program, data, u):
    holes = any(x is None for value in data.values() if isinstance(value, list) for x in value)
    posterior = compiled(program).condition(data, missing="model" if holes else "refuse")
    return posterior, np.tile(np.asarray(u, float), (N, 1))


def at(program, data, new, u, **how):
    """What is drawn given one point on the unconstrained scale, `N` times."""
    posterior, us = at_point(program, data, u)
    return predicted(posterior, us, new, 1, **how)


def scores(program, data, new, u, *outcomes):
    posterior, us = at_point(program, data, u)
    return scored(posterior, us, new, 1, outcomes)


def close(draws, mean, sd):
    """Whether draws (n, k) have these means and deviations, to four standard errors."""
    mean, sd = np.broadcast_arrays(mean, sd)
    assert (np.abs(draws.mean(axis=0) - mean) <= 4 * sd / np.sqrt(len(draws)) + 1e-9).all(), draws.mean(
        axis=0
    )
    assert (np.abs(draws.std(axis=0) - sd) <= 4 * sd / np.sqrt(2 * len(draws)) + 1e-9).all(), draws.std(
        axis=0
    )


def test_a_hurdle_is_scored_and_drawn_where_it_is_not_given():
    program = """data { int N; array[N] int<lower=0> y; } parameters { real<lower=0, upper=1> p; }
        model { for (n in 1:N) { if (y[n] == 0) target += log(p); else { target += log1m(p);
          y[n] ~ poisson(2) T[1, ]; } } }"""
    found = scores(program, {"N": 2, "y": [0, 1]}, {"N": 2, "y": [0, 3]}, [np.log(0.25)])["y"].values
    positive = stats.poisson.logpmf(3, 2) - np.log1p(-np.exp(-2))
    assert found == pytest.approx([np.log(0.2), np.log(0.8) + positive])
    hurdle = 0.75 * np.append(1 / 3, stats.poisson.pmf(range(1, 30), 2) / -np.expm1(-2))
    for new in ({"N": 2}, {"N": 2, "y": [0, None]}):
        y = at(program, {"N": 2, "y": [0, 1]}, new, [np.log(0.25 / 0.75)])["y"][:, 1]
        assert np.bincount(y.astype(int), minlength=30) / len(y) == pytest.approx(
            hurdle, abs=4 / len(y) ** 0.5
        )


def test_expected_values_need_no_draw_of_a_truncated_outcome_of_a_new_group():
    program = """data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] y; }
        parameters { vector[J] u; real<lower=0> s; }
        model { s ~ exponential(1); u ~ normal(0, s); for (n in 1:N) y[n] ~ normal(u[g[n]], 1) T[0, ]; }"""
    data = {"N": 2, "J": 1, "g": [1, 1], "y": [1.0, 2]}
    means = at(program, data, {"N": 2, "g": [1, 2]}, [0.5, -9], means=True)["y"]
    assert means[:, 0] == pytest.approx(stats.truncnorm.mean(-0.5, np.inf, 0.5))
    assert means[:, 1] == pytest.approx(stats.truncnorm.mean(0, np.inf), abs=0.001)


# --- Predictors with a model ---

PATIENTS = """
data { int N; vector[N] x; array[N] int<lower=0, upper=1> y; }
parameters { real a; real b; real m; real<lower=0> s; }
model {
  a ~ normal(0, 1); b ~ normal(0, 1); m ~ normal(0, 1); s ~ exponential(1);
  x ~ normal(m, s);
  y ~ bernoulli_logit(a + b * x);
}
"""
SEEN = {"N": 3, "x": [None, 2, 3], "y": [0, 1, 1]}
A, B, M = 0.5, 1.0, 2.0
U = [A, B, M, 0.0, 9.0]
"""s = 1; the value that is missing at the fit is 9, which new rows do not have."""


def test_given_predictors_are_conditioned_on_and_missing_ones_drawn():
    found = at(PATIENTS, SEEN, {"N": 3, "x": [-3, None, 3]}, U)
    assert (found["x"][:, [0, 2]] == [-3, 3]).all()
    close(found["x"][:, [1]], M, 1)
    x = np.linspace(-4, 8, 20001)
    p = np.array([special.expit(A - 3 * B), 0, special.expit(A + 3 * B)])
    p[1] = np.average(special.expit(A + B * x), weights=stats.norm.pdf(x, M, 1))
    close(found["y"], p, np.sqrt(p * (1 - p)))
    whole = at(PATIENTS, SEEN, {"N": 3, "x": [-3, 0, 3]}, U)
    assert list(whole) == ["y"]


def test_outcomes_that_are_given_say_something_of_missing_predictors():
    """p(x | y = 0) is proportional to normal(x | M, 1) (1 - inv_logit(a + b x))."""
    found = at(PATIENTS, SEEN, {"N": 3, "x": [1, None, None], "y": [None, 0, None]}, U)
    x = np.linspace(-6, 8, 20001)
    weights = stats.norm.pdf(x, M, 1) * special.expit(-A - B * x)
    mean = np.average(x, weights=weights)
    close(found["x"][:, 1:], [mean, M], [np.sqrt(np.average((x - mean) ** 2, weights=weights)), 1])
    assert (found["y"][:, 1] == 0).all()


@pytest.mark.parametrize(("new", "says"), [
    ({"x": [1, 2], "y": [1.5, None]}, r"y\[1\] is 1.5, but .* needs integers"),
    ({"x": [1, 2], "y": [None, 7]}, r"y\[2\] is 7, but must be at most 1"),
    ({"x": [1, None, 3], "y": [1, None]}, r"x has shape \(3\)"),
])  # fmt: skip
def test_values_that_are_given_fit_their_declaration(new, says):
    with pytest.raises(DataError, match=says):
        at(PATIENTS, SEEN, {"N": 2, **new}, U)


def test_the_case_of_the_clinics():
    """Ages -3, 0, 3 give inv_logit(alpha + u + b_age * age) at the draws, whatever ages usually are."""
    folder = SHARED / "cases"
    if not folder.is_dir():
        pytest.skip("no shared/cases")
    program, data = (folder / "clinics.stan").read_text(), {"N": 1, "J": 2, "clinic": [1], "age": [None]}
    u = np.array([0.3, 0.5, 0.1, 0.0, 0.2, -0.2, 0.1, 0.0, 0.7])
    new = {"N": 3, "clinic": [1, 1, 1], "age": [-3, 0, 3], "sex": [0, 0, 0]}
    found = at(program, {**data, "sex": [1], "outcome": [1]}, new, u)
    p = special.expit(0.5 + 0.5 * np.array([-3, 0, 3]))
    close(found["outcome"], p, np.sqrt(p * (1 - p)))


VECTORS = """
data { int N; array[N] vector[2] x; vector[N] y; }
parameters { real a; vector[2] m; }
model {
  a ~ normal(0, 1); m ~ normal(0, 1);
  LAW
  for (n in 1:N) y[n] ~ normal(a + sum(x[n]), 0.1);
}
"""
LAWS = {
    "vectorised": "x ~ multi_normal(m, [[1, 0.8], [0.8, 1]]);",
    "loop": "for (n in 1:N) x[n] ~ multi_normal_cholesky(m, [[1, 0], [0.8, 0.6]]);",
    "precision": "x ~ multi_normal_prec(m, inverse_spd([[1, 0.8], [0.8, 1]]));",
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_some_entries_of_a_vector_are_given(law):
    data = {"N": 2, "x": [[1, 2], [3, 4]], "y": [1, 2]}
    new = {"N": 4, "x": [[1, 2], [3, None], [None, -1], [None, None]]}
    found = at(VECTORS.replace("LAW", law), data, new, [0, 1, 2])
    assert (found["x"][:, [0, 0, 1, 2], [0, 1, 0, 1]] == [1, 2, 3, -1]).all()
    close(found["x"][:, [1, 2, 3], [1, 0, 0]], [2 + 0.8 * 2, 1 - 0.8 * 3, 1], [0.6, 0.6, 1])
    sd = np.sqrt([0.01, 0.37, 0.37, 3.61])
    close(found["y"], [3, 6.6, -2.4, 3], sd)


def test_a_field_is_kriged_where_it_is_not_given():
    program = """
    data { int N; array[N] real t; vector[N] y; }
    parameters { real m; }
    model { m ~ normal(0, 1); y ~ multi_normal(rep_vector(m, N), gp_exp_quad_cov(t, 1, 1)); }
    """
    t = np.array([0, 1.0, 1.5])
    found = at(program, {"N": 1, "t": [0], "y": [0]}, {"N": 3, "t": t, "y": [2, nan, 1]}, [0.5])["y"]
    k = np.exp(-((t[:, None] - t) ** 2) / 2)
    gain = np.linalg.solve(k[::2, ::2], k[::2, 1])
    close(found[:, [1]], 0.5 + gain @ [1.5, 0.5], np.sqrt(1 - gain @ k[::2, 1]))
    new = {"N": 3, "t": t, "y": [2, nan, 1]}
    means = at(program, {"N": 1, "t": [0], "y": [0]}, new, [0.5], means=True)["y"]
    assert means[0] == pytest.approx([0.5, 0.5 + gain @ [1.5, 0.5], 0.5])


@pytest.mark.parametrize("statement", ["x ~ D;", "for (n in 1:N) x[n] ~ D;"])
def test_the_mean_of_entries_of_a_vector_is_given_the_others(statement):
    program = """data { int N; array[N] vector[2] x; } parameters { vector[2] m; }
        model { m ~ normal(0, 1); %s }"""
    program %= statement.replace("D", "multi_normal_cholesky(m, [[1, 0], [0.8, 0.6]])")
    data = {"N": 1, "x": [[0, 0]]}
    new = {"N": 4, "x": [[2, nan], [nan, 1], [1, 2], [nan, nan]]}
    means = at(program, data, new, [0.5, -1], means=True)["x"][0]
    right = [[0.5, -1 + 0.8 * 1.5], [0.5 + 0.8 * 2, -1], [0.5, -1], [0.5, -1]]
    assert means == pytest.approx(np.array(right))


# --- Measurement error, series, groups, several outcomes ---

ERRORS = """
data { int N; vector[N] seen; vector[N] y; }
parameters { real a; real b; vector[N] x; }
model {
  a ~ normal(0, 1); b ~ normal(0, 1);
  x ~ normal(1, 2);
  seen ~ normal(x, 1);
  y ~ normal(a + b * x, 0.1);
}
"""


def test_latent_predictors_follow_what_was_measured():
    """x is normal(1 + 0.8 (seen - 1), sqrt(0.8)); without a measurement normal(1, 2)."""
    data, u = {"N": 2, "seen": [1, 2], "y": [1, 2]}, [0, 1, 0, 0]
    found = at(ERRORS, data, {"N": 3, "seen": [1, 3, None]}, u)["y"]
    close(found, [1, 2.6, 1], np.sqrt([0.81, 0.81, 4.01]))
    new = {"N": 2, "seen": [1, 3], "y": [1, 2]}
    with pytest.raises(DataError, match="Name the outcome to score given the others: fit"):
        scores(ERRORS, data, new, u)
    by_row = scores(ERRORS, data, new, u, "y")["y"]
    exact = stats.norm.logpdf([1, 2], [1, 2.6], np.sqrt(0.81))
    assert (np.abs(by_row.values - exact) < 5 * by_row.errors).all()
    alone = scores(ERRORS, data, {"N": 1, "y": [2]}, u)["y"]
    assert abs(alone.values[0] - stats.norm.logpdf(2, 1, np.sqrt(4.01))) < 5 * alone.errors[0]


def test_rows_without_a_density_have_no_score():
    program = "data { int T; vector[T] y; } parameters { real b; } "
    program += "model { b ~ normal(0, 1); for (t in 2:T) y[t] ~ normal(b * y[t - 1], 1); }"
    found = scores(program, {"T": 2, "y": [1, 2]}, {"T": 3, "y": [4, 1, 2]}, [0.5])["y"]
    right = [nan, *stats.norm.logpdf([1, 2], [2, 0.5])]
    assert found.values == pytest.approx(right, nan_ok=True) and np.isnan(found.errors[0])


SERIES = {
    "loop": "for (t in 2:T) y[t] ~ normal(a + b * y[t - 1], s);",
    "vectorised": "y[2:T] ~ normal(a + b * y[1:T - 1], s);",
    "local": "for (t in 2:T) { real m = a + b * y[t - 1]; y[t] ~ normal(m, s); }",
}


@pytest.mark.rotate
@pytest.mark.parametrize("form", ["loop", "vectorised", pytest.param("local", marks=pytest.mark.whole)])
def test_a_series_follows_its_last_known_values(form):
    program = "data { int T; vector[T] y; } parameters { real a; real b; real<lower=0> s; } model { LAW }"
    program, u = program.replace("LAW", SERIES[form]), [1, 0.5, np.log(0.1)]
    found = at(program, {"T": 3, "y": [1, 2, 3]}, {"T": 5, "y": [7, 4, None, None, None]}, u)["y"]
    sd = 0.1 * np.sqrt([1, 1.25, 1.3125])
    close(found, [7, 4, 3, 2.5, 2.25], [0, 0, *sd])
    with pytest.raises(InferenceError, match="Give the last known values"):
        at(program, {"T": 3, "y": [1, 2, 3]}, {"T": 3}, u)


def test_a_gap_in_a_series_lies_between_its_neighbours():
    """y2 is normal(1.5, 0.1) by the first value, the third normal(1 + y2 / 2, 0.1): y2 has precision 125."""
    program = "data { int T; vector[T] y; } parameters { real a; real b; } model { LAW }"
    program = program.replace("LAW", SERIES["loop"].replace("s)", "0.1)"))
    new = {"T": 4, "y": [1, None, 3, None]}
    found = at(program, {"T": 3, "y": [1, 2, 3]}, new, [1, 0.5])["y"]
    close(found, [1, 2, 3, 2.5], [0, np.sqrt(1 / 125), 0, 0.1])
    by_row = scores(program, {"T": 3, "y": [1, 2, 3]}, new, [1, 0.5])["y"]
    exact = stats.norm.logpdf(3, 1.75, 0.1 * np.sqrt(1.25))
    assert abs(by_row.values[2] - exact) < 5 * by_row.errors[2] and np.isnan(by_row.values[1])


def test_a_series_of_counts_goes_on():
    program = """
    data { int T; array[T] int<lower=0> y; }
    parameters { real b; }
    model { for (t in 2:T) y[t] ~ poisson(2 + b * y[t - 1]); }
    """
    data, u = {"T": 2, "y": [1, 2]}, [0.5]
    close(at(program, data, {"T": 3, "y": [8, None, None]}, u)["y"][:, 1:], [6, 5], np.sqrt([6, 5 + 1.5]))
    with pytest.raises(DataError, match="`y` is given and depends on `y`, which is discrete"):
        at(program, data, {"T": 3, "y": [8, None, 7]}, u)


GROUPS = """
data { int N; int J; vector[J] u; array[N] int<lower=1, upper=J> g; vector[N] y; }
parameters { real g0; real g1; real<lower=0> tau; vector[J] mu; }
model {
  for (j in 1:J) mu[j] ~ normal(g0 + g1 * u[j], tau);
  y ~ normal(mu[g], 0.5);
}
"""


def test_new_groups_follow_their_predictor_and_rows_that_are_given():
    data = {"N": 2, "J": 2, "u": [0, 1], "g": [1, 2], "y": [0, 0]}
    new = {"N": 4, "J": 4, "u": [0, 1, 2, 10], "g": [3, 4, 4, 1]}
    point = [1, 2, 0, 5, 6]  # tau = 1; mu = 5, 6
    close(at(GROUPS, data, new, point)["y"], [5, 21, 21, 5], np.sqrt([1.25, 1.25, 1.25, 0.25]))
    found = at(GROUPS, data, {**new, "y": [None, 23, None, None]}, point)["y"]
    close(found, [5, 23, 21 + 0.8 * 2, 5], np.sqrt([1.25, 0, 0.2 + 0.25, 0.25]))
    by_row = scores(GROUPS, data, {**new, "y": [5, 23, None, 5]}, point)["y"]
    exact = stats.norm.logpdf([5, 23, 5], [5, 21, 5], np.sqrt([1.25, 1.25, 0.25]))
    assert (np.abs(by_row.values[[0, 1, 3]] - exact) < 5 * by_row.errors[[0, 1, 3]] + 1e-9).all()
    with pytest.raises(DataError, match="u"):
        at(GROUPS, data, {"N": 1, "g": [3]}, point)


@pytest.mark.rotate
def test_one_of_several_outcomes_is_given():
    """z is normal(2, sqrt(1/2)) given a = 3; z2 > 0 follows b2 = 1."""
    program = """
    data { int N; vector[N] a; vector[N] b; }
    parameters { real m; vector[N] z; vector<lower=0>[N] w; }
    model { m ~ normal(0, 1); z ~ normal(m, 1); w ~ exponential(1); a ~ normal(z, 1); b ~ normal(z + w, 1); }
    """
    found = at(program, {"N": 1, "a": [1], "b": [1]}, {"N": 2, "a": [3, None], "b": [None, 2]}, [1, 0, 0])
    close(found["b"][:, [0]], 3, np.sqrt(2.5))
    z, w = np.meshgrid(np.linspace(-4, 6, 401), np.linspace(0, 10, 401))
    weights = stats.norm.pdf(z, 1, 1) * np.exp(-w) * stats.norm.pdf(2, z + w, 1)
    mean = np.average(z, weights=weights)
    close(found["a"][:, [1]], mean, np.sqrt(np.average((z - mean) ** 2, weights=weights) + 1))


def test_discrete_latents_given_outcomes_are_refused():
    program = """
    data { int N; vector[N] a; vector[N] b; }
    parameters { real m; array[N] int<lower=1, upper=2> z; }
    model {
      z ~ categorical([0.5, 0.5]');
      for (n in 1:N) { a[n] ~ normal(m * z[n], 1); b[n] ~ normal(z[n], 1); }
    }
    """
    data = {"N": 1, "a": [1], "b": [1]}
    with pytest.raises(DataError, match=r"`a` is given and depends on `z`, which is discrete.*replicate=.a"):
        at(program, data, {"N": 1, "a": [3]}, [1])
    close(at(program, data, {"N": 1, "a": [3]}, [1], replicate=["a"])["b"], 1.5, np.sqrt(1.25))


def test_mixtures_are_conditioned_on_row_by_row():
    program = """
    data { int N; vector[N] y; }
    parameters { real m; }
    model { for (n in 1:N) target += log_mix(0.25, normal_lpdf(y[n] | m, 1), normal_lpdf(y[n] | 4, 1)); }
    """
    data, new = {"N": 1, "y": [1]}, {"N": 2, "y": [1.5, None]}
    close(at(program, data, new, [0])["y"], [1.5, 3], [0, np.sqrt(1 + 3)])
    exact = np.log(0.25 * stats.norm.pdf(1.5) + 0.75 * stats.norm.pdf(1.5, 4))
    assert scores(program, data, new, [0])["y"].values[0] == pytest.approx(exact)


# --- Transformed data ---


def test_transformed_data_of_given_values_and_of_drawn_ones():
    program = """
    data { int N; vector[N] x; vector[N] y; }
    transformed data { vector[N] centred = x - mean(x); }
    parameters { real m; real b; }
    model { x ~ normal(m, 1); y ~ normal(b * centred, 1e-3); }
    """
    data = {"N": 2, "x": [1, 3], "y": [0, 0]}
    found = at(program, data, {"N": 2, "x": [1, 10]}, [0, 1])["y"]
    assert found.mean(axis=0) == pytest.approx([-1, 8], abs=1e-3)  # the mean of the fit is 2
    with pytest.raises(ModelError, match="transformed data compute `centred`, by row"):
        at(program, data, {"N": 2, "x": [1, None]}, [0, 1])


def test_transformed_data_that_are_outcomes_are_drawn_or_given_with_their_source():
    program = """
    data { int N; vector[N] x; vector[N] y; }
    transformed data { vector[N] z = y / 2; }
    parameters { real b; }
    model { z ~ normal(b * x, 1); }
    """
    data = {"N": 2, "x": [1, 2], "y": [2, 4]}
    close(at(program, data, {"N": 3, "x": [1, 2, 3]}, [1])["z"], [1, 2, 3], 1)
    new = {"N": 1, "x": [3], "y": [8]}
    assert scores(program, data, new, [1])["z"].values == pytest.approx(stats.norm.logpdf(4, 3))
    close(at(program, data, new, [1], replicate=["z"])["z"], 3, 1)


# --- Moves ---


class Shifted(Target):
    """A normal of correlation 0.9 over the last two coordinates, with the first two as means; none at all if
    `empty`."""

    dim, precision = 4, np.linalg.inv([[1, 0.9], [0.9, 1]])

    def __init__(self, empty=False):
        self.empty = empty

    def log_density_gradients(self, us):
        off = us[:, 2:] - us[:, :2]
        slope = -off @ self.precision
        value = np.full(len(us), -np.inf) if self.empty else 0.5 * (off * slope).sum(axis=1)
        return value, np.concatenate([-slope, slope], axis=1)

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


@pytest.mark.rotate
def test_moves_draw_from_each_target_and_say_when_they_do_not_settle():
    """Targets of other means; and one that no move leaves."""
    rng = np.random.default_rng(1)
    means = np.tile(np.linspace(-50, 50, 500)[:, None], 2)
    start = means + rng.normal(0, 5, (500, 2))
    found = conditional(Shifted(), means, start, start[::-1] + 2 * means, rng)
    assert found.forgotten
    white = (found.points - means) @ np.linalg.cholesky(Shifted.precision)
    assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3
    few = start[:50]
    assert not conditional(Shifted(empty=True), means[:50], few, few + 1, rng).forgotten
