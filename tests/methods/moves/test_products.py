"""Effects that the data see only as products with their scale, and chains that move over the products."""

from collections.abc import Callable
from functools import cached_property

import autograd.numpy as np
import numpy
import pytest
from autograd import elementwise_grad
from scipy import stats

from ppl.kernel.advi.target import Target
from ppl.methods.moves.ending import moved
from ppl.methods.moves.funnels import InFunnels
from ppl.methods.moves.layers import Layers
from ppl.methods.moves.necks import necks_of
from ppl.methods.moves.products import products_of
from ppl.methods.moves.straightening import straightened
from ppl.records import dataclass

SEEN = numpy.array([0.6, 1.5, 4.0])
NOISE = 0.1


@dataclass(frozen=True)
class Of(Target):
    """A log density of points u (n, dim) as autograd knows it."""

    log_density: Callable[[np.ndarray], np.ndarray]
    dim: int

    @cached_property
    def gradient(self):
        return elementwise_grad(self.log_density)

    def log_densities(self, us):
        return self.log_density(us)

    def log_density_gradients(self, us):
        return self.log_density(us), self.gradient(us)


def prior(z, sd=1.0):
    return -0.5 * np.sum((z / sd) ** 2, axis=1)


def growth(u):
    """Three data N(exp(m + w z), 0.1), m ~ N(0, 1), w, as its log, of a half-Cauchy, z ~ N(0, 1)."""
    m, log_w, z = u[:, :1], u[:, 1:2], u[:, 2:]
    off = (SEEN - np.exp(m + np.exp(log_w) * z)) / NOISE
    scales = log_w[:, 0] - np.log1p(np.exp(2 * log_w[:, 0]))
    return prior(m) + scales + prior(z) - 0.5 * np.sum(off**2, axis=1)


def variance(u):
    """The same data N(m + sqrt(v) z, 0.1), with z ~ N(0, 2), and log v ~ N(0, 1)."""
    off = (SEEN - u[:, :1] - np.exp(0.5 * u[:, 1:2]) * u[:, 2:]) / NOISE
    return prior(u[:, :2]) + prior(u[:, 2:], 2.0) - 0.5 * np.sum(off**2, axis=1)


def shrinkage(u):
    """A horseshoe: three rows of one product of two scales and an effect each, beside an intercept."""
    off = SEEN - u[:, :1] - np.exp(u[:, 1:2] + u[:, 2:5]) * u[:, 5:]
    return prior(u) - 0.5 * np.sum(off**2, axis=1)


def centred(u):
    """Effects N(m, w) and data N(effect, 0.1)."""
    m, log_w, effects = u[:, :1], u[:, 1:2], u[:, 2:]
    off = (SEEN - effects) / NOISE
    return (
        prior(u[:, :2]) - 3 * u[:, 1] + prior((effects - m) * np.exp(-log_w)) - 0.5 * np.sum(off**2, axis=1)
    )


def precision(u):
    """A regression whose slope by each coefficient grows with the precision of its rows."""
    off = SEEN - u[:, :1] - u[:, 2:] * numpy.array([0.5, -1.0, 2.0])
    return prior(u) + 1.5 * u[:, 1] - 0.5 * np.exp(u[:, 1]) * np.sum(off**2, axis=1)


@pytest.mark.parametrize(
    ("log_density", "dim", "effects", "scales", "powers", "precision"),
    [
        (growth, 5, [2, 3, 4], [1], [[1.0], [1.0], [1.0]], 1.0),
        (variance, 5, [2, 3, 4], [1], [[0.5], [0.5], [0.5]], 0.25),
        (shrinkage, 8, [5, 6, 7], [1, 2, 3, 4], numpy.hstack([numpy.ones((3, 1)), numpy.eye(3)]), 1.0),
        (centred, 5, [], [], numpy.zeros((0, 0)), 1.0),
        (precision, 5, [], [], numpy.zeros((0, 0)), 1.0),
    ],
    ids=["growth", "variance", "shrinkage", "centred", "precision"],
)
def test_which_effects_are_products_and_of_what(log_density, dim, effects, scales, powers, precision):
    rng = numpy.random.default_rng(3)
    products, spent = products_of(Of(log_density, dim).gradients_alone, rng.normal(0, 0.5, dim), rng)
    assert products.effects.tolist() == effects and products.scales.tolist() == scales and spent < 100
    numpy.testing.assert_array_equal(products.powers, powers)
    numpy.testing.assert_allclose(products.precisions, precision, rtol=1e-3)


def test_the_density_over_products():
    """Its gradient by differences, and its log-Jacobian by that of the way back."""
    rng = numpy.random.default_rng(2)
    target, u = Of(shrinkage, 8), rng.normal(0, 0.7, (2000, 8))
    products, _ = products_of(target.gradients_alone, u[0], rng)
    x = products.straight(u)
    necks, _ = necks_of(InFunnels(target, products).gradients_alone, x, rng, known=products.driven)
    assert necks.driven.tolist() == [5, 6, 7]
    inside, step = InFunnels(target, Layers((products, straightened(x[None], necks)))), 1e-6
    at = inside.inside(rng.standard_normal((4, 8)))
    beside = (at[:, None] + step * numpy.concatenate([numpy.eye(8), -numpy.eye(8)])).reshape(-1, 8)
    values = inside.log_densities(beside).reshape(4, 2, 8)
    numpy.testing.assert_allclose(
        inside.gradients_alone(at), (values[:, 0] - values[:, 1]) / (2 * step), rtol=1e-4, atol=1e-4
    )
    ends = inside.outside(beside)[0].reshape(4, 2, 8, 8)
    change = numpy.linalg.slogdet((ends[:, 0] - ends[:, 1]) / (2 * step))[1]
    numpy.testing.assert_allclose(inside.outside(at)[1], change, atol=1e-5)
    numpy.testing.assert_allclose(inside.inside(inside.outside(at)[0]), at, atol=1e-9)


def share_above(scale):
    """The exact P(w > scale) of `growth`: given m and w, what a datum says is an integral over m + w z."""
    m, log_w = numpy.linspace(-4, 4, 161), numpy.linspace(-6, 7, 261)
    a = numpy.log(SEEN) + numpy.linspace(-1.5, 1.0, 251)[:, None]
    of_data = stats.norm.pdf(SEEN, numpy.exp(a), NOISE)
    given = [
        (of_data * stats.norm.pdf(a, m[:, None, None], numpy.exp(each))).sum(axis=1).prod(axis=1)
        for each in log_w
    ]
    mass = numpy.sum(given * stats.norm.pdf(m), axis=1) * numpy.exp(log_w) / (1 + numpy.exp(2 * log_w))
    return mass[numpy.exp(log_w) > scale].sum() / mass.sum()


@pytest.mark.parametrize("seed", range(3))
def test_chains_enter_where_a_scale_is_large_and_effects_are_narrow(seed):
    target, rng = Of(growth, 5), numpy.random.default_rng(seed)
    starts = numpy.array([0.4, -0.2, -1.1, 0.0, 1.2]) + 0.1 * rng.standard_normal((128, 5))
    chains = moved(target, starts, rng, 400_000)
    assert chains.stationary
    assert chains.gradients < 100_000  # 450,000 over the effects themselves, with a tenth of P(w > 3)
    for scale, error in ((1.5, 0.25), (3.0, 0.5)):
        right = share_above(scale)
        assert numpy.mean(chains.u[:, 1] > numpy.log(scale)) == pytest.approx(right, rel=error)
