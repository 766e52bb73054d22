"""Type-II maximum likelihood: effects integrated out, hyperparameters maximised over."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from ppl import InferenceError, compile_model, load_fit
from ppl.kernel.advi.families.marginal import Marginal

J, SIGMA = 8, 2.0
Y = np.random.default_rng(3).normal(1.5, 4.0, J)
PROGRAM = """
data {{ int J; vector[J] y; real sigma; }}
parameters {{ real mu; real<lower=0> tau; vector{bound}[J] theta; }}
model {{ theta ~ normal(mu, tau); y ~ normal(theta, sigma); }}
"""
DATA = {"J": J, "y": Y, "sigma": SIGMA}


@pytest.fixture(scope="module")
def posterior():
    return compile_model(PROGRAM.format(bound="")).condition(DATA)


@pytest.fixture(scope="module")
def fit(posterior):
    return posterior.variational(algorithm="optimize", marginal="theta", draws=4000)


def log_marginal(mu, tau):
    """y given mu and tau is normal: the effects are integrated out by hand."""
    return multivariate_normal.logpdf(Y, np.full(J, mu), (tau**2 + SIGMA**2) * np.eye(J))


def test_hyperparameters_are_those_of_the_exact_marginal(fit):
    best = minimize(lambda p: -log_marginal(p[0], np.exp(p[1])), [0.0, 0.0])
    mu, tau = (fit.summary()[name].mean for name in ("mu", "tau"))
    assert mu == pytest.approx(best.x[0], abs=0.01) and tau == pytest.approx(np.exp(best.x[1]), rel=0.01)
    assert max(fit.summary()["mu"].sd, fit.summary()["tau"].sd) < 1e-12


def test_the_elbo_is_the_log_marginal_where_it_is_gaussian(fit):
    mu, tau = fit.at_mean()[:2]
    assert fit.elbo == pytest.approx(log_marginal(mu, tau), abs=4 * fit.elbo_se)


def test_effects_are_drawn_from_their_conditional(fit):
    mu, tau = fit.at_mean()[:2]
    shrink = tau**2 / (tau**2 + SIGMA**2)
    theta = fit.stan_variable("theta")
    np.testing.assert_allclose(theta.mean(axis=0), mu + shrink * (Y - mu), atol=0.15)
    np.testing.assert_allclose(theta.std(axis=0), SIGMA * np.sqrt(shrink), rtol=0.1)
    assert fit.verdict.khat < 0.5


def test_a_saved_fit_comes_back(fit, posterior, tmp_path):
    fit.save(tmp_path / "fit.json")
    again = load_fit(tmp_path / "fit.json", posterior.model, DATA)
    np.testing.assert_array_equal(again.draws(), fit.draws())
    assert fit.more(10).draws().shape == (10, J + 2)


@pytest.mark.parametrize(
    ("name", "why"), [("eta", "is not a parameter"), ("tau", "has the constraint lower")]
)
def test_what_cannot_be_integrated_out_is_refused(posterior, name, why):
    with pytest.raises(InferenceError, match=f"`{name}` {why}.*mu, theta"):
        posterior.variational(algorithm="optimize", marginal=name)


def test_it_goes_with_optimize_alone(posterior):
    with pytest.raises(InferenceError, match=r"requires algorithm = .optimize.; here algorithm = 'auto'"):
        posterior.variational(marginal="theta")


def test_the_family_pulls_gradients_back_and_knows_its_density():
    family, rng = Marginal(4, (1, 3)), np.random.default_rng(0)
    params = rng.normal(size=family.size)
    z = family.noise(6, rng)
    slope = rng.normal(size=(4, 4))

    def mean(p):
        return float((np.sin(family.transform(p, z)) @ slope).sum(axis=1).mean()) + family.entropy(p)

    gradients = np.cos(family.transform(params, z)) * slope.sum(axis=1)
    found = family.pull_back(params, z, gradients) + family.entropy_gradient(params)
    steps = 1e-6 * np.eye(family.size)
    numeric = [(mean(params + step) - mean(params - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-8)
    u = family.transform(params, family.noise(200_000, rng))
    assert -family.log_density(params, u).mean() == pytest.approx(family.entropy(params), abs=0.02)
    np.testing.assert_allclose(np.cov(u.T), family.covariance(params), rtol=0.02, atol=0.02)
    np.testing.assert_allclose(family.params_score(params, u).mean(axis=0), 0, atol=0.05)
