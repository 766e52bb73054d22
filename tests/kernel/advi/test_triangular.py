import numpy as np
import pytest

from ppl.kernel.advi.triangular import composed, diagonal_of, inverse_of, solved, times, transposed_times


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


@pytest.mark.parametrize("diagonal", [(), ("outer",), ("inner",), ("outer", "inner")])
def test_a_diagonal_stands_for_its_matrix(diagonal):
    rng = np.random.default_rng(3)
    whole = {name: np.tril(rng.normal(size=(3, 3))) + 3 * np.eye(3) for name in ("outer", "inner")}
    whole |= {name: np.diag(np.diag(whole[name])) for name in diagonal}
    given = {name: np.diag(matrix) if name in diagonal else matrix for name, matrix in whole.items()}
    points = rng.normal(size=(5, 3))
    outer, inner = given["outer"], given["inner"]
    np.testing.assert_allclose(times(outer, points), points @ whole["outer"].T)
    np.testing.assert_allclose(transposed_times(outer, points), points @ whole["outer"])
    np.testing.assert_allclose(solved(outer, points), np.linalg.solve(whole["outer"], points.T).T)
    np.testing.assert_allclose(times(inverse_of(outer), points), np.linalg.solve(whole["outer"], points.T).T)
    np.testing.assert_allclose(diagonal_of(outer), np.diag(whole["outer"]))
    both = composed(outer, inner)
    assert both.ndim == (1 if len(diagonal) == 2 else 2)
    np.testing.assert_allclose(times(both, points), points @ (whole["outer"] @ whole["inner"]).T)
