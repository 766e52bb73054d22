from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import special, stats
from toy_targets import Gaussian as GaussianTarget
from toy_targets import LogGamma, Mixture, correlated, line

import ppl
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.low_rank import LowRank
from ppl.kernel.advi.families.marginal import Point
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.outcome import Ending, Outcome
from ppl.kernel.advi.target import Target
from ppl.methods.correct import correction
from ppl.methods.correct.correction import (
    Corrected,
    DrawSource,
    beside_chains,
    correct,
    extremes,
    from_chains,
    gaussian_of,
    go_on,
    is_affordable,
    is_enough,
    may_grow,
    moved_on,
    will_move,
)
from ppl.methods.correct.evidence import Estimates, Evidence
from ppl.methods.correct.standard_errors import INDEPENDENT, standard_errors
from ppl.methods.diagnose.diagnostics import sd_errors, tail_shapes
from ppl.methods.diagnose.modes import MissedRegions, Mode, Peak
from ppl.methods.diagnose.psis import psis, weighted_draws_of
from ppl.methods.moves.ending import MOVES, Moved, most_gradients, needed
from ppl.methods.moves.mixing import Mixing
from ppl.methods.recipes.result import ELSEWHERE, ESTIMATED, Path, result_of
from ppl.methods.refine.fixed_draws import FIXED_DRAWS, gradients_for
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings
from ppl.run.posterior_target import PosteriorTarget


class Wide(GaussianTarget, Target):
    """A target whose evaluation works through many numbers."""

    width = 500_000


def rng():
    return np.random.default_rng(0)


def exact(target):
    family = FullRank(target.dim)
    return gaussian_of(family, family.of(target.mean, np.linalg.cholesky(target.covariance)))


@pytest.mark.parametrize(
    "bound, to_u", [("lower=0", np.log), ("lower=0, upper=100", lambda x: special.logit(x / 100))]
)
def test_tails_are_those_of_a_parameter_not_of_its_coordinate(bound, to_u):
    """Of a scale of four groups with a flat prior, whose logarithm has light tails."""
    posterior = ppl.compile_model(f"parameters {{ real<{bound}> tau; }}").condition({})
    x = stats.lomax(2, scale=1).rvs((100, 64), random_state=1).clip(max=99)
    u = to_u(x.reshape(-1, 1))
    scaled = Scaled(PosteriorTarget(posterior), u.mean(axis=0), u.std(axis=0))
    tails, errors = extremes(scaled, scaled.to_v(u), 64)
    assert tails == pytest.approx(tail_shapes(x.reshape(-1, 1))) and tails[0] > 0.4
    assert errors == pytest.approx(sd_errors(x[..., None]))


def test_what_a_gradient_costs_limits_how_many_there_are():
    assert most_gradients(1) == 400_000 and most_gradients(100_000) == 2**31 // 100_000
    assert most_gradients(2**33 // 20_000) == 20_000 and most_gradients(500_000) == 0
    wide, narrow = Wide(np.zeros(2), np.eye(2)), correlated(2)
    assert is_affordable(narrow) and will_move(narrow, Settings())
    assert will_move(narrow, Settings(algorithm="meanfield", move=True))
    assert not will_move(narrow, Settings(algorithm="meanfield"))
    assert not is_affordable(wide) and not will_move(wide, Settings(move=True))
    assert gradients_for(narrow) == FIXED_DRAWS.most_gradients and gradients_for(wide) == 200
    assert gradients_for(Scaled(wide, np.zeros(2), np.ones(2))) == 200


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


@pytest.mark.parametrize("dim", [3, 40])
def test_moved_draws_come_back_in_the_coordinates_of_the_model(dim):
    """From a q that is off by an sd and half as wide."""
    target = correlated(dim)
    sd = np.sqrt(np.diag(target.covariance))
    scaled = Scaled(target, target.mean + sd, np.diag(0.5 * sd))
    starts = rng().standard_normal((128, dim))
    corrected = from_chains(scaled, starts, MissedRegions(), 1000, rng())
    np.testing.assert_allclose((corrected.u.mean(axis=0) - target.mean) / sd, 0, atol=0.15)
    np.testing.assert_allclose(corrected.u.std(axis=0) / sd, 1, atol=0.12)
    np.testing.assert_allclose(corrected.log_p, target.log_densities(corrected.u))
    assert corrected.made is MOVED and corrected.moved.stationary
    assert corrected.moved.mixing.fewest_effective >= needed(1000, corrected.moved)
    assert corrected.evidence.doubt == ""
    assert abs(corrected.evidence.evidence.value) < 4 * corrected.evidence.evidence.se < 0.4


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


OF_Q, RESAMPLED, MIXTURE, MOVED = list(DrawSource)[:4]
# By settings, and the sd of q in sds of the target: 1.1 gives good weights, 0.7 and 0.6 do not.
MADE = [
    ({}, 1.1, RESAMPLED),
    ({}, 0.6, MIXTURE),
    ({"move": False}, 1.1, RESAMPLED),
    ({"move": False}, 0.6, OF_Q),
    ({"move": True}, 1.1, MOVED),
    ({"move": True}, 0.7, MOVED),
    ({"resample": False}, 0.7, MOVED),
    ({"algorithm": "meanfield"}, 0.7, OF_Q),
    ({"move": True, "resample": True}, 1.1, MOVED),
    ({"resample": True}, 1.1, RESAMPLED),
    ({"resample": True}, 0.6, RESAMPLED),
    ({"resample": False}, 1.1, MOVED),
    ({"resample": False, "move": False}, 1.1, OF_Q),
    # Without refinement the weights call for the same.
    ({"refine": False}, 1.1, RESAMPLED),
    ({"refine": False}, 0.6, MIXTURE),
    ({"refine": False, "move": True}, 1.1, MOVED),
    ({"minibatch": 10}, 1.1, OF_Q),
    ({"minibatch": 10, "correct": True}, 0.6, OF_Q),
    # An algorithm that is named gives draws of its q, unless correction is asked for.
    ({"algorithm": "meanfield"}, 1.1, OF_Q),
    ({"algorithm": "fullrank"}, 0.6, OF_Q),
    ({"algorithm": "laplace"}, 1.1, OF_Q),
    ({"algorithm": "meanfield", "correct": True}, 1.1, RESAMPLED),
    ({"algorithm": "laplace", "correct": True}, 0.6, MIXTURE),
    ({"algorithm": "meanfield", "move": True}, 1.1, MOVED),
    ({"algorithm": "meanfield", "resample": True}, 0.6, RESAMPLED),
    ({"correct": False}, 0.6, OF_Q),
    ({"correct": False, "move": True}, 1.1, MOVED),
]


@pytest.fixture
def carried(monkeypatch):
    """Moves that do nothing, and where chains were to begin."""
    begun = []

    def moved(target, starts, rng, most, listen, effective, centres=None, frees_stuck=False, **_):
        begun.append(starts)
        mixing = Mixing(*[np.zeros(target.dim)] * 2, np.full(target.dim, np.inf), 0.0)
        n = len(starts)
        still = {"chains": n, "total_moves": MOVES.shortest, "mode": np.zeros(n, dtype=int)}
        return Moved(starts, np.zeros(n), np.arange(n), mixing, **still)

    monkeypatch.setattr(correction, "moved", moved)
    return begun


@pytest.mark.rotate
@pytest.mark.parametrize("given, sd, made", MADE)
def test_draws_are_made_as_settings_and_weights_call_for(carried, given, sd, made):
    q, weighted = proposals(sd)
    corrected = correct(correlated(3), Settings(draws=200, **given), q, weighted, rng())
    assert corrected.made is made and len(corrected.u) == len(corrected.log_p) == 200
    assert corrected.modes == () and not corrected.interrupted
    assert bool(carried) is (corrected.moved is not None)
    assert made in (RESAMPLED, MIXTURE) or (corrected.moved is not None) is (made is MOVED)
    assert (corrected.pool is not None) is (made is MIXTURE)
    if made is OF_Q:
        np.testing.assert_array_equal(corrected.u, weighted.u[:200])
        np.testing.assert_array_equal(corrected.log_p, weighted.log_p[:200])


def test_a_few_moves_check_the_draws_of_a_mixture_which_stay_as_they_are(carried):
    q, weighted = proposals(0.6)
    corrected = correct(correlated(3), Settings(), q, weighted, rng())
    assert len(carried[0]) == 128 and corrected.moved is not None and len(corrected.u) == 1000
    assert max(corrected.sd_errors) < 0.05 and max(corrected.tails) < 0.2


def test_where_the_check_of_a_mixture_sees_a_change_chains_begin_at_its_draws(monkeypatch):
    """Not the few chains of the check, which are worth few draws, are written."""
    q, weighted = proposals(0.6)
    checked = []
    monkeypatch.setattr(
        correction, "moved_on", lambda target, drawn, *_: checked.append(drawn) or replace(drawn, made=MOVED)
    )
    corrected = correct(correlated(3), Settings(), q, weighted, rng())
    assert checked[0].made is MIXTURE and corrected.made is MOVED and corrected.pool is None
    assert corrected.moved.mixing.fewest_effective >= 1000


def test_a_mixture_is_grown_in_few_dimensions_where_weights_may_be_heavy_or_mass_is_missed():
    heavy, light = (proposals(sd)[1].weights for sd in (0.6, 1.1))
    few, many, wide = correlated(3), correlated(11), Wide(np.zeros(3), np.eye(3))
    assert may_grow(few, heavy, False) and may_grow(few, light, True) and not may_grow(few, light, False)
    assert not may_grow(many, heavy, True) and not may_grow(wide, heavy, True)


def test_a_shoulder_that_q_does_not_see_has_its_share_of_the_draws(monkeypatch):
    """A tenth of the mass is beyond three sds of q, in a place that no search for modes tells of."""
    monkeypatch.setattr(correction, "find_missed_regions", lambda *_: MissedRegions())
    target = Mixture(np.array([[0.0, 0.0], [6.0, 0.0]]), np.array([1.0, 1.5]), np.array([0.89, 0.11]))
    exact = np.array([0.89, 0.11]) @ stats.norm.sf(4, [0, 6], [1, 1.5])
    q = Gaussian(np.zeros(2), np.diag([1.2, 1.0]))
    for seed in range(1, 4):
        u = q.draws(np.random.default_rng(seed).standard_normal((8192, 2)))
        weighted = weighted_draws_of(u, target.log_densities(u), q.log_densities(u))
        corrected = correct(target, Settings(), q, weighted, np.random.default_rng(seed))
        assert corrected.made is MIXTURE and (corrected.u[:, 0] > 4).mean() == pytest.approx(exact, rel=0.15)


def test_resampled_draws_are_moved_unless_most_weights_are_alike(carried):
    """As many as are worth a thousand begin a chain."""
    for sd, begin in ((1.25, 1), (1.1, 0)):
        q, weighted = proposals(sd)
        corrected = correct(correlated(3), Settings(), q, weighted, rng())
        assert corrected.made is RESAMPLED and (weighted.weights.ess < 0.9 * 8192) is bool(begin)
        assert len(carried) == begin
        assert not begin or carried.pop().shape == (correction.CORRECTION.most_moved, 3)


def test_draws_whose_tail_is_cut_are_mended_by_moves():
    target = GaussianTarget(np.zeros(2), np.eye(2))
    u = rng().standard_normal((3000, 2))
    u = u[u[:, 0] < 1.2][:1000]
    drawn = Corrected(u, target.log_densities(u), RESAMPLED)
    mended = moved_on(target, drawn, rng())
    assert (mended.u[:, 0] > 1.2).mean() == pytest.approx(0.115, abs=0.03)
    np.testing.assert_allclose(mended.log_p, target.log_densities(mended.u))


def test_draws_that_are_right_stay_resampled_and_are_no_longer_the_same():
    target = correlated(3)
    q = exact(target)
    u = q.draws(rng().standard_normal((500, 3)))[rng().integers(500, size=1000)]
    drawn = Corrected(u, target.log_densities(u), RESAMPLED)
    after = moved_on(target, drawn, rng())
    assert after.made is RESAMPLED and after.moved.stationary
    assert len(np.unique(u, axis=0)) < 500 and len(np.unique(after.u, axis=0)) > 950


def test_errors_of_moved_draws_rest_on_the_weights_of_those_that_they_come_from(carried):
    target, u = correlated(1), np.linspace(-3, 3, 1000)[:, None]
    errors = replace(INDEPENDENT, weights=u[:, 0] + 4)
    after = moved_on(target, Corrected(u, target.log_densities(u), RESAMPLED, errors=errors), rng())
    assert carried and after.made is RESAMPLED and len(np.unique(after.errors.chain)) > 500
    np.testing.assert_allclose(after.errors.weights, after.u[:, 0] + 4)


def test_some_of_many_costly_draws_are_moved_and_the_others_kept(monkeypatch):
    target = correlated(3)
    u = exact(target).draws(rng().standard_normal((1000, 3)))
    drawn = Corrected(u, target.log_densities(u), RESAMPLED)
    begun = ((2**23 // (64 * 500), 500), (2**23 // (64 * 200), 128), (2**27 // (64 * 128), 128))
    for width, chains in (*begun, (2**27 // (64 * 100), 0)):
        monkeypatch.setattr(type(target), "width", width, raising=False)
        after = moved_on(target, drawn, rng())
        assert np.array_equal(after.u, u) is (chains < MOVES.fewest_effective)
        assert (after.moved.chains if after.moved else 0) == chains


@pytest.mark.parametrize(("sds", "made"), [(0.0, RESAMPLED), (1.0, MOVED)])
def test_costly_draws_are_kept_only_where_moves_do_not_lead_away_from_them(monkeypatch, sds, made):
    """Two moves lead from all of them to the target: the stages that follow are alike."""
    target, scale = GaussianTarget(np.zeros(60), np.diag(np.geomspace(1, 900, 60))), np.geomspace(1, 30, 60)
    monkeypatch.setattr(type(target), "width", 2**27 // (64 * 128), raising=False)
    u = scale * (rng().standard_normal((1000, 60)) + sds)
    after = moved_on(target, Corrected(u, target.log_densities(u), RESAMPLED), rng())
    assert after.made is made and np.array_equal(after.u, u) is (made is RESAMPLED)
    assert np.abs(after.u.mean(axis=0) / scale).max() < 0.2


def test_coordinates_are_not_fitted_to_the_draws_that_check_them(monkeypatch):
    """In coordinates fitted to them, draws of 150 dimensions are less spread than those that come after."""
    target = GaussianTarget(np.zeros(150), np.eye(150))
    monkeypatch.setattr(type(target), "width", 2**27 // (64 * 128), raising=False)
    for seed in range(1, 5):
        u = np.random.default_rng(seed).standard_normal((1000, 150))
        after = moved_on(target, Corrected(u, target.log_densities(u), RESAMPLED), rng())
        assert after.made is RESAMPLED


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


def test_weights_worth_just_enough_are_enough(monkeypatch, carried):
    q, weighted = proposals(2.0)
    assert 0.1 < weighted.weights.ess / len(weighted.u) < 0.5
    for more, made in ((0, RESAMPLED), (1, MIXTURE)):
        enough = correction.CORRECTION._replace(enough_ess=weighted.weights.ess + more)
        monkeypatch.setattr(correction, "CORRECTION", enough)
        assert correct(correlated(3), Settings(), q, weighted, rng()).made is made


def test_so_many_weighted_draws_are_enough_or_half_of_few():
    assert is_enough(2000, 8192) and not is_enough(1999, 8192)
    assert is_enough(500, 1000) and not is_enough(499, 1000)


def unseen(modes, wider=0):
    """What the search might find: so many modes, and Gaussians over mass that is no mode."""
    some = Gaussian(np.full(3, 9.0), np.eye(3))
    return MissedRegions((Mode(some, Peak(some.mean, 0.0), 0.2),) * modes, (some,) * wider)


@pytest.mark.parametrize("found", [unseen(2), unseen(1, 2)])
def test_modes_are_told_of_also_where_nothing_may_be_moved(monkeypatch, carried, found):
    """Where q alone is asked for they are not sought."""
    q, weighted = proposals(1.1)
    sought = []
    monkeypatch.setattr(correction, "find_missed_regions", lambda *_: sought.append(1) or found)
    corrected = correct(correlated(3), Settings(), q, weighted, rng())
    assert corrected.made is MOVED and corrected.modes == found.modes
    alone = correct(correlated(3), Settings(move=False), q, weighted, rng())
    assert alone.made is RESAMPLED and alone.modes == found.modes
    for of_q in (Settings(algorithm="meanfield"), Settings(correct=False), Settings(minibatch=10)):
        assert correct(correlated(3), of_q, q, weighted, rng()).modes == ()
    assert len(sought) == 2


def test_chains_begin_in_what_q_does_not_reach_by_its_mass(monkeypatch, carried):
    """Two normals, one of them q."""
    target = Mixture(np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2), np.array([0.8, 0.2]))
    q = Gaussian(np.zeros(2), np.eye(2))
    u = q.draws(rng().standard_normal((8192, 2)))
    weighted = weighted_draws_of(u, target.log_densities(u), q.log_density_gradients(u)[0])
    there = Gaussian(np.array([9.0, 0.0]), np.eye(2))
    other = MissedRegions((Mode(there, Peak(there.mean, 0.0), 0.2),))
    monkeypatch.setattr(correction, "find_missed_regions", lambda *_: other)
    assert correct(target, Settings(), q, weighted, rng()).made is MOVED
    assert (carried[-1][:, 0] > 4.5).mean() == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize("error, interrupted", [(KeyboardInterrupt, True), (np.linalg.LinAlgError, False)])
def test_where_moves_stop_the_weights_do_what_they_can(monkeypatch, error, interrupted):
    def stopped(*_, **__):
        raise error

    monkeypatch.setattr(correction, "moved", stopped)
    for sd, dim, made in ((1.25, 3, RESAMPLED), (0.6, 3, MIXTURE), (0.6, 11, OF_Q)):
        q, weighted = proposals(sd, correlated(dim))
        corrected = correct(correlated(dim), Settings(), q, weighted, rng())
        assert corrected.made is made and corrected.interrupted is interrupted


@pytest.mark.parametrize("sd, begun", [(1.1, True), (0.02, False)])
def test_even_chains_begin_at_draws_by_their_weights_and_odd_ones_further_out(sd, begun):
    q, weighted = proposals(sd, correlated(40))
    assert (weighted.weights.ess >= correction.CORRECTION.fewest_start_ess) is begun
    scaled = Scaled(correlated(40), q.mean, q.factor)
    starts = correction.starts_of(scaled, MissedRegions(), weighted, rng())
    even, odd = starts[::2], starts[1::2]
    back = q.mean + even @ q.factor.T
    assert max(np.abs(weighted.u - u).max(axis=1).min() for u in back) < 1e-9
    assert odd.std() == pytest.approx(1.5, abs=0.05)  # twice as wide in ten dimensions, less in more


def test_dimensions_that_matrices_are_formed_for():
    """Full rank has one up to a thousand; above that, and without correlations, the sds do."""
    for dim, axes in {1: 2, 1000: 2, 1001: 1}.items():
        family = LowRank(dim, 1)
        q = gaussian_of(family, family.start(np.zeros(dim)))
        assert q.factor.ndim == axes and q.draws(np.ones((2, dim))).shape == (2, dim)
        flat = MeanField(dim)
        assert gaussian_of(flat, np.zeros(flat.size)).factor.shape == (dim,)
        assert will_move(GaussianTarget(np.zeros(dim), np.eye(dim)), Settings())
    assert gaussian_of(MeanField(0), np.zeros(0)) is None


class OfSampledRows(Mixture, Target):
    """Log densities that are computed from a quarter of the rows."""

    def share_of_rows(self, points):
        return 0.25


def two_modes(shares, kind=Mixture):
    """A target with shares of its mass at (-8, 0) and at (8, 1)."""
    return kind(np.array([[-8.0, 0.0], [8.0, 1.0]]), np.array([1.0, 0.5]), np.array(shares))


def result_from(own, shares, kind=Mixture, **given):
    """The result of q = N(own, I), of a target of two modes."""
    target = two_modes(shares, kind)
    family, settings = FullRank(2), Settings(**given)
    params = family.of(np.array(own), np.eye(2))
    path = Path(np.zeros(2), Outcome(Ending.CONVERGED, "found"))
    return result_of(target, family, params, path, Context.of(settings))


def test_q_moves_to_the_mode_that_has_the_mass():
    found = result_from([-8.0, 0.0], [1e-4, 1 - 1e-4])
    np.testing.assert_allclose(found.mean_u, [8.0, 1.0], atol=1e-3)
    np.testing.assert_allclose(found.family.scales(found.params), 0.5, rtol=1e-2)
    assert found.verdict.made is not MOVED and ELSEWHERE in found.notes
    assert found.final_elbo == pytest.approx(np.log(1 - 1e-4), abs=0.02)
    np.testing.assert_allclose(found.draws_u.mean(axis=0), [8.0, 1.0], atol=0.1)
    target = two_modes([1e-4, 1 - 1e-4])
    again = result_of(target, found.family, found.params, found.path, Context.of(Settings()))
    np.testing.assert_array_equal(again.draws_u, found.draws_u)


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


@pytest.mark.parametrize(("move", "weighted"), [(None, 1000), (False, 8192)])
def test_few_draws_are_weighted_where_chains_would_begin_at_none(move, weighted):
    """Weights in 60 dimensions that are worth one draw in thousands; without chains they are all there is."""
    target, family = GaussianTarget(np.zeros(60), np.eye(60)), FullRank(60)
    path = Path(np.zeros(60), Outcome(Ending.CONVERGED, "found"))
    params, context = family.of(np.zeros(60), 2.0 * np.eye(60)), Context.of(Settings(move=move))
    result = result_of(target, family, params, path, context)
    assert result.verdict.n == weighted and len(result.draws_u) == 1000


def test_the_evidence_of_weights_is_told_where_that_of_chains_agrees():
    known, far = Estimates(Evidence(1.0, 0.01), Evidence(1.0, 0.02)), Estimates(*[Evidence(1.2, 0.01)] * 2)
    near, vague = Estimates(*[Evidence(1.01, 0.02)] * 2), Estimates(*[Evidence(1.0, 2.0)] * 2)
    assert beside_chains(known, None) is beside_chains(known, vague) is known
    assert beside_chains(None, near) is beside_chains(vague, near) is near
    assert beside_chains(known, near) is known and "disagree" in beside_chains(known, far).doubt


# --- More draws of chains -------------------------------------------------------------------------------


def test_more_draws_of_chains_have_the_moments_of_the_target_and_errors_that_say_so():
    """E log x is digamma(0.7) where x is gamma; its variance the trigamma, and P(x < the 5% point) 0.05."""
    exact = np.array([special.digamma(0.7), 0.05]), stats.gamma(0.7).ppf(0.05)
    scaled = Scaled(LogGamma(), np.array([-1.0]), np.array([1.4]))
    began = from_chains(scaled, rng().standard_normal((128, 1)), MissedRegions(), 400, rng())
    assert began.adapted.u.shape == (128, 1) and began.adapted.step > 0
    z = []
    for seed in range(32):
        more = go_on(LogGamma(), began.adapted, 400, np.random.default_rng(seed))
        assert more.made is DrawSource.MOVED and more.moved.mixing.fewest_effective >= 400
        assert not np.isin(more.u, began.u).any()
        x = np.column_stack([more.u, np.exp(more.u) < exact[1]])
        z.append((x.mean(axis=0) - exact[0]) / standard_errors(x, more.errors))
    assert (np.abs(np.mean(z, axis=0)) < 4 / np.sqrt(32)).all()
    assert 0.6 < np.sqrt(np.mean(np.square(z))) < 1.4
    np.testing.assert_array_equal(more.u, go_on(LogGamma(), began.adapted, 400, np.random.default_rng(31)).u)


def test_chains_in_several_modes_go_on_in_each():
    target = line((0.5, -8.0, 0.5), (0.5, 8.0, 1.0))
    scaled, far = Scaled(target, np.array([-8.0]), np.array([0.5])), np.array([32.0])
    mode = SimpleNamespace(offset=far, gaussian=Gaussian(far, np.array([2.0])))
    starts = np.where(np.arange(128) % 4 < 2, 0.0, 32.0)[:, None] + 0.3 * rng().standard_normal((128, 1))
    began = from_chains(scaled, starts, MissedRegions(modes=(mode,)), 400, rng())
    more = go_on(target, began.adapted, 1000, rng())
    assert more.moved.mixing.fewest_effective >= 1000 and more.moved.stationary
    upper = more.u[more.u > 0]
    assert len(upper) == pytest.approx(500, abs=20) and upper.std() == pytest.approx(1.0, rel=0.1)
