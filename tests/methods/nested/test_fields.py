"""Latent variables of which each depends on a few others: chains, areas, crossed effects."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

from ppl.errors import InferenceError
from ppl.kernel.advi.gaussian import Gaussian
from ppl.kernel.advi.target import Target
from ppl.methods.correct.draw_source import DrawSource
from ppl.methods.nested.adjacency import Graph
from ppl.methods.nested.banded import factors_of
from ppl.methods.nested.field import Fields
from ppl.methods.nested.field_draws import FEWEST_OF_FIELD, field_draws, tries_for
from ppl.methods.nested.interpolated import interpolated, interpolated_again
from ppl.methods.nested.marginal import Marginal, climbs, newton
from ppl.methods.nested.modes import MODES
from ppl.methods.nested.outer import one_over, spread_of
from ppl.methods.nested.slopes import slopes
from ppl.methods.nested.sparse import Field, coloured, field_of
from ppl.methods.nested.structure import may_be_complete, structure_of
from ppl.methods.recipes import fit
from ppl.methods.run.settings import Settings
from ppl.records import dataclass, replace


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@dataclass(frozen=True)
class Toy(Target):
    """A target with one outer coordinate t, the log sd of steps, and a field x."""

    y: np.ndarray

    @property
    def dim(self):
        return 1 + len(self.y)

    def log_densities(self, us):
        return self.log_density_gradients(us)[0]

    def explain(self, u):
        return ""


def walk(t, x):
    """The log density of a random walk from N(0, 1) in steps of exp(t), gradients by t and x."""
    steps = np.diff(x, axis=1) / np.exp(t)
    value = stats.norm.logpdf(x[:, 0]) + stats.norm.logpdf(steps).sum(axis=1) - steps.shape[1] * t[:, 0]
    slope = np.zeros_like(x)
    slope[:, 0] = -x[:, 0]
    slope[:, 1:] -= steps / np.exp(t)
    slope[:, :-1] += steps / np.exp(t)
    return value, (steps**2 - 1).sum(axis=1, keepdims=True), slope


@dataclass(frozen=True)
class Level(Toy):
    """A local level: y[k] ~ N(x[k], 1), t ~ N(0, 1)."""

    def log_density_gradients(self, us):
        t, x = us[:, :1], us[:, 1:]
        value, by_t, slope = walk(t, x)
        value = value + stats.norm.logpdf(self.y - x).sum(axis=1) + stats.norm.logpdf(t[:, 0])
        return value, np.hstack([by_t - t, slope + self.y - x])

    def log_marginal(self, t):
        """By the Kalman filter."""
        mean, variance, total = 0.0, 1.0, stats.norm.logpdf(t)
        for k, y in enumerate(self.y):
            variance += np.exp(2 * t) if k else 0.0
            total += stats.norm.logpdf(y, mean, np.sqrt(variance + 1))
            gain = variance / (variance + 1)
            mean, variance = mean + gain * (y - mean), variance * (1 - gain)
        return total


@dataclass(frozen=True)
class CountsOfWalk(Toy):
    """y[k] ~ Poisson(exp(x[k])), t ~ N(-1, 0.5)."""

    def log_density_gradients(self, us):
        t, x = us[:, :1], us[:, 1:]
        value, by_t, slope = walk(t, x)
        value = value + (self.y * x - np.exp(x)).sum(axis=1) - 2 * (t[:, 0] + 1) ** 2
        return value, np.hstack([by_t - 4 * (t + 1), slope + self.y - np.exp(x)])


@dataclass(frozen=True)
class Crossed(Toy):
    """Bernoulli outcomes y of a sum of effects of several factors: t ~ N(0, 1), x ~ N(0, exp(t))."""

    levels: np.ndarray

    @property
    def dim(self):
        return 2 + int(self.levels.max())

    def log_density_gradients(self, us):
        t, x = us[:, :1], us[:, 1:]
        z = x * np.exp(-t)
        eta = x[:, self.levels].sum(axis=2)
        value = stats.norm.logpdf(t[:, 0]) + (stats.norm.logpdf(z) - t).sum(axis=1)
        value = value + (self.y * eta - np.logaddexp(0, eta)).sum(axis=1)
        slope, off = -z * np.exp(-t), self.y - 1 / (1 + np.exp(-eta))
        for each in self.levels.T:
            np.add.at(slope, (slice(None), each), off)
        return value, np.hstack([(z**2 - 1).sum(axis=1, keepdims=True) - t, slope])


LEVELS = np.column_stack([4 * k + rng().integers(0, 4, 300) for k in range(4)])
CROSSED = Crossed(rng().integers(0, 2, 300).astype(float), LEVELS)
Y = np.cumsum(rng().normal(0, 0.6, 40)) + rng().normal(size=40)
COUNTS = rng().poisson(np.exp(np.cumsum(rng().normal(0, 0.4, 30)))).astype(float)


def fields_of(target):
    found = structure_of(target, 0.1 * rng().normal(size=target.dim), rng())
    assert isinstance(found, Field)
    return Fields(target, found)


@pytest.mark.parametrize("target", [Level(Y), CountsOfWalk(COUNTS), CROSSED], ids=lambda t: type(t).__name__)
def test_the_toy_targets_have_their_gradients(target):
    u = 0.3 * rng().normal(size=target.dim)
    steps = 1e-6 * np.eye(target.dim)
    differences = (target.log_densities(u + steps) - target.log_densities(u - steps)) / 2e-6
    np.testing.assert_allclose(target.log_density_gradient(u)[1], differences, atol=1e-5)


# --- Structure -----------------------------------------------------------------------------------


def test_a_chain_is_a_field_of_bandwidth_one():
    structure = fields_of(Level(Y)).structure
    assert structure.outer.tolist() == [0] and structure.bandwidth == 1
    assert sorted(structure.latent.tolist()) == list(range(1, 41))
    assert structure.colours.max() == 2


def graph_of(size, edges):
    graph = np.zeros((size, size), dtype=bool)
    graph[tuple(np.array(edges).T)] = True
    return graph | graph.T


def grid_of(rows, columns):
    places = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1)
    down = np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1)
    return [*across.tolist(), *down.tolist()]


GRAPHS = {
    "chain": (graph_of(12, [(k, k + 1) for k in range(11)]), 3),
    "second order": (graph_of(12, [(k, k + d) for d in (1, 2) for k in range(12 - d)]), 5),
    "grid": (graph_of(20, grid_of(4, 5)), 9),
    "stars": (graph_of(20, [(5 * g, 5 * g + k) for g in range(4) for k in range(1, 5)]), 2),
    "crossed": (graph_of(24, [(k, 12 + (k + d) % 12) for k in range(12) for d in (0, 1, 5)]), 8),
}


@pytest.mark.parametrize(("graph", "most"), GRAPHS.values(), ids=GRAPHS)
def test_hessians_are_read_off_differences_by_colour(graph, most):
    colours = coloured(Graph.of_matrix(graph), most)
    assert coloured(Graph.of_matrix(graph), colours.max()) is None
    weights = rng().normal(size=graph.shape)
    hessian = np.where(graph | np.eye(len(graph), dtype=bool), weights + weights.T, 0.0)
    pairs = np.array(np.tril(hessian).nonzero())
    reading = Field(len(graph), np.array([]), np.arange(len(graph)), pairs, colours).reading
    found = np.zeros_like(hessian)
    for colour in range(colours.max() + 1):
        change = hessian @ (colours == colour)
        own = reading.colour == colour
        found[reading.below[own] + reading.column[own], reading.column[own]] = change[reading.row[own]]
    np.testing.assert_allclose(found, np.tril(hessian), atol=1e-12)


@pytest.mark.parametrize("graph", [each for each, _ in GRAPHS.values()], ids=GRAPHS)
def test_scalars_and_hubs_are_outer(graph):
    size = len(graph)
    whole = np.zeros((size + 2, size + 2), dtype=bool)
    whole[2:, 2:] = graph
    whole[0, 2:] = whole[2:, 0] = True
    whole[1, 2:5] = whole[2:5, 1] = True
    scalars = np.arange(size + 2) == 1
    assert field_of(Graph.of_matrix(whole), scalars, ~scalars, 2).outer.tolist() == [0, 1]


def test_where_all_meet_there_is_no_field():
    nothing = np.zeros(30, dtype=bool)
    assert field_of(Graph.of_matrix(np.ones((30, 30), dtype=bool)), nothing, nothing, 2) is None


@pytest.mark.parametrize(
    ("share", "width", "power", "few_enough"),
    [(0.4, 5000, 3, False), (0.4, 5000, 1, True), (0.4, 500, 3, True), (0.05, 5000, 3, True)],
)
def test_nearly_dense_hessians_are_of_fields_if_they_take_few_numbers_or_one_does(
    share, width, power, few_enough
):
    """One does where the gradient is linear."""

    class Wide(Target):
        dim = 32

        def gradients_alone(self, us):
            return -(us**power)

    Wide.width = width
    whole, below = np.ones((32, 32), dtype=bool), np.tril(rng().random((31, 31)) < share)
    whole[1:, 1:] = below | below.T
    few = partial(may_be_complete, Wide(), np.zeros(32), rng())
    found = field_of(Graph.of_matrix(whole), np.arange(32) == 0, np.arange(32) > 0, 2, few)
    assert (found is not None) == few_enough


@pytest.mark.parametrize("others", [0, 1, 7])
def test_where_nearly_all_are_scalars_there_is_no_field(others):
    size = 4 + others
    scalars = np.arange(size) < 4
    assert field_of(Graph.of_matrix(np.ones((size, size), dtype=bool)), scalars, ~scalars, 2) is None


def test_where_too_many_meet_most_others_all_unconstrained_ones_are_the_field():
    scales, hubs, size = 3, 12, 40
    whole = np.zeros((size, size), dtype=bool)
    whole[: scales + hubs] = whole[:, : scales + hubs] = True
    constrained = np.arange(size) < scales
    narrow = field_of(Graph.of_matrix(whole), constrained, ~constrained, 1)
    assert narrow.outer.tolist() == list(range(scales + hubs)) and narrow.bandwidth == 0
    found = field_of(Graph.of_matrix(whole), constrained, ~constrained, 2)
    assert found.outer.tolist() == [0, 1, 2] and len(found.latent) == size - scales
    assert field_of(Graph.of_matrix(whole), constrained, np.zeros(size, dtype=bool), 2) is None


# --- Banded matrices -----------------------------------------------------------------------------


def banded(size, width, n):
    full = np.zeros((n, size, size))
    for k in range(1, width + 1):
        full[:, np.arange(k, size), np.arange(size - k)] = rng().normal(size=(n, size - k))
    full += full.swapaxes(1, 2) + 9 * np.eye(size)
    bands = np.zeros((n, width + 1, size))
    for k in range(width + 1):
        bands[:, k, : size - k] = np.diagonal(full, -k, 1, 2)
    return full, bands


@pytest.mark.parametrize("width", [0, 1, 3])
def test_banded_factors(width):
    full, bands = banded(9, width, 4)
    factors, x = factors_of(bands), rng().normal(size=(4, 9))
    lower = np.linalg.cholesky(full)
    assert factors.as_given.all()
    np.testing.assert_allclose(factors.half_log_dets, np.linalg.slogdet(full)[1] / 2)
    np.testing.assert_allclose(factors.solve(x), np.linalg.solve(full, x[..., None])[..., 0])
    np.testing.assert_allclose(
        factors.solve_transposed(x), np.linalg.solve(lower.swapaxes(1, 2), x[..., None])[..., 0]
    )
    np.testing.assert_allclose(factors.lengths(x), np.sqrt(np.einsum("ni,nij,nj->n", x, full, x)), rtol=1e-12)
    inverse, found = np.linalg.inv(full), factors.inverses
    for k in range(width + 1):
        np.testing.assert_allclose(found[:, k, : 9 - k], np.diagonal(inverse, -k, 1, 2), atol=1e-12)


def test_a_matrix_that_is_not_positive_definite_has_a_ridge():
    _, bands = banded(9, 1, 2)
    bands[1, 0, 3] = -5.0
    factors = factors_of(bands)
    assert factors.as_given.tolist() == [True, False] and np.isfinite(factors.half_log_dets).all()


# --- Marginals and draws -------------------------------------------------------------------------


def test_the_marginal_of_a_local_level_is_the_kalman_filters():
    target = Level(Y)
    fields, t = fields_of(target), np.array([-2.0, -0.5, 1.0])
    found = fields.modes(t[:, None], np.zeros((3, 40)), MODES.near)
    assert found.found.all()
    expected = [target.log_marginal(each) for each in t]
    np.testing.assert_allclose(found.log_marginals, expected, rtol=1e-8)


def test_the_mode_and_curvature_of_a_marginal_are_the_kalman_filters():
    target = Level(Y)
    peak = newton(*climbs([Marginal(fields_of(target), np.array([1.5]), np.zeros(40))]))
    t, h = float(peak.marginal.centre[0]), 0.25 * float(peak.gaussian.factor[0, 0])
    behind, here, ahead = (target.log_marginal(t + k * h) for k in (-1, 0, 1))
    assert abs(ahead - behind) / (2 * h) * peak.gaussian.factor[0, 0] < 0.1
    assert peak.gaussian.factor[0, 0] ** -2 == pytest.approx((2 * here - ahead - behind) / h**2, rel=0.02)


def test_slopes_of_a_marginal_are_those_of_the_kalman_filter():
    target, h = Level(Y), 0.01
    seen = Marginal(fields_of(target), np.array([-0.8]), np.zeros(40)).differences(np.array([[h]]))
    behind, here, ahead = (target.log_marginal(-0.8 + k * h) for k in (-1, 0, 1))
    assert seen.value == pytest.approx(here, rel=1e-8)
    assert seen.slope[0] == pytest.approx((ahead - behind) / 2, rel=1e-3)
    assert seen.curvature[0, 0] == pytest.approx(ahead + behind - 2 * here, rel=1e-2)


@pytest.mark.parametrize("of", [lambda: fields_of(CountsOfWalk(COUNTS)), lambda: dense_fields()])
def test_slopes_are_differences_of_laplaces_log_marginals(of):
    fields, t = of(), np.array([[-0.4]])
    start = np.zeros((1, len(fields.structure.latent)))
    behind, ahead = (fields.modes(t + h, start, 1e-7).log_marginals[0] for h in (-1e-3, 1e-3))
    modes, bands = fields.modes_of_part(t, start, 1e-7)
    found = slopes(fields, t, modes.at, fields.factored(bands))[0, 0]
    assert found == pytest.approx((ahead - behind) / 2e-3, rel=2e-4, abs=2e-4)


def test_points_that_seem_hopeless_are_given_up_and_others_are_not():
    fields, t = fields_of(CountsOfWalk(COUNTS)), np.array([[-2.0], [-0.5], [6.0]])
    start = np.zeros((3, 30))
    whole = fields.modes(t, start, MODES.about)
    level = whole.log_marginals[1] - 20.0
    assert whole.found.all() and (whole.log_marginals > level).tolist() == [True, True, False]
    some = fields.modes(t, start, MODES.about, np.full(3, level))
    assert some.found.tolist() == [True, True, False]
    np.testing.assert_array_equal(some.log_marginals[:2], whole.log_marginals[:2])


def dense_fields():
    """Those of crossed effects, of which all meet."""
    return all_meet(CROSSED, 1)


def test_modes_are_found_far_from_the_start_where_scales_are_tiny_or_huge():
    fields = dense_fields()
    t = np.array([[-25.0], [-8.0], [0.0], [6.0], [12.0]])
    found = fields.modes(t, np.full((5, CROSSED.dim - 1), 3.0), MODES.near)
    assert found.found.all()
    gradients = fields.gradients(t, found.at)
    assert np.abs(gradients / (1 + np.exp(-t))).max() < 1e-3


@dataclass(frozen=True)
class Dense(Toy):
    """y ~ N(a x, exp(t[1])), x ~ N(0, exp(t[0])), t ~ N(0, 1), and all x meet."""

    a: np.ndarray

    @property
    def dim(self):
        return 2 + self.a.shape[1]

    def log_density_gradients(self, us):
        t, x = us[:, :2], us[:, 2:]
        z, off = x * np.exp(-t[:, :1]), (self.y - x @ self.a.T) * np.exp(-t[:, 1:])
        value = stats.norm.logpdf(t).sum(axis=1)
        for each, scale in zip((z, off), t.T, strict=True):
            value += (stats.norm.logpdf(each) - scale[:, None]).sum(axis=1)
        by_t = np.stack([(each**2 - 1).sum(axis=1) for each in (z, off)], axis=1)
        return value, np.hstack([by_t - t, -z * np.exp(-t[:, :1]) + (off * np.exp(-t[:, 1:])) @ self.a])

    def log_marginal(self, t):
        size = len(self.y)
        covariance = np.exp(2 * t[0]) * self.a @ self.a.T + np.exp(2 * t[1]) * np.eye(size)
        return (
            stats.multivariate_normal(np.zeros(size), covariance).logpdf(self.y) + stats.norm.logpdf(t).sum()
        )


A = rng().normal(size=(30, 16))
DENSE = Dense(A @ rng().normal(size=16) + rng().normal(size=30), A)


def all_meet(target, outer):
    every = np.arange(target.dim - outer)
    pairs = np.array(np.tril(np.ones((len(every),) * 2)).nonzero())
    return Fields(target, Field(target.dim, np.arange(outer), outer + every, pairs, every))


def test_slopes_and_curvature_of_a_marginal_by_one_hessian_at_each_point():
    fields, t, h = all_meet(DENSE, 2), np.array([0.2, -0.3]), 0.05
    assert fields.is_costly
    seen = Marginal(fields, t, np.zeros(16)).differences(h * np.eye(2))
    near = {(i, j): DENSE.log_marginal(t + h * np.array([i, j])) for i in (-1, 0, 1) for j in (-1, 0, 1)}
    slopes_near = [(near[1, 0] - near[-1, 0]) / 2, (near[0, 1] - near[0, -1]) / 2]
    np.testing.assert_allclose(seen.slope, slopes_near, rtol=0.01)
    bends = [near[1, 0] + near[-1, 0] - 2 * near[0, 0], near[0, 1] + near[0, -1] - 2 * near[0, 0]]
    cross = (near[1, 1] + near[-1, -1] - near[1, -1] - near[-1, 1]) / 4
    np.testing.assert_allclose(seen.curvature, [[bends[0], cross], [cross, bends[1]]], rtol=0.02, atol=2e-4)


def test_log_marginals_between_points_where_they_are_known_take_no_hessian(monkeypatch):
    peak = newton(*climbs([Marginal(all_meet(DENSE, 2), np.zeros(2), np.zeros(16))]))
    made = interpolated(peak, rng())
    t = peak.gaussian.draws(rng().standard_normal((50, 2)))
    made = interpolated_again(made, t)
    monkeypatch.setattr(Fields, "precisions", None)
    exact = [DENSE.log_marginal(each) for each in t]
    np.testing.assert_allclose(made.marginal.log_densities(t), exact, atol=0.1)
    assert np.isinf(made.marginal.log_densities(t + 100)).all()


def draws_of(fields, t, start):
    """Draws fitted at outer points t (n, 1)."""
    return field_draws(fields, spread_of(t), t, start, rng())


T = rng().normal(-0.5, 0.3, (60, 1))


@pytest.mark.parametrize(
    ("of", "carried"),
    [(lambda: fields_of(Level(Y)), False), (lambda: fields_of(CountsOfWalk(COUNTS)), True)],
    ids=["normal", "counts"],
)
def test_draws_of_a_field_that_is_not_normal_are_carried_on(of, carried):
    fields = of()
    found = draws_of(fields, T, np.zeros((60, len(fields.structure.latent))))
    assert (found.thirds is not None) is carried and found.tries == 1
    assert found.excess(T, rng()) < 0.05


@pytest.mark.parametrize(("excess", "tries"), [(0.0, 1), (0.1, 1), (0.11, 2), (0.3, 4), (9.0, 24)])
def test_one_draw_is_made_where_its_weight_is_even_else_pairs(excess, tries):
    assert tries_for(excess) == tries


@pytest.mark.parametrize("t", [-9.0, -4.0, 0.5])
def test_draws_far_from_where_modes_are_known_have_even_weights(t):
    """Steps of exp(-9) leave no room for a shift that is right at exp(-0.5)."""
    fields, far = fields_of(CountsOfWalk(COUNTS)), np.full((8, 1), t)
    carried = replace(draws_of(fields, T, np.zeros((60, 30))), tries=24)
    assert carried.thirds is not None and carried.excess(far, rng()) < 0.2


def test_where_all_meet_draws_are_carried_on():
    fields = dense_fields()
    found = draws_of(fields, T, np.zeros((60, CROSSED.dim - 1)))
    gaussian = replace(found, thirds=None)
    assert found.excess(T, rng()) < 0.1 * gaussian.excess(T, rng())


def test_weights_of_draws_given_the_outer_coordinates_of_a_gaussian_are_equal():
    fields, start = fields_of(Level(Y)), np.zeros((60, 40))
    t = T + 0.05
    given = draws_of(fields, T, start).draws(t, np.full(60, -np.inf), rng())
    weights = fields.values(t, given.latent) - given.log_q
    np.testing.assert_allclose(weights, [Level(Y).log_marginal(each) for (each,) in t], atol=1e-4)


def carried_at(scale):
    """What draws of a walk with counts are carried on from (1, 30), times a scale; and how they are."""
    fields, t = fields_of(CountsOfWalk(COUNTS)), np.full((1, 1), -0.5)
    found = draws_of(fields, T, np.zeros((60, 30)))
    modes, bands = fields.modes_of_part(t, np.zeros((1, 30)), 1e-9)
    factors = fields.factored(bands)
    y = scale * factors.solve_transposed(rng().standard_normal((1, 30)))
    return fields, t, found, modes.at, factors, y


def test_the_derivative_of_what_draws_are_carried_by_has_this_determinant():
    _, t, found, at, factors, y = carried_at(1.0)
    h = 1e-4 * np.eye(30)
    ahead, behind = (
        found.carry(np.tile(t, (30, 1)), at, repeated(factors, 30), y + k * h)[0] for k in (1, -1)
    )
    determinant = np.linalg.slogdet((ahead - behind) / 2e-4)
    assert determinant[0] == 1
    assert found.carry(t, at, factors, y)[1][0] == pytest.approx(determinant[1], abs=1e-4)


def repeated(factors, n):
    return type(factors)(np.tile(factors.bands, (n, 1, 1)), np.tile(factors.as_given, n))


def test_weights_are_even_to_first_order_in_third_derivatives():
    """Of n counts a third derivative is 1 / sqrt(n) in sds: the variance of log weights is as its square
    at the mode, and as its fourth power where draws are carried on.
    """

    def excess(n):
        fields, start = fields_of(CountsOfWalk(np.full(30, float(n)))), np.full((60, 30), np.log(n))
        carried = draws_of(fields, T + 3.5, start)
        return [
            replace(carried, thirds=own, tries=24).excess(T + 3.5, rng()) for own in (None, carried.thirds)
        ]

    few, many = excess(20), excess(80)
    assert few[0] / many[0] == pytest.approx(4, rel=0.4)
    assert few[1] / many[1] == pytest.approx(16, rel=0.4)


def test_a_log_density_that_is_not_concave_has_no_determinant():
    fields, t, found, at, factors, y = carried_at(1.0)
    hollow = replace(found, fields=Fields(NegativeOf(fields.target), fields.structure))
    assert np.isnan(hollow.carry(t, at, factors, y)[1]).all()


@dataclass(frozen=True)
class NegativeOf(Target):
    """A target's negative, which has no mode."""

    target: Toy

    @property
    def dim(self):
        return self.target.dim

    def log_densities(self, us):
        return -self.target.log_densities(us)

    def log_density_gradients(self, us):
        value, gradient = self.target.log_density_gradients(us)
        return -value, -gradient

    def explain(self, u):
        return ""


def test_outer_points_where_one_draw_has_most_weight_are_unsure():
    """Of draws shifted by tens of sds hardly any is where the field is."""
    fields, least = fields_of(CountsOfWalk(COUNTS)), np.full(60, -np.inf)
    good = replace(draws_of(fields, T, np.zeros((60, 30))), tries=24)
    far = replace(good, thirds=good.thirds + 30.0)
    assert not good.draws(T, least, rng()).unsure.any() and far.draws(T, least, rng()).unsure.mean() > 0.5
    assert FEWEST_OF_FIELD * 24 == 3


def test_modes_are_known_at_outer_points_without_those_of_the_defence():
    mixture = one_over(Gaussian(np.zeros(2), np.eye(2)))
    sds = [part.draws(20_000, rng()).std() for part in (mixture, mixture.undefended)]
    assert sds[0] > 1.6 and 1.1 < sds[1] < 1.35


def test_where_draws_of_the_field_tell_little_there_are_none_by_fields(monkeypatch):
    monkeypatch.setattr("ppl.methods.nested.field_draws.FEWEST_OF_FIELD", 1.1)
    with pytest.raises(InferenceError, match="for 100% of the posterior no Gaussian approximates"):
        fit(CountsOfWalk(COUNTS), Settings(seed=4, algorithm="nested"))


@pytest.mark.rotate
def test_auto_integrates_a_chain_out():
    target = Level(Y)
    result = fit(target, Settings(seed=2, draws=2000))
    assert result.verdict.made is DrawSource.NESTED and result.verdict.level == "good"
    t = np.linspace(-6, 3, 121)
    heights = np.array([target.log_marginal(each) for each in t])
    weights = np.exp(heights - heights.max()) / np.exp(heights - heights.max()).sum()
    evidence = heights.max() + np.log(np.exp(heights - heights.max()).sum() * (t[1] - t[0]))
    assert result.final_elbo == pytest.approx(evidence, abs=5 * result.final_elbo_se + 1e-3)
    mean = weights @ t
    sd = np.sqrt(weights @ (t - mean) ** 2)
    assert result.draws_u[:, 0].mean() == pytest.approx(mean, abs=0.1 * sd)
    assert result.draws_u[:, 0].std() == pytest.approx(sd, rel=0.06)


@pytest.mark.rotate
def test_the_same_seed_gives_the_same_draws():
    one, two = (fit(CountsOfWalk(COUNTS), Settings(seed=4, algorithm="nested")) for _ in range(2))
    np.testing.assert_array_equal(one.draws_u, two.draws_u)
