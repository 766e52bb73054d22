"""What is computed differently for many numbers than for a few gives the same."""

import numpy as np
import pytest
import scipy.stats

from ppl.arrays import NUMPY, SLICED_ENTRIES, SLICED_NUMBERS, along, row_maxima, row_sums
from ppl.stdlib.distributions.neg_binomial import log_mean_log_density
from ppl.stdlib.special.counts import log_factorial
from ppl.stdlib.special.log_add import expit, log_add, softplus

X = np.concatenate([np.linspace(-800.0, 800.0, 999), [np.inf, -np.inf, np.nan, 0.0, -0.0]])


def test_softplus() -> None:
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(softplus(NUMPY, X), np.logaddexp(0.0, X), rtol=1e-15)


def test_expit() -> None:
    np.testing.assert_allclose(expit(NUMPY, X), scipy.special.expit(X), rtol=5e-16)


@pytest.mark.parametrize("y", [X, -X, X[::-1], np.roll(X, 2), np.array(3.0), np.array(-np.inf)])
def test_log_add(y: np.ndarray) -> None:
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(log_add(NUMPY, X, y), np.logaddexp(X, y), rtol=2e-15)


@pytest.mark.parametrize("most", [5, 10**6], ids=["table", "each"])
def test_counts(most: int) -> None:
    y = np.random.default_rng(0).integers(0, most, 500)
    np.testing.assert_allclose(log_factorial(NUMPY, y), scipy.special.gammaln(y + 1.0), rtol=1e-15)
    mu, phi = np.exp(0.7), 1.7
    want = scipy.stats.nbinom.logpmf(y, phi, phi / (mu + phi))
    np.testing.assert_allclose(log_mean_log_density(NUMPY, y, 0.7, phi), want, rtol=1e-9)


def test_a_negative_count_has_no_chance() -> None:
    y = np.array([*range(90), -1])
    assert log_mean_log_density(NUMPY, y, 0.7, 1.7)[-1] == -np.inf


@pytest.mark.parametrize("kind", [float, int, bool])
@pytest.mark.parametrize("size", [1, 2, 3, SLICED_ENTRIES, SLICED_ENTRIES + 1])
@pytest.mark.parametrize("rows", [3, SLICED_NUMBERS])
def test_sums_and_maxima_over_axes_of_few_entries(kind: type, size: int, rows: int) -> None:
    """To the last bit; truth values are counted."""
    x = np.random.default_rng(size).normal(size=(2, rows, size))
    x = (x > 0) if kind is bool else (9 * x).astype(kind)
    if kind is float:
        x[0, :3, -1] = np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(row_sums(NUMPY, x), np.sum(x, axis=-1))
    np.testing.assert_array_equal(row_maxima(NUMPY, x), np.max(x, axis=-1))
    for axis in (0, 2):
        turned = np.moveaxis(x, -1, axis)
        np.testing.assert_array_equal(along(np.add, turned, axis), np.sum(turned, axis=axis, keepdims=True))
