"""The log likelihood by row, read from the model block: against programs that write it, and densities."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import ppl
from ppl.errors import DataError, ModelError
from ppl.results.fits.by_row import arrays, log_likelihood
from ppl.results.fits.new_rows import scored

ROOT = Path(__file__).parents[3]
PROGRAMS = sorted([*ROOT.glob("models/*/*.model"), *ROOT.glob("tests/conformance/programs/*.stan")])
WITH = [p for p in PROGRAMS if re.search(r"\blog_lik\b", p.read_text())]
UNREAD = {
    "arma11": "`err` is computed of data and of parameters",
    "bivariate_probit_latent": "reads `X`",
    "dawid_skene_raters": "reads `y` and has no density",
    "gaussian_copula_mixed_margins": "`U` is computed of data and of parameters",
    "hmm_discrete_builtin": "has no density",
    "hmm_forward_gaussian": "has no density",
    "irt_3pl_guessing": "reads `y` and has no density",
    "lda": "has no density",
    "local_level_missing": "`y` is computed of data and of parameters",
    "markov_switching_ar_scaled_filter": "has no density",
    "mpt_tree_and_int_logic": "`target` reads or changes the target",
    "ragged_choice_sets_mixed_logit": "has no density",
    "survival_piecewise_exponential": "has no density",
}
"""Programs with a term that is of no row, and what is said."""
TIED = {
    *("change_point", "changepoint_marginalised", "dawid_skene", "hidden_markov"),
    *("extreme_value_gev_user_lpdf", "gp_poisson", "gp_regression", "kalman_filter_local_trend"),
    *("occupancy_ragged_visits", "ragged_groups_segment_rng", "programs/zero_inflated_poisson"),
}
"""Programs whose data are one row: a density of the program's own, or one of all entries together."""


def conditioned(path):
    data = json.loads(path.with_suffix(".data.json").read_text())
    posterior = ppl.compile_model(path).condition(data)
    return posterior, np.random.default_rng(1).uniform(-1, 1, (3, posterior.param_unc_num()))


def by_row(posterior, us):
    return arrays(log_likelihood(posterior, us))


@pytest.mark.parametrize("path", WITH, ids=lambda p: p.stem)
def test_it_is_what_programs_write_themselves(path):
    posterior, us = conditioned(path)
    (found,) = by_row(posterior, us).values()
    for row, u in zip(found, us, strict=True):
        own = posterior.values(u, np.random.default_rng(1), True, True)["log_lik"]
        assert row == pytest.approx(own, rel=1e-10, abs=1e-10)


@pytest.mark.rotate
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_what_is_left_of_the_target_does_not_depend_on_the_outcomes(path):
    """The log density less the terms of all rows is the prior, the same for other outcomes."""
    posterior, us = conditioned(path)
    if path.stem in UNREAD:
        with pytest.raises(ModelError, match=re.escape(UNREAD[path.stem])) as caught:
            by_row(posterior, us)
        assert caught.value.code == "PPL980"
        return

    def prior(posterior):
        rows = sum(x.reshape(len(us), -1).sum(axis=1) for x in by_row(posterior, us).values())
        return np.array([posterior.log_density(u, jacobian=False) for u in us]) - rows

    found, first = log_likelihood(posterior, us), prior(posterior)
    assert any(rows.tied for rows in found.values()) == bool(
        {path.stem, f"{path.parent.name}/{path.stem}"} & TIED
    )
    for name in found:
        if name in posterior.data:
            old = np.asarray(posterior.data[name])
            new = np.random.default_rng(2).permutation(old.ravel()).reshape(old.shape)
            other = posterior.model.condition({**posterior.data, name: new})
            assert prior(other) == pytest.approx(first, rel=1e-9, abs=1e-8)


Y = np.array([0.3, -0.8, 1.1, 0.6, -0.2, 1.9])
M, S = 0.4, np.exp(-0.3)
NORMAL = stats.norm.logpdf(Y, M, S)
DATA = {"N": 6, "y": Y, "G": 2, "n": [2, 4], "c": [0, 1, 0, 0, 1, 0], "x": [1, 2, 3, 4, 5, 6.0], "g": [1] * 6}
DECLARED = (
    "int N; vector[N] y; int G; array[G] int n; array[N] int c; vector[N] x; array[N] int g; matrix[2, 3] Y; "
    "array[N] int k; array[3] vector[2] v; matrix[N, 1] X; "
)
MORE = {"Y": Y.reshape(2, 3, order="F"), "k": [0, 1, 3, 2, 0, 1], "v": Y.reshape(3, 2), "X": np.ones((6, 1))}


US = np.array([[M, -0.3, 0.0], [0.0, 0.0, 0.0]])


def posterior_of(statements, data="", transformed="", functions="", more=None):
    program = (
        f"functions {{ {functions} }} data {{ {DECLARED} {data} }} transformed data {{ {transformed} }} "
        f"parameters {{ real m; real<lower=0> s; simplex[2] w; }} "
        f"model {{ m ~ normal(0, 1); s ~ exponential(1); {statements} }}"
    )
    return ppl.compile_model(program).condition({**DATA, **MORE, **(more or {})})


def rows_of(statements, **parts):
    return {name: values[0] for name, values in by_row(posterior_of(statements, **parts), US).items()}


CENSORED = np.where(DATA["c"], stats.norm.logsf(Y, M, S), NORMAL)
MIXED = np.logaddexp(NORMAL, stats.norm.logpdf(Y, 0, 1)) + np.log(0.5)
ABOVE = stats.norm.logpdf(Y, M, S) - stats.norm.logsf(-1, M, S)
COUNTS = stats.poisson.logpmf(MORE["k"], np.exp(M))
LEFT = stats.norm.logcdf(0, M, S)
HALF = NORMAL + np.log(0.5)


FORMS = [
    ("y ~ normal(m, s);", NORMAL),
    ("y ~ normal(rep_vector(m, N), s);", NORMAL),
    ("target += normal_lpdf(y | m, s);", NORMAL),
    ("target += normal_lupdf(y | m, s);", NORMAL),
    ("target += normal_lpdf(y | m, s) + normal_lpdf(m | 0, 1);", NORMAL),
    ("for (i in 1:N) y[i] ~ normal(m, s);", NORMAL),
    ("for (i in 1:N) target += normal_lpdf(y[i] | m, s);", NORMAL),
    ("y[1:2] ~ normal(m, s); y[3:] ~ normal(m, s);", NORMAL),
    ("y[{6, 5, 4, 3, 2, 1}] ~ normal(m, s);", NORMAL),
    ("head(y, 2) ~ normal(m, s); tail(y, 4) ~ normal(m, s);", NORMAL),
    ("{ int at = 1; for (j in 1:G) { segment(y, at, n[j]) ~ normal(m, s); at += n[j]; } }", NORMAL),
    ("{ int at = 0; for (j in 1:G) { for (i in 1:n[j]) y[at + i] ~ normal(m, s); at += n[j]; } }",
     NORMAL),
    ("for (j in 1:2) { vector[3] part = y[3 * j - 2:3 * j]; part ~ normal(m, s); }", NORMAL),
    ("for (i in 1:N) { real yi = y[i]; real mu = m; yi ~ normal(mu, s); }", NORMAL),
    ("vector[N] ll; for (i in 1:N) ll[i] = normal_lpdf(y[i] | m, s); target += sum(ll);", NORMAL),
    ("vector[N] ll; for (i in 1:N) ll[i] = normal_lpdf(y[i] | m, s); target += ll;", NORMAL),
    ("real lp = 0; lp += normal_lpdf(s | 0, 1); target += lp; y ~ normal(m, s);", NORMAL),
    ("y ~ normal(m, s); target += -0.5 * dot_self(w[g] - w[g]); "  # neighbours' differences
     "for (j in 1:N) target += -s * square(w[g[j]] - w[c[j] + 1]) - (w[c[j] + 1] - w[2])^2;", NORMAL),
    ("y ~ normal(m, s) T[-1, ];", ABOVE),
    ("for (i in 1:N) target += normal_lpdf(y[i] | m, s) - normal_lccdf(-1 | m, s);", ABOVE),
    ("for (i in 1:N) { if (c[i] >= 0) { y[i] ~ normal(m, s); target += -normal_lccdf(-x[1] | m, s); } }",
     ABOVE),
    ("for (i in 1:N) if (c[i] == 1) target += normal_lccdf(y[i] | m, s); else y[i] ~ normal(m, s);",
     CENSORED),
    ("y[{1, 3, 4, 6}] ~ normal(m, s); target += normal_lccdf(y[{2, 5}] | m, s);", CENSORED),
    ("for (i in 1:N) if (y[i] < 0) target += normal_lcdf(0 | m, s); else y[i] ~ normal(m, s);",
     np.where(Y < 0, LEFT, NORMAL)),
    ("for (i in 1:N) if (y[i] < 0) target += normal_lcdf(0 | m, s); "
     "else target += log1m(w[1]) + normal_lpdf(y[i] | m, s);", np.where(Y < 0, LEFT, HALF)),
    ("for (i in 1:N) if (y[i] < 0) target += log(w[1]); "
     "else { target += log1m(w[1]); y[i] ~ normal(m, s); }", np.where(Y < 0, np.log(0.5), HALF)),
    ("for (i in 1:N) { int low = y[i] < 0; if (low) target += log(w[1]); "
     "else target += log1m(w[1]) + normal_lpdf(y[i] | m, s); }", np.where(Y < 0, np.log(0.5), HALF)),
    ("array[N] int low; for (j in 1:N) low[j] = y[j] < 0; for (i in 1:N) if (low[i]) target += log(w[1]); "
     "else target += log1m(w[1]) + normal_lpdf(y[i] | m, s);", np.where(Y < 0, np.log(0.5), HALF)),
    ("for (i in 1:N) target += normal_lpdf(y[i] | m, s) + log(2) + log(w[2]);", NORMAL),
    ("for (i in 1:N) target += normal_lpdf(y[i] | m, s) + normal_lpdf(s | 0, 1) + log(s);", NORMAL),
    ("for (i in 1:N) target += log_mix(0.5, normal_lpdf(y[i] | m, s), normal_lpdf(y[i] | 0, 1));", MIXED),
    ("for (i in 1:N) target += log_sum_exp(log(w[1]) + normal_lpdf(y[i] | m, s), "
     "log(w[2]) + normal_lpdf(y[i] | 0, 1));", MIXED),
    ("for (i in 1:N) { vector[2] lp = log(w); lp[1] += normal_lpdf(y[i] | m, s); "
     "lp[2] += normal_lpdf(y[i] | 0, 1); target += log_sum_exp(lp); }", MIXED),
    ("matrix[N, 2] lp; for (i in 1:N) { lp[i, 1] = log(w[1]) + normal_lpdf(y[i] | m, s); "
     "lp[i, 2] = log(w[2]) + normal_lpdf(y[i] | 0, 1); } for (i in 1:N) target += log_sum_exp(lp[i]);",
     MIXED),
    ("for (i in 1:N) target += x[i] * normal_lpdf(y[i] | m, s);", DATA["x"] * NORMAL),
    ("y ~ normal_id_glm(X, m - 1, [1]', s);", NORMAL),
    ("profile(\"p\") { y ~ normal(m, s); }", NORMAL),
    ("for (i in 1:N) if (y[i] < 0) target += log_sum_exp(bernoulli_lpmf(1 | w[2]), "
     "bernoulli_lpmf(0 | w[2]) + normal_lcdf(0 | m, s)); "
     "else target += bernoulli_lpmf(0 | w[2]) + normal_lpdf(y[i] | m, s);",
     np.where(Y < 0, np.logaddexp(np.log(0.5), LEFT + np.log(0.5)), HALF)),
]  # fmt: skip
"""Densities of the rows of y, and their logs at the first of US."""


@pytest.mark.rotate
@pytest.mark.parametrize(("statements", "expected"), FORMS)
def test_forms_of_one_density_a_row(statements, expected):
    found = rows_of(statements)
    assert list(found) == ["y"] and found["y"] == pytest.approx(expected, rel=1e-10)


@pytest.mark.rotate
@pytest.mark.parametrize("statements", [statements for statements, _ in FORMS])
def test_scores_of_the_rows_of_the_fit_are_their_log_likelihoods(statements):
    posterior = posterior_of(statements)
    found = scored(posterior, US[:1], {**posterior.data}, 1, ["y"])["y"].values
    assert found == pytest.approx(by_row(posterior, US)["y"][0], rel=1e-10)


def test_several_outcomes_and_several_axes():
    found = rows_of("y ~ normal(m, s); k ~ poisson_log(m); to_vector(Y) ~ normal(m, s);")
    assert list(found) == ["y", "Y", "k"]
    assert found["k"] == pytest.approx(COUNTS) and found["y"] == pytest.approx(NORMAL)
    assert found["Y"] == pytest.approx(NORMAL.reshape(2, 3, order="F"))
    assert rows_of("for (i in 1:2) Y[i] ~ normal(m, s);")["Y"] == pytest.approx(found["Y"])
    assert rows_of("for (j in 1:3) col(Y, j) ~ normal(m, s);")["Y"] == pytest.approx(found["Y"])
    assert rows_of("for (j in 1:3) Y[, j] ~ normal(m, s);")["Y"] == pytest.approx(found["Y"])


def test_a_row_is_as_small_as_the_terms_tell_apart():
    pairs = stats.multivariate_normal.logpdf(MORE["v"], [M, M], np.diag([S, S]))
    same = "multi_normal(rep_vector(m, 2), diag_matrix(rep_vector(s, 2)))"
    assert rows_of(f"v ~ {same};")["v"] == pytest.approx(pairs)
    assert rows_of(f"for (i in 1:3) v[i] ~ {same};")["v"] == pytest.approx(pairs)
    assert rows_of("for (i in 1:3) v[i] ~ normal(m, s);")["v"] == pytest.approx(NORMAL.reshape(3, 2))
    both = rows_of(f"v ~ {same}; for (i in 1:3) v[i] ~ normal(m, s);")["v"]
    assert both == pytest.approx(pairs + NORMAL.reshape(3, 2).sum(axis=1))
    assert rows_of("target += 2 * normal_lpdf(y | m, s);")["y"] == pytest.approx(2 * NORMAL.sum())


def test_transformed_data_are_data_and_what_has_no_term_is_no_row():
    found = rows_of("z[2:] ~ normal(m, s);", transformed="vector[N] z = y;")
    assert found["z"] == pytest.approx(NORMAL[1:])
    assert rows_of("log(x) ~ normal(m, s);")["x"] == pytest.approx(stats.norm.logpdf(np.log(DATA["x"]), M, S))


def test_outcomes_that_one_term_depends_on_are_one():
    of_both = NORMAL + stats.poisson.logpmf(MORE["k"], 2)
    other = stats.norm.logpdf(Y, 0, 1) + stats.poisson.logpmf(MORE["k"], 3)
    mixture = (
        "for (i in 1:N) target += log_mix(0.3, normal_lpdf(y[i] | m, s) + poisson_lpmf(k[i] | 2), "
        "normal_lpdf(y[i] | 0, 1) + poisson_lpmf(k[i] | 3)); "
    )
    found = rows_of(mixture + "x ~ normal(m, s); k ~ poisson_log(m);")
    expected = np.logaddexp(np.log(0.3) + of_both, np.log(0.7) + other) + COUNTS
    assert [*found] == ["y + k", "x"] and found["y + k"] == pytest.approx(expected)
    found = rows_of("for (i in 1:N) [y[i], x[i]]' ~ multi_normal([m, m]', diag_matrix([s^2, s^2]'));")
    assert found["y + x"] == pytest.approx(NORMAL + stats.norm.logpdf(DATA["x"], M, S))
    assert [*rows_of("target += log_mix(0.3, normal_lpdf(y | m, s), poisson_lpmf(n | s));")] == ["y + n"]


def test_discrete_parameters_are_summed_out_of_their_rows():
    program = (
        "data { int N; vector[N] y; } parameters { real m; simplex[2] w; array[N] int<lower=1, upper=2> z; } "
        "model { z ~ categorical(w); for (n in 1:N) y[n] ~ normal(z[n] == 1 ? m : 0, 1); }"
    )
    posterior = ppl.compile_model(program).condition({"N": 6, "y": Y})
    found = by_row(posterior, np.array([[M, 0.0]]))["y"][0]
    assert found == pytest.approx(np.logaddexp(stats.norm.logpdf(Y, M), stats.norm.logpdf(Y)) + np.log(0.5))


@pytest.mark.parametrize(
    ("statements", "says", "line"),
    [
        ("y - m ~ normal(0, s);", "`y - m` is computed of data and of parameters", "y - m"),
        ("target += -0.5 * dot_self(y - m);", "this term reads `y` and has no density", "dot_self"),
        ("target += -N * log(s);", "this term reads `N` and has no density", "log(s)"),
        ("for (i in 1:N) target += k[i] * log(s);", "this term reads `k` and has no density", "k[i]"),
        ("for (i in 1:N) target += log(w[g[i]]);", "this term reads `g` and has no density", "g[i]"),
        ("1 ~ bernoulli_logit(m);", "the outcome is a constant", "1 ~"),
        ("target += normal_lccdf(2 | m, s);", "the outcome is a constant", "normal_lccdf"),
        ("y + x ~ normal(m, s);", "`y + x` is not an entry of one data variable", "y + x"),
        ("add_lp(y, m);", "`add_lp` adds terms of data to the target", "add_lp"),
        ("for (i in 1:N) { y[i] ~ normal(m, s); target += -normal_lccdf(x[i] | m, 1); }", "subtracts a log",
         "-normal"),
        ("for (i in 1:N) { if (c[i]) y[i] ~ normal(m, s); target += -normal_lccdf(x[i] | m, s); }",
         "subtracts a log", "-normal"),
        ("for (i in 1:2) { for (j in 3:4) y[j] ~ normal(m, s); target += -normal_lccdf(x[i] | m, s); }",
         "subtracts a log", "-normal"),
        ("for (i in 1:N) y[i] ~ normal(m, s); for (i in 1:N) target += -normal_lccdf(x[i] | m, s);",
         "subtracts a log", "-normal"),
        ("y ~ normal(m, s); target += -normal_lccdf(x | m, s);", "subtracts a log probability of `x`",
         "-normal"),
        ("for (i in 1:N) { y[i] ~ normal(m, s); target += -1 * normal_lccdf(x[i] | m, s); }",
         "subtracts a log probability of `x`", "-1 *"),
        ("y ~ normal(m, s); vector[N] d; for (i in 1:N) d[i] = -normal_lcdf(x[i] | m, s); target += sum(d);",
         "subtracts a log probability of `x`", "sum(d)"),
        ("y ~ normal(m, s); target += 0 - normal_lccdf(x | m, s);", "subtracts a log probability of `x`",
         "0 -"),
        ("for (i in 1:N) { y[i] ~ normal(m, s); target += -normal_lccdf(-1 | m, s) - log(2); }",
         "the outcome is a constant", "-normal"),
        ("for (i in 1:N) { y[i] ~ normal(m, 2); target += -log1m_exp(-s); }",
         "may normalise another density", "-log1m"),
        ("y ~ normal(m, s); target += -10 * log1m_exp(-s);", "may normalise any density", "-10 *"),
        ("y ~ normal(m, s); real z = log1m_exp(-s); target += 3 - z;", "may normalise any density", "3 - z"),
        ("y ~ normal(m, s); target += 10 * minus_log(s);", "may normalise any density", "10 *"),
        ("y ~ normal(m, s); for (i in 1:10) target += -log(1 - exp(-s));", "may normalise any density",
         "-log(1"),
        ("y ~ normal(m, s); target += -10 * std_normal_lcdf(m / s);", "may normalise any density", "-10 *"),
        ("y ~ normal(m, s); target += -10 * log(Phi(m / s));", "may normalise any density", "-10 *"),
        ("y ~ normal(m, s); target += -10 * log1m(w[1]);", "may normalise any density", "-10 *"),
        ("target += normal_lpdf(y | m, s) + -10 * log1m_exp(-s);", "may normalise any density", "-10 *"),
        ("y ~ normal(m, s); real q = 0; for (i in 1:N) q += log1m_exp(-s); target += -q;",
         "may normalise any density", "-q"),
        ("y ~ normal(m, s); for (i in 1:N) target += log(s);", "may normalise another density", "log(s)"),
        ("y ~ normal(m, s); target += -size(y) * log1m_exp(-s);", "this term reads `y`", "-size(y)"),
        ("array[N] int low; for (j in 1:N) low[j] = y[j] < 0; "
         "for (i in 1:N) { if (low[i]) target += log(w[1]); "
         "if (!low[i]) target += log1m(w[1]) + normal_lpdf(y[i] | m, s); }",
         "whether this term of parameters is added depends on `y`", "log(w[1])"),
        ("if (sum(y) > 0) target += log(s); y ~ normal(m, s);", "is added depends on `y`", "log(s)"),
        ("m ~ normal(1, 1);", "no statement observes data", ""),
    ],
)  # fmt: skip
def test_what_is_of_no_row_is_refused_with_its_place(statements, says, line):
    with pytest.raises(ModelError, match=re.escape(says)) as caught:
        rows_of(
            statements,
            functions="void add_lp(vector y, real m) { target += normal_lpdf(y | m, 1); } "
            "real minus_log(real s) { return -log1m_exp(-s); }",
        )
    assert caught.value.code == "PPL980" and line in str(caught.value)


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("y[i] ~ normal(mu, s); target += -normal_lccdf(x[i] | mu, s);", NORMAL),
        ("target += -normal_lccdf(x[i] | mu, s); target += normal_lpdf(y[i] | mu, s);", NORMAL),
        ("if (c[i]) target += normal_lccdf(y[i] | mu, s); else y[i] ~ normal(mu, s); "
         "target += -normal_lccdf(x[i] | mu, s);", CENSORED),
    ],
)  # fmt: skip
def test_a_truncation_in_the_loop_of_its_density_belongs_to_the_row(statements, expected):
    """Delayed entry: each row counts from its entry on."""
    found = rows_of(f"for (i in 1:N) {{ real mu = m + 0 * g[i]; {statements} }}")
    assert found["y"] == pytest.approx(expected - stats.norm.logsf(DATA["x"], M, S))
    assert [*found] == ["y"]


@pytest.mark.parametrize(
    "statements",
    [
        "y[i] ~ normal(m, s); target += -log1m_exp(-s);",
        "target += -log1m_exp(-r); y[i] ~ normal(m, r);",
        "target += normal_lpdf(y[i] | m, r) + -log(1 - exp(-r));",
    ],
)
def test_a_subtracted_log_probability_of_parameters_belongs_to_the_row_of_its_loop(statements):
    found = rows_of(f"for (i in 1:N) {{ real r = s + 0 * x[i]; {statements} }}")
    assert found["y"] == pytest.approx(NORMAL - np.log1p(-np.exp(-S)))


@pytest.mark.parametrize(
    "statements",
    [
        "target += -log(w[1]) - log1m(w[1]);",
        "target += normal_lpdf(m | 0, 1) - log1m_exp(-s);",
        "real lp = 0; lp += student_t_lpdf(s | 3, 0, 2) - 1 * student_t_lccdf(0 | 3, 0, 2); target += lp;",
    ],
)
def test_priors_that_subtract_a_log_are_of_no_row(statements):
    assert rows_of(f"y ~ normal(m, s); {statements}")["y"] == pytest.approx(NORMAL)


def test_a_term_that_a_single_count_decides_belongs_to_it():
    hurdle = "if (j == 0) target += log(w[1]); else target += log1m(w[1]) + poisson_lpmf(j - 1 | s);"
    (row,) = rows_of(hurdle, data="int j;", more={"j": 0}).values()
    assert row == pytest.approx(np.log(0.5))


@pytest.mark.parametrize(
    "statements",
    [
        "x - m ~ normal(0, s);",
        "x + to_vector(g) ~ normal(m, s);",
        "for (i in 1:N) { real e = x[i] - m; e ~ normal(0, s); }",
        "vector[N] e = x - m; if (c[1] > 0) target += normal_lpdf(e | 0, s) + normal_lpdf(x[1] * m | 0, 1);",
        "target += log_mix(w[1], normal_lpdf(x - m | 0, s), normal_lpdf(x + to_vector(g) | m, s));",
    ],
)
def test_outcomes_without_a_term_that_cannot_be_read_are_read(statements):
    posterior = posterior_of(statements + " y ~ normal(m, s); k ~ poisson_log(m);")
    found = log_likelihood(posterior, US)
    assert found["y"].array[0] == pytest.approx(NORMAL) and found["k"].array[0] == pytest.approx(COUNTS)
    with pytest.raises(ModelError, match="cannot be read") as caught:
        found["x"].log_lik(np.zeros(2), "")
    assert caught.value.code == "PPL980" and caught.value is found["x"].unread


@pytest.mark.parametrize(
    ("term", "unread"),
    [
        ("y - m ~ normal(x, s);", "y"),
        ("y ~ normal(m, s); y + x ~ normal(m, s);", "xy"),
        ("y ~ normal(m, s); if (y[1] > 0) x - m ~ normal(0, s);", "xy"),
        ("y ~ normal(m, s); vector[N] e; for (i in 1:N) if (y[i] > 0) e[i] = x[i] - m; else e[i] = m;"
         "e ~ normal(0, s);", "xy"),
        ("y ~ normal(m, s); x - m ~ normal(y, s);", "xy"),
        ("y ~ normal(m, s); target += normal_lpdf(y[1] | m, s) + normal_lpdf(x - m | 0, s);", "xy"),
        ("z ~ normal(m, s); y ~ normal(m, s); z - m ~ normal(0, 1);", "zy"),
        ("for (i in 1:N) target += log_mix(0.5, normal_lpdf(y[i] | m, s), normal_lpdf(x[i] | m, s)); "
         "x - m ~ normal(0, s);", "xy"),
    ],
)  # fmt: skip
def test_every_outcome_that_a_term_reads_is_not_read(term, unread):
    posterior = posterior_of(term + " k ~ poisson_log(m);", transformed="vector[N] z = y;")
    found = log_likelihood(posterior, US)
    assert {name for name, rows in found.items() if rows.unread} == {*unread}
    assert [name for name, rows in found.items() if not rows.unread] == ["k"]


@pytest.mark.parametrize(
    "term",
    [
        "target += -0.5 * dot_self(x - m);",
        "target += normal_lpdf(x - m | 0, s) + sum(x) * m;",
        "1 ~ bernoulli_logit(m * x[1]);",
        "if (c[2] > 0) target += normal_lccdf(x[2] | m, s);",
        "add_lp(x, m);",
        "target += normal_lpdf(x - m | 0, s) + target();",
    ],
)
def test_a_term_that_is_no_density_may_be_of_every_outcome(term):
    functions = "void add_lp(vector y, real m) { target += normal_lpdf(y | m, 1); }"
    with pytest.raises(ModelError, match="cannot be read"):
        log_likelihood(posterior_of(term + " y ~ normal(m, s);", functions=functions), US)


def test_priors_that_read_data_are_no_rows():
    priors = (
        "m ~ normal(mean(y), sd(y)); sum(w) ~ normal(0, 0.01 * N); target += normal_lpdf(m | x[1], 1); "
        "for (j in 1:2) target += log(w[j]); for (j in 1:3) target += log(s); "
        "target += student_t_lpdf(s | 3, 0, 2) - 1 * student_t_lccdf(0 | 3, 0, 2); target += -log(s); "
    )
    assert rows_of(priors + "y ~ normal(m, s);")["y"] == pytest.approx(NORMAL)


PLAIN = "data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(0, 5); y ~ normal(m, 1); }"
OWN = " generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | m, 1); }"


@pytest.fixture(scope="module")
def fits():
    data = {"N": 6, "y": Y}
    return [ppl.compile_model(p).condition(data).variational(seed=1) for p in (PLAIN, PLAIN + OWN)]


def test_loo_and_compare_need_no_log_lik(fits):
    plain, own = fits
    assert plain.loo().elpds == pytest.approx(own.loo().elpds, abs=1e-10)
    assert plain.loo().names == ("y[1]", "y[2]", "y[3]", "y[4]", "y[5]", "y[6]")
    assert own.log_lik()["y"] == pytest.approx(own.stan_variable("log_lik"))
    assert plain.log_lik()["y"] == pytest.approx(own.log_lik()["y"])
    found = ppl.compare({"plain": plain, "own": own})
    assert found.models[1].elpd_diff == pytest.approx(0, abs=1e-9)


@pytest.mark.filterwarnings("ignore::ppl.errors.PoorFitWarning")
def test_chains_have_it_too():
    short = {"num_chains": 2, "num_warmup": 50, "num_samples": 20, "backend": "autograd"}
    chains = ppl.compile_model(PLAIN).condition({"N": 6, "y": Y}).sample(seed=1, **short)
    assert chains.log_lik()["y"].shape == (40, 6) and len(chains.loo().elpds) == 6


def test_one_density_of_all_entries_has_no_rows_to_leave_out():
    program = (
        "data { vector[2] y; } parameters { real m; } model { y ~ multi_normal([m, m]', [[2, 1], [1, 2]]); }"
    )
    fit = ppl.compile_model(program).condition({"y": [1, 2]}).variational(seed=1)
    assert fit.log_lik()["y"].shape == (1000,)
    with pytest.raises(
        DataError, match="`y` has no rows to leave out: line 1 has one density of several entries"
    ):
        fit.loo()


@pytest.mark.parametrize(
    ("left", "shape"),
    [
        ("log(y) / 2 + 1", (1, 3)),
        ("to_vector(y) .* [2, 3, 4]'", (1, 3)),
        ("reverse(y)", (1,)),
        ("y - mean(y)", (1,)),
        ("[[1, 0, 1], [0, 1, 0], [1, 1, 0]] * y", (1,)),
        ("turned(y)", (1,)),
    ],
)
def test_entries_of_a_function_are_rows_only_if_it_keeps_them_apart(left, shape):
    program = f"""functions {{ vector turned(vector y) {{ return y[{{3, 2, 1}}]; }} }}
    data {{ int N; vector[N] y; }} parameters {{ real m; }} model {{ {left} ~ normal(m, 1); }}"""
    posterior = ppl.compile_model(program).condition({"N": 3, "y": [1.0, 2, 4]})
    assert by_row(posterior, np.zeros((1, 1)))["y"].shape == shape
