"""Predictions, scores and ELPDs of random models beside exact values.

`python -m tests.generator.predictions --count 200 --jobs 2` compares two hundred models.
"""

import numpy as np
import pytest
from scipy import stats

from tests.generator.predictions.__main__ import MOST
from tests.generator.predictions.compare import compared, fitted
from tests.generator.predictions.exact import Exact
from tests.generator.predictions.models import Regression, Rows, regression

NUMBERS = (16, 47)
"""Missing and measured predictors, with groups."""


@pytest.mark.parametrize("number", NUMBERS)
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
