"""Triangular systems against LU, small and large, one matrix or a batch."""

import numpy as np
import pytest

from ppl.triangular import FEW_ROWS, solve_lower


@pytest.mark.parametrize("n", [1, FEW_ROWS, FEW_ROWS + 1, 30])
@pytest.mark.parametrize("columns", [0, 1, 4])
@pytest.mark.parametrize(("lower_lead", "lead"), [((), ()), ((3,), (3,)), ((), (3,)), ((2, 1), (2, 3))])
@pytest.mark.parametrize("transposed", [False, True])
def test_is_that_of_the_lower_triangle(n, columns, lower_lead, lead, transposed):
    rng = np.random.default_rng(n)
    square = rng.standard_normal((*lower_lead, n, n)) + n * np.eye(n)
    b = rng.standard_normal((*lead, n, columns))
    given = square.copy(), b.copy()
    lower = np.tril(square)
    x = solve_lower(square, b, transposed=transposed)
    assert x.shape == b.shape
    np.testing.assert_allclose((np.swapaxes(lower, -1, -2) if transposed else lower) @ x, b, atol=1e-10)
    np.testing.assert_array_equal(square, given[0])
    np.testing.assert_array_equal(b, given[1])


@pytest.mark.parametrize("n", [3, 20])
def test_a_zero_on_the_diagonal_makes_its_system_nan_alone(n):
    lower = np.tile(np.eye(n), (3, 1, 1))
    lower[1, 0, 0] = 0.0
    x = solve_lower(lower, np.ones((3, n, 2)))
    assert np.isnan(x[1]).all()
    np.testing.assert_array_equal(x[[0, 2]], 1.0)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("n", [2, FEW_ROWS])
def test_a_diagonal_that_is_small_beside_the_rest_is_not_singular(n, transposed):
    lower = np.tile(np.tri(n, k=-1) + 1e-300 * np.eye(n), (3, 1, 1))
    x = np.where(np.arange(n) == (n - 1 if transposed else 0), 1.0, 0.0)[:, None]
    b = (np.swapaxes(lower, -1, -2) if transposed else lower) @ x
    np.testing.assert_array_equal(solve_lower(lower, b, transposed=transposed), np.tile(x, (3, 1, 1)))
