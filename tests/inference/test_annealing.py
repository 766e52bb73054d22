from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp
from toy_targets import Funnel, HalfSpace, line
from toy_targets import Gaussian as GaussianTarget

from ppl.inference.correct import annealing, hamiltonian
from ppl.inference.correct.annealing import (
    ANNEALING,
    Annealed,
    HMCKernel,
    Points,
    anneal,
    arrives,
    largest_autocorrelation,
    means_of,
    metric_of,
    monitored,
    moves_within,
    significant_change,
    together,
    will_not_equilibrate,
)
from ppl.inference.correct.balanced_resampling import balanced
from ppl.inference.correct.hamiltonian import HMC, Flow, move, particles_at
from ppl.inference.correct.reference import Reference
from ppl.inference.correct.tempering import effective_size, next_temperature, systematic
from ppl.inference.numerics.gaussian import Gaussian
from ppl.inference.objective.coordinates import Scaled, rescaled


def rng(seed=0):
    return np.random.default_rng(seed)


def one_group(n=1000):
    return np.zeros(n, int)


def standard(dim):
    return Reference((Gaussian(np.zeros(dim), np.eye(dim)),))


class TwoModes:
    """0.3 N(-4, 0.5^2) + 0.7 N(4, 1), times e^7."""

    dim = 1
    at, variances, shares = np.array([-4.0, 4.0]), np.array([0.25, 1.0]), np.array([0.3, 0.7])

    def log_densities(self, us):
        return np.logaddexp.reduce(self._each(us), axis=1) + 7

    def log_density_gradients(self, us):
        each = self._each(us)
        total = np.logaddexp.reduce(each, axis=1, keepdims=True)
        slopes = (np.exp(each - total) * (self.at - us) / self.variances).sum(axis=1, keepdims=True)
        return total[:, 0] + 7, slopes

    def _each(self, us):
        constants = np.log(self.shares) - 0.5 * np.log(2 * np.pi * self.variances)
        return constants - 0.5 * (us - self.at) ** 2 / self.variances


class LogGamma:
    """u = log x for x of shape 0.7 and rate 1: a long tail to the left, a short one to the right."""

    dim = 1

    def log_densities(self, us):
        return 0.7 * us[:, 0] - np.exp(us[:, 0])

    def log_density_gradients(self, us):
        return self.log_densities(us), 0.7 - np.exp(us)


def test_the_reference_has_the_density_score_and_moments_of_its_mixture():
    parts = (
        Gaussian(np.array([1.0, -2.0]), np.array([[1.0, 0.0], [0.5, 0.3]])),
        Gaussian(np.array([-3.0, 0.0]), np.diag([0.4, 2.0])),
    )
    mixture, at = Reference(parts), np.array([[0.3, -1.0], [-2.0, 1.0]])
    known = [stats.multivariate_normal(p.mean, p.factor @ p.factor.T) for p in parts]
    values, slopes = mixture.log_density_gradients(at)
    np.testing.assert_allclose(values, np.log(np.mean([k.pdf(at) for k in known], axis=0)))
    for direction in np.eye(2):
        step = 1e-6 * direction
        ahead, behind = (mixture.log_density_gradients(at + way)[0] for way in (step, -step))
        np.testing.assert_allclose(slopes @ direction, (ahead - behind) / 2e-6, rtol=1e-6)
    np.testing.assert_allclose(mixture.draws(4096, rng()).mean(axis=0), [-1.0, -1.0], atol=0.05)


def test_a_reference_that_is_widened_has_the_same_means_and_sds_so_many_times_as_large():
    parts = (
        Gaussian(np.array([1.0, -2.0]), np.array([[1.0, 0.0], [0.5, 0.3]])),
        Gaussian(np.array([-3.0, 0.0]), np.diag([0.4, 2.0])),
    )
    wide = Reference(parts, 2).widened(3.0)
    assert wide.modes == 2
    for own, part in zip(parts, wide.parts, strict=True):
        np.testing.assert_array_equal(part.mean, own.mean)
        np.testing.assert_allclose(part.factor @ part.factor.T, 9 * own.factor @ own.factor.T)


def test_a_point_is_at_the_mode_whose_gaussian_has_most_density_there():
    """The third Gaussian is no mode, and has none; the second is wide, and has what is far on either side."""
    parts = tuple(
        Gaussian(np.array([at]), np.array([[sd]])) for at, sd in ((0.0, 1.0), (3.0, 4.0), (9.0, 1.0))
    )
    at = np.array([[0.0], [1.0], [-9.0], [3.0], [9.0]])
    assert Reference(parts, 2).nearest(at).tolist() == [0, 0, 1, 1, 1]
    assert Reference(parts).nearest(at).tolist() == [0] * 5
    inverse = np.array([[0.5]])
    assert Reference(parts, 2).rescaled(inverse).nearest(at @ inverse).tolist() == [0, 0, 1, 1, 1]


def test_a_temperature_halves_the_worth_of_the_draws_or_is_the_last():
    ratios = rng().normal(size=1000) * 3
    beta = next_temperature(ratios, 0.0, 0.5)
    assert 0 < beta < 1 and effective_size(beta * ratios) == pytest.approx(500, rel=1e-6)
    assert next_temperature(ratios / 100, 0.0, 0.5) == 1.0


def test_systematic_resampling_takes_each_draw_as_often_as_expected_to_within_one():
    log_weights = rng().normal(size=50)
    expected = 200 * np.exp(log_weights - logsumexp(log_weights))
    counts = np.bincount(systematic(log_weights, 200, rng(1)), minlength=50)
    assert (np.abs(counts - expected) < 1).all()


def test_moves_leave_the_target_as_it_is():
    target = GaussianTarget(np.array([1.0, -1.0]), np.array([[2.0, 0.6], [0.6, 0.5]]))
    u = rng().multivariate_normal(target.mean, target.covariance, size=4000)
    particles = particles_at(target, standard(2), u)
    kernel = HMCKernel(target, standard(2), rng(1), 0.9, left=5)
    moved, seen = kernel.moves(particles, 1.0, 2)
    np.testing.assert_allclose(seen[-1].u, moved.u, atol=1e-12)
    np.testing.assert_allclose(seen[-1].log_p, moved.log_p)
    assert 0.5 < kernel.accepted < 1 and kernel.left == 3
    assert np.isclose(moved.u, u).all(axis=1).mean() < 0.5
    np.testing.assert_allclose(moved.u.mean(axis=0), target.mean, atol=0.06)
    np.testing.assert_allclose(np.cov(moved.u.T), target.covariance, atol=0.08)
    np.testing.assert_allclose(moved.log_p, [target.log_density(v) for v in moved.u])


@pytest.mark.parametrize(
    "count, step, moves",
    [(6, 0.6, 6), (6, 0.5, 6), (6, 0.49, 3), (6, 0.2, 2), (6, 0.1, 1), (6, 0.01, 1), (3, 0.3, 1)],
)
def test_moves_of_short_steps_are_fewer_and_as_much_longer(count, step, moves):
    assert moves_within(count, step) == moves


def test_long_trajectories_take_as_many_gradients_and_forget_more():
    """Six moves of six leapfrog steps are one of 36, from which a point comes half-way around."""
    counts.clear()
    target = Counted(np.zeros(2), np.eye(2))
    particles = particles_at(target, None, rng().normal(size=(500, 2)))
    kernel = HMCKernel(target, None, rng(1), 0.1, left=6)
    after, seen = kernel.moves(particles, 1.0, 6)
    assert kernel.left == 0 and len(seen) == 1 and counts.count(500) == 1 + 6 * HMC.leapfrog_steps
    assert largest_autocorrelation(particles.u, after.u, np.zeros(500, dtype=np.intp)) < 0.5
    assert np.cov(after.u.T) == pytest.approx(np.eye(2), abs=0.2)


@pytest.mark.parametrize(
    "autocorrelation, last, drift, rounds, expected",
    [
        (0.1, 0.02, 0.02, 16, True),
        (0.1, 0.02, 0.019, 16, False),
        (0.1, 0.019, 0.5, 16, False),
        (0.1, np.inf, 0.1, 16, False),
        (0.94, 0.0, 0.0, 8, True),
        (0.93, 0.0, 0.0, 8, False),
    ],
)
def test_moves_are_given_up_where_what_is_left_of_them_could_not_do(
    autocorrelation, last, drift, rounds, expected
):
    assert will_not_equilibrate(autocorrelation, last, drift, rounds) is expected


def test_draws_that_drift_on_are_given_up_and_say_so(monkeypatch):
    moves = iter([0.0, 0.03, 0.03] * 2)
    monkeypatch.setattr(annealing, "significant_change", lambda *_: next(moves))
    seen = []
    target = GaussianTarget(np.zeros(1), np.eye(1))
    found = anneal(target, standard(1), rng(), lambda p: seen.append(p.phase), points=64)
    assert found.hopeless and found.drift == 0.03 and seen.count("stationarity") == 2 * 8
    assert 2 * 8 * ANNEALING.moves_a_round <= found.made <= 2 * 9 * ANNEALING.moves_a_round


def test_where_one_half_is_given_up_the_other_goes_no_further(monkeypatch):
    moves = iter([0.0, 0.03, 0.03, 0.0, 0.01, 0.01, 0.01])
    monkeypatch.setattr(annealing, "significant_change", lambda *_: next(moves))
    seen = []
    target = GaussianTarget(np.zeros(1), np.eye(1))
    found = anneal(target, standard(1), rng(), lambda p: seen.append(p.phase), points=64)
    assert found.hopeless and seen.count("stationarity") == 2 * 8


def test_moves_that_are_tried_again_leave_the_target_as_it_is(monkeypatch):
    """With steps so long, and a bound so high, that most are."""
    monkeypatch.setattr(hamiltonian, "HMC", hamiltonian.HMC._replace(refused_log_chance=-0.2))
    flow = Flow(LogGamma(), None, 1.0)
    u = np.log(rng().gamma(0.7, size=(20_000, 1)))
    before = particles = particles_at(LogGamma(), None, u)
    for seed in range(4):
        particles, accepted, divergent = move(flow, particles, 3.0, rng(seed))
        assert accepted < 0.5 and divergent < 0.01
    assert (particles.u != before.u).mean() > 0.9
    assert stats.kstest(np.exp(particles.u[:, 0]), stats.gamma(0.7).cdf).pvalue > 0.01
    expected = particles_at(LogGamma(), None, particles.u)
    np.testing.assert_array_equal(particles.log_p, expected.log_p)
    np.testing.assert_array_equal(particles.slope_p, expected.slope_p)


def test_a_shorter_step_moves_points_that_are_in_a_narrow_part():
    """Of 0.5 N(0, 1) + 0.5 N(0, 0.05), with a step that suits the first."""
    narrow = line((0.5, 0.0, 0.05), (0.5, 0.0, 1.0))
    u = rng().normal(0, 0.05, (4000, 1))
    particles, accepted, divergent = move(Flow(narrow, None, 1.0), particles_at(narrow, None, u), 0.5, rng(1))
    assert accepted < 0.35 and divergent < 0.01
    assert (particles.u != u).mean() > 0.6


def test_trajectories_that_diverge_even_with_short_steps_are_counted():
    needle = GaussianTarget(np.zeros(1), np.array([[1e-8]]))
    particles = particles_at(needle, None, rng().normal(0, 1e-4, (100, 1)))
    after, accepted, divergent = move(Flow(needle, None, 1.0), particles, 1.0, rng(1))
    assert divergent == 1 and accepted == 0
    np.testing.assert_array_equal(after.u, particles.u)


def test_a_cloud_in_other_coordinates_is_what_is_seen_there():
    target = GaussianTarget(np.array([1.0, -1.0]), np.array([[2.0, 0.6], [0.6, 0.5]]))
    target = Scaled(target, np.array([0.3, -0.2]), np.array([2.0, 0.5]))
    other = Gaussian(np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.4, 2.0]]))
    reference = Reference((*standard(2).parts, other))
    factor = np.array([[0.7, 0.0], [-0.3, 1.5]])
    inverse = np.linalg.inv(factor)
    particles = particles_at(target, reference, rng().normal(size=(9, 2)))
    there = particles.rescaled(factor, inverse)
    np.testing.assert_allclose(there.u @ factor.T, particles.u)
    seen = particles_at(rescaled(target, factor), reference.rescaled(inverse), there.u)
    for ours, expected in zip(there, seen, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)
    for ours, expected in zip(there.rescaled(inverse, factor), particles, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("own", [np.array([2.0, 0.5]), np.array([[2.0, 0.0], [1.0, 0.5]])])
def test_a_target_rescaled_twice_is_one_map(own):
    target, factor = GaussianTarget(np.zeros(2), np.eye(2)), np.array([[0.7, 0.0], [-0.3, 1.5]])
    once = Scaled(target, np.array([0.3, -0.2]), own)
    twice = rescaled(once, factor)
    assert twice.target is target
    x = rng().normal(size=(5, 2))
    np.testing.assert_allclose(twice.to_u(x), once.to_u(x @ factor.T))
    np.testing.assert_allclose(twice.log_densities(x), once.log_densities(x @ factor.T) + np.log(0.7 * 1.5))


def test_a_gaussian_is_reached_with_its_normalising_constant():
    target = GaussianTarget(np.array([2.0, -1.0]), np.array([[1.0, 1.2], [1.2, 2.0]]), shift=1e5)
    found = anneal(target, standard(2), rng())
    assert found.reached and found.autocorrelation < 0.3 and found.drift < 0.05
    assert found.log_evidence - 1e5 == pytest.approx(0, abs=0.3)
    np.testing.assert_allclose(found.u.mean(axis=0), target.mean, atol=0.08)
    np.testing.assert_allclose(np.cov(found.u.T), target.covariance, atol=0.2)


def test_a_skewed_target_has_the_moments_of_quadrature():
    target = LogGamma()
    mass, first, second = (
        integrate.quad(lambda u, k=k: u**k * np.exp(0.7 * u - np.exp(u)), -60, 10)[0] for k in range(3)
    )
    mean, sd = first / mass, np.sqrt(second / mass - (first / mass) ** 2)
    found = anneal(target, standard(1), rng())
    assert found.u.mean() == pytest.approx(mean, abs=0.1 * sd)
    assert found.u.std() == pytest.approx(sd, rel=0.1)
    assert found.log_evidence == pytest.approx(np.log(mass), abs=0.1)


def test_moves_go_on_while_the_mouth_and_the_neck_of_a_funnel_fill():
    found = anneal(Funnel(), standard(6), rng())
    assert found.u[:, 0].std() == pytest.approx(3, rel=0.25)
    assert found.drift < 0.02


def test_no_more_moves_are_made_than_may_be_beyond_those_that_must():
    seen = []
    found = anneal(Funnel(), standard(6), rng(), lambda progress: seen.append(progress.phase), 256, moves=30)
    assert found.reached and seen.count("stationarity") == 2 * 4


def test_two_modes_get_their_shares_from_a_reference_that_covers_both():
    both = Reference((Gaussian(np.array([-4.0]), np.eye(1)), Gaussian(np.array([4.0]), np.eye(1))))
    found = anneal(TwoModes(), both, rng())
    assert (found.u < 0).mean() == pytest.approx(0.3, abs=0.05)
    assert found.log_evidence == pytest.approx(7, abs=0.1)


def test_a_support_with_an_edge_is_kept():
    found = anneal(HalfSpace(2, 0.5), standard(2), rng())
    inside = stats.truncnorm(0.5, np.inf)
    assert found.u[:, 0].min() > 0.5
    assert found.u[:, 0].mean() == pytest.approx(inside.mean(), abs=0.1 * inside.std())


def test_the_same_generator_gives_the_same_points():
    one, two = (anneal(LogGamma(), standard(1), rng(3), points=64) for _ in range(2))
    assert one.u.tobytes() == two.u.tobytes()


def test_what_is_remembered_and_what_drifts_is_seen():
    u = rng().normal(size=(1000, 2))
    fresh = np.column_stack([u[:, 0], rng(1).normal(size=1000)])
    assert largest_autocorrelation(u, fresh, one_group()) == pytest.approx(1)
    assert largest_autocorrelation(u, 0.3 * u + 2, one_group()) == pytest.approx(0.3)
    assert significant_change(u, u + 0.3 + 0.1 * fresh, np.ones(2)) == pytest.approx(0.3, abs=0.05)
    assert significant_change(u, rng(2).normal(size=(1000, 2)), np.ones(2)) == 0


def test_of_many_means_none_seems_to_move_by_chance():
    """Of 200 means one moves by three errors in 42 of 100 trials."""
    alarms = 0
    for k in range(100):
        before, after = rng(k).normal(size=(2, 300, 200))
        alarms += significant_change(before, after, np.ones(200)) > 0
    assert alarms <= 5


def test_a_balanced_sample_has_the_moments_of_the_weighted_pool():
    u, log_weights = rng().normal(size=(5000, 4)), rng(1).normal(size=5000)
    weights = np.exp(log_weights - logsumexp(log_weights))
    chosen = balanced(u, log_weights, 1000, rng(2))
    off = u[chosen].mean(axis=0) - weights @ u
    assert np.abs(off).max() < 0.003
    assert np.abs((u[chosen] ** 2).mean(axis=0) - weights @ u**2).max() < 0.01
    counts = np.bincount(chosen, minlength=5000)
    # Exchanges touch no more than a third of the draws: the rest is systematic.
    assert np.abs(counts - 1000 * weights).sum() < 1200


def test_every_seed_draws_the_pool_in_proportion():
    u, log_weights = np.linspace(-1, 1, 20)[:, None], np.log(np.arange(1, 21.0))
    counts = sum(np.bincount(balanced(u, log_weights, 50, rng(k)), minlength=20) for k in range(200))
    np.testing.assert_allclose(counts / 10_000, np.arange(1, 21) / 210, atol=0.012)


@pytest.mark.parametrize("bad", [np.full((8, 2), np.nan), np.zeros((8, 2)), np.array([[1.0, np.inf]] * 8)])
def test_points_without_a_spread_have_no_metric(bad):
    with np.errstate(invalid="ignore"), pytest.raises(np.linalg.LinAlgError):
        metric_of(bad)


class Counted(GaussianTarget):
    """How often its gradients are asked for, at all points at once."""

    def log_density_gradients(self, us):
        counts.append(len(us))
        return super().log_density_gradients(us)


counts: list[int] = []


@pytest.mark.parametrize("mean, temperatures", [(0.0, 1), (9.0, None)])
def test_every_move_is_so_many_leapfrog_steps_and_each_half_sees_the_target_once_more(mean, temperatures):
    """A reference that is the target itself is there after one temperature, even where it is widened."""
    counts.clear()
    seen = []
    found = anneal(Counted(np.array([mean]), np.eye(1)), standard(1), rng(), seen.append, points=64)
    phases = [progress.phase for progress in seen]
    rises = [p.iteration for p in seen if p.phase == "annealing"]
    assert found.temperatures == (temperatures or max(rises)) and rises.count(1) == 2
    moves = ANNEALING.moves_at_each * (len(rises) - 2) + ANNEALING.moves_a_round * phases.count(
        "stationarity"
    )
    assert counts.count(32) == 2 + HMC.leapfrog_steps * moves
    again = len(counts) - counts.count(32)
    assert again % (2 * HMC.leapfrog_steps) == 0  # there and back, where a move is tried again
    assert (found.temperatures > 1) is (mean > 0)
    if mean == 0:
        assert found.log_evidence == pytest.approx(0, abs=0.02)
    settling = [progress.iteration for progress in seen if progress.phase == "stationarity"]
    second = settling.index(1, 1)
    assert settling == [*range(1, second + 1), *range(1, len(settling) - second + 1)]
    assert next(p.note for p in seen if p.phase == "stationarity") == "correlation 1.00"
    assert len(found.u) == len(found.log_p) == 64 * 2 * ANNEALING.moves_a_round


def test_temperatures_rise_and_are_given_up_where_there_would_be_too_many(monkeypatch):
    notes = []
    far = GaussianTarget(np.array([30.0]), np.eye(1))
    anneal(far, standard(1), rng(), lambda progress: notes.append(progress), points=64)
    rises = [p for p in notes if p.phase == "annealing"]
    betas = [float(p.note.removeprefix("temperature ")) for p in rises]
    second = [p.iteration for p in rises].index(1, 1)
    for each in (betas[:second], betas[second:]):
        assert len(each) > 3 and each == sorted(each) and each[-1] == 1
    monkeypatch.setattr(annealing, "ANNEALING", annealing.ANNEALING._replace(most_temperatures=12))
    found = anneal(far, standard(1), rng(), points=64)
    assert 10 <= found.temperatures <= 12 and not found.reached


# Temperatures so far, and whether as many as may still come, growing as the latest half did, reach 1.
PATHS = [
    ([0.0], True),
    ([0.0, 1e-9], True),
    (np.append(0, np.geomspace(1e-6, 1e-4, 9)), True),  # too few to tell
    (np.append(0, np.geomspace(1e-6, 1e-4, 10)), True),
    (np.append(0, np.geomspace(1e-6, 2e-6, 10)), False),
    (np.append(0, np.geomspace(1e-6, 0.9, 49)), True),
    (np.append(0, np.geomspace(1e-6, 0.1, 49)), False),
    (np.append(0, np.geomspace(1e-6, 0.1, 50)), False),
]


@pytest.mark.parametrize("path, hope", PATHS)
def test_temperatures_that_will_not_come_to_one_are_given_up(path, hope):
    assert arrives(path) is hope


def test_where_temperatures_are_given_up_no_more_moves_are_made_than_must():
    """In 400 dimensions, 1,000 sds away."""
    seen = []
    far = GaussianTarget(np.full(400, 1e3), np.eye(400))
    found = anneal(far, standard(400), rng(), lambda p: seen.append(p.phase), points=32)
    assert not found.reached and seen.count("annealing") < 2 * 50
    assert seen.count("stationarity") == 2 * 4


@pytest.mark.parametrize("moves, rounds", [(47, 4), (48, 8), (95, 8), (96, 16), (ANNEALING.most_moves, 64)])
def test_a_stage_begins_where_moves_are_left_for_all_of_it(monkeypatch, moves, rounds):
    """Stages of either half are of 1, 1, 2, 4, 8 ... rounds of 6 moves; here nothing settles."""
    monkeypatch.setattr(annealing, "ANNEALING", annealing.ANNEALING._replace(stationary_drift=-1.0))
    seen = []
    target = GaussianTarget(np.zeros(1), np.eye(1))
    anneal(target, standard(1), rng(), lambda p: seen.append(p.phase), points=64, moves=moves)
    assert seen.count("stationarity") == 2 * rounds


def test_marks_are_standard_coordinates_their_squares_and_the_density():
    u, log_p = np.array([[1.0, 2.0], [5.0, -2.0]]), np.array([-1.0, -3.0])
    found = monitored(Points(u, log_p), np.array([3.0, 1.0]), np.array([2.0, 0.5]))
    np.testing.assert_allclose(found, [[-1, 2, 1, 4, -1], [1, -6, 1, 36, -3]])


def test_memory_does_not_mind_units_and_a_coordinate_that_never_moved_is_remembered():
    u = 1e-4 * rng().normal(size=(1000, 2))
    assert largest_autocorrelation(u, 0.3 * u - 1, one_group()) == pytest.approx(0.3)
    stuck = np.column_stack([u[:, 0], np.full(1000, 2.0)])
    assert largest_autocorrelation(stuck, 0.3 * stuck, one_group()) == 1


def test_where_two_modes_have_their_points_is_no_memory_of_a_mode():
    """Points that no move takes from mode to mode remember nothing else here: 0 of each mode, all in all."""
    mode = np.arange(1000) % 2
    before, after = (rng(k).normal(size=(1000, 2)) + 50.0 * mode[:, None] for k in (0, 1))
    assert abs(largest_autocorrelation(before, after, mode)) < 0.1
    assert largest_autocorrelation(before, after, one_group()) > 0.99
    np.testing.assert_allclose(
        means_of(before, mode)[:2], [before[::2].mean(axis=0), before[1::2].mean(axis=0)]
    )
    # A mode that has no points is none to them.
    assert largest_autocorrelation(before, after, 2 * mode) == pytest.approx(
        largest_autocorrelation(before, after, mode)
    )


def half(sd=1.0, at=0.0, seed=0, n=600, **known):
    """Half of the points, N(at, sd^2) in the second of two coordinates."""
    u = rng(seed).normal(size=(n, 2)) * [1.0, sd] + [0.0, at]
    given = {"temperatures": 1, "autocorrelation": 0.1, "drift": 0.0, "log_evidence": 0.0, **known}
    return Annealed(u, np.zeros(n), **given)


def test_two_halves_are_as_far_from_the_target_as_the_worse_of_them():
    one = half(autocorrelation=0.2, drift=0.01, temperatures=4, log_evidence=np.log(2.0), moves=2)
    two = half(
        seed=1, n=900, moves=3, autocorrelation=0.1, drift=0.03, log_evidence=np.log(4.0), reached=False
    )
    found = together(one, two)
    assert (found.autocorrelation, found.drift, found.temperatures, found.reached) == (0.2, 0.03, 4, False)
    assert found.log_evidence == pytest.approx(np.log(3.0))
    assert len(found.u) == len(found.log_p) == 1500
    assert together(one, half(seed=1, moves=2)).reached


@pytest.mark.parametrize("two, least, most", [
    (half(seed=1), 1.0, 1.01),
    (half(seed=1, at=0.5), 1.02, 1.2),
    (half(seed=1, at=50.0), 2.0, 3.0),
    (half(seed=1, sd=2.0), 1.05, 1.3),
])  # fmt: skip
def test_rhat_tells_halves_that_differ_in_place_or_width(two, least, most):
    found = together(half(), two)
    assert found.rhats.shape == (2,) and found.rhats[0] < 1.01
    assert found.rhat == max(1.0, found.rhats[1]) and least <= found.rhat <= most


def test_rhat_is_of_the_latest_points():
    """Both halves came from far away; where they are now they agree."""
    one, two = half(n=4096, moves=4), half(seed=1, n=1024)
    one.u[:3072] += 100
    assert together(one, two).rhat < 1.01


@pytest.mark.parametrize("moves, dim", [(1, 1), (1, 60), (12, 60)])
def test_halves_of_one_distribution_seldom_have_an_rhat_beyond_chance(moves, dim):
    """Also where the moves of a point hardly differ, so that there are no more points than of one move."""
    beyond = 0
    for seed in range(50):
        u = rng(seed).normal(size=(2, 1, 100, dim)) + 0.1 * rng(seed + 1000).normal(size=(2, moves, 100, dim))
        halves = (replace(half(), u=each.reshape(-1, dim), moves=moves) for each in u)
        found = together(*halves)
        beyond += found.rhats.max() > found.rhat_noise
    assert beyond <= 3


def test_few_points_in_many_dimensions_do_not_go_on_for_their_noise():
    """Of 400 coordinates one seems to remember a quarter of where 64 points began."""
    seen, dim = [], 400
    found = anneal(GaussianTarget(np.zeros(dim), np.eye(dim)), standard(dim), rng(), seen.append, points=128)
    rounds = [progress.iteration for progress in seen if progress.phase == "stationarity"]
    assert found.autocorrelation > 0.2 and max(rounds) < sum(ANNEALING.stages)
    assert found.autocorrelation_noise == pytest.approx(0.5, abs=0.1)


def test_points_that_no_move_takes_from_where_they_began_have_an_rhat_that_says_so():
    """Two modes with nothing between: q covers one, and is 5 sds from the other; widened it is 2.7 away."""
    found = anneal(TwoModes(), Reference((Gaussian(np.array([4.0]), 1.5 * np.eye(1)),)), rng())
    assert found.rhat > 1.05
    both = Reference((Gaussian(np.array([-4.0]), np.eye(1)), Gaussian(np.array([4.0]), np.eye(1))), 2)
    assert anneal(TwoModes(), both, rng()).rhat < 1.05
    alone = anneal(GaussianTarget(np.ones(2), np.eye(2)), standard(2), rng())
    assert alone.rhat < 1.01 and alone.rhats.shape == (2,)


def test_a_clear_move_is_what_is_left_beyond_the_errors_of_so_many_means():
    """Of 2 means each may be off by the 99.75% quantile of its error: 1% for both, on both sides."""
    noise = np.tile([[1.0, -1.0], [-1.0, 1.0]], (50, 1))  # of sd 1 and mean 0
    after, sds = noise + np.array([0.0, -2.0]), np.array([1.0, 4.0])
    expected = (2 - stats.norm.ppf(1 - 0.01 / 4) / 10) / 4
    assert significant_change(np.zeros((100, 2)), after, sds) == pytest.approx(expected)
    assert significant_change(np.zeros((100, 2)), after, np.array([1.0, 0.0])) == 0


def test_in_many_dimensions_moves_are_in_units_of_sds_alone():
    u = np.random.default_rng(0).normal(size=(64, ANNEALING.most_correlated + 1)) * 3.0
    np.testing.assert_allclose(metric_of(u), u.std(axis=0))
    assert metric_of(u[:, : ANNEALING.most_correlated]).shape == (
        ANNEALING.most_correlated,
        ANNEALING.most_correlated,
    )
    u[:, 7] = 1.0
    with pytest.raises(np.linalg.LinAlgError, match="no spread"):
        metric_of(u)


def test_points_near_the_target_are_moved_without_temperatures():
    target = GaussianTarget(np.zeros(402), np.eye(402))
    reference = Reference((Gaussian(np.zeros(402), np.ones(402)),))
    near = 0.8 * rng(1).normal(size=(128, 402))
    found = anneal(target, reference, rng(2), points=256, near=near)
    assert found.temperatures == 0 and np.isnan(found.log_evidence) and found.reached
    assert found.u.std(axis=0).mean() == pytest.approx(1.0, abs=0.02)
    assert found.rhat < 1.02


def test_a_point_that_cannot_move_gives_its_place_to_another():
    """Where the density is zero no move is accepted, and no weight takes such a point away."""
    near = np.abs(rng(1).normal(size=(64, 2)))
    near[7] = -40.0
    reference = Reference((Gaussian(np.zeros(2), np.ones(2)),))
    found = anneal(HalfSpace(2, 0.0), reference, rng(2), points=128, near=near)
    assert np.isfinite(found.log_p).all() and (found.u[:, 0] > 0).all()
