"""Latent variables in blocks: what is found of a target, its blocks given the rest, and weighted draws."""

import math
from functools import cached_property

import numpy as np
import pytest
from scipy import special, stats
from toy_targets import numeric_gradient

from ppl.errors import InferenceError
from ppl.kernel.advi import target
from ppl.kernel.advi.coordinates import Scaled
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.outcome import Ending, Progress
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.diagnose.level import Level
from ppl.methods.diagnose.psis import psis
from ppl.methods.nested.adjacency import Graph
from ppl.methods.nested.block_draws import BLOCK_TRENDS, BlockDraws, with_trends
from ppl.methods.nested.blocks import BLOCK_MODES, Blocks, cholesky, modes, repaired_factors
from ppl.methods.nested.conditional import (
    CONDITIONAL,
    conditional,
    ends_of,
    far_off,
    fitted,
    normal_totals,
    shape_of,
)
from ppl.methods.nested.graph import GRAPH
from ppl.methods.nested.marginal import Marginal, climb
from ppl.methods.nested.polynomials import Polynomials
from ppl.methods.nested.slopes import slopes
from ppl.methods.nested.structure import STRUCTURE, Structure, is_dense, structure_of
from ppl.methods.nested.structure import blocks_of as blocks_in
from ppl.methods.nested.student_ts import StudentTs
from ppl.methods.nested.weighted_draws import Round, WeightedPoints, together
from ppl.methods.recipes import blocks, fit
from ppl.methods.recipes.nested import by_blocks
from ppl.methods.recipes.refusals import Refused
from ppl.methods.run.context import Context
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, replace


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
    assert structure.outer.tolist() == [0, 1]
    assert sorted(structure.blocks.ravel().tolist()) == list(range(2, 10))


def test_what_meets_given_the_rest_is_one_block():
    structure = found(Pairs(5))
    assert structure.outer.tolist() == [0]
    assert sorted(sorted(block) for block in structure.blocks.tolist()) == [[k, k + 5] for k in range(1, 6)]


@dataclass(frozen=True)
class TwoLevels(Groups):
    """Groups, and a walk of two steps from mu."""

    @property
    def dim(self):
        return 4 + len(self.y)

    def log_density_gradients(self, us):
        value, gradient = super().log_density_gradients(us[:, :-2])
        first, second = us[:, 0] - us[:, -2], us[:, -2] - us[:, -1]
        gradient[:, 0] -= first
        return value - 0.5 * (first**2 + second**2), np.column_stack([gradient, first - second, second])


@pytest.mark.parametrize("groups", [8, 200])
def test_a_single_block_of_two_makes_no_block_wider(groups):
    """One of its coordinates is outer: at width two each of all the others would take three times as long."""
    structure = found(TwoLevels(rng().normal(size=groups)))
    assert structure.blocks.shape == (groups + 1, 1) and len(structure.outer) == 3


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
        climb(Marginal(blocks := blocks_of(each), np.zeros(2), blocks.latent(np.zeros((1, target.dim)))[0]))
        for each in (target, Scaled(target, -off, np.ones(target.dim)))
    )
    np.testing.assert_allclose(far.marginal.centre, here.marginal.centre + off[:2], atol=0.3)


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
    blocks = blocks_of(target)
    starts = np.array([np.zeros(target.dim), *rng().uniform(-2, 2, (60, target.dim))[[26, 33]]])
    peaks = [climb(Marginal(blocks, start[:3], blocks.latent(start[None])[0])) for start in starts]
    first, *others = (peak.marginal.centre for peak in peaks)
    np.testing.assert_allclose(others, [first] * 2, atol=0.05)


NONE = {"chain": Chain(60), "three groups": Groups(Y[:3]), "independent": Independent(6)}


@pytest.mark.parametrize("target", NONE.values(), ids=NONE)
def test_there_are_no_blocks(target):
    assert found(target) is None


def test_every_pair_of_blocks_has_no_mixed_derivative():
    target, structure = Pairs(5), found(Pairs(5))
    u = rng().normal(size=target.dim)
    steps = 1e-4 * np.eye(target.dim)
    _, ahead = target.log_density_gradients(u + steps)
    _, behind = target.log_density_gradients(u - steps)
    hessian = (ahead - behind) / 2e-4
    for k, one in enumerate(structure.blocks):
        for other in structure.blocks[k + 1 :]:
            assert np.abs(hessian[np.ix_(one, other)]).max() < 1e-6


class Counted(Groups):
    """Counts the points at which gradients are taken."""

    points = 0

    def log_density_gradients(self, us):
        type(self).points += len(us)
        return super().log_density_gradients(us)


@pytest.mark.parametrize("count", [200, 40_000])
def test_blocks_of_many_groups_are_found_by_a_gradient_for_each_bit_of_their_number(count):
    target, Counted.points = Counted(rng().normal(size=count)), 0
    structure = found(target)
    assert structure.outer.tolist() == [0, 1] and structure.blocks.shape == (count, 1)
    assert sorted(structure.blocks.ravel()) == list(range(2, count + 2))
    assert Counted.points <= GRAPH.probes + 2 * math.log2(count) + 10


def test_many_blocks_of_two_are_found_by_few_gradients():
    blocks = found(Pairs(3000)).blocks
    assert (np.diff(blocks[np.argsort(blocks[:, 0])], axis=1) == 3000).all() and blocks.shape == (3000, 2)
    assert (np.sort(blocks[:, 0]) == np.arange(1, 3001)).all()


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
def test_no_blocks_are_claimed_of_many_groups_that_meet_their_neighbours(count):
    assert not isinstance(found(Ring(rng().normal(size=count))), Structure)


# --- Blocks given the rest -----------------------------------------------------------------------


def blocks_of(target):
    return Blocks(target, found(target))


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
    blocks = blocks_of(Uneven())
    assert blocks.structure.outer.tolist() == [0] and blocks.structure.blocks.shape == (8, 2)
    outer = np.array([[0.3], [-2.0]])
    found = blocks.modes(outer, np.zeros((2, 8, 2)), BLOCK_MODES.about)
    np.testing.assert_allclose(found.log_marginals, stats.norm.logpdf(outer[:, 0]), rtol=1e-6)


@pytest.mark.parametrize("target", [Counts(np.array([0.0, 3, 1, 0, 7, 2])), Pairs(5), Turned(3, 4)])
def test_slopes_of_the_marginal_are_differences_of_laplaces(target):
    blocks = blocks_of(target)
    outer = 0.2 * rng().normal(size=(1, len(blocks.structure.outer)))
    start = np.zeros((1, *blocks.structure.blocks.shape))

    def log_marginal(point):
        return blocks.modes(point[None], start, 1e-7).log_marginals[0]

    found = slopes(blocks, outer, blocks.modes(outer, start, 1e-7))[0]
    np.testing.assert_allclose(found, numeric_gradient(log_marginal, outer[0], 1e-3), rtol=2e-4, atol=2e-4)


def test_modes_of_normal_blocks_are_their_means():
    blocks = blocks_of(Groups(Y))
    outer = np.array([[0.0, 0.0], [3.0, -4.0], [1.0, 2.0]])
    order = blocks.structure.blocks[:, 0] - 2
    result = blocks.modes(outer, np.zeros((3, 8, 1)), BLOCK_MODES.near)
    precision = np.exp(-2 * outer[:, 1:]) + 1
    means = (np.exp(-2 * outer[:, 1:]) * outer[:, :1] + Y[order]) / precision
    assert result.found.all()
    np.testing.assert_allclose(result.at[..., 0], means, atol=1e-6)
    np.testing.assert_allclose(
        result.factors[..., 0, 0] ** 2, np.broadcast_to(precision, means.shape), rtol=1e-4
    )
    marginal = [
        stats.norm.logpdf(Y, mu, np.sqrt(1 + np.exp(2 * t))).sum()
        + stats.norm.logpdf(t)
        + stats.norm.logpdf(mu, 0, 5)
        for mu, t in outer
    ]
    np.testing.assert_allclose(result.log_marginals, marginal, atol=1e-3)


def test_modes_far_from_the_start_of_exponential_slopes():
    blocks = blocks_of(Counts(np.array([0.0, 3, 1, 0, 7, 2])))
    result = blocks.modes(np.array([[2.0]]), np.full((1, 6, 1), 12.0), BLOCK_MODES.near)
    again = blocks.modes(np.array([[2.0]]), np.full((1, 6, 1), -12.0), BLOCK_MODES.near)
    assert result.found.all() and again.found.all()
    np.testing.assert_allclose(result.at, again.at, atol=1e-4)


def test_a_search_that_is_not_at_its_end_has_the_value_that_was_seen():
    """What a step seems to gain may be a power of e far from the mode."""
    blocks, outer = blocks_of(Counts(np.array([0.0, 3, 1, 0, 7, 2]))), np.array([[2.0]])
    start = np.full((1, 6, 1), 6.0)
    found = modes(blocks, outer, start, BLOCK_MODES.near, np.full(1, -np.inf), 1)
    assert not found.found[0] and found.values[0] == blocks.values_and_gradients(outer, start)[0][0]


def test_a_point_that_may_count_for_nothing_gets_fewer_steps():
    blocks = blocks_of(Counts(np.array([0.0, 3, 1, 0, 7, 2])))
    outer, least = np.array([[2.0]]), np.array([-1e300])
    far = np.full((1, 6, 1), BLOCK_MODES.most_steps_far + 5.0)  # beyond 7 each step comes back by one
    assert blocks.modes(outer, far, BLOCK_MODES.near).found.all()
    assert not blocks.modes(outer, far, BLOCK_MODES.near, least).found.any()
    assert blocks.modes(outer, np.full((1, 6, 1), 3.0), BLOCK_MODES.near, least).found.all()


@pytest.mark.parametrize(("width", "degree"), [(1, 6), (2, 4), (3, 4)])
def test_polynomials_are_had_again_from_their_gradients(width, degree):
    basis = Polynomials.of(width, degree)
    coefficients = rng().normal(size=len(basis.powers))
    h = 1e-5
    slopes = np.stack(
        [
            (basis.values(basis.nodes + h * unit) - basis.values(basis.nodes - h * unit))
            @ coefficients
            / (2 * h)
            for unit in np.eye(width)
        ],
        axis=-1,
    )
    np.testing.assert_allclose(basis.solver @ slopes.ravel(), coefficients, atol=1e-4)


@pytest.mark.parametrize(("width", "off"), [(1, 3e-5), (2, 3e-5), (3, 3e-5), (4, 2e-3), (5, 2e-3), (6, 2e-2)])
def test_the_rule_integrates_a_normal(width, off):
    basis = Polynomials.of(width, 3)
    total = np.log(np.exp(basis.log_cells - 0.5 * (basis.grid**2).sum(axis=1)).sum())
    inside = stats.chi2.logcdf(basis.radius**2, width)
    assert total == pytest.approx(width / 2 * math.log(2 * math.pi) + inside, abs=off)


@pytest.mark.parametrize("width", [2, 4, 6])
def test_quadratic_polynomials_are_those_of_normals(width):
    basis, factor = Polynomials.of(width, 2), np.tril(np.eye(width) + 0.1)
    precision, mean = factor @ factor.T, np.linspace(-0.5, 0.5, width)
    slopes = (basis.nodes - mean) @ -precision
    totals = normal_totals(basis, (basis.solver @ slopes.ravel())[None, None])
    np.testing.assert_allclose(totals.means[0, 0], mean, atol=1e-12)
    np.testing.assert_allclose(totals.factors[0, 0], np.linalg.cholesky(np.linalg.inv(precision)), atol=1e-12)
    log_p = stats.multivariate_normal(mean, np.linalg.inv(precision)).logpdf
    assert totals.log_totals[0, 0] == pytest.approx(-log_p(np.zeros(width)), abs=1e-12)


def test_factors_are_those_of_lapack_and_nan_where_there_are_none():
    halves = rng().normal(size=(7, 3, 4, 6))
    matrices = halves @ halves.swapaxes(-1, -2)
    np.testing.assert_allclose(cholesky(matrices), np.linalg.cholesky(matrices), rtol=1e-12, atol=1e-12)
    matrices[2, 1] = -np.eye(4)
    matrices[4, 0] = 1e300 * np.array([[1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, np.nan, 1], [0, 0, 1, -1]])
    with np.errstate(invalid="ignore"):
        factors, positive = repaired_factors(matrices)
    assert positive.tolist() == [True, True, False, True, False, True, True] and np.isfinite(factors).all()
    np.testing.assert_allclose(factors[2, 1], np.eye(4))


def given(target, outer):
    blocks = blocks_of(target)
    start = np.zeros((len(outer), *blocks.structure.blocks.shape))
    at = blocks.modes(outer, start, BLOCK_MODES.near)
    return blocks, conditional(blocks, outer, at, shape_of(blocks, outer, at))


def test_densities_of_blocks_are_normalised():
    counts = np.array([0.0, 3, 1, 0, 7, 2])
    outer = np.array([[0.5], [-1.0]])
    blocks, placed = given(Counts(counts), outer)
    made = fitted(blocks, outer, placed.centres, placed.scales, Polynomials.of(1, 10))
    order = blocks.structure.blocks[:, 0] - 1
    for row, mu in enumerate((0.5, -1.0)):
        for g, y in enumerate(counts[order]):
            e, centre = np.linspace(-12, 9, 4001), made.centres[row, g, 0]
            heights = (
                y * (e - centre) - np.exp(e) + np.exp(centre) - 0.5 * (e - mu) ** 2 + 0.5 * (centre - mu) ** 2
            )
            expected = np.trapezoid(np.exp(heights), e)
            got = made.totals.log_totals[row, g] + math.log(made.scales[row, g, 0, 0])
            assert got == pytest.approx(math.log(expected), abs=1e-3)


@pytest.mark.parametrize("scale", [0.1, 0.3, -0.1, 0.0])
def test_polynomials_in_a_ball_that_is_too_small_are_fitted_again(scale):
    blocks, made = given(Counts(np.array([0.0, 3, 1, 0, 7, 2])), np.array([[0.5], [-1.0]]))
    with np.errstate(all="ignore"):
        small = fitted(blocks, np.array([[0.5], [-1.0]]), made.centres, scale * made.scales, made.basis)
        assert far_off(small).all() and not far_off(made).any()


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


def test_blocks_of_heavy_tails_that_turn_with_the_outer_coordinates_are_drawn_where_they_are():
    """At a tenth of such points none was: weights were 1e-3 of what they should be, and below."""
    scatter = rng()
    outer = np.column_stack([np.linspace(-1, 1, 40), scatter.uniform(-4, 0, 40)])
    outer[0] = 0.1, 0.0  # whose shape all have
    blocks, start = blocks_of(LatentPairs()), np.full((40, 4, 2), 0.6)
    shape = shape_of(blocks, outer, blocks.modes(outer, start, BLOCK_MODES.about))
    own = BlockDraws(blocks, shape, lambda points: np.resize(start, (len(points), 4, 2)))
    points = np.repeat(outer, 8, axis=0)
    with np.errstate(all="ignore"):
        drawn = own.by_modes(points, np.full(len(points), -np.inf), scatter)
    log_weights = blocks.values(points, drawn.latent) - drawn.log_q - stats.norm.logpdf(points).sum(axis=1)
    ratios = np.exp(log_weights).reshape(40, 8).mean(axis=1)
    assert drawn.complete.all() and ratios.min() > 0.3 and ratios.mean() == pytest.approx(1, abs=0.03)


def test_draws_of_blocks_have_their_moments():
    outer = np.repeat([[0.0]], 4000, axis=0)
    blocks, made = given(Pairs(5), outer)
    z, complete = made.draws(rng())
    assert complete.all()
    draws = made.at(z)
    grid = np.linspace(-9, 9, 361)
    a, b = np.meshgrid(grid, grid, indexing="ij")
    weights = np.exp(-(a**2) - (b - a) ** 2 / 2 - np.logaddexp(0, b))
    weights /= weights.sum()
    first = blocks.structure.blocks.argmin(axis=1)  # `a` stands before `b`
    for values, exact in ((draws[:, np.arange(5), first], a), (draws[:, np.arange(5), 1 - first], b)):
        mean = (weights * exact).sum()
        sd = math.sqrt((weights * (exact - mean) ** 2).sum())
        np.testing.assert_allclose(values.mean(axis=0), mean, atol=5 * sd / math.sqrt(4000))
        np.testing.assert_allclose(values.std(axis=0), sd, rtol=0.06)


@pytest.mark.parametrize("width", [4, 5, 6])
def test_wide_blocks_are_found(width):
    structure = found(Turned(width, 9, counts=False))
    assert structure.outer.tolist() == [0]
    assert sorted(map(sorted, structure.blocks - 1)) == np.arange(9 * width).reshape(9, width).tolist()


def test_wide_blocks_that_are_sparse_are_a_field():
    effects = np.arange(1, 61).reshape(12, 5)  # of a group and of its four rows
    touched = np.eye(61, dtype=bool)
    touched[0] = touched[:, 0] = True
    for group, *rows in effects:
        touched[group, rows] = touched[rows, group] = True
    wide = blocks_in(Graph.of_matrix(touched), STRUCTURE.widest)
    assert wide.width == 5 and not is_dense(Graph.of_matrix(touched), wide)
    for each in effects:
        touched[np.ix_(each, each)] = True
    assert is_dense(Graph.of_matrix(touched), wide)


@pytest.mark.parametrize("width", [4, 6])
def test_draws_of_wide_normal_blocks_are_exact(width):
    target, outer = Turned(width, 9, counts=False), np.repeat([[0.3], [-2.0]], 20, axis=0)
    blocks, made = given(target, outer)
    z, complete = made.draws(rng())
    off = blocks.values(outer, made.at(z)) - made.log_densities(z) - target.log_marginals(outer)
    assert complete.all()
    np.testing.assert_allclose(off, 0.0, atol=1e-5)


@pytest.mark.rotate
@pytest.mark.parametrize(("width", "sd"), [(4, 0.3), (5, 0.35)])
def test_weights_of_draws_of_wide_blocks_are_their_marginal(width, sd):
    target, outer = Turned(width, 9), np.repeat([[0.0], [-1.0]], 300, axis=0)
    blocks, made = given(target, outer)
    z, complete = made.draws(rng())
    off = blocks.values(outer, made.at(z)) - made.log_densities(z) - target.log_marginals(outer)
    assert complete.all() and np.std(off) < sd
    for half in (off[:300], off[300:]):  # there are no draws outside the balls
        assert special.logsumexp(half) - math.log(300) == pytest.approx(0.0, abs=0.12)


@pytest.mark.parametrize(("at_once", "calls"), [(0, [2] * (1 + 4 + 1)), (100, [2 * (1 + 4)] * 2)])
def test_the_curvature_of_normal_blocks_is_found_once(monkeypatch, at_once, calls):
    monkeypatch.setattr("ppl.methods.nested.blocks.BLOCK_MODES", BLOCK_MODES._replace(at_once=at_once))
    target, points = Turned(4, 9, counts=False), list[int]()
    blocks = blocks_of(target)
    own = Turned.log_density_gradients
    monkeypatch.setattr(
        Turned, "log_density_gradients", lambda self, us: points.append(len(us)) or own(self, us)
    )
    outer = np.array([[0.3], [0.3]])
    found = blocks.modes(outer, np.full((2, 9, 4), 0.5), BLOCK_MODES.near)
    points.clear()
    found = blocks.modes(outer, found.at + 0.5, BLOCK_MODES.near)
    assert found.found.all() and points == calls
    np.testing.assert_allclose(found.log_marginals, target.log_marginals(outer), atol=1e-5)


# --- Draws by trends over the outer coordinates ---------------------------------------------------

MANY = Groups(np.linspace(-3.0, 3.0, 100))
NEAR = StudentTs(np.ones(1), (Gaussian(np.array([0.0, 0.5]), np.diag([0.2, 0.08])),), 10)
NO_LEAST = np.full(400, -np.inf)


def many_draws():
    """Those of blocks, with trends and without; and outer points."""
    blocks = blocks_of(MANY)
    some = NEAR.draws(17, rng())
    nowhere = np.zeros((17, *blocks.structure.blocks.shape))
    shape = shape_of(blocks, some, blocks.modes(some, nowhere, BLOCK_MODES.about))
    own = BlockDraws(blocks, shape, lambda outer: np.zeros((len(outer), *blocks.structure.blocks.shape)))
    return own, with_trends(own, NEAR, 2048, rng()), NEAR.draws(400, rng())


def test_draws_by_trends_have_the_marginal_of_the_outer_coordinates_as_their_weight():
    _, by_trends, outer = many_draws()
    near = by_trends.trends.within(outer)
    found = by_trends.draws(outer, NO_LEAST, rng())
    assert near.mean() > 0.8 and not near.all() and found.complete.all()
    off = by_trends.blocks.values(outer, found.latent) - found.log_q - MANY.log_marginals(outer)
    assert np.std(off[near]) < BLOCK_TRENDS.even
    assert abs(np.mean(np.exp(off[near])) - 1) < 4 * np.std(np.exp(off[near])) / math.sqrt(near.sum())
    np.testing.assert_allclose(off[~near], 0.0, atol=1e-4)


def test_draws_by_trends_need_no_gradient(monkeypatch):
    _, by_trends, outer = many_draws()
    near = outer[by_trends.trends.within(outer)]
    monkeypatch.setattr(Groups, "log_density_gradients", lambda *_: pytest.fail("a gradient"))
    assert by_trends.draws(near, NO_LEAST[: len(near)], rng()).complete.mean() > 0.99


def test_without_modes_there_are_no_trends():
    own, *_ = many_draws()
    nowhere = replace(
        own, start=lambda outer: np.full((len(outer), *own.blocks.structure.blocks.shape), np.nan)
    )
    assert with_trends(nowhere, NEAR, 2048, rng()).trends is None


def test_no_draw_is_made_where_the_marginal_is_below_what_counts():
    own, _, outer = many_draws()
    marginals = MANY.log_marginals(outer)
    found = own.draws(outer, np.full(400, np.median(marginals)), rng())
    np.testing.assert_array_equal(found.complete, marginals > np.median(marginals))
    assert not own.draws(outer, np.full(400, np.inf), rng()).complete.any()


# --- The recipe ----------------------------------------------------------------------------------


def test_auto_integrates_effects_of_groups_out():
    target = Groups(Y)
    result = fit(target, Settings(seed=3))
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level == "good"
    assert result.final_elbo == pytest.approx(target.log_evidence(), abs=5 * result.final_elbo_se + 1e-3)
    np.testing.assert_allclose(result.log_p, target.log_densities(result.draws_u))


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
    with pytest.raises(
        InferenceError, match=r"'nested' does not apply to this program: .*(blocks|block|modes)"
    ):
        fit(target, Settings(algorithm="nested"))


@pytest.mark.rotate
def test_draws_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr("ppl.memory.limits", lambda: iter([1 << 20]))
    with pytest.raises(InferenceError, match="draws by blocks of 2 x 2048 x 5002 numbers needs"):
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


@pytest.mark.parametrize("scale", [0.7, 0.9, 1.0])
def test_a_normal_ends_where_it_has_fallen_by_the_depth(scale):
    z = Polynomials.of(1, 4).grid[:, 0]
    lower, upper = ends_of(z, -0.5 * (z / scale)[:, None, None] ** 2)[0, 0]
    end = scale * math.sqrt(2 * CONDITIONAL.depth)
    assert upper == -lower == pytest.approx(end, abs=0.05)


def test_draws_of_several_mixtures_are_weighted_as_those_of_one():
    """The second mixture leaves out half of a normal, of which the first has few draws."""
    generator = rng()

    def a_round(mean, sd, n):
        mixture = StudentTs(np.ones(1), (Gaussian(np.array([mean]), np.array([[sd]])),))
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
    """Of draws by trends Laplace's approximation is not known."""
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
    assert (mu.mean(), mu.std()) == (pytest.approx(-2.17, abs=0.06), pytest.approx(0.56, abs=0.06))


@pytest.mark.rotate
def test_blocks_are_drawn_whose_density_ends_abruptly_far_within_the_sds_of_their_modes():
    """At the mode a polynomial over the effect of a zero has slopes of -exp(10), which told it nothing."""
    target = RareCounts()
    target.y = np.array([0.0] * 56 + [1.0, 1.0, 2.0, 3.0])
    result = fit(target, Settings(seed=1))
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level == "good"
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
def test_groups_are_integrated_out_where_laplace_is_wrong_about_their_marginal():
    target = BinaryPairs(np.array([0.0] * 17 + [1.0] * 12 + [2.0] * 11))
    result = fit(target, Settings(seed=2))
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level == "good"
    mean, sd = target.moments_of_log_scale()
    assert result.draws_u[:, 1].mean() == pytest.approx(mean, abs=0.1 * sd)
    assert result.draws_u[:, 1].std() == pytest.approx(sd, rel=0.1)


def test_draws_with_uneven_weights_are_where_chains_begin(monkeypatch):
    monkeypatch.setattr(blocks, "is_reliable", lambda weights: False)
    target = Groups(Y)
    result = fit(target, Settings(seed=3))
    assert result.verdict.made is DrawSource.MOVED and result.verdict.level is Level.GOOD
    assert "integrated out" in result.outcome.reason
    with pytest.raises(Refused, match="too uneven"):
        by_blocks(target, 2.0, Context.of(Settings(seed=3, move=False)))
