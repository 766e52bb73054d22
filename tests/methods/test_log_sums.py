"""Sums by logarithms and triangular solutions are SciPy's, bit for bit."""

import numpy as np
import pytest
from scipy import linalg, special

from ppl.kernel.advi.triangular import cholesky, solve_triangular
from ppl.methods.numerics.log_sums import log_sum_exp, softmax

X = np.random.default_rng(4).normal(size=(7, 5)) * 300
CASES = {
    "far apart": X,
    "equal": np.round(X / 300),
    "infinite": np.where(X > 200, np.inf, X),
    "nothing": np.full((7, 5), -np.inf),
    "some nothing": np.where(X < 0, -np.inf, X),
    "nan": np.where(X > 400, np.nan, X),
    "none": np.zeros((0, 5)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("x", CASES.values(), ids=CASES)
def test_a_sum_of_exponentials_is_that_of_scipy(x, axis):
    if x.size or axis == 0:
        np.testing.assert_array_equal(log_sum_exp(x, axis), special.logsumexp(x, axis=axis))
    np.testing.assert_array_equal(softmax(X[0]), special.softmax(X[0]))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("size", [1, 3, 60])
def test_factors_and_solutions_are_those_of_scipy(size, order):
    rng = np.random.default_rng(size)
    root = rng.normal(size=(size, 2 * size))
    factor = np.asarray(cholesky(root @ root.T), order=order)
    np.testing.assert_array_equal(factor, linalg.cholesky(root @ root.T, lower=True))
    for b in (rng.normal(size=size), rng.normal(size=(size, 4)), np.zeros((size, 0))):
        for transposed in (False, True):
            x = linalg.solve_triangular(factor, b, lower=True, trans=int(transposed))
            np.testing.assert_array_equal(solve_triangular(factor, b, transposed=transposed), x)
    upper = linalg.solve_triangular(factor.T, np.eye(size))
    np.testing.assert_array_equal(solve_triangular(factor.T, np.eye(size), lower=False), upper)


@pytest.mark.parametrize("a", [[[1.0, 2.0], [2.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]], [[np.inf]]])
def test_what_has_no_factor_or_solution_is_refused(a):
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(np.array(a))
    with pytest.raises(np.linalg.LinAlgError, match="entry 2"):
        solve_triangular(np.diag([1.0, 0.0]), np.ones(2))
