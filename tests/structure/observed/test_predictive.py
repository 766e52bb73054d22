"""Data drawn anew from the `~` statements: against programs that draw them themselves, and known laws."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import ppl
from ppl.errors import ModelError
from ppl.results.files.arviz_versions import group_names
from ppl.results.fits.by_row import predictive

ROOT = Path(__file__).parents[3]
OWN = {
    "models/eight_schools/eight_schools.model": "y_rep",
    "models/eight_schools_centred/eight_schools_centred.model": "y_rep",
    "models/linear_regression/linear_regression.model": "y_rep",
    "models/weibull_poisson/weibull_poisson.model": "x_rep",
    "tests/conformance/programs/hier_normal_centred.stan": "y_rep",
    "tests/conformance/programs/zero_inflated_poisson.stan": "y_rep",
}
"""Programs of models/ and the pack that draw data again."""
OTHERWISE = {"crossed_random_effects_multiindex", "ragged_groups_segment_rng"}
"""The y_rep of the first has other probabilities than its y; the second is refused for a term of means."""
N = 2000


def same_law(a, b):
    """Whether two samples (N, entries) are of one law, entry by entry."""
    ps = [stats.ks_2samp(x, y).pvalue for x, y in zip(a.T, b.T, strict=True)]
    return min(ps) > 1e-3 / len(ps)


@pytest.mark.parametrize("path", OWN, ids=lambda p: Path(p).stem)
def test_it_has_the_law_of_what_programs_draw_themselves(path):
    data = json.loads((ROOT / path).with_suffix(".data.json").read_text())
    posterior = ppl.compile_model(ROOT / path).condition(data)
    us = np.random.default_rng(1).normal(0, 0.5, (N, posterior.param_unc_num()))
    ((name, found),) = predictive(posterior, us, 1).items()
    columns = posterior.param_names(include_tp=True, include_gq=True)
    at = [k for k, column in enumerate(columns) if column.split(".")[0] == OWN[path]]
    size = posterior.draws_at_once
    own = [
        posterior.param_constrain_draws(us[k : k + size], np.random.default_rng(k)) for k in range(0, N, size)
    ]
    rows = np.concatenate(own)[:, at]
    assert name == OWN[path].removesuffix("_rep")
    assert same_law(found.reshape(N, -1)[:, : rows.shape[1]], rows)


def test_every_program_that_draws_data_again_is_tried():
    programs = [*ROOT.glob("models/*/*.model"), *ROOT.glob("tests/conformance/programs/*.stan")]
    with_own = {p for p in programs if re.search(r"\w_rep\b", p.read_text())}
    assert {str(p.relative_to(ROOT)) for p in with_own if p.stem not in OTHERWISE} == set(OWN)


DECLARED = "int N; vector[N] y; array[N] int k; matrix[2, 3] Y; array[3] vector[2] v; array[N] int g; "
Y = np.array([0.3, -0.8, 1.1, 0.6, -0.2, 1.9])
DATA = {"N": 6, "y": Y, "k": [0, 1, 3, 2, 0, 1], "Y": Y.reshape(2, 3), "v": Y.reshape(3, 2), "g": [1, 2] * 3}
M = np.array([0.5, -1.0, 2.0])


def drawn(statements, functions="", transformed="", n=4000, data=""):
    """Draws given m = 0.5 and s = 1 of every outcome."""
    program = (
        f"functions {{ {functions} }} data {{ {DECLARED} {data} }} transformed data {{ {transformed} }} "
        "parameters { real m; real<lower=0> s; } "
        f"model {{ m ~ normal(0, 1); s ~ exponential(1); {statements} }}"
    )
    posterior = ppl.compile_model(program).condition(DATA)
    return predictive(posterior, np.tile([0.5, 0.0], (n, 1)), 1)


NORMAL = ([0.5] * 6, [1.0] * 6)
WALK = np.sqrt([1, *(1 + 0.25 * np.arange(1, 6))])


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("statements", "name", "mean", "sd"),
    [
        ("y ~ normal(m, s);", "y", *NORMAL),
        ("target += normal_lpdf(y | m, s);", "y", *NORMAL),
        ("for (i in 1:N) y[i] ~ normal(m, s);", "y", *NORMAL),
        ("for (i in 1:N) { real mu = m; y[i] ~ normal(mu, s); }", "y", *NORMAL),
        ("y ~ normal(m * to_vector(g), s);", "y", [0.5, 1] * 3, [1.0] * 6),
        ("for (i in 1:N) if (g[i] == 1) y[i] ~ normal(m, s); else y[i] ~ normal(2 * m, s);", "y",
         [0.5, 1] * 3, [1.0] * 6),
        ("to_vector(Y) ~ normal(m, s);", "Y", np.full((2, 3), 0.5), np.ones((2, 3))),
        ("for (i in 1:2) Y[i] ~ normal(m * i, s);", "Y", [[0.5] * 3, [1] * 3], np.ones((2, 3))),
        ("for (i in 1:3) col(Y, i) ~ normal(m * i, s);", "Y", [[0.5, 1, 1.5]] * 2, np.ones((2, 3))),
        ("v ~ multi_normal([m, 2 * m]', diag_matrix([1, 4]'));", "v", [[0.5, 1]] * 3, [[1, 2]] * 3),
        ("v ~ multi_normal_prec([m, 2 * m]', diag_matrix([1, 0.25]'));", "v", [[0.5, 1]] * 3, [[1, 2]] * 3),
        ("k ~ poisson(2 * m);", "k", [1.0] * 6, [1.0] * 6),
        ("k ~ binomial_logit(4, m - 0.5);", "k", [2.0] * 6, [1.0] * 6),
        ("k ~ poisson(m - 0.5);", "k", [0.0] * 6, [0.0] * 6),
        ("for (j in 1:2) { vector[3] part = segment(y, 3 * j - 2, 3); part ~ normal(j * m, s); }", "y",
         [0.5] * 3 + [1] * 3, [1.0] * 6),
        ("y[1] ~ normal(0, s); for (i in 2:N) y[i] ~ normal(y[i - 1], m);", "y", [0.0] * 6, WALK),
        ("for (j in 1:2) segment(y, 4 * j - 3, 5 - 2 * j) ~ multi_normal(rep_vector(j * m, 5 - 2 * j), "
         "identity_matrix(5 - 2 * j));", "y", [0.5] * 3 + [Y[3], 1, Y[5]], [1, 1, 1, 0, 1, 0]),
        ("for (i in 1:2) Y[i, i:] ~ multi_normal(rep_vector(m, 4 - i), identity_matrix(4 - i));", "Y",
         [[0.5] * 3, [Y[3], 0.5, 0.5]], [[1, 1, 1], [0, 1, 1]]),
        ("y[3:] ~ normal(m, s);", "y", [*Y[:2], *NORMAL[0][2:]], [0, 0, 1, 1, 1, 1.0]),
        ("y ~ normal(m, s) T[0.5, ];", "y", [0.5 + np.sqrt(2 / np.pi)] * 6, [np.sqrt(1 - 2 / np.pi)] * 6),
        ("for (i in 1:N) { real low = 0.5; y[i] ~ normal(m, s) T[low, ]; }", "y",
         [0.5 + np.sqrt(2 / np.pi)] * 6, [np.sqrt(1 - 2 / np.pi)] * 6),
        ("z ~ normal(m, s);", "z", *NORMAL),
        ("y ~ twice(m, s);", "y", [1.0] * 6, [1.0] * 6),
    ],
)  # fmt: skip
def test_forms_of_statements(statements, name, mean, sd):
    own = (
        "real twice_lpdf(vector y, real m, real s) { return normal_lpdf(y | 2 * m, s); } "
        "real twice_rng(real m, real s) { return normal_rng(2 * m, s); }"
    )
    n = 500 if "T[" in statements else 4000
    found = drawn(statements, own, "vector[N] z = y;", n)
    assert list(found) == [name]
    assert found[name].mean(axis=0) == pytest.approx(np.asarray(mean), abs=5 * np.max(sd) / n**0.5)
    assert found[name].std(axis=0) == pytest.approx(np.asarray(sd), rel=0.15 if n < 4000 else 0.06, abs=1e-12)


def test_ordered_and_multinomial_outcomes_and_their_trials():
    found = drawn("k ~ ordered_logistic(rep_vector(m, N), [0, 1]');")["k"]
    assert set(np.unique(found)) == {1, 2, 3}
    found = drawn("k ~ multinomial(softmax(rep_vector(m, 6)));")["k"]
    assert (found.sum(axis=1) == 7).all()


def test_what_is_drawn_given_data_drawn_before_follows_them():
    found = drawn("y ~ normal(m, s); for (i in 1:N) k[i] ~ poisson(exp(y[i]));")
    assert np.corrcoef(found["y"][:, 0], np.log1p(found["k"][:, 0]))[0, 1] > 0.5


@pytest.mark.parametrize(
    ("term", "means", "shares"),
    [
        ("log_mix(0.3, normal_lpdf(y[i] | -9, 1), normal_lpdf(y[i] | 9, 1))", [-9, 9], [0.3, 0.7]),
        ("log_sum_exp(log(0.3) + normal_lpdf(y[i] | -9, 1), log1m(0.3) + normal_lpdf(y[i] | 9, 1))",
         [-9, 9], [0.3, 0.7]),
        ("log_sum_exp(normal_lpdf(y[i] | -9, 1), log(3) + normal_lpdf(y[i] | 9, 1))", [-9, 9], [0.25, 0.75]),
        ("log_mix(s / 2, normal_lpdf(y[i] | -9, 1), log_mix(0.6, normal_lpdf(y[i] | 0, 1), "
         "normal_lpdf(y[i] | 9, 1)))", [-9, 0, 9], [0.5, 0.3, 0.2]),
    ],
)  # fmt: skip
def test_mixtures_of_two_are_drawn_from_one_of_them(term, means, shares):
    y = drawn(f"for (i in 1:N) target += {term};")["y"]
    nearest = np.abs(y[..., None] - means).argmin(axis=-1)
    for k, share in enumerate(shares):
        assert (nearest == k).mean() == pytest.approx(share, abs=0.015)
        assert y[nearest == k].mean() == pytest.approx(means[k], abs=0.05)


def test_a_part_of_a_mixture_may_be_of_two_variables():
    terms = "normal_lpdf(y[i] | {0}, 1) + poisson_lpmf(k[i] | {1})"
    both = f"log_mix(0.5, {terms.format(-9, 1)}, {terms.format(9, 100)})"
    found = drawn(f"for (i in 1:N) target += {both};")
    assert ((found["y"] > 0) == (found["k"] > 30)).all()


def test_discrete_parameters_say_the_component():
    program = (
        "data { int N; vector[N] y; } parameters { real m; simplex[2] w; array[N] int<lower=1, upper=2> z; } "
        "model { z ~ categorical(w); for (n in 1:N) y[n] ~ normal(z[n] == 1 ? m : 100, 1); }"
    )
    posterior = ppl.compile_model(program).condition({"N": 2, "y": [0.0, 101.0]})
    found = predictive(posterior, np.zeros((500, 2)), 1)["y"]
    assert found.mean(axis=0) == pytest.approx([0, 100], abs=0.3)


@pytest.mark.parametrize(
    ("statements", "says"),
    [
        ("log(y) ~ normal(m, s);", "`log(y)` is not a data variable, nor an entry of one"),
        ("y ~ normal(m, s); y ~ normal(0, s);", "`y` has two densities"),
        ("for (i in 1:N) target += log_mix([0.5, 0.5]', [normal_lpdf(y[i] | m, s), "
         "normal_lpdf(y[i] | 0, 1)]');",
         "this `target +=` does not give a distribution"),
        ("for (i in 1:N) target += log_sum_exp(y[i] + normal_lpdf(y[i] | m, s), normal_lpdf(y[i] | 0, 1));",
         "this `target +=` does not give a distribution"),
        ("for (i in 1:N) target += log_mix(0.5, normal_lpdf(y[i] | m, s), normal_lpdf(m | 0, 1));",
         "one part of this mixture is of data"),
        ("for (i in 1:N) if (k[i] > 1) target += normal_lccdf(y[i] | m, s); else y[i] ~ normal(m, s);",
         "this `target +=` does not give a distribution"),
        ("y[2:] ~ normal(y[:N - 1], s);", "`y` is drawn given itself; write a loop"),
        ("vector[N] mu = m * y; for (i in 2:N) y[i] ~ normal(mu[i - 1], s);", "`y` is drawn given itself"),
        ("k ~ poisson(exp(y)); y ~ normal(m, s);", "`k` is drawn given `y`, which is drawn below it"),
        ("for (i in 1:N) if (y[i] < 0) target += log(0.3); else y[i] ~ normal(m, s) T[0, ];",
         "whether `y[i]` has this distribution depends on its own value"),
        ("for (i in 1:N) { int low = y[i] < 0; if (low) y[i] ~ normal(m, s) T[, 0]; }", "depends on its own"),
        ("if (y[1] > 0) y ~ normal(m, s);", "whether `y` has this distribution depends on its own value"),
        ("array[N] int low; for (j in 1:N) low[j] = y[j] < 0; "
         "for (i in 1:N) if (low[i]) y[i] ~ normal(m, s);",
         "depends on its own value"),
        ("for (i in 1:N) { if (y[i] < 0) continue; y[i] ~ normal(m, s); }", "depends on its own"),
        ("for (i in 1:N) { { if (y[i] < 0) break; } y[i] ~ normal(m, s); }", "depends on its own"),
        ("int n = 0; array[N] int at; for (i in 1:N) if (y[i] > 0) { n += 1; at[n] = i; } "
         "y[at[:n]] ~ normal(m, s);",
         "depends on its own"),
        ("int n = 0; for (i in 1:N) n += y[i] > 0; for (i in 1:n) y[i] ~ normal(m, s);",
         "depends on its own"),
        ("y ~ own(m);", "there is no own_rng"),
        ("m ~ normal(2, 1);", "no statement draws data"),
    ],
)  # fmt: skip
def test_what_no_draw_follows_is_refused(statements, says):
    with pytest.raises(ModelError, match=re.escape(says)) as caught:
        drawn(statements, "real own_lpdf(vector y, real m) { return normal_lpdf(y | m, 1); }")
    assert caught.value.code == "PPL981"


def test_a_fit_says_why_nothing_is_drawn():
    program = "data { int N; vector[N] y; } parameters { real m; } model { y - m ~ normal(0, 1); }"
    posterior = ppl.compile_model(program).condition({"N": 2, "y": [0.0, 1]})
    with pytest.raises(ModelError, match="`y - m` is computed of data and of parameters"):
        posterior.variational(algorithm="laplace", seed=1).predictive()


def test_conditions_on_earlier_entries_follow_the_draws():
    program = """data { int T; vector[T] y; } parameters { real<lower=0> s; } model { s ~ exponential(1);
        for (t in 2:T) { if (y[t - 1] > 0) y[t] ~ normal(-10, s); else y[t] ~ normal(10, s); } }"""
    posterior = ppl.compile_model(program).condition({"T": 4, "y": [1.0, 0, 0, 0]})
    found = predictive(posterior, np.full((50, 1), -3.0), 1)["y"]
    assert np.abs(found - [1, -10, 10, -10]).max() < 1


PLAIN = """data { int N; vector[N] y; int k; }
parameters { real m; }
model { m ~ normal(0, 5); y ~ normal(m, 1); k ~ poisson_log(m); }
"""


@pytest.fixture(scope="module")
def fit():
    own = PLAIN + " generated quantities { vector[N] y_rep = rep_vector(m, N); }"
    return [
        ppl.compile_model(p).condition({"N": 6, "y": Y, "k": 3}).variational(seed=1) for p in (PLAIN, own)
    ]


def test_a_variable_that_the_program_draws_itself_is_kept(fit):
    plain, own = fit
    assert {name: x.shape for name, x in plain.predictive().items()} == {"y": (1000, 6), "k": (1000,)}
    found = own.predictive(seed=2)
    assert (found["y"] == own.stan_variable("y_rep")).all() and (
        found["k"] == plain.predictive(seed=2)["k"]
    ).mean() > 0.1
    assert (plain.predictive()["y"] == plain.predictive()["y"]).all()
    assert (plain.predictive(seed=3)["y"] != plain.predictive()["y"]).any()


def test_groups_of_arviz_are_added_when_asked_for(fit):
    arviz = pytest.importorskip("arviz")
    plain, own = fit
    assert set(group_names(plain.to_arviz())) == {"posterior", "observed_data", "sample_stats"}
    found = plain.to_arviz({"row": list("abcdef")}, log_likelihood=True, posterior_predictive=True)
    for group in ("log_likelihood", "posterior_predictive"):
        assert found[group]["y"].dims == ("chain", "draw", "row") and found[group]["k"].shape == (1, 1000)
    assert found.observed_data["k"] == 3 and found.observed_data["y"].dims == ("row",)
    loo = arviz.loo(found, var_name="y")
    assert loo.n_data_points == 6
    assert own.to_arviz(log_likelihood=True).posterior_predictive["y"].shape == (1, 1000, 6)
