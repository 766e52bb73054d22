"""Predictions, scores and ELPDs of random models beside exact values.

`python -m tests.generator.predictions --count 200 --jobs 2` compares two hundred models.
"""

import numpy as np
import pytest
from scipy import stats

from ppl.records import replace
from tests.generator.predictions.__main__ import MOST
from tests.generator.predictions.compare import Compared, compared, fitted, mean_and_error
from tests.generator.predictions.exact import Exact, predictor_law
from tests.generator.predictions.models import MEANS, SDS, Array, Regression, Rows, regression

MISSING, MEASURED = 16, 47
"""Numbers of models with such predictors, and with groups."""


@pytest.mark.parametrize("number", [MISSING, pytest.param(MEASURED, marks=pytest.mark.whole)])
def test_a_random_model_predicts_as_quadrature_says(number):
    model = regression(number)
    found = list(compared(model, fitted(model, seed=1)))
    assert {each.kind for each in found} >= {"mean of y", "log score"}
    assert [each for each in found if each.errors_off > MOST] == []


def test_quadrature_agrees_with_conjugate_normals():
    """y is normal(a + theta, 0.7), theta of two groups normal(0, 0.8), a normal(0, 1): all linear."""
    y, g = np.array([0.3, 1.2, -0.5]), np.array([1, 1, 2])
    none = np.zeros((0,))
    seen, new = Rows(g, 0 * y, y), Rows(np.array([1, 3, 3]), np.zeros(3), np.array([np.nan, np.nan, 2.0]))
    exact = Exact.of(Regression("normal", "none", 2, ("a",), True, seen=seen, new=new, test=none))
    effects = (g[:, None] == np.arange(1, 4)).astype(float)
    covariance = 1 + 0.64 * effects @ effects.T + 0.49 * np.eye(3)
    of_new = 1 + 0.64 * (np.arange(3)[:, None] == np.arange(3))
    gain = np.linalg.solve(covariance, (1 + 0.64 * effects)).T
    mean = gain @ y
    cov = of_new - gain @ (1 + 0.64 * effects)
    assert exact.mean(new, 0) == pytest.approx(mean[0], abs=1e-5)
    assert exact.at_most(new, 0, 0.5) == pytest.approx(
        stats.norm.cdf(0.5, mean[0], np.sqrt(cov[0, 0] + 0.49)), abs=1e-5
    )
    assert exact.score(new, 2) == pytest.approx(
        stats.norm.logpdf(2, mean[2], np.sqrt(cov[2, 2] + 0.49)), abs=1e-5
    )
    others = np.linalg.inv(covariance)[2]  # of a normal, y[2] given the others
    left = stats.norm.logpdf(y[2], y[2] - others @ y / others[2], others[2] ** -0.5)
    assert exact.left_out(2) == pytest.approx(left, abs=1e-5)
    evidence = stats.multivariate_normal(np.zeros(3), covariance).logpdf(y)
    assert exact.log_evidence() == pytest.approx(evidence, abs=1e-5)


@pytest.mark.parametrize("at", range(3))
def test_a_missing_number_is_off_by_more_than_any_error(at):
    numbers = [1.0, 1.0, 1.0]
    numbers[at] = np.nan
    assert Compared("mean", *numbers).errors_off > MOST
    assert Compared("mean", 1.0, 2.0, np.inf).errors_off > MOST


def of_normals(y: Array) -> Exact:
    """The law of y normal(a, 0.7), a normal(0, 1)."""
    seen = Rows(np.ones(len(y), int), 0 * y, y)
    return Exact.of(Regression("normal", "none", 0, ("a",), True, seen=seen))


@pytest.mark.parametrize("mean", np.linspace(-3, 3, 13))
def test_the_grid_is_narrowed_to_the_posterior_wherever_points_lie(mean):
    y = np.full(3, mean)
    exact = stats.multivariate_normal(np.zeros(3), 1 + 0.49 * np.eye(3)).logpdf(y)
    assert of_normals(y).log_evidence() == pytest.approx(exact, abs=1e-5)


def test_a_posterior_that_no_grid_resolves_is_not_compared():
    """Model 4151: four outcomes near a line, so that the scale has much of its mass near 0."""
    with pytest.raises(ArithmeticError, match="no grid resolves"):
        Exact.of(regression(4151))


def test_effects_have_as_many_points_as_a_small_scale_of_the_outcome_needs():
    """Model 7307: two residuals of a group that nearly agree. With 41 effects the score is -0.246."""
    model = regression(7307)
    exact = Exact.of(model)
    finer = replace(exact, points=321)
    assert exact.score(model.test, 2) == pytest.approx(finer.score(model.test, 2), abs=0.01)


def test_the_error_of_weights_is_that_of_a_normal_and_finite_for_an_outlier():
    """Moments of 1 / p(y) are known. An outlier has p(y) = 0 in floats."""
    y = np.array([0.3, 1.2, -0.5, 0.2, 0.8, 0.4])
    variance = 1 / (1 + len(y) / 0.49)
    once, twice, off = 0.49 - variance, 0.49 - 2 * variance, y[-1] - variance * y.sum() / 0.49
    ratio = once / np.sqrt(0.49 * twice) * np.exp(off**2 * (1 / twice - 1 / once))
    assert of_normals(y).weight_error(5, 10**6) == pytest.approx(1e-3 * np.sqrt(ratio - 1), rel=1e-3)
    assert 0.5 < of_normals(np.array([*y[:-1], 60.0])).weight_error(5, 1000) <= 1


def of_prior(family: str, predictor: str, *free: str) -> tuple[Exact, Rows]:
    """The law of a row given none, and that row, whose predictor is missing."""
    shape = (2,) if predictor == "vector" else ()
    none = Rows(np.ones(0, int), np.zeros((0, *shape)), np.zeros(0))
    new = Rows(np.ones(1, int), np.full((1, *shape), np.nan), np.full(1, np.nan))
    return Exact.of(Regression(family, predictor, 0, free, True, seen=none)), new


@pytest.mark.parametrize(
    ("family", "variance"),
    [
        ("normal", 0.7**2 + 1),
        ("student_t", 0.7**2 * 5 / 3 + 1),
        ("gamma", np.e**2 / 2.7 + np.e**2 - np.e),
        ("bernoulli", 0.25),
        ("poisson", np.e**0.5 + np.e**2 - np.e),
        ("neg_binomial", np.e**0.5 + np.e**2 / 1.7 + np.e**2 - np.e),
    ],
)
def test_the_error_of_a_mean_is_that_of_a_known_variance(family, variance):
    """The linear predictor is normal(0, 1), its exponential lognormal."""
    exact, new = of_prior(family, "none", "a")
    assert exact.mean_error(new, 0, 10**8) == pytest.approx(1e-4 * np.sqrt(variance), rel=1e-3)


def test_means_of_a_long_tail_are_within_their_errors():
    """Poisson with a slope and a sum of predictors that are both normal: the variance is infinite.

    A quarter of the means of independent draws are off by more than four errors of these draws.
    """
    exact, new = of_prior("poisson", "vector", "b")
    rng, shape = np.random.default_rng(1), (300, 1000)
    slope = rng.normal(MEANS["b"], SDS["b"], shape)
    x = rng.normal(*predictor_law(exact.model, new.x[0]), shape)
    y = rng.poisson(np.exp(exact.model.fixed["a"] + slope * x))
    mean, error = exact.mean(new, 0), exact.mean_error(new, 0, 1000)
    by_draws = [mean_and_error("mean of y", own, mean).errors_off for own in y]
    assert np.mean(np.array(by_draws) > MOST) > 0.1
    assert [own for own in y if mean_and_error("mean of y", own, mean, error).errors_off > MOST] == []
