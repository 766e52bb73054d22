"""Functions that stand for those of NumPy which import numpy.ma."""

import numpy as np
import pytest

from ppl.methods.numerics.index_sets import all_but, distinct
from ppl.methods.numerics.quantiles import median, quantiles

SHARES = [0.0, 0.05, 0.31, 0.5, 0.77, 0.95, 1.0]


@pytest.mark.parametrize("shape", [(1,), (2, 3), (1000,), (301, 4), (7, 2, 3)])
def test_quantiles_have_the_bits_of_numpy(shape):
    x = np.random.default_rng(1).standard_cauchy(shape)
    assert np.array_equal(quantiles(x, SHARES), np.quantile(x, SHARES, axis=0))
    assert median(x.ravel()) == np.median(x)
    x[0] = np.nan
    assert np.array_equal(quantiles(x, SHARES), np.quantile(x, SHARES, axis=0), equal_nan=True)


def test_sets_of_indices_are_those_of_numpy():
    for some in np.random.default_rng(2).integers(0, 9, (20, 5)):
        assert np.array_equal(distinct(some), np.unique(some))
        assert np.array_equal(all_but(9, some), np.setdiff1d(np.arange(9), some))
    assert distinct(np.zeros(0, dtype=int)).size == 0 and all_but(2, []).tolist() == [0, 1]
