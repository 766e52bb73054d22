"""Densities in two parts are the densities, wherever these are well behaved or not."""

import numpy as np
import pytest
from autograd import elementwise_grad
from numpy.testing import assert_allclose

from ppl.arrays import AUTOGRAD, NUMPY
from ppl.stdlib.distributions import neg_binomial
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.record import Distribution

PARTED = [d for d in DISTRIBUTIONS if d.parts is not None]
COUNTS = np.array([0, 1, 2, 7, 40, 3000])
VALUES = {
    "real": [-40.0, -2.0, 0.0, 0.3, 5.0, 30.0],
    "nonnegative": [1e-8, 0.3, 1.0, 4.5, 80.0, 1e6],
    "positive": [1e-6, 0.3, 1.0, 4.5, 80.0, 1e6, 1e9],
    "unit_interval": [1e-9, 0.2, 0.5, 0.9, 1.0 - 1e-9],
    "trials": [3000, 4000],
}


def points(d: Distribution) -> list[np.ndarray]:
    """y and every combination of the arguments, each along one axis."""
    grid = np.meshgrid(COUNTS, *(VALUES[support] for _, support in d.args[1:]), indexing="ij")
    return [a.ravel() for a in grid]


def in_two(d: Distribution, xp, y, *args):
    assert d.parts is not None
    few = [a for a, (name, _) in zip((y, *args), d.args, strict=True) if name in d.parts.of]
    return d.parts.kernel(xp, y, *args) + d.parts.term(xp, 1.0, *few)


@pytest.mark.parametrize("d", PARTED, ids=lambda d: d.name)
def test_the_two_are_the_density(d: Distribution) -> None:
    args = points(d)
    size = 1.0 + sum(np.abs(a.astype(float)) for a in args)  # what cancels is no larger
    assert np.all(np.abs(in_two(d, NUMPY, *args) - d.log_density(NUMPY, *args)) < 1e-12 * size)


@pytest.mark.parametrize("d", PARTED, ids=lambda d: d.name)
def test_so_are_their_slopes(d: Distribution) -> None:
    y, *args = points(d)
    for k, (_, support) in enumerate(d.args[1:]):
        if support != "trials":
            slope = elementwise_grad(lambda *a, d=d: in_two(d, AUTOGRAD, y, *a), argnum=k)(*args)
            whole = elementwise_grad(lambda *a, d=d: d.log_density(AUTOGRAD, y, *a), argnum=k)(*args)
            good = np.isfinite(whole)
            assert_allclose(slope[good], whole[good], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("d", PARTED, ids=lambda d: d.name)
def test_the_term_is_counted_and_knows_the_support(d: Distribution) -> None:
    assert d.parts is not None
    few = [5.0 for _ in d.parts.of[1:]]
    once = d.parts.term(NUMPY, 1.0, np.array([3]), *few)
    assert_allclose(d.parts.term(NUMPY, 4.0, np.array([3]), *few), 4.0 * once)
    assert d.parts.term(NUMPY, 1.0, np.array([-1]), *few) == -np.inf


def test_a_mean_beyond_all_counts_leaves_the_slope_finite() -> None:
    """d/dphi of -phi log(1 + exp(eta) / phi), where (y - mu) / (mu + phi) is -1 to the last digit."""
    slope = elementwise_grad(lambda phi: neg_binomial.log_mean_kernel(AUTOGRAD, np.array([0]), 50.0, phi))
    assert_allclose(slope(np.array([1.0])), 1.0 - 50.0)
