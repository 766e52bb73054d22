"""Predictions for new rows and new groups, against what they follow given known draws."""

import re

import numpy as np
import pytest

import ppl
from ppl.errors import DataError, InferenceError, ModelError
from ppl.results.fits.new_rows import predicted

N = 4000


def at(program, data, new, u, n=N):
    """Predictions given one point on the unconstrained scale, `n` times."""
    posterior = ppl.compile_model(program).condition(data)
    return predicted(posterior, np.tile(np.asarray(u, float), (n, 1)), new, 1)


SCALED = """
data { int N; int K; matrix[N, K] X; vector[N] y; }
transformed data {
  matrix[N, K] C;
  vector[N] first = (X[, 1] - mean(X[, 1])) / sd(X[, 1]);
  real above = mean(y);
  for (k in 1:K) { real m = mean(X[, k]); C[, k] = X[, k] - m; }
}
parameters { real a; vector[K] b; }
transformed parameters { vector[N] mu = a + above + C * b; }
model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(mu + first, 1e-6); }
"""
SEEN = {"N": 3, "K": 2, "X": [[1, 2], [2, 3], [3, 10]], "y": [1, 2, 3]}


def test_transformed_data_are_those_of_the_fit():
    """Means 2 and 5, deviation 1, mean of y 2: rows are centred by these, whatever the new rows are."""
    found = at(SCALED, SEEN, {"N": 2, "X": [[2, 5], [4, 6]]}, [0.5, 1, 10], n=2)
    assert found["y"] == pytest.approx(np.array([[2.5, 2.5 + 2 + 10 + 2]] * 2), abs=1e-4)


OF_ROWS = """
functions {
  vector centred(vector v) { return v - mean(v); }
  vector logs(vector v) { return log(v); }
  real scale(int n) { return inv_sqrt(n); }
  vector by_n(vector v, int n) { return v / n; }
  real average(vector v) { return mean(v); }
}
data { int N; vector[N] x; matrix[N, 3] X; array[N] int<lower=1, upper=2> g; vector[N] y; }
transformed data { BEFORE }
parameters { real b; }
transformed parameters { vector[N] mu; { LATER mu = b * VALUE; } }
model { b ~ normal(0, 1); y ~ normal(mu, 1); }
"""
ROWS = {
    "x": np.array([1.0, 2, 4, 9, 5, 7]),
    "X": np.array([[1.0, 2, 4], [3, 1, 9], [5, 5, 2], [2, 7, 8], [4, 4, 1], [9, 1, 3]]),
    "g": np.array([1, 2, 1, 2, 2, 1]),
}


def of_rows(before, later, value):
    """Expected values of the rows of a fit, and of some of them as new rows."""
    program = OF_ROWS.replace("BEFORE", before).replace("LATER", later).replace("VALUE", value)
    posterior = ppl.compile_model(program).condition({"N": 6, **ROWS, "y": [0.0] * 6})
    some = {name: x[[3, 0, 4]] for name, x in ROWS.items()}
    alone = predicted(posterior, np.ones((1, 1)), {"N": 3, **some}, 1, means=True)["y"]
    return predicted(posterior, np.ones((1, 1)), {"N": 6, **ROWS}, 1, means=True)["y"][0, [3, 0, 4]], alone[0]


@pytest.mark.parametrize(
    ("before", "later", "value"),
    [
        ("", "", "(x - mean(x))"),
        ("", "", "(x - sum(x) / N)"),
        ("", "", "(x - sum(x) / num_elements(x))"),
        ("", "", "logs(x)"),
        ("", "real m = mean(x); real s = sd(x);", "((x - m) / s)"),
        ("", "vector[N] l = log(x); real m = mean(l);", "(l - m)"),
        ("", "vector[N] c = 0 * x; for (k in 1:3) { vector[N] v = X[, k]; c += v - mean(v); }", "c"),
        ("", "vector[N] c; for (n in 1:N) c[n] = X[n, 1] - mean(X[, 1]) + mean(X[n]);", "c"),
        ("", "vector[N] c; for (n in 1:N) { row_vector[3] r = X[n]; c[n] = mean(r); }", "c"),
        ("", "vector[N] c; for (n in 1:N) { if (x[n] > mean(x)) c[n] = 1; else c[n] = 0; }", "c"),
        ("vector[N] c; for (n in 1:N) { row_vector[3] r = X[n]; c[n] = mean(r); }", "", "c"),
        ("vector[N] c; for (n in 1:rows(X)) c[n] = mean(X[n]);", "", "c"),
        ("vector[N] c; for (n in 1:N) { int i = n; c[n] = sum(X[i]); }", "", "c"),
        ("matrix[N, 3] C; for (k in 1:3) { vector[N] v = X[, k]; C[, k] = v - mean(v); }", "", "C[, 2]"),
        ("matrix[N, 3] C; for (k in 1:cols(X)) C[, k] = X[, k] - mean(X[, k]);", "", "C[, 2]"),
        ("vector[N] c = x; if (N > 0) { c = x - mean(x); }", "", "c"),
        ("vector[N] c; for (n in 1:N) { if (x[n] > mean(x)) c[n] = 1; else c[n] = 0; }", "", "c"),
        ("vector[N] c = x - sum(x) / N;", "", "c"),
        ("{ int k = 0; k += 1; } vector[N] c = logs(x);", "", "c"),
        ("vector[N] c = x / N;", "", "c"),
        ("vector[N] c = x * inv_sqrt(N);", "", "c"),
        ("vector[N] c = by_n(x, N);", "", "c"),
        ("vector[N] c = x - log_sum_exp(x);", "", "c"),
        ("real m = scale(N); m *= 2;", "", "m * x"),
        ("int m = N - 1;", "", "x / m"),
        ("int m = N - 1; real q = 1.0 / m;", "", "x * q"),
        ("int m = sum(g);", "", "x / m"),
        ("real m = rep_row_vector(1.0 / N, N) * x;", "", "(x - m)"),
        ("real m = 0; for (n in 1:N) m += x[n]; m /= N;", "", "(x - m)"),
        ("vector[2] m = [0, 0]'; for (n in 1:N) m[g[n]] += x[n] / 3; vector[N] c = x - m[g];", "", "c"),
        ("vector[2] m = [0, 0]'; for (n in 1:N) m[g[n]] += x[n] / 3;", "", "(x - m[g])"),
        ("matrix[3, 3] S = X' * X;", "", "(X * S[, 1])"),
        ("", "", "x * inv_sqrt(N)"),
        ("", "", "x / sqrt(N)"),
        ("", "", "N * x"),
        ("", "", "x * (1.0 / (N - 1))"),
        ("", "", "x * scale(N)"),
        ("", "", "by_n(x, N)"),
        ("", "", "x / rows(X)"),
        ("", "vector[N] l = x;", "l / size(l)"),
        ("", "real m = N; m /= 2;", "x / m"),
        ("", "int m = N / 2;", "x / m"),
        ("", "vector[N] c; for (n in 1:N) c[n] = x[n] * 1.0 / N;", "c"),
        ("", "", "x + [N, 1.0]'[1]"),
        ("", "", "x ./ rep_vector(N, N)"),
        ("", "", "(x - average(x))"),
        ("", "", "(x - x' * x)"),
        ("", "", "(x - dot_product(x, X[, 1]))"),
    ],
)  # fmt: skip
def test_values_of_all_rows_are_those_of_the_fit(before, later, value):
    whole, alone = of_rows(before, later, value)
    assert alone == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize(
    ("before", "later", "value"),
    [
        ("vector[N] c = centred(x);", "", "c"),
        ("vector[N] c = softmax(x);", "", "c"),
        ("", "", "centred(x)"),
        ("", "", "softmax(x)"),
        ("", "", "sort_asc(x)"),
        ("", "", "(X * (X' * X)[, 1])"),
        ("", "", "(x + linspaced_vector(N, 0, 1))"),
        ("", "vector[N] e = x * b;", "(e - mean(e))"),
        ("", "real m = 0; for (n in 1:N) m += x[n];", "(x - m)"),
        ("", "vector[2] m = [0, 0]'; for (n in 1:N) m[g[n]] += x[n] / 3;", "(x - m[g])"),
        ("", "int m = N; m *= 2;", "x / m"),
        ("", "", "(N > 3 ? x : 2 * x)"),
        ("", "vector[N] l; for (n in 1:N) l[n] = log(x[n]); real m = mean(l);", "(l - m)"),
    ],
)  # fmt: skip
def test_values_of_all_rows_without_a_counterpart_are_refused(before, later, value):
    with pytest.raises(ModelError, match=r"all rows|other rows") as caught:
        of_rows(before, later, value)
    assert caught.value.code == "PPL981"


def test_series_in_transformed_data_are_those_of_the_new_rows():
    before = "vector[N] c = cumulative_sum(x); for (n in 2:N) c[n] += 0.5 * c[n - 1];"
    whole, alone = of_rows(before, "", "c")
    assert alone[0] == 9 and whole[0] > 9


GROUPS = """
data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] x; vector[N] y; }
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] z;
  vector<lower=5>[J] w;
  array[J] vector[2] c;
  vector[N] e;
}
transformed parameters { vector[J] theta = mu + tau * z; }
model {
  y ~ normal(theta[g] + w[g] .* x + to_vector(c[g, 1]) + e, 1e-3);
  mu ~ normal(0, 1);
  tau ~ exponential(1);
  z ~ std_normal();
  w ~ normal(5, 1);
  for (j in 1:J) c[j] ~ multi_normal([mu, mu]', diag_matrix([1, 1]'));
  e ~ normal(0, 0.5);
}
"""
TWO = {"N": 2, "J": 2, "g": [1, 2], "x": [0, 0.0], "y": [1, 2]}
U = [10, np.log(2), 1, -1, np.log(1), np.log(2), 0, 0, 0, 0, 100, 100]
"""z = 1, -1, so that theta = 12, 8; w = 6, 7; c = 0; e = 100 in the rows of the fit."""


@pytest.mark.rotate
def test_new_groups_have_effects_from_their_own_prior():
    new = {"N": 4, "J": 3, "g": [1, 2, 3, 3], "x": [0, 1, 0, 1]}
    found = at(GROUPS, TWO, new, U)["y"]
    half = np.sqrt(2 / np.pi)  # w of a new group is normal(5, 1) above 5
    mean = [12, 8 + 7, 10 + 10, 10 + 10 + 5 + half]
    sd = [0.5, 0.5, np.sqrt(4 + 1 + 0.25), np.sqrt(4 + 1 + 0.25 + 1 - half**2)]
    assert found.mean(axis=0) == pytest.approx(mean, abs=0.15)
    assert found.std(axis=0) == pytest.approx(sd, rel=0.05)
    assert np.corrcoef(found[:, 2], found[:, 3])[0, 1] > 0.8  # one group, one effect


def test_new_columns_of_a_matrix_that_to_vector_draws():
    program = """data { int N, J; array[N] int<lower=1, upper=J> g; vector[N] y; }
    parameters { matrix[2, J] z; }
    model { to_vector(z) ~ normal(1, 1); for (n in 1:N) y[n] ~ normal(z[1, g[n]] + z[2, g[n]], 0.5); }"""
    fitted = {"N": 1, "J": 1, "g": [1], "y": [0.0]}
    draws = at(program, fitted, {"N": 2, "J": 2, "g": [1, 2]}, [0.0, 3.0])["y"]
    assert draws.mean(axis=0) == pytest.approx([3, 2], abs=0.15)
    assert draws.std(axis=0) == pytest.approx([0.5, 1.5], rel=0.08)


def test_groups_of_unequal_sizes_with_one_density_each():
    program = """data { int N, G; array[G] int n; vector[N] y; } parameters { real m; real<lower=0> s; }
    model { m ~ normal(0, 1); s ~ exponential(1); int at = 1;
      for (g in 1:G) {
        segment(y, at, n[g]) ~ multi_normal(rep_vector(m, n[g]), add_diag(rep_matrix(0.8, n[g], n[g]), 0.2));
        at += n[g];
      } }"""
    fitted = {"N": 3, "G": 2, "n": [1, 2], "y": [0, 1, 2.0]}
    new = {"N": 5, "G": 2, "n": [2, 3], "y": [3.0, None, None, None, -1.0]}
    draws = at(program, fitted, new, [0.5, 0.0])["y"]
    assert draws.mean(axis=0) == pytest.approx([3, 0.5 + 0.8 * 2.5, *[0.5 - 0.8 * 1.5] * 2, -1], abs=0.06)
    assert draws.std(axis=0) == pytest.approx([0, 0.6, 0.6, 0.6, 0], rel=0.08)
    assert np.corrcoef(draws[:, 2], draws[:, 3])[0, 1] == pytest.approx(0.16 / 0.36, abs=0.08)


def test_fewer_groups_keep_theirs():
    assert at(GROUPS, TWO, {"N": 1, "J": 1, "g": [1], "x": [0]}, U)["y"].mean() == pytest.approx(12, abs=0.05)


def test_a_series_goes_on_where_the_fit_ended():
    """A random walk of states with a size of its own: new ones follow the last of the fit."""
    program = """
    data { int N; int T; array[N] int t; vector[N] y; }
    parameters { vector[T] h; }
    model {
      h[1] ~ normal(0, 1);
      for (i in 2:T) h[i] ~ normal(h[i - 1], 1);
      y ~ normal(h[t], 1e-3);
    }
    """
    found = at(program, {"N": 1, "T": 2, "t": [1], "y": [0]}, {"N": 3, "T": 5, "t": [2, 3, 5]}, [5, 7])["y"]
    assert found.mean(axis=0) == pytest.approx([7, 7, 7], abs=0.15)
    assert found.std(axis=0) == pytest.approx([1e-3, 1, np.sqrt(3)], rel=0.06)


def test_discrete_parameters_of_new_rows_are_drawn():
    program = """
    data { int N; vector[N] y; }
    parameters { real m; simplex[2] w; array[N] int<lower=1, upper=2> z; }
    model { z ~ categorical(w); for (n in 1:N) y[n] ~ normal(z[n] == 1 ? m : 100, 1); }
    """
    found = at(program, {"N": 2, "y": [0.0, 101]}, {"N": 3}, [0, 0])["y"]
    assert found.shape == (N, 3) and found.mean(axis=0) == pytest.approx([50] * 3, abs=3)


@pytest.mark.parametrize(
    ("program", "new", "says"),
    [
        ("transformed data { matrix[N, 1] Q = qr_thin_Q(X); } parameters { vector[1] b; } "
         "model { y ~ normal(Q * b, 1); }", {"N": 2, "X": [[1], [2]]}, "which depends on all rows"),
        ("parameters { vector[J] a; } model { y ~ normal(a[1], 1); }", {"N": 2, "J": 3},
         "`a` has no `~` statement, so its new entries have no prior"),
        ("parameters { cov_matrix[J] S; } model { S ~ inv_wishart(9, identity_matrix(J)); "
         "y ~ normal(S[1, 1], 1); }", {"N": 2, "J": 3},
         "`S` is a cov_matrix, whose new entries are not drawn"),
        ("parameters { real m; } model { for (n in 1:N) target += log_mix([0.5, 0.5]', "
         "[normal_lpdf(y[n] | m, 1), normal_lpdf(y[n] | 0, 1)]'); }", {"N": 2},
         "this `target +=` does not give a distribution"),
        ("parameters { vector<lower=0>[J] c; } model { log(c) ~ multi_normal(rep_vector(0, J), "
         "identity_matrix(J)); y ~ normal(c[1], 1); }", {"N": 2, "J": 3},
         "`log(c)` is not a parameter, nor an entry of one"),
    ],
)  # fmt: skip
def test_what_cannot_be_predicted_is_refused(program, new, says):
    declared = "data { int N; int J; matrix[N, 1] X; vector[N] y; }" + program
    posterior = ppl.compile_model(declared).condition({"N": 3, "J": 2, "X": np.ones((3, 1)), "y": [1, 2, 3]})
    with pytest.raises(ModelError, match=re.escape(says)) as caught:
        predicted(posterior, np.zeros((2, posterior.param_unc_num())), {"X": np.ones((2, 1)), **new}, 1)
    assert caught.value.code == "PPL981"


def test_an_index_out_of_range_is_named_with_the_line_of_the_program():
    program = "data { int N; array[N] int g; vector[N] y; } parameters { vector[2] a; }\n"
    program += "model { a ~ normal(0, 1); for (n in 1:N)\ny[n] ~ normal(a[g[n]], 1); }"
    with pytest.raises(
        InferenceError, match=r"<string>:3:1\n.*y\[n\] ~ normal(?s:.)*Index 0 of `a`, from `g`"
    ):
        at(program, {"N": 1, "g": [1], "y": [0]}, {"N": 1, "g": [0]}, [0, 0], n=2)


def test_a_series_without_a_first_value_cannot_be_predicted():
    """As of autoregressions, whose first value is given: no statement draws it for new rows."""
    program = """
    data { int N; vector[N] y; }
    parameters { real b; }
    model { b ~ normal(0, 1); for (n in 2:N) y[n] ~ normal(b * y[n - 1], 1); }
    """
    with pytest.raises(InferenceError, match=r'any of 3 draws: `y` follows its own.*"y": \[4.2, null'):
        at(program, {"N": 2, "y": [1, 2]}, {"N": 4}, [0.5], n=3)


LINE = """
data { int N; vector[N] x; vector[N] y; }
parameters { real b; }
model { b ~ normal(0, 5); y ~ normal(b * x, 1); }
"""


@pytest.fixture(scope="module")
def fit():
    return ppl.compile_model(LINE).condition({"N": 3, "x": [1, 2, 3], "y": [2, 4, 6]}).variational(seed=1)


def test_a_dict_gives_draws_and_outcomes_that_are_given_are_drawn_again_where_that_is_said(fit):
    found = fit.predict({"N": 2, "x": [10, 20]})
    assert found["y"].shape == (1000, 2) and found["y"].mean(axis=0) == pytest.approx([20, 40], abs=1.5)
    with pytest.raises(DataError, match=r'fit.score\(data, "y"\).* replicate="y"'):
        fit.predict({"N": 2, "x": [10, 20], "y": [-1, -1]})
    again = fit.predict({"N": 2, "x": [10, 20], "y": [-1, -1]}, replicate="y")
    assert (again["y"] == found["y"]).all()
    with pytest.raises(DataError, match=r"No statement models `x`. The modelled variables are `y`"):
        fit.predict({"N": 2, "x": [10, 20]}, replicate=["x"])
    assert (fit.predict({"N": 2, "x": [10, 20]}, seed=2)["y"] != found["y"]).any()
    with pytest.raises(DataError, match=r"the new rows lack `x`; the data have `X`: did you mean that"):
        fit.predict({"N": 2, "X": [1, 2]})


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_data_frame_gives_a_data_frame(fit, package):
    frames = pytest.importorskip(package)
    found = fit.predict(frames.DataFrame({"x": [10.0, 20.0, 0.0]}))
    assert isinstance(found, frames.DataFrame) and list(found.columns) == ["y", "y.5%", "y.95%"]
    means, low, high = (np.asarray(found[name]) for name in found.columns)
    assert len(found) == 3 and means == pytest.approx([20, 40, 0], abs=1.5)
    assert (low < means).all() and (means < high).all()


VISITS = """
data { int N; int J; array[N] int<lower=1, upper=J> g; vector[J] u; vector[J] t; vector[N] y; }
transformed data { vector[J] twice = 2 * t; }
parameters { real b; vector[J] e; }
model {
  b ~ normal(0, 1);
  e ~ normal(0, 1);
  u ~ normal(e, 1);
  twice ~ normal(0, 1);
  y ~ normal(b * (e[g] + u[g] + twice[g]), 1);
}
"""
PATIENTS = {"N": 3, "J": 3, "g": [1, 2, 3], "u": [1, 2, 5], "t": [1, 0, -1], "y": [0, 1, 2]}


def test_rows_of_which_no_new_data_are_stay_those_of_the_fit():
    """Patients have outcomes of their own: with visits alone they keep these, and their effects."""
    fit = ppl.compile_model(VISITS).condition(PATIENTS).variational(algorithm="laplace", seed=1)
    b, e = fit.stan_variable("b"), fit.stan_variable("e")
    of_third = b * (e[:, 2] + 5 - 2)
    assert fit.expected({"N": 1, "g": [3]})["y"][:, 0] == pytest.approx(of_third)
    assert fit.effects("g").expected["y"][:, 2] == pytest.approx(of_third)
    between = fit.contrast({"g": [1, 3]}, average=False)["difference_y"][:, 0]
    assert between == pytest.approx(of_third - b * (e[:, 0] + 1 + 2))
    assert [*fit.predict({"N": 1, "g": [3]})] == ["y"] == [*fit.score({"N": 1, "g": [3], "y": [0]})]
    assert fit.predict({"N": 1, "g": [3]}, replicate="u")["u"][:, 2].std() > 1
