import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp
from toy_targets import Gaussian as GaussianTarget
from toy_targets import HalfSpace

from ppl.inference import annealing
from ppl.inference.annealing import (
    MOST_MOVES,
    MOVES_A_ROUND,
    MOVES_EACH,
    Mover,
    Points,
    anneal,
    clear_move,
    largest_memory,
    marks,
    metric_of,
)
from ppl.inference.balanced import balanced
from ppl.inference.coordinates import Scaled, rescaled
from ppl.inference.gaussian import Gaussian
from ppl.inference.hamiltonian import LEAPS, cloud_at
from ppl.inference.reference import Reference
from ppl.inference.tempering import effective_size, next_temperature, systematic


def rng(seed=0):
    return np.random.default_rng(seed)


def standard(dim):
    return Reference((Gaussian(np.zeros(dim), np.eye(dim)),))


class TwoModes:
    """0.3 N(-4, 0.5^2) + 0.7 N(4, 1), times e^7."""

    dim = 1
    at, variances, shares = np.array([-4.0, 4.0]), np.array([0.25, 1.0]), np.array([0.3, 0.7])

    def log_densities(self, us):
        return logsumexp(self._each(us), axis=1) + 7

    def log_density_gradients(self, us):
        each = self._each(us)
        shares = np.exp(each - logsumexp(each, axis=1, keepdims=True))
        return self.log_densities(us), (shares * (self.at - us) / self.variances).sum(axis=1, keepdims=True)

    def _each(self, us):
        return np.log(self.shares) + stats.norm.logpdf(us, self.at, np.sqrt(self.variances))


class LogGamma:
    """u = log x for x of shape 0.7 and rate 1: a long tail to the left, a short one to the right."""

    dim = 1

    def log_densities(self, us):
        return 0.7 * us[:, 0] - np.exp(us[:, 0])

    def log_density_gradients(self, us):
        return self.log_densities(us), 0.7 - np.exp(us)


class Funnel:
    """Neal (2003), "Slice sampling", section 8, in fewer dimensions: v ~ N(0, 9), the others N(0, e^v)."""

    dim = 6

    def log_densities(self, us):
        v, x = us[:, 0], us[:, 1:]
        return -(v**2) / 18 - 0.5 * (x**2).sum(axis=1) * np.exp(-v) - 2.5 * v

    def log_density_gradients(self, us):
        v, x = us[:, 0], us[:, 1:]
        along = -v / 9 + 0.5 * (x**2).sum(axis=1) * np.exp(-v) - 2.5
        return self.log_densities(us), np.column_stack([along, -x * np.exp(-v)[:, None]])


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
    cloud = cloud_at(target, standard(2), u)
    mover = Mover(target, standard(2), rng(1), 0.9, left=5)
    moved, seen = mover.moves(cloud, 1.0, 2)
    np.testing.assert_allclose(seen[-1].u, moved.u, atol=1e-12)
    np.testing.assert_allclose(seen[-1].log_p, moved.log_p)
    assert 0.5 < mover.accepted < 1 and mover.left == 3
    assert np.isclose(moved.u, u).all(axis=1).mean() < 0.5
    np.testing.assert_allclose(moved.u.mean(axis=0), target.mean, atol=0.06)
    np.testing.assert_allclose(np.cov(moved.u.T), target.covariance, atol=0.08)
    np.testing.assert_allclose(moved.log_p, [target.log_density(v) for v in moved.u])


def test_a_cloud_in_other_coordinates_is_what_is_seen_there():
    target = GaussianTarget(np.array([1.0, -1.0]), np.array([[2.0, 0.6], [0.6, 0.5]]))
    target = Scaled(target, np.array([0.3, -0.2]), np.array([2.0, 0.5]))
    other = Gaussian(np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.4, 2.0]]))
    reference = Reference((*standard(2).parts, other))
    factor = np.array([[0.7, 0.0], [-0.3, 1.5]])
    inverse = np.linalg.inv(factor)
    cloud = cloud_at(target, reference, rng().normal(size=(9, 2)))
    there = cloud.rescaled(factor, inverse)
    np.testing.assert_allclose(there.u @ factor.T, cloud.u)
    seen = cloud_at(rescaled(target, factor), reference.rescaled(inverse), there.u)
    for ours, expected in zip(vars(there).values(), vars(seen).values(), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)
    for ours, expected in zip(
        vars(there.rescaled(inverse, factor)).values(), vars(cloud).values(), strict=True
    ):
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
    assert found.reached and found.memory < 0.3 and found.drift < 0.05
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
    found = anneal(Funnel(), standard(6), rng(), lambda progress: seen.append(progress.phase), 256, moves=60)
    assert found.reached and seen.count("stationarity") == 4


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
    assert largest_memory(u, fresh) == pytest.approx(1)
    assert largest_memory(u, 0.3 * u + 2) == pytest.approx(0.3)
    assert clear_move(u, u + 0.3 + 0.1 * fresh, np.ones(2)) == pytest.approx(0.3, abs=0.05)
    assert clear_move(u, rng(2).normal(size=(1000, 2)), np.ones(2)) == 0


def test_of_many_means_none_seems_to_move_by_chance():
    """Of 200 means one moves by three errors in 42 of 100 trials."""
    alarms = 0
    for k in range(100):
        before, after = rng(k).normal(size=(2, 300, 200))
        alarms += clear_move(before, after, np.ones(200)) > 0
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
def test_every_move_is_so_many_leaps_and_the_target_is_seen_once_more(mean, temperatures):
    """A reference that is the target itself is there after one temperature, with evidence 1 and no move."""
    counts.clear()
    seen = []
    found = anneal(Counted(np.array([mean]), np.eye(1)), standard(1), rng(), seen.append, points=64)
    heard = [progress.phase for progress in seen]
    assert found.temperatures == heard.count("annealing") == (temperatures or found.temperatures)
    moves = MOVES_EACH * (found.temperatures - 1) + MOVES_A_ROUND * heard.count("stationarity")
    assert counts == [64] * (1 + LEAPS * moves)
    assert (found.temperatures > 1) is (mean > 0)
    if mean == 0:
        assert found.log_evidence == pytest.approx(0, abs=1e-12)
    settling = [progress.iteration for progress in seen if progress.phase == "stationarity"]
    assert settling == list(range(1, len(settling) + 1))
    assert next(progress.note for progress in seen if progress.phase == "stationarity") == "100% remembered"
    assert len(found.u) == len(found.log_p) == 64 * 2 * MOVES_A_ROUND


def test_temperatures_rise_and_are_given_up_where_there_would_be_too_many(monkeypatch):
    notes = []
    far = GaussianTarget(np.array([30.0]), np.eye(1))
    anneal(far, standard(1), rng(), lambda progress: notes.append(progress), points=64)
    betas = [float(p.note.removeprefix("temperature ")) for p in notes if p.phase == "annealing"]
    assert len(betas) > 3 and betas == sorted(betas) and betas[-1] == 1
    monkeypatch.setattr(annealing, "MOST_TEMPERATURES", 2)
    found = anneal(far, standard(1), rng(), points=64)
    assert found.temperatures == 2 and not found.reached


@pytest.mark.parametrize("moves, rounds", [(47, 4), (48, 8), (95, 8), (96, 16), (MOST_MOVES, 64)])
def test_a_stage_begins_where_moves_are_left_for_all_of_it(monkeypatch, moves, rounds):
    """Stages are of 1, 1, 2, 4, 8 ... rounds of 6 moves; here nothing settles."""
    monkeypatch.setattr(annealing, "SETTLED", -1.0)
    seen = []
    target = GaussianTarget(np.zeros(1), np.eye(1))
    anneal(target, standard(1), rng(), lambda p: seen.append(p.phase), points=64, moves=moves)
    assert seen.count("stationarity") == rounds


def test_marks_are_standard_coordinates_their_squares_and_the_density():
    u, log_p = np.array([[1.0, 2.0], [5.0, -2.0]]), np.array([-1.0, -3.0])
    found = marks(Points(u, log_p), np.array([3.0, 1.0]), np.array([2.0, 0.5]))
    np.testing.assert_allclose(found, [[-1, 2, 1, 4, -1], [1, -6, 1, 36, -3]])


def test_memory_does_not_mind_units_and_a_coordinate_that_never_moved_is_remembered():
    u = 1e-4 * rng().normal(size=(1000, 2))
    assert largest_memory(u, 0.3 * u - 1) == pytest.approx(0.3)
    stuck = np.column_stack([u[:, 0], np.full(1000, 2.0)])
    assert largest_memory(stuck, 0.3 * stuck) == 1


def test_a_clear_move_is_what_is_left_beyond_the_errors_of_so_many_means():
    """Of 2 means each may be off by the 99.75% quantile of its error: 1% for both, on both sides."""
    noise = np.tile([[1.0, -1.0], [-1.0, 1.0]], (50, 1))  # of sd 1 and mean 0
    after, sds = noise + np.array([0.0, -2.0]), np.array([1.0, 4.0])
    expected = (2 - stats.norm.ppf(1 - 0.01 / 4) / 10) / 4
    assert clear_move(np.zeros((100, 2)), after, sds) == pytest.approx(expected)
    assert clear_move(np.zeros((100, 2)), after, np.array([1.0, 0.0])) == 0
