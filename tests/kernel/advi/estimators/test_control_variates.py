import numpy as np
import pytest
from stochastic_search.jaakkola_jordan import JaakkolaJordan
from toy_targets import HalfSpace, Logistic, Quartic, correlated, numeric_gradient, params_of

from ppl.errors import InferenceError
from ppl.kernel.advi.estimators.stochastic_search import Quadratic, taylor
from ppl.kernel.advi.families import FAMILIES
from ppl.kernel.advi.families.full_rank import FullRank
from ppl.kernel.advi.families.mean_field import MeanField
from ppl.kernel.advi.families.standard import StudentT

DIM = 3


@pytest.fixture
def quadratic():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(DIM, DIM))
    return Quadratic(rng.normal(size=DIM), 2.0, rng.normal(size=DIM), matrix + matrix.T)


@pytest.fixture
def regression():
    rng = np.random.default_rng(1)
    return Logistic(rng.normal(size=(40, DIM)), rng.integers(0, 2, size=40).astype(float))


def test_gradients_of_a_quadratic_are_finite_differences(quadratic):
    u = np.array([0.3, -1.0, 2.0])
    numeric = numeric_gradient(lambda at: quadratic.values(at[None])[0], u)
    np.testing.assert_allclose(quadratic.gradients(u[None])[0], numeric, rtol=1e-7)


@pytest.mark.parametrize("name", FAMILIES)
def test_expected_gradient_is_that_of_the_closed_form(name, quadratic):
    family = FAMILIES[name](DIM)
    params = params_of(family, DIM)

    def expectation(params):
        spread = 0.5 * np.trace(quadratic.hessian @ family.covariance(params))
        return quadratic.values(family.mean(params)[None])[0] + spread

    numeric = numeric_gradient(expectation, params)
    np.testing.assert_allclose(quadratic.expected_gradient(family, params), numeric, rtol=1e-6, atol=1e-6)


def test_expected_gradient_allows_for_the_variance_of_the_noise(quadratic):
    family = FullRank(DIM, StudentT(4.0))
    params = params_of(family, DIM)

    def expectation(params):
        spread = 0.5 * np.trace(quadratic.hessian @ family.covariance(params))
        return quadratic.values(family.mean(params)[None])[0] + spread

    numeric = numeric_gradient(expectation, params)
    np.testing.assert_allclose(quadratic.expected_gradient(family, params), numeric, rtol=1e-6, atol=1e-6)


def test_taylor_is_the_target_itself_where_that_is_quadratic():
    target, family = correlated(DIM), MeanField(DIM)
    u = np.random.default_rng(2).normal(size=(5, DIM))
    found = taylor(target, family, params_of(family, DIM)).values(u)
    np.testing.assert_allclose(found, [target.log_density(point) for point in u], rtol=1e-7)


def test_taylor_leaves_an_error_of_third_order():
    target, family = Quartic(np.array([1.0, -0.5, 2.0])), MeanField(DIM)
    params = params_of(family, DIM)
    found, way = taylor(target, family, params), np.array([1.0, -2.0, 0.5])

    def error(step):
        at = family.mean(params) + step * way
        return abs(found.values(at[None])[0] - target.log_density(at))

    assert error(0.02) / error(0.01) == pytest.approx(8, rel=0.05)


def test_taylor_off_the_support_names_the_statement():
    family = MeanField(2)
    with pytest.raises(InferenceError, match="line 7: sqrt of"):
        taylor(HalfSpace(2, 1.0), family, family.start(np.zeros(2)))


def test_jaakkola_jordan_is_a_lower_bound_that_is_close(regression):
    family = FullRank(DIM)
    params = family.start(np.array([0.3, -0.2, 0.1]), scale=0.2)
    bound = JaakkolaJordan(regression.x, regression.y)(regression, family, params)
    rng = np.random.default_rng(3)
    near = family.transform(params, family.noise(200, rng))
    gap = np.array([regression.log_density(u) for u in near]) - bound.values(near)
    assert gap.min() > 0 and gap.mean() < 0.2
    far = 5 * rng.normal(size=(200, DIM))
    assert all(regression.log_density(u) > b for u, b in zip(far, bound.values(far), strict=True))


def test_jaakkola_jordan_touches_where_q_is_a_point():
    regression = Logistic(np.array([[1.0], [-2.0]]), np.array([1.0, 0.0]))
    family = FullRank(1)
    params = family.start(np.array([0.7]), scale=1e-7)
    bound = JaakkolaJordan(regression.x, regression.y)(regression, family, params)
    at = np.array([[0.7]])
    assert bound.values(at)[0] == pytest.approx(regression.log_density(at[0]))
    np.testing.assert_allclose(bound.gradients(at)[0], regression.log_density_gradient(at[0])[1])


class NotFinite(Quartic):
    """A quartic of which one number is none: its value, or one of its slope or its curve."""

    def log_density_gradient(self, u):
        value, slope = super().log_density_gradient(u)
        return (np.nan if self.place == "value" else value), np.where(
            self.off & (self.place == "slope"), np.nan, slope
        )

    def log_density_gradients(self, us):
        values, slopes = super().log_density_gradients(us)
        return values, np.where(self.off & (self.place == "curve"), np.nan, slopes)

    def explain(self, u):
        return "line 3: it is so."

    off = np.array([False, True, False])
    place = "nowhere"


@pytest.mark.parametrize("where", ["value", "slope", "curve"])
def test_an_expansion_with_one_number_that_is_none_is_refused(where):
    target, family = type("There", (NotFinite,), {"place": where})(np.ones(DIM)), MeanField(DIM)
    with pytest.raises(InferenceError, match="line 3: it is so"):
        taylor(target, family, params_of(family, DIM))


def test_jaakkola_jordan_takes_a_row_without_predictors_for_the_coin_it_is():
    """log(1/2) whatever the weights are, and no slope."""
    one, two = np.array([[1.0, -2.0]]), np.array([[1.0, -2.0], [0.0, 0.0]])
    family = FullRank(2)
    params = family.start(np.array([0.3, 0.4]), scale=0.5)
    u = np.array([[0.5, -1.0], [2.0, 0.0]])
    alone, with_coin = (JaakkolaJordan(x, np.ones(len(x)))(None, family, params) for x in (one, two))
    np.testing.assert_allclose(with_coin.values(u), alone.values(u) + np.log(0.5))
    off = JaakkolaJordan(two, np.array([1.0, 0.5]))(None, family, params)
    np.testing.assert_allclose(off.gradients(u), alone.gradients(u))
