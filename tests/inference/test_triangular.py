import numpy as np
import pytest

from ppl.inference.triangular import times, transposed_times


@pytest.mark.parametrize("shape", [(3,), (1, 3), (7, 3), (0, 3), (2, 4, 3)])
def test_products_are_those_of_the_lower_triangle(shape):
    rng = np.random.default_rng(1)
    lower, points = np.tril(rng.normal(size=(3, 3))), rng.normal(size=shape)
    np.testing.assert_allclose(times(lower, points), np.einsum("ij,...j->...i", lower, points))
    np.testing.assert_allclose(transposed_times(lower, points), np.einsum("ji,...j->...i", lower, points))


def test_however_the_arrays_lie_in_memory():
    rng = np.random.default_rng(2)
    lower, points = np.asfortranarray(np.tril(rng.normal(size=(3, 3)))), rng.normal(size=(6, 8))[::2, ::3]
    before = points.copy()
    np.testing.assert_allclose(times(lower, points), points @ lower.T)
    np.testing.assert_array_equal(points, before)
