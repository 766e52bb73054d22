import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import qmc
from toy_targets import Gaussian, HalfSpace, Quartic, correlated, numeric_gradient, params_of

from ppl.errors import InferenceError
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.families.standard import Logistic
from ppl.kernel.advi.outcome import Ending
from ppl.methods.numerics import fixed_noise as normal_points
from ppl.methods.numerics.fixed_noise import MOST_DIMENSIONS, fixed_noise
from ppl.methods.refine.fixed_draws import fit_fixed_draws
from ppl.methods.refine.fixed_elbo import negative_elbo


def rng():
    return np.random.default_rng(3)


def test_a_metric_speeds_up_the_means_and_changes_them_not():
    """Mean-field on a Gaussian with correlations of 0.99: a narrow valley for the means."""
    d = 8
    target = Gaussian(np.arange(d), 0.01 * np.eye(d) + 0.99)
    family = FAMILIES["meanfield"](d)
    start = family.start(np.zeros(d), scale=0.1)
    plain = fit_fixed_draws(target, family, start, rng())
    quick = fit_fixed_draws(target, family, start, rng(), metric=np.linalg.cholesky(target.covariance))
    assert quick.gradients < 0.8 * plain.gradients
    np.testing.assert_allclose(family.mean(quick.params), target.mean, atol=0.01)


@pytest.mark.parametrize("dim", [1, 3, 10])
def test_noise_is_centred_and_white_in_each_set(dim):
    for z in fixed_noise(64, dim, rng(), 3).reshape(3, 64, dim):
        np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(z.T @ z / 64, np.eye(dim), atol=1e-12)


def test_noise_in_more_dimensions_than_points_has_unit_variances():
    z = fixed_noise(32, 100, rng())
    np.testing.assert_allclose(z.std(axis=0), 1)
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)


def test_mean_of_a_smooth_function_is_nearer_than_by_plain_draws():
    def error(z):
        return abs(np.exp(0.5 * z).sum(axis=1).mean() - 3 * np.exp(0.125))

    fixed = np.mean([error(fixed_noise(256, 3, np.random.default_rng(k))) for k in range(20)])
    plain = np.mean([error(np.random.default_rng(k).normal(size=(256, 3))) for k in range(20)])
    assert fixed < plain / 5


@pytest.mark.parametrize("name", FAMILIES)
def test_objective_has_its_gradient(name):
    family = FAMILIES[name](3)
    params = params_of(family, 3)
    objective = negative_elbo(
        Quartic(np.array([1.0, -0.5, 2.0])), family, fixed_noise(32, family.noise_dim, rng()), 5.0
    )
    numeric = numeric_gradient(lambda p: objective(p)[0], params)
    np.testing.assert_allclose(objective(params)[1], numeric, rtol=1e-5, atol=1e-6)


def test_a_gaussian_is_found():
    target, full, mean_field = correlated(4), FAMILIES["fullrank"](4), FAMILIES["meanfield"](4)
    fit = fit_fixed_draws(target, full, full.start(np.zeros(4)), rng())
    assert fit.outcome.converged and fit.gradients < 64 * 200
    np.testing.assert_allclose(full.mean(fit.params), target.mean, atol=5e-3)
    np.testing.assert_allclose(full.covariance(fit.params), target.covariance, atol=0.02)
    fit = fit_fixed_draws(target, mean_field, mean_field.start(np.zeros(4)), rng())
    np.testing.assert_allclose(mean_field.mean(fit.params), target.mean, atol=5e-3)
    np.testing.assert_allclose(mean_field.scales(fit.params), np.diag(target.precision) ** -0.5, rtol=5e-3)


def test_a_quartic_is_found_to_the_accuracy_promised():
    """Its mean-field ELBO is in closed form: E u^4 = m^4 + 6 m^2 s^2 + 3 s^4."""
    slope = np.array([1.0, -0.5, 4.0])

    def closed_form(params):
        m, omega = params[:3], params[3:]
        s2 = np.exp(2 * omega)
        return -np.sum(slope * m - (m**4 + 6 * m**2 * s2 + 3 * s2**2) / 4 + omega)

    best = minimize(closed_form, np.zeros(6)).x
    family = FAMILIES["meanfield"](3)
    fit = fit_fixed_draws(Quartic(slope), family, family.start(np.zeros(3)), rng())
    assert fit.outcome.converged and fit.shift < 0.08
    assert np.abs((fit.params[:3] - best[:3]) / np.exp(best[3:])).max() < 0.05
    np.testing.assert_allclose(fit.params[3:], best[3:], atol=0.05)


def test_constants_and_units_change_nothing():
    target, family = correlated(3), FAMILIES["meanfield"](3)
    shifted = Gaussian(target.mean, target.covariance, shift=1e5)
    fits = [fit_fixed_draws(t, family, family.start(np.zeros(3)), rng()) for t in (target, shifted)]
    np.testing.assert_allclose(fits[0].params, fits[1].params, atol=5e-3)


def test_same_seed_same_bytes():
    family = FAMILIES["meanfield"](3)
    one, two = (fit_fixed_draws(correlated(3), family, family.start(np.zeros(3)), rng()) for _ in range(2))
    assert one.params.tobytes() == two.params.tobytes()


def test_a_wall_that_more_draws_run_into_ends_the_doubling_with_what_there_is():
    family = FAMILIES["meanfield"](2)
    fit = fit_fixed_draws(HalfSpace(2, -3.0), family, family.start(np.array([2.0, 5.0]), scale=0.1), rng())
    assert fit.outcome.ending is Ending.DIVERGED and "line 7" in fit.outcome.reason
    assert np.abs(family.mean(fit.params)).max() < 0.05


def test_a_start_outside_the_support_names_the_statement():
    family = FAMILIES["meanfield"](2)
    with pytest.raises(InferenceError, match="line 7"):
        fit_fixed_draws(HalfSpace(2, 1.0), family, family.start(np.zeros(2)), rng())


def test_too_many_dimensions_for_the_budget_is_said():
    family = FAMILIES["fullrank"](50)
    with pytest.raises(InferenceError, match="256 draws, as many as 50 dimensions need"):
        fit_fixed_draws(correlated(50), family, family.start(np.zeros(50)), rng(), most_gradients=2000)


def test_a_family_over_another_standard_lands_on_its_own_optimum():
    """Mean-field over the logistic, on a standard normal: the best scale by quadrature."""
    family = MeanField(1, Logistic())
    target = Gaussian(np.array([2.0]), np.eye(1))
    fit = fit_fixed_draws(target, family, family.start(np.zeros(1)), rng())
    assert family.mean(fit.params)[0] == pytest.approx(2.0, abs=0.02)
    assert np.exp(fit.params[1]) == pytest.approx(np.sqrt(3) / np.pi, rel=0.1)  # E u^2 = s^2 pi^2 / 3 = 1


class Counted(Quartic):
    """A quartic that counts the gradients it is asked for."""

    calls = 0

    def log_density_gradient(self, u):
        Counted.calls += 1
        return super().log_density_gradient(u)

    def log_density_gradients(self, us):
        Counted.calls += len(us)
        return super().log_density_gradients(us)


@pytest.mark.parametrize("most", [300, 1000, 5000])
def test_the_budget_of_gradients_holds(most):
    """L-BFGS counts evaluations only between line searches, each of which may take twenty."""
    Counted.calls = 0
    family = MeanField(6)
    start = family.start(np.full(6, 50.0), scale=1e-3)
    found = fit_fixed_draws(
        Counted(np.full(6, 1e3)), family, start, np.random.default_rng(0), most_gradients=most
    )
    assert Counted.calls == found.gradients <= most
    if found.outcome.ending is not Ending.CONVERGED:
        assert np.isfinite(found.params).all() and found.outcome.ending is Ending.BUDGET_REACHED


@pytest.mark.parametrize("dim", [3, MOST_DIMENSIONS + 1])
def test_a_sobol_point_at_zero_is_a_finite_draw(dim, monkeypatch):
    """One point in 2^30 is: one fit in some thousands would fail."""
    cells = np.tile(np.arange(16)[:, None] / 16, dim)
    points = rng().permuted(cells, axis=0)
    monkeypatch.setattr(normal_points, "sobol", lambda n, dim, rng, sets: points)
    monkeypatch.setattr(qmc.Sobol, "random", lambda self, n: points)
    z = fixed_noise(16, dim, rng())
    assert np.isfinite(z).all()
