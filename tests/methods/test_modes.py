"""What q does not reach, on targets of which every mode and its share are known."""

import numpy as np
import pytest
from toy_targets import Funnel, Mixture, Quartic, correlated, line
from toy_targets import Gaussian as GaussianTarget

from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.kernel.advi.triangular import diagonal_of
from ppl.methods.correct.correction import seen
from ppl.methods.diagnose.modes import (
    MODE_SEARCH,
    arrival_at,
    curved,
    find_missed_regions,
    mode_above,
    overdispersed_gaussians,
    own_mode_and_paths,
    starts_of,
    valley,
)
from ppl.methods.maximise.lockstep import answered

SEEDS = range(3)


def found(target, mean, sd, seed=0):
    """What there is beside q = N(mean, sd^2), for a mean and sds (dim,)."""
    scaled, rng = (
        Scaled(target, np.array(mean, float), np.diag(sd).astype(float)),
        np.random.default_rng(seed),
    )
    return find_missed_regions(scaled, seen(scaled, rng), rng)


ALONE = {
    "q itself": (line((1.0, 0.0, 1.0)), [0.0], [1.0]),
    "q a little off": (line((1.0, 0.0, 1.0)), [0.5], [0.8]),
    "two parts of one mode": (line((0.5, -0.9, 1.0), (0.5, 0.9, 1.0)), [0.0], [1.3]),
    "a shoulder": (line((0.8, 0.0, 1.0), (0.2, 2.0, 1.0)), [0.4], [1.2]),
    "many dimensions": (GaussianTarget(np.zeros(60), np.eye(60)), np.zeros(60), np.ones(60)),
    "a quartic": (Quartic(np.zeros(4)), np.zeros(4), np.full(4, 0.8)),
    "a funnel": (Funnel(), np.zeros(6), [3.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
    # Of the posterior's mass, less than a hundredth is not said.
    "a mode that does not matter": (line((0.997, 0.0, 1.0), (0.003, 20.0, 1.0)), [0.0], [1.0]),
}


@pytest.mark.rotate
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", ALONE.values(), ids=ALONE.keys())
def test_one_mode_is_found_to_be_alone(case, seed):
    assert found(*case, seed).modes == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_q_that_fits_misses_nothing(seed):
    target = correlated(3)
    scaled, rng = (
        Scaled(target, target.mean, np.linalg.cholesky(target.covariance)),
        np.random.default_rng(seed),
    )
    assert find_missed_regions(scaled, seen(scaled, rng), rng).gaussians == ()


@pytest.mark.parametrize("width, ended", [(1.0, 0), (0.3, 8)])
def test_paths_are_left_where_they_come_to_a_q_of_good_weights(width, ended):
    target = correlated(3)
    scaled, rng = (
        Scaled(target, target.mean, width * np.linalg.cholesky(target.covariance)),
        np.random.default_rng(1),
    )
    starts = list(starts_of(scaled, rng))
    own, paths = own_mode_and_paths(scaled, starts, rng, arrival_at(seen(scaled, rng)))
    assert own is not None and len(paths) == ended


TWO = Mixture(np.array([[-4.0, 0.0], [4.0, 0.0]]), np.array([0.5, 1.0]), np.array([0.3, 0.7]), shift=7.0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("own, share, at, sd", [
    ([4.0, 0.0], 0.3, [-4.0, 0.0], 0.5), ([-4.0, 0.0], 0.7, [4.0, 0.0], 1.0)
])  # fmt: skip
def test_another_mode_has_its_place_width_and_share(own, share, at, sd, seed):
    """In coordinates where q is standard."""
    width = np.array([0.5 if own[0] < 0 else 1.0] * 2)
    (mode,) = found(TWO, own, width, seed).modes
    np.testing.assert_allclose(own + width * mode.offset, at, atol=1e-3)
    np.testing.assert_allclose(width * np.diag(mode.gaussian.factor), sd, rtol=1e-3)
    assert mode.share == pytest.approx(share, abs=0.03) and not mode.is_symmetric
    assert mode.peak.height == pytest.approx(TWO.log_density(np.array(at)) + np.log(width).sum(), abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_narrow_mode_far_away_is_found(seed):
    target = line((0.9, -20.0, 0.1), (0.1, 20.0, 5.0))
    (mode,) = found(target, [20.0], [5.0], seed).modes
    assert 20 + 5 * mode.offset[0] == pytest.approx(-20, abs=1e-3) and mode.share == pytest.approx(
        0.9, abs=0.02
    )
    assert 5 * mode.gaussian.factor[0, 0] == pytest.approx(0.1, rel=1e-3)


@pytest.mark.rotate
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sd", [10.0, 0.001])
def test_a_spike_within_a_wide_part_is_one_mode_of_two_widths(sd, seed):
    """q has one of them; the other is no mode, but half of the mass is there: chains begin there too.

    With some seeds a draw of the wide q lies in the spike, and has all of its weight.
    """
    there = found(line((0.5, 0.0, 0.001), (0.5, 0.0, 10.0)), [0.0], [sd], seed)
    assert there.modes == () and there.others
    widths = [sd * diagonal_of(part.factor)[0] for part in there.others]
    assert any(0.3 < width / (0.001 if sd == 10.0 else 10.0) < 3 for width in widths)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_exchange_of_labels_is_an_image_and_another_mode_is_none(seed):
    """As in a mixture of two: (a, b) and (b, a)."""
    labels = Mixture(np.array([[-5.0, 5.0], [5.0, -5.0]]), np.ones(2), np.full(2, 0.5))
    (mode,) = found(labels, [-5.0, 5.0], [1.0, 1.0], seed).modes
    assert mode.is_symmetric and mode.share == pytest.approx(0.5, abs=0.03)
    np.testing.assert_allclose(mode.offset, [10, -10], atol=1e-3)
    # Of the same height but wider, and as wide but lower.
    wider = Mixture(labels.means, np.array([1.0, 1.5]), np.array([1, 1.5**2]) / (1 + 1.5**2))
    lower = Mixture(labels.means, np.ones(2), np.array([0.6, 0.4]))
    for other in (wider, lower):
        (mode,) = found(other, [-5.0, 5.0], [1.0, 1.0], seed).modes
        assert not mode.is_symmetric


@pytest.mark.parametrize("seed", SEEDS)
def test_every_sign_of_two_coordinates_is_an_image(seed):
    corners = np.array([[i, j] for i in (-5.0, 5.0) for j in (-5.0, 5.0)])
    modes = found(Mixture(corners, np.ones(4), np.full(4, 0.25)), [-5.0, -5.0], [1.0, 1.0], seed).modes
    assert modes and all(mode.is_symmetric for mode in modes)


def test_mass_beyond_the_tails_of_q_is_no_mode():
    """q is ten times too narrow: what lies outside is told, and by how wide a Gaussian."""
    there = found(line((1.0, 0.0, 1.0)), [0.0], [0.1])
    assert there.modes == ()
    assert any(0.3 < 0.1 * part.factor[0, 0] < 3 for part in there.others)
    assert there.gaussians == there.others


def widened(target):
    """The widenings of q = N(0, 1), and draws of each."""
    scaled = Scaled(target, np.zeros(target.dim), np.ones(target.dim))
    return overdispersed_gaussians(scaled, np.random.default_rng(0))


def test_q_is_widened_by_powers_of_three():
    wide, draws = widened(GaussianTarget(np.zeros(2), np.eye(2)))
    np.testing.assert_allclose([diagonal_of(part.factor)[1] for part in wide], 3.0 ** np.arange(1, 10))
    assert all((part.mean == 0).all() and part.factor.shape == (2,) for part in wide)
    assert {len(batch.u) for batch in draws} == {MODE_SEARCH.more_draws}


class Walled(GaussianTarget):
    """A density that is zero beyond 25 from its mean."""

    def log_densities(self, us):
        return np.where(np.linalg.norm(us - self.mean, axis=1) < 25, super().log_densities(us), -np.inf)


def test_q_is_widened_no_further_than_there_is_a_density():
    _, draws = widened(Walled(np.zeros(2), np.eye(2)))
    shares = [np.isfinite(batch.log_p).mean() for batch in draws]
    assert shares[0] == 1 > shares[1] > MODE_SEARCH.share_with_density > shares[2] and len(shares) == 3
    assert [len(batch.u) for batch in draws] == [MODE_SEARCH.more_draws] * 2 + [MODE_SEARCH.draws]


def peak_above(target, start):
    return answered(target.log_density_gradient, mode_above(start))


def test_a_climb_ends_at_a_mode_or_nowhere():
    target = Scaled(line((1.0, 2.0, 0.5)), np.zeros(1), np.ones(1))
    peak = peak_above(target, np.array([-3.0]))
    assert peak.v[0] == pytest.approx(2, abs=1e-4)
    assert peak.height == pytest.approx(target.log_density(np.array([2.0])), abs=1e-6)
    assert curved(target, peak).factor[0, 0] == pytest.approx(0.5, rel=1e-3)
    for nowhere in (Slope(), Undefined()):
        assert peak_above(Scaled(nowhere, np.zeros(1), np.ones(1)), np.ones(1)) is None


class Slope(Target):
    """exp(u): it rises for ever."""

    dim = 1

    def log_density_gradient(self, u):
        return float(u[0]), np.ones(1)


class Undefined(Target):
    dim = 1

    def log_density_gradient(self, u):
        return np.nan, np.full(1, np.nan)


def test_a_valley_is_as_deep_as_the_lower_of_two_modes_stands_above_it():
    target = Scaled(TWO, np.zeros(2), np.ones(2))
    one, two = (peak_above(target, np.array([at, 0.3])) for at in (-4.0, 4.0))
    along = np.linspace(-4, 4, 10_001)
    lowest = TWO.log_densities(np.column_stack([along, 0 * along])).min()
    assert valley(target, one, two) == pytest.approx(min(one.height, two.height) - lowest, abs=0.3)
    assert valley(target, one, one) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("target", [TWO, line((0.5, 0.0, 0.001), (0.5, 0.0, 10.0))])
def test_the_same_generator_finds_the_same(target):
    one, two = (found(target, np.zeros(target.dim), np.ones(target.dim), 5) for _ in range(2))
    assert [part.factor.tobytes() for part in one.gaussians] == [
        part.factor.tobytes() for part in two.gaussians
    ]


def test_gaussians_over_modes_come_first():
    there = found(TWO, [4.0, 0.0], [1.0, 1.0])
    assert there.gaussians[: len(there.modes)] == tuple(mode.gaussian for mode in there.modes)
    assert all(isinstance(part, Gaussian) for part in there.gaussians)
