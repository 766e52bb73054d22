"""Linear systems of Newton's step and of the adjoints of roots."""

import numpy as np

from ppl.stdlib.solvers.roots import solved


def test_a_singular_system_is_nan_beside_one_whose_determinant_underflows() -> None:
    matrices = np.stack([1e-200 * np.eye(2), np.ones((2, 2)), np.diag([2.0, 4.0])])
    answers = solved(matrices, np.array([[1e-200, 3e-200], [1.0, 1.0], [1.0, 1.0]]))
    assert np.allclose(answers[::2], [[1, 3], [0.5, 0.25]]) and np.isnan(answers[1]).all()
