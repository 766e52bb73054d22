import numpy as np
import pytest
from algorithm_one import advi
from toy_targets import Gaussian, HalfSpace, OneByOne, Quartic, correlated

from ppl.errors import InferenceError
from ppl.kernel.advi.outcome import Ending
from ppl.methods import recipes
from ppl.methods.run.settings import Settings


class InterruptedAfter(OneByOne, Quartic):
    """A target whose user presses Ctrl-C during the n-th gradient."""

    gradients_left = 250

    def log_density_gradient(self, u):
        type(self).gradients_left -= 1
        if type(self).gradients_left == 0:
            raise KeyboardInterrupt
        return super().log_density_gradient(u)


def test_same_seed_same_bytes():
    one, two = (advi(correlated(3), seed=5, iter=500) for _ in range(2))
    assert one.params.tobytes() == two.params.tobytes()
    assert one.draws_u.tobytes() == two.draws_u.tobytes()
    assert one.final_elbo == two.final_elbo
    assert one.params.tobytes() != advi(correlated(3), seed=6, iter=500).params.tobytes()


def test_elbo_and_output_draws_do_not_touch_the_path():
    one = advi(correlated(3), iter=500, eta=0.1, draws=10, elbo_samples=10, tol_rel_obj=1e-12)
    two = advi(correlated(3), iter=500, eta=0.1, draws=500, elbo_samples=77, tol_rel_obj=1e-12)
    np.testing.assert_array_equal(one.params, two.params)


def test_a_progress_listener_changes_nothing_and_hears_every_phase():
    events = []
    listened = advi(correlated(2), iter=300, progress=events.append, tol_rel_obj=1e-12)
    np.testing.assert_array_equal(listened.params, advi(correlated(2), iter=300, tol_rel_obj=1e-12).params)
    assert [(p.phase, p.iteration) for p in events] == [
        *[("step size search", 50 * k) for k in range(5)],
        *[("stochastic optimisation", 100 * k) for k in range(1, 4)],
        ("importance sampling", 0),
    ]
    assert [p.elbo for p in events[5:-1]] == [point.elbo for point in listened.path.trace]


def test_a_constant_in_the_log_density_changes_the_elbo_by_itself_and_not_the_path():
    target = correlated(3)
    shifted = Gaussian(target.mean, target.covariance, shift=-100.0)
    plain, of_shifted = (advi(t, iter=400, eta=0.1, tol_rel_obj=1e-12) for t in (target, shifted))
    np.testing.assert_array_equal(plain.params, of_shifted.params)
    assert of_shifted.final_elbo == pytest.approx(plain.final_elbo - 100)


def test_log_densities_of_the_draws():
    target = correlated(2)
    fit = advi(target, algorithm="fullrank", iter=1000, draws=50)
    np.testing.assert_allclose(fit.log_p, [target.log_density(u) for u in fit.draws_u])
    np.testing.assert_allclose(fit.log_q, fit.family.log_density(fit.params, fit.draws_u))
    constant = fit.log_q - fit.log_g
    np.testing.assert_allclose(constant, constant[0])
    assert (fit.log_g <= 0).all()


def test_final_elbo_rests_on_fresh_draws_even_when_none_are_asked_for():
    fit = advi(correlated(2), iter=200, draws=0)
    assert fit.draws_u.shape == (0, 2)
    assert np.isfinite(fit.final_elbo) and fit.final_elbo_se > 0


def test_budget_reached_is_an_outcome():
    fit = advi(correlated(2), iter=150, tol_rel_obj=1e-12)
    assert fit.outcome.ending is Ending.BUDGET_REACHED
    assert fit.path.iterations == 150 and len(fit.path.trace) == 1


def test_convergence_names_its_rule():
    fit = advi(Gaussian(np.zeros(2), np.eye(2), shift=1e6), iter=2000)
    assert fit.outcome.converged and "mean and median" in fit.outcome.reason


def test_divergence_keeps_the_best_parameters_and_says_why():
    fit = advi(HalfSpace(2, -4.0), eta=1000.0, iter=2000, init=0.1, eval_elbo=1)
    assert fit.outcome.ending is Ending.DIVERGED
    assert "line 7" in fit.outcome.reason
    assert np.isfinite(fit.params).all() and np.isfinite(fit.draws_u).all()


def test_interruption_keeps_what_there_is():
    InterruptedAfter.gradients_left = 250
    fit = advi(InterruptedAfter(np.ones(2)), eta=0.1, iter=1000, tol_rel_obj=1e-12)
    assert fit.outcome.ending is Ending.INTERRUPTED
    assert fit.path.iterations == 248 and len(fit.path.trace) == 2  # one gradient went to the start
    assert fit.draws_u.shape == (1000, 2)


def test_after_an_interruption_no_other_modes_are_looked_for():
    """They took half a minute of a user who had asked to stop."""
    InterruptedAfter.gradients_left = 40
    fit = recipes.fit(InterruptedAfter(np.ones(2)), Settings(seed=1))
    assert fit.outcome.ending is Ending.INTERRUPTED
    assert InterruptedAfter.gradients_left == 0 and fit.draws_u.shape == (1000, 2)


def test_dropped_draws_are_counted_and_said():
    fit = advi(HalfSpace(2, -1.0), eta=0.1, iter=200, init=0.5)
    assert fit.dropped > 0
    assert f"{fit.dropped} draws" in fit.notes[-1]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"algorithm": "meanfeld"}, "meanfield, fullrank, lowrank"),
        ({"iter": 0}, "at least 1"),
        ({"grad_samples": 1.5}, "integer"),
        ({"elbo_samples": True}, "integer"),
        ({"draws": -1}, "at least 0"),
        ({"seed": -1}, "at least 0"),
        ({"eta": 0.0}, "above 0"),
        ({"tol_rel_obj": float("nan")}, "above 0"),
    ],
)
def test_settings_out_of_range_are_refused_with_the_range(setting, message):
    with pytest.raises(InferenceError, match=message) as refused:
        advi(correlated(2), **setting)
    assert next(iter(setting)) in str(refused.value)
