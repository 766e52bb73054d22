"""What more is done where q does not fit: full rank, begun at mean-field."""

import numpy as np
import pytest

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.target import Target
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.psis import psis
from ppl.methods.initialise.starting import Start
from ppl.methods.recipes import fit
from ppl.methods.refine.family_upgrade import LOCAL, upgrade
from ppl.methods.refine.refinement import Refined
from ppl.methods.run.context import Context
from ppl.methods.run.settings import Settings

DIM = 3
WIDE = Gaussian(np.zeros(DIM), np.linalg.cholesky(np.eye(DIM) + 0.5))
PEAK = Gaussian(np.full(DIM, 4.0), 0.01 * np.eye(DIM))
MASS = np.log(1e-3)


class Peaked(Target):
    """A wide Gaussian with a narrow peak beside it, a thousandth of the mass."""

    dim = DIM

    def log_densities(self, us):
        return np.logaddexp(WIDE.log_density_gradients(us)[0], MASS + PEAK.log_density_gradients(us)[0])

    def log_density_gradients(self, us):
        values = self.log_densities(us)
        wide, of_wide = WIDE.log_density_gradients(us)
        peak, of_peak = PEAK.log_density_gradients(us)
        shares = np.exp(np.array([wide, MASS + peak]) - values)[:, :, None]
        return values, shares[0] * of_wide + shares[1] * of_peak


def stepped_up(centre, factor, params):
    """From a start in those coordinates and a full-rank q that was found there."""
    target, family = Peaked(), FullRank(DIM)
    start = Start(centre, Scaled(target, centre, factor), family, family.start(np.zeros(DIM)))
    found = Refined(family, params, Outcome(Ending.BUDGET_REACHED, "that is all"))
    return found, upgrade(target, start, found, Context.of(Settings(seed=1, move=False)))


def in_the_peak():
    family = FullRank(DIM)
    return family.push_forward(family.start(np.zeros(DIM)), np.full(DIM, 3.9), 0.3 * np.eye(DIM))


def test_full_rank_that_was_lost_is_climbed_again_from_mean_field():
    _, better = stepped_up(np.full(DIM, 0.5), 0.7 * np.eye(DIM), in_the_peak())
    assert "The mean-field ELBO was" in better.notes[0] and "higher" in better.notes[0]
    assert np.allclose(better.family.mean(better.params), 0, atol=0.1)
    assert np.allclose(better.family.covariance(better.params), np.eye(DIM) + 0.5, atol=0.15)


def test_full_rank_that_fits_is_left_alone():
    family = FullRank(DIM)
    params = family.push_forward(family.start(np.zeros(DIM)), np.zeros(DIM), WIDE.factor)
    found, same = stepped_up(np.full(DIM, 0.5), 0.7 * np.eye(DIM), params)
    assert np.allclose(same.params, found.params, atol=0.2) and not any("nats" in n for n in same.notes)


@pytest.mark.parametrize("factor", [0.7 * np.ones(DIM), np.full(DIM, 0.01)])
def test_without_a_dense_guess_there_is_nothing_to_climb_from(factor):
    _, same = stepped_up(np.full(DIM, 0.5), factor, in_the_peak())
    assert not any("nats" in note for note in same.notes)


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


def test_a_local_gaussian_whose_draws_can_be_resampled_is_not_maximised():
    """Its k-hat is above 0.5, but most of its draws count: the fit needs no other q."""
    target, family, zeros = Tailed(), MeanField(DIM), np.zeros(DIM)
    params = family.start(zeros)
    start = Start(zeros, Scaled(target, zeros, np.ones(DIM)), family, params, metric=np.eye(DIM))
    narrow = family.push_forward(params, zeros, np.full(DIM, 0.7))
    found = Refined(family, narrow, Outcome(Ending.CONVERGED, "so it seemed"))
    q = upgrade(target, start, found, Context.of(Settings(seed=1)))
    u = q.family.transform(q.params, np.random.default_rng(2).normal(size=(4000, DIM)))
    weights = psis(target.log_densities(u) - q.family.log_density(q.params, u))
    assert 0.5 <= weights.khat < 0.7 and weights.ess > 2000
    assert q.notes == (LOCAL,) and target.points == 0


class Strung(Target):
    """A Gaussian whose coordinates hang together and have units far apart."""

    dim = 3
    units = np.diag([50.0, 1.0, 0.01])
    alike = np.linalg.cholesky(np.full((3, 3), 0.95) + 0.05 * np.eye(3))
    gaussian = Gaussian(np.array([1e3, -2.0, 0.0]), units @ alike)

    def log_densities(self, us):
        return self.gaussian.log_density_gradients(us)[0]

    def log_density_gradients(self, us):
        return self.gaussian.log_density_gradients(us)


def mean_field_stepped_up(mean, scales):
    target, family = Strung(), MeanField(DIM)
    first = family.start(np.zeros(DIM))
    start = Start(np.zeros(DIM), Scaled(target, np.zeros(DIM), np.ones(DIM)), family, first)
    found = Refined(
        family, family.push_forward(first, mean, scales), Outcome(Ending.CONVERGED, "so it seemed")
    )
    return upgrade(target, start, found, Context.of(Settings(seed=1, move=False)))


def test_mean_field_goes_on_to_full_rank():
    at_maximum = mean_field_stepped_up(Strung.gaussian.mean, Strung.gaussian.precisions**-0.5)
    assert "upgraded to full rank" in at_maximum.notes[0]
    assert isinstance(at_maximum.family, FullRank)


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
