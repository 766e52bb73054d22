"""Every recipe on targets whose posterior is known."""

from typing import ClassVar

import numpy as np
import pytest
from algorithm_one import PAPER, advi
from scipy.special import gamma
from toy_targets import Gaussian, HalfSpace, Logistic, Mixture, OneByOne, Quartic, correlated

from ppl.errors import InferenceError
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.outcome import Ending
from ppl.kernel.advi.target import Target
from ppl.methods.correct.correction import DrawSource
from ppl.methods.diagnose.level import Level
from ppl.methods.recipes import RECIPES, fit
from ppl.methods.run.settings import Settings

FULL = ("fullrank", "laplace", "pathfinder")


def settings(algorithm="auto", **more):
    return Settings(algorithm=algorithm, **more)


@pytest.mark.parametrize("algorithm", FULL)
def test_a_gaussian_is_found_with_its_correlations(algorithm):
    target = correlated(4)
    result = fit(target, settings(algorithm, draws=4000))
    sd = np.sqrt(np.diag(target.covariance))
    np.testing.assert_allclose((result.mean_u - target.mean) / sd, 0, atol=0.05)
    covariance = np.cov(result.draws_u.T)
    np.testing.assert_allclose(covariance / np.outer(sd, sd), target.covariance / np.outer(sd, sd), atol=0.1)
    assert result.verdict.level is Level.GOOD
    assert abs(result.final_elbo) < 0.1


def test_laplace_is_exact_on_a_gaussian():
    target = correlated(6)
    result = fit(target, settings("laplace"))
    np.testing.assert_allclose(result.mean_u, target.mean, atol=1e-5)
    np.testing.assert_allclose(
        result.family.covariance(result.params), target.covariance, rtol=1e-5, atol=1e-7
    )
    assert result.outcome.converged and result.notes == ()


@pytest.mark.parametrize("optimizer", ["lbfgs", "bfgs", "newton"])
def test_optimize_lands_on_the_mode_and_has_no_spread(optimizer):
    slope = np.array([1.0, 8.0, -27.0])
    result = fit(Quartic(slope), settings("optimize", draws=10, optimizer=optimizer))
    np.testing.assert_allclose(result.mean_u, np.cbrt(slope), atol=1e-4)
    assert (result.draws_u == result.mean_u).all()
    assert result.verdict.level is Level.UNKNOWN


class Saddle(OneByOne, Gaussian):
    """A Gaussian of which one direction is turned upward near the mode: two modes at +-1 of a quartic."""

    def log_density_gradient(self, u):
        value, gradient = super().log_density_gradient(u)
        return value + 2 * u[0] ** 2 - u[0] ** 4, gradient + np.array([4 * u[0] - 4 * u[0] ** 3, 0])


def test_laplace_says_that_it_repaired_a_hessian():
    target = Saddle(np.zeros(2), np.eye(2))
    result = fit(target, settings("laplace"), init=0)
    assert "curves upward at the mode in 1 of 2 directions" in result.notes[0]
    assert fit(target, settings("laplace", seed=2)).notes == ()


def test_linear_response_finds_the_covariance_that_mean_field_cannot_have():
    target = correlated(5)
    sd = np.sqrt(np.diag(target.covariance))
    plain = fit(target, settings("fixed-draws"))
    corrected = fit(target, settings("fixed-draws", linear_response=True))
    assert isinstance(plain.family, MeanField) and (plain.family.scales(plain.params) < 0.99 * sd).any()
    assert isinstance(corrected.family, FullRank)
    found = corrected.family.covariance(corrected.params)
    np.testing.assert_allclose(found / np.outer(sd, sd), target.covariance / np.outer(sd, sd), atol=0.01)
    np.testing.assert_allclose(corrected.mean_u, plain.mean_u, atol=1e-9)


def test_linear_response_is_right_on_a_logistic_regression():
    """Against the full-rank fit, which is close to this posterior."""
    x = np.column_stack([np.ones(100), np.random.default_rng(0).normal(size=100)])
    x[:, 1] += 2  # correlates the weights
    target = Logistic(x, (np.random.default_rng(1).logistic(size=100) < x @ [-1.0, 0.7]).astype(float))
    full = fit(target, settings("fullrank"))
    corrected = fit(target, settings("fixed-draws", linear_response=True))
    sds = corrected.family.scales(corrected.params) / full.family.scales(full.params)
    np.testing.assert_allclose(sds, 1, atol=0.05)


def strongly_correlated():
    return Gaussian(np.arange(6.0), 0.05 * np.eye(6) + 0.95)


@pytest.mark.rotate
def test_q_is_the_gaussian_at_the_start_where_mean_field_does_not_fit_and_says_so():
    result = fit(strongly_correlated(), settings())
    assert isinstance(result.family, FullRank) and "the Laplace approximation fits" in result.outcome.reason
    assert result.verdict.level is Level.GOOD
    np.testing.assert_allclose(result.family.scales(result.params), 1, atol=0.05)
    plain = fit(strongly_correlated(), settings(upgrade=False, move=False))
    assert isinstance(plain.family, MeanField) and plain.verdict.level is Level.POOR


@pytest.mark.rotate
@pytest.mark.parametrize("move, how", [(True, "HMC chains started at q"), (None, "a mixture of Gaussians")])
def test_draws_that_mean_field_cannot_give_are_moved_or_of_a_mixture_and_said_to_be(move, how):
    target = strongly_correlated()
    result = fit(target, settings(upgrade=False, move=move))
    made = DrawSource.MOVED if move else DrawSource.MIXTURE
    assert isinstance(result.family, MeanField) and result.verdict.made is made
    assert result.verdict.level is Level.GOOD and (result.verdict.khat > 0.7) is bool(move)
    assert how in result.verdict.sentence("abcdef")
    np.testing.assert_array_equal(result.log_g, result.log_p)
    np.testing.assert_allclose(result.draws_u.mean(axis=0), target.mean, atol=0.15)
    np.testing.assert_allclose(np.cov(result.draws_u.T), target.covariance, atol=0.15)
    np.testing.assert_allclose(result.log_p, [target.log_density(u) for u in result.draws_u])


@pytest.mark.rotate
def test_where_the_weights_are_enough_draws_are_resampled():
    result = fit(Quartic(np.zeros(2)), settings("fullrank", correct=True))
    assert result.verdict.made is DrawSource.RESAMPLED and result.verdict.level is Level.GOOD
    # E u^2 = 2 Gamma(3/4) / Gamma(1/4) under exp(-u^4 / 4).
    np.testing.assert_allclose((result.draws_u**2).mean(axis=0), 2 * gamma(0.75) / gamma(0.25), atol=0.03)


def test_log_g_is_the_density_that_the_draws_follow():
    """Weights p/g, as readers of CmdStan's files take them, are then equal for draws of the posterior."""
    target = Quartic(np.zeros(2))
    resampled = fit(target, quick("fullrank", resample=True, upgrade=False))
    assert resampled.verdict.made is DrawSource.RESAMPLED
    np.testing.assert_array_equal(resampled.log_g, resampled.log_p)
    assert np.abs(resampled.log_g - resampled.log_q).max() > 0.1
    of_q = fit(target, quick("fullrank", resample=False, move=False, upgrade=False))
    assert of_q.verdict.made is DrawSource.OF_Q
    at_mean = of_q.family.log_density(of_q.params, of_q.mean_u[None])
    np.testing.assert_allclose(of_q.log_g, of_q.log_q - at_mean)


TWO_MODES = Mixture(np.array([[-2.0, 0], [2.0, 0]]), np.array([1 / 3, 2 / 3]), np.array([0.3, 0.7]))


def test_draws_are_shared_out_between_modes_or_the_verdict_says_that_they_are_not():
    both = fit(TWO_MODES, quick())
    assert both.verdict.made is DrawSource.MOVED and both.verdict.modes and both.verdict.level != "good"
    assert (both.draws_u[:, 0] < 0).mean() == pytest.approx(0.3, abs=0.06)
    alone = fit(TWO_MODES, quick(move=False))
    assert alone.verdict.level is Level.POOR and "another mode" in alone.verdict.sentence("ab")


def quick(algorithm="auto", **more):
    return settings(algorithm, eta=0.1, iter=100, **more)


@pytest.mark.rotate
def test_the_switches_do_what_they_say():
    made = {
        (resample, move): fit(Banana(), quick(resample=resample, move=move)).verdict.made
        for resample in (None, True, False)
        for move in (None, True, False)
    }
    assert {pair for pair, how in made.items() if how is DrawSource.MOVED} == {
        (None, True), (True, True), (False, None), (False, True)
    }  # fmt: skip
    assert made[None, None] is DrawSource.MIXTURE
    assert made[True, None] is made[True, False] is DrawSource.RESAMPLED
    assert made[False, False] is DrawSource.OF_Q
    assert fit(Banana(), quick(refine=False)).verdict.made in (DrawSource.RESAMPLED, DrawSource.MIXTURE)
    assert fit(Banana(), quick(correct=False)).verdict.made is DrawSource.OF_Q
    for named in ("meanfield", "fullrank", "laplace"):
        assert fit(Banana(), quick(named)).verdict.made is DrawSource.OF_Q
        assert fit(Banana(), quick(named, correct=True)).verdict.made is not DrawSource.OF_Q
    assert fit(Banana(), quick("dsvi", move=True)).verdict.made is DrawSource.MOVED


def test_low_rank_leaves_the_saddle_and_finds_a_covariance_of_its_rank():
    for target in (strongly_correlated(), factor_model(40, 3)):
        result = fit(target, settings("lowrank", rank=3))
        sd = np.sqrt(np.diag(target.covariance))
        found = result.family.covariance(result.params)
        np.testing.assert_allclose(found / np.outer(sd, sd), target.covariance / np.outer(sd, sd), atol=0.1)
        np.testing.assert_allclose(result.mean_u, target.mean, atol=0.05 * sd.max())


def factor_model(dim, rank):
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(dim, rank))
    return Gaussian(rng.normal(size=dim), np.diag(rng.uniform(0.5, 2, dim)) + loadings @ loadings.T)


def test_a_posterior_that_mean_field_fits_stays_mean_field():
    result = fit(Gaussian(np.zeros(3), np.diag([1.0, 4.0, 9.0])), settings(eta=0.1))
    assert isinstance(result.family, MeanField) and result.verdict.level is Level.GOOD


@pytest.mark.rotate
def test_a_gaussian_posterior_takes_no_step():
    """The Gaussian at the start is weighed first; a step size says that steps are wanted."""
    result = fit(strongly_correlated(), settings())
    assert result.path.iterations == 0 and not result.path.eta_scores and isinstance(result.family, FullRank)
    assert result.verdict.level is Level.GOOD and "Laplace approximation fits" in result.outcome.reason
    assert fit(strongly_correlated(), settings(eta=0.1)).path.iterations > 0


class Banana(Target):
    """u_1 is standard normal and u_2 is N(u_1^2 / 2, 1): E u = (0, 1/2), and no Gaussian fits."""

    dim = 2

    def log_density(self, u):
        return -0.5 * (u[0] ** 2 + (u[1] - 0.5 * u[0] ** 2) ** 2) - np.log(2 * np.pi)

    def log_density_gradient(self, u):
        off = u[1] - 0.5 * u[0] ** 2
        return self.log_density(u), np.array([-u[0] + off * u[0], -off])

    def log_densities(self, us):
        return -0.5 * (us[:, 0] ** 2 + (us[:, 1] - 0.5 * us[:, 0] ** 2) ** 2) - np.log(2 * np.pi)

    def log_density_gradients(self, us):
        off = us[:, 1] - 0.5 * us[:, 0] ** 2
        return self.log_densities(us), np.column_stack([-us[:, 0] + off * us[:, 0], -off])

    def explain(self, u):
        return ""


def test_a_named_algorithm_gives_the_elbo_log_g_and_draws_of_its_q():
    result = fit(Banana(), settings("fullrank", draws=4000))
    assert result.verdict.made is DrawSource.OF_Q and isinstance(result.family, FullRank)
    np.testing.assert_allclose(result.draws_u.mean(axis=0), result.mean_u, atol=0.06)
    at_mean = result.family.log_density(result.params, result.mean_u[None])
    log_q = result.family.log_density(result.params, result.draws_u)
    np.testing.assert_allclose(result.log_g, log_q - at_mean)
    np.testing.assert_allclose(result.log_p, [Banana().log_density(u) for u in result.draws_u])
    assert result.final_elbo == pytest.approx((result.log_p - log_q).mean(), abs=0.1)
    assert "Use corrected draws, " in result.verdict.sentence("ab")


def test_resampled_draws_have_the_moments_of_the_posterior():
    result = fit(Banana(), settings("fullrank", resample=True, upgrade=False, draws=4000))
    assert result.draws_u.shape == (4000, 2)
    assert result.draws_u[:, 1].mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_a_random_start_has_the_scale_that_is_asked_for(scale):
    """A step too small to move anything leaves it as it was."""
    paper = {"start": "random", "refine": False, "average": False}
    result = fit(Gaussian(np.zeros(2), np.eye(2)), settings(init_scale=scale, eta=1e-12, iter=1, **paper))
    np.testing.assert_allclose(result.family.scales(result.params), scale, rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["meanfield", "fullrank", "lowrank"])
def test_with_every_stage_off_it_is_the_paper_to_the_last_bit(algorithm):
    plain = advi(correlated(3), algorithm=algorithm, iter=500)
    off = fit(correlated(3), settings(**{**PAPER, "algorithm": algorithm, "iter": 500}))
    assert plain.params.tobytes() == off.params.tobytes()
    assert plain.draws_u.tobytes() == off.draws_u.tobytes()


@pytest.mark.parametrize("algorithm", ["meanfield", "fullrank", "lowrank", "fixed-draws", *FULL, "optimize"])
def test_same_seed_same_bytes(algorithm):
    one, two = (fit(correlated(3), settings(algorithm, seed=3)) for _ in range(2))
    assert one.params.tobytes() == two.params.tobytes()
    assert one.draws_u.tobytes() == two.draws_u.tobytes()


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_default_run_does_not_mind_constants_and_units(seed):
    target, units = correlated(4), np.array([1e3, 1.0, 1e-3, 1.0])
    wild = Gaussian(units * target.mean, np.outer(units, units) * target.covariance, shift=1e5)
    result = fit(wild, settings(seed=seed))
    sd = np.sqrt(np.diag(wild.covariance))
    np.testing.assert_allclose((result.draws_u.mean(axis=0) - wild.mean) / sd, 0, atol=0.05)
    assert result.outcome.converged and result.verdict.level is Level.GOOD


def test_stages_are_reported():
    events = []
    fit(strongly_correlated(), settings(upgrade=False, move=True), progress=events.append)
    assert list(dict.fromkeys(p.phase for p in events)) == [
        "Pathfinder",
        "sample average approximation",
        "importance sampling",
        "other modes",
        "HMC moves",
    ]


class InterruptedIn(OneByOne, Gaussian):
    """Ctrl-C after so many gradients."""

    left: ClassVar = [0]

    def log_density(self, u):
        return super().log_density_gradient(u)[0]

    def log_density_gradient(self, u):
        self.left[0] -= 1
        if self.left[0] == 0:
            raise KeyboardInterrupt
        return super().log_density_gradient(u)


class InterruptedOnce(Gaussian):
    """Ctrl-C the first time that many points are asked for."""

    evaluations: ClassVar = [0]

    def log_densities(self, us):
        self.evaluations[0] += len(us) >= 500
        if self.evaluations[0] == 1:
            raise KeyboardInterrupt
        return super().log_densities(us)


def test_ctrl_c_while_the_start_is_weighed_leaves_the_start():
    result = fit(InterruptedOnce(np.zeros(2), np.eye(2)), settings())
    assert InterruptedOnce.evaluations[0] > 1
    assert result.outcome.ending is Ending.INTERRUPTED and result.draws_u.shape == (1000, 2)


@pytest.mark.parametrize("after", [400, 1200])
def test_ctrl_c_in_any_stage_after_the_start_keeps_what_there_is(after):
    target = InterruptedIn(np.zeros(2), np.eye(2))
    InterruptedIn.left[0] = after
    result = fit(target, settings(eta=0.1, tol_rel_obj=1e-12, iter=1000))
    assert result.outcome.ending is Ending.INTERRUPTED and result.draws_u.shape == (1000, 2)


def test_a_start_that_pathfinder_cannot_use_is_said_and_survived():
    result = fit(HalfSpace(1, -1e-3), settings(iter=200), init=np.array([0.5]))
    assert any("Pathfinder failed" in note for note in result.notes)


def test_an_unknown_recipe_is_refused_with_the_names_there_are():
    with pytest.raises(InferenceError, match=", ".join(RECIPES)):
        fit(correlated(2), settings("advi"))
