"""Facts of the standard distributions, against scipy and quadrature."""

import numpy as np
import pytest
from scipy import stats
from toy_targets import numeric_gradient

from ppl.errors import InferenceError
from ppl.kernel.advi.families.standard import STANDARDS, Laplace, Logistic, Normal, StudentT

SCIPY = {
    "normal": stats.norm(),
    "student_t": stats.t(5),
    "logistic": stats.logistic(),
    "laplace": stats.laplace(),
}
Z = np.array([[0.0], [0.5], [-3.0], [40.0], [-700.0]])


@pytest.mark.parametrize("name", STANDARDS)
def test_density_entropy_and_variance_in_one_dimension_are_those_of_scipy(name):
    phi, reference = STANDARDS[name](), SCIPY[name]
    np.testing.assert_allclose(phi.log_density(Z), reference.logpdf(Z[:, 0]), rtol=1e-12)
    assert phi.entropy(1) == pytest.approx(float(reference.entropy()), rel=1e-10)
    assert phi.variance == pytest.approx(reference.var())


@pytest.mark.parametrize("phi", [Normal(), Logistic(), Laplace()])
def test_independent_coordinates_add_up(phi):
    z = np.random.default_rng(0).normal(size=(4, 3))
    separate = sum(phi.log_density(column[:, None]) for column in z.T)
    np.testing.assert_allclose(phi.log_density(z), separate)
    assert phi.entropy(3) == pytest.approx(3 * phi.entropy(1))


@pytest.mark.parametrize("nu", [2.5, 5.0, 200.0])
def test_student_t_is_scipys_multivariate_t(nu):
    phi, reference = StudentT(nu), stats.multivariate_t(df=nu, shape=np.eye(3))
    z = np.random.default_rng(0).normal(size=(4, 3), scale=5)
    np.testing.assert_allclose(phi.log_density(z), reference.logpdf(z))
    assert phi.entropy(3) == pytest.approx(float(reference.entropy()))


@pytest.mark.parametrize("name", STANDARDS)
def test_score_is_the_finite_difference_and_stays_finite_in_the_tail(name):
    phi, z = STANDARDS[name](), np.array([0.3, -2.0])
    numeric = numeric_gradient(lambda at: phi.log_density(at[None])[0], z)
    np.testing.assert_allclose(phi.score(z[None])[0], numeric, rtol=1e-7, atol=1e-8)
    assert np.isfinite(phi.score(np.array([[800.0, -1e6]]))).all()


@pytest.mark.parametrize("phi", [Normal(), StudentT(4.0)])
def test_weight_is_what_the_score_is_made_of(phi):
    z = np.random.default_rng(1).normal(size=(5, 3))
    square = (z**2).sum(axis=1)
    np.testing.assert_allclose(phi.score(z), -phi.weight(square, 3)[:, None] * z)


@pytest.mark.parametrize("nu", [2.0, -1.0, np.inf, np.nan])
def test_degrees_of_freedom_without_a_variance_are_refused(nu):
    with pytest.raises(InferenceError, match="above 2"):
        StudentT(nu)
