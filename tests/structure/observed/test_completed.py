"""Missing data as parameters: densities of hand-written programs, enumeration of ints, and what follows."""

import copy
import itertools
import json

import numpy as np
import pytest
from scipy import stats

import ppl
from ppl.errors import DataError, ModelError
from ppl.results.fits.by_row import log_likelihood, predictive
from ppl.results.fits.new_rows import predicted

NAN = float("nan")


def given(program, **data):
    return ppl.compile_model(program).condition(data, missing="model")


BY_HAND = [
    (
        "data { int N; vector[N] x; vector<lower=0>[N] y; } parameters { real a; real b; real<lower=0> s; } "
        "model { a + b ~ normal(0, 1); b ~ normal(0, 1); s ~ exponential(1); x ~ normal(a, 2); "
        "y ~ normal(a + b * x, s); }",
        {"N": 5, "x": [1, None, 0.5, NAN, 2.0], "y": [1.0, 2, "NA", 3, 0.3]},
        "data { int N; vector[N] x; vector<lower=0>[N] y; } parameters { real a; real b; real<lower=0> s; "
        "vector[2] xm; vector<lower=0>[1] ym; } transformed parameters { vector[N] xc = x; vector[N] yc = y; "
        "xc[{2, 4}] = xm; yc[3] = ym[1]; } model { a + b ~ normal(0, 1); b ~ normal(0, 1); "
        "s ~ exponential(1); xc ~ normal(a, 2); yc ~ normal(a + b * xc, s); }",
        {"N": 5, "x": [1, 9, 0.5, 9, 2.0], "y": [1.0, 2, 9, 3, 0.3]},
        ["x.2", "x.4", "y.3"],
    ),
    (
        "data { int N; vector[N] L; array[N] vector<lower=L[1], upper=7>[2] z; vector<lower=L>[N] y; "
        "real w; } parameters { cov_matrix[2] S; } model { "
        "for (n in 1:N) z[n] ~ multi_normal(rep_vector(w, 2), S); "
        "w ~ normal(0, 1); target += normal_lpdf(y | w, 1); }",
        {"N": 2, "L": [-1, 2], "z": [[None, 2], [3, None]], "y": [1, None], "w": None},
        "data { int N; vector[N] L; array[N] vector[2] z; vector[N] y; } parameters { cov_matrix[2] S; "
        "vector<lower=-1, upper=7>[2] zm; vector<lower=2>[1] ym; real w; } model { "
        "array[N] vector[2] zc = z; zc[1, 1] = zm[1]; zc[2, 2] = zm[2]; vector[N] yc = y; "
        "yc[2] = ym[1]; for (n in 1:N) zc[n] ~ "
        "multi_normal(rep_vector(w, 2), S); w ~ normal(0, 1); target += normal_lpdf(yc | w, 1); }",
        {"N": 2, "L": [-1, 2], "z": [[9, 2], [3, 9]], "y": [1, 9]},
        ["z.1.1", "z.2.2", "y.2", "w"],
    ),
    (
        "data { int N; array[N] real y; matrix[N, 2] X; } parameters { real r; } model { "
        "to_vector(X) ~ normal(r, 1); y[1] ~ normal(0, 1); "
        "for (n in 2:N) y[n] ~ normal(r * y[n - 1] + X[n, 2], 1); }",
        {"N": 4, "y": [1.0, None, None, 2], "X": [[1, 2], [None, 4], [5, 6], [7, None]]},
        "data { int N; array[N] real y; matrix[N, 2] X; } parameters { real r; vector[2] ym; vector[2] xm; } "
        "model { array[N] real yc = y; yc[2:3] = to_array_1d(ym); matrix[N, 2] Xc = X; Xc[2, 1] = xm[1]; "
        "Xc[4, 2] = xm[2]; to_vector(Xc) ~ normal(r, 1); for (n in 2:N) yc[n] ~ "
        "normal(r * yc[n - 1] + Xc[n, 2], 1); yc[1] ~ normal(0, 1); }",
        {"N": 4, "y": [1.0, 9, 9, 2], "X": [[1, 2], [9, 4], [5, 6], [7, 9]]},
        ["y.2", "y.3", "X.2.1", "X.4.2"],
    ),
]


@pytest.mark.parametrize(("program", "data", "by_hand", "filled", "names"), BY_HAND)
def test_the_density_is_that_of_the_program_by_hand(program, data, by_hand, filled, names):
    found, expected = given(program, **data), ppl.compile_model(by_hand).condition(filled)
    assert found.param_names()[-len(names) :] == names == found.param_unc_names()[-len(names) :]
    us = np.random.default_rng(1).normal(size=(4, found.param_unc_num()))
    for propto in (False, True):
        mine, its = (p.log_density_gradients(us, propto=propto) for p in (found, expected))
        np.testing.assert_allclose(mine[0], its[0], rtol=0, atol=1e-10)
        np.testing.assert_allclose(mine[1], its[1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        found.param_constrain(us[0])[-len(names) :], expected.param_constrain(us[0])[-len(names) :]
    )


X = [1, 0, None, 1, None, 0]
INTS = """
data { int N; array[N] int<lower=0, upper=1> x; vector[N] y; array[2, 2] int<lower=1, upper=3> c; }
parameters { real a; real<lower=0, upper=1> p; simplex[3] q; }
model { x ~ bernoulli(p); y ~ normal(a * to_vector(x), 1); for (i in 1:2) c[i] ~ categorical(q); }
generated quantities { int n = sum(x); }
"""
Y = [0.5, -1.0, 2.0, 0.1, 0.3, 0.7]


def of_ints(a, p, q, x):
    """The log likelihood of one completion; c misses one entry, whose probabilities sum to one."""
    of_x = stats.bernoulli.logpmf(x, p).sum() + stats.norm.logpdf(Y, a * np.array(x)).sum()
    return of_x + np.log(q[0]) + 2 * np.log(q[2])


def of_each(a, p, q, x):
    """That of draws (n,), of q (n, 3)."""
    x = np.array(x)
    of_x = (x * np.log(p)[:, None] + (1 - x) * np.log1p(-p)[:, None]).sum(axis=1)
    of_y = stats.norm.logpdf(Y - a[:, None] * x).sum(axis=1)
    return of_x + of_y + np.log(q[:, 0]) + 2 * np.log(q[:, 2])


def test_values_of_missing_data_have_the_name_of_the_data():
    program = "data { int N; vector[N] x; real w; } parameters { real a; } "
    program += "model { a ~ normal(w, 1); x ~ normal(a, 2); w ~ normal(0, 1); }"
    posterior = given(program, N=3, x=[1, None, None], w=None)
    right = posterior.param_unconstrain({"a": 5, "x": [2, 3], "w": [4]})
    assert dict(zip(posterior.param_unc_names(), right, strict=True)) == {"a": 5, "x.2": 2, "x.3": 3, "w": 4}
    assert (posterior.param_unconstrain({"a": 5, "x": [1, 2, 3], "w": 4}) == right).all()
    for values in ({"a": 5, "w": 4}, {"a": 5, "x": [1, 2, 3, 4], "w": 4}):
        with pytest.raises(DataError, match=r"x.* give all of it, of shape \(3\), or its 2 missing values"):
            posterior.param_unconstrain(values)


def test_missing_ints_are_summed_over_and_drawn_back():
    posterior = given(INTS, N=6, x=X, y=Y, c=[[1, None], [3, 3]])
    assert posterior.param_names(include_gq=True)[5:] == ["x.3", "x.5", "c.1.2", "n"]
    assert posterior.missing == {"x": ["x[3]", "x[5]"], "c": ["c[1,2]"]}
    for u in np.random.default_rng(2).normal(size=(3, 4)):
        a, p, *q = posterior.param_constrain(u)
        every = [
            of_ints(a, p, q, [X[0], X[1], i, X[3], j, X[5]]) for i, j in itertools.product([0, 1], repeat=2)
        ]
        assert posterior.log_density(u, jacobian=False) == pytest.approx(
            np.logaddexp.reduce(every), abs=1e-10
        )
    assert np.isfinite(posterior.log_density_gradient(u)[1]).all()


def test_draws_of_ints_follow_their_probabilities():
    posterior = given(INTS, N=6, x=X, y=Y, c=[[1, None], [3, 3]])
    fit = posterior.variational(algorithm="laplace", draws=2000, seed=1)
    x = fit.stan_variable("x")
    assert x.dtype == np.int64 and (x[:, [0, 1, 3, 5]] == [1, 0, 1, 0]).all()
    assert (fit.stan_variable("n") == x.sum(axis=1)).all()
    exact = fit.probabilities("x")
    assert x.mean(axis=0) == pytest.approx(exact[:, 1], abs=0.04)
    every = np.array(list(itertools.product([0, 1], repeat=2)))
    drawn = [fit.stan_variable(name) for name in ("a", "p", "q")]
    logs = np.column_stack([of_each(*drawn, [X[0], X[1], i, X[3], j, X[5]]) for i, j in every])
    assert logs[0, 1] == pytest.approx(of_ints(*(v[0] for v in drawn), [X[0], X[1], 0, X[3], 1, X[5]]))
    expected = np.exp(logs - np.logaddexp.reduce(logs, axis=1)[:, None]).sum(axis=0)
    counts = [(x[:, [2, 4]] == pair).all(axis=1).sum() for pair in every]
    assert stats.chisquare(counts, expected).pvalue > 1e-3
    assert exact[[2, 4], 1] == pytest.approx(expected @ every / 2000, abs=1e-10)
    c = np.bincount(fit.stan_variable("c")[:, 0, 1], minlength=4)[1:]
    assert stats.chisquare(c, fit.stan_variable("q").sum(axis=0)).pvalue > 1e-3
    assert fit.stan_variable("c").shape == (2000, 2, 2)
    assert "2 missing values are parameters, marginalised and drawn afterwards: x[3], x[5]." in fit.notes


REGRESSION = """
data { int N; vector[N] x; vector[N] y; }
parameters { real a; real b; real m; }
model { a ~ normal(0, 1); b ~ normal(0, 1); m ~ normal(0, 1); x ~ normal(m, 1); y ~ normal(a + b * x, 1); }
"""
ROWS = {"N": 4, "x": [1, None, 2, 3], "y": [1, 2, None, 4]}


def test_what_is_missing_has_no_row():
    found = log_likelihood(given(REGRESSION, **ROWS), np.array([[0.5, 1, 2, 7, 9]]))
    assert {name: rows.at for name, rows in found.items()} == {
        "x": ((1,), (3,), (4,)),
        "y": ((1,), (2,), (4,)),
    }
    np.testing.assert_allclose(found["x"].values[0], stats.norm.logpdf([1, 2, 3], 2))
    np.testing.assert_allclose(found["y"].values[0], stats.norm.logpdf([1, 2, 4], [1.5, 7.5, 3.5]))
    assert found["y"].observed.tolist() == [[1], [2], [4]]


def test_rows_with_missing_ints_are_given_the_draws():
    program = "data { int N; array[N] int<lower=0, upper=1> x; vector[N] y; } parameters { real a; } model { "
    program += "a ~ normal(0, 1); x ~ bernoulli(0.5); y ~ normal(a * to_vector(x), 0.1); }"
    found = log_likelihood(given(program, N=2, x=[1, None], y=[3, 3]), np.array([[3.0]]))
    assert found["x"].at == ((1,),) and found["y"].at == ((1,), (2,))
    np.testing.assert_allclose(found["x"].values[0], np.log(0.5))
    np.testing.assert_allclose(found["y"].values[0], [stats.norm.logpdf(0, 0, 0.1)] * 2)


def test_one_density_of_all_has_no_rows():
    program = "data { vector[2] y; } parameters { real m; } "
    posterior = given(program + "model { y ~ multi_normal([m, m]', diag_matrix([1, 1]')); }", y=[1, None])
    with pytest.raises(DataError, match="one density of all of `y`"):
        log_likelihood(posterior, np.zeros((1, 2)))


def test_data_drawn_anew_and_predictions_for_new_rows():
    posterior, u = given(REGRESSION, **ROWS), np.tile([5.0, 0, 2, 7, 9], (4000, 1))
    assert {name: x.shape for name, x in predictive(posterior, u, 1).items()} == {
        "x": (4000, 4),
        "y": (4000, 4),
    }
    y = predicted(posterior, u, {"N": 1, "x": [3]}, 1)["y"]
    assert y.shape == (4000, 1) and y.mean() == pytest.approx(5, abs=0.1)


def test_a_fit_is_read_back_and_copied(tmp_path):
    posterior = given(REGRESSION, **ROWS)
    fit = posterior.variational(algorithm="meanfield", seed=1)
    fit.save(tmp_path / "fit.json")
    again = ppl.load_fit(tmp_path / "fit.json", ppl.compile_model(REGRESSION), ROWS)
    assert (again.draws() == fit.draws()).all() and again.column_names[-2:] == ("x.2", "y.3")
    assert copy.deepcopy(posterior).log_density(np.ones(5)) == posterior.log_density(np.ones(5))
    assert fit.stan_variable("x").shape == (1000, 4) and (fit.stan_variable("x")[:, 0] == 1).all()
    assert (fit.stan_variable("x[2]") == fit.stan_variable("x")[:, 1]).all()
    assert fit.stan_variable("x", mean=True).shape == (4,)


def test_arviz_has_missing_values_and_the_data_without(tmp_path):
    pytest.importorskip("arviz")
    fit = given(REGRESSION, **ROWS).variational(algorithm="meanfield", seed=1)
    found = fit.to_arviz(log_likelihood=True)
    assert found.posterior["x"].shape == (1, 1000, 1) and found.log_likelihood["y"].shape == (1, 1000, 3)
    assert np.isnan(found.observed_data["y"].values).tolist() == [False, False, True, False]
    assert "y_missing_n" not in found.observed_data


@pytest.mark.parametrize("suffix", ["csv", "R", "json", "frame", "masked"])
def test_every_way_to_write_a_missing_value(tmp_path, suffix):
    if suffix == "frame":
        pandas = pytest.importorskip("pandas")
        data = pandas.DataFrame({"x": pandas.array([1, None, 2, 3], "Int64"), "y": [1, 2, NAN, 4]})
    elif suffix == "masked":
        x, y = [1, 9, 2, 3], [1.0, 2.0, 9.0, 4.0]
        data = {"N": 4, "x": np.ma.array(x, mask=[0, 1, 0, 0]), "y": np.ma.array(y, mask=[0, 0, 1, 0])}
    else:
        texts = {
            "csv": "x,y\n1,1\nNA,2\n2,\n3,4\n",
            "R": "N <- 4\nx <- c(1, NA, 2, 3)\ny <- c(1, 2, NA_real_, 4)\n",
            "json": json.dumps(ROWS),
        }
        data = tmp_path / f"d.{suffix}"
        data.write_text(texts[suffix])
    posterior = ppl.compile_model(REGRESSION).condition(data, missing="model")
    assert posterior.missing == {"x": ["x[2]"], "y": ["y[3]"]}
    assert posterior.log_density(np.ones(5)) == pytest.approx(
        given(REGRESSION, **ROWS).log_density(np.ones(5))
    )


def test_without_missing_values_nothing_changes():
    whole = {"N": 2, "x": [1, 2], "y": [3, 4]}
    posterior = given(REGRESSION, **whole)
    assert posterior.missing == {} and posterior.param_unc_num() == 3


REFUSED = [
    (
        "data { vector[2] y; } parameters { real m; } model { m ~ normal(sum(y), 1); }",
        "no statement models `y`",
    ),
    *(
        (
            f"data {{ array[2] int<{bounds}> y; }} parameters {{ real m; }} model {{ m ~ normal(y[1], 1); }}",
            f"Add `y ~ {usual}",
        )
        for bounds, usual in (
            ("lower=0, upper=1", "bernoulli"),
            ("lower=1, upper=4", "categorical"),
            ("lower=0, upper=9", "poisson"),
        )
    ),
    ("data { simplex[2] y; } parameters { real m; } model { y ~ dirichlet([m, m]'); }", "`y` is a simplex"),
    (
        "data { array[2] int y; } parameters { real m; } model { y ~ poisson(m); }",
        "int without a lower and an",
    ),
    (
        "data { vector[2] y; } transformed data { real s = sum(y); } parameters { real m; } "
        "model { y ~ normal(m, s); }",
        "`y` is read where only data are allowed",
    ),
    (
        "data { vector[2] y; } parameters { real<lower=y[1]> m; } model { y ~ normal(m, 1); }",
        "`y` is read where only data are allowed",
    ),
]


@pytest.mark.parametrize(("program", "why"), REFUSED)
def test_what_cannot_be_modelled_is_refused(program, why):
    with pytest.raises(ModelError) as error:
        given(program, y=[None, 1])
    assert why in str(error.value)
    assert error.value.code == "PPL982" and error.value.hint


def test_an_unmodelled_predictor_is_told_the_line_to_add():
    program = REGRESSION.replace("x ~ normal(m, 1);", "")
    with pytest.raises(ModelError) as error:
        given(program, **ROWS)
    assert "Add `x ~ normal(mu, sigma);` to the model" in error.value.hint and error.value.line == 2


def test_sizes_may_be_read_anywhere():
    program = "data { int N; vector[N] y; } transformed data { int n = num_elements(y); } "
    program += "parameters { vector[size(y)] m; } model { m ~ normal(0, 1); y ~ normal(m, n); }"
    assert given(program, N=2, y=[1, None]).param_unc_num() == 3


@pytest.mark.parametrize("value", [None, "NA", NAN])
def test_without_the_option_it_is_named(value):
    model = ppl.compile_model(REGRESSION)
    with pytest.raises(DataError, match="--missing model"):
        model.condition({**ROWS, "x": [1, 2, 3, value], "y": [1, 2, 3, 4]}).variational(seed=1)
