"""Newton steps to the mode of all rows, with curvatures of a sample of them."""

from dataclasses import replace

import numpy as np
import pytest
from regressions import LogisticRows, simulated
from scipy.optimize import minimize

from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.methods.diagnose.level import Level
from ppl.methods.recipes import fit
from ppl.methods.refine import newton_by_rows
from ppl.methods.refine.newton_by_rows import NEWTON_BY_ROWS, at_mode_of_all_rows, newton
from ppl.methods.refine.refinement import Refined
from ppl.methods.run.settings import Settings


def rng():
    return np.random.default_rng(3)


def exact(target):
    """The mode by BFGS to rounding, and the covariance there from the Hessian of logistic regression."""

    def loss(u):
        value, gradient = target.log_density_gradient(u)
        return -value, -gradient

    mode = minimize(loss, np.zeros(target.dim), jac=True, tol=1e-10).x
    p = 1 / (1 + np.exp(-target.x @ mode))
    precision = (target.x * (p * (1 - p))[:, None]).T @ target.x + np.eye(target.dim)
    return mode, np.linalg.inv(precision)


def assert_near(q, mode, covariance, mean_within, covariance_within):
    """In units of the sds."""
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((q.mean - mode) / sd, 0, atol=mean_within)
    units = np.outer(sd, sd)
    np.testing.assert_allclose(q.factor @ q.factor.T / units, covariance / units, atol=covariance_within)


def test_the_mode_and_its_covariance_are_found():
    target = simulated(rows=500)
    mode, covariance = exact(target)
    q, steps = newton(target, mode + 3.0, np.ones(target.dim), rng())
    assert steps <= NEWTON_BY_ROWS.most_steps
    assert_near(q, mode, covariance, 2e-3, 0.02)


def test_a_sample_of_rows_gives_the_curvature_and_all_rows_the_mode(monkeypatch):
    target = simulated(rows=20_000)
    mode, covariance = exact(target)
    monkeypatch.setattr(newton_by_rows, "NEWTON_BY_ROWS", NEWTON_BY_ROWS._replace(rows=2_000))
    q, _ = newton(target, mode + 0.1, np.full(target.dim, 0.02), rng())
    assert_near(q, mode, covariance, NEWTON_BY_ROWS.near, 0.15)


@pytest.mark.rotate
def test_minibatches_end_with_a_q_that_fits():
    """Mean-field alone does not: the columns are correlated."""
    base = simulated(rows=3_000, dim=8)
    target = replace(base, x=base.x @ (np.eye(8) + 0.7))
    result = fit(target, Settings(minibatch=200, seed=1))
    assert isinstance(result.family, FullRank) and result.verdict.level is Level.GOOD
    assert "at the mode of all rows" in " ".join(result.notes)
    plain = fit(target, Settings(minibatch=200, seed=1, upgrade=False))
    assert isinstance(plain.family, MeanField) and plain.verdict.level is Level.POOR


class NoMode(LogisticRows):
    """Its log density rises along the first axis without end."""

    def log_density_gradient(self, u):
        value, gradient = super().log_density_gradient(u)
        steep = 100.0 * np.eye(self.dim)[0]
        return value + 0.5 * u[0] ** 2 + steep @ u, gradient + u[0] * np.eye(self.dim)[0] + steep


def test_without_a_mode_what_the_loop_left_stays():
    base = simulated(rows=50)
    target = NoMode(np.column_stack([np.zeros(50), base.x[:, 1:]]), base.y)
    family = MeanField(target.dim)
    found = Refined(family, family.start(np.zeros(target.dim)), Outcome(Ending.COMPLETED, "done"))
    assert at_mode_of_all_rows(target, found, rng()) is found
