"""Expected values of data: against SciPy, against draws, for rows of the fit and new rows."""

import re

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import ppl
from ppl.errors import DataError, ModelError, UnknownName
from ppl.results.fits.by_row import arrays_of, predictive_table
from ppl.structure.observed.descendants import dependents, descendants

X = np.array([-1.0, 0.5, 2.0])
OUTCOMES = {  # declaration, statement, and the means at m = 0.5, s = 2
    "a": ("vector[N] a;", "a ~ normal(m + x, s);", 0.5 + X),
    "b": ("array[N] int b;", "b ~ neg_binomial_2_log(m + x + log(s), s);", 2 * np.exp(0.5 + X)),
    "c": (
        "vector[N] c;",
        "for (n in 1:N) c[n] ~ normal(x[n], s) T[0, ];",
        stats.truncnorm(-X / 2, np.inf, X, 2).mean(),
    ),
    "e": (
        "array[N] int e;",
        "for (n in 1:N) e[n] ~ poisson(s) T[1, 4];",
        [np.average(np.arange(1, 5), weights=stats.poisson(2).pmf(np.arange(1, 5)))] * 3,
    ),
    "f": (
        "vector[N] f;",
        "for (n in 1:N) target += log_mix(0.3, normal_lpdf(f[n] | m, 1), "
        "log_mix(0.5, normal_lpdf(f[n] | s, 1), normal_lpdf(f[n] | x[n], 1)));",
        0.3 * 0.5 + 0.35 * 2 + 0.35 * X,
    ),
    "g": (
        "array[N] int<lower=1> g;",
        "g ~ ordered_logistic(m * x, k);",
        -np.diff(expit(np.c_[[np.inf] * 3, 0.5 * X[:, None] - [-1, 1], [-np.inf] * 3])),
    ),
    "h": ("array[N] vector[2] h;", "h ~ multi_normal([m, s]', identity_matrix(2));", [[0.5, 2]] * 3),
    "i": (
        "vector[N] i;",
        "for (n in 1:N) { real mu = m; if (x[n] > 0) mu += x[n]; "
        "if (n < 3) i[n] ~ normal(mu, 1); else i[n] ~ gamma(mu, s); }",
        [0.5, 1, 1.25],
    ),
    "j": ("vector[N] j;", "j[2:N] ~ normal(m * j[1:N - 1], s);", [np.nan, 0.5, 0.5]),
    "k2": ("vector[N] k2;", "for (n in 1:N) k2[n] ~ mine(m);", [1.0] * 3),
    "l": ("array[N] int<lower=0> l;", "l ~ binomial(N, inv_logit(m));", [3 * expit(0.5)] * 3),
}
OWN = "real mine_lpdf(real y, real m) { return normal_lpdf(y | 2 * m, 1); } "
OWN += "real mine_mean(real m) { return 2 * m; }"
GIVEN = {"N": 3, "x": X, "k": [-1, 1], "g": [1, 2, 3], "h": np.ones((3, 2))}


def test_means_are_those_of_the_distributions_at_the_arguments_of_the_statements():
    program = (
        f"functions {{ {OWN} }} data {{ int N; vector[N] x; ordered[2] k; "
        f"{' '.join(declared for declared, _, _ in OUTCOMES.values())} }} "
        "parameters { real m; real<lower=0> s; } "
        f"model {{ {' '.join(statement for _, statement, _ in OUTCOMES.values())} }}"
    )
    data = {name: [1, 1, 1] for name in OUTCOMES} | GIVEN
    posterior = ppl.compile_model(program).condition(data)
    found = arrays_of(*predictive_table(posterior, np.array([[0.5, np.log(2)]] * 2), 1, means=True))
    assert list(found) == list(OUTCOMES)
    for name, (_, _, means) in OUTCOMES.items():
        assert found[name][1] == pytest.approx(np.array(means), rel=1e-8, nan_ok=True), name


REFUSED = {
    "y ~ cauchy(m, 1)": "cauchy has no mean: the integral",
    "for (n in 1:N) y[n] ~ gumbel(m, 1) T[0, ]": "the mean of a truncated gumbel is not known",
    "for (n in 1:N) y[n] ~ other(m)": "define other_mean, a function",
    "for (n in 1:N) target += normal_lccdf(y[n] | m, 1)": "does not give a distribution",
}


def test_what_has_no_mean_is_refused_with_the_reason():
    for statement, why in REFUSED.items():
        posterior = ppl.compile_model(
            "functions { real other_lpdf(real y, real m) { return normal_lpdf(y | m, 1); } } "
            f"data {{ int N; vector[N] y; }} parameters {{ real m; }} model {{ {statement}; }}"
        ).condition({"N": 2, "y": [1, 2]})
        with pytest.raises(ModelError, match=why):
            predictive_table(posterior, np.zeros((1, 1)), 1, means=True)


def test_a_mean_that_does_not_exist_at_a_draw_is_nan():
    posterior = ppl.compile_model(
        "data { real y; } parameters { real<lower=0> nu; } model { y ~ student_t(nu, 3, 1); }"
    ).condition({"y": 1})
    found = arrays_of(*predictive_table(posterior, np.log([[0.5], [2]]), 1, means=True))
    assert found["y"] == pytest.approx([np.nan, 3], nan_ok=True)


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(2)
    clinic, sex = rng.choice(["Bath", "Hull", "York"], 40), rng.choice(["F", "M"], 40)
    age = rng.uniform(20, 70, 40)
    eta = -0.5 + 0.04 * (age - 45) + 0.8 * (sex == "M")
    y = np.where(rng.uniform(size=40) < expit(eta), "yes", "no")
    program = """
        data {
          int N, J; vector[N] age; array[N] int<lower=1, upper=J> clinic;
          array[N] int<lower=0, upper=1> sex, y; array[N] int<lower=0> visits;
        }
        parameters { real a, b, c; vector[J] u; }
        model {
          a ~ normal(0, 2); b ~ normal(0, 1); c ~ normal(0, 1); u ~ normal(0, 1);
          visits ~ poisson_log(0.1 * a + 0.02 * age);
          y ~ bernoulli_logit(a + b * (age - 45) / 10 + c * to_vector(sex) + u[clinic]);
        }"""
    given = {"N": 40, "age": age, "clinic": [*clinic], "sex": [*sex], "y": [*y]}
    given["visits"] = rng.poisson(np.exp(0.02 * age))
    return ppl.compile_model(program).condition(given).laplace(seed=1)


def test_expected_values_of_new_rows_average_what_predict_draws(fit):
    new = {"N": 3, "age": [30, 50, 60], "clinic": ["Hull", "Leeds", "Bath"], "sex": ["F", "M", "M"]}
    found, drawn = fit.expected(new), fit.predict(new)
    for name in ("visits", "y"):
        error = drawn[name].std(axis=0) / np.sqrt(len(drawn[name]))
        assert (np.abs(drawn[name].mean(axis=0) - found[name].mean(axis=0)) < 4 * error).all()
    assert found["y"].std(axis=0)[1] > found["y"].std(axis=0)[2]  # a new clinic
    assert [row.name for row in found.summary()][:3] == ["y[1]", "y[2]", "y[3]"]
    given = fit.expected({**new, "y": ["no", "yes", "no"]})  # which tells of the new clinic
    assert given["y"].mean(axis=0)[1] > found["y"].mean(axis=0)[1]
    again = fit.expected({**new, "y": ["no", "yes", "no"]}, replicate="y")
    assert again["y"].mean(axis=0) == pytest.approx(found["y"].mean(axis=0), abs=0.02)


def test_effects_are_expected_values_over_a_grid_at_the_mode_of_factors(fit):
    found = fit.effects("age", by="sex", at={"clinic": "York"})
    assert len(found.grid) == 50 and found.groups == ["F", "M"] and found.others["clinic"] == "York"
    assert found.expected["y"].shape == (1000, 50, 2)
    row = {"N": 1, "age": [found.grid[10]], "clinic": ["York"], "sex": ["M"]}
    assert fit.expected(row)["y"][:, 0] == pytest.approx(found.expected["y"][:, 10, 1])
    assert [row.name for row in fit.effects("sex").summary()][:2] == ["y[sex=F]", "y[sex=M]"]
    assert list(fit.effects("clinic").grid) == ["Bath", "Hull", "York"]
    with pytest.raises(UnknownName, match="did you mean age"):
        fit.effects("agee")


def test_the_picture_of_effects_has_means_and_shares_of_similar_rows(fit):
    pytest.importorskip("matplotlib")
    found = fit.effects("age", by="sex")
    y, visits = found.plot(interval=0.5)
    assert (y.get_xlabel(), y.get_ylabel()) == ("age (clinic = Bath)", "P(y = 1)")
    assert visits.get_ylabel() == "expected visits"
    mean, shares = y.get_lines()[:2]
    assert (
        mean.get_label() == "sex = F"
        and (mean.get_ydata() == found.expected["y"][:, :, 0].mean(axis=0)).all()
    )
    women = found.points["y"][1] == "F"
    assert len(shares.get_xdata()) == 12 < women.sum() == len(visits.get_lines()[1].get_xdata())
    levels, _ = fit.plot.effects(predictor="clinic", narrow=True)
    assert [tick.get_text() for tick in levels.get_xticklabels()] == ["Bath", "Hull", "York"]


def test_contrasts_keep_a_mean_in_the_model():
    program = (
        "data { int N; vector[N] x, y; } parameters { real b; } model { y ~ normal(b * (x - mean(x)), 1); }"
    )
    data = {"N": 3, "x": [1.0, 2, 6], "y": [0.0, 1, 5]}
    fit = ppl.compile_model(program).condition(data).variational(seed=1, algorithm="laplace")
    found = fit.contrast({"x": [0, 2]})["difference_y"]
    assert found[:, 0] == pytest.approx(2 * fit.stan_variable("b"))
    grid = fit.effects("x").expected["y"]
    assert grid == pytest.approx(fit.stan_variable("b")[:, None] * [-2, -1, 3])


def test_contrasts_compare_averages_over_the_rows_of_the_fit(fit):
    found = fit.contrast({"sex": ["F", "M"]})
    assert list(found) == ["difference_y", "ratio_y", "odds_ratio_y", "difference_visits", "ratio_visits"]
    rows = {name: fit.posterior.data[name] for name in ("age", "clinic")}
    men, women = (fit.expected({"N": 40, **rows, "sex": [sex] * 40})["y"].mean(axis=1) for sex in "MF")
    assert found["difference_y"][:, 0] == pytest.approx(men - women)
    assert found["odds_ratio_y"][:, 0] == pytest.approx(men / (1 - men) * (1 - women) / women)
    typical = fit.contrast({"sex": ["F", "M"]}, average=False)
    assert typical["odds_ratio_y"][:, 0] == pytest.approx(np.exp(fit["c"]))
    assert "odds_ratio_y[M / F]" in str(found)
    with pytest.raises(DataError, match="two or more values"):
        fit.contrast({"sex": ["F"]})
    with pytest.raises(ppl.UnknownName, match="clinic has no level 'Hul'; did you mean Hull"):
        fit.contrast({"clinic": ["York", "Hul"]})  # a misspelt level would be a new group


def test_outcomes_that_are_transformed_data_are_compared():
    program = "data { int N, K; array[N] int<lower=1, upper=K> smoking; vector[N] crp; } "
    program += "transformed data { vector[N] y = log(crp); } parameters { vector[K] m; } "
    program += "model { m ~ normal(0, 2); y ~ normal(m[smoking], 0.3); }"
    data = {"N": 4, "smoking": ["never", "current", "never", "current"], "crp": [1.0, 3, 1.2, 2]}
    fit = ppl.compile_model(program).condition(data).variational(seed=1)
    current, never = fit["m"].T
    contrast = fit.contrast({"smoking": ["never", "current"]})
    assert contrast["difference_y"][:, 0] == pytest.approx(current - never)
    effects = fit.effects("smoking")
    assert effects.expected["y"] == pytest.approx(fit["m"]) and not effects.others  # crp is not read


def test_a_modelled_predictor_is_drawn_in_each_scenario_or_held():
    program = "data { int N; array[N] int<lower=0, upper=1> g; vector[N] x, y; } parameters { vector[2] m; "
    program += "real a, b; } model { m ~ normal(0, 9); a ~ normal(0, 9); b ~ normal(0, 9); "
    program += "for (n in 1:N) { x[n] ~ normal(m[g[n] + 1], 1e-6); y[n] ~ normal(a * g[n] + b * x[n], 1); } }"
    data = {"N": 4, "g": [0, 0, 1, 1], "x": [1.0, 1, 3, 3], "y": [2, 1, 5, 6]}
    fit = ppl.compile_model(program).condition(data).variational(seed=1)
    total = fit.contrast({"g": [0, 1]})["difference_y"][:, 0]
    direct = fit.contrast({"g": [0, 1], "x": [1, 1]})["difference_y"][:, 0]
    assert total == pytest.approx(fit["a"] + 2 * fit["b"], abs=1e-3)
    assert direct == pytest.approx(fit["a"])


def cohort(model, data="", parameters="", **more):
    """A fit of `y` by sex and age, `model` says of what age is; its differences between the sexes."""
    rng = np.random.default_rng(1)
    age, sex = 1.5 * rng.normal(size=60) ** 2, rng.integers(0, 2, 60)
    y = rng.binomial(1, expit(1.5 * sex + 2 * age - 3))
    program = f"data {{ int N; {data} array[N] int<lower=0, upper=1> sex, y; }} parameters {{ real a, b, c; "
    program += (
        f"real m; real<lower=0> s; {parameters} }} model {{ [a, b, c] ~ normal(0, 3); m ~ normal(0, 5); "
    )
    program += f"s ~ normal(0, 5); {model} y ~ bernoulli_logit(a + b * to_vector(sex) + c * age); }}"
    given = {"N": 60, "sex": sex, "y": y, **{name: value(age) for name, value in more.items()}}
    return ppl.compile_model(program).condition(given, missing="model").laplace(seed=1)


def difference(fit, age):
    a, b, c = (fit[name][:, None] for name in "abc")
    return (expit(a + b + c * age) - expit(a + c * age)).mean(axis=1)


@pytest.mark.parametrize("bound", ["", "<lower=-1>"])
def test_modelled_predictors_that_do_not_depend_on_the_scenario_are_those_of_the_rows(bound):
    some = np.arange(60) % 4 > 0
    fit = cohort("age ~ normal(m, s);", f"vector{bound}[N] age;", age=lambda age: np.where(some, age, np.nan))
    assert fit["age"].std(axis=0)[0] > 0.1 > fit["age"].std(axis=0)[1]
    found = fit.contrast({"sex": [0, 1]})["difference_y"][:, 0]
    assert found == pytest.approx(difference(fit, fit["age"]))  # with the draws of missing ages
    mean = np.nanmean(fit.posterior.observed["age"])
    typical = fit.contrast({"sex": [0, 1]}, average=False)["difference_y"][:, 0]
    assert typical == pytest.approx(difference(fit, mean))
    effects = fit.effects("sex")
    assert effects.others["age"] == pytest.approx(mean)
    assert np.diff(effects.expected["y"])[:, 0] == pytest.approx(typical)
    assert fit.effects("age").grid[0] == np.nanmin(fit.posterior.observed["age"])


def test_parameters_by_row_that_do_not_depend_on_the_scenario_are_those_of_the_fit():
    model = "age ~ normal(m, s); for (n in 1:N) measured[n] ~ normal(age[n], 0.5);"
    fit = cohort(model, "vector[N] measured;", "vector[N] age;", measured=lambda age: age + 0.1)
    found = fit.contrast({"sex": [0, 1]})["difference_y"][:, 0]
    assert found == pytest.approx(difference(fit, fit["age"]))
    drawn = cohort(model.replace("(m,", "(m + to_vector(sex),"), "vector[N] measured;", "vector[N] age;",
                   measured=lambda age: age)  # fmt: skip
    moved = drawn.contrast({"sex": [0, 1]})["difference_y"][:, 0] - difference(drawn, drawn["age"])
    assert moved.mean() > 0.05


def test_a_measurement_tells_of_what_it_measures():
    program = (
        "data { int N; vector[N] w, y; } parameters { real m, b; vector[N] x; } model { m ~ normal(0, 1); "
    )
    program += "b ~ normal(0, 1); x ~ normal(m, 2); w ~ normal(x, 1); y ~ normal(b * x, 0.5); }"
    w = np.linspace(-3, 3, 20)
    fit = (
        ppl.compile_model(program).condition({"N": 20, "w": w, "y": 0.8 * w}).variational(seed=1, draws=2000)
    )
    for average in (True, False):
        found = fit.contrast({"w": [0, 1]}, average=average)["difference_y"].mean()
        assert found == pytest.approx(
            0.8 * fit["b"].mean(), abs=0.05
        )  # of the difference 4 / (4 + 1) is true


def test_modelled_transformed_data_keep_their_values_and_missing_ints_are_drawn():
    rng = np.random.default_rng(2)
    crp, k = rng.lognormal(size=50), rng.binomial(1, 0.3, 50).astype(float)
    k[::5] = np.nan
    program = """
        data { int N; vector[N] crp; array[N] int<lower=0, upper=1> sex, k, y; }
        transformed data { vector[N] x = log(crp) - mean(log(crp));
          vector[N] z = to_vector(sex) - mean(to_vector(sex)); }
        parameters { real b, c, d; real<lower=0, upper=1> p; }
        model { [b, c, d] ~ normal(0, 2); k ~ bernoulli(p); x ~ normal(0, 1);
          for (n in 1:N) y[n] ~ bernoulli_logit(b * z[n] + c * x[n] + d * k[n]); }"""
    sex, y = rng.binomial(1, 0.5, (2, 50))
    data = {"N": 50, "crp": crp, "sex": sex, "k": k, "y": y}
    fit = ppl.compile_model(program).condition(data, missing="model").laplace(seed=1)
    b, c, d = (fit[name][:, None] for name in "bcd")
    x = np.log(crp) - np.log(crp).mean()
    women, men = ((b * (sex_ - sex.mean()) + c * x) for sex_ in (0, 1))
    right = [(expit(men + d * v) - expit(women + d * v)) for v in (0, 1)]
    known = np.where(np.isnan(k), fit["p"][:, None], k)
    found = fit.contrast({"sex": [0, 1]})["difference_y"][:, 0]
    assert found.mean() == pytest.approx((right[0] * (1 - known) + right[1] * known).mean(), abs=0.002)
    assert fit.effects("sex").others["k"] == 0


CENSORED = """
data { int N; vector[N] x; vector<lower=0>[N] t; array[N] int<lower=0, upper=1> c; MORE }
parameters { real a; real b; real<lower=0> k; }
model { a ~ normal(0, 1); b ~ normal(0, 1); k ~ exponential(1); BODY }
"""
TIMES = {"N": 4, "x": [0.3, -1, 0.5, 2], "t": [1.2, 0.4, 2, 3], "c": [0, 1, 0, 1]}


@pytest.mark.parametrize(
    ("more", "body"),
    [
        ("", "for (n in 1:N) { real s = exp(a + b * x[n]); if (c[n]) target += weibull_lccdf(t[n] | k, s); "
         "else t[n] ~ weibull(k, s); }"),
        ("", "for (n in 1:N) { if (!c[n]) target += weibull_lpdf(t[n] | k, exp(a + b * x[n])); "
         "else target += weibull_lccdf(t[n] | k, exp(a + b * x[n])); }"),
        ("int M; vector[M] d;", "t ~ weibull(k, exp(a + b * x)); target += weibull_lccdf(d | k, exp(a));"),
        ("int M; vector[M] d;", "t ~ weibull(k, exp(a + b * x)); "
         "for (m in 1:M) target += weibull_lccdf(d[m] | k, exp(a));"),
        ("int M; real d;", "t ~ weibull(k, exp(a + b * x)); target += M * weibull_lccdf(d | k, exp(a));"),
    ],
)  # fmt: skip
def test_expected_values_of_censored_rows_are_those_without_censoring(more, body):
    own = {"M": 2, "d": [1.0, 2.0] if "vector" in more else 1.0} if more else {}
    program = CENSORED.replace("MORE", more).replace("BODY", body)
    fit = (
        ppl.compile_model(program)
        .condition({**TIMES, **own})
        .variational(algorithm="laplace", seed=1, draws=50)
    )
    a, b, k = (fit.stan_variable(name)[:, None] for name in "abk")
    found = fit.expected({"N": 2, "x": [0, 1], "c": [0, 1]})["t"]
    assert found == pytest.approx(stats.weibull_min.mean(k, scale=np.exp(a + b * [0, 1])))
    assert fit.contrast({"x": [0, 1]})["ratio_t"] == pytest.approx(np.exp(b))
    drawn = fit.predict({"N": 500, "x": [1] * 500, "c": [0, 1] * 250})["t"][7]
    assert stats.kstest(drawn, stats.weibull_min(k[7, 0], scale=np.exp(a + b)[7, 0]).cdf).pvalue > 1e-3
    with pytest.raises(ModelError, match="`target \\+=` does not give a distribution"):
        fit.predictive()


HOSPITALS = """
data {
  int N; int P; int H; vector[H] x; vector[N] t;
  array[P] int<lower=1, upper=H> h; array[N] int<lower=1, upper=P> p; array[N] int<lower=0, upper=1> y;
  vector[P] u;
}
parameters { real b; real c; vector[P] z; }
model { b ~ normal(0, 1); c ~ normal(0, 1); z ~ normal(PRIOR, 0.5); U y ~ bernoulli_logit(MEAN); }
"""
OF_VISITS = {"N": 6, "P": 3, "H": 2, "h": [1, 2, 2], "p": np.array([1, 2, 2, 3, 2, 1]), "x": [0.5, -1]}
OF_VISITS |= {"t": np.array([1.0, 2, -1, 3, 1, 0]), "y": [0, 1, 1, 0, 1, 0], "u": [0.3, 1, -2]}


def of_visits(prior, u, mean):
    program = HOSPITALS.replace("PRIOR", prior).replace("U y", f"{u} y").replace("MEAN", mean)
    return ppl.compile_model(program).condition(OF_VISITS).variational(algorithm="laplace", seed=1, draws=50)


@pytest.mark.parametrize("u", ["", "u ~ normal(b * x[h] + z, 1);"])
def test_predictors_of_groups_change_the_outcomes_of_their_rows(u):
    """Hospitals of patients with visits: of the typical visit the patient is the most frequent one."""
    fit = of_visits("0", u, "b * x[h[p]] + c * t + z[p]")
    b, c, z = (fit.stan_variable(name) for name in "bcz")

    def mean(x):
        of_rows = b[:, None] * x + c[:, None] * OF_VISITS["t"] + z[:, OF_VISITS["p"] - 1]
        return expit(of_rows).mean(axis=1)

    def typical(x, t):
        return expit(b * x + c * t + z[:, 1])

    every, alone = (fit.contrast({"x": [0, 2]}, average=average) for average in (True, False))
    assert every["difference_y"][:, 0] == pytest.approx(mean(2) - mean(0), abs=1e-12)
    assert alone["difference_y"][:, 0] == pytest.approx(typical(2, 1) - typical(0, 1), abs=1e-12)
    assert ("difference_u" in every) == bool(u)
    if u:
        assert every["difference_u"][:, 0] == pytest.approx(2 * b)
    for effects in (fit.effects("x", by="t"), fit.effects("t", by="x")):
        values = effects.expected["y"]
        assert effects.points["y"][0].shape == (6,)
        for k, first in enumerate(effects.grid):
            for g, second in enumerate(effects.groups):
                x, t = (first, second) if effects.predictor == "x" else (second, first)
                assert values[:, k, g] == pytest.approx(typical(x, t))


def test_effects_of_groups_that_depend_on_a_predictor_follow_it():
    """Centred effects of patients, `z ~ normal(b * x, s)`, are others where x is another one."""
    fit = of_visits("b * x[h]", "u ~ normal(z, 1);", "z[p]")
    for average in (True, False):
        found = fit.contrast({"x": [0, 2]}, average=average)["difference_u"]
        assert found[:, 0] == pytest.approx(2 * fit.stan_variable("b"))
    fit = of_visits("b * x[h]", "", "c * t + z[p]")
    assert abs(fit.contrast({"x": [0, 9]})["difference_y"]).min() > 0


@pytest.mark.parametrize(
    ("model", "start", "expected"),
    [
        ("x ~ normal(m, 1); y ~ normal(x + z, 1);", "z", "y"),
        ("x ~ normal(m, 1); y ~ normal(x + z, 1);", "x", "y"),
        ("x ~ normal(z, 1); y ~ normal(x, 1);", "z", "xy"),
        ("t ~ normal(z, 1); for (n in 1:N) { x[n] ~ normal(0, 1); y[n] ~ normal(t[n], 1); }", "z", "ty"),
        ("t ~ normal(0, 1); y ~ normal(q, 1);", "z", "y"),
        ("t ~ normal(0, 1); x ~ normal(q, 1);", "t", "x"),
        ("for (n in 1:N) if (z[n] > 0) y[n] ~ normal(0, 1); x ~ normal(m, 1);", "z", "y"),
        (
            "vector[N] e; for (n in 1:N) e[n] = z[n] > 0 ? 1 : 2; x ~ normal(e, 1); y ~ normal(m, 1);",
            "z",
            "x",
        ),
        ("target += normal_lpdf(x | m, 1) + normal_lpdf(y | x, 1);", "z", ""),
        ("target += normal_lpdf(x | m, 1) + normal_lpdf(y | z, 1);", "z", "y"),
        ("target += log_mix(inv_logit(z[1]), normal_lpdf(y | 0, 1), normal_lpdf(y | 1, 1));", "z", "y"),
        ("x - t ~ normal(z, 1);", "z", "xt"),
    ],
)
def test_descendants_are_what_densities_are_given(model, start, expected):
    program = "data { int N; vector[N] x, y, z; } parameters { real m; vector[N] t; } "
    program += f"transformed parameters {{ vector[N] q = t + z; }} model {{ {model} }}"
    factors = ppl.compile_model(program).compilation.factors
    assert descendants(factors, [*dependents(factors)], start) == {*expected}


@pytest.mark.parametrize("new", [[3], ["C"]])
def test_new_groups_beyond_a_bound_that_is_a_number_say_what_to_declare(new):
    program = "data { int N; array[N] int<lower=1, upper=2> g; vector[N] y; } parameters { vector[2] m; } "
    program += "model { m ~ normal(0, 1); y ~ normal(m[g], 1); }"
    groups = [1, 2] if new == [3] else ["A", "B"]
    fit = ppl.compile_model(program).condition({"N": 2, "g": groups, "y": [0, 1]}).variational(seed=1)
    with pytest.raises(DataError, match=r"at most 2.*New groups need a bound that is data"):
        fit.predict({"N": 1, "g": new})


def test_a_predictor_without_rows_of_an_outcome_says_which_rows_outcomes_have():
    program = "data { int N; array[N] int<lower=0, upper=1> arm; } transformed data { array[2] int n = "
    program += "{N - sum(arm), sum(arm)}; } parameters { real<lower=0> r; } model { n ~ poisson(r); }"
    fit = ppl.compile_model(program).condition({"N": 3, "arm": [0, 1, 1]}).variational(seed=1)
    with pytest.raises(DataError, match="`arm` has N rows, but no outcome has: `n` has 2 rows"):
        fit.contrast({"arm": [0, 1]})


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda fit: fit.effects("age[1]"), ppl.UnknownName, "'age[1]'"),
        (lambda fit: fit.effects("X[0]"), ppl.UnknownName, "'X[0]'"),
        (lambda fit: fit.effects("X[3]"), ppl.UnknownName, "X[1], X[2]"),
        (lambda fit: fit.effects("age", at={"X[2]": [1, 2]}), ppl.DataError, "expected one value"),
        (lambda fit: fit.contrast({"age": 3}), ppl.DataError, "two or more values"),
        (lambda fit: fit.contrast({"age": [3, None]}), ppl.DataError, "`age` is None"),
        (lambda fit: fit.expected({"N": 0, "age": [], "X": []}), ppl.DataError, "no rows: N is 0"),
    ],
)
def test_predictors_that_are_none_and_rows_that_are_none_are_refused(matrix_fit, ask, error, words):
    with pytest.raises(error, match=re.escape(words)):
        ask(matrix_fit)


@pytest.fixture(scope="module")
def matrix_fit():
    program = (
        "data { int N; vector[N] age; matrix[N, 2] X; vector[N] y; } parameters { real a; vector[2] b; } "
    )
    program += "model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(a * age + X * b, 1); }"
    data = {"N": 3, "age": [1.0, 2.0, 4.0], "X": [[1, 0], [0, 1], [1, 1]], "y": [1, 2, 3]}
    return ppl.compile_model(program).condition(data).variational(seed=1, algorithm="laplace", draws=50)
