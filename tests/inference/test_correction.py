import numpy as np
import pytest
from toy_targets import Gaussian as GaussianTarget
from toy_targets import Mixture, correlated

from ppl.inference.correct import correction
from ppl.inference.correct.annealing import Annealed
from ppl.inference.correct.correction import (
    DrawSource,
    anneal_from,
    correct,
    gaussian_of,
    is_affordable,
    is_enough,
    points_for,
    will_anneal,
)
from ppl.inference.correct.population import StudentTs
from ppl.inference.diagnose.modes import MissedRegions, Mode, Peak
from ppl.inference.diagnose.psis import psis, weighted_draws_of
from ppl.inference.families.full_rank import FullRank
from ppl.inference.families.low_rank import LowRank
from ppl.inference.families.mean_field import MeanField
from ppl.inference.families.point import Point
from ppl.inference.numerics.gaussian import Gaussian
from ppl.inference.objective.coordinates import Scaled
from ppl.inference.recipes.result import ELSEWHERE, ESTIMATED, Path, result_of
from ppl.inference.refine.fixed_draws import FIXED_DRAWS, gradients_for
from ppl.inference.run.context import Context
from ppl.inference.run.outcome import Ending, Outcome
from ppl.inference.run.settings import Settings


class Wide(GaussianTarget):
    """A target whose evaluation works through many numbers."""

    width = 60_000


def rng():
    return np.random.default_rng(0)


def exact(target):
    family = FullRank(target.dim)
    return gaussian_of(family, family.of(target.mean, np.linalg.cholesky(target.covariance)))


def test_what_a_gradient_costs_limits_points_and_gradients():
    assert points_for(1) == 1024 and points_for(4000) == 512
    assert points_for(50_000) == 256 and points_for(60_000) == 0
    wide, narrow = Wide(np.zeros(2), np.eye(2)), correlated(2)
    assert is_affordable(narrow) and will_anneal(narrow, Settings())
    assert will_anneal(narrow, Settings(algorithm="meanfield", anneal=True))
    assert not will_anneal(narrow, Settings(algorithm="meanfield"))
    assert not is_affordable(wide) and not will_anneal(wide, Settings(anneal=True))
    assert gradients_for(narrow) == FIXED_DRAWS.most_gradients and gradients_for(wide) == 1666
    assert gradients_for(Scaled(wide, np.zeros(2), np.ones(2))) == 1666


def test_a_point_has_no_gaussian_and_q_gives_its_own():
    assert gaussian_of(Point(3), np.zeros(3)) is None
    q = exact(correlated(4))
    np.testing.assert_allclose(q.factor @ q.factor.T, correlated(4).covariance)


def test_draws_of_the_posterior_are_resampled_and_stay_what_they_are():
    target = correlated(3)
    q = exact(target)
    u = q.draws(rng().standard_normal((8192, 3)))
    log_p = target.log_densities(u)
    corrected = correct(target, Settings(), q, weighted_draws_of(u, log_p, log_p - 7.0), rng())
    assert corrected.made is DrawSource.RESAMPLED and corrected.u.shape == (1000, 3)
    assert len(np.unique(corrected.u, axis=0)) > 950
    np.testing.assert_allclose(corrected.log_p, target.log_densities(corrected.u))


def drawn(scaled):
    """A few draws of q that are worth too little to begin from."""
    u = scaled.to_u(rng().standard_normal((64, scaled.dim)))
    return weighted_draws_of(u, scaled.target.log_densities(u), np.zeros(64))


def test_annealed_draws_come_back_in_the_coordinates_of_the_model():
    target = correlated(3)
    sd = np.sqrt(np.diag(target.covariance))
    scaled = Scaled(target, target.mean + sd, np.diag(0.5 * sd))
    corrected = anneal_from(scaled, MissedRegions(), drawn(scaled), 1000, rng())
    np.testing.assert_allclose((corrected.u.mean(axis=0) - target.mean) / sd, 0, atol=0.1)
    np.testing.assert_allclose(corrected.log_p, target.log_densities(corrected.u))
    assert corrected.annealed.log_evidence == pytest.approx(0, abs=0.3)


def proposals(sd=1.0, target=None, n=8192):
    """Draws of q = N(mean, sd^2 covariance) for the target."""
    target = target or correlated(3)
    q = exact(target)
    q = type(q)(q.mean, sd * q.factor)
    u = q.draws(rng().standard_normal((n, target.dim)))
    return q, weighted_draws_of(u, target.log_densities(u), q.log_density_gradients(u)[0])


def test_a_pool_is_weighted_by_the_ratio_of_target_to_q():
    _, found = proposals(0.8)
    np.testing.assert_array_equal(found.weights.log_weights, psis(found.log_p - found.log_q).log_weights)
    assert found.weights.khat > psis(found.log_p + found.log_q).khat


OF_Q, RESAMPLED, OF_MIXTURE, ANNEALED = list(DrawSource)[:4]
# By settings, and the sd of q in sds of the target: 1.1 gives good weights, 0.7 and 0.6 such as a mixture can
# be fitted to, of 0.6 with draws of where q does not reach.
MADE = [
    ({}, 1.1, RESAMPLED),
    ({}, 0.6, OF_MIXTURE),
    ({}, 0.7, OF_MIXTURE),
    ({"anneal": False}, 1.1, RESAMPLED),
    ({"anneal": False}, 0.6, OF_Q),
    ({"anneal": True}, 1.1, ANNEALED),
    ({"anneal": True}, 0.7, ANNEALED),
    ({"resample": False}, 0.7, ANNEALED),
    ({"algorithm": "meanfield"}, 0.7, OF_Q),
    ({"anneal": True, "resample": True}, 1.1, ANNEALED),
    ({"resample": True}, 1.1, RESAMPLED),
    ({"resample": True}, 0.6, RESAMPLED),
    ({"resample": False}, 1.1, ANNEALED),
    ({"resample": False, "anneal": False}, 1.1, OF_Q),
    # Without refinement the weights call for the same.
    ({"refine": False}, 1.1, RESAMPLED),
    ({"refine": False}, 0.6, OF_MIXTURE),
    ({"refine": False}, 0.7, OF_MIXTURE),
    ({"refine": False, "anneal": True}, 1.1, ANNEALED),
    ({"minibatch": 10}, 1.1, OF_Q),
    ({"minibatch": 10, "correct": True}, 0.6, OF_Q),
    # An algorithm that is named gives draws of its q, unless correction is asked for.
    ({"algorithm": "meanfield"}, 1.1, OF_Q),
    ({"algorithm": "fullrank"}, 0.6, OF_Q),
    ({"algorithm": "laplace"}, 1.1, OF_Q),
    ({"algorithm": "meanfield", "correct": True}, 1.1, RESAMPLED),
    ({"algorithm": "laplace", "correct": True}, 0.6, OF_MIXTURE),
    ({"algorithm": "laplace", "correct": True}, 0.7, OF_MIXTURE),
    ({"algorithm": "meanfield", "anneal": True}, 1.1, ANNEALED),
    ({"algorithm": "meanfield", "resample": True}, 0.6, RESAMPLED),
    ({"correct": False}, 0.6, OF_Q),
    ({"correct": False, "anneal": True}, 1.1, ANNEALED),
]


@pytest.fixture
def carried(monkeypatch):
    """Annealing that does nothing, and what it was asked for."""
    asked = []

    def anneal(target, reference, rng, listen, points, moves, near):
        asked.append((len(reference.parts), reference.modes, points, moves, near))
        still = np.zeros((points, target.dim)), np.zeros(points), 1, 0.0, 0.0, 0.0
        return Annealed(*still, particles=np.arange(points))

    monkeypatch.setattr(correction, "anneal", anneal)
    return asked


@pytest.mark.parametrize("given, sd, made", MADE)
def test_draws_are_made_as_settings_and_weights_call_for(carried, given, sd, made):
    q, weighted = proposals(sd)
    corrected = correct(correlated(3), Settings(draws=50, **given), q, weighted, rng())
    assert corrected.made is made and len(corrected.u) == len(corrected.log_p) == 50
    assert corrected.modes == () and not corrected.interrupted
    assert bool(carried) is (made is ANNEALED) and (corrected.annealed is not None) is (made is ANNEALED)
    if made is OF_Q:
        np.testing.assert_array_equal(corrected.u, weighted.u[:50])
        np.testing.assert_array_equal(corrected.log_p, weighted.log_p[:50])


def test_without_a_gaussian_or_draws_or_gradients_to_spare_the_pool_is_all_there_is(carried):
    q, weighted = proposals(1.1)
    assert correct(correlated(3), Settings(), None, weighted, rng()).made is OF_Q
    assert correct(correlated(3), Settings(resample=True), None, weighted, rng()).made is RESAMPLED
    assert len(correct(correlated(3), Settings(draws=0), q, weighted, rng()).u) == 0
    target = Wide(np.zeros(3), np.eye(3))
    for sd, made in ((1.1, RESAMPLED), (0.6, OF_Q)):
        q, weighted = proposals(sd, target)
        assert correct(target, Settings(), q, weighted, rng()).made is made
    assert not carried


def test_weights_worth_half_of_few_draws_are_enough(monkeypatch, carried):
    q, weighted = proposals(1.1)
    assert weighted.weights.ess > len(weighted.u) / 2
    monkeypatch.setattr(
        correction, "CORRECTION", correction.CORRECTION._replace(enough_ess=2 * len(weighted.u))
    )
    assert correct(correlated(3), Settings(), q, weighted, rng()).made is RESAMPLED


def test_weights_worth_just_enough_are_enough(monkeypatch, carried):
    q, weighted = proposals(2.0)
    assert weighted.weights.ess < len(weighted.u) / 2
    monkeypatch.setattr(
        correction, "CORRECTION", correction.CORRECTION._replace(enough_ess=weighted.weights.ess)
    )
    assert correct(correlated(3), Settings(), q, weighted, rng()).made is RESAMPLED
    monkeypatch.setattr(
        correction, "CORRECTION", correction.CORRECTION._replace(enough_ess=weighted.weights.ess + 1)
    )
    assert correct(correlated(3), Settings(), q, weighted, rng()).made is OF_MIXTURE


def test_a_mixture_is_fitted_to_what_q_does_not_reach_too(monkeypatch, carried):
    """Two normals of which q is one; to leave the other out is to fit nothing."""
    target = Mixture(np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2), np.array([0.8, 0.2]))
    q = Gaussian(np.zeros(2), np.eye(2))
    u = q.draws(rng().standard_normal((8192, 2)))
    weighted = weighted_draws_of(
        u, target.log_densities(u), q.log_density_gradients(u)[0] - 0.1 * u[:, 0] ** 2
    )
    other = MissedRegions((), (Gaussian(np.array([9.0, 0.0]), np.eye(2)),))
    monkeypatch.setattr(correction, "find_missed_regions", lambda *_: other)
    corrected = correct(target, Settings(resample=None), q, weighted, rng())
    assert corrected.made is OF_MIXTURE and (corrected.u[:, 0] > 4.5).mean() == pytest.approx(0.2, abs=0.02)
    monkeypatch.setattr(correction, "population", lambda *_: alone)
    alone = weighted_draws_of(u, *[target.log_densities(u)] * 2), StudentTs(np.ones(1), (q,), 1e6)
    assert correct(target, Settings(), q, weighted, rng()).made is ANNEALED


def test_draws_of_a_mixture_come_back_in_the_coordinates_of_the_model():
    target = correlated(3)
    q, weighted = proposals(0.7)
    corrected = correct(target, Settings(), q, weighted, rng())
    np.testing.assert_allclose(corrected.log_p, target.log_densities(corrected.u))
    sd = np.sqrt(np.diag(target.covariance))
    np.testing.assert_allclose((corrected.u.mean(axis=0) - target.mean) / sd, 0, atol=0.05)
    np.testing.assert_allclose(
        np.cov(corrected.u.T) / np.outer(sd, sd), target.covariance / np.outer(sd, sd), atol=0.1
    )
    assert corrected.mixture.n == 8192 and corrected.mixture.ess > 4096 and corrected.mixture.khat < 0.5


def test_so_many_weighted_draws_are_enough_or_half_of_few():
    assert is_enough(2000, 8192) and not is_enough(1999, 8192)
    assert is_enough(500, 1000) and not is_enough(499, 1000)


def unseen(modes, wider=0):
    """What `beyond` might find: so many modes, and Gaussians over mass that is no mode."""
    some = Gaussian(np.full(3, 9.0), np.eye(3))
    return MissedRegions((Mode(some, Peak(some.mean, 0.0), 0.2),) * modes, (some,) * wider)


@pytest.mark.parametrize("found", [unseen(2), unseen(1, 2)])
def test_what_q_does_not_reach_is_begun_from_too_and_told_of(monkeypatch, carried, found):
    """Where nothing may be annealed, or q alone is asked for, modes are told of, or not sought."""
    q, weighted = proposals(1.1)
    sought = []
    monkeypatch.setattr(correction, "find_missed_regions", lambda *_: sought.append(1) or found)
    corrected = correct(correlated(3), Settings(), q, weighted, rng())
    assert corrected.made is ANNEALED and corrected.modes == found.modes
    assert carried[-1][:2] == (1 + len(found.gaussians), 1 + len(found.modes))
    alone = correct(correlated(3), Settings(anneal=False), q, weighted, rng())
    assert alone.made is RESAMPLED and alone.modes == found.modes
    for of_q in (Settings(algorithm="meanfield"), Settings(correct=False), Settings(minibatch=10)):
        assert correct(correlated(3), of_q, q, weighted, rng()).modes == ()
    assert len(sought) == 2


@pytest.mark.parametrize("error, interrupted", [(KeyboardInterrupt, True), (np.linalg.LinAlgError, False)])
def test_where_annealing_stops_the_weights_do_what_they_can(monkeypatch, error, interrupted):
    def stopped(*_):
        raise error

    monkeypatch.setattr(correction, "anneal", stopped)
    monkeypatch.setattr(correction, "from_mixture", lambda *_: None)
    for sd, made in ((1.1, RESAMPLED), (0.6, OF_Q)):
        q, weighted = proposals(sd)
        monkeypatch.setattr(correction, "CORRECTION", correction.CORRECTION._replace(enough_ess=10**6))
        monkeypatch.setattr(correction, "CORRECTION", correction.CORRECTION._replace(enough_share=1.1))
        corrected = correct(correlated(3), Settings(), q, weighted, rng())
        assert corrected.made is made and corrected.interrupted is interrupted


def test_annealing_gets_the_points_and_moves_that_its_width_affords(carried):
    """2^33 numbers in all: 1,024 points of a small target, 256 of the widest, six leapfrog steps a move."""
    narrow = correlated(2)
    scaled = Scaled(narrow, np.zeros(2), np.eye(2))
    anneal_from(scaled, MissedRegions(), drawn(scaled), 10, rng())
    wide = GaussianTarget(np.zeros(2), np.eye(2))
    object.__setattr__(wide, "width", 50_000)
    scaled = Scaled(wide, np.zeros(2), np.eye(2))
    anneal_from(scaled, MissedRegions(), drawn(scaled), 10, rng())
    assert [asked[:-1] for asked in carried] == [
        (1, 1, 1024, 2**33 // (1024 * 6)),
        (1, 1, 256, 2**33 // (50_000 * 256 * 6)),
    ]
    assert all(isinstance(moves, int) for *_, moves, _ in carried)


WORTH, FEW = 1.1, 0.3


@pytest.mark.parametrize("sd, dim, begun", [(WORTH, 3, False), (FEW, 3, False), (0.7, 40, True)])
def test_draws_begin_near_the_posterior_in_many_dimensions(carried, sd, dim, begun):
    target = correlated(dim)
    q, weighted = proposals(sd, target)
    assert (weighted.weights.ess >= correction.CORRECTION.fewest_start_ess) is (sd == WORTH and dim == 3)
    correct(target, Settings(anneal=True), q, weighted, rng())
    near = carried[-1][-1]
    assert (near is not None) is begun
    if begun:
        back = q.mean + near @ q.factor.T
        assert np.isin(np.round(back, 6), np.round(weighted.u, 6)).all()


def test_a_mode_elsewhere_takes_temperatures(monkeypatch, carried):
    q, weighted = proposals(WORTH)
    place = Gaussian(np.full(3, 5.0), np.eye(3))
    monkeypatch.setattr(correction, "find_missed_regions", lambda *_: MissedRegions(others=(place,)))
    correct(correlated(3), Settings(anneal=True), q, weighted, rng())
    assert carried[-1][-1] is None


def test_dimensions_that_matrices_are_formed_for():
    """Full rank has one up to a thousand; above that, and without correlations, the sds do."""
    for dim, axes in {1: 2, 1000: 2, 1001: 1}.items():
        family = LowRank(dim, 1)
        q = gaussian_of(family, family.start(np.zeros(dim)))
        assert q.factor.ndim == axes and q.draws(np.ones((2, dim))).shape == (2, dim)
        flat = MeanField(dim)
        assert gaussian_of(flat, np.zeros(flat.size)).factor.shape == (dim,)
        assert will_anneal(GaussianTarget(np.zeros(dim), np.eye(dim)), Settings())
    assert gaussian_of(MeanField(0), np.zeros(0)) is None


class OfSampledRows(Mixture):
    """Log densities that are computed from a quarter of the rows."""

    def share_of_rows(self, points):
        return 0.25


def result_from(own, shares, kind=Mixture, **given):
    """The result of q = N(own, I), of a target with shares of its mass at (-8, 0) and at (8, 1)."""
    target = kind(np.array([[-8.0, 0.0], [8.0, 1.0]]), np.array([1.0, 0.5]), np.array(shares))
    family, settings = FullRank(2), Settings(**given)
    params = family.of(np.array(own), np.eye(2))
    path = Path(np.zeros(2), Outcome(Ending.CONVERGED, "found"))
    return result_of(target, family, params, path, Context.of(settings))


def test_q_moves_to_the_mode_that_has_the_mass():
    found = result_from([-8.0, 0.0], [1e-4, 1 - 1e-4])
    np.testing.assert_allclose(found.mean_u, [8.0, 1.0], atol=1e-3)
    np.testing.assert_allclose(found.family.scales(found.params), 0.5, rtol=1e-2)
    assert found.verdict.made is not ANNEALED and ELSEWHERE in found.notes
    assert found.final_elbo == pytest.approx(np.log(1 - 1e-4), abs=0.02)
    np.testing.assert_allclose(found.draws_u.mean(axis=0), [8.0, 1.0], atol=0.1)


@pytest.mark.parametrize(
    ("shares", "given"), [([0.1, 0.9], {}), ([1e-4, 1 - 1e-4], {"algorithm": "fullrank"})]
)
def test_q_stays_where_it_has_mass_or_was_asked_for(shares, given):
    found = result_from([-8.0, 0.0], shares, **given)
    assert found.mean_u[0] == -8.0 and ELSEWHERE not in found.notes


def test_that_log_densities_are_estimated_is_noted_once_also_where_q_moves():
    notes = result_from([-8.0, 0.0], [1e-4, 1 - 1e-4], kind=OfSampledRows).notes
    assert ELSEWHERE in notes and notes.count(ESTIMATED.format(25)) == 1


@pytest.mark.parametrize(("sd", "weighted"), [(1.0, 4096), (1.05, 4096), (1.3, 8192)])
def test_more_draws_are_weighted_where_weights_differ(sd, weighted):
    target = GaussianTarget(np.zeros(2), np.eye(2))
    family, path = FullRank(2), Path(np.zeros(2), Outcome(Ending.CONVERGED, "found"))
    found = result_of(target, family, family.of(np.zeros(2), sd * np.eye(2)), path, Context.of(Settings()))
    assert found.verdict.n == weighted and len(found.draws_u) == 1000
