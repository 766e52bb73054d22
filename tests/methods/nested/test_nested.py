"""Latent variables in independent blocks: what is found of a target, its field, and weighted draws."""

import math
from functools import cached_property

import numpy as np
import pytest
from scipy import special, stats
from toy_targets import numeric_gradient

import ppl
from ppl.errors import InferenceError
from ppl.kernel.advi import target
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.outcome import Ending, Progress, interrupted
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.psis import psis
from ppl.methods.initialise.starting import at_random
from ppl.methods.nested.field import FIELD_MODES, Fields
from ppl.methods.nested.field_draws import field_draws
from ppl.methods.nested.marginal import Marginal, climbs, newton
from ppl.methods.nested.modes import MODES
from ppl.methods.nested.modes_beside import highest
from ppl.methods.nested.outer import spread_of
from ppl.methods.nested.slopes import profile, slopes
from ppl.methods.nested.structure import structure_of
from ppl.methods.nested.student_ts import StudentTs
from ppl.methods.nested.weighted_draws import Round, WeightedPoints, together
from ppl.methods.recipes import advi, fields, fit
from ppl.methods.recipes.nested import by_field
from ppl.methods.recipes.refusals import Refused
from ppl.methods.run.phases import Context
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, replace
from ppl.run.posterior_target import PosteriorTarget


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


class Target(target.Target):
    """A target whose gradients are central differences of `log_densities`."""

    dim: int

    def explain(self, u):
        return ""


@dataclass(frozen=True)
class Groups(Target):
    """Effects of groups, N(mu, exp(t)): u = (mu, t, theta...), y[j] ~ N(theta[j], sd)."""

    y: np.ndarray
    sd: float = 1.0

    @property
    def dim(self):
        return 2 + len(self.y)

    def log_density_gradients(self, us):
        mu, t, theta = us[:, :1], us[:, 1:2], us[:, 2:]
        tau = np.exp(t)
        prior, data = (theta - mu) / tau, (self.y - theta) / self.sd
        value = -0.5 * (mu**2 / 25 + t**2)[:, 0] - math.log(5) - math.log(2 * math.pi)
        terms = -0.5 * (prior**2 + data**2) - t - math.log(self.sd) - math.log(2 * math.pi)
        slope_mu = (prior / tau).sum(axis=1, keepdims=True) - mu / 25
        slope_t = (prior**2 - 1).sum(axis=1, keepdims=True) - t
        return value + terms.sum(axis=1), np.hstack([slope_mu, slope_t, data / self.sd - prior / tau])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_marginals(self, outer):
        """Of mu and t (n, 2): the effects are normal given these."""
        mu, t = outer[:, :1], outer[:, 1:]
        prior = stats.norm.logpdf(mu, 0, 5) + stats.norm.logpdf(t)
        data = stats.norm.logpdf(self.y, mu, np.sqrt(np.exp(2 * t) + self.sd**2))
        return prior[:, 0] + data.sum(axis=1)

    def log_evidence(self):
        """By quadrature over t; the rest is normal."""

        t, n = np.linspace(-12, 8, 2001), len(self.y)
        scales = 25 * np.ones((n, n)) + (np.exp(2 * t)[:, None, None] + self.sd**2) * np.eye(n)
        heights = [stats.multivariate_normal.logpdf(self.y, np.zeros(n), each) for each in scales]
        return math.log(np.trapezoid(np.exp(heights + stats.norm.logpdf(t)), t))


@dataclass(frozen=True)
class Counts(Target):
    """Poisson counts with an effect each, N(mu, 1): u = (mu, e...), mu ~ N(0, 1)."""

    y: np.ndarray

    @property
    def dim(self):
        return 1 + len(self.y)

    def log_density_gradients(self, us):
        mu, e = us[:, :1], us[:, 1:]
        terms = self.y * e - np.exp(e) - 0.5 * (e - mu) ** 2
        slopes = self.y - np.exp(e) - (e - mu)
        whole = (e - mu).sum(axis=1, keepdims=True) - mu
        return terms.sum(axis=1) - 0.5 * mu[:, 0] ** 2, np.hstack([whole, slopes])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


@dataclass(frozen=True)
class Pairs(Target):
    """Blocks of two, correlated and not normal, given one scale: u = (t, a..., b...)."""

    n: int

    @property
    def dim(self):
        return 1 + 2 * self.n

    def log_density_gradients(self, us):
        t, a, b = us[:, :1], us[:, 1 : 1 + self.n], us[:, 1 + self.n :]
        terms = -np.exp(-t) * a**2 - t / 2 - (b - a) ** 2 / 2 - np.logaddexp(0, b)
        slope_a = -2 * np.exp(-t) * a + (b - a)
        slope_b = -(b - a) - 1 / (1 + np.exp(-b))
        slope_t = (np.exp(-t) * a**2 - 0.5).sum(axis=1, keepdims=True) - t
        return terms.sum(axis=1) - 0.5 * t[:, 0] ** 2, np.hstack([slope_t, slope_a, slope_b])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


@dataclass(frozen=True)
class Turned(Target):
    """Blocks given one scale, of which turned coordinates are independent: u = (t, a[1], ..., a[n])."""

    per_block: int
    n: int
    counts: bool = True

    @property
    def dim(self):
        return 1 + self.per_block * self.n

    @property
    def y(self):
        return np.arange(self.per_block * self.n).reshape(self.n, self.per_block) % 4

    @cached_property
    def turn(self):
        return stats.ortho_group.rvs(self.per_block, random_state=1)

    def of_each(self, turned, t):
        """Log densities of the turned coordinates (n, g, w), of t (n, 1, 1) too, and their slopes."""
        known = 1.0 + np.arange(self.per_block)
        data = self.y * turned - np.exp(turned) if self.counts else -0.5 * known * (self.y - turned) ** 2
        slope = self.y - np.exp(turned) if self.counts else known * (self.y - turned)
        return data + stats.norm.logpdf(turned, 0, np.exp(t)), slope - turned * np.exp(-2 * t)

    def log_density_gradients(self, us):
        t, a = us[:, :1, None], us[:, 1:].reshape(len(us), self.n, self.per_block)
        terms, slopes = self.of_each(a @ self.turn, t)
        slope_t = ((a**2).sum(axis=(1, 2)) * np.exp(-2 * us[:, 0]) - a[0].size - us[:, 0])[:, None]
        value = terms.sum(axis=(1, 2)) - 0.5 * us[:, 0] ** 2
        return value, np.hstack([slope_t, (slopes @ self.turn.T).reshape(len(us), -1)])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def log_marginals(self, outer):
        """Of t (n, 1), by quadrature over each turned coordinate."""
        x = np.linspace(-20, 20, 8001)
        ts, of_rows = np.unique(outer[:, 0], return_inverse=True)
        found = []
        for t in ts:
            heights, _ = self.of_each(np.broadcast_to(x[:, None, None], (len(x), self.n, self.per_block)), t)
            found.append(np.log(np.trapezoid(np.exp(heights), x, axis=0)).sum() - 0.5 * t**2)
        return np.array(found)[of_rows]


@dataclass(frozen=True)
class Chain(Target):
    """A random walk: every coordinate meets its neighbours."""

    dim: int

    def log_density_gradients(self, us):
        steps = np.diff(us, axis=1)
        gradient = -us.copy()
        gradient[:, 1:] -= steps
        gradient[:, :-1] += steps
        return -0.5 * ((us**2).sum(axis=1) + (steps**2).sum(axis=1)), gradient

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


@dataclass(frozen=True)
class TwoHumps(Groups):
    """Groups whose effects may have either sign: each block has two modes."""

    def log_density_gradients(self, us):
        mirrored = us.copy()
        mirrored[:, 2:] *= -1
        (one, slope), (other, back) = (Groups.log_density_gradients(self, x) for x in (us, mirrored))
        del other, back
        theta = us[:, 2:]
        two = -0.5 * ((self.y + theta) / self.sd) ** 2 + 0.5 * ((self.y - theta) / self.sd) ** 2
        share = 1 / (1 + np.exp(-two))
        slope = slope.copy()
        slope[:, 2:] += share * (-(self.y + theta) - (self.y - theta)) / self.sd**2
        return one + np.logaddexp(0, two).sum(axis=1), slope


Y = np.array([4.0, -1.0, 2.5, 0.3, 6.0, 1.0, -2.0, 3.0])
TARGETS = [Groups(Y), Counts(np.array([0.0, 3, 1, 0, 7, 2])), Pairs(5), TwoHumps(Y), Chain(6)]


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: type(t).__name__)
def test_the_toy_targets_have_their_gradients(target):
    u = rng().normal(size=target.dim)
    _, gradient = target.log_density_gradient(u)
    steps = 1e-6 * np.eye(target.dim)
    differences = (target.log_densities(u + steps) - target.log_densities(u - steps)) / 2e-6
    np.testing.assert_allclose(gradient, differences, atol=1e-5)


# --- Structure -----------------------------------------------------------------------------------


def found(target):
    return structure_of(target, 0.1 * rng().normal(size=target.dim), rng())


def test_effects_of_groups_are_blocks_given_their_mean_and_scale():
    structure = found(Groups(Y))
    assert structure.outer.tolist() == [0, 1] and structure.bandwidth == 0
    assert sorted(structure.latent.tolist()) == list(range(2, 10))


def blocks_in(structure):
    """The coordinates of each component."""
    order = np.lexsort((structure.latent, structure.components))
    ends = np.flatnonzero(np.diff(structure.components[order])) + 1
    return sorted(each.tolist() for each in np.split(structure.latent[order], ends))


def test_what_meets_given_the_rest_is_one_block():
    structure = found(Pairs(12))
    assert structure.outer.tolist() == [0]
    assert blocks_in(structure) == [[k, k + 12] for k in range(1, 13)]


@dataclass(frozen=True)
class Independent(Target):
    """Standard normals."""

    dim: int

    def log_density_gradients(self, us):
        return -0.5 * (us**2).sum(axis=1), -us

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


def test_a_mode_a_thousand_units_away_is_climbed_to():
    """As of data that are not standardised: each whole step lets the next be longer."""
    target = Groups(Y)
    off = np.where(np.arange(target.dim) == 1, 0.0, 1000.0)
    here, far = (
        newton(
            *climbs(
                [
                    Marginal(
                        fields := fields_of(each), np.zeros(2), fields.latent(np.zeros((1, target.dim)))[0]
                    )
                ]
            )
        )
        for each in (target, Scaled(target, -off, np.ones(target.dim)))
    )
    np.testing.assert_allclose(far.marginal.centre, here.marginal.centre + off[:2], atol=0.3)


def test_the_mode_of_one_start_is_the_highest():
    start = Marginal(fields_of(Groups(Y)), np.zeros(2), np.zeros(8))
    peak = newton(*climbs([start]))
    assert highest(peak, []) is highest(peak, [start]) is peak


@dataclass(frozen=True)
class Within(Target):
    """Groups whose observations y (groups, n) have an sd of their own: u = (mu, t, s, theta...)."""

    y: np.ndarray

    @property
    def dim(self):
        return 3 + len(self.y)

    def log_density_gradients(self, us):
        outer, theta = us[:, :3], us[:, 3:]
        between, within = np.exp(-2 * outer[:, 1:2]), np.exp(-2 * outer[:, 2:])
        off, left = theta - outer[:, :1], self.y - theta[..., None]
        squares = np.hstack(
            [between * (off**2).sum(axis=1, keepdims=True), within * (left**2).sum((1, 2))[:, None]]
        )
        sizes, scale = np.array([len(self.y), self.y.size]), np.array([10.0, 1.0, 1.0])
        values = -0.5 * ((outer / scale) ** 2).sum(axis=1) - (0.5 * squares + sizes * outer[:, 1:]).sum(
            axis=1
        )
        slopes = np.hstack([between * off.sum(axis=1, keepdims=True), squares - sizes]) - outer / scale**2
        return values, np.hstack([slopes, within * left.sum(axis=2) - between * off])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def gradients_alone(self, us):
        return self.log_density_gradients(us)[1]


def test_a_climb_that_was_led_too_far_goes_on_with_shorter_steps():
    """Whole steps had let the next be so long that no share of it led up, and the climb ended there."""
    random = np.random.default_rng(5)
    target = Within(random.normal(3, 0.5, 12)[:, None] + 0.2 * random.normal(size=(12, 20)))
    fields = fields_of(target)
    starts = np.array([np.zeros(target.dim), *rng().uniform(-2, 2, (60, target.dim))[[26, 33]]])
    peaks = [
        newton(*climbs([Marginal(fields, start[:3], fields.latent(start[None])[0])])) for start in starts
    ]
    first, *others = (peak.marginal.centre for peak in peaks)
    np.testing.assert_allclose(others, [first] * 2, atol=0.05)


NONE = {"chain": Chain(60), "three groups": Groups(Y[:3]), "independent": Independent(6)}


@pytest.mark.parametrize("target", NONE.values(), ids=NONE)
def test_there_are_no_blocks(target):
    assert found(target) is None


def test_every_pair_of_blocks_has_no_mixed_derivative():
    target, structure = Pairs(12), found(Pairs(12))
    u = rng().normal(size=target.dim)
    steps = 1e-4 * np.eye(target.dim)
    _, ahead = target.log_density_gradients(u + steps)
    _, behind = target.log_density_gradients(u - steps)
    hessian = (ahead - behind) / 2e-4
    blocks = blocks_in(structure)
    for k, one in enumerate(blocks):
        for other in blocks[k + 1 :]:
            assert np.abs(hessian[np.ix_(one, other)]).max() < 1e-6


class Counted(Groups):
    """Counts the points at which gradients are taken."""

    points = 0

    def log_density_gradients(self, us):
        type(self).points += len(us)
        return super().log_density_gradients(us)


def test_many_groups_are_found_by_few_gradients():
    count = 40_000
    target, Counted.points = Counted(rng().normal(size=count)), 0
    structure = found(target)
    assert structure.outer.tolist() == [0, 1] and structure.bandwidth == 0
    assert sorted(structure.latent) == list(range(2, count + 2))
    assert Counted.points < 1000


def test_many_blocks_of_two_are_found():
    assert blocks_in(found(Pairs(3000))) == [[k, k + 3000] for k in range(1, 3001)]


@dataclass(frozen=True)
class Ring(Groups):
    """Groups of which each meets the next as well."""

    def log_density_gradients(self, us):
        value, gradient = super().log_density_gradients(us)
        theta = us[:, 2:]
        steps = theta - np.roll(theta, 1, axis=1)
        gradient[:, 2:] += np.roll(steps, -1, axis=1) - steps
        return value - 0.5 * (steps**2).sum(axis=1), gradient


@pytest.mark.rotate
@pytest.mark.parametrize("count", [4094, 5000])
def test_many_groups_that_meet_their_neighbours_are_one_block(count):
    assert not found(Ring(rng().normal(size=count))).components.any()


# --- The field given the rest ---------------------------------------------------------------------


def fields_of(target):
    return Fields(target, found(target))


@dataclass(frozen=True)
class Uneven(Target):
    """A standard normal m, and about it four pairs, of which one is normal about the other, and four more."""

    dim: int = 13

    def log_density_gradients(self, us):
        m, about = us[:, :1], np.concatenate([np.repeat(us[:, :1], 4, axis=1), us[:, 1:5]], axis=1)
        off = np.concatenate([m, us[:, 1:9] - about, us[:, 9:] - m], axis=1)
        gradient = -off
        gradient[:, 0] += off[:, 1:5].sum(axis=1) + off[:, 9:].sum(axis=1)
        gradient[:, 1:5] += off[:, 5:9]
        return stats.norm.logpdf(off).sum(axis=1), gradient

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


def test_the_marginal_of_normal_blocks_of_unequal_width_is_exact():
    fields = fields_of(Uneven())
    assert fields.structure.outer.tolist() == [0]
    outer = np.array([[0.3], [-2.0]])
    found = fields.modes(outer, np.zeros((2, 12)), MODES.about)
    np.testing.assert_allclose(found.log_marginals, stats.norm.logpdf(outer[:, 0]), rtol=1e-6)


def with_factors(fields, outer, start):
    """Modes and the factors of precisions there."""
    modes, bands = fields.modes_of_part(outer, start, 1e-7)
    return modes.at, fields.factored(bands)


@pytest.mark.parametrize("target", [Counts(np.array([0.0, 3, 1, 0, 7, 2])), Pairs(12), Turned(3, 4)])
def test_slopes_of_the_marginal_are_differences_of_laplaces(target):
    fields = fields_of(target)
    outer = 0.2 * rng().normal(size=(1, len(fields.structure.outer)))
    start = np.zeros((1, len(fields.structure.latent)))

    def log_marginal(point):
        return fields.modes(point[None], start, 1e-7).log_marginals[0]

    found = slopes(fields, outer, *with_factors(fields, outer, start))[0]
    np.testing.assert_allclose(found, numeric_gradient(log_marginal, outer[0], 1e-3), rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("target", [Counts(np.array([0.0, 3, 1, 0, 7, 2])), Pairs(12), Turned(3, 4)])
def test_the_profile_curves_and_its_modes_move_as_differences_say(target):
    fields = fields_of(target)
    outer = 0.2 * rng().normal(size=(2, len(fields.structure.outer)))
    start = np.zeros((2, len(fields.structure.latent)))
    found = profile(fields, outer, *with_factors(fields, outer, start))

    def mode(point):
        return fields.modes(point[None], start[:1], 1e-8)

    def slope(point):
        return numeric_gradient(lambda other: mode(other).values[0], point, 1e-2)

    for point, curvature, moves in zip(outer, *found, strict=True):
        np.testing.assert_allclose(curvature, -numeric_gradient(slope, point, 1e-2), rtol=1e-3, atol=1e-2)
        there = numeric_gradient(lambda other: mode(other).at[0], point, 1e-3)
        np.testing.assert_allclose(moves, there, rtol=1e-3, atol=1e-4)


def test_modes_of_normal_blocks_are_their_means():
    fields = fields_of(Groups(Y))
    outer = np.array([[0.0, 0.0], [3.0, -4.0], [1.0, 2.0]])
    result = fields.modes(outer, np.zeros((3, 8)), MODES.near)
    precision = np.exp(-2 * outer[:, 1:]) + 1
    means = (np.exp(-2 * outer[:, 1:]) * outer[:, :1] + Y[fields.structure.latent - 2]) / precision
    assert result.found.all()
    np.testing.assert_allclose(result.at, means, atol=1e-6)
    factors = fields.factors(outer, result.at)
    np.testing.assert_allclose(factors.bands[:, 0] ** 2, np.broadcast_to(precision, means.shape), rtol=1e-4)
    marginal = [
        stats.norm.logpdf(Y, mu, np.sqrt(1 + np.exp(2 * t))).sum()
        + stats.norm.logpdf(t)
        + stats.norm.logpdf(mu, 0, 5)
        for mu, t in outer
    ]
    np.testing.assert_allclose(result.log_marginals, marginal, atol=1e-3)


def test_modes_far_from_the_start_of_exponential_slopes():
    fields = fields_of(Counts(np.array([0.0, 3, 1, 0, 7, 2])))
    result, again = (
        fields.modes(np.array([[2.0]]), np.full((1, 6), start), MODES.near) for start in (12.0, -12.0)
    )
    assert result.found.all() and again.found.all()
    np.testing.assert_allclose(result.at, again.at, atol=1e-4)


def test_a_search_that_is_not_at_its_end_has_the_value_that_was_seen(monkeypatch):
    """What a step seems to gain may be a power of e far from the mode."""
    monkeypatch.setattr("ppl.methods.nested.field.FIELD_MODES", FIELD_MODES._replace(most_steps=1))
    fields, outer = fields_of(Counts(np.array([0.0, 3, 1, 0, 7, 2]))), np.array([[2.0]])
    start = np.full((1, 6), 6.0)
    found = fields.modes(outer, start, MODES.near)
    assert not found.found[0] and found.values[0] == fields.values(outer, start)[0]


@dataclass(frozen=True)
class LatentPairs(Target):
    """Of u = (b, t, x..., y...): b, t and x standard normal, y of Student's t with 5 degrees about b x, of
    scale exp(t). None is seen, so that b and t are standard normal in the posterior too.
    """

    pairs: int = 4

    @property
    def dim(self):
        return 2 + 2 * self.pairs

    def log_density_gradients(self, us):
        (b, t), (x, y) = np.split(us[:, :2], 2, axis=1), np.split(us[:, 2:], 2, axis=1)
        r = (y - b * x) / np.exp(t)
        fall = -6 * r / (5 + r**2)
        by_y = fall / np.exp(t)
        by_b = (-x * by_y).sum(axis=1, keepdims=True) - b
        by_t = (-1 - r * fall).sum(axis=1, keepdims=True) - t
        terms = stats.norm.logpdf(x) + stats.t.logpdf(r, 5) - t
        value = stats.norm.logpdf(us[:, :2]).sum(axis=1) + terms.sum(axis=1)
        return value, np.concatenate([by_b, by_t, -b * by_y - x, by_y], axis=1)

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


@pytest.mark.rotate
def test_pairs_of_heavy_tails_that_turn_with_the_outer_coordinates_are_drawn_where_they_are():
    results = [fit(LatentPairs(12), Settings(seed=seed)) for seed in (1, 2, 3)]
    assert {result.verdict.level for result in results} <= {"good", "usable"}
    draws = np.concatenate([result.draws_u[:, :2] for result in results])  # of one seed a mean is 0.05 off
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=0.15)
    np.testing.assert_allclose(draws.std(axis=0), 1.0, atol=0.12)


@pytest.mark.parametrize("width", [4, 5, 6])
def test_wide_blocks_are_found(width):
    structure = found(Turned(width, 9, counts=False))
    assert structure.outer.tolist() == [0]
    assert blocks_in(structure) == (1 + np.arange(9 * width).reshape(9, width)).tolist()


def given(target, outer):
    """The field, and draws of it."""
    fields, about = fields_of(target), spread_of(np.linspace(-2.0, 0.5, 40)[:, None])
    start = np.zeros((len(outer), len(fields.structure.latent)))
    return fields, field_draws(fields, about, outer, start, rng())


@pytest.mark.parametrize("counts", [False, True])
def test_a_field_is_told_to_be_normal_or_not(counts):
    target = Turned(4, 9, counts=counts)
    assert structure_of(target, np.zeros(target.dim), rng()).is_normal is not counts


@pytest.mark.parametrize("width", [1, 4, 6])
def test_draws_of_normal_blocks_are_exact(width):
    target, outer = Turned(width, 9, counts=False), np.repeat([[0.3], [-2.0], [-1.0]], 20, axis=0)
    fields, own = given(target, outer)
    drawn = own.draws(outer, np.full(len(outer), -np.inf), rng())
    off = fields.values(outer, drawn.latent) - drawn.log_q - target.log_marginals(outer)
    assert np.isfinite(drawn.log_p).all() and own.tries == 1
    np.testing.assert_allclose(off, 0.0, atol=1e-5)


@pytest.mark.rotate
@pytest.mark.parametrize("width", [1, 4, 5])
def test_weights_of_draws_of_blocks_are_their_marginal(width):
    target, outer = Turned(width, 9), np.repeat([[0.0], [-1.0]], 300, axis=0)
    fields, own = given(target, outer)
    drawn = own.draws(outer, np.full(len(outer), -np.inf), rng())
    off = fields.values(outer, drawn.latent) - drawn.log_q - target.log_marginals(outer)
    assert np.isfinite(drawn.log_p).all() and np.std(off) < 0.35
    for half in (off[:300], off[300:]):
        assert special.logsumexp(half) - math.log(300) == pytest.approx(0.0, abs=0.12)


def test_no_draw_is_made_where_the_marginal_is_below_what_counts():
    target, outer = Turned(1, 9, counts=False), np.linspace(-2.0, 0.5, 40)[:, None]
    marginals, (_, own) = target.log_marginals(outer), given(target, outer)
    some = own.draws(outer, np.full(40, np.median(marginals)), rng())
    np.testing.assert_array_equal(np.isfinite(some.log_p), marginals > np.median(marginals))
    assert not np.isfinite(own.draws(outer, np.full(40, np.inf), rng()).log_p).any()


# --- The recipe ----------------------------------------------------------------------------------


def test_auto_integrates_effects_of_groups_out():
    target = Groups(Y)
    result = fit(target, Settings(seed=3))
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level == "good"
    assert result.final_elbo == pytest.approx(target.log_evidence(), abs=5 * result.final_elbo_se + 1e-3)
    np.testing.assert_allclose(result.log_p, target.log_densities(result.draws_u))


def test_more_draws_begin_at_a_mode_that_was_come_to_from_elsewhere(monkeypatch):
    monkeypatch.setattr("ppl.methods.recipes.fields.highest", lambda first, others: first._replace())
    target = Groups(Y)
    start = fit(target, Settings(seed=1, algorithm="nested")).path.start
    mu, t = np.meshgrid(np.linspace(-8, 8, 161), np.linspace(-5, 3, 161))
    best = target.log_marginals(np.stack([mu.ravel(), t.ravel()], axis=1)).max()
    assert target.log_marginals(start[None, :2])[0] == pytest.approx(best, abs=0.02)


def test_draws_have_the_posterior_mean_and_sd():
    result = fit(Groups(Y), Settings(seed=1, draws=4000))
    t = np.linspace(-9, 5, 1401)
    n, marginal, mean, square = len(Y), [], [], []
    for each in t:
        v = math.exp(2 * each) + 1
        precision = n / v + 1 / 25
        at = Y.sum() / v / precision
        covariance = 25 * np.ones((n, n)) + v * np.eye(n)
        marginal.append(
            stats.multivariate_normal.logpdf(Y, np.zeros(n), covariance) + stats.norm.logpdf(each)
        )
        mean.append(at)
        square.append(at**2 + 1 / precision)
    weights = np.exp(np.array(marginal) - max(marginal))
    weights /= weights.sum()
    mu = weights @ mean
    sd = math.sqrt(weights @ square - mu**2)
    t_mean = weights @ t
    t_sd = math.sqrt(weights @ (t - t_mean) ** 2)
    assert result.draws_u[:, 0].mean() == pytest.approx(mu, abs=0.08 * sd)
    assert result.draws_u[:, 0].std() == pytest.approx(sd, rel=0.08)
    assert result.draws_u[:, 1].mean() == pytest.approx(t_mean, abs=0.08 * t_sd)
    assert result.draws_u[:, 1].std() == pytest.approx(t_sd, rel=0.08)


def test_the_same_seed_gives_the_same_draws():
    one, two = (fit(Counts(np.arange(6.0)), Settings(seed=5, algorithm="nested")) for _ in range(2))
    np.testing.assert_array_equal(one.draws_u, two.draws_u)


@pytest.mark.parametrize("target", [Chain(60), TwoHumps(Y)], ids=["chain", "two humps"])
def test_by_name_it_says_why_it_does_not_apply(target):
    with pytest.raises(InferenceError, match=r"'nested' does not apply to this program: .*(graph|modes)"):
        fit(target, Settings(algorithm="nested"))


@pytest.mark.rotate
def test_draws_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr("ppl.memory.limits", lambda: iter([1 << 20]))
    with pytest.raises(
        InferenceError, match="draws of the latent variables of 2 x 2048 x 5002 numbers needs"
    ):
        fit(Groups(rng().normal(size=5000)), Settings(algorithm="nested"))


def test_auto_goes_another_way_where_it_does_not_apply():
    assert fit(Chain(60), Settings(seed=1)).verdict.made is not DrawSource.NESTED


@pytest.mark.parametrize(
    "asked", [{"move": True}, {"resample": True}, {"correct": False}, {"noise": "student_t"}]
)
def test_auto_does_what_was_asked_for(asked):
    assert fit(Groups(Y), Settings(seed=1, draws=100, **asked)).verdict.made is not DrawSource.NESTED


def test_draws_are_not_moved_where_that_is_switched_off():
    made = {move: fit(Groups(Y), Settings(algorithm="nested", move=move)).verdict for move in (None, False)}
    assert made[None].moved is not None and made[False].moved is None


def test_ctrl_c_while_draws_are_moved_is_told():
    def listen(report: Progress) -> None:
        if report.phase == "HMC moves":
            raise KeyboardInterrupt

    result = fit(Groups(Y), Settings(seed=1), progress=listen)
    assert result.outcome.ending is Ending.INTERRUPTED and len(result.draws_u) == 1000


def test_ctrl_c_leaves_a_few_draws():
    def listen(report: Progress) -> None:
        if report.phase == "latent variables" and report.iteration == 1:
            raise KeyboardInterrupt

    result = fit(Groups(Y), Settings(seed=1), progress=listen)
    assert result.outcome.ending is Ending.INTERRUPTED
    assert len(result.draws_u) and result.verdict.level == "poor"


def test_draws_of_several_mixtures_are_weighted_as_those_of_one():
    """The second mixture leaves out half of a normal, of which the first has few draws."""
    generator = rng()

    def a_round(mean, sd, n):
        mixture = StudentTs(Gaussian(np.array([mean]), np.array([[sd]])), 4.0)
        u = mixture.draws(n, generator)
        return Round(
            mixture, u, stats.norm.logpdf(u[:, 0]) + 3.0, np.zeros(n), np.zeros(n), np.zeros(n, dtype=bool)
        )

    wide, left = a_round(0.0, 3.0, 2000), a_round(-1.0, 0.4, 2000)
    found, alone = together([wide, left], np.array([0])), together([left], np.array([0]))
    weights = np.exp(found.weights.log_weights)
    assert found.weights.khat < 0.5 < alone.weights.khat
    assert np.log(np.mean(np.exp(found.log_ratios))) == pytest.approx(3.0, abs=0.05)
    u = np.concatenate(found.parts)[:, 0]
    assert weights @ u == pytest.approx(0.0, abs=0.1)
    assert weights @ u**2 == pytest.approx(1.0, abs=0.1)


class RareCounts(Target):
    """Poisson counts with an effect each, N(mu, exp(t)), nearly all zero: exp(t) may be next to nothing."""

    y = np.array([0.0] * 50 + [1.0] * 8 + [2.0, 3.0])
    dim = 62

    def log_density_gradients(self, us):
        mu, t, e = us[:, :1], us[:, 1:2], us[:, 2:]
        s, rates = np.exp(t), np.exp(np.minimum(e, 300.0))
        off = (e - mu) / s
        value = (self.y * e - rates - 0.5 * off**2 - t).sum(axis=1)
        value += (-0.5 * mu**2 / 9 - 0.5 * s**2 / 4 + t)[:, 0]
        slope_mu = (off / s).sum(axis=1, keepdims=True) - mu / 9
        slope_t = (off**2 - 1).sum(axis=1, keepdims=True) - s**2 / 4 + 1
        return value, np.hstack([slope_mu, slope_t, self.y - rates - off / s])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]


@pytest.mark.parametrize("excess", [0.0, 20.0])
@pytest.mark.parametrize("known", [200, 50, 10])
def test_missing_draws_are_weighed_as_laplace_is_wrong_about_the_others(excess, known):
    """Of some draws Laplace's approximation is not known."""
    log_p, n = np.where(np.arange(200) < 10, -np.inf, 0.0), 200
    rough = np.where(np.arange(n) < known, excess if known > 10 else 0.0, np.nan)
    found = WeightedPoints((np.zeros((n, 1)),), log_p, np.zeros(n), rough, np.zeros(n, bool), psis(log_p))
    np.testing.assert_allclose(found.lost, 0.05)


def test_all_is_lost_where_no_draw_could_be_made():
    none, rough = np.full(200, -np.inf), np.zeros(200)
    for about in (rough, np.full(200, np.nan)):
        assert WeightedPoints((rough[:, None],), none, rough, about, rough > 0, psis(none)).lost == 1


def test_points_of_positive_weight_are_those_of_all_parts():
    parts = np.arange(6.0).reshape(3, 2), np.arange(6.0, 10.0).reshape(2, 2)
    log_p = np.array([0.0, -np.inf, 0.0, -np.inf, 0.0])
    found = WeightedPoints(parts, log_p, np.zeros(5), log_p, np.zeros(5, bool), psis(log_p))
    u, positive = found.points_with_weight()
    np.testing.assert_array_equal(u, np.concatenate(parts)[[0, 2, 4]])
    np.testing.assert_array_equal(positive, [True, False, True, False, True])


@pytest.mark.rotate
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_draws_cover_the_tail_where_a_scale_is_next_to_nothing(seed):
    """With one seed of three the weights are uneven, and chains begin at the draws."""
    result = fit(RareCounts(), Settings(seed=seed))
    assert "integrated out" in result.outcome.reason and result.verdict.level in ("good", "usable")
    mu = result.draws_u[:, 0]
    assert (mu.mean(), mu.std()) == (
        pytest.approx(-2.197, abs=0.06),
        pytest.approx(0.598, abs=0.06),
    )  # by quadrature


@pytest.mark.rotate
def test_effects_whose_density_ends_abruptly_far_within_the_sds_of_their_modes():
    target = RareCounts()
    target.y = np.array([0.0] * 56 + [1.0, 1.0, 2.0, 3.0])
    result = fit(target, Settings(seed=1))
    assert result.verdict.level == "good"
    assert result.draws_u[:, 0].mean() == pytest.approx(-4.02, abs=0.2)  # 8,000 draws of NUTS, sd 1.09


@dataclass(frozen=True)
class BinaryPairs(Target):
    """Two binary outcomes a group with an effect exp(t) z each: Laplace's marginal has mass at large t."""

    successes: np.ndarray

    @property
    def dim(self):
        return 2 + len(self.successes)

    def log_density_gradients(self, us):
        mu, t, z = us[:, :1], us[:, 1:2], us[:, 2:]
        s = np.exp(np.minimum(t, 300.0))
        eta = mu + s * z
        value = (self.successes * eta - 2 * np.logaddexp(0, eta) - 0.5 * z**2).sum(axis=1)
        value += (-0.5 * mu**2 / 9 - 0.5 * s**2 / 25 + t)[:, 0]
        off = self.successes - 2 * special.expit(eta)
        slope_mu = off.sum(axis=1, keepdims=True) - mu / 9
        slope_t = (off * s * z).sum(axis=1, keepdims=True) - s**2 / 25 + 1
        return value, np.hstack([slope_mu, slope_t, off * s - z])

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def moments_of_log_scale(self):
        """By quadrature over mu, t and each effect."""
        mus, ts, z = np.linspace(-6, 6, 61), np.linspace(-3, 4, 71), np.linspace(-8, 8, 401)
        heights = np.zeros((61, 71))
        for number, groups in zip(*np.unique(self.successes, return_counts=True), strict=True):
            eta = mus[:, None, None] + np.exp(ts)[:, None] * z
            each = number * eta - 2 * np.logaddexp(0, eta) - 0.5 * z**2
            heights += groups * special.logsumexp(each, axis=-1)
        heights += -0.5 * mus[:, None] ** 2 / 9 - 0.5 * np.exp(2 * ts) / 25 + ts
        shares = np.exp(heights - special.logsumexp(heights)).sum(axis=0)
        mean = shares @ ts
        return mean, math.sqrt(shares @ (ts - mean) ** 2)


@pytest.mark.rotate
@pytest.mark.parametrize("made", [DrawSource.MOVED, DrawSource.NESTED], ids=["chains", "quadrature"])
def test_draws_are_right_where_laplace_is_wrong_about_the_marginal(made, monkeypatch):
    """By chains where nothing else does, and by quadrature: chains of one seed are worth 500 draws."""
    if made is DrawSource.MOVED:
        monkeypatch.setattr(fields, "goes_by_quadrature", lambda field: False)
    target = BinaryPairs(np.array([0.0] * 17 + [1.0] * 12 + [2.0] * 11))
    results = [fit(target, Settings(seed=seed)) for seed in (2, 3)]
    assert all(each.verdict.made is made and each.verdict.level == "good" for each in results)
    mean, sd = target.moments_of_log_scale()
    log_scale = np.concatenate([each.draws_u[:, 1] for each in results])
    assert log_scale.mean() == pytest.approx(mean, abs=0.1 * sd)
    assert log_scale.std() == pytest.approx(sd, rel=0.1)


def test_draws_with_uneven_weights_are_where_chains_begin(monkeypatch):
    monkeypatch.setattr(fields, "is_reliable", lambda weights: False)
    target = Groups(Y)
    result = fit(target, Settings(seed=3))
    assert result.verdict.made is DrawSource.MOVED and result.verdict.level is Level.GOOD
    assert "integrated out" in result.outcome.reason
    with pytest.raises(Refused, match="too uneven"):
        by_field(target, 2.0, Context.of(Settings(seed=3, move=False)))


def test_no_mode_is_looked_for_where_draws_of_many_outer_coordinates_would_be_dear(monkeypatch):
    """Abilities by 12 answers are far from normal; the 24 coordinates of the items have no mixture."""
    rng, persons, items = np.random.default_rng(3), 60, 12
    slopes, places, abilities = (
        rng.lognormal(0.3, 0.4, items),
        rng.normal(0, 1, items),
        rng.normal(0, 1, persons),
    )
    answers = rng.random((persons, items)) < 1 / (1 + np.exp(places - slopes * abilities[:, None]))
    program = """data { int J; int I; array[J, I] int<lower=0, upper=1> y; }
parameters { vector<lower=0>[I] a; vector[I] b; vector[J] theta; }
model {
  a ~ lognormal(0, 1); b ~ normal(0, 2); theta ~ std_normal();
  for (i in 1:I) y[:, i] ~ bernoulli_logit(a[i] * theta - b[i]);
}"""
    data = {"J": persons, "I": items, "y": answers.astype(int)}
    target = PosteriorTarget(ppl.compile_model(program).condition(data))
    monkeypatch.setattr(fields, "climbs", lambda marginals: pytest.fail("a mode was looked for"))
    u = np.concatenate([np.log(slopes), places, abilities])
    with pytest.raises(Refused, match="more gradients"):
        by_field(target, 2.0, Context.of(Settings()), near=lambda: u)


def test_ctrl_c_in_the_search_for_a_start_ends_the_way_by_latent_variables_too(monkeypatch):
    def interrupted_start(target, family, init, context):
        return replace(at_random(target, family, np.zeros(target.dim)), outcome=interrupted("at the start"))

    monkeypatch.setattr(advi, "initialise", interrupted_start)
    monkeypatch.setattr(advi, "by_field", lambda *given: given[-1]())
    result = fit(Groups(Y), Settings(seed=3))
    assert result.outcome.ending is Ending.INTERRUPTED and not result.path.nested


@pytest.mark.parametrize("side", [-1, 1])
def test_weights_that_are_uneven_in_a_tail_of_an_outer_coordinate_are_seen(side):
    """There one draw of fifty has all weight; the rough weights are those of the outer coordinates alone."""
    outer = rng().standard_normal((20_000, 2))
    even, rough = np.zeros(20_000), np.zeros(20_000)
    heavy = np.where(rng().random(20_000) < 0.02, np.log(50), -10.0)
    uneven = np.where(side * outer[:, 1] > 1.5, heavy, 0.0)
    none = np.zeros(20_000, dtype=bool)
    for log_p, expected in ((even, 0.0), (uneven, 49.0)):
        found = WeightedPoints((outer,), log_p, np.zeros(20_000), rough, none, psis(log_p))
        assert found.excess_in_tails(np.array([0, 1])) == pytest.approx(expected, rel=0.4, abs=1e-9)
        assert found.excess_in_tails(np.array([0])) < 8


def test_the_steps_of_a_walk_are_a_field_where_they_are_normal_given_its_scales():
    """Of 80 steps that all meet: chains would take 100,000 gradients."""
    program = """data { int T; vector[T] y; }
parameters { vector[T] z; real<lower=0> step; real<lower=0> sigma; }
transformed parameters { vector[T] level; level[1] = z[1];
  for (t in 2:T) level[t] = level[t - 1] + step * z[t]; }
model { z ~ std_normal(); step ~ normal(0, 1); sigma ~ normal(0, 1); y ~ normal(level, sigma); }"""
    y = np.cumsum(0.4 * rng().standard_normal(80)) + 0.5 * rng().standard_normal(80)
    posterior = ppl.compile_model(program).condition({"T": 80, "y": y})
    result = posterior.variational(seed=1, draws=400).result
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level is Level.GOOD


def test_a_tail_in_which_no_gaussian_of_the_others_reaches_has_its_share_of_draws():
    """Eight games of four players: abilities are skewed where their sd is large. The place is the 95% point
    by ten million draws of the prior and their likelihoods; 3.5% of draws by weights are beyond it.
    """
    program = """data { int G; array[G] int i; array[G] int j; array[G] int y; }
parameters { vector[4] th; real h; real<lower=0> s; }
model { th ~ normal(0, s); s ~ student_t(3, 0, 2.5); h ~ normal(0, 1);
  y ~ bernoulli_logit(h + th[i] - th[j]); }"""
    games = {"i": [2, 3, 4, 4, 1, 1, 4, 4], "j": [3, 4, 3, 2, 2, 4, 1, 2], "y": [0, 1, 1, 1, 0, 0, 1, 1]}
    posterior = ppl.compile_model(program).condition({"G": 8, **games})
    s = np.concatenate([posterior.variational(seed=seed).stan_variable("s") for seed in (1, 2)])
    assert (s > 7.03).mean() == pytest.approx(0.05, abs=0.009)


TWO_FACTORS = """
data { int N; matrix[N, 6] y; }
parameters {
  vector[N] f; vector[N] z; vector[2] a; vector[2] c; real b;
  real<lower=0> s; real<lower=0> r; vector<lower=0>[6] e;
}
transformed parameters { vector[N] g = b * f + r * z; }
model {
  f ~ normal(0, s); z ~ std_normal(); a ~ normal(1, 0.5); c ~ normal(1, 0.5);
  b ~ std_normal(); s ~ std_normal(); r ~ std_normal(); e ~ std_normal();
  y[, 1] ~ normal(f, e[1]); y[, 2] ~ normal(a[1] * f, e[2]); y[, 3] ~ normal(a[2] * f, e[3]);
  y[, 4] ~ normal(g, e[4]); y[, 5] ~ normal(c[1] * g, e[5]); y[, 6] ~ normal(c[2] * g, e[6]);
}
"""


def two_factors(n):
    generator = rng()
    f = generator.standard_normal(n)
    g = 0.6 * f + 0.8 * generator.standard_normal(n)
    means = np.stack([f, 0.8 * f, 1.2 * f, g, 0.7 * g, 1.1 * g], axis=1)
    return {"N": n, "y": means + 0.6 * generator.standard_normal((n, 6))}


@pytest.mark.parametrize("seed", [1, 4])
def test_a_structural_equation_model_whose_loadings_have_modes_of_other_signs(seed):
    """Some climbs end a hundred nats below the mode, or do not end; variances near 0 skew the others."""
    found = ppl.compile_model(TWO_FACTORS).condition(two_factors(80)).variational(seed=seed)
    assert found.verdict.made is DrawSource.NESTED and found.verdict.level is Level.GOOD
    assert found["b"].mean() == pytest.approx(0.540, abs=0.02)  # 20,000 draws of NUTS, sd 0.12
