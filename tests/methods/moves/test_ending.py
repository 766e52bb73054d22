"""Chains are moved until they follow the target, and say so only then."""

import numpy as np
import pytest
from scipy import integrate, stats
from toy_targets import Funnel, HalfSpace, LogGamma, line
from toy_targets import Gaussian as GaussianTarget

from ppl.kernel.advi.target import Target
from ppl.methods.moves import ending
from ppl.methods.moves.ending import (
    MOVES,
    Moved,
    begun,
    chains_for,
    free_stuck,
    is_in_vain,
    most_gradients,
    moved,
    until_stationary,
)
from ppl.methods.moves.jumps import JUMPING
from ppl.methods.moves.mixing import Mixing, MoveStage, compare, drift_from, joined, uneven
from ppl.methods.moves.sampler import Sampler
from ppl.methods.moves.trajectories import chains_at


def rng(seed=0):
    return np.random.default_rng(seed)


def chains_of(target, starts, seed=0, most=400_000, **how):
    return moved(target, starts, rng(seed), most, **how)


def stage_of(u, mode=0):
    return MoveStage(
        u, np.zeros(u.shape[:2]), np.broadcast_to(mode, u.shape[:2]), np.zeros(u.shape[:2], dtype=bool)
    )


def ar1(correlation, moves, chains, dim, seed):
    """Stationary chains (moves, chains, dim) with that autocorrelation."""
    noise = rng(seed)
    u = np.empty((moves, chains, dim))
    u[0] = noise.standard_normal((chains, dim))
    for t in range(1, moves):
        step = np.sqrt(1 - correlation**2) * noise.standard_normal((chains, dim))
        u[t] = correlation * u[t - 1] + step
    return u


# --- What two stages tell --------------------------------------------------------------------------


def test_independent_draws_that_chains_are_worth_by_the_autocorrelation_time():
    """Of the mean of AR(1): moves (1 - a) / (1 + a), less what their ends add."""
    moves, chains, a = 64, 4000, 0.5
    u = ar1(a, moves, chains, 1, 1)
    found = compare(stage_of(u[:32]), stage_of(u[32:]))
    lag = np.arange(1, moves)
    exact = chains * moves / (1 + 2 * np.sum((1 - lag / moves) * a**lag))
    assert found.effective[0] == pytest.approx(exact, rel=0.08)
    assert found.drift[0] == found.apart[0] == found.drift_of_log_p == 0


def test_rejections_that_depend_on_where_chains_are_differ_between_them_by_more_than_chance():
    """At the same mean rate: by chance, and where a tenth of the chains is beside a narrow region."""
    noise = rng()
    by_chance = [uneven(noise.random((4, 128)) < 0.07) for _ in range(200)]
    beside = np.where(np.arange(128) < 13, 0.5, 0.02)
    by_place = [uneven(noise.random((4, 128)) < beside) for _ in range(200)]
    assert np.mean(by_chance) == pytest.approx(0, abs=0.003) and np.max(by_chance) < MOVES.most_uneven * 1.5
    assert np.mean(np.array(by_chance) > MOVES.most_uneven) < 0.05
    assert np.mean(np.array(by_place) > MOVES.most_uneven) > 0.9
    share = np.array([0.5, 0.0, 0.25, 0.25])
    assert uneven(np.arange(4)[:, None] < 4 * share) == pytest.approx(4 * share.var() - 0.25 * 0.75)


def test_all_stages_that_count_tell_of_a_narrow_region_what_the_last_one_may_not():
    """A tenth of the chains beside it, in 9 and 13 moves, and a last stage of 4 in which all are alike."""
    noise = rng()
    beside = np.where(np.arange(128) < 13, 0.3, 0.03)
    alike = np.repeat(np.arange(4)[:, None] == 0, 128, axis=1)
    each = *(noise.random((n, 128)) < beside for n in (9, 13)), alike
    stages = [stage_of(np.zeros((len(own), 128, 1)))._replace(rejected=own) for own in each]
    together = uneven(joined(stages).rejected)
    assert uneven(alike) < 0 < MOVES.most_uneven < together
    share = np.average([own.mean(axis=0) for own in each], axis=0, weights=[9, 13, 4])
    assert together == pytest.approx(26 * share.var() - share.mean() * (1 - share.mean()))


def test_chains_that_never_move_are_worth_their_number():
    u = np.repeat(rng().standard_normal((1, 500, 3)), 16, axis=0)
    found = compare(stage_of(u[:8]), stage_of(u[8:]))
    np.testing.assert_allclose(found.effective, 500, rtol=0.02)


def test_a_chain_that_never_leaves_the_end_of_a_tail_is_seen():
    """One of 128 has no drift, and its half of the chains is no further from the other than noise."""
    u = ar1(0.6, 33, 128, 2, 3)
    assert compare(stage_of(u[:13]), stage_of(u[13:])).apart.max() == 0
    u[:, 109, 1] = 4 + 0.3 * u[:, 109, 1]
    found = compare(stage_of(u[:13]), stage_of(u[13:]))
    assert found.largest_drift == 0 and found.apart[0] == 0
    assert found.apart[1] == pytest.approx(9.7 / 128)  # a quantile moves by that
    u[20, 109, 1] = 1.0
    found = compare(stage_of(u[:13]), stage_of(u[13:]))
    assert found.apart.max() == 0


def test_a_drift_is_clearer_where_chains_mix_slowly():
    """By 4.1 standard errors, in one of 250 coordinates: it is what others depend on that mixes slowest."""
    u = ar1(0.2, 24, 128, 250, 3)
    u[..., 7] = ar1(0.8, 24, 128, 1, 4)[..., 0]
    for column, drifts in ((7, True), (8, False)):
        changed = u.copy()
        change = u[12:, :, column].mean(axis=0) - u[:12, :, column].mean(axis=0)
        changed[12:, :, column] += 4.1 * change.std() / np.sqrt(128) - change.mean()
        mixing = compare(stage_of(changed[:12]), stage_of(changed[12:]))
        assert (mixing.drift[column] > 0) == drifts == (mixing.largest_drift > 0)


def test_false_drifts_are_few():
    seen = [compare(stage_of(u[:8]), stage_of(u[8:])).largest_drift > 0 for u in map(alike, range(200))]
    assert sum(seen) <= 8


def alike(seed):
    u = ar1(0.3, 16, 128, 30, seed)
    u[..., :10] = ar1(0.8, 16, 128, 10, 1000 + seed)
    return u


def test_sds_that_hang_on_one_chain_have_large_errors():
    """Of independent draws of a normal: one over the root of twice their number; AR(1) is worth fewer."""
    u = ar1(0.6, 33, 128, 2, 3)
    u[:, 109, 1] += 15.0
    low, high = compare(stage_of(u[:13]), stage_of(u[13:])).sd_errors
    worth = 33 * 128 * (1 - 0.6**2) / (1 + 0.6**2)  # for the square
    assert low == pytest.approx(1 / np.sqrt(2 * worth), rel=0.2) and high > 0.3


class StudentT(Target):
    """With 5 degrees of freedom."""

    dim = 1

    def log_density_gradients(self, us):
        x = us[:, 0]
        return self.log_densities(us), (-6 * x / (5 + x**2))[:, None]

    def log_densities(self, us):
        return -3 * np.log1p(us[:, 0] ** 2 / 5)


class Knot(Target):
    """The slope of a line beyond a knot: double exponential where that is beyond the data."""

    dim = 2
    x = np.linspace(-2, 1.5, 40)

    def log_density_gradients(self, us):
        knot, slope = us[:, :1], us[:, 1:]
        beyond = np.maximum(self.x - knot, 0.0)
        off = slope * beyond / 0.09
        by_knot = (off * slope * (beyond > 0)).sum(axis=1) - knot[:, 0]
        by_slope = -(off * beyond).sum(axis=1) - np.sign(slope[:, 0])
        return self.log_densities(us), np.column_stack([by_knot, by_slope])

    def log_densities(self, us):
        beyond = np.maximum(self.x - us[:, :1], 0.0)
        off = (us[:, 1:] * beyond / 0.3) ** 2
        return -0.5 * off.sum(axis=1) - 0.5 * us[:, 0] ** 2 - np.abs(us[:, 1])


def test_a_coordinate_that_is_wide_where_data_tell_nothing_of_it():
    """By trajectories alone sds were 0.61 to 0.92, and 0.76 and 0.61 of seeds 0 and 1."""
    grid = np.dstack(np.meshgrid(np.linspace(-5, 5, 401), np.linspace(-14, 14, 1401))).reshape(-1, 2)
    density = np.exp(Knot().log_densities(grid))
    exact = np.sqrt(density @ grid[:, 1] ** 2 / density.sum())
    for seed in (0, 1):
        starts = np.array([-1.0, 0.0]) + np.array([0.5, 0.05]) * rng(seed).standard_normal((128, 2))
        chains = chains_of(Knot(), starts, seed)
        assert chains.stationary and chains.u[:, 1].std() == pytest.approx(exact, rel=0.1)


def test_a_chain_that_stays_far_out_in_a_tail_is_waited_for():
    """After 40 moves, which would do, it was there for most of those that count: the sd was 13% too large."""
    rng = np.random.default_rng(2)
    starts = 1.2 * rng.standard_normal((128, 1))
    starts[109] = 40.0
    found = moved(StudentT(), starts, rng, 400_000)
    assert found.stationary and found.mixing.sd_errors.max() < MOVES.most_sd_error
    assert found.u.std() == pytest.approx(np.sqrt(5 / 3), rel=0.08)


@pytest.mark.parametrize(
    "change, drift",
    [(lambda z: z + 0.5, 0.48), (lambda z: 1.5 * z, 0.61), (lambda z: np.where(z > 1.2, 2.0 * z, z), 0.85)],
    ids=["mean", "sd", "tail"],
)
def test_a_change_of_a_mean_an_sd_or_a_tail_is_seen(change, drift):
    """By the share beyond the 95% quantile of both halves, where that changes most."""
    z = rng().standard_normal((16, 2000, 4))
    z[8:, :, 2] = change(z[8:, :, 2])
    found = compare(stage_of(z[:8]), stage_of(z[8:]))
    assert found.drift[2] == pytest.approx(drift, rel=0.12)
    assert (found.drift[[0, 1, 3]] == 0).all() and found.largest_drift == found.drift[2]


def test_chains_from_two_starts_that_do_not_agree_are_told():
    z = rng().standard_normal((16, 400, 2))
    z[:, 1::2, 1] += 0.6
    found = compare(stage_of(z[:8]), stage_of(z[8:]))
    assert found.apart[0] == 0 and found.apart[1] == pytest.approx(0.55, abs=0.1)


@pytest.mark.parametrize("heavy", [False, True])
def test_starts_elsewhere_or_less_wide_are_seen_and_others_are_not(heavy):
    u = ar1(0.5, 7, 128, 40, 5)
    u[0, :, 0] += 0.7
    u[0, :, 1] *= 0.5
    if heavy:
        u = np.sinh(2 * u)
    drift = drift_from(u[:1], u[1:])
    assert drift[0] > 0.1 and drift[1] > 0.1 and not drift[2:].any()


def test_of_many_statistics_none_seems_to_drift_by_chance():
    alarms = 0
    for seed in range(20):
        u = ar1(0.7, 8, 128, 60, seed)
        found = compare(stage_of(u[:4]), stage_of(u[4:]))
        alarms += found.largest_drift > 0 or found.apart.max() > 0
    assert alarms <= 2


def test_where_modes_have_their_chains_is_no_lack_of_mixing():
    u = ar1(0.0, 16, 200, 1, 3)
    mode = np.arange(200) % 3
    found = compare(*(stage_of(half + 10 * mode[:, None], mode) for half in (u[:8], u[8:])))
    assert found.effective[0] > 2000 and found.largest_drift == 0


# --- Chains ------------------------------------------------------------------------------------------


def test_chains_far_from_a_gaussian_reach_it():
    target = GaussianTarget(np.array([3.0, -2.0]), np.array([[4.0, 1.8], [1.8, 1.0]]), shift=1e8)
    found = chains_of(target, 0.3 * rng(1).standard_normal((128, 2)))
    assert found.stationary and found.mixing.fewest_effective >= MOVES.effective
    np.testing.assert_allclose(found.u.mean(axis=0), target.mean, atol=0.25)
    np.testing.assert_allclose(np.cov(found.u.T), target.covariance, rtol=0.15)
    np.testing.assert_allclose(found.log_p, target.log_densities(found.u))
    assert (np.bincount(found.chain) == found.moves).all() and found.chains == 128


def test_a_skewed_target_has_the_quantiles_of_quadrature():
    found = chains_of(LogGamma(), rng(2).standard_normal((256, 1)), effective=4000)
    known = stats.loggamma(0.7)
    for p in (0.02, 0.5, 0.98):
        assert np.mean(found.u[:, 0] < known.ppf(p)) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 4000))


def test_a_support_with_an_edge_is_kept():
    found = chains_of(HalfSpace(2, 0.5), np.abs(rng().standard_normal((128, 2))) + 0.5)
    inside = stats.truncnorm(0.5, np.inf)
    assert found.u[:, 0].min() > 0.5
    assert found.u[:, 0].mean() == pytest.approx(inside.mean(), abs=0.15 * inside.std())


def test_draws_of_the_target_end_after_the_first_stages():
    found = chains_of(GaussianTarget(np.zeros(3), np.eye(3)), rng().standard_normal((1000, 3)), effective=800)
    assert found.total_moves == MOVES.shortest == 8 and found.stationary


def test_chains_that_check_draws_and_change_are_worth_those_that_take_their_place():
    """50 independent draws would do for a check; once it fails, it is these that are written."""
    sds = np.geomspace(1, 30, 60)
    target, draws = GaussianTarget(np.zeros(60), np.diag(sds**2)), sds * rng().standard_normal((128, 60))
    right = chains_of(target, draws, effective=50, starts_right=True)
    assert right.total_moves == MOVES.shortest and right.mixing.fewest_effective < MOVES.fewest_effective
    wrong = chains_of(target, draws + sds, effective=50, starts_right=True)
    assert wrong.stationary and wrong.total_moves > MOVES.shortest
    assert wrong.mixing.fewest_effective >= MOVES.fewest_effective


@pytest.mark.parametrize("starts_right", [True, False])
def test_right_draws_of_a_funnel_end_before_it_is_fitted(monkeypatch, starts_right):
    fits = list[int]()
    monkeypatch.setattr("ppl.methods.moves.layers.straightened", lambda u, necks: fits.append(len(u)))
    rng = np.random.default_rng(1)
    v = 3 * rng.standard_normal(1000)
    u = np.column_stack([v, np.exp(v / 2)[:, None] * rng.standard_normal((1000, 5))])
    chains = moved(Funnel(), u, rng, 10**6, effective=50, starts_right=starts_right)
    assert chains.stationary and chains.total_moves == MOVES.shortest
    assert bool(fits) is not starts_right


def test_gradients_are_bounded_and_counted():
    class Counted(GaussianTarget):
        seen = 0

        def log_density_gradients(self, us):
            Counted.seen += len(us)
            return super().log_density_gradients(us)

        def log_densities(self, us):
            Counted.seen += len(us) / JUMPING.values_a_gradient
            return super().log_density_gradients(us)[0]

    found = chains_of(Counted(np.zeros(40), np.eye(40)), 3 * rng().standard_normal((128, 40)), most=20_000)
    assert found.gradients == pytest.approx(Counted.seen, abs=10) and 5_000 < found.gradients < 40_000
    assert found.bound == (0 if found.mixing.fewest_effective >= MOVES.effective else 20_000)
    assert most_gradients(1) == MOVES.most_gradients and most_gradients(10**6) == 0


@pytest.mark.parametrize("moves, worth, in_vain", [(60, 60, True), (60, 70, False), (20, 60, False)])
def test_moves_end_where_they_would_take_twice_the_gradients_that_they_may(moves, worth, in_vain):
    """50 of 60 moves are kept; with 60 draws from them, 500 take 833,000 gradients."""
    mixing = Mixing(np.zeros(1), np.zeros(1), np.array([float(worth)]), 0.0)
    u = np.empty((0, 1))
    chains = Moved(u, u[:, 0], np.empty(0, int), mixing, gradients=120_000, moves=50, total_moves=moves)
    assert is_in_vain(chains, 0.1, 1000, 400_000) == is_in_vain(chains, 0.1, 10**6, 400_000) == in_vain


@pytest.mark.parametrize(
    "worth, moves, count", [(1200, 88, 128), (1200, 20, 300), (1200, 4, 1500), (300, 20, 1200)]
)
def test_of_many_chains_as_many_go_on_as_will_be_worth_the_draws(worth, moves, count):
    """600 chains have made 10 moves, and are worth a fifth of a draw a move each, or a twentieth."""
    mixing = Mixing(np.zeros(1), np.zeros(1), np.array([float(worth)]), 0.0)
    u = np.empty((0, 1))
    chains = Moved(u, u[:, 0], np.empty(0, int), mixing, moves=10, chains=600)
    assert chains_for(chains, 1200, moves) == count


@pytest.mark.parametrize(
    "drift, step, in_vain", [(0.5, 0.005, True), (0.5, 0.02, False), (0.0, 0.005, False)]
)
def test_moves_end_where_chains_change_and_their_longest_trajectories_are_short(drift, step, in_vain):
    """As about modes of very different widths, whose metric is that of none."""
    mixing = Mixing(np.array([drift]), np.zeros(1), np.array([300.0]), 0.0)
    u = np.empty((0, 1))
    chains = Moved(u, u[:, 0], np.empty(0, int), mixing, gradients=60_000, moves=8, total_moves=12)
    assert is_in_vain(chains, step, 1000, 400_000) is in_vain


@pytest.mark.parametrize("drift, apart, log_p", [(0.012, 0, 0), (0, 0.012, 0), (0, 0, 0.012), (0, 0, 0)])
def test_chains_that_change_beyond_noise_are_not_stationary(drift, apart, log_p):
    """0.012 sds beyond noise were 0.14 in all, and a 95% quantile was still 0.7 sds too low."""
    mixing = Mixing(np.array([0.0, drift]), np.array([apart]), np.full(1, 1000.0), log_p)
    u = np.empty((0, 2))
    chains = Moved(u, u[:, 0], np.empty(0, int), mixing)
    assert chains.stationary == (drift == apart == log_p == 0)


def test_chains_set_further_out_are_waited_for(monkeypatch):
    """The positions of a stage that begins so are no draws, nor those before it."""
    stage, left = Sampler.stage, []

    def watched(chains, *given):
        before = chains.dispersed_after
        positions = stage(chains, *given)
        left.append(positions.u if chains.dispersed_after > before else np.zeros((0, 1, 6)))
        return positions

    monkeypatch.setattr(Sampler, "stage", watched)
    chains = chains_of(Funnel(), 0.1 * rng(2).standard_normal((128, 6)))
    further = np.flatnonzero([len(u) for u in left])
    assert len(further) and chains.total_moves > MOVES.many_moves
    no_draws = np.concatenate([u.reshape(-1, 6) for u in left])
    assert not np.isin(chains.u[:, 0], no_draws[:, 0]).any()


def test_chains_in_a_funnel_that_do_not_mix_say_so():
    found = chains_of(Funnel(), 0.1 * rng().standard_normal((128, 6)), most=40_000)
    v = found.u[:, 0]
    right = abs(v.mean()) < 0.3 and abs(v.std() / 3 - 1) < 0.1
    assert right or not (found.stationary and found.mixing.fewest_effective > 400)


def test_two_separate_modes_keep_their_chains():
    target = line((0.3, -8.0, 0.5), (0.7, 8.0, 1.0))
    starts = np.where(np.arange(128) // 2 % 2, 8.0, -8.0)[:, None] + 0.3 * rng().standard_normal((128, 1))
    found = chains_of(target, starts, centres=np.array([[-8.0], [8.0]]))
    assert found.mixing.fewest_effective >= MOVES.effective and found.mixing.largest_drift == 0
    own = found.u[found.mode == 0, 0]
    assert own.mean() == pytest.approx(-8.0, abs=0.1) and own.std() == pytest.approx(0.5, rel=0.2)


def test_a_chain_without_a_density_or_that_cannot_move_gives_its_place_to_another():
    starts = np.abs(rng().standard_normal((128, 2))) + 0.5
    starts[:5, 0] = -1.0  # outside
    found = chains_of(HalfSpace(2, 0.5), starts)
    assert np.isfinite(found.log_p).all() and found.u[:, 0].min() > 0.5
    with pytest.raises(np.linalg.LinAlgError, match="no chain has a density"):
        chains_of(HalfSpace(2, 0.5), -np.ones((8, 2)))


def test_a_chain_that_a_steep_wall_holds_gives_its_place_to_another():
    """It was there for 450 moves: a first one had led it from one hopeless place to the next."""
    wall = line((1.0, 0.0, 0.01))
    starts = 0.01 * rng().standard_normal((128, 1))
    starts[:2, 0] = 0.12, 0.18  # 72 and 162 nats below others
    sampler = Sampler(wall, chains_at(wall, starts), rng())
    free_stuck(sampler, starts - 1.0, 1)
    np.testing.assert_array_equal(sampler.chains.u[[0, *range(2, 128)]], starts[[0, *range(2, 128)]])
    assert abs(sampler.chains.u[1, 0]) < 0.18


@pytest.mark.parametrize("changed", [False, True])
def test_more_stages_are_kept_where_nothing_changed(changed, monkeypatch):
    """Of the 60 moves of eight stages the last six, or the last three."""
    stages, origin = MOVES.stages[:8], np.zeros((1, 3))

    def compared(before, after):
        early = changed and len(before.u) > sum(stages[5:7])
        return compare(before, after)._replace(drift=np.full(3, 0.5 * early))

    monkeypatch.setattr(ending, "compare", compared)
    sampler = begun(GaussianTarget(np.zeros(3), np.eye(3)), rng().standard_normal((128, 3)), origin, rng(1))
    chains = until_stationary(sampler, origin, 10**7, 1e9, 0, stages=stages)
    assert chains.total_moves == 60 and chains.moves == sum(stages[-3:] if changed else stages[-6:])


def test_the_same_generator_gives_the_same_draws():
    starts = rng().standard_normal((64, 1))
    one, two = (chains_of(LogGamma(), starts, seed=3) for _ in range(2))
    assert one.u.tobytes() == two.u.tobytes()


def test_the_moments_of_a_skewed_target_are_those_of_quadrature():
    found = chains_of(LogGamma(), rng(5).standard_normal((128, 1)), effective=4000)
    at = np.linspace(-30, 5, 20_001)
    density = np.exp(LogGamma().log_densities(at[:, None]))
    mean = integrate.simpson(at * density, x=at) / integrate.simpson(density, x=at)
    sd = np.sqrt(integrate.simpson((at - mean) ** 2 * density, x=at) / integrate.simpson(density, x=at))
    assert found.u.mean() == pytest.approx(mean, abs=4 * sd / np.sqrt(4000))
    assert found.u.std() == pytest.approx(sd, rel=0.08)


def test_reports_say_after_how_many_moves_chains_may_end():
    """And not how many there may be, of which most fits make one in fifty."""
    reports = []
    found = chains_of(
        GaussianTarget([0.0, 0.0], np.eye(2)), rng().standard_normal((1000, 2)), listen=reports.append
    )
    assert found.total_moves == reports[-1].total == MOVES.shortest
    assert [(each.iteration, each.total) for each in reports] == [(0, 8), (2, 8), (4, 8)]
