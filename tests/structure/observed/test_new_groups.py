"""Predictions for new groups against their exact law, where parameters and outcomes are jointly normal.

Everything is linear in standard normal numbers `e`, so that new outcomes given the old ones are normal with a
mean and covariance by linear algebra. Where a scale is a parameter, their law is a mixture over a grid of it.
"""

import re

import numpy as np
import pytest
from scipy import special, stats

import ppl
from ppl.errors import ModelError

SIGMA, DRAWS = 0.5, 4000
NEW = np.array([1, 3, 4, 4, 5])
"""Groups of the new rows: two of the fit's three, and two new ones, one of them with two rows."""


def single(e, old):
    g = np.array([1, 1, 2, 3]) if old else NEW
    a = 1.5 * e[0] + 0.8 * e[1:6]
    return a[g - 1]


def several(e, old):
    g, h = (np.array([1, 2, 3, 1]), np.array([1, 2, 1, 2])) if old else (NEW, np.array([1, 3, 3, 1, 2]))
    a, b = 0.8 * e[1:6], 1.2 * e[6:9]
    return 1.5 * e[0] + a[g - 1] + b[h - 1]


SCHOOLS = np.array([1, 1, 2, 2, 3])
"""The school of each class: classes 4 and 5 are new, one in a school of the fit, one in a new school."""


def nested(e, old):
    g = np.array([1, 2, 3, 3]) if old else NEW
    school = 1.5 * e[0] + 0.8 * e[1:4]
    a = school[SCHOOLS - 1] + 0.6 * e[4:9]
    return a[g - 1]


FACTOR = np.array([[1.0, 0], [-0.7, 0.6]])
X = np.array([1.0, -1.0, 0.5, 2.0])
NEW_X = np.array([1.0, 2.0, -1.0, 1.0, 0.0])


def correlated(e, old):
    g, x = (np.array([1, 1, 2, 3]), X) if old else (NEW, NEW_X)
    effects = 1.5 * e[:2] + e[2:12].reshape(5, 2) @ FACTOR.T
    return effects[g - 1, 0] + x * effects[g - 1, 1]


SITES = np.array([0.0, 1.0, 2.5, 1.6, 4.0])
LOW = np.linalg.cholesky(1.44 * np.exp(-0.5 * np.subtract.outer(SITES, SITES) ** 2) + 1e-3 * np.eye(5))


def sites(e, old):
    return (LOW @ e[:5])[(np.array([1, 1, 2, 3]) if old else NEW) - 1]


COVARIANCE = "add_diag(gp_exp_quad_cov(at, 1.2, 1), 1e-3)"


HEAD = "data {{ int N; int J; array[N] int<lower=1, upper=J> g; vector[N] y; {0} }} parameters {{ {1} }} "
LAW = "model {{ {0} y ~ normal({1}, 0.5); }}"
G, NEW_G = np.array([1, 1, 2, 3]), {"N": 5, "J": 5, "g": NEW}
PROGRAMS = {
    single: (
        HEAD.format("", "real mu; vector[J] a;")
        + LAW.format("mu ~ normal(0, 1.5); a ~ normal(mu, 0.8);", "a[g]"),
        {"J": 3, "g": G},
        NEW_G,
    ),
    several: (
        HEAD.format("int K; array[N] int<lower=1, upper=K> h;", "real mu; vector[J] a; vector[K] b;")
        + LAW.format("mu ~ normal(0, 1.5); a ~ normal(0, 0.8); b ~ normal(0, 1.2);", "mu + a[g] + b[h]"),
        {"J": 3, "g": [1, 2, 3, 1], "K": 2, "h": [1, 2, 1, 2]},
        {**NEW_G, "K": 3, "h": [1, 3, 3, 1, 2]},
    ),
    nested: (
        HEAD.format("int S; array[J] int<lower=1, upper=S> s;", "real mu; vector[S] school; vector[J] a;")
        + LAW.format("mu ~ normal(0, 1.5); school ~ normal(mu, 0.8); a ~ normal(school[s], 0.6);", "a[g]"),
        {"J": 3, "g": [1, 2, 3, 3], "S": 2, "s": SCHOOLS[:3]},
        {**NEW_G, "S": 3, "s": SCHOOLS},
    ),
    sites: (
        HEAD.format("array[J] real at;", "row_vector[J] a;")
        + LAW.format(f"a ~ multi_normal(rep_vector(0, J), {COVARIANCE});", "a[g]'"),
        {"J": 3, "g": G, "at": SITES[:3]},
        {**NEW_G, "at": SITES},
    ),
    correlated: (
        HEAD.format("vector[N] x; matrix[2, 2] V;", "vector[2] m; array[J] vector[2] c;")
        + LAW.format(
            "m ~ normal(0, 1.5); c ~ multi_normal(m, V);", "to_vector(c[g, 1]) + x .* to_vector(c[g, 2])"
        ),
        {"J": 3, "g": G, "x": X, "V": FACTOR @ FACTOR.T},
        {**NEW_G, "x": NEW_X},
    ),
}


def maps(predictors, *more):
    """The matrices by which old and new predictors come of `e`."""
    basis = np.eye(12)
    return [np.array([predictors(e, old, *more) for e in basis]).T for old in (True, False)]


def law(predictors, y, *more):
    """The mean and covariance of new outcomes given the old ones, and the log density of these."""
    old, new = maps(predictors, *more)
    of_old = old @ old.T + SIGMA**2 * np.eye(len(old))
    gain = np.linalg.solve(of_old, old @ new.T).T
    covariance = new @ new.T + SIGMA**2 * np.eye(len(new)) - gain @ old @ new.T
    return gain @ y, covariance, stats.multivariate_normal(cov=of_old).logpdf(y)


Y = np.array([1.5, 0.7, -0.4, 2.2])


@pytest.mark.parametrize("predictors", PROGRAMS, ids=lambda f: f.__name__)
def test_new_outcomes_have_their_exact_law(predictors):
    program, data, new = PROGRAMS[predictors]
    posterior = ppl.compile_model(program).condition({"N": 4, "y": Y, **data})
    fit = posterior.variational(algorithm="laplace", draws=DRAWS, seed=1)  # exact: the posterior is normal
    found = fit.predict(new)["y"]
    mean, covariance, _ = law(predictors, Y)
    for k, (m, sd) in enumerate(zip(mean, np.sqrt(np.diag(covariance)), strict=True)):
        assert stats.kstest(found[:, k], stats.norm(m, sd).cdf).pvalue > 1e-3, k
    white = np.linalg.solve(np.linalg.cholesky(covariance), (found - mean).T)
    assert stats.kstest((white**2).sum(axis=0), stats.chi2(len(mean)).cdf).pvalue > 1e-3
    assert np.abs(np.corrcoef(white) - np.eye(len(mean))).max() < 4.5 / np.sqrt(DRAWS)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_data_frame_with_new_groups_gives_their_means_and_intervals(package):
    frames = pytest.importorskip(package)
    program, data, _ = PROGRAMS[single]
    posterior = ppl.compile_model(program).condition({"N": 4, "y": Y, **data})
    fit = posterior.variational(algorithm="laplace", draws=DRAWS, seed=1)
    found = fit.predict(frames.DataFrame({"g": NEW}))
    mean, covariance, _ = law(single, Y)
    sd = np.sqrt(np.diag(covariance))
    expected = {
        "y": mean,
        "y.5%": mean + stats.norm.ppf(0.05) * sd,
        "y.95%": mean + stats.norm.ppf(0.95) * sd,
    }
    assert isinstance(found, frames.DataFrame) and list(found.columns) == list(expected)
    for name, values in expected.items():
        assert np.asarray(found[name]) == pytest.approx(values, abs=5 * 2.1 * sd.max() / np.sqrt(DRAWS))


def of_scale(e, old, scale):
    g = np.array([1, 1, 2, 3]) if old else NEW
    return (1.5 * e[0] + scale * e[1:6])[g - 1]


@pytest.mark.parametrize(
    ("computed", "effect", "scale", "centred"),
    [
        ("vector[J] a = z - mean(z);", "a[g]", 1, True),
        ("vector[J] a; for (j in 1:J) a[j] = z[j] - sum(z) / J;", "a[g]", 1, True),
        ("", "z[g] - mean(z)", 1, True),
        ("vector[J] a = z / sqrt(J);", "a[g]", np.sqrt(1 / 3), False),
        ("vector[J] a = z / sqrt(num_elements(z));", "a[g]", np.sqrt(1 / 3), False),
    ],
)
def test_means_of_effects_and_their_number_are_those_of_the_fit(computed, effect, scale, centred):
    program = HEAD.format("", "vector[J] z;") + f"transformed parameters {{ {computed} }} "
    program += LAW.format("z ~ std_normal();", effect)
    posterior = ppl.compile_model(program).condition({"N": 4, "y": Y, "J": 3, "g": G})
    fit = posterior.variational(algorithm="laplace", seed=1, draws=DRAWS)
    z = fit.stan_variable("z")
    mean = z.mean(axis=1, keepdims=True) if centred else 0
    more = fit.expected(NEW_G)["y"]
    assert more[:, :2] == pytest.approx(scale * (z - mean)[:, [0, 2]])
    for k in (2, 4):
        assert stats.kstest(((more + mean)[:, k]) / scale, stats.norm.cdf).pvalue > 1e-3
    for fewer in ({"N": 2, "J": 2, "g": [2, 1]}, {"N": 2, "J": 1, "g": [1, 1]}):
        assert fit.expected(fewer)["y"] == pytest.approx(scale * (z - mean)[:, np.array(fewer["g"]) - 1])


def test_fewer_groups_have_the_data_of_the_fit_for_the_others():
    program = "data { int N; int J; array[N] int<lower=1, upper=J> g; vector[J] u; vector[N] y; } "
    program += "parameters { real b; vector[J] z; } transformed parameters { vector[J] a = b * u + z; } "
    program += "model { b ~ std_normal(); z ~ std_normal(); y ~ normal(a[g] - mean(a), 0.5); }"
    posterior = ppl.compile_model(program).condition({"N": 4, "y": Y, "J": 3, "g": G, "u": [1, 2, 4]})
    fit = posterior.variational(algorithm="laplace", seed=1, draws=10)
    b, z = fit.stan_variable("b"), fit.stan_variable("z")
    a = b[:, None] * [5, 2, 4] + z
    found = fit.expected({"N": 1, "J": 1, "g": [1], "u": [5]})["y"]
    assert found[:, 0] == pytest.approx(a[:, 0] - a.mean(axis=1))


MOVED = "new groups change what `z` adds"


@pytest.mark.parametrize(
    ("declared", "computed", "prior", "effect", "says"),
    [
        ("vector[J] z;", "vector[J] b = 2 * z; vector[J] a = b - mean(b);", "z ~ std_normal();", "a[g]",
         MOVED),
        ("vector[J - 1] z;", "", "z ~ std_normal();", "append_row(z, -sum(z))[g]", MOVED),
        ("vector[J] z;", "", "z ~ std_normal();", "softmax(z)[g]", MOVED),
        ("simplex[J] a;", "", "a ~ dirichlet(rep_vector(1, J));", "a[g]", "dirichlet does not draw entries"),
        ("vector[J] a;", "", "a ~ multi_student_t(5, zeros_vector(J), identity_matrix(J));", "a[g]",
         "multi_student_t does not draw entries of new groups given those of the fit"),
        ("vector[J] a;", "", "a ~ normal(0, 1); a ~ normal(0, 2);", "a[g]", "`a` has two densities"),
        ("vector[J] a;", "", "a[1] ~ normal(0, 1); a ~ normal(0, 2);", "a[g]", "`a` has two densities"),
        ("vector[J] a;", "", "a ~ normal(0, 1); a[1] ~ normal(0, 2);", "a[g]", "`a[1]` has two densities"),
        ("vector[J] a;", "", "a ~ normal(0, 1); target += -dot_self(a[2:] - a[:J - 1]);", "a[g]",
         "`a` is drawn for new rows, and this term depends on it too"),
        ("vector[J] a;", "vector[J] b = a + 1;", "a ~ normal(0, 1); b ~ normal(0, 2);", "b[g]",
         "`a` is drawn for new rows, and this term depends on it too"),
        ("vector[J] a;", "vector[J] b = a + 1;", "a ~ normal(0, 1); for (j in 1:J) b[j] ~ normal(0, 2);",
         "b[g]", "`a` is drawn for new rows, and this term depends on it too"),
    ],
)  # fmt: skip
def test_new_groups_that_would_change_others_are_refused(declared, computed, prior, effect, says):
    program = HEAD.format("", declared) + f"transformed parameters {{ {computed} }} "
    program += LAW.format(prior, effect)
    posterior = ppl.compile_model(program).condition({"N": 4, "y": Y, "J": 3, "g": G})
    fit = posterior.variational(algorithm="meanfield", iter=50, seed=1, draws=20)
    with pytest.raises(ModelError, match=re.escape(says)):
        fit.expected(NEW_G)
    assert fit.expected({"N": 2, "g": [1, 3]})["y"] == pytest.approx(fit.expected()["y"][:, [0, 3]])


def test_a_random_walk_whose_first_values_have_one_density_goes_on():
    """Statements of entries are ordered as those of the whole."""
    program = HEAD.format("", "vector[J] a;") + LAW.format(
        "a[1:2] ~ normal(0, 1); for (j in 3:J) a[j] ~ normal(2 * a[j - 1] - a[j - 2], 1e-6);", "a[g]"
    )
    posterior = ppl.compile_model(program).condition({"N": 4, "y": Y, "J": 3, "g": G})
    fit = posterior.variational(algorithm="meanfield", iter=50, seed=1, draws=20)
    a = fit.stan_variable("a")
    assert fit.expected(NEW_G)["y"][:, 2] == pytest.approx(2 * a[:, 2] - a[:, 1], abs=1e-4)


@pytest.mark.rotate
def test_effects_of_new_groups_follow_draws_of_their_scale():
    program = HEAD.format("", "real mu; real<lower=0> tau; vector[J] a;")
    program += LAW.format("mu ~ normal(0, 1.5); tau ~ exponential(1); a ~ normal(mu, tau);", "a[g]")
    posterior = ppl.compile_model(program).condition({"N": 4, "y": Y, "J": 3, "g": G})
    found = posterior.variational(seed=1, draws=DRAWS).predict(NEW_G)["y"]
    scales = np.linspace(0.02, 10, 250)
    laws = [law(of_scale, Y, scale) for scale in scales]
    weights = np.exp([log_density - scale for scale, (*_, log_density) in zip(scales, laws, strict=True)])
    for k in range(len(NEW)):
        means, variances = np.transpose([(mean[k], cov[k, k]) for mean, cov, _ in laws])

        def cdf(y, means=means, variances=variances):
            off = (y - means[:, None]) / np.sqrt(variances)[:, None]
            return np.average(special.ndtr(off), axis=0, weights=weights)

        assert stats.kstest(found[:, k], cdf).statistic < 0.03, k


@pytest.mark.rotate
@pytest.mark.parametrize(
    "bounds, prior, low",
    [
        ("lower=0.5, upper=1", "beta(1, 3)", 0.5),
        ("lower=0.5, upper=1", "uniform(0, 1)", 0.5),
        ("lower=0", "loglogistic(1, 4)", 0),
    ],
)
def test_effects_of_new_groups_lie_in_the_declared_bounds(bounds, prior, low):
    law = LAW.replace("0.5", "0.001").format(f"a ~ {prior};", "a[g]")
    program = HEAD.format("", f"vector<{bounds}>[J] a;") + law
    posterior = ppl.compile_model(program).condition({"N": 4, "y": [0.6, 0.6, 0.7, 0.8], "J": 3, "g": G})
    fit = posterior.variational(algorithm="meanfield", seed=1, draws=200)
    assert fit.predict(NEW_G)["y"][:, -1].min() > low - 0.01
