"""The q of `auto`: the Gaussian at the start, or mean-field, by what their draws are worth."""

import numpy as np
import pytest

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.target import Target
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.psis import psis
from ppl.methods.initialise.starting import Start
from ppl.methods.recipes import fit
from ppl.methods.refine.gaussian_at_start import LOCAL, WEIGHING, better, gaussian_at_start, weighed
from ppl.methods.refine.refinement import Refined
from ppl.methods.run.settings import Settings

DIM = 3


class Tailed(Target):
    """A standard Gaussian with a wider one about it; counts gradients."""

    dim, wider = DIM, 2.2
    points = 0

    def log_densities(self, us):
        squares = (us**2).sum(axis=1)
        return np.logaddexp(
            np.log(0.7) - squares / 2,
            np.log(0.3) - (squares / self.wider + self.dim * np.log(self.wider)) / 2,
        )

    def log_density_gradients(self, us):
        self.points += len(us)
        values, squares = self.log_densities(us), (us**2).sum(axis=1)
        own = np.exp(np.log(0.7) - squares / 2 - values)[:, None]
        return values, -us * (own + (1 - own) / self.wider)


def started(target, metric=None, **settings):
    """A start at zero, and the Gaussian of covariance metric @ metric.T there."""
    family, zeros = MeanField(DIM), np.zeros(DIM)
    start = Start(zeros, Scaled(target, zeros, np.ones(DIM)), family, family.start(zeros), metric=metric)
    return start, gaussian_at_start(target, start, Settings(**settings), np.random.default_rng(1))


def mean_field(sd, mean=0.0):
    family = MeanField(DIM)
    params = family.push_forward(family.start(np.zeros(DIM)), np.full(DIM, mean), np.full(DIM, sd))
    return Refined(family, params, Outcome(Ending.CONVERGED, "so it seemed"))


def test_where_its_draws_can_be_resampled_no_other_q_is_tried():
    """Its k-hat is above 0.5, but most of its draws count, which moves will tell."""
    target = Tailed()
    _, at_start = started(target, np.eye(DIM))
    assert isinstance(at_start.q.family, FullRank) and target.points == 0
    assert 0.5 <= at_start.weights.khat < 0.7 and at_start.ends and not at_start.q.fits
    assert not started(target, np.eye(DIM), move=False)[1].ends
    assert started(target)[1] is None  # without a matrix there is none


def test_it_is_q_where_its_draws_are_worth_more():
    target = Tailed()
    _, at_start = started(target, np.eye(DIM))
    narrow, wide = mean_field(0.6), mean_field(1.15)
    q = better(target, narrow, at_start, np.random.default_rng(2))
    assert isinstance(q.family, FullRank) and q.notes == (LOCAL,) and q.outcome is narrow.outcome
    assert better(target, wide, at_start, np.random.default_rng(2)) is wide
    assert better(target, narrow, None, np.random.default_rng(2)) is narrow


def test_where_draws_of_neither_are_worth_some_elbos_tell():
    """One draw of a thousand has all of the weight, of whichever q it is."""
    target, rng = Tailed(), np.random.default_rng(2)
    _, at_start = started(target, np.eye(DIM))
    one, far = psis(np.linspace(0, 1e5, 1000)), mean_field(1.0, mean=20.0)
    weights, elbo = weighed(target, far, rng)
    assert weights.ess < WEIGHING.fewest_effective
    for other, family in ((elbo + 5, FullRank), (elbo - 5, MeanField)):
        worthless = at_start._replace(weights=one, elbo=other)
        assert isinstance(better(target, far, worthless, rng).family, family)


def test_it_has_the_correlations_of_the_start():
    metric = np.linalg.cholesky(np.full((DIM, DIM), 0.5) + 0.5 * np.eye(DIM))

    class Correlated(Target):
        dim = DIM

        def log_densities(self, us):
            return -0.5 * (np.linalg.solve(metric, us.T) ** 2).sum(axis=0)

        def log_density_gradients(self, us):
            return self.log_densities(us), -np.linalg.solve(metric @ metric.T, us.T).T

    _, at_start = started(Correlated(), metric, move=False)
    assert at_start.ends and at_start.q.fits and "fits" in at_start.q.outcome.reason
    np.testing.assert_allclose(at_start.q.family.covariance(at_start.q.params), metric @ metric.T)


class Updated(Target):
    """Effects N(mu, exp(t)) and a Gaussian that knows them all, as of rows that an earlier fit has seen."""

    def __init__(self, groups, sd, seed):
        rng = np.random.default_rng(seed)
        self.dim, self.precision = 2 + groups, (np.eye(groups) + 0.02) / sd**2
        self.seen = rng.normal(0.3, 0.7, groups) + rng.normal(0, sd, groups)

    def explain(self, u):
        return ""

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_density_gradients(self, us):
        mu, t, effects = us[:, :1], us[:, 1:2], us[:, 2:]
        s, z, off = np.exp(t), (effects - mu) / np.exp(t), effects - self.seen
        values = (
            t - mu**2 / 8 - s**2 / 2 - (z**2 / 2 + t + off * (off @ self.precision) / 2).sum(1, keepdims=True)
        )
        slopes = (z / s).sum(1, keepdims=True) - mu / 4, (z**2 - 1).sum(1, keepdims=True) + 1 - s**2
        return values[:, 0], np.hstack([*slopes, -z / s - off @ self.precision])


@pytest.mark.rotate
@pytest.mark.parametrize("sd, seed", [(0.06, 5), (0.06, 10), (0.1, 5)])
def test_an_update_of_a_hierarchy_is_resampled(sd, seed):
    """From the Gaussian at the start, though its k-hat alone would not do."""
    result = fit(Updated(20, sd, seed), Settings(algorithm="auto", seed=seed, draws=1000))
    assert (result.verdict.level, result.verdict.made) == (Level.GOOD, DrawSource.RESAMPLED)
    assert "the Laplace approximation fits" in result.outcome.reason
